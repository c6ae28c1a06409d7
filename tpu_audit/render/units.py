"""Numbers for people: counts, FLOPs, bytes, shares. Three digits carry what a reader needs."""

from __future__ import annotations

_SI = ("", "k", "M", "G", "T", "P", "E")
_IEC = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def flops(value: int | None) -> str:
    """Return FLOPs with an SI prefix (``22.3 G``); ``?`` when not known."""
    return "?" if value is None else _scaled(value, 1000, _SI).rstrip()


def size(value: int) -> str:
    """Return bytes with a binary prefix (``1.10 GiB``)."""
    return _scaled(value, 1024, _IEC)


def share(part: int, whole: int) -> str:
    """Return ``part`` of ``whole`` in per cent, never rounded up to all nor down to none."""
    if whole <= 0:
        return "-"
    if part in {0, whole}:
        return f"{100 * part // whole}%"
    per_cent = 100 * part / whole
    if per_cent < 0.1:  # noqa: PLR2004 - the last digit that is printed
        return "<0.1%"
    return f"{min(per_cent, 99.9):.1f}%"


def _scaled(value: int, base: int, prefixes: tuple[str, ...]) -> str:
    scaled = float(value)
    for prefix in prefixes[:-1]:
        if scaled < base:
            return f"{_three_digits(scaled, exact=prefix == prefixes[0])} {prefix}"
        scaled /= base
    return f"{_three_digits(scaled, exact=False)} {prefixes[-1]}"


def _three_digits(value: float, *, exact: bool) -> str:
    if exact:
        return f"{value:.0f}"
    digits = 2 if value < 10 else 1 if value < 100 else 0  # noqa: PLR2004 - digits left of the point
    return f"{value:.{digits}f}"
