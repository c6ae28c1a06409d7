"""Runs in the interpreter that has the wheel: extracts a snapshot and writes it to a file."""

from __future__ import annotations

import os
import sys
from importlib import metadata, util
from pathlib import Path
from typing import TYPE_CHECKING

from op_registry.build import wheel
from op_registry.build.assemble import Sources, assemble
from op_registry.build.autocast import policies
from op_registry.build.declarations import read_derivatives, read_native_functions
from op_registry.build.device import ENVIRONMENT, initialise
from op_registry.build.libraries import register_other_libraries
from op_registry.build.table import read_table
from op_registry.codec import encode
from op_registry.schema import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from op_registry.build.observation import Run
    from op_registry.build.table import Entry


def extract() -> Snapshot:
    """Return the registry of this interpreter's wheel."""
    backend = initialise()
    register_other_libraries()
    packaged = _torchgen() / "packaged"
    table = read_table()
    observe_all = _sampling()
    sources = Sources(
        table=table,
        declared=read_native_functions(packaged / "ATen/native/native_functions.yaml"),
        formulas=read_derivatives(packaged / "autograd/derivatives.yaml"),
        runs=observe_all(table),
        policies=policies(table, backend),
    )
    return Snapshot(
        backend=backend,
        package=wheel.PACKAGE,
        version=metadata.version(wheel.PACKAGE),
        torch=metadata.version("torch").partition("+")[0],
        versions=wheel.versions(),
        record_sha256=wheel.record_sha256(),
        ops=assemble(sources),
    )


def _sampling() -> Callable[[Mapping[str, Entry]], dict[str, list[Run]]]:
    """Import the part that loads torch's own test inputs, late: they must not add to the table."""
    try:
        from op_registry.build.sampling import observe_all
    except ModuleNotFoundError as error:
        if error.name != "expecttest":
            raise
        sys.exit(
            f"torch's own test inputs need expecttest: {sys.executable} -m pip install expecttest"
        )
    return observe_all


def _torchgen() -> Path:
    spec = util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        raise RuntimeError("torch comes with a package `torchgen`, which is not installed here")
    return Path(spec.origin).parent


def main(target: str) -> None:
    """Write the registry of this interpreter's wheel to the file ``target``."""
    if not ENVIRONMENT.items() <= os.environ.items():
        # Some of these only count from the start of a process.
        os.execve(sys.executable, sys.orig_argv, os.environ | ENVIRONMENT)  # noqa: S606  # itself
    Path(target).write_bytes(encode(extract()))


if __name__ == "__main__":
    main(sys.argv[1])
