"""Kinds of files by name and by content."""

from __future__ import annotations

import pytest

from tpu_audit.check.classify import kind_of_content, kind_of_name


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/b.py", "python"),
        ("a.IPYNB", "notebook"),
        (".github/workflows/ci.yml", "yaml"),
        ("config.json", "json"),
        ("pyproject.toml", "toml"),
        ("Pipfile", "toml"),
        ("setup.cfg", "ini"),
        (".env.local", "env"),
        ("prod.env", "env"),
        ("requirements-dev.txt", "requirements"),
        ("requirements/gpu.in", "requirements"),
        ("constraints.txt", "requirements"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.gpu", "dockerfile"),
        ("gpu.Dockerfile", "dockerfile"),
        ("run.sbatch", "shell"),
        ("Makefile", "makefile"),
        ("CMakeLists.txt", "cmake"),
        ("kernel.cu", "cpp"),
        ("values.yaml.j2", "yaml"),
        ("main.py.j2", None),
        ("README.md", None),
        ("notes.txt", None),
        ("tokenizer.json", None),
        ("package-lock.json", None),
        ("LICENSE", None),
    ],
)
def test_names(path: str, kind: str | None) -> None:
    """A name alone tells most kinds; documents and data are no kind."""
    assert kind_of_name(path) == kind


@pytest.mark.parametrize(
    ("path", "kind", "data", "found"),
    [
        ("train", None, b"#!/usr/bin/env python3\n", "python"),
        ("launch", None, b"#!/bin/bash -e\n", "shell"),
        ("launch", None, b"#! /usr/bin/env -S zsh\n", "shell"),
        ("LICENSE", None, b"Apache\n", None),
        ("accelerate_config", None, b"distributed_type: MULTI_GPU\nuse_cpu: false\n", "yaml"),
        ("notes", None, b"title: a\ntext: b\n", None),
        ("c.sh", "shell", b"distributed_type: MULTI_GPU\ngpu_ids: 1,3\n", "yaml"),
        ("c.sh", "shell", b"#!/bin/sh\na: b\nc: d\n", "shell"),
        ("c.sh", "shell", b"python train.py\necho a: b\n", "shell"),
        ("a.conf", "ini", b"[x]\na = b\n", "ini"),
    ],
)
def test_contents(path: str, kind: str | None, data: bytes, found: str | None) -> None:
    """A first line names the interpreter; YAML under a script's name is YAML."""
    assert kind_of_content(path, kind, data) == found
