"""What can be wrong with a config: each mutation changes one thing, in place."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

from tests.census.places import Config, Place, pick

if TYPE_CHECKING:
    from collections.abc import Sequence

Mutation = Callable[[Random, Config], None]

DEEP = "\ue000deep\ue000"
"""Stands for a value nested too deep for Python's own writer; replaced in the text."""

_SMALL = 20_000
"""Characters or entries up to which a value is multiplied: it can strike twice."""

_NUMBERS: Sequence[float] = (
    -1, 0, 1, 2, 3, 7, 0.5, 127, 4097, 65537, 10**6, 10**9, 2**31, 2**63, 10**18, 10**30, -(10**12),
    1e-300, 1e308, math.nan, math.inf, -math.inf,
)  # fmt: skip
_TEXTS = (
    "", " ", "None", "null", "0", "-1", "1e9", "true", "\0", "\ud800", "\u202egnp.exe", "😀" * 50,
    "ﷺ" * 1000, "x" * 100_000, "../../../etc/passwd", "%s%s%n", "{0.__class__}", "__init__", "\n\n",
    "cuda", "float8_e4m3fn", "flash_attention_3", "import os", "nan",
)  # fmt: skip
_CLASSES = (
    "PreTrainedModel", "AutoModel", "AutoModelForCausalLM", "pipeline", "Trainer", "BertTokenizer",
    "LlamaConfig", "__doc__", "NoSuchModelForAnything", "BertModel", "T5ForConditionalGeneration",
    "CLIPModel", "WhisperForConditionalGeneration", "MambaForCausalLM", "DetrForObjectDetection",
)  # fmt: skip
_TYPES = (
    "bert", "llama", "t5", "clip", "whisper", "mamba", "qwen2_vl", "auto", "LLAMA", "", "vit",
    "timm_wrapper",
)  # fmt: skip


def _value(rng: Random) -> Any:
    """Return a value of any JSON type."""
    kind = rng.randrange(8)
    fixed: list[Any] = [None, True, False, [], {}, [rng.choice(_NUMBERS)] * rng.choice((1, 3, 500))]
    if kind < len(fixed):
        return fixed[kind]
    return rng.choice(_NUMBERS) if kind == len(fixed) else rng.choice(_TEXTS)


def _is_number(place: Place) -> bool:
    return isinstance(place.value, int | float) and not isinstance(place.value, bool)


def _any(_: Place) -> bool:
    return True


def _named(pattern: str) -> Callable[[Place], bool]:
    compiled = re.compile(pattern)
    return lambda place: bool(compiled.search(place.field)) and _is_number(place)


def drop_field(rng: Random, config: Config) -> None:
    """Lose a field."""
    if place := pick(rng, config, lambda place: isinstance(place.container, dict)):
        del place.container[place.key]


def drop_most(rng: Random, config: Config) -> None:
    """Lose most fields; class and type usually stay."""
    for key in list(config):
        kept = 0.9 if key in {"architectures", "model_type"} else 0.3
        if rng.random() > kept:
            del config[key]


def swap_type(rng: Random, config: Config) -> None:
    """Give a value another type."""
    if place := pick(rng, config, _any):
        place.put(_value(rng))


def number_as_text(rng: Random, config: Config) -> None:
    """Write a number as a string, or a whole one with a point."""
    if place := pick(rng, config, _is_number):
        place.put(rng.choice((str, float))(place.value))


def odd_number(rng: Random, config: Config) -> None:
    """Make a number huge, negative, zero, infinite or NaN."""
    if place := pick(rng, config, _is_number):
        place.put(rng.choice(_NUMBERS))


def odd_layers(rng: Random, config: Config) -> None:
    """Make a count of layers, blocks, experts or stages absurd."""
    if place := pick(rng, config, _named("layer|depth|block|expert|stage")):
        place.put(rng.choice((0, -3, 1, 1000, 10**5, 10**9, 2**63, 3.5)))


def odd_heads(rng: Random, config: Config) -> None:
    """Make a count of attention heads zero, or one that does not divide."""
    if place := pick(rng, config, _named("head|group")):
        place.put(rng.choice((0, -1, 1, 7, 13, 10**9)))


def odd_size(rng: Random, config: Config) -> None:
    """Make a width, vocabulary or length one that does not fit or cannot exist."""
    if place := pick(rng, config, _named("size|dim|length|position|channel|rank|d_|width")):
        place.put(rng.choice((0, -8, 1, 7, 1021, 10**6, 10**9, 2**40, 2**62)))


def odd_text(rng: Random, config: Config) -> None:
    """Make a string empty, immense, or of unlikely characters."""
    if place := pick(rng, config, lambda place: isinstance(place.value, str)):
        place.put(rng.choice(_TEXTS))


def odd_key(rng: Random, config: Config) -> None:
    """Add a field with an unlikely name, maybe that of a method of the config object."""
    names = ("", "to_dict", "__class__", "from_dict", "dtype", "self", "\ud800", "x" * 10_000)
    config[rng.choice(names)] = _value(rng)


def other_class(rng: Random, config: Config) -> None:
    """Name another class, or none that builds."""
    chosen = rng.choice(_CLASSES)
    config["architectures"] = rng.choice(([chosen], [chosen], chosen, [None], [[chosen]], {}, [3]))


def other_type(rng: Random, config: Config) -> None:
    """Name another model type."""
    config["model_type"] = rng.choice(_TYPES)


def list_for_mapping(rng: Random, config: Config) -> None:
    """Turn a mapping into a list, or a list into a mapping."""
    place = pick(rng, config, lambda place: isinstance(place.value, dict | list))
    if place is None:
        return
    value = place.value
    listed = isinstance(value, dict)
    place.put(list(value) if listed else {str(i): v for i, v in enumerate(value)})


def doubled_entries(rng: Random, config: Config) -> None:
    """Make a list many times as long as it should be, or lose an entry."""
    if place := pick(
        rng, config, lambda place: isinstance(place.value, list) and bool(place.value)
    ):
        if len(place.value) > _SMALL:
            return
        place.put(place.value * rng.choice((2, 50)) if rng.random() < 0.6 else place.value[1:])


def nested_copy(rng: Random, config: Config) -> None:
    """Put the config inside itself, as a part of it might stand."""
    inner = copy.deepcopy(config)
    levels = rng.choice((1, 2, 20)) if len(json.dumps(config)) < _SMALL else 1
    for _ in range(levels):
        inner = {**copy.deepcopy(config), "text_config": inner}
    config[rng.choice(("text_config", "vision_config", "audio_config", "encoder", "nested"))] = (
        inner
    )


def deep_nesting(rng: Random, config: Config) -> None:
    """Nest a value tens to thousands of levels deep."""
    place = pick(rng, config, _any)
    if place is None or rng.random() < 0.5:
        config["deep"] = DEEP
    else:
        place.put(DEEP)


def quantised(rng: Random, config: Config) -> None:
    """Ask for a quantisation, RoPE scaling or remote class that makes no sense."""
    config["quantization_config"] = rng.choice(({"quant_method": "none of these"}, [], _value(rng)))
    config[rng.choice(("rope_scaling", "rope_parameters"))] = rng.choice(
        ({"rope_type": "yarn"}, {"type": "linear", "factor": -1}, {"rope_type": 5}, _value(rng))
    )
    if rng.random() < 0.2:
        config["auto_map"] = _value(rng)


MUTATIONS: tuple[Mutation, ...] = (
    drop_field, drop_most, swap_type, number_as_text, odd_number, odd_layers, odd_heads, odd_size,
    odd_text, odd_key, other_class, other_type, list_for_mapping, doubled_entries, nested_copy,
    deep_nesting, quantised,
)  # fmt: skip
"""All of them; a mutant gets one to three."""
