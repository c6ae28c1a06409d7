"""Finds and reads snapshots: the packaged ones by name, a user's own by path."""

from __future__ import annotations

import gzip
import re
import zlib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from op_registry.codec import decode
from op_registry.errors import RegistryError

if TYPE_CHECKING:
    from op_registry.schema import Snapshot

SNAPSHOTS = Path(__file__).parent / "snapshots"
_FILE = re.compile(r"torch-tpu-(?P<version>[\w.]+)-torch-(?P<torch>\d+\.\d+)\.json(?:\.gz)?")


def available() -> list[str]:
    """Return the names of the packaged snapshots (``0.2.0+torch2.13``), oldest first."""
    return list(_packaged())


def load(name_or_path: str | None = None, *, torch: str | None = None) -> Snapshot:
    """Return a snapshot, checked, with its digest.

    ``name_or_path`` is a torch-tpu version (``0.2.0``: its newest torch), a full name
    (``0.2.0+torch2.13``) or the path of a ``.json`` or ``.json.gz`` file. None takes the newest
    snapshot made with the minor version of ``torch`` (default: the installed one), else the newest.
    Raises RegistryError when there is no such snapshot or it cannot be read.
    """
    packaged = _packaged()
    if name_or_path is None:
        return _read(packaged[_default(list(packaged), torch or installed_torch())], canonical=True)
    if name_or_path in packaged:
        return _read(packaged[name_or_path], canonical=True)
    if matches := [name for name in packaged if name.partition("+")[0] == name_or_path]:
        return _read(packaged[matches[-1]], canonical=True)
    return _read(_user_file(name_or_path, list(packaged)))


def installed_torch() -> str | None:
    """Return the version of the installed torch without importing it, or None."""
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return None


def mismatch(snapshot: Snapshot, installed: str | None) -> str | None:
    """Return the sentence to show when ``snapshot`` was made with another torch minor version.

    None when the versions agree or no torch is installed.
    """
    if installed is None or _minor(installed) == _minor(snapshot.torch):
        return None
    return (
        f"the registry was extracted with torch {snapshot.torch}, installed is torch {installed}: "
        f"ops that changed in between are judged by torch {snapshot.torch}; choose another with "
        "--registry or build one with `tpu-audit registry build`"
    )


def _packaged() -> dict[str, Path]:
    found = [(match, path) for path in SNAPSHOTS.iterdir() if (match := _FILE.fullmatch(path.name))]
    found.sort(key=lambda item: (_numbers(item[0]["version"]), _numbers(item[0]["torch"])))
    return {f"{match['version']}+torch{match['torch']}": path for match, path in found}


def _default(names: list[str], torch: str | None) -> str:
    if not names:
        hint = "reinstall the tool or name a file with --registry"
        raise RegistryError("the installation holds no registry snapshot", hint=hint)
    fitting = [n for n in names if torch and n.endswith(f"+torch{_minor(torch)}")]
    return (fitting or names)[-1]


def _user_file(name: str, packaged: list[str]) -> Path:
    path = Path(name).expanduser()
    if path.is_file():
        return path
    what = "is a folder, not a snapshot file" if path.is_dir() else "is no snapshot and no file"
    hint = f"packaged snapshots: {', '.join(packaged) or 'none'}; or give the path of a .json file"
    raise RegistryError(f"registry {name!r} {what}", hint=hint)


def _read(path: Path, *, canonical: bool = False) -> Snapshot:
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        hint = "check the file, or rebuild it with `tpu-audit registry build`"
        raise RegistryError(f"registry {str(path)!r} cannot be read: {error}", hint=hint) from error
    return decode(data, origin=f"registry {str(path)!r}", canonical=canonical)


def _minor(version: str) -> str:
    return ".".join(version.split("+", maxsplit=1)[0].split(".")[:2])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
