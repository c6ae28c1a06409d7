"""Numbers for people."""

from __future__ import annotations

import pytest

from tpu_audit.render.units import flops, share, size


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [
        (0, 10, "0%"),
        (10, 10, "100%"),
        (1, 3, "33.3%"),
        (999_999, 1_000_000, "99.9%"),
        (1, 1_000_000, "<0.1%"),
        (0, 0, "-"),
    ],
)
def test_share_never_rounds_to_all_or_none(part: int, whole: int, expected: str) -> None:
    """100% means all and 0% means none; a single call in a million is still to be seen."""
    assert share(part, whole) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0"), (999, "999"), (7_247_757_312, "7.25 G"), (10**21, "1000 E"), (None, "?")],
)
def test_flops(value: int | None, expected: str) -> None:
    """FLOPs have SI prefixes; what is not known is no zero."""
    assert flops(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, "1 B"), (1023, "1023 B"), (1536, "1.50 KiB"), (75_497_472, "72.0 MiB")],
)
def test_size(value: int, expected: str) -> None:
    """Bytes have binary prefixes."""
    assert size(value) == expected
