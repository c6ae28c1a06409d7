"""Code of backends that are CUDA's alone."""

from __future__ import annotations

import ast

import pytest

from tests.support.python_code import seek
from tpu_audit.rules.python.module import Module

FILES = {
    "lib/quantizers/quantizer_awq.py": True,
    "lib/quantizers/bitsandbytes/loading.py": True,
    "lib/nn/backends/tensorrt.py": True,
    "lib/accelerators/cuda.py": True,
    "lib/devices/device_gpu.py": True,
    "lib/utils/megatron_lm.py": True,
    "lib/nn/backends/hailo.py": True,
    "lib/nn/backends/pytorch.py": False,
    "lib/utils/cuda.py": False,
    "lib/networks/trt_compiler.py": True,
    "lib/export/_tensorrt/inference.py": True,
    "lib/utils/awkward.py": False,
    "lib/libs/scatter/cutlass_fp4/grouped.py": True,
    "lib/engines/nccl_checkpoint_engine.py": True,
    "lib/utils/nccl_utils.py": False,
    "lib/megatron/utils.py": True,
    "lib/extensions/cuda/__init__.py": True,
    "lib/accelerators/mps.py": False,
    "awq/train.py": False,
    "train_apex.py": False,
}
OWNED = {
    "check to pass on": (
        "def _check_device_cuda(x):\n    seek(1)\nCHECKS = [_check_device_cuda]",
        True,
    ),
    "check that is called": ("def check_cuda():\n    seek(1)\ncheck_cuda()", False),
    "check of a check": (
        "def _check_cuda(x):\n    seek(1)\ndef _check_cuda_8(x):\n    _check_cuda(x)",
        True,
    ),
    "helper of CUDA": ("def info():\n    seek(1)\nif torch.cuda.is_available():\n    info()", True),
    "class beside others": (
        "class StandardCudaContext(A):\n    def f(self):\n        seek(1)",
        True,
    ),
    "decorated": ("@cuda_python_required\ndef f():\n    seek(1)\nf()", True),
    "optional graphs": (
        "class A(WithOptionalCudaGraphs):\n    def f(self):\n        seek(1)",
        True,
    ),
    "platform of CUDA": ("class PlatformCUDA(A):\n    def f(self):\n        seek(1)", True),
    "class of its own": ("class CUDAPrefetcher:\n    def f(self):\n        seek(1)", False),
    "helper of all": ("def info():\n    seek(1)\ninfo()", False),
    "method": (
        (
            "class A:\n    def info(self):\n        seek(1)\n    def f(self):\n"
            "        if torch.cuda.is_available():\n            self.info()"
        ),
        True,
    ),
}
OPTIONS = {
    "function": ("def to_tensorrt(m):\n    seek(1)", True),
    "test": ("if args.use_apex:\n    seek(1)", True),
    "text": ("if name.startswith('bitsandbytes.'):\n    seek(1)", True),
    "else": ("if not is_xformers_available():\n    pass\nelse:\n    seek(1)", True),
    "test itself": ("if seek(use_apex):\n    pass", False),
    "word": ("if self.apexes:\n    seek(1)", False),
}


@pytest.mark.parametrize(("path", "expected"), FILES.items())
def test_file(path: str, expected: bool) -> None:
    """A file is a backend's by its name in a folder of things to choose from."""
    assert Module(path, "", ast.parse("")).backends.is_file is expected


@pytest.mark.parametrize(("source", "expected"), OWNED.values(), ids=OWNED)
def test_owns(source: str, expected: bool) -> None:
    """A check that is passed on, and a helper that the file calls on CUDA alone, are CUDA's."""
    module, node = seek(source)
    assert module.backends.owns(node) is expected


OFFERED = {
    "named": ("def get_max_cuda_memory():\n    seek(1)", True),
    "called here": ("def setup_cuda():\n    seek(1)\nsetup_cuda()", False),
    "graph": (
        (
            "class A:\n    def _replay_cuda_graph(self):\n        seek(1)\n"
            "    def f(self):\n        self._replay_cuda_graph()"
        ),
        True,
    ),
    "for each device": ("n = torch.cuda.device_count()\nfor i in range(n):\n    seek(i)", True),
    "listed": ("[seek(i) for i in range(torch.cuda.device_count())]", True),
    "for each rank": ("for i in range(world):\n    seek(i)", False),
    "other": ("def get_memory():\n    seek(1)", False),
}


@pytest.mark.parametrize(("source", "expected"), OFFERED.values(), ids=OFFERED)
def test_offered(source: str, expected: bool) -> None:
    """A function named for CUDA that only other files call is theirs to choose."""
    module, node = seek(source)
    assert module.backends.is_offered(node) is expected


@pytest.mark.parametrize(("source", "expected"), OPTIONS.values(), ids=OPTIONS)
def test_option(source: str, expected: bool) -> None:
    """A library's name in the function or in a test around is an option for CUDA."""
    module, node = seek(source)
    assert module.backends.is_option(node) is expected


SERVED = {
    "class of CUDA": ("class CUDAAccelerator:\n    def f(self):\n        seek(1)", True),
    "processor": ("class IPAdapterXFormersAttnProcessor:\n    x = seek(1)", True),
    "function": ("def get_bnb_device_map():\n    seek(1)", True),
    "other class": ("class Accelerator:\n    def f(self):\n        seek(1)", False),
    "test": ("if use_apex:\n    seek(1)", False),
}


@pytest.mark.parametrize(("source", "expected"), SERVED.values(), ids=SERVED)
def test_serves_others(source: str, expected: bool) -> None:
    """Classes and functions that are named for CUDA or its libraries are not a TPU's."""
    module, node = seek(source)
    assert module.backends.serves_others(node) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("assert q.is_cuda\nseek(1)", True),
        ("if q.device.type != 'cuda':\n    raise ValueError\nseek(1)", True),
        ("_check_device_cuda(q)\nseek(1)", True),
        ("assert q.ndim == 4\nseek(1)", False),
        ("seek(1)\nassert q.is_cuda", False),
    ],
)
def test_refused(source: str, expected: bool) -> None:
    """A statement before that stops on a TPU says more than what follows."""
    module, node = seek(source)
    assert module.backends.is_refused(node) is expected


KERNELS = {
    "kernel": ("import triton\n@triton.jit\ndef f(x): ...\nseek(1)", True),
    "autotuned": ("import triton\n@triton.autotune(c)\n@triton.jit\ndef f(x): ...\nseek(1)", True),
    "no kernel": ("import triton\ndef f(x): ...\nseek(1)", False),
}


@pytest.mark.parametrize(("source", "expected"), KERNELS.values(), ids=KERNELS)
def test_has_kernels(source: str, expected: bool) -> None:
    """A file with a function that Triton compiles holds kernels."""
    module, _ = seek(source)
    assert module.backends.has_kernels is expected


ENGINES = {
    "at the top": ("import torch\nimport tensorrt as trt\nseek(1)", True),
    "parts of it": ("from tensorrt_llm.runtime import Session\nseek(1)", True),
    "optional": ("try:\n    import tensorrt\nexcept ImportError:\n    pass\nseek(1)", False),
    "where it is used": ("def export():\n    import tensorrt\nseek(1)", False),
    "another": ("import torch\nseek(1)", False),
}


@pytest.mark.parametrize(("source", "expected"), ENGINES.values(), ids=ENGINES)
def test_needs_engine(source: str, expected: bool) -> None:
    """A file that imports an engine of NVIDIA's at its top is built around it."""
    module, _ = seek(source)
    assert module.backends.needs_engine is expected
