"""Which calls a kernel refuses, told from the samples that it refused and those it took."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from op_registry.evidence import Cause, Refusal
from op_registry.verify.facts import Compiled, Found, Problem
from op_registry.verify.refusals import refusals

if TYPE_CHECKING:
    from collections.abc import Callable

    Make: TypeAlias = Callable[..., Found]

NO = (Cause.REJECTED, "no")
SORTED = (Cause.REJECTED, "sorted=False is not yet supported")


def test_dtype(make_found: Make) -> None:
    """A dtype at which every sample is refused is refused whatever the arguments."""
    found = [
        make_found("float32", ({"dim": 0}, None), ({"dim": 1}, None)),
        make_found("int64", ({"dim": 0}, NO), ({"dim": 1}, NO)),
        make_found("int32", ({"dim": 0}, NO)),
    ]

    assert refusals(found) == (Refusal(message="no", when={}, dtypes=("int32", "int64")),)


def test_messages_of_dtypes(make_found: Make) -> None:
    """Dtypes refused with other words are apart, each with its most frequent message."""
    other = (Cause.NOT_IMPLEMENTED, "none")
    found = [make_found("bool", ({}, other), ({}, other), ({}, NO)), make_found("int64", ({}, NO))]

    assert refusals(found) == (
        Refusal(message="no", when={}, dtypes=("int64",)),
        Refusal(message="none", when={}, dtypes=("bool",), cause=Cause.NOT_IMPLEMENTED),
    )


def test_argument(make_found: Make) -> None:
    """A value that all refused samples have and no accepted one explains the refusal."""
    yes: dict[str, object] = {"dim": 1, "sorted": True}
    no: dict[str, object] = {"dim": 1, "sorted": False}
    found = [
        make_found("float32", (yes, None), (no, SORTED)),
        make_found("bfloat16", (no, SORTED), (yes, None)),
    ]

    assert refusals(found) == (
        Refusal(message=SORTED[1], when={"sorted": False}, dtypes=("float32", "bfloat16")),
    )


def test_argument_in_the_message(make_found: Make) -> None:
    """Where every sample of a dtype was refused, a message may still name the argument."""
    no: dict[str, object] = {"dim": 1, "sorted": False}

    (refusal,) = refusals([make_found("float32", (no, SORTED), (no, SORTED))])

    assert refusal.when == {"sorted": False}


def test_argument_that_is_absent(make_found: Make) -> None:
    """None is a value too: a kernel that wants a weight."""
    found = [make_found("float32", ({"weight": None}, NO), ({}, None))]

    assert refusals(found)[0].when == {"weight": None}


def test_two_arguments(make_found: Make) -> None:
    """Two values together explain what neither does alone."""
    found = [
        make_found(
            "float32",
            ({"a": True, "b": "x"}, NO),
            ({"a": True, "b": "y"}, None),
            ({"a": False, "b": "x"}, None),
        )
    ]

    assert refusals(found)[0].when == {"a": True, "b": "x"}


def test_two_reasons(make_found: Make) -> None:
    """Each message has its own explanation; sizes and dtypes in it do not make it another."""
    found = [
        make_found(
            "float32",
            ({"a": True, "b": 1}, (Cause.REJECTED, "no a with Float of 3")),
            ({"a": True, "b": 2}, (Cause.REJECTED, "no a with Float of 4")),
            ({"a": False, "b": None}, (Cause.REJECTED, "wants b")),
            ({"a": False, "b": 1}, None),
        )
    ]

    assert [(r.message, r.when) for r in refusals(found)] == [
        ("no a with Float of 3", {"a": True}),
        ("wants b", {"b": None}),
    ]


def test_no_explanation(make_found: Make) -> None:
    """What no argument explains is not made up: shapes decide, or a number met once."""
    by_shape = make_found("float32", ({"a": True}, NO), ({"a": True}, None))
    by_number = make_found("float32", ({"dim": 7}, NO), ({"dim": 1}, None))
    often = make_found("float32", *[({"dim": 7, "n": n}, NO) for n in range(3)], ({"dim": 1}, None))

    assert refusals([by_shape]) == ()
    assert refusals([by_number]) == ()
    assert refusals([often])[0].when == {"dim": 7}


def test_what_is_no_refusal(make_found: Make) -> None:
    """Host syncs, crashes and samples that need a device say nothing about refusals."""
    needs = (Cause.NEEDS_DEVICE, "no device")
    found = [
        make_found("float32", ({}, (Cause.HOST_SYNC, "reads")), ({}, (Cause.CRASHED, "SIGSEGV"))),
        make_found("int64", ({}, needs)),
        make_found("bool", ({}, NO), ({}, needs)),
    ]

    assert refusals(found) == (Refusal(message="no", when={}, dtypes=("bool",)),)


def test_compiler(make_found: Make) -> None:
    """A program that the compiler refuses for every chip is a refused call, for one it is not."""
    bad = Compiled(problem=Problem(cause=Cause.REJECTED, message="no f64 FFT"))
    plain = make_found("float64", ({}, None))
    everywhere = replace(plain, compiled={"v6e": {"float640": bad}, "v5e": {"float640": bad}})
    on_one = replace(plain, compiled={"v6e": {"float640": bad}, "v5e": {"float640": Compiled()}})

    assert refusals([everywhere]) == (Refusal(message="no f64 FFT", when={}, dtypes=("float64",)),)
    assert refusals([on_one]) == ()
