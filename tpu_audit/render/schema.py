"""The published schema of the JSON report, generated from the types and their docstrings."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter

from tpu_audit.types import report as types
from tpu_audit.types.report import REPORT_SCHEMA, Report


def report_adapter() -> TypeAdapter[Report]:
    """Return the validator that reads a JSON report back into a ``Report``."""
    return TypeAdapter(Report)


def report_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of what ``-f json`` writes."""
    schema = report_adapter().json_schema(mode="serialization")
    for name, definition in {**schema["$defs"], "Report": schema}.items():
        _describe(definition, getattr(types, name, None))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:" + REPORT_SCHEMA.replace("/", ":"),
        **schema,
        "title": "tpu-audit JSON report, version 1",
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
