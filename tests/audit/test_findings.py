"""Grouping: one finding for each code, op and cause."""

from __future__ import annotations

from op_registry.schema import Hazard, Support
from tests.support.calls import LINE, audit, codes, finding, record, snapshot, tensor, use
from tpu_audit.types.report import Severity, Verdict
from tpu_audit.types.trace import Role, SourceLine

MISH = snapshot(record("aten.mish.default", Support.MISSING))


def test_calls_of_one_op_make_one_finding() -> None:
    """Two distinct calls of a missing op: one finding with their count, modules and lines."""
    other = SourceLine(path=LINE.path, line=9)
    result = audit(
        use("aten.mish.default", tensor(4), count=3, modules=("a",)),
        use("aten.mish.default", tensor(8), count=2, modules=("b",), sources=(other,)),
        registry=MISH,
    )
    found = finding("TPA901", result)
    assert (found.count, found.modules, found.sources) == (5, ("a", "b"), (LINE, other))
    assert (found.location.path, found.location.line, found.location.module) == (
        LINE.path,
        7,
        "a",
    )


def test_bytes_add_up_over_the_finding() -> None:
    """What a CPU fallback would move is inputs and outputs of all calls, in count and in words."""
    result = audit(
        use("aten.mish.default", tensor(512, 1024), count=3),
        use("aten.mish.default", tensor(1024, 1024), count=1),
        registry=MISH,
    )
    found = finding("TPA901", result)
    assert found.bytes == 3 * 2 * 2**20 + 4 * 2**20
    assert "10.0 MiB would cross between TPU and host per forward" in found.message


def test_worst_first() -> None:
    """Errors come before warnings, warnings before information."""
    registry = snapshot(
        record("aten.mish.default", Support.MISSING),
        record("aten.item.default"),
        record("aten.tanh.default"),
    )
    result = audit(
        use("aten.tanh.default", tensor(4, dtype="complex64")),
        use("aten.item.default", tensor(), outputs=(), host_read=True),
        use("aten.mish.default", tensor(4)),
        registry=registry,
    )
    assert [f.severity for f in result.findings] == [
        Severity.ERROR,
        Severity.WARNING,
        Severity.INFO,
    ]


def test_a_data_dependent_size_is_not_reported_twice() -> None:
    """Nonzero waits for its size: the row has both hazards, the report one finding."""
    why = {Hazard.DYNAMIC_SHAPE: "the shape depends on values", Hazard.HOST_SYNC: "reads a count"}
    registry = snapshot(record("aten.nonzero.default", hazards=why))
    result = audit(use("aten.nonzero.default", tensor(4), host_read=True), registry=registry)
    assert set(result.rows[0].hazards) == {Hazard.DYNAMIC_SHAPE, Hazard.HOST_SYNC}
    assert codes(result) == {"TPA911"}


def test_row_keeps_what_the_trace_saw() -> None:
    """A row carries the call's counts, tensors, costs and places unchanged."""
    seen = use("aten.tanh.default", tensor(4), count=3, flops=7, args={"dim": 1}, guesses=2)
    (row,) = audit(seen).rows
    for name in ("op", "count", "inputs", "outputs", "args", "flops", "bytes", "modules"):
        assert getattr(row, name) == getattr(seen, name)
    assert (row.sources, row.guesses) == (seen.sources, 2)


def test_two_reasons_for_one_hazard_are_both_kept() -> None:
    """float16 attention that misses flash has two reasons for being slow."""
    op = "aten._scaled_dot_product_fused_attention_overrideable.default"
    heads = tensor(1, 8, 16, 64, dtype="float16")
    (row,) = audit(use(op, heads, heads, heads, flops=1)).rows
    reason = row.hazard_reasons[Hazard.SLOW_PATH]
    assert "dtype float16" in reason
    assert "matrix units take bfloat16" in reason


def test_config_findings() -> None:
    """Quantised weights and remote code are told from the config, without a call."""
    config = {
        "architectures": ["MadeModel"],
        "auto_map": {"AutoModel": "modeling_made.MadeModel"},
        "quantization_config": {"quant_method": "gptq"},
    }
    result = audit(config=config)
    assert codes(result) == {"TPA920", "TPA921"}
    assert "gptq" in finding("TPA921", result).message


def test_odd_quantisation_config_does_not_break() -> None:
    """A quantization_config of the wrong type is still reported."""
    assert codes(audit(config={"quantization_config": [1]})) == {"TPA921"}
    assert codes(audit(config={"quantization_config": None})) == set()


def test_what_generation_does_around_a_model_is_no_fault_of_the_model() -> None:
    """The end of a text is read every token: information, apart from the model's own read."""
    registry = snapshot(record("aten.item.default"))
    stopping = use(
        "aten.item.default",
        tensor(),
        outputs=(),
        host_read=True,
        guesses=1,
        role=Role.BOOKKEEPING,
    )
    own = use("aten.item.default", tensor(2), outputs=(), host_read=True)

    alone = audit(stopping, registry=registry, phase="decode")
    both = audit(stopping, own, registry=registry, phase="decode")

    assert alone.verdict is Verdict.READY
    assert {f.severity for f in alone.findings} == {Severity.INFO}
    assert "generate() itself" in finding("TPA910", alone).message
    assert [f.severity for f in both.findings if f.code == "TPA910"] == [
        Severity.WARNING,
        Severity.INFO,
    ]


def test_a_missing_op_blocks_wherever_it_is() -> None:
    """Sampling that raises ends the generation, whoever calls it."""
    sampling = use("aten.mish.default", tensor(4), role=Role.BOOKKEEPING)
    result = audit(sampling, registry=MISH, phase="decode")

    assert result.verdict is Verdict.BLOCKED
    assert finding("TPA901", result).severity is Severity.ERROR
