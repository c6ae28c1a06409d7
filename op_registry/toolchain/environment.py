"""The environment that the children of this package are started with."""

from __future__ import annotations

from op_registry.build.bootstrap import environment

_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TPU_MIN_LOG_LEVEL": "3", "GRPC_VERBOSITY": "NONE"}
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NPROC": "1"}
"""Workers share the cores by being several. NPROC is what XLA sizes its thread pools by."""
_XLA = {
    "JAX_PLATFORMS": "cpu",
    # Fast math lets XLA:CPU reorder and flush: its results are compared with eager PyTorch's.
    "XLA_FLAGS": "--xla_cpu_enable_fast_math=false",
}
_UNWANTED = ("JAX_", "LIBTPU_", "XLA_")
"""Prefixes of a user's own settings, which would change what is measured."""


def child_environment() -> dict[str, str]:
    """Return the environment of a child of any kind: quiet, no TPU, one thread."""
    inherited = environment()
    kept = {name: text for name, text in inherited.items() if not name.startswith(_UNWANTED)}
    return kept | _QUIET | _ONE_THREAD | _XLA
