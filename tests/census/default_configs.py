"""The default config of a model type, mended where the library's own is incomplete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.census.mended_configs import mend

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.census.auto_classes import AutoClass


def default_config(one: AutoClass) -> dict[str, Any] | None:
    """Return what the library would write into config.json; None where it can make none."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    try:
        config = CONFIG_MAPPING[one.model_type](**_filled(one.model_type))
        content: dict[str, Any] = config.to_dict()
    except Exception:  # noqa: BLE001 - whatever a config class makes of no arguments
        return None
    content["model_type"] = one.model_type
    content = mend(one.model_type, content)
    _name_placeholders(content)
    _fit_widths(content)
    _name_vocabulary(content)
    return content


def _of(model_type: str, **fields: Any) -> dict[str, Any]:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    content: dict[str, Any] = CONFIG_MAPPING[model_type](**fields).to_dict()
    return {**content, "model_type": model_type}


def _pair(encoder: str, decoder: str) -> Callable[[], dict[str, Any]]:
    """Return a maker of the two parts that a composite has no defaults for."""
    return lambda: {
        "encoder": _of(encoder),
        "decoder": _of(decoder, is_decoder=True, add_cross_attention=True),
    }


_FIELDS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "encoder-decoder": _pair("bert", "bert"),
    "vision-encoder-decoder": _pair("vit", "gpt2"),
    "speech-encoder-decoder": _pair("wav2vec2", "bert"),
    "vision-text-dual-encoder": lambda: {
        "vision_config": _of("vit"),
        "text_config": _of("bert"),
    },
    "gemma4_assistant": lambda: {
        "text_config": _of(
            "gemma4_text", hidden_size_per_layer_input=0, vocab_size_per_layer_input=0
        ),
    },
}
"""Model type -> fields that its config has no default for, or none that a model can be built of."""


def _filled(model_type: str) -> dict[str, Any]:
    make = _FIELDS.get(model_type)
    return {} if make is None else make()


_PLACEHOLDERS = tuple(
    f"{what}_token_{how}" for what in ("image", "video", "audio") for how in ("id", "index")
)


def _name_placeholders(content: dict[str, Any]) -> None:
    """Give placeholder tokens that the default leaves open numbers at the vocabulary's end."""
    text = content.get("text_config")
    size = (text if isinstance(text, dict) else content).get("vocab_size")
    if not isinstance(size, int):
        return
    missing = [name for name in _PLACEHOLDERS if name in content and content[name] is None]
    for offset, name in enumerate(missing, start=1):
        content[name] = size - offset


_OUT = "out_hidden_size"


def _fit_widths(content: dict[str, Any]) -> None:
    """Let encoders end in the width of the text model, where a field says what they end in."""
    text = content.get("text_config")
    width = text.get("hidden_size") if isinstance(text, dict) else None
    for name, part in content.items():
        if width and isinstance(part, dict) and name != "text_config" and _OUT in part:
            part[_OUT] = width


_LETTERS = 32


def _name_vocabulary(content: dict[str, Any]) -> None:
    """Give a speech model, whose default has no vocabulary, that of an alphabet."""
    if "vocab_size" in content and content["vocab_size"] is None:
        content["vocab_size"] = _LETTERS
