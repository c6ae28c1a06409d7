"""What a remembered result depends on besides the file: rules, checker, interpreter."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_PACKAGES = ("rules", "check")


@cache
def code_digest() -> bytes:
    """Return a digest of the rules' and the checker's sources: any change forgets all results."""
    root = Path(__file__).parents[1]
    digest = hashlib.blake2b(sys.version.encode(), digest_size=16)
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*")):
            if path.suffix in {".py", ".json", ".toml", ".yaml", ".csv"}:
                digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.digest()


def settings_digest(codes: Iterable[str]) -> bytes:
    """Return a digest of the code and of the rules that run."""
    digest = hashlib.blake2b(code_digest(), digest_size=16)
    digest.update(",".join(codes).encode())
    return digest.digest()


def file_key(settings: bytes, logical: str, data: bytes) -> bytes:
    """Return the key of a file's result."""
    digest = hashlib.blake2b(settings, digest_size=16)
    digest.update(logical.encode("utf-8", "surrogateescape") + b"\0")
    digest.update(data)
    return digest.digest()
