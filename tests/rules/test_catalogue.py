"""The catalogue of rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tpu_audit.rules import catalogue


def test_families_number_their_rules() -> None:
    """A rule's code starts with the number of its family's package."""
    for rule in catalogue.rules():
        (family,) = {check.run.__module__.split(".")[2] for check in rule.checks}
        assert rule.code[3] == str(catalogue.FAMILIES.index(family) + 1), rule.name


def test_selects() -> None:
    """Rules are selected by code, prefix and name, each once, in any case."""
    by_code = catalogue.select("TPA103")
    assert [rule.name for rule in by_code] == ["cuda-method"]
    assert catalogue.select("cuda-method", "tpa103") == by_code
    assert {rule.code[:4] for rule in catalogue.select("TPA1")} == {"TPA1"}


@pytest.mark.parametrize("selector", ["TPA9999", "no-such-rule", ""])
def test_refuses_unknown(selector: str) -> None:
    """A selector that matches nothing is an error that names it."""
    with pytest.raises(KeyError, match=repr(selector)):
        catalogue.select(selector)


def test_refuses_duplicates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rules with one code, or one name, are an error."""
    first, *_ = catalogue.rules()
    for change in ({"code": "TPA199"}, {"name": "another"}):
        twin = replace(first, **change)  # type: ignore[arg-type] # strings both
        monkeypatch.setattr(catalogue, "_import_rules", lambda twin=twin: iter((first, twin)))
        with pytest.raises(ValueError, match="two rules have the"):
            catalogue.rules.__wrapped__()
