"""Which arm a TPU takes."""

from __future__ import annotations

import ast

import pytest

from tests.support.python_code import module_of, seek
from tpu_audit.rules.python.reach import State

PLACES = {
    "plain": ("seek(1)", State.LIVE),
    "private, passed on by a dead arm": (
        (
            "def _move(x):\n    return [_move(y) for y in x] if x else seek(1)\n"
            "def load(l):\n    if torch.cuda.is_available():\n        return each(_move, l)\n"
        ),
        State.DEAD,
    ),
    "registered for CUDA": (
        "import torch\n@torch.library.impl('my::op', 'CUDA')\ndef op(x):\n    seek(x)",
        State.DEAD,
    ),
    "registered for all": (
        "import torch\n@torch.library.impl('my::op', 'default')\ndef op(x):\n    seek(x)",
        State.LIVE,
    ),
    "private, passed on": ("def _move(x):\n    seek(1)\nrun(_move)\n", State.LIVE),
    "if": ("if torch.cuda.is_available():\n    seek(1)", State.DEAD),
    "else": ("if torch.cuda.is_available():\n    pass\nelse:\n    seek(1)", State.OTHER),
    "elif": ("if torch.cuda.is_available():\n    pass\nelif x:\n    seek(1)", State.OTHER),
    "elif mps": (
        'if d.type == "cuda":\n    pass\nelif d.type == "mps":\n    seek(1)',
        State.DEAD,
    ),
    "not": ("if not torch.cuda.is_available():\n    seek(1)", State.OTHER),
    "unknown": ("if args.cuda:\n    seek(1)", State.LIVE),
    "test itself": ("if seek(1) and torch.cuda.is_available():\n    pass", State.LIVE),
    "flag": ("use = torch.cuda.is_available()\nif use:\n    seek(1)", State.DEAD),
    "nested": (
        ("if torch.cuda.is_available():\n    for i in x:\n        if i:\n            seek(1)"),
        State.DEAD,
    ),
    "function in an arm": (
        ("if torch.cuda.is_available():\n    def f():\n        seek(1)"),
        State.DEAD,
    ),
    "ternary": ("y = seek(1) if x.is_cuda else 0", State.DEAD),
    "ternary's else": ("y = 0 if x.is_cuda else seek(1)", State.OTHER),
    "and": ("torch.cuda.is_available() and seek(1)", State.DEAD),
    "or": ("torch.cuda.is_available() or seek(1)", State.OTHER),
    "or after true": ("(not torch.cuda.is_available()) or seek(1)", State.DEAD),
    "while": ("while torch.cuda.is_available():\n    seek(1)", State.DEAD),
    "deny list": ('if d.type not in ("mps", "npu"):\n    seek(1)', State.OTHER),
    "deny list's arm": ('if d.type in ("mps", "npu"):\n    seek(1)', State.DEAD),
    "old PyTorch": ("if TORCH_2_4:\n    pass\nelse:\n    seek(1)", State.DEAD),
    "old PyTorch's else": ("if TORCH_2_4:\n    seek(1)", State.LIVE),
    "torch.accelerator": ('d = 1 if hasattr(torch, "accelerator") else seek("cuda")', State.DEAD),
    "old PyTorch, compared": (
        'if V("1.5") <= V(TORCH_VERSION) < V("1.10"):\n    seek(1)',
        State.DEAD,
    ),
    "new PyTorch, compared": (
        'if Version(torch.__version__) >= Version("2.99"):\n    seek(1)',
        State.LIVE,
    ),
    "old PyTorch, checked": (
        'if check_version(torch.__version__, "1.11.0"):\n    pass\nelse:\n    seek(1)',
        State.DEAD,
    ),
    "switched off": (
        (
            "class A:\n    def __init__(self):\n        self.on = True\n"
            "    def init(self, device):\n"
            "        if device.type != 'cuda':\n            self.on = False\n    def f(self):\n"
            "        if not self.on:\n            return\n        seek(1)"
        ),
        State.DEAD,
    ),
    "no old PyTorch": ("x = 1 if not _TORCH_GREATER_EQUAL_2_4 else seek(1)", State.LIVE),
    "old PyTorch, asked": ('if is_torch_version("<", "2.3"):\n    seek(1)', State.DEAD),
    "old PyTorch, at least": ('if is_torch_version(">=", "2.3"):\n    seek(1)', State.LIVE),
    "old PyTorch, and": ("if TORCH_1_13 and x:\n    pass\nelse:\n    seek(1)", State.LIVE),
    "new PyTorch": ("if TORCH_2_12:\n    pass\nelse:\n    seek(1)", State.LIVE),
    "early return": (
        ("def f():\n    if not torch.cuda.is_available():\n        return\n    seek(1)"),
        State.DEAD,
    ),
    "early return, deep": (
        (
            "def f():\n    if not torch.cuda.is_available():\n        return\n"
            "    for i in x:\n        seek(1)"
        ),
        State.DEAD,
    ),
    "early return of CUDA": (
        ("def f():\n    if x.is_cuda:\n        return 1\n    seek(1)"),
        State.OTHER,
    ),
    "both return": (
        "def f():\n    if x.is_cuda:\n        y = 1\n    else:\n        return 2\n    seek(1)",
        State.DEAD,
    ),
    "continue": ("for x in y:\n    if not x.is_cuda:\n        continue\n    seek(1)", State.DEAD),
    "before the return": (
        ("def f():\n    seek(1)\n    if not torch.cuda.is_available():\n        return"),
        State.LIVE,
    ),
    "demand by raise": (
        "def f():\n    if not torch.cuda.is_available():\n        raise RuntimeError\n    seek(1)",
        State.LIVE,
    ),
    "demand by assert": ("assert torch.cuda.is_available()\nseek(1)", State.LIVE),
    "return in another function": (
        (
            "def f():\n    def g():\n        if not torch.cuda.is_available():\n"
            "            return\n    seek(1)"
        ),
        State.LIVE,
    ),
    "match": ('match d.type:\n    case "cuda":\n        seek(1)', State.DEAD),
    "match of several": ('match d.type:\n    case "cuda" | "xpu":\n        seek(1)', State.DEAD),
    "match of another": ('match d.type:\n    case "tpu":\n        seek(1)', State.OTHER),
    "match of anything": ("match d.type:\n    case _:\n        seek(1)", State.LIVE),
    "skipif": (
        (
            "@pytest.mark.skipif(not torch.cuda.is_available(), reason='x')\n"
            "def test_x():\n    seek(1)"
        ),
        State.DEAD,
    ),
    "skipUnless": (
        (
            "@unittest.skipUnless(torch.cuda.is_available(), 'x')\nclass T:\n"
            "    def test_x(self):\n        seek(1)"
        ),
        State.DEAD,
    ),
    "skipif CUDA": (
        ("@pytest.mark.skipif(torch.cuda.is_available(), reason='x')\ndef test_x():\n    seek(1)"),
        State.LIVE,
    ),
    "require": ("@require_torch_gpu\ndef test_x():\n    seek(1)", State.DEAD),
    "require, called": ("@require_torch_multi_gpu()\ndef test_x():\n    seek(1)", State.DEAD),
    "private helper": (
        "def _go():\n    seek(1)\nif torch.cuda.is_available():\n    _go()",
        State.DEAD,
    ),
    "private method": (
        (
            "class A:\n    def _go(self):\n        seek(1)\n    def f(self):\n"
            "        if self.x.is_cuda:\n            self._go()"
        ),
        State.DEAD,
    ),
    "private helper, live too": (
        ("def _go():\n    seek(1)\n_go()\nif torch.cuda.is_available():\n    _go()"),
        State.LIVE,
    ),
    "private helper, passed on": (
        "def _go():\n    seek(1)\nrun(_go)\nif torch.cuda.is_available():\n    _go()",
        State.LIVE,
    ),
    "public helper": (
        ("def go():\n    seek(1)\nif torch.cuda.is_available():\n    go()"),
        State.LIVE,
    ),
    "script's helper": (
        (
            "def go():\n    seek(1)\nif __name__ == '__main__':\n"
            "    if torch.cuda.is_available():\n        go()"
        ),
        State.DEAD,
    ),
    "overridden cuda": ("class M:\n    def cuda(self):\n        seek(1)", State.DEAD),
    "function called cuda": ("def cuda():\n    seek(1)", State.LIVE),
    "entry by device": ('f = {"cuda": seek(1), "cpu": 2}[d.type]', State.DEAD),
    "entry by another device": ('f = {"cuda": 1, "cpu": seek(2)}[d.type]', State.LIVE),
    "entry of a config": ('f = {"cuda": seek(1), "lr": 2}', State.LIVE),
    "after the accelerator": (
        'd = (torch.accelerator.current_accelerator() or seek(torch.device("cuda"))).type',
        State.DEAD,
    ),
    "for an older torch": (
        (
            "import torch\ntry:\n    s = torch.amp.GradScaler()\n"
            "except (AttributeError, TypeError):\n    seek(1)"
        ),
        State.DEAD,
    ),
    "handler": (
        "import torch\ntry:\n    torch.amp.f()\nexcept RuntimeError:\n    seek(1)",
        State.LIVE,
    ),
    "recursive helper": ("def _go():\n    seek(1)\n    _go()", State.LIVE),
}


@pytest.mark.parametrize(("source", "state"), PLACES.values(), ids=PLACES)
def test_state(source: str, state: State) -> None:
    """A place is live, dead, or the arm taken because a CUDA test is false."""
    module, node = seek(source)
    assert module.reach(node).state is state


def test_guard_is_named() -> None:
    """A dead place names the test that guards it."""
    module, node = seek("if x:\n    if y and t.is_cuda:\n        seek(1)")
    guard = module.reach(node).guard
    assert guard is not None
    assert module.code(guard) == "y and t.is_cuda"


@pytest.mark.parametrize(
    ("source", "equal"),
    [
        ('w = 0 if "cuda" in str(d) else 0', True),
        ('w = 0 if "cuda" in str(d) else 1', False),
        ("if c:\n    f(1)\nelse:\n    f(1)", True),
        ("if c:\n    f(1)", False),
    ],
)
def test_equal_arms(source: str, equal: bool) -> None:
    """Arms that say the same are told from arms that do not."""
    module = module_of(source)
    nodes: list[ast.If | ast.IfExp] = [*module.index.of(ast.If)]
    nodes += module.index.of(ast.IfExp)
    (node,) = nodes
    assert module.arms_equal(node) is equal
