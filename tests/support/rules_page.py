"""The page of all rules, made from the rules themselves.

``python -m tests.support.rules_page --update`` writes ``reports/rules.md``; a test compares.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from tpu_audit.check.selection import all_rules
from tpu_audit.rules.rule import Rule, Stability

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = Path(__file__).parents[2] / "reports" / "rules.md"
_FAMILIES = {
    "0": "The checker's own comments",
    "1": "Devices",
    "2": "torch.cuda, distributed, memory",
    "3": "Dtypes and mixed precision",
    "4": "Host synchronisation and shapes that change",
    "5": "Compilation",
    "6": "Kernels and libraries",
    "7": "Hugging Face and trainers",
    "8": "Dependencies and infrastructure",
}
_HEAD = """\
# Rules of `tpu-audit check`

Made from the rules by `python -m tests.support.rules_page --update`; do not edit.
`tpu-audit explain CODE` prints one of them. Rules on trial run with `--preview`.
"""


def page() -> str:
    """Return the page: a table of each family, then every rule under its fixed headings."""
    families = [(key, list(rules)) for key, rules in groupby(all_rules(), lambda r: r.code[3])]
    tables = [line for key, rules in families for line in _table(_FAMILIES[key], rules)]
    rules = [line for _, rules in families for rule in rules for line in _rule(rule)]
    return "\n".join([_HEAD, *tables, *rules]).rstrip() + "\n"


def _table(title: str, rules: Iterable[Rule]) -> Iterator[str]:
    yield from (f"## {title}", "", "| code | rule | severity | repair |", "|---|---|---|---|")
    for rule in rules:
        trial = " (preview)" if rule.stability is Stability.PREVIEW else ""
        repair = "yes" if rule.fixable else ""
        link = f"[{rule.code}](#{_anchor(rule)})"
        yield f"| {link} | {rule.name}{trial} | {rule.severity.value} | {repair} |"
    yield ""


def _anchor(rule: Rule) -> str:
    return f"{rule.code.lower()}-{rule.name}"


def _rule(rule: Rule) -> Iterator[str]:
    docs = rule.docs
    yield from (f"## {rule.code} {rule.name}", "")
    yield from ("**What it does.** " + _paragraph(docs.what), "")
    yield from ("**Why it matters on a TPU.** " + _paragraph(docs.why), "")
    yield from ("**Example**", "", *_fenced(docs.example), "")
    yield from ("**Use instead**", "", *_fenced(docs.instead), "")
    yield from ("**Fix safety.** " + _paragraph(docs.fix_safety or _NO_REPAIR), "")
    if docs.references:
        yield from ("**References.** " + ", ".join(f"<{url}>" for url in docs.references), "")


_NO_REPAIR = "There is no automatic repair."


def _paragraph(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def _fenced(code: str) -> Iterator[str]:
    yield from ("```", *code.strip("\n").split("\n"), "```")


def main(arguments: list[str]) -> int:
    """Write the page, or tell whether the written one is current."""
    if arguments == ["--update"]:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    return 0 if PAGE.read_text(encoding="utf-8") == page() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
