"""What kind of file a path is: by its name, else by how it begins."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_SUFFIXES = {
    ".py": "python",
    ".pyw": "python",
    ".ipynb": "notebook",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".jsonc": "json",
    ".toml": "toml",
    ".ini": "ini",
    ".cfg": "ini",
    ".conf": "ini",
    ".env": "env",
    ".sh": "shell",
    ".bash": "shell",
    ".zsh": "shell",
    ".ksh": "shell",
    ".csh": "shell",
    ".bat": "shell",
    ".cmd": "shell",
    ".slurm": "shell",
    ".sbatch": "shell",
    ".sub": "shell",
    ".pbs": "shell",
    ".lsf": "shell",
    ".sge": "shell",
    ".job": "shell",
    ".mk": "makefile",
    ".cmake": "cmake",
    ".dockerfile": "dockerfile",
    ".containerfile": "dockerfile",
    ".cu": "cpp",
    ".cuh": "cpp",
    ".cpp": "cpp",
    ".cc": "cpp",
    ".cxx": "cpp",
    ".c": "cpp",
    ".h": "cpp",
    ".hpp": "cpp",
}
_NAMES = {
    "Makefile": "makefile",
    "makefile": "makefile",
    "GNUmakefile": "makefile",
    "CMakeLists.txt": "cmake",
    "Dockerfile": "dockerfile",
    "Containerfile": "dockerfile",
    "Pipfile": "toml",
    "Pipfile.lock": "json",
    "poetry.lock": "toml",
    "uv.lock": "toml",
    "pdm.lock": "toml",
    "pixi.lock": "yaml",
    "flake8": "ini",
}
_PATTERNS = (
    (re.compile(r"(?:^|/)(?:requirements|constraints)/[^/]*\.(?:txt|in)$"), "requirements"),
    (
        re.compile(r"(?:requirements|constraints|deps|dependencies)[^/]*\.(?:txt|in|pip)$"),
        "requirements",
    ),
    (re.compile(r"(?:^|/)(?:Dockerfile|Containerfile)[._-][^/]*$"), "dockerfile"),
    (re.compile(r"(?:^|/)[^/]*\.(?:Dockerfile|Containerfile)$"), "dockerfile"),
    (re.compile(r"(?:^|/)\.env(?:rc|\.[^/]*)?$"), "env"),
    (re.compile(r"(?:^|/)Makefile\.[^/]*$"), "makefile"),
)
_TEMPLATE_SUFFIXES = frozenset({".j2", ".jinja", ".jinja2", ".tmpl", ".template"})
_TEMPLATED = frozenset({"yaml", "shell", "dockerfile", "env", "requirements", "ini"})
_SHEBANG = re.compile(rb"#!\s*\S*?(?:/|env\s+(?:-S\s+)?)(python|bash|zsh|ksh|dash|sh)[\d.]*\b")
_ACCELERATE = re.compile(rb"^(?:compute_environment|distributed_type):", re.MULTILINE)
"""Accelerate's config, which people save under any name."""
_YAML_LINE = re.compile(r"[A-Za-z_][\w.-]*:(?:\s|$)|-\s|\s*#|\s*$|---|\s+\S")
_DATA = frozenset(
    {
        *("tokenizer.json", "vocab.json", "package-lock.json", "special_tokens_map.json"),
        *("model.safetensors.index.json", "pytorch_model.bin.index.json", "added_tokens.json"),
    }
)
"""Files of models and of other languages that are data whatever they hold."""


def kind_of_name(path: str) -> str | None:
    """Return the kind that a path's name tells; None for a name that tells nothing."""
    pure = PurePosixPath(path)
    name = pure.name
    if name in _DATA:
        return None
    if pure.suffix in _TEMPLATE_SUFFIXES:
        inner = kind_of_name(path[: -len(pure.suffix)])
        return inner if inner in _TEMPLATED else None
    if name in _NAMES:
        return _NAMES[name]
    for pattern, kind in _PATTERNS:
        if pattern.search(path):
            return kind
    return _SUFFIXES.get(pure.suffix.lower())


def may_have_shebang(path: str) -> bool:
    """Tell a file without a suffix, whose first line may say what runs it."""
    name = PurePosixPath(path).name
    return "." not in name


def kind_of_content(path: str, kind: str | None, data: bytes) -> str | None:
    """Return the kind that a file's beginning tells, ``kind`` being what its name tells."""
    if kind is None:
        match = _SHEBANG.match(data[:200])
        if not match:
            return "yaml" if _ACCELERATE.search(data[:4000]) and _is_yaml(data) else None
        return "python" if match.group(1) == b"python" else "shell"
    if kind == "shell" and not data.startswith(b"#!") and _is_yaml(data):
        return "yaml"
    if kind == "ini" and PurePosixPath(path).suffix == ".conf" and _is_yaml(data):
        return "yaml"
    return kind


def _is_yaml(data: bytes) -> bool:
    """Tell YAML that is saved under another name: every line is a key, an item or inside one."""
    lines = data[:4000].decode("utf-8", "replace").splitlines()[:40]
    top = sum(re.match(r"[A-Za-z_][\w.-]*:(?:\s|$)", line) is not None for line in lines)
    below = sum(re.match(r"[ ]+[A-Za-z_][\w.-]*:(?:\s|$)", line) is not None for line in lines)
    return (top > 1 or (top == 1 and below > 1)) and all(_YAML_LINE.match(line) for line in lines)
