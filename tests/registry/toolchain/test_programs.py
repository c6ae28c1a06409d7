"""Helpers on the text of StableHLO programs."""

from __future__ import annotations

from op_registry.toolchain.programs import custom_calls, digest, has_mosaic

ADD = """module @{name} {{
  func.func @main(%arg0: tensor<{shape}xf32>) -> tensor<{shape}xf32> {{
    %0 = stablehlo.add %arg0, %arg0 : tensor<{shape}xf32>
    return %0 : tensor<{shape}xf32>
  }}
}}
"""


def test_name_does_not_count() -> None:
    """Programs that differ in the module's name alone have one digest, quoted names included."""
    one = ADD.format(name="tt_jit_low_L8C0_add", shape="3")
    assert digest(one) == digest(ADD.format(name='"another <name>.x"', shape="3"))
    assert digest(one) == digest(ADD.format(name="x", shape="3").replace("module @x", "module"))


def test_everything_else_counts() -> None:
    """A shape, an attribute of the module or a function's name make another program."""
    one = ADD.format(name="m", shape="3")
    others = (
        ADD.format(name="m", shape="4"),
        one.replace("module @m", "module @m attributes {mhlo.num_partitions = 2 : i32}"),
        one.replace("@main", "@other"),
    )
    assert len({digest(text) for text in (one, *others)}) == 4


def test_custom_calls_in_every_spelling() -> None:
    """Short, quoted and generic forms are found; each target once, in order of the alphabet."""
    text = """
    %0 = stablehlo.custom_call @Qr(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.custom_call @"annotate device"(%0) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.custom_call"(%1) <{call_target_name = "Lu.x"}> : (tensor<2xf32>) -> tensor<i1>
    %3 = stablehlo.custom_call @Qr(%2) : (tensor<2xf32>) -> tensor<2xf32>
    """
    assert custom_calls(text) == ("Lu.x", "Qr", "annotate device")
    assert not has_mosaic(text)


def test_mosaic_is_recognised() -> None:
    """The target of Mosaic kernels is, and a program without custom calls has none."""
    assert has_mosaic("%1 = stablehlo.custom_call @tpu_custom_call(%0)")
    assert custom_calls(ADD.format(name="tpu_custom_call", shape="3")) == ()
