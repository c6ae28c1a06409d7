"""Finds out which calls a kernel refuses from the samples that it refused and those it took."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from op_registry.evidence import Cause, Refusal, place
from op_registry.verify.facts import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from op_registry.verify.facts import Found, LoweredSample

_REFUSES = frozenset({Cause.REJECTED, Cause.NOT_IMPLEMENTED})
_FEWEST_NUMBERS = 3
"""Refused samples that make a number a suspect: two may share a size or an index by chance."""
_VARIES = re.compile(r"\d+|\b(?:b?float|u?int|complex|Half|Double|Float|Long|Int|BFloat|Bool)\w*")
"""What differs between the messages of one refusal: sizes and dtypes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Case:
    """One sample: its dtype, its arguments as text, and why it was refused, if it was."""

    dtype: str
    args: Mapping[str, str]
    refused: Problem | None

    def has(self, when: Mapping[str, str]) -> bool:
        return all(self.args.get(name) == value for name, value in when.items())


def refusals(found: Iterable[Found]) -> tuple[Refusal, ...]:
    """Return the refusals that the samples of one op show, over all dtypes given.

    A refusal of a dtype: every sample of it was refused. A refusal of an argument's value, or of
    two together: every sample with it was refused, and none without it was for that reason.
    """
    cases = [_case(one, sample) for one in found for sample in one.samples if _decided(sample)]
    by_dtype: dict[str, list[_Case]] = {}
    for case in cases:
        by_dtype.setdefault(case.dtype, []).append(case)
    whole = {d for d, these in by_dtype.items() if all(case.refused for case in these)}
    mixed = [case for case in cases if case.dtype not in whole]
    found_here = [*_of_dtypes([case for case in cases if case.dtype in whole]), *_of_values(mixed)]
    return tuple(sorted(found_here, key=lambda r: (_text(r.when), r.message)))


def _decided(sample: LoweredSample) -> bool:
    return sample.problem is None or sample.problem.cause is not Cause.NEEDS_DEVICE


def _case(found: Found, sample: LoweredSample) -> _Case:
    args = {name: _text(value) for name, value in sample.arguments.items()}
    return _Case(dtype=found.dtype, args=args, refused=_refused(found, sample))


def _refused(found: Found, sample: LoweredSample) -> Problem | None:
    if sample.problem is not None:
        return sample.problem if sample.problem.cause in _REFUSES else None
    met = [by_program.get(sample.program or "") for by_program in found.compiled.values()]
    problems = [result.problem for result in met if result is not None]
    refused = [p for p in problems if p is not None and p.cause in _REFUSES]
    return refused[0] if refused and len(refused) == len(problems) else None


def _of_dtypes(cases: Sequence[_Case]) -> Iterable[Refusal]:
    """Return one refusal for the dtypes that share their most frequent message."""
    said: dict[str, Counter[tuple[Cause, str]]] = {}
    for case in cases:
        if case.refused is not None:
            counts = said.setdefault(case.dtype, Counter())
            counts[case.refused.cause, case.refused.message] += 1
    grouped: dict[tuple[Cause, str], list[str]] = {}
    for dtype, counts in said.items():
        most = max(counts.items(), key=lambda item: (item[1], item[0]))[0]
        grouped.setdefault(most, []).append(dtype)
    for (cause, message), dtypes in grouped.items():
        these = [case for case in cases if case.dtype in dtypes]
        when = _named(message, these)
        yield Refusal(message=message, when=when, dtypes=_ordered(dtypes), cause=cause)


def _named(message: str, cases: Sequence[_Case]) -> dict[str, Any]:
    """Return the arguments that a message names with the value that all of ``cases`` have."""
    shared = {
        name: json.loads(value)
        for name, value in cases[0].args.items()
        if all(case.args.get(name) == value for case in cases)
    }
    return {name: value for name, value in shared.items() if f"{name}={value}" in message}


def _of_values(cases: Sequence[_Case]) -> Iterable[Refusal]:
    """Return a refusal for each message that an argument's value explains, or two together."""
    grouped: dict[str, list[_Case]] = {}
    for case in cases:
        if case.refused is not None:
            grouped.setdefault(_VARIES.sub("#", case.refused.message), []).append(case)
    for refused in grouped.values():
        when = _explanation(refused, cases)
        first = refused[0].refused
        if when is not None and first is not None:
            values = {name: json.loads(value) for name, value in when.items()}
            dtypes = _ordered({case.dtype for case in refused})
            yield Refusal(message=first.message, when=values, dtypes=dtypes, cause=first.cause)


def _explanation(refused: Sequence[_Case], cases: Sequence[_Case]) -> dict[str, str] | None:
    """Return what all of ``refused`` share and no accepted case has; one argument before two."""
    shared = [
        (name, value)
        for name, value in sorted(refused[0].args.items())
        if all(case.args.get(name) == value for case in refused) and _telling(value, len(refused))
    ]
    accepted = [case for case in cases if case.refused is None]
    for size in (1, 2):
        for chosen in itertools.combinations(shared, size):
            if not any(case.has(dict(chosen)) for case in accepted):
                return dict(chosen)
    return None


def _telling(value: str, count: int) -> bool:
    plain = json.loads(value)
    return plain is None or isinstance(plain, bool | str) or count >= _FEWEST_NUMBERS


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _ordered(dtypes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(dtypes, key=place))
