"""The table of TPU generations."""

from __future__ import annotations

import pytest

from op_registry.toolchain.chips import CHIPS, DEFAULT_CHIP, chip


def test_names_are_keys() -> None:
    """Each generation stands under its own name, the default is one, topologies differ."""
    assert all(name == one.name == one.topology.partition(":")[0] for name, one in CHIPS.items())
    assert DEFAULT_CHIP in CHIPS


def test_unknown_name_lists_the_known() -> None:
    """A generation that is not there is an error that lists those which are."""
    with pytest.raises(
        ValueError, match="unknown TPU generation 'v7x': known are v5e, v5p, v6e, tpu7x"
    ):
        chip("v7x")
