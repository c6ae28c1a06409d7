"""One dependency as text: ``torch>=2.1; marker``, ``name @ url``, conda's ``name=1.2=build``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*")
_CONDA = re.compile(r"\s*(?:[\w.-]+::)?([A-Za-z0-9_](?:[\w.-]*\w)?)\s*(?:\[[^\]]*\])?\s*")
_VERSIONS = re.compile(r"\(?\s*((?:[=<>!~^]=?=?\s*[^\s,;()]+\s*,?\s*)+)\)?")
_WHEEL = re.compile(r"([A-Za-z0-9][A-Za-z0-9._]*?)-(\d[^-/]*)-[^/]*\.whl(?:[?#].*)?$")
_SDIST = re.compile(r"([A-Za-z0-9][\w.-]*?)-(\d[\w.+]*)\.(?:tar\.gz|zip|tar\.bz2)(?:[?#].*)?$")
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9][\w.-]*)")
_REPOSITORY = re.compile(
    r"/([A-Za-z0-9][\w.-]*?)(?:\.git)?(?:/archive/[^#?]*)?(?:@[^/#?]*)?(?:[#?].*)?$"
)
_SEPARATORS = re.compile(r"[-_.]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    """What one requirement says."""

    name: str
    specifier: str = ""
    url: str = ""


def normalise(name: str) -> str:
    """Return ``name`` as package indexes compare it (PEP 503)."""
    return _SEPARATORS.sub("-", name).lower()


def parse(text: str) -> Parsed | None:
    """Read a pip requirement or a URL of one; None for anything else."""
    text = text.strip()
    if "://" in text.partition("@")[0] or text.startswith(("git+", "http:", "https:")):
        return parse_url(text)
    match = _NAME.match(text)
    if not match:
        return None
    rest = text[match.end() :]
    if rest.startswith("@"):
        url = rest[1:].strip().partition(" ;")[0]
        return Parsed(name=normalise(match.group(1)), url=url)
    versions = _VERSIONS.match(rest)
    tail = rest[versions.end() :].strip() if versions else rest
    if tail and not tail.startswith((";", "#", "\\", "--")):
        return None
    specifier = versions.group(1).strip().rstrip(",") if versions else ""
    return Parsed(name=normalise(match.group(1)), specifier=specifier)


def parse_url(url: str) -> Parsed | None:
    """Read the package that a URL leads to: a wheel, a source archive, a repository."""
    if egg := _EGG.search(url):
        return Parsed(name=normalise(egg.group(1)), url=url)
    for pattern in (_WHEEL, _SDIST):
        if match := pattern.search(url.rpartition("/")[2].replace("%2B", "+")):
            return Parsed(name=normalise(match.group(1)), specifier=f"=={match.group(2)}", url=url)
    if match := _REPOSITORY.search(url):
        return Parsed(name=normalise(match.group(1)), url=url)
    return None


def parse_conda(text: str) -> Parsed | None:
    """Read a conda match specification: ``pytorch-cuda=11.8``, ``numpy >=1.2``, ``c::name=1=b``."""
    match = _CONDA.match(text)
    if not match:
        return None
    rest = text[match.end() :].strip()
    if rest and rest[0] not in "=<>!~*0123456789":
        return None
    return Parsed(name=normalise(match.group(1)), specifier=rest)
