"""Edits applied to bytes."""

from __future__ import annotations

import pytest

from tpu_audit.rules.edits import Edit, apply_edits


def test_applies_in_any_order() -> None:
    """Edits count in the old text, whatever their order; insertions may touch."""
    edits = (
        Edit(start=4, end=5, text="E"),
        Edit(start=0, end=1, text="\u00e9"),
        Edit(start=2, end=2, text="+"),
    )
    assert apply_edits(b"abcdef", edits) == "\u00e9b+cdEf".encode()


@pytest.mark.parametrize(
    "edits",
    [
        (Edit(start=0, end=3, text=""), Edit(start=2, end=4, text="")),
        (Edit(start=3, end=2, text=""),),
        (Edit(start=0, end=99, text=""),),
    ],
    ids=["overlap", "turned", "outside"],
)
def test_refuses_what_does_not_fit(edits: tuple[Edit, ...]) -> None:
    """Edits that overlap, run backwards or leave the text are refused."""
    with pytest.raises(ValueError, match="does not fit"):
        apply_edits(b"abcdef", edits)
