"""The class that a repository's own code defines. Only a confined process may ask for it."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tpu_audit.trace.confinement import is_confined
from tpu_audit.types.errors import NotAuditedError, Stage, shorten
from tpu_audit.types.model import class_name, mapped_models

if TYPE_CHECKING:
    from tpu_audit.types.model import ModelSpec

_HINT = (
    "see what its README asks for; an environment that has it, with an older transformers perhaps, "
    "is named by --python"
)
_WANTED = "AutoConfig"


@dataclass(frozen=True, kw_only=True, slots=True)
class Own:
    """Classes of the repository's own."""

    model: Any
    config: Any
    """Its config class; None where it uses one of transformers."""


def repository_folder(spec: ModelSpec) -> str | None:
    """Return the folder of the repository's code as it is here; None where it has none."""
    name, path = next(iter(spec.code_files.items()), ("", ""))
    return str(Path(path).parents[name.count("/")]) if path else None


def repository_class(spec: ModelSpec, assumptions: list[str]) -> Own:
    """Import the code of ``spec`` and return its classes. This runs that code.

    Raises NotAuditedError: code that is not at hand, that needs a package which is not installed
    (``missing_dependency``), or that fails.
    """
    if not is_confined():
        raise _failed("a repository's code is run in a confined process only", "no_confinement")
    models = mapped_models(spec)
    own = spec.architecture
    reference = next((r for r in models.values() if class_name(r) == own), None)
    model = _load(spec, reference or next(iter(models.values())))
    given = spec.config["auto_map"].get(_WANTED)
    config = _load(spec, given) if isinstance(given, str) else None
    assumptions.append(_label(spec, model))
    return Own(model=model, config=config)


def _label(spec: ModelSpec, model: Any) -> str:
    """Say what was run, by its hash."""
    folder = Path(repository_folder(spec) or "")
    name = _file_of(model.__module__.removeprefix(f"{folder.parent.name}.{folder.name}."))
    digest = hashlib.sha256(Path(spec.code_files[name]).read_bytes()).hexdigest()
    return (
        f"ran the repository's own code, in a confined process: {model.__name__} of {name} "
        f"(sha256 {digest[:12]})"
    )


def _file_of(module: str) -> str:
    return module.replace(".", "/") + ".py"


def _load(spec: ModelSpec, reference: str) -> Any:
    module, _, name = reference.rpartition(".")
    if "--" in module:
        raise _failed(f"its code is in another repository: {reference}", "remote_code_elsewhere")
    folder = repository_folder(spec)
    if folder is None or _file_of(module) not in spec.code_files:
        raise _failed(f"{_file_of(module)} is not among the files at hand", "no_code")
    package = Path(folder)
    # Relative imports in the code need packages around it: this folder's, and the one above.
    if str(package.parents[1]) not in sys.path:
        sys.path.append(str(package.parents[1]))
    path = f"{package.parent.name}.{package.name}.{module}"
    try:
        return getattr(importlib.import_module(path), name)
    except ModuleNotFoundError as error:
        raise _missing(reference, error) from error
    except Exception as error:
        message = f"{reference} cannot be imported: {shorten(error)}"
        raise _failed(message, "code_failed") from error


def _missing(reference: str, error: ModuleNotFoundError) -> NotAuditedError:
    """Tell a package that is not installed from a module that an installed one does not have."""
    package = (error.name or "").partition(".")[0]
    if package == error.name or importlib.util.find_spec(package) is None:
        message = f"{reference} needs {package}, which is not installed"
        return _failed(message, "missing_dependency")
    message = f"{reference} needs {error.name}, which the installed {package} does not have"
    return _failed(message, "code_failed")


def _failed(message: str, code: str) -> NotAuditedError:
    return NotAuditedError(message, stage=Stage.BUILD, code=code, hint=_HINT)
