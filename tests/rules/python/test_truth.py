"""Tests for devices, answered for a process on a TPU."""

from __future__ import annotations

import pytest

from tests.support.python_code import seek

FALSE = {
    "is_available": "import torch\nseek(torch.cuda.is_available())",
    "is_available, imported": "from torch.cuda import is_available\nseek(is_available())",
    "no import": "seek(torch.cuda.is_available())",
    "not accelerator": "seek(not torch.accelerator.is_available())",
    "and": "seek(args.cuda and torch.cuda.is_available())",
    "flag": "use = torch.cuda.is_available()\nseek(use)",
    "flag of a flag": (
        "use = torch.cuda.is_available() and not args.cpu\nboth = use and x\nseek(both)"
    ),
    "flag, ternary": "use = True if torch.cuda.is_available() else False\nseek(use)",
    "self attribute": (
        "class A:\n    def __init__(self):\n        self.gpu = torch.cuda.is_available()\n"
        "    def f(self):\n        seek(self.gpu)"
    ),
    "args attribute": "args.cuda = not args.no_cuda and torch.cuda.is_available()\nseek(args.cuda)",
    "own helper": "def gpu():\n    return torch.cuda.is_available()\nseek(gpu())",
    "autocast of CUDA": "import torch\nseek(torch.is_autocast_enabled())",
    "visible GPUs": "seek(config.total_visible_gpus > 0)",
    "backend of an argument": (
        "import torch.distributed as dist\ndef f(backend):\n    seek(backend == dist.Backend.NCCL)"
    ),
    "any of many": (
        "def on_cuda(x):\n    return x.device.type == 'cuda'\nseek(any(on_cuda(x) for x in xs))"
    ),
    "unless a caller says": (
        "def f(gpu=None):\n    use = torch.cuda.is_available() if gpu is None else gpu\n"
        "    seek(use)"
    ),
    "AMD's variable": "import os\nseek(os.environ.get('HIP_VISIBLE_DEVICES'))",
    "group's backend, or none": (
        "import torch.distributed as dist\nname = dist.get_backend() if started else 'cpu'\n"
        "seek(name == 'nccl')"
    ),
    "CUDA context": "seek(self._cuda_context.is_available())",
    "has_cuda": "seek(mode.has_cuda)",
    "real device": 'seek(model_device.type in ("cuda", "meta"))',
    "placeholder": (
        'cuda_available = "NA"\nif has_torch:\n    cuda_available = torch.cuda.is_available()\n'
        "seek(cuda_available)"
    ),
    "flex attention's flag": "from lib import HAS_FLEX_ATTENTION\nseek(HAS_FLEX_ATTENTION)",
    "group's backend": "import torch\nseek(torch.distributed.get_backend() == 'nccl')",
    "group's backend, kept": (
        "import torch.distributed as dist\nname = dist.get_backend()\n"
        "seek(name == dist.Backend.NCCL)"
    ),
    "library helper": (
        "from transformers.utils import is_torch_cuda_available as x\nseek(is_mps_available())"
    ),
    "bool": "seek(bool(torch.cuda.is_available()))",
    "walrus": "seek(use := torch.cuda.is_available())",
    "count": "seek(torch.cuda.device_count() > 1)",
    "count, turned": "seek(1 <= torch.cuda.device_count())",
    "count alone": "seek(torch.cuda.device_count())",
    "count in a variable": "n = torch.cuda.device_count()\nseek(n > 0)",
    "count variable alone": "n = torch.cuda.device_count()\nseek(n)",
    "no generators": "seek(len(torch.cuda.default_generators) > 0)",
    "ONNX provider": 'seek(provider == "CUDAExecutionProvider")',
    "version": "seek(torch.version.cuda)",
    "version is not None": "seek(torch.version.cuda is not None)",
    "mps": "seek(torch.backends.mps.is_available())",
    "type": 'seek(device.type == "cuda")',
    "type, turned": 'seek("cuda" == device.type)',
    "type of a tensor": 'seek(x.device.type == "cuda")',
    "type is cpu": 'seek(x.device.type == "cpu")',
    "type in": 'seek(device.type in ("cuda", "xpu"))',
    "type in a named set": 'GPUS = frozenset({"cuda", "npu"})\nseek(d.type in GPUS)',
    "type in a class's list": (
        'class A:\n    G = ["cuda"]\n    def f(self, d):\n        seek(d.type in self.G)'
    ),
    "type in joined lists": 'G = ["cuda"] + ["mps"]\nseek(d.type in G)',
    "type in a deny list": 'seek(device.type in ["mps", "npu"])',
    "type in accelerators or cpu": 'seek(device.type in ("cuda", "cpu"))',
    "text": 'seek("cuda" in str(device))',
    "text of a name": 'seek("cuda" in name)',
    "startswith": 'seek(device.startswith("cuda"))',
    "startswith colon": 'seek(str(device).startswith("cuda:"))',
    "startswith several": 'seek(device.startswith(("cuda", "hip")))',
    "not not cpu": 'seek(not device.type != "cpu")',
    "is_cuda": "seek(x.is_cuda)",
    "is_cpu": "seek(x.is_cpu)",
    "device flag": 'is_gpu = device.type == "cuda"\nseek(is_gpu)',
    "device text of a default": 'def f(device="cuda"):\n    seek(device == "cuda")',
    "device chosen": 'd = "cuda" if torch.cuda.is_available() else "cpu"\nseek(d == "cuda")',
    "soft import": (
        "try:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\n"
        "seek(flash_attn is not None)"
    ),
    "soft import's flag": (
        "try:\n    import apex\n    HAS = True\nexcept ImportError:\n    HAS = False\nseek(HAS)"
    ),
}


@pytest.mark.parametrize("source", FALSE.values(), ids=FALSE)
def test_false_on_tpu(source: str) -> None:
    """A test that holds on other devices only is false."""
    module, node = seek(source)
    assert module.truth(node) is False


TRUE = {
    "not": "seek(not torch.cuda.is_available())",
    "or": "seek(x or not torch.cuda.is_available())",
    "accelerator": "seek(torch.accelerator.is_available())",
    "current accelerator": "seek(torch.accelerator.current_accelerator())",
    "type is not": 'seek(device.type != "cuda")',
    "type is not cpu": 'seek(device.type != "cpu")',
    "type not in": 'seek(device.type not in {"mps", "npu"})',
    "text not in": 'seek("cuda" not in str(device))',
    "no count": "seek(torch.cuda.device_count() == 0)",
    "count under": "seek(torch.cuda.device_count() < 2)",
    "version is None": "seek(torch.version.cuda is None)",
    "tpu": 'seek(device.type == "tpu")',
    "tpu among others": 'seek(device.type in ("cuda", "tpu"))',
    "no soft import": (
        "try:\n    import cupy\nexcept ImportError:\n    cupy = None\nseek(cupy is None)"
    ),
}


@pytest.mark.parametrize("source", TRUE.values(), ids=TRUE)
def test_true_on_tpu(source: str) -> None:
    """A test that rules other devices out, or allows a TPU, is true."""
    module, node = seek(source)
    assert module.truth(node) is True


UNKNOWN = {
    "switched off on the CPU": (
        "class A:\n    def f(self, device):\n        if device == 'cpu':\n"
        "            self.half = False\n        seek(self.half)"
    ),
    "all of many": "seek(all(check(x) for x in xs))",
    "autocast of a device": "import torch\nseek(torch.is_autocast_enabled(device.type))",
    "option": "seek(args.cuda)",
    "option or": "seek(args.cuda or torch.cuda.is_available())",
    "parameter": "def f(use_cuda=True):\n    seek(use_cuda)",
    "backend": 'seek(backend == "nccl")',
    "gpu id": "seek(args.gpu is not None)",
    "two bindings": "use = torch.cuda.is_available()\nif x:\n    use = True\nseek(use)",
    "word": 'seek(color == "red")',
    "cpu word": 'seek(mode == "cpu")',
    "device as it stands": 'd = "cuda"\nseek(d == "cuda")',
    "two constants": 'seek("a" == "b")',
    "hasattr": 'seek(hasattr(torch, "cuda"))',
    "mixed list": "seek(device.type in kinds)",
    "chained": "seek(0 < torch.cuda.device_count() < 8)",
    "own property of that name": (
        "class A:\n    def __init__(self, c):\n        self.is_cuda = c\n"
        "    def f(self):\n        seek(self.is_cuda)"
    ),
    "self reference": "use = use and x\nseek(use)",
}


@pytest.mark.parametrize("source", UNKNOWN.values(), ids=UNKNOWN)
def test_not_known(source: str) -> None:
    """What the device does not decide is left open."""
    module, node = seek(source)
    assert module.truth(node) is None
