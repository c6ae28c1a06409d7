"""A parameter type for lists of known words: ``f32,bf16``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from tpu_audit.cli.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class ChoiceList(click.ParamType[tuple[str, ...]]):
    """``a,b`` -> the words, in the order given; each has to be one of ``words``, or short for one.

    ``short`` maps abbreviations to words.
    """

    def __init__(
        self, name: str, words: Sequence[str], short: Mapping[str, str] | None = None
    ) -> None:
        """Take what the list holds (``dtype``), all words, and their abbreviations."""
        self.name = name
        self._words = tuple(words)
        self._short = dict(short or {})

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the words named in ``value``; fails on an unknown one."""
        if isinstance(value, tuple):
            return value
        given = [word.strip().lower() for word in str(value).split(",")]
        found = [self._short.get(word, word) for word in given]
        for word in found:
            if word not in self._words:
                near = did_you_mean(word, [*self._words, *self._short])
                valid = near or f"one of {', '.join(self._words)}"
                self.fail(f"{word!r} is not a {self.name}: {valid}", param, ctx)
        return tuple(found)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        """Offer the words."""
        return [CompletionItem(word) for word in self._words if word.startswith(incomplete)]
