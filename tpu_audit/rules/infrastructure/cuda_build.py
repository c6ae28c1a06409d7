"""TPA811: builds that compile CUDA code."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.files.document import Word
from tpu_audit.rules.infrastructure.environment import variables
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Command, Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_LEGACY = frozenset(
    {
        "cuda_add_library",
        "cuda_add_executable",
        "cuda_compile",
        "cuda_compile_ptx",
        "cuda_include_directories",
    }
)
_PACKAGES = re.compile(r"cuda|cudatoolkit|cudnn|nccl|cub|cutlass|tensorrt", re.IGNORECASE)
_SWITCH = re.compile(r"-D\w*(?:CUDA|CUBLAS)\w*=(?:on|true|yes|1)\b", re.IGNORECASE)
_OPTIONAL = re.compile(r"(?<!NOT )\b\w*(?:CUDA|GPU|NVCC)\w*")
_ADVICE = "leave it out of the build for TPUs; write the kernels as torch ops, or in Pallas"
_TOOLKIT = "a TPU host has no CUDA toolkit"

RULE = Rule(
    code="TPA811",
    name="cuda-build",
    severity=Severity.ERROR,
    words=(
        "CUDA",
        "cmake",
        "CMAKE_ARGS",
        "CUDAToolkit",
        "cuda_add_*",
        "cuda_compile*",
        "nvcc",
        "NVCC",
        "CUDNN",
        "NCCL",
        "TensorRT",
    ),
    docs=Docs(
        what="Finds builds that need the CUDA compiler: `find_package(CUDA)`, the language CUDA, "
        "`nvcc` in Makefiles, scripts, images and `setup.py`. What CMake does only under an "
        "option such as `USE_CUDA` counts as a warning.",
        why="A TPU host has no CUDA toolkit: the build stops at configuration or at the first "
        "`.cu` file, and what it builds could not run.",
        example="find_package(CUDAToolkit REQUIRED)\nenable_language(CUDA)",
        instead="Write the kernels as torch ops, which torch-tpu compiles, or in Pallas through "
        "torch.tpu.pallas.jax_op.",
        references=(
            "https://cmake.org/cmake/help/latest/module/FindCUDAToolkit.html",
            "https://docs.jax.dev/en/latest/pallas/index.html",
        ),
    ),
    valid=(
        Case(
            "cmake_minimum_required(VERSION 3.18)\nproject(x LANGUAGES C CXX)\n"
            '# find_package(CUDA REQUIRED)\noption(USE_CUDA "with CUDA" OFF)\n'
            'message(STATUS "find_package(CUDA)")\n',
            filename="CMakeLists.txt",
        ),
        Case(
            "CXX = g++\n# NVCC = nvcc\nall:\n\techo nvcc\n\t$(CXX) -o a a.cc\n", filename="Makefile"
        ),
        Case(
            "which nvcc\ncommand -v nvcc || true\nif ! nvcc_path=x; then :; fi\n", filename="t.sh"
        ),
        Case('name = "nvcc"\nprint("nvcc not found")\n', filename="tool.py"),
        Case(
            "from torch.utils.cpp_extension import CUDAExtension\n"
            "ext = CUDAExtension('a', ['a.cu'], extra_compile_args={'nvcc': ['-O3']})\n",
            filename="setup.py",
        ),
        Case(
            "include(CheckLanguage)\ncheck_language(CUDA)\nfind_package(Torch REQUIRED)\n",
            filename="CMakeLists.txt",
        ),
    ),
    invalid=(
        Case(
            'CMAKE_ARGS="-DGGML_CUDA=on" pip install llama-cpp-python\n'
            "cmake -B build -DUSE_CUDA=ON .\n",
            filename="install.sh",
            lines=(1, 2),
        ),
        Case(
            "project(ext LANGUAGES CXX CUDA)\nfind_package(CUDAToolkit REQUIRED)\n"
            "Enable_Language( CUDA )\ncuda_add_library(k k.cu)\n",
            filename="CMakeLists.txt",
            lines=(1, 2, 3, 4),
            columns=(27, 1, 1, 1),
        ),
        Case(
            "if(USE_CUDA)\n  find_package(CUDA 11 REQUIRED)\nelse()\n  message(no)\nendif()\n"
            "find_package(CUDAToolkit QUIET)\n",
            filename="cmake/deps.cmake",
            lines=(2, 6),
            severity=Severity.WARNING,
        ),
        Case(
            "NVCC ?= nvcc\nk.o: k.cu\n\t$(NVCC) -c k.cu -o k.o\n"
            "\t/usr/local/cuda/bin/nvcc -O3 a.cu\n",
            filename="Makefile",
            lines=(1, 3, 4),
        ),
        Case("cd ops && nvcc -arch=sm_80 -o k k.cu\n", filename="make.sh", lines=(1,)),
        Case("FROM x\nRUN nvcc -shared -o k.so k.cu\n", filename="Dockerfile", lines=(2,)),
        Case(
            "import subprocess\nfrom setuptools import setup\n"
            'subprocess.check_output([home + "/bin/nvcc", "-V"])\n'
            'args = {"cxx": ["-O3"], "nvcc": ["-O3", "-arch=sm_80"]}\n',
            filename="csrc/setup.py",
            lines=(3, 4),
        ),
    ),
)


@RULE.document("cmake")
def check_cmake(document: Document) -> Iterator[Hit]:
    """Find what needs the toolkit, and whether an option decides on it."""
    conditions: list[bool] = []
    for command in document.commands:
        if command.name == "if":
            conditions.append(_is_optional(command))
        elif command.name in {"else", "elseif"} and conditions:
            conditions[-1] = command.name == "elseif" and _is_optional(command)
        elif command.name == "endif" and conditions:
            conditions.pop()
        else:
            yield from _cmake_call(document, command, optional=any(conditions))


def _cmake_call(document: Document, command: Command, *, optional: bool) -> Iterator[Hit]:
    words = [word.text for word in command.words]
    span = command.words[0].span
    if command.name == "find_package" and words[1:] and _PACKAGES.fullmatch(words[1]):
        what = f"`find_package({words[1]})` finds nothing"
        optional = optional or "REQUIRED" not in words
    elif command.name == "enable_language" and words[1:2] == ["CUDA"]:
        what = "`enable_language(CUDA)` stops"
    elif command.name == "project" and "CUDA" in words[2:]:
        what = "a project in CUDA stops at configuration"
        span = command.words[words.index("CUDA", 2)].span
    elif command.name in _LEGACY:
        what = f"`{command.name}` cannot compile"
    else:
        return
    severity = Severity.WARNING if optional else Severity.ERROR
    yield document.hit(span, f"{what}: {_TOOLKIT}", _ADVICE, severity=severity, cause="cmake")


def _is_optional(command: Command) -> bool:
    """Tell a condition on CUDA; ``if(NOT USE_CUDA)`` is what a TPU takes."""
    return _OPTIONAL.search(" ".join(word.text for word in command.words[1:])) is not None


@RULE.document("shell", "makefile", "dockerfile", "yaml", "ini", "json")
def check_commands(document: Document) -> Iterator[Hit]:
    """Find the compiler as a command, and as a variable of a Makefile."""
    for entry in document.entries if document.kind == "makefile" else ():
        if entry.key_span and re.fullmatch(r"(?:\S*/)?nvcc", entry.text()):
            yield document.hit(entry.span, f"`nvcc` is missing: {_TOOLKIT}", _ADVICE, cause="nvcc")
    for node in _switches(document):
        message = f"`{node.text}` builds with CUDA: {_TOOLKIT}"
        yield document.hit(node.span, message, _ADVICE, cause="switch")
    for command in document.commands:
        asks = any(word.text in {"--version", "-V"} for word in command.words)
        if (
            command.name in {"nvcc", "$(NVCC)", "${NVCC}", "$NVCC"}
            and not asks
            and len(command.words) > 1
        ):
            yield document.hit(
                command.words[0].span, f"`nvcc` is missing: {_TOOLKIT}", _ADVICE, cause="nvcc"
            )


def _switches(document: Document) -> Iterator[Word]:
    """Iterate over ``-DGGML_CUDA=on`` of CMake, in its arguments and in ``CMAKE_ARGS``."""
    for command in document.commands:
        for word in command.words if command.name == "cmake" else ():
            if _SWITCH.search(word.text):
                yield word
    for variable in variables(document):
        found = _SWITCH.search(variable.value)
        if variable.name == "CMAKE_ARGS" and found:
            yield Word(text=found.group(), span=variable.key_span)


@RULE.string("nvcc")
def check_setup(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find the compiler in a setup.py: called, or given flags."""
    text = str(constant.value)
    if module.path.rpartition("/")[2] != "setup.py" or not re.fullmatch(r"(?:\S*/)?nvcc", text):
        return
    flags = isinstance(module.parent(constant), ast.Dict)
    # beside a CUDAExtension, which is found by itself, its flags say nothing new
    if not flags or "CUDAExtension" not in module.text:
        yield module.hit(constant, f"`nvcc` is missing: {_TOOLKIT}", _ADVICE, cause="nvcc")
