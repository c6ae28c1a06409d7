"""Code of backends and options that are CUDA's alone: a TPU is never sent there."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tpu_audit.rules.python.walk import descend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_LIBRARIES = (
    *("bitsandbytes", "bnb", "tensorrt", "megatron", "nunchaku", "apex", "xformers", "awq"),
    *("autoawq", "gptq", "eetq", "aqlm", "fbgemm", "exllama", "marlin", "sageattention"),
    *("flashinfer", "cupy", "spqr", "vptq", "higgs", "mxfp4", "nvfp4", "transformer_engine"),
    *("deepgemm", "sonicmoe", "bitnet", "compressed_tensors", "finegrained_fp8", "fp_quant"),
    *("sinq", "deepspeed", "numba", "executorch", "metal"),
)
"""Libraries and formats that have kernels for CUDA alone, as files and options spell them."""
_NAMED = re.compile(rf"(?<![a-z])(?:{'|'.join(_LIBRARIES)})(?![a-z])")
_OF_CUDA = re.compile(r"(?<![a-z])(?:cuda|nccl|nvidia)(?![a-z])")
_OF_GPU = re.compile(r"(?<![a-z])(?:cuda|nvidia|gpu)(?![a-z])")
_CHOSEN = frozenset(
    {
        *("quantizers", "quantization", "integrations", "backends", "plugins", "precision"),
        "strategies",
    }
)
"""Folders with one file, or one folder, for each thing to choose from."""
_DEVICES = frozenset({"accelerators", "platforms", "backends", "devices", "extensions"})
"""Folders with one file a kind of device."""
_HELPERS = frozenset({"utils"})
_RUNTIMES = re.compile(
    r"^(?:hailo|openvino|coreml|onnx|tensorflow|paddle|rknn|mnn|ncnn|imx|axelera|executorch|litert"
    r"|tflite|qnn|torchscript|coreai|deepx|triton|ascend)$"
)
"""Programs that run models without PyTorch, as files of backends are named."""
_CUDA_CLASS = re.compile(r"cuda|xformers|bitsandbytes|tensorrt|megatron|nunchaku", re.IGNORECASE)
_FLASH = re.compile(r"flash_(?:attn|attention|pack)")
_OWNER = re.compile(
    r"(?:cuda|nvidia)\w*(?:accelerator|platform|backend|runtime|context|tracker)"
    r"|(?:accelerator|platform|backend)(?:cuda|nvidia)$|nccl\w*engine$",
    re.IGNORECASE,
)
"""Classes that stand for CUDA beside others; one for its streams or graphs is of no such choice."""
_ENGINE = re.compile(
    r"^_?(?:tensorrt|trt|mcore|megatron)$|^_?(?:tensorrt|trt|bnb|bitsandbytes|megatron)_"
    r"|(?:^|_)(?:trtllm|cutlass|marlin|exllama(?:v2)?|deepgemm|sonicmoe|nvfp4)(?:_|$)"
    r"|^nccl_\w*engine$"
)
"""Files and folders that are about one such library, wherever they are."""
_RUNS_ALONE = frozenset({"tensorrt", "tensorrt_llm", "cutlass"})
"""Libraries around which the whole file that imports one at its top is built."""
_OPTIONAL = re.compile(r"Optional\w*Cuda", re.IGNORECASE)
_REQUIRED = re.compile(r"cuda\w*_(?:required|only)$|requires?_cuda")
_CHECK = re.compile(r"^_?(?:check|validate|require|ensure|assert)_.*cuda")


def names_library(text: str) -> bool:
    """Tell whether a name or an option says a library that has kernels for CUDA alone."""
    return _NAMED.search(text.lower()) is not None


class Backends:
    """Tells code of CUDA's backends in one module."""

    def __init__(self, module: Module) -> None:
        self._module = module

    @cached_property
    def is_file(self) -> bool:
        """Whether the file is one of several to choose from, and is named for CUDA's."""
        parts = PurePosixPath(self._module.path.replace("\\", "/").lower()).parts
        pairs = pairwise(parts)
        return any(_is_backend(folder, name.removesuffix(".py")) for folder, name in pairs)

    @cached_property
    def needs_engine(self) -> bool:
        """Whether the file cannot be imported without a library that it is built around."""
        return any(self._is_of_engine(node) for node, _ in self._module.imported)

    @cached_property
    def has_kernels(self) -> bool:
        """Whether the file holds kernels of Triton."""
        decorators = (
            d.func if isinstance(d, ast.Call) else d
            for function in self._module.index.of(ast.FunctionDef)
            for d in function.decorator_list
        )
        return "triton" in self._module.libraries.roots and any(
            self._module.is_named(decorator, "triton.jit") for decorator in decorators
        )

    def _is_of_engine(self, node: ast.stmt | ast.Call) -> bool:
        """Tell ``import tensorrt`` at the top of a file: without it nothing below is reached."""
        names = (alias.name for alias in getattr(node, "names", ()))
        roots = {(getattr(node, "module", None) or name).partition(".")[0] for name in names}
        return bool(roots & _RUNS_ALONE) and self._module.parent(node) is self._module.tree

    def owns(self, node: ast.AST) -> bool:
        """Tell whether a TPU comes to ``node`` only if asked for what CUDA alone has."""
        if self.is_file:
            return True
        owner = self._module.classes.enclosing(node)
        if owner is not None and (_OWNER.search(owner.name) or self._graphs_apart(owner)):
            return True
        return any(
            self._is_check(one) or self._is_helper(one) or _demands_cuda(one)
            for one in self._functions(node)
        )

    def _graphs_apart(self, owner: ast.ClassDef) -> bool:
        """Tell a class that decides for itself whether it captures CUDA graphs."""
        names = (getattr(base, "attr", getattr(base, "id", "")) for base in owner.bases)
        return any(_OPTIONAL.search(name) for name in names)

    def serves_others(self, node: ast.AST) -> bool:
        """Tell whether ``node`` is of a backend, a class or a function for other than TPUs.

        What is written there is right for what it serves; a TPU needs one of its own.
        """
        if self.owns(node):
            return True
        parent = self._module.parent(node)
        while parent is not None:
            if isinstance(parent, ast.ClassDef) and _CUDA_CLASS.search(parent.name):
                return True
            if isinstance(parent, ast.For) and self._is_empty(parent):
                return True
            if isinstance(parent, ast.FunctionDef) and _serves_cuda(parent.name):
                return True
            parent = self._module.parent(parent)
        return False

    def _is_empty(self, loop: ast.For) -> bool:
        """Tell ``for i in range(torch.cuda.device_count())``."""
        count = loop.iter.args[0] if isinstance(loop.iter, ast.Call) and loop.iter.args else None
        return isinstance(count, ast.Call) and self._module.is_named(
            count.func, "torch.cuda.device_count"
        )

    def is_offered(self, node: ast.AST) -> bool:
        """Tell whether ``node`` is in a function that is named for CUDA and that others call.

        Those others know when to: ``get_max_cuda_memory``, ``prepare_for_cuda``.
        """
        return self._is_counted(node) or any(
            "cuda_graph" in one.name
            or (_OF_CUDA.search(one.name) and not self._module.calls.sites(one))
            for one in self._functions(node)
        )

    def _is_counted(self, node: ast.AST) -> bool:
        """Tell what is done for each CUDA device: ``for i in range(torch.cuda.device_count())``."""
        parent = self._module.parent(node)
        while parent is not None:
            loops = [parent] if isinstance(parent, ast.For) else getattr(parent, "generators", [])
            if any(self._counts(loop.iter) for loop in loops):
                return True
            parent = self._module.parent(parent)
        return False

    def _counts(self, node: ast.expr) -> bool:
        is_range = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range"
        return is_range and len(node.args) == 1 and self._module.truth(node.args[0]) is False  # type: ignore[attr-defined] # a Call

    def is_option(self, node: ast.AST) -> bool:
        """Tell whether a function or a test around ``node`` names a library of CUDA's."""
        return any(
            names_library(text) or _FLASH.search(text.lower()) for text in self._around(node)
        )

    def is_refused(self, node: ast.AST) -> bool:
        """Tell whether an earlier statement of the block stops on anything but a CUDA device."""
        place = self._module.statement(node)
        for earlier in self._module.index.block(place):
            if earlier is place:
                return False
            if isinstance(earlier, ast.Assert) and self._module.truth(earlier.test) is False:
                return True
            if isinstance(earlier, ast.If) and isinstance(earlier.body[-1], ast.Raise):
                if self._module.truth(earlier.test):
                    return True
            elif isinstance(earlier, ast.Expr) and isinstance(earlier.value, ast.Call):
                name = getattr(earlier.value.func, "id", "")
                if _CHECK.match(name):
                    return True
        return False

    def _functions(self, node: ast.AST) -> Iterator[ast.FunctionDef]:
        parent = self._module.parent(node)
        while parent is not None:
            if isinstance(parent, ast.FunctionDef):
                yield parent
            parent = self._module.parent(parent)

    def _is_check(self, function: ast.FunctionDef) -> bool:
        """Tell a check for CUDA that only others of its kind call: it is there to be passed on."""
        if not _CHECK.match(function.name):
            return False
        sites = self._module.calls.sites(function)
        return all(
            any(_CHECK.match(around.name) for around in self._functions(site)) for site in sites
        )

    def _is_helper(self, function: ast.FunctionDef) -> bool:
        """Tell a function that the file itself calls on CUDA alone; other files may not."""
        sites = self._module.calls.only_sites(function)
        return bool(sites) and all(self._module.reach(site).dead for site in sites)

    def _around(self, node: ast.AST) -> Iterator[str]:
        child, parent = node, self._module.parent(node)
        while parent is not None:
            if isinstance(parent, ast.FunctionDef | ast.ClassDef):
                yield parent.name
            elif isinstance(parent, ast.If | ast.IfExp) and child is not parent.test:
                yield from _words(parent.test)
            child, parent = parent, self._module.parent(parent)


def _demands_cuda(function: ast.FunctionDef) -> bool:
    """Tell ``@cuda_python_required``: what is decorated so runs on CUDA alone."""
    callees = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
    return any(_REQUIRED.search(getattr(c, "attr", getattr(c, "id", ""))) for c in callees)


def _serves_cuda(function: str) -> bool:
    return names_library(function) or function.lstrip("_").startswith(("is_cuda", "has_cuda"))


def _is_backend(folder: str, name: str) -> bool:
    if folder in _DEVICES and (_OF_GPU.search(name) or _RUNTIMES.match(name)):
        return True
    if _ENGINE.match(name):
        return True
    return folder in _CHOSEN | _HELPERS and names_library(name)


def _words(test: ast.expr) -> Iterator[str]:
    for node in descend(test):
        word = getattr(node, "attr", getattr(node, "id", getattr(node, "value", None)))
        if isinstance(word, str):
            yield word
