"""The file system that a confined process sees: Python, its libraries, and a scratch home."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tpu_audit.trace.confinement import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOME = "/scratch"
"""The home folder inside, and the only one to write to; it is memory, and goes with the process."""
SIZE_MB = 256
"""MiB that all files in it may take."""

_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/nix/store")
_PIECES = (
    *("/etc/ld.so.cache", "/etc/alternatives", "/sys/devices/system/cpu"),
    *("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"),
)
_WRITABLE = (f"{HOME}/tmp", "/dev/shm", "/tmp")  # noqa: S108 - of the new root
_LIBRARIES = frozenset({"site-packages", "dist-packages"})


def environment() -> dict[str, str]:
    """Return the whole environment of a confined process.

    Nothing in it is of this process's but where the user's own packages are.
    """
    import site

    # Python derives it from the home folder, which is another one inside.
    base = os.environ.get("PYTHONUSERBASE") or site.getuserbase()
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": HOME,
        "USER": "nobody",
        "LOGNAME": "nobody",
        "TMPDIR": f"{HOME}/tmp",  # noqa: S108 - of the new root
        "HF_HOME": f"{HOME}/huggingface",
        "TORCH_HOME": f"{HOME}/torch",
        "TRITON_HOME": HOME,
        "TORCHINDUCTOR_CACHE_DIR": f"{HOME}/inductor",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "XDG_CACHE_HOME": f"{HOME}/cache",
        "XDG_CONFIG_HOME": f"{HOME}/config",
        "XDG_DATA_HOME": f"{HOME}/data",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        **({"PYTHONUSERBASE": base} if base else {}),
    }


def build_root(root: str, packages: Iterable[str]) -> None:
    """Build at ``root``, an empty folder, what the process will see as ``/``, and move there.

    ``packages`` are folders to see besides the system's and Python's own. Everything but ``HOME``
    and what else is memory is read-only.
    """
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    quota = f"size={SIZE_MB}m,mode=755"
    kernel.mount("tmpfs", root, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, quota)
    for path in _outermost([*_SYSTEM, *_python(), *packages]):
        _show(root, path)
    for path in _PIECES:
        if Path(path).exists():
            _show(root, path)
    for folder in _WRITABLE:
        Path(root + folder).mkdir(parents=True, exist_ok=True)
    _mount_processes(root)
    kernel.change_root(root)
    os.chdir(HOME)


def _mount_processes(root: str) -> None:
    """Show the new process namespace; read-only, for the root user owns the system's switches."""
    folder = f"{root}/proc"
    Path(folder).mkdir()
    flags = kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("proc", folder, "proc", flags)


def _show(root: str, path: str) -> None:
    """Mount ``path``, read-only, at the same place in the new root."""
    target = Path(root + path)
    if Path(path).is_symlink():  # /lib is a link into /usr on most systems
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_symlink():
            target.symlink_to(Path(path).readlink())
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.mkdir(exist_ok=True) if Path(path).is_dir() else target.touch()
    kernel.mount(path, str(target), None, kernel.MS_BIND | kernel.MS_REC)
    kernel.make_read_only(str(target))


def _python() -> Iterator[str]:
    """Yield the folders of the interpreter and of the libraries that it finds."""
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    yield from sorted(prefixes - {"/"})
    yield from (path for path in sys.path if Path(path).name in _LIBRARIES)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return the folders that exist and are in none of the others."""
    existing = {str(Path(path).absolute()) for path in paths if Path(path).exists()}
    inside = [Path(p) for p in existing if not Path(p).is_symlink()]
    return sorted(p for p in existing if not any(q in Path(p).parents for q in inside))
