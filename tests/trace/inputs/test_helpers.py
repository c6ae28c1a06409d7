"""The helpers that builders stand on: fields in sub-configs, sizes, token ids."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tpu_audit.trace.inputs import fields, sizes, tokens


def config(**values: Any) -> Any:
    """Make a stand-in for a config object: sections are told by these two attributes."""
    return SimpleNamespace(**{"model_type": "m", "to_dict": dict, **values})


NESTED = config(
    vision_config=config(image_size=32, num_channels=1, patch_size=[2, 8]),
    text_config=config(vocab_size=50, eos_token_id=[9, 10], pad_token_id=None),
    image_token_index=7,
)


def test_fields_are_found_in_any_section() -> None:
    """The outermost section wins; lists give their last number."""
    assert fields.find(NESTED, "image_size") == 32
    assert fields.find_int(NESTED, "patch_size", default=1) == 8
    assert fields.find_int(NESTED, "absent", default=3) == 3
    assert fields.vision_section(NESTED) is NESTED.vision_config


def test_a_config_that_contains_itself_ends() -> None:
    """Sections are visited once."""
    loop = config()
    loop.inner = loop
    assert [path for path, _ in fields.sections(loop)] == [""]


def test_properties_that_fail_are_not_there() -> None:
    """A broken property of a stranger's config is as good as absent."""

    class Broken:
        @property
        def image_size(self) -> int:
            raise ValueError

    assert fields.own(Broken(), "image_size") is None


@pytest.mark.parametrize(
    ("spelt", "read"),
    [
        (224, (224, 224)),
        ([3, 224, 192], (224, 192)),
        ([224], (224, 224)),
        ({"height": 10, "width": 20}, (10, 20)),
        ({"shortest_edge": 256}, (256, 256)),
        ({"shortest_edge": 800, "longest_edge": 1333}, (800, 1056)),
        ({"longest_edge": 980}, (980, 980)),
        ({"shortest_edge": 3136, "longest_edge": 12845056}, None),
        ("big", None),
        (None, None),
        (-1, None),
        (True, None),
        ({}, None),
    ],
)
def test_sizes_are_read_in_every_spelling(spelt: Any, read: tuple[int, int] | None) -> None:
    """Nonsense is no size."""
    assert sizes.parse_size(spelt) == read


def test_special_tokens_are_never_given() -> None:
    """Neither padding, nor end, nor placeholders; lists count too."""
    given = set(tokens.token_ids(NESTED, 2, 100).flatten().tolist())

    assert not given & {7, 9, 10}
    assert given <= set(range(50))


def test_a_vocabulary_of_one_still_gives_ids() -> None:
    """There is nothing else to give than token 0."""
    ids = tokens.token_ids(config(vocab_size=1), 1, 3)
    assert ids.tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("value", [None, -1, True, "<image>"])
def test_a_placeholder_that_is_no_id_is_none(value: Any) -> None:
    """Old configs hold None, or worse."""
    assert tokens.placeholder_id(config(image_token_id=value), "image_token_id") is None
