"""Draws findings to review from a folder of unpacked packages; the same seed draws the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.review.table import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_STATED = re.compile(r'^__version__ = "(.+)"', re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A finding, as the checker's JSON has it."""

    path: Path
    line: int
    code: str
    severity: str
    message: str


def found_in(report: Mapping[str, list[dict[str, object]]], severity: str) -> list[Found]:
    """Return the findings of one severity in a report of ``tpu-audit check --format json``."""
    return [_found(one) for one in report["findings"] if one["severity"] == severity]


def _found(record: dict[str, object]) -> Found:
    location = record["location"]
    assert isinstance(location, dict)
    return Found(
        path=Path(location["path"]),
        line=location["line"],
        code=str(record["code"]),
        severity=str(record["severity"]),
        message=str(record["message"]),
    )


def draw(findings: Iterable[Found], folder: Path, *, count: int, seed: int) -> list[Row]:
    """Draw ``count`` findings (all, if there are fewer), in turn from each package of ``folder``.

    A package is a folder directly below ``folder``, as ``pip install --target`` fills it.
    """
    packages: dict[str, list[Found]] = {}
    for one in sorted(findings, key=lambda one: (one.path.as_posix(), one.line, one.code)):
        packages.setdefault(one.path.relative_to(folder).parts[0], []).append(one)
    shuffled = [_shuffled(packages[name], f"{seed}:{name}") for name in sorted(packages)]
    turns = (one for turn in zip_longest(*shuffled) for one in turn if one is not None)
    chosen = [one for one, _ in zip(turns, range(count), strict=False)]
    return sorted((_row(one, folder) for one in chosen), key=_place)


def _shuffled(findings: Sequence[Found], seed: str) -> list[Found]:
    return Random(seed).sample(findings, len(findings))  # noqa: S311 - repeatable on purpose


def _place(row: Row) -> tuple[str, str, int, str]:
    return row.package, row.path, row.line, row.code


def _row(one: Found, folder: Path) -> Row:
    package, *below = one.path.relative_to(folder).parts
    return Row(
        package=package,
        version=version_of(folder / package),
        path="/".join(below),
        line=one.line,
        code=one.code,
        severity=one.severity,
        source=_lines(one.path)[one.line - 1].strip(),
        message=one.message,
    )


@cache
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


@cache
def version_of(package: Path) -> str:
    """Return the version that a package's metadata or its own module states, or ``unknown``."""
    return next(_versions(package), "unknown")


def _versions(package: Path) -> Iterator[str]:
    for metadata in sorted(package.glob("*.dist-info")):
        yield metadata.name.removesuffix(".dist-info").rpartition("-")[2]
    for module in sorted((*package.glob("__init__.py"), *package.glob("*/__init__.py"))):
        yield from re.findall(
            r'^__version__ = "(.+)"', module.read_text(encoding="utf-8"), re.MULTILINE
        )
