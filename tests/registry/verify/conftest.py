"""Findings made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from op_registry.evidence import Cause
from op_registry.verify.facts import Found, LoweredSample, Problem

if TYPE_CHECKING:
    from collections.abc import Callable

Sample = tuple[dict[str, object], tuple[Cause, str] | None]


@pytest.fixture(scope="session")
def make_found() -> Callable[..., Found]:
    """Return a maker of findings: dtype, then each sample's arguments and why it failed, if so."""

    def make(dtype: str, *samples: Sample, op: str = "aten.x.default", flags: str = "") -> Found:
        return Found(
            op=op,
            dtype=dtype,
            samples=tuple(
                LoweredSample(
                    index=index,
                    arguments=arguments,
                    tensors={"self": [dtype, [2, 3]]},
                    problem=Problem(cause=failed[0], message=failed[1]) if failed else None,
                    program=None if failed else f"{dtype}{index}",
                    flags=frozenset(flags.split()),
                )
                for index, (arguments, failed) in enumerate(samples)
            ),
        )

    return make
