"""Qualified names: through imports, aliases, attributes, getattr, importlib and wrappers."""

from __future__ import annotations

import pytest

from tests.support.python_code import module_of, seek

NAMES = {
    "plain import": ("import torch\nseek(torch.cuda.empty_cache)", "torch.cuda.empty_cache"),
    "handed in": ("def f(torch):\n    seek(torch.cuda.Event)", "torch.cuda.Event"),
    "loaded": (
        "import sys\nt = sys.modules.get('torch')\nseek(t.cuda.Event)",
        "torch.cuda.Event",
    ),
    "no import": ("seek(torch.cuda.empty_cache)", "torch.cuda.empty_cache"),
    "module alias": ("import torch as th\nseek(th.cuda.Event)", "torch.cuda.Event"),
    "submodule alias": ("import torch.cuda as tc\nseek(tc.Event)", "torch.cuda.Event"),
    "submodule import": ("import torch.cuda\nseek(torch.cuda.Event)", "torch.cuda.Event"),
    "from import": ("from torch import cuda\nseek(cuda.Event)", "torch.cuda.Event"),
    "from import renamed": ("from torch import cuda as c\nseek(c.Event)", "torch.cuda.Event"),
    "bare function": (
        "from torch.cuda import is_available\nseek(is_available)",
        "torch.cuda.is_available",
    ),
    "assigned": ("import torch\nc = torch.cuda\nseek(c.Event)", "torch.cuda.Event"),
    "assigned twice": ("import torch\nc = torch.cuda\nd = c\nseek(d.Event)", "torch.cuda.Event"),
    "function assigned": ("import torch\nf = torch.cuda.Event\nseek(f)", "torch.cuda.Event"),
    "walrus": ("import torch\nif (c := torch.cuda):\n    seek(c.Event)", "torch.cuda.Event"),
    "getattr": ('import torch\nseek(getattr(torch, "cuda").Event)', "torch.cuda.Event"),
    "getattr of a variable": (
        'import torch\nk = "cuda"\nseek(getattr(torch, k).Event)',
        "torch.cuda.Event",
    ),
    "import_module": (
        'import importlib\nseek(importlib.import_module("torch.cuda").Event)',
        "torch.cuda.Event",
    ),
    "import_module bare": (
        'from importlib import import_module\nc = import_module("torch.cuda")\nseek(c.Event)',
        "torch.cuda.Event",
    ),
    "dunder import": (
        'c = __import__("torch.cuda", fromlist=["x"])\nseek(c.Event)',
        "torch.cuda.Event",
    ),
    "optional import": (
        (
            "from monai.utils import optional_import\n"
            'c, has = optional_import("torch.cuda")\nseek(c.Event)'
        ),
        "torch.cuda.Event",
    ),
    "sys.modules": ('import sys\nseek(sys.modules["torch.cuda"].Event)', "torch.cuda.Event"),
    "import in a function": (
        "def f():\n    from torch import cuda\n    seek(cuda.Event)",
        "torch.cuda.Event",
    ),
    "default": ("import torch\ndef f(c=torch.cuda):\n    seek(c.Event)", "torch.cuda.Event"),
    "self attribute": (
        (
            "import torch\nclass A:\n    def __init__(self):\n        self.c = torch.cuda\n"
            "    def f(self):\n        seek(self.c.Event)"
        ),
        "torch.cuda.Event",
    ),
    "class attribute": (
        "import torch\nclass A:\n    c = torch.cuda\n    def f(self):\n        seek(self.c.Event)",
        "torch.cuda.Event",
    ),
    "inherited attribute": (
        (
            "import torch\nclass A:\n    c = torch.cuda\nclass B(A):\n    def f(self):\n"
            "        seek(self.c.Event)"
        ),
        "torch.cuda.Event",
    ),
    "global": (
        "import torch\ndef g():\n    global c\n    c = torch.cuda\ndef f():\n    seek(c.Event)",
        "torch.cuda.Event",
    ),
    "customary alias": ("seek(nn.DataParallel)", "torch.nn.parallel.DataParallel"),
    "moved name": ("import torch\nseek(torch.cuda.memory.empty_cache)", "torch.cuda.empty_cache"),
    "moved name, imported": (
        "from torch.cuda.random import manual_seed\nseek(manual_seed)",
        "torch.cuda.manual_seed",
    ),
    "relative": ("from .utils import cuda\nseek(cuda.x)", ".utils.cuda.x"),
}


@pytest.mark.parametrize(("source", "name"), NAMES.values(), ids=NAMES)
def test_resolves(source: str, name: str) -> None:
    """An expression is resolved to the one name it means."""
    module, node = seek(source)
    assert module.qualified(node) == {name}


def test_project_wrapper() -> None:
    """A function of the file that imports what it is given stands for the import."""
    module, node = seek(
        """
        import importlib
        def soft(name):
            try:
                return importlib.import_module(name)
            except ImportError:
                return None
        cu = soft("torch.cuda")
        seek(cu.random.get_rng_state)
        """
    )
    assert module.qualified(node) == {"torch.cuda.get_rng_state"}


BRANCHES = {
    "if": "if x:\n    import torch.cuda as b\nelse:\n    import torch as b\nseek(b.FloatTensor)",
    "try": (
        "try:\n    from torch import cuda as b\nexcept ImportError:\n"
        "    import torch as b\nseek(b.FloatTensor)"
    ),
    "ternary": "import torch\nb = torch.cuda if x else torch\nseek(b.FloatTensor)",
    "ternary in place": "import torch\nseek((torch.cuda if x else torch).FloatTensor)",
    "rebound in a loop": (
        "import torch\nb = torch\nfor i in y:\n    seek(b.FloatTensor)\n    b = torch.cuda"
    ),
}


@pytest.mark.parametrize("source", BRANCHES.values(), ids=BRANCHES)
def test_keeps_all_branches(source: str) -> None:
    """A name that is bound in several branches may mean each of them."""
    module, node = seek(source)
    assert module.qualified(node) == {"torch.cuda.FloatTensor", "torch.FloatTensor"}


OTHERS = {
    "pycuda": ("import pycuda.driver as cuda\nseek(cuda.init)", {"pycuda.driver.init"}),
    "numba": ("from numba import cuda\nseek(cuda.jit)", {"numba.cuda.jit"}),
    "local shadows": ("import torch\ndef f():\n    torch = lamp()\n    seek(torch.cuda)", set()),
    "rebound": ("import torch\nc = torch.cuda\nc = make()\nseek(c.Event)", set()),
    "self reference": ("c = c.cuda\nseek(c)", set()),
    "local function": ("def is_available():\n    ...\nseek(is_available)", set()),
    "class scope is not closed over": (
        "import torch as c\nclass A:\n    c = 1\n    def f(self):\n        seek(c.x)",
        {"torch.x"},
    ),
}


@pytest.mark.parametrize(("source", "names"), OTHERS.values(), ids=OTHERS)
def test_does_not_confuse(source: str, names: set[str]) -> None:
    """A name that merely looks like PyTorch's is not taken for it."""
    module, node = seek(source)
    assert module.qualified(node) == names


def test_star_import() -> None:
    """A name that nothing defines may come from a star import."""
    module, node = seek("from torch.cuda import *\nseek(is_available)")
    assert module.qualified(node) == {"is_available", "torch.cuda.is_available"}


def test_long_chains_end() -> None:
    """A generated chain of a thousand aliases is given up, not followed."""
    lines = ["import torch", "a0 = torch", *(f"a{i + 1} = a{i}" for i in range(1000))]
    module = module_of("\n".join([*lines, "seek(a1000)"]))
    assert module.uses.named("torch")
