"""TPA913, TPA916, TPA918, TPA922: calls that run, but not the fast way."""

from __future__ import annotations

import pytest

from tests.support.calls import LINE, audit, codes, finding, tensor, use
from tpu_audit.audit.detectors.unrolled import MANY
from tpu_audit.types.trace import SourceLine

PLAIN = "aten._scaled_dot_product_fused_attention_overrideable.default"
FLASH = "aten._scaled_dot_product_cudnn_attention.default"


def test_head_size_that_misses_flash() -> None:
    """Head size 160 is named as the cause, with the padding that cures it and the cost."""
    heads = tensor(2, 8, 1024, 160)
    found = finding("TPA913", audit(use(PLAIN, heads, heads, heads, flops=1)))
    assert "head size 160" in found.message
    assert "32.0 MiB of scores a call" in found.message
    assert "head size 256" in found.fix
    assert "scale=160**-0.5" in found.fix


def test_padding_the_head_gives_the_same_attention() -> None:
    """The fix for head sizes is exact: zeros add nothing to the products."""
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    q, k, v = torch.randn(3, 1, 2, 5, 160).unbind(0)
    wide = [functional.pad(t, (0, 96)) for t in (q, k, v)]
    padded = functional.scaled_dot_product_attention(*wide, scale=160**-0.5)[..., :160]
    torch.testing.assert_close(padded, functional.scaled_dot_product_attention(q, k, v))


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_dtype_that_misses_flash(dtype: str) -> None:
    """For half and double precision the dtype is the cause, not the head size."""
    heads = tensor(2, 8, 16, 64, dtype=dtype)
    found = finding("TPA913", audit(use(PLAIN, heads, heads, heads)))
    assert f"dtype {dtype}" in found.message
    assert "bfloat16" in found.fix


def test_two_causes_are_two_findings() -> None:
    """Two head sizes of one model are two things to change."""
    calls = [use(PLAIN, tensor(1, 8, 16, d), tensor(1, 8, 16, d)) for d in (160, 192)]
    found = [f for f in audit(*calls).findings if f.code == "TPA913"]
    assert len(found) == 2


def test_flash_is_no_finding() -> None:
    """Attention through the flash kernel is not reported."""
    heads = tensor(1, 8, 4096, 64)
    assert codes(audit(use(FLASH, heads, heads, heads, flops=1))) == set()


def test_float16_products_are_one_finding() -> None:
    """All float16 products of a phase have one cause."""
    half = tensor(4, 4, dtype="float16")
    calls = (
        use("aten.linear.default", half, half, flops=8),
        use("aten.bmm.default", half, flops=8),
    )
    found = finding("TPA916", audit(*calls, dtype="float16"))
    assert (found.op, found.count) == (None, 2)


def test_float16_without_products_is_no_finding() -> None:
    """Element-wise float16 does not touch the matrix units."""
    assert codes(audit(use("aten.add.Tensor", tensor(4, dtype="float16")))) == set()


@pytest.mark.parametrize(
    ("shape", "reported"),
    [
        ((1, 32, 2048, 2048), True),
        ((1, 12, 128, 128), False),  # small
        ((4096, 32, 49, 49), False),  # windows: large, but not for their length
        ((8, 2048, 50257), False),  # a vocabulary, not attention
    ],
)
def test_attention_written_out(shape: tuple[int, ...], reported: bool) -> None:
    """Only a softmax over a long (queries, keys) matrix is reported."""
    found = codes(audit(use("aten._softmax.default", tensor(*shape, dtype="float32"))))
    assert found == ({"TPA918"} if reported else set())


def test_a_python_loop() -> None:
    """One module that repeats a call MANY times at a line runs a loop."""
    call = use("aten.mul.Tensor", tensor(4), count=2 * MANY, modules=("ssm.0", "ssm.1"))
    found = finding("TPA922", audit(call))
    assert "64 identical calls a module" in found.message
    assert found.op is None


def test_the_ops_of_one_loop_are_one_finding() -> None:
    """The body's ops share the loop's line; another line is another loop."""
    elsewhere = (SourceLine(path=LINE.path, line=99),)
    body = [use(f"aten.{op}.Tensor", tensor(4), count=MANY) for op in ("mul", "add")]
    other = use("aten.sub.Tensor", tensor(4), count=MANY, sources=elsewhere)
    found = [f for f in audit(*body, other).findings if f.code == "TPA922"]
    assert sorted(f.count for f in found) == [MANY, 2 * MANY]


def test_many_layers_are_no_loop() -> None:
    """126 layers that call the same op once each are not a loop."""
    layers = tuple(f"layers.{i}" for i in range(126))
    assert codes(audit(use("aten.mul.Tensor", tensor(4), count=252, modules=layers))) == set()


def test_many_host_reads_are_no_loop_as_well() -> None:
    """Reading many values back is a host sync; a second finding would say nothing new."""
    call = use("aten.item.default", tensor(), outputs=(), count=MANY, host_read=True)
    assert codes(audit(call)) == {"TPA910"}
