"""Find a fact in a config object, wherever in its sub-configs it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def sections(config: Any) -> Iterator[tuple[str, Any]]:
    """Yield the config and all configs inside it, outermost first, each with its dotted path."""
    queue: list[tuple[str, Any]] = [("", config)]
    seen: set[int] = set()
    while queue:
        path, section = queue.pop(0)
        if id(section) in seen:
            continue
        seen.add(id(section))
        yield path, section
        for name, value in list(getattr(section, "__dict__", {}).items()):
            if hasattr(value, "model_type") and hasattr(value, "to_dict"):
                queue.append((f"{path}.{name}".lstrip("."), value))


def section(config: Any, *hints: str) -> Any:
    """Return the first sub-config whose path contains one of ``hints``, else the config itself."""
    for path, found in sections(config):
        if path and any(hint in path for hint in hints):
            return found
    return config


def own(config: Any, *names: str) -> Any:
    """Return the first of ``names`` that this very section sets (through its attribute map)."""
    for name in names:
        try:
            value = getattr(config, name, None)
        except (AttributeError, KeyError, TypeError, ValueError):  # properties of broken configs
            continue
        if value is not None:
            return value
    return None


def find(config: Any, *names: str, default: Any = None) -> Any:
    """Return the first of ``names`` set anywhere, trying each name in all sections in turn."""
    for name in names:
        for _path, part in sections(config):
            value = own(part, name)
            if value is not None:
                return value
    return default


def find_int(config: Any, *names: str, default: int) -> int:
    """Return the first positive integer under ``names``; of a list, its last element."""
    for name in names:
        for _path, part in sections(config):
            value = as_int(own(part, name))
            if value is not None:
                return value
    return default


def as_int(value: Any) -> int | None:
    """Read a positive integer, or the last one of a non-empty list of them."""
    if isinstance(value, list | tuple) and value:
        value = value[-1]
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        return None
    return value


def text_section(config: Any) -> Any:
    """Return the section that describes the language model."""
    try:
        return config.get_text_config()
    except (AttributeError, ValueError):  # several text configs, or none: both are real
        return section(config, "text", "llm", "language", "decoder")


def vision_section(config: Any) -> Any:
    """Return the section that describes the image encoder."""
    return section(config, "vision", "image", "visual", "vit", "backbone", "encoder")


def audio_section(config: Any) -> Any:
    """Return the section that describes the audio encoder."""
    return section(config, "audio", "speech", "sound", "encoder")
