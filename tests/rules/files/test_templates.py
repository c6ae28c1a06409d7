"""Masks of template tags."""

from __future__ import annotations

import pytest

from tpu_audit.rules.files.templates import has_templates, mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a: {{ b }}", "a: xxxxxxx"),
        ("{{- if x }}\na\n", "           \na\n"),
        ("  {{ a }} {{ b }}\r\nc", "                 \r\nc"),
        ("{% for\n x %}a", "      \nxxxxxa"),
        ("{# c #}", "       "),
        ("a: {b: {}}", "a: {b: {}}"),
        ("{{ open", "{{ open"),
    ],
)
def test_mask(text: str, masked: str) -> None:
    """Tags keep their length; a line of nothing else becomes blank, elsewhere they are letters."""
    assert mask(text) == masked
    assert has_templates(text) == (text != masked)
