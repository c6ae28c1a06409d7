"""The nearest native class for a model whose own class only the repository's code has.

A class stands in for another only where the repository itself says what it is near to: its
``auto_map`` names a class that transformers has, its code derives from one, or its config is of a
type that transformers knows. Names that merely sound alike say nothing.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from tpu_audit.trace.derived import native_bases
from tpu_audit.types.model import class_name, mapped_models

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tpu_audit.types.model import ModelSpec

_SIZES = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")
"""What a config must give for a class that was not made for it, where the class's own has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Nearest:
    """A class of transformers, and what makes it the nearest."""

    model_class: Any
    reason: str
    """Clause: ``its model_type 'qwen3' is that class's``."""
    same: bool = False
    """It is the class under another spelling, which transformers loads for this config itself."""


def nearest(spec: ModelSpec) -> Nearest | None:
    """Return the native class nearest to the class of ``spec``, None where nothing says which.

    The repository's code is read, never run.
    """
    return next(_candidates(spec), None) if spec.needs_remote_code else None


def stand_in(spec: ModelSpec) -> str | None:
    """Say what is traced in place of the repository's own class; None where nothing is."""
    found = None if native_class(spec.architecture) else nearest(spec)
    if found is None or found.same:
        return None
    own = spec.architecture or next(iter(_mapped(spec).values()), "its class")
    return (
        f"{own} is code of the repository's own, which was not run: traced "
        f"{found.model_class.__name__} of transformers instead, because {found.reason}"
    )


def native_class(name: str | None) -> Any | None:
    """Return the model class of that name in the installed transformers, or None."""
    import transformers

    found = getattr(transformers, name, None) if name else None
    return found if isinstance(found, type) else None


def _candidates(spec: ModelSpec) -> Iterator[Nearest]:
    """Yield what may stand in, the best reason first."""
    typed = _of_type(spec)
    if typed is not None and typed.same:
        yield typed
    yield from _named(spec)
    yield from _derived(spec)
    if typed is not None:
        yield typed


def _named(spec: ModelSpec) -> Iterator[Nearest]:
    """Yield classes that ``auto_map`` names and transformers has."""
    for auto, name in _mapped(spec).items():
        found = native_class(name)
        if _runs(found) and _speaks(spec.config, found.config_class):
            yield Nearest(model_class=found, reason=f"{auto} of its auto_map is called {name}")


def _derived(spec: ModelSpec) -> Iterator[Nearest]:
    """Yield classes that the repository's class derives from."""
    wanted = [spec.architecture, *_mapped(spec).values()]
    for name in dict.fromkeys(filter(None, wanted)):
        for base in native_bases(spec.code_files, name):
            found = native_class(base)
            if _runs(found) and _speaks(spec.config, found.config_class):
                yield Nearest(model_class=found, reason=f"{name} derives from {base}")


def _of_type(spec: ModelSpec) -> Nearest | None:
    """Return the class that transformers has for the config's type: of that name, or that task."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kind = spec.model_type or ""
    if kind not in CONFIG_MAPPING or not _speaks(spec.config, CONFIG_MAPPING[kind]):
        return None
    own = _plain(spec.architecture or "")
    for name in _classes_of(kind):
        if _plain(name) == own and (found := native_class(name)):
            return Nearest(model_class=found, reason="it is that class", same=True)
    for auto in (*_mapped(spec), "AutoModel"):
        names = _names(_table(auto).get(kind))
        found = native_class(names[0]) if names else None
        if found is not None:
            return Nearest(model_class=found, reason=f"its model_type {kind!r} is that class's")
    return None


def _plain(name: str) -> str:
    """Return what two spellings of a class share: ``KimiK25Model`` and ``Kimi_K25Model``."""
    return name.replace("_", "").lower()


def _names(entry: Any) -> tuple[str, ...]:
    """Return the class names of an entry of an auto class: one, several or none."""
    return (entry,) if isinstance(entry, str) else tuple(entry or ())


def _classes_of(kind: str) -> list[str]:
    """Return the names of all classes that auto classes have for a model type."""
    from transformers.models.auto import modeling_auto

    autos = [name for name in vars(modeling_auto) if name.startswith("AutoModel")]
    return [name for auto in autos for name in _names(_table(auto).get(kind))]


def _mapped(spec: ModelSpec) -> dict[str, str]:
    """Return auto class -> class of the repository, the model's own first."""
    named = {auto: class_name(entry) or "" for auto, entry in mapped_models(spec).items()}
    return dict(sorted(named.items(), key=lambda item: item[1] != spec.architecture))


@functools.cache
def _table(auto: str) -> Mapping[str, Any]:
    """Return model type -> class name(s) of an auto class: ``AutoModelForCausalLM``."""
    from transformers.models.auto import modeling_auto

    found = getattr(modeling_auto, auto, None)
    table: Mapping[str, Any] = {}
    if found is not None:
        table = getattr(getattr(found, "_model_mapping", None), "_model_mapping", {})
    return table


def _runs(found: Any) -> TypeGuard[type[Any]]:
    """Tell a model from a base that only shares code: ``Qwen3PreTrainedModel``."""
    from torch import nn

    return (
        isinstance(found, type)
        and issubclass(found, nn.Module)
        and found.forward is not nn.Module.forward
        and getattr(found, "config_class", None) is not None
    )


def _speaks(config: Mapping[str, Any], config_class: Any) -> bool:
    """Whether ``config`` says what ``config_class`` reads: its sizes, and its parts by their names.

    Repositories use the type of a model that came later, or of another, for configs of their own
    making; read as that type, all that they say would be lost to defaults.
    """
    try:
        own = config_class()
    except Exception:  # noqa: BLE001 - a config that has no defaults cannot be compared
        return False
    other = {native: ours for ours, native in own.attribute_map.items()}
    fields = own.to_dict()
    sizes = [name for name in (*_SIZES, *map(own.attribute_map.get, _SIZES)) if name in fields]
    given = all(name in config or other.get(name) in config for name in sizes)
    return given and all(name in config for name in own.sub_configs)
