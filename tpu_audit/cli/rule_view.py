"""A rule's page: for people, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tpu_audit.rules.rule import Rule


def lookup(name: str) -> Rule | None:
    """Return the rule called ``TPA101`` or ``cuda-device-string``, in any case, if there is one."""
    wanted = name.strip().lower()
    return next((r for r in _rules() if wanted in {r.code.lower(), r.name}), None)


def words() -> set[str]:
    """Return every code and name."""
    return {word for rule in _rules() for word in (rule.code, rule.name)}


def title(rule: Rule) -> str:
    """Return the head of the page."""
    trial = ", preview" if rule.stability.value == "preview" else ""
    return f"{rule.code} {rule.name} ({rule.severity.value}{trial})"


def page(rule: Rule) -> list[tuple[str, str]]:
    """Return the page under its fixed headings; code keeps its lines."""
    docs = rule.docs
    return [
        *_paragraphs("what", docs.what),
        *_paragraphs("why", docs.why),
        *_code("example", docs.example),
        *_code("instead", docs.instead),
        *_paragraphs("fix safety", docs.fix_safety or "There is no automatic repair."),
        *(("see", reference) for reference in docs.references),
        ("since", rule.since),
    ]


def as_json(rule: Rule) -> dict[str, Any]:
    """Return what a machine may want to know."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity,
        "stability": rule.stability,
        "since": rule.since,
        "fixable": rule.fixable,
        "docs": rule.docs,
    }


def _rules() -> tuple[Rule, ...]:
    from tpu_audit.check.selection import all_rules  # a hundred modules

    return all_rules()


def _paragraphs(label: str, text: str) -> list[tuple[str, str]]:
    parts = [" ".join(part.split()) for part in text.strip().split("\n\n")]
    return [(label if number == 0 else "", part) for number, part in enumerate(parts)]


def _code(label: str, text: str) -> list[tuple[str, str]]:
    lines = text.strip("\n").split("\n")
    return [(label if number == 0 else "", line) for number, line in enumerate(lines)]
