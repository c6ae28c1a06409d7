"""Traces on disk, one gzip file each. A cache never fails a scan: it is used, or it is not."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from tpu_audit.trace.codec import FORMAT, decode_trace, encode_trace

if TYPE_CHECKING:
    from tpu_audit.types.trace import Trace

_LEVEL = 4
"""gzip level: within a few percent of the smallest, several times faster."""


class TraceCache:
    """Traces under ``folder``/``traces``, named by their keys."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "traces"

    def path(self, key: str) -> Path:
        """Return where the trace of ``key`` is kept."""
        return self._folder / key[:2] / f"{key}.json.gz"

    def get(self, key: str) -> Trace | None:
        """Return the trace of ``key``, or None. An entry that cannot be read is removed."""
        path = self.path(key)
        try:
            return _decode(path.read_bytes(), key)
        except OSError:
            return None
        except _BROKEN:
            with contextlib.suppress(OSError):
                path.unlink()
            return None

    def put(self, key: str, trace: Trace) -> str | None:
        """Keep ``trace``; return a sentence for the report when that is not possible."""
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_atomically(path, _encode(trace, key))
        except OSError as error:
            why = error.strerror or error
            return f"traces are not kept: cannot write to the cache {str(self._folder)!r} ({why})"
        return None


_BROKEN = (ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError, zlib.error)
"""What decoding a damaged or foreign file raises; gzip's own error is an OSError."""


def _encode(trace: Trace, key: str) -> bytes:
    content = {"format": FORMAT, "key": key, "trace": encode_trace(trace)}
    data = json.dumps(content, separators=(",", ":")).encode()
    return gzip.compress(data, compresslevel=_LEVEL, mtime=0)


def _decode(data: bytes, key: str) -> Trace:
    try:
        content = json.loads(gzip.decompress(data))
    except gzip.BadGzipFile as error:
        raise ValueError("not a gzip file") from error
    if (content["format"], content["key"]) != (FORMAT, key):
        raise ValueError("another entry's content")
    return decode_trace(content["trace"])


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
