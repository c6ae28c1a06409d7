"""Traces and compilations on disk, one gzip file each.

A cache never fails a scan: it is used, or it is not.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from tpu_audit.trace.codec import FORMAT, decode_trace, encode_trace
from tpu_audit.trace.compiling.codec import decode_compiled, encode_compiled
from tpu_audit.types.compiled import CompileTrace
from tpu_audit.types.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

_LEVEL = 4
"""gzip level: within a few percent of the smallest, several times faster."""


T = TypeVar("T")


class _Cache(Generic[T]):
    """Results of one kind under a folder of their own, named by their keys."""

    name: ClassVar[str]
    """The folder, below the cache's."""

    def __init__(
        self,
        folder: Path,
        encode: Callable[[T], dict[str, Any]],
        decode: Callable[[dict[str, Any]], T],
    ) -> None:
        self._folder = folder / self.name
        self._to_json, self._from_json = encode, decode

    def path(self, key: str) -> Path:
        """Return where the result of ``key`` is kept."""
        return self._folder / key[:2] / f"{key}.json.gz"

    def get(self, key: str) -> T | None:
        """Return the result of ``key``, or None. An entry that cannot be read is removed."""
        path = self.path(key)
        try:
            return self._from_json(_decode(path.read_bytes(), key))
        except OSError:
            return None
        except _BROKEN:
            with contextlib.suppress(OSError):
                path.unlink()
            return None

    def put(self, key: str, result: T) -> str | None:
        """Keep ``result``; return a sentence for the report when that is not possible."""
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_atomically(path, _encode(self._to_json(result), key))
        except OSError as error:
            why = error.strerror or error
            where = str(self._folder)
            return f"{self.name} are not kept: cannot write to the cache {where!r} ({why})"
        return None


class TraceCache(_Cache[Trace]):
    """Traces."""

    name = "traces"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, encode_trace, decode_trace)


class CompileCache(_Cache[CompileTrace]):
    """What ``torch.compile`` made of phases."""

    name = "compilations"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, encode_compiled, decode_compiled)


_BROKEN = (ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError, zlib.error)
"""What decoding a damaged or foreign file raises; gzip's own error is an OSError."""


def _encode(result: dict[str, Any], key: str) -> bytes:
    content = {"format": FORMAT, "key": key, "trace": result}
    data = json.dumps(content, separators=(",", ":")).encode()
    return gzip.compress(data, compresslevel=_LEVEL, mtime=0)


def _decode(data: bytes, key: str) -> dict[str, Any]:
    try:
        content = json.loads(gzip.decompress(data))
    except gzip.BadGzipFile as error:
        raise ValueError("not a gzip file") from error
    if (content["format"], content["key"]) != (FORMAT, key):
        raise ValueError("another entry's content")
    result: dict[str, Any] = content["trace"]
    return result


def _write_atomically(path: Path, data: bytes) -> None:
    """Write beside ``path`` and rename: readers see the old file, the new one, or none."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
