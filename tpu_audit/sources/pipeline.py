"""diffusers pipelines: a ``model_index.json``, and a folder with a config for each component.

Schedulers, tokenizers and processors compute nothing on the device: they are left out. A
repository that holds component folders without an index is read the same way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tpu_audit.sources.classify import ON_THE_HOST
from tpu_audit.sources.selection import CONFIG, GENERATION, PROCESSORS, part_configs, size_limit
from tpu_audit.sources.strict_json import BadJsonError, read_object
from tpu_audit.types.model import ModelSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tpu_audit.sources.assemble import Found

Entry = tuple[str, str | None, str | None]
"""Component name, package that holds its class, class; None where no index says."""


def assemble_pipeline(found: Found, index: Mapping[str, Any]) -> ModelSpec | None:
    """Return the pipeline's spec with its components, or None when there is no component.

    ``index`` is the parsed ``model_index.json``, empty where there is none.
    """
    notes = list(found.notes)
    entries = list(_entries(index)) or [(name, None, None) for name in _folders(found)]
    if not entries:
        return None
    configs = {name: _config(found, f"{name}/{CONFIG}", notes) for name, _, _ in entries}
    siblings = {name: config for name, config in configs.items() if config}
    whole = ModelSpec(
        target=found.target,
        id=found.id,
        revision=found.revision,
        config_source=found.config_source,
        library="diffusers",
        config=index,
        files=found.files,
        redirected_from=found.redirected_from,
        notes=tuple(notes),
    )
    components = (_component(whole, entry, found, siblings) for entry in entries)
    return replace(whole, components=tuple(components))


def component_folders(found: Found) -> list[str]:
    """Return the folders whose config is that of a diffusers class."""
    return [n for n in _folders(found) if "_class_name" in _config(found, f"{n}/{CONFIG}", [])]


def _folders(found: Found) -> list[str]:
    return [name.partition("/")[0] for name in part_configs(found.paths)]


def _entries(index: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield the components that compute: ``"unet": ["diffusers", "UNet2DConditionModel"]``."""
    for name, value in index.items():
        match value:
            case [str(package), str(cls), *_] if not cls.endswith(ON_THE_HOST):
                yield name, package, cls
            case _:
                continue


def _component(
    whole: ModelSpec, entry: Entry, found: Found, siblings: Mapping[str, Mapping[str, Any]]
) -> ModelSpec:
    name, package, cls = entry
    config = dict(siblings.get(name, {}))
    of_diffusers = package != "transformers" if package else "_class_name" in config
    if config and cls is not None:  # the index decides which class loads the folder
        config |= {"_class_name": cls} if of_diffusers else {"architectures": [cls]}
    processors = {n: _config(found, f"{name}/{n}", []) for n in PROCESSORS}
    return replace(
        whole,
        library="diffusers" if of_diffusers else "transformers",
        config=config,
        generation_config=_config(found, f"{name}/{GENERATION}", []) or None,
        processor_configs={n: content for n, content in processors.items() if content},
        component=name,
        home=package if package not in {None, "diffusers", "transformers"} else None,
        siblings=siblings,
        notes=(),
    )


def _config(found: Found, name: str, notes: list[str]) -> Mapping[str, Any]:
    """Read a JSON file of the repository; what cannot be read costs a note and is empty."""
    path = found.paths.get(name)
    if path is None:
        return {}
    try:
        return read_object(path, limit=size_limit(name)).content
    except BadJsonError as problem:
        notes.append(f"{name} was ignored: {problem.detail}")
        return {}
