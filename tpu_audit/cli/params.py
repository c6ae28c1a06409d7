"""Parameter types of our own: dtype lists and outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.shell_completion import CompletionItem

from tpu_audit.cli.suggest import did_you_mean
from tpu_audit.types.trace import DTYPES

if TYPE_CHECKING:
    from collections.abc import Iterable

STDOUT = "-"


class DtypeList(click.ParamType[tuple[str, ...]]):
    """``bf16,f32`` -> torch's names of the dtypes, in the order given."""

    name = "dtypes"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the dtypes named in ``value``; fails on an unknown one."""
        if isinstance(value, tuple):
            return value
        words = [word.strip().lower().removeprefix("torch.") for word in str(value).split(",")]
        for word in words:
            if word not in DTYPES:
                self._refuse(word, param, ctx)
        return tuple(DTYPES[word] for word in words)

    def _refuse(
        self, word: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> NoReturn:
        near = did_you_mean(word, DTYPES)
        valid = f"one of {', '.join(sorted(set(DTYPES.values())))}"
        self.fail(f"{word!r} is not a dtype to trace in: {near or valid}", param, ctx)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        """Offer torch's names."""
        names = sorted(set(DTYPES.values()))
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def flat_dtypes(
    ctx: click.Context,  # noqa: ARG001 - click's signature
    param: click.Parameter,  # noqa: ARG001 - click's signature
    value: tuple[tuple[str, ...], ...],
) -> tuple[str, ...]:
    """Join the lists of a repeated ``--dtype``; each dtype once."""
    return tuple(dict.fromkeys(dtype for group in value for dtype in group))


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """Where one rendering of the report goes."""

    fmt: str
    path: str
    """A path, or ``-`` for stdout."""


class OutputSpec(click.ParamType[Output]):
    """``json=report.json`` -> an ``Output``."""

    name = "format=path"

    def __init__(self, formats: Iterable[str]) -> None:
        """Take the names of the formats there are."""
        self._formats = tuple(formats)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Output:
        """Return the output that ``value`` names; fails on a bad shape or an unknown format."""
        if isinstance(value, Output):
            return value
        fmt, equals, path = str(value).partition("=")
        if not equals or not path:
            self.fail(f"{value!r} must be FORMAT=PATH, e.g. json=report.json", param, ctx)
        if fmt not in self._formats:
            near = did_you_mean(fmt, self._formats) or f"one of {', '.join(self._formats)}"
            self.fail(f"{fmt!r} is not a format: {near}", param, ctx)
        return Output(fmt=fmt, path=path)
