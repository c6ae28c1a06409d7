"""Starts modules of this package, and nothing else of this installation, in another interpreter."""

from __future__ import annotations

import os
from pathlib import Path

from op_registry.build.device import ENVIRONMENT

_LOAD = """
import importlib.util, runpy, sys
folder, module = sys.argv[1:3]
del sys.argv[1:3]
places = [folder]
spec = importlib.util.spec_from_file_location(
    "op_registry", folder + "/__init__.py", submodule_search_locations=places)
package = importlib.util.module_from_spec(spec)
sys.modules["op_registry"] = package
spec.loader.exec_module(package)
runpy.run_module(module, run_name="__main__")
"""
"""Loads the package by its path: were its folder on the module path, the other packages beside it
would hide those of the interpreter."""


def command(python: str, module: str, *arguments: str) -> list[str]:
    """Return the command that runs ``module`` (``op_registry.build.child``) in ``python``."""
    folder = str(Path(__file__).parents[1])
    return [python, "-P", "-W", "ignore", "-c", _LOAD, folder, module, *arguments]


def environment() -> dict[str, str]:
    """Return this process's environment with what the backend needs to come up without a TPU."""
    kept = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
    return kept | ENVIRONMENT


_UNWANTED = frozenset({"PYTHONPATH", "PYTHONHOME", "TORCH_DEVICE_BACKEND_AUTOLOAD"})
"""Variables that would mix two installations, or load the backend half-way."""
