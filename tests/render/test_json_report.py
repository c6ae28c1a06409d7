"""The JSON report: complete, valid by its published schema, readable everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema

from tests.support.reports import model, op_row, phase, report
from tpu_audit.render.formats import renderer
from tpu_audit.render.interface import View
from tpu_audit.render.schema import report_adapter, report_schema

if TYPE_CHECKING:
    from tpu_audit.types.report import Report

PUBLISHED = Path(__file__).parents[2] / "reports" / "schema" / "report-v1.json"


def render(value: Report) -> str:
    """Render as the command does."""
    return renderer("json").render(value, View())


def refuse_constant(name: str) -> None:
    """Fail on NaN and Infinity, which JSON does not have."""
    raise AssertionError(name)


def test_valid_by_published_schema() -> None:
    """A whole report is valid by the file that is published, and the schema has teeth."""
    schema = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    document: dict[str, Any] = json.loads(render(report()))

    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(document)) == []

    document["models"][0]["phases"][0]["ops"][0]["support"] = "perhaps"
    del document["models"][0]["phases"][0]["verdict"]
    assert len(list(validator.iter_errors(document))) == 2


def test_published_schema_is_current() -> None:
    """The published file is what the types say today."""
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == report_schema()


def test_round_trip() -> None:
    """Reading a report back gives the very same report."""
    value = report()

    assert report_adapter().validate_json(render(value)) == value


def test_no_infinity() -> None:
    """A mask filled with -inf is written as text, never as a constant that JSON lacks."""
    row = op_row("aten.masked_fill.Scalar", args={"value": float("-inf"), "p": float("nan")})
    value = report([model(phases=(phase([row]),))])

    document = json.loads(render(value), parse_constant=refuse_constant)

    args = document["models"][0]["phases"][0]["ops"][0]["args"]
    assert args == {"value": "-inf", "p": "nan"}


def test_lone_surrogates() -> None:
    """Names that are no valid text still give a report that strict readers accept."""
    value = report([model(model_type="\ud800bert")])

    assert report_adapter().validate_json(render(value)).models[0].model_type == "?bert"


def test_keys_are_in_order() -> None:
    """Keys stand in the order of the types, whatever the values."""
    document = json.loads(render(report()))
    row = document["models"][0]["phases"][0]["ops"][0]

    assert list(document) == ["schema", "tool", "versions", "models", "findings", "notes"]
    assert {"op", "count", "inputs", "outputs", "args", "flops", "bytes", "support"} <= set(row)
    assert set(row["inputs"][0]) == {"dtype", "shape", "device"}
    assert set(document["findings"][0]["location"]) == {"path", "line", "column", "module"}
