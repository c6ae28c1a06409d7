"""Which rules run, and which findings in which files count."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import translate
from typing import TYPE_CHECKING

from tpu_audit.check.own_rules import OWN_RULES
from tpu_audit.rules import catalogue
from tpu_audit.rules.rule import Rule, Stability
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALL = "ALL"
"""Selector of every rule."""


def all_rules() -> tuple[Rule, ...]:
    """Return every rule, the checker's own first."""
    return (*OWN_RULES, *catalogue.rules())


def selected(select: Sequence[str], ignore: Sequence[str], *, preview: bool) -> tuple[Rule, ...]:
    """Return the rules to run: all stable ones or those selected, without those ignored.

    A preview rule runs when ``preview`` is on or when it is selected by its whole code or name.
    Raises UsageError for a selector that no rule answers to.
    """
    chosen = {rule for text in select for rule in matching(text)} if select else set(all_rules())
    named = {text.lower() for text in select}
    dropped = {rule for text in ignore for rule in matching(text)}
    return tuple(
        rule
        for rule in all_rules()
        if rule in chosen - dropped
        and (
            preview
            or rule.stability is not Stability.PREVIEW
            or {rule.code.lower(), rule.name} & named
        )
    )


def matching(selector: str) -> tuple[Rule, ...]:
    """Return the rules with this code, code prefix or name. Raises UsageError when there are none.

    ``ALL`` stands for every rule.
    """
    found = answering(selector)
    if not found:
        words = [word for rule in all_rules() for word in (rule.code, rule.name)]
        near = get_close_matches(selector, words, n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else _HINT
        raise UsageError(f"no rule has the code, prefix or name {selector!r}", hint=hint)
    return found


_HINT = "codes are like TPA101, prefixes like TPA1; `tpu-audit explain TPA101` shows a rule"


def answering(selector: str) -> tuple[Rule, ...]:
    """Return the rules with this code, code prefix or name; none for anything else."""
    upper = selector.upper()
    if upper == ALL:
        return all_rules()
    is_code = re.fullmatch(r"TPA\d*", upper) is not None
    return tuple(
        rule
        for rule in all_rules()
        if rule.name == selector or (is_code and rule.code.startswith(upper))
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class PerFile:
    """Rules that do not count in files of a pattern."""

    pattern: re.Pattern[str]
    codes: frozenset[str]


def per_file(entries: Iterable[str]) -> tuple[PerFile, ...]:
    """Read ``PATTERN:CODE,CODE`` entries. Raises UsageError for a wrong one."""
    found = []
    for entry in entries:
        pattern, colon, codes = entry.rpartition(":")
        if not colon or not pattern or not codes.strip():
            hint = "write a pattern, a colon and codes: tests/**:TPA1,TPA302"
            raise UsageError(f"{entry!r} is not PATTERN:CODES", hint=hint)
        rules = [rule for text in codes.split(",") for rule in matching(text.strip())]
        found.append(
            PerFile(pattern=_pattern(pattern), codes=frozenset(rule.code for rule in rules))
        )
    return tuple(found)


def _pattern(text: str) -> re.Pattern[str]:
    """Compile a glob that matches a path, or the end of one after a slash."""
    return re.compile(rf"(?:.*/)?(?:{translate(text)})", re.DOTALL)


def ignored_in(path: str, entries: Iterable[PerFile]) -> frozenset[str]:
    """Return the codes that do not count in the file ``path``."""
    codes = [entry.codes for entry in entries if entry.pattern.match(path)]
    return frozenset().union(*codes)
