"""Results on disk, in one SQLite file. A cache never fails a check: it is used, or it is not."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, TypeVar

from tpu_audit.check.result import FileResult

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

_T = TypeVar("_T")
FOLDER = "checks"
"""Folder of the results in the cache."""
_FORMAT = 1
_DAY_S = 86400
_KEEP_DAYS = 30
"""Days that a result is kept after its last use."""
_BATCH = 500


class ResultCache:
    """Results under ``folder``/``checks``, by key."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FOLDER / "results.sqlite"
        self.trouble: str | None = None
        """Why results are not kept, as a sentence for the report."""

    @property
    def is_there(self) -> bool:
        """Whether anything may be remembered: files need not be read to ask what is not there."""
        try:
            return self._path.exists()
        except OSError:  # a folder that may not be entered: `put` says so
            return False

    def get(self, keys: Sequence[bytes]) -> dict[bytes, FileResult]:
        """Return the results that are known."""
        if not keys or not self.is_there:
            return {}
        return self._transact(lambda base: _select(base, keys)) or {}

    def put(self, results: Iterable[tuple[bytes, str]]) -> None:
        """Keep encoded results, and forget those that nobody has asked for in a month."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._give_up(error.strerror or str(error))
        else:
            self._transact(lambda base: _insert(base, results))

    def _transact(self, action: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Do ``action`` as a whole; None, and a damaged file removed, when that fails."""
        import sqlite3  # not for --no-cache

        base = None
        try:
            base = sqlite3.connect(self._path, timeout=2)
            with base:
                _prepare(base)
                return action(base)
        except sqlite3.OperationalError as error:  # locked, read-only, disk full
            self._give_up(str(error))
        except sqlite3.DatabaseError:  # not a database, or a damaged one
            with contextlib.suppress(OSError):
                self._path.unlink()
        finally:
            if base is not None:
                base.close()
        return None

    def _give_up(self, why: str) -> None:
        place = str(self._path.parent)
        self.trouble = f"results are not kept: cannot use the cache {place!r} ({why})"


def _prepare(base: sqlite3.Connection) -> None:
    if base.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
        base.execute("DROP TABLE IF EXISTS results")
        columns = "key BLOB PRIMARY KEY, value TEXT, used INTEGER"
        base.execute(f"CREATE TABLE results ({columns}) WITHOUT ROWID")
        base.execute(f"PRAGMA user_version = {_FORMAT}")


def _select(base: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, FileResult]:
    found = {}
    for start in range(0, len(keys), _BATCH):
        batch = keys[start : start + _BATCH]
        marks = ",".join("?" * len(batch))
        query = f"SELECT key, value FROM results WHERE key IN ({marks})"  # noqa: S608 - marks only
        for key, value in base.execute(query, batch):
            with contextlib.suppress(ValueError, TypeError):
                found[key] = FileResult.decode(value)
    _touch(base, found)
    return found


def _insert(base: sqlite3.Connection, results: Iterable[tuple[bytes, str]]) -> None:
    today = _today()
    rows = ((key, text, today) for key, text in results)
    base.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", rows)
    base.execute("DELETE FROM results WHERE used < ?", (today - _KEEP_DAYS,))


def _touch(base: sqlite3.Connection, found: Iterable[bytes]) -> None:
    """Note the day of use, for results whose note is older."""
    today = _today()
    rows = [(today, key, today) for key in found]
    base.executemany("UPDATE results SET used = ? WHERE key = ? AND used < ?", rows)


def _today() -> int:
    return int(time.time() // _DAY_S)
