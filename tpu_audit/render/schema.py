"""The published schemas of the JSON reports, generated from the types and their docstrings."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter

from tpu_audit.types import check, report
from tpu_audit.types.check import CHECK_SCHEMA, CheckReport
from tpu_audit.types.report import REPORT_SCHEMA, Report


def report_adapter() -> TypeAdapter[Report]:
    """Return the validator that reads a JSON report back into a ``Report``."""
    return TypeAdapter(Report)


def check_adapter() -> TypeAdapter[CheckReport]:
    """Return the validator that reads a check's JSON report back into a ``CheckReport``."""
    return TypeAdapter(CheckReport)


def report_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of what ``scan -f json`` writes."""
    return _schema(report_adapter(), REPORT_SCHEMA, "tpu-audit JSON report, version 1")


def check_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of what ``check -f json`` writes."""
    return _schema(check_adapter(), CHECK_SCHEMA, "tpu-audit JSON report of a check, version 1")


def _schema(adapter: TypeAdapter[Any], name: str, title: str) -> dict[str, Any]:
    schema = adapter.json_schema(mode="serialization")
    for kind, definition in {**schema["$defs"], schema["title"]: schema}.items():
        _describe(definition, getattr(report, kind, getattr(check, kind, None)))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:" + name.replace("/", ":"),
        **schema,
        "title": title,
    }


def _describe(definition: dict[str, Any], kind: object) -> None:
    """Give the properties of ``definition`` the docstrings that stand below the fields."""
    if "properties" not in definition or not isinstance(kind, type):
        return
    for name, text in _field_docstrings(kind).items():
        definition["properties"][name]["description"] = text


def _field_docstrings(kind: type) -> dict[str, str]:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    found = {}
    for field, text in pairwise(tree.body if isinstance(tree, ast.ClassDef) else ()):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(docstring))),
            ):
                found[name] = " ".join(docstring.split())
    return found
