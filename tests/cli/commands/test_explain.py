"""Codes and ops explained."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from op_registry.loader import load
from op_registry.schema import Support
from tpu_audit.audit.codes import CODES

if TYPE_CHECKING:
    from tests.support.command_line import CommandLine


@pytest.mark.parametrize("name", [*CODES, "missing-op", "tpa901"])
def test_code(tpu_audit: CommandLine, name: str) -> None:
    """Every code, by number or by name, says what, why and how to fix it."""
    ran = tpu_audit("explain", name)

    assert (ran.code, ran.err) == (0, "")
    assert {"what", "why", "fix"} <= {line.split()[0] for line in ran.out.splitlines() if line}


def test_code_as_json(tpu_audit: CommandLine) -> None:
    """The same for machines."""
    code = json.loads(tpu_audit("explain", "TPA901", "-f", "json").out)["code"]

    assert (code["name"], code["severity"]) == ("missing-op", "error")
    assert {"summary", "why", "fix", "references"} <= set(code)


def test_missing_op(tpu_audit: CommandLine) -> None:
    """A missing op says why, what it ends in, what the fallback would do, and the way out."""
    ran = tpu_audit("explain", "aten.mish.default")

    assert ran.code == 0
    text = " ".join(ran.out.split())
    assert "missing: " in text
    assert "ends in aten.mish.out (structured)" in text
    assert "raises by default; a CPU kernel exists" in text
    assert "x * torch.tanh(F.softplus(x))" in text


def test_native_op_needs_no_replacement(tpu_audit: CommandLine) -> None:
    """A native op is not told to be replaced."""
    (op,) = json.loads(tpu_audit("explain", "aten.mm.default", "-f", "json").out)["ops"]

    assert op["support"] == "native"
    assert op["replacement"] == []


def test_missing_op_without_replacement(tpu_audit: CommandLine) -> None:
    """Where nothing is proven to do the same, that is said."""
    snapshot = load()
    assert snapshot.ops["aten.linalg_eig.default"].support is Support.MISSING

    assert "no proven replacement" in tpu_audit("explain", "aten.linalg_eig.default").out


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("TPA90l", "did you mean 'TPA9"),
        ("linaer", "did you mean 'linear'"),
        ("?!", "codes are like"),
    ],
)
def test_unknown(tpu_audit: CommandLine, name: str, hint: str) -> None:
    """What is neither a code nor an op is 2 with the nearest names."""
    ran = tpu_audit("explain", name)

    assert (ran.code, ran.out) == (2, "")
    assert f"{name!r} is no finding code and no op of the registry\nhint: {hint}" in ran.err


@pytest.mark.parametrize("name", ["TPA103", "tpa103", "cuda-method", "TPA001", "unused-ignore"])
def test_rule(tpu_audit: CommandLine, name: str) -> None:
    """Every rule, by code or name, has a page under fixed headings."""
    ran = tpu_audit("explain", name)

    assert (ran.code, ran.err) == (0, "")
    lines = [line.strip() for line in ran.out.splitlines()]
    for heading in ("what", "why", "example", "instead", "fix safety", "since"):
        assert any(line.startswith(heading) for line in lines)


def test_rule_keeps_the_lines_of_code(tpu_audit: CommandLine) -> None:
    """An example of two lines is shown on two, each under the other."""
    from tpu_audit.cli.rule_view import lookup

    rule = lookup("TPA101")
    assert rule is not None
    shown = [line[13:] for line in tpu_audit("explain", "TPA101").out.splitlines()]

    assert set(rule.docs.example.splitlines()) <= set(shown)


def test_rule_as_json(tpu_audit: CommandLine) -> None:
    """The same for machines."""
    rule = json.loads(tpu_audit("explain", "cuda-method", "-f", "json").out)["rule"]

    assert (rule["code"], rule["severity"], rule["fixable"]) == ("TPA103", "error", True)
    assert {"what", "why", "example", "instead", "fix_safety", "references"} == set(rule["docs"])
