"""What comments leave out of a file's result, and what is wrong with the comments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.check.own_rules import BAD_IGNORE, UNUSED_IGNORE
from tpu_audit.check.result import Comment, FileResult, Item
from tpu_audit.check.selection import answering

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A file's items after its comments were heard."""

    kept: tuple[Item, ...]
    silenced: tuple[tuple[Item, Comment], ...]


def judge(result: FileResult, codes: AbstractSet[str]) -> Judged:
    """Split the items by the comments; ``codes`` are the rules that ran.

    Comments that silence nothing, or that do not say what and why, become items themselves.
    """
    kept, silenced = [], []
    used: set[tuple[int, str]] = set()
    meant = {id(comment): _meant(comment) for comment in result.comments}
    for item in result.items:
        comment = _silencer(item, result.comments, meant)
        if comment is None:
            kept.append(item)
            continue
        silenced.append((item, comment))
        used |= {(id(comment), s) for s in comment.selectors if item.code in meant[id(comment)][s]}
    for comment in result.comments:
        kept += _complaints(comment, meant[id(comment)], used, codes)
    return Judged(
        kept=tuple(sorted(kept, key=lambda item: (item.line, item.column, item.code))),
        silenced=tuple(silenced),
    )


def _meant(comment: Comment) -> dict[str, frozenset[str]]:
    """Return the codes that each selector of a comment stands for."""
    return {
        selector: frozenset(rule.code for rule in answering(selector))
        for selector in comment.selectors
    }


def _silencer(
    item: Item, comments: list[Comment], meant: dict[int, dict[str, frozenset[str]]]
) -> Comment | None:
    for comment in comments:
        covers = comment.first <= item.end_line and item.line <= comment.last
        if covers and any(item.code in codes for codes in meant[id(comment)].values()):
            return comment
    return None


def _complaints(
    comment: Comment,
    meant: dict[str, frozenset[str]],
    used: set[tuple[int, str]],
    ran: AbstractSet[str],
) -> Iterator[Item]:
    unknown = [selector for selector, codes in meant.items() if not codes]
    idle = [
        selector
        for selector, codes in meant.items()
        # A rule that did not run cannot have found what the comment is for.
        if codes and codes <= ran and (id(comment), selector) not in used
    ]
    if BAD_IGNORE.code in ran:
        if not comment.selectors:
            yield _bad(comment, "it names no rules, so it silences nothing", "ignore[TPA101]")
        if unknown:
            yield _bad(comment, f"no rule is called {', '.join(unknown)}", "a code like TPA101")
        if comment.selectors and not comment.reason:
            yield _bad(comment, "it gives no reason", "the reason behind the bracket")
    if idle and UNUSED_IGNORE.code in ran:
        whole = len(idle) == len(comment.selectors)
        yield _item(
            comment,
            UNUSED_IGNORE.code,
            f"nothing to ignore here for {', '.join(idle)}",
            "take the comment away" if whole else f"take {', '.join(idle)} out of the brackets",
            fixable="safe" if whole else None,
        )


def _bad(comment: Comment, problem: str, wanted: str) -> Item:
    message = f"the ignore comment is unclear: {problem}"
    return _item(comment, BAD_IGNORE.code, message, f"write {wanted}")


def _item(
    comment: Comment, code: str, message: str, advice: str, *, fixable: str | None = None
) -> Item:
    return Item(
        code=code,
        severity=UNUSED_IGNORE.severity.value,
        line=comment.line,
        column=comment.column,
        end_line=comment.line,
        end_column=comment.end_column,
        message=message,
        advice=advice,
        cause=message if code == BAD_IGNORE.code else code,
        fixable=fixable,
    )
