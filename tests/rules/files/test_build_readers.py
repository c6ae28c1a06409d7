"""Makefiles, CMake and C++: what builds CUDA code."""

from __future__ import annotations

from tests.support.documents import at, read, start, values, words


def test_makefile() -> None:
    """Variables are entries, recipes are commands, comments neither."""
    text = (
        "CUDA_HOME ?= /usr/local/cuda # c\nNVCC := $(CUDA_HOME)/bin/nvcc\n"
        "all: x\n\t@-nvcc -o x\n#\tno\n"
    )
    document = read("makefile", text)

    assert values(document) == {"CUDA_HOME": "/usr/local/cuda", "NVCC": "$(CUDA_HOME)/bin/nvcc"}
    assert at(document, "CUDA_HOME") == ("/usr/local/cuda", (1, 14))
    assert words(document) == [["nvcc", "-o", "x"]]
    assert start(document.commands[0].span) == (4, 4)


def test_cmake() -> None:
    """Calls are commands with their arguments, names in lower case; comments are not."""
    text = (
        "# find_package(CUDA)\nFIND_PACKAGE(CUDA 11 REQUIRED)\n"
        'project(x LANGUAGES CXX CUDA) #[[ enable_language(CUDA)\n]]\nset(F "70;80 # no")\n'
        "if(NOT (A AND B))\nendif()\n"
    )
    document = read("cmake", text)

    assert words(document) == [
        ["find_package", "CUDA", "11", "REQUIRED"],
        ["project", "x", "LANGUAGES", "CXX", "CUDA"],
        ["set", "F", "70;80 # no"],
        ["if", "NOT", "A", "AND", "B"],
        ["endif"],
    ]
    assert start(document.commands[1].words[4].span) == (3, 25)


def test_cpp() -> None:
    """Includes are entries; those in comments are not."""
    text = '// #include <x>\n/* #include <y>\n*/ #include <cuda_runtime.h>\n # include "z.cuh"\n'
    document = read("cpp", text)

    assert [entry.value for entry in document.entries] == ["cuda_runtime.h", "z.cuh"]
    assert [start(entry.span) for entry in document.entries] == [(3, 13), (4, 12)]
