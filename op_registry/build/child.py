"""Runs in the interpreter that has the wheel: extracts a snapshot and writes it to a file."""

from __future__ import annotations

import sys
from importlib import metadata, util
from pathlib import Path

from op_registry.build import wheel
from op_registry.build.assemble import Sources, assemble
from op_registry.build.declarations import read_derivatives, read_native_functions
from op_registry.build.device import initialise
from op_registry.build.table import read_table
from op_registry.codec import encode
from op_registry.schema import Snapshot


def extract() -> Snapshot:
    """Return the registry of this interpreter's wheel."""
    backend = initialise()
    packaged = _torchgen() / "packaged"
    sources = Sources(
        table=read_table(),
        declared=read_native_functions(packaged / "ATen/native/native_functions.yaml"),
        formulas=read_derivatives(packaged / "autograd/derivatives.yaml"),
        runs={},
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


def _torchgen() -> Path:
    spec = util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        raise RuntimeError("torch comes with a package `torchgen`, which is not installed here")
    return Path(spec.origin).parent


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(encode(extract()))
