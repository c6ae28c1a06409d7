"""All rules: found by import, looked up by code, prefix or name."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FAMILIES = (
    "devices",
    "cuda_api",
    "precision",
    "syncs",
    "compiling",
    "libraries",
    "huggingface",
    "infrastructure",
)
"""Packages under ``tpu_audit.rules`` that hold rules: TPA1xx to TPA8xx in this order."""


@cache
def rules() -> tuple[Rule, ...]:
    """Import and return all rules, by code."""
    found = sorted(_import_rules(), key=lambda rule: rule.code)
    for key in ("code", "name"):
        _refuse_duplicates(found, key)
    return tuple(found)


def select(*selectors: str) -> tuple[Rule, ...]:
    """Return the rules with these codes, code prefixes (``TPA1``) or names.

    Raises ``KeyError`` with a sentence for a selector that matches nothing.
    """
    return tuple(dict.fromkeys(rule for selector in selectors for rule in _match(selector)))


def _match(selector: str) -> list[Rule]:
    found = [r for r in rules() if r.name == selector or r.code.startswith(selector.upper())]
    if not found or not selector:
        raise KeyError(f"no rule has the code, code prefix or name {selector!r}")
    return found


def _import_rules() -> Iterator[Rule]:
    for family in FAMILIES:
        package = importlib.import_module(f"tpu_audit.rules.{family}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            rule = getattr(importlib.import_module(module.name), "RULE", None)
            if isinstance(rule, Rule):
                yield rule


def _refuse_duplicates(found: Iterable[Rule], key: str) -> None:
    seen: dict[str, Rule] = {}
    for rule in found:
        other = seen.setdefault(getattr(rule, key), rule)
        if other is not rule:
            raise ValueError(f"two rules have the {key} {getattr(rule, key)!r}: give one another")
