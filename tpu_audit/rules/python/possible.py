"""Constants that may reach an expression."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOLE = "\ufffc"
"""Stands in a string for what is not known: ``f"cuda:{rank}"`` is ``"cuda:" + HOLE``."""
Scalar = str | int | float | bool | None


class Via(StrEnum):
    """How a constant reaches an expression."""

    LITERAL = "literal"
    """It stands there, perhaps in an arm, or formatted."""
    VARIABLE = "variable"
    ATTRIBUTE = "attribute"
    """Stored in ``self.x`` or a class attribute."""
    DEFAULT = "default"
    """A parameter's default."""
    FIELD = "field"
    """A default of a dataclass field or the like."""
    OPTION = "option"
    """A default of a command line option."""
    CONFIG = "config"
    """An entry of a dict."""
    ENVIRONMENT = "environment"
    """The fallback of an environment variable."""
    ARGUMENT = "argument"
    """Passed by a call in the same file."""
    RETURNED = "returned"
    """Returned by a function in the same file."""


@dataclass(frozen=True, slots=True)
class Possible:
    """One constant that may reach an expression."""

    value: Scalar
    node: ast.expr
    """Where it stands in the source."""
    via: Via = Via.LITERAL

    def through(self, via: Via) -> Possible:
        """Return it with a longer way; the step nearest to the constant stays named."""
        return self if self.via is not Via.LITERAL else replace(self, via=via)


@dataclass(frozen=True, slots=True)
class Values:
    """All constants that are known to reach an expression."""

    known: tuple[Possible, ...] = ()
    complete: bool = True
    """Nothing else can reach it, as far as the file tells."""

    def __iter__(self) -> Iterator[Possible]:
        """Iterate over the constants."""
        return iter(self.known)

    def __bool__(self) -> bool:
        """Tell whether any is known."""
        return bool(self.known)

    def strings(self) -> tuple[str, ...]:
        """Return the strings among them, once each."""
        return tuple(dict.fromkeys(p.value for p in self.known if isinstance(p.value, str)))

    def through(self, via: Via) -> Values:
        """Return them with a longer way."""
        return Values(tuple(p.through(via) for p in self.known), self.complete)

    def map(self, change: Callable[[Scalar], Scalar]) -> Values:
        """Return them changed, at the same places."""
        return Values(tuple(replace(p, value=change(p.value)) for p in self.known), self.complete)


UNKNOWN = Values(complete=False)


def union(*parts: Values) -> Values:
    """Return what may come from any of ``parts``, each constant and place once."""
    known = dict.fromkeys(possible for part in parts for possible in part.known)
    return Values(tuple(known), all(part.complete for part in parts))
