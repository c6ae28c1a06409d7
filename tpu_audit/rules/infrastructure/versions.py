"""Whether version specifiers admit a version that torch-tpu takes."""

from __future__ import annotations

import re
from itertools import product

TORCH = tuple(
    version for version in product((2,), range(11, 16), range(10)) if version <= (2, 15, 0)
)
"""Versions of torch that torch-tpu 0.2.0 takes: from 2.11.0 up to 2.15.0."""
PYTHON = tuple(product((3,), range(11, 21), range(31)))
"""Versions of Python that it takes: 3.11 and later."""
_CLAUSE = re.compile(r"(===|==|~=|!=|>=|<=|>|<|\^|~|=)?\s*v?(\d+(?:\.\d+)*)((?:\.?\*)?)[\w.+-]*")
_MARKER = re.compile(
    r"(sys_platform|platform_system|platform_machine|python_version|python_full_version|os_name"
    r"|implementation_name|platform_python_implementation)\s*(==|!=|<=|>=|<|>)\s*[\"']([^\"']+)[\"']"
)
_HOST = {
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "os_name": "posix",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}
"""A TPU VM, as environment markers see it."""
_Version = tuple[int, ...]


def admits(specifier: str, window: tuple[_Version, ...]) -> bool:
    """Tell whether any version of ``window`` fits; true for what is not understood."""
    alternatives = re.split(r"\s*\|\|?\s*", specifier.strip())
    return any(_admits_all(one, window) for one in alternatives)


def applies(text: str) -> bool:
    """Tell whether a requirement's marker, if it has one, lets it apply on a TPU VM."""
    _, semicolon, marker = text.partition(";")
    if not semicolon or " or " in marker:
        return True
    return all(_holds(*match.groups()) for match in _MARKER.finditer(marker))


def _admits_all(specifier: str, window: tuple[_Version, ...]) -> bool:
    clauses = []
    for part in re.split(r"\s*,\s*|\s+(?=[<>=!~^])", specifier.strip("() ")):
        match = _CLAUSE.fullmatch(part.strip())
        if match is None:
            return True
        clauses.append(match.groups())
    return any(all(_fits(version, *clause) for clause in clauses) for version in window)


def _fits(version: _Version, sign: str | None, text: str, star: str) -> bool:
    wanted = tuple(map(int, text.split(".")))
    low = (*wanted, 0, 0)[:3]
    if sign in {None, "=", "==", "==="}:
        # conda's single sign and bare versions mean a prefix, and so does a star
        exact = sign in {"==", "==="} and not star
        return version == low if exact else version[: len(wanted)] == wanted[:3]
    if sign == "!=":
        return version[: len(wanted)] != wanted if star else version != low
    if sign == "~=":
        return version >= low and version[: len(wanted) - 1] == wanted[:-1]
    if sign == "~":
        return version >= low and version[:2] == low[:2]
    if sign == "^":
        return version >= low and version[0] == low[0]
    return {">=": version >= low, "<=": version <= low, ">": version > low, "<": version < low}[
        str(sign)
    ]


def _holds(name: str, sign: str, value: str) -> bool:
    if name in _HOST:
        return (_HOST[name] == value) is (sign == "==")
    return admits(f"{sign}{value}{'.*' if sign == '==' else ''}", PYTHON)
