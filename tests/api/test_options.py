"""Options of a scan: defaults, spellings, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from tpu_audit.api import ScanOptions
from tpu_audit.types.errors import UsageError


def test_defaults() -> None:
    """The defaults are those of the command line."""
    options = ScanOptions()
    assert (options.dtypes, options.batch, options.seq_len) == (("bfloat16",), 1, 128)
    assert (options.tracer, options.use_cache, options.offline) == ("pretended", True, False)
    assert (options.timeout_s, options.memory_mb) == (300, 8192)
    assert (options.chip, options.with_reference_kernels) == ("v6e", False)
    assert options.cache_dir.name == "tpu-audit"


def test_dtypes_are_spelled_as_torch_does_and_kept_once() -> None:
    """``bf16`` is bfloat16, and a dtype given twice is traced once, in the order given."""
    assert ScanOptions(dtypes=("f32", "bf16", "float32")).dtypes == ("float32", "bfloat16")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"dtypes": ("int8",)}, "int8"),
        ({"dtypes": ()}, "none given"),
        ({"tracer": "xla"}, "xla"),
        ({"chip": "v4"}, "no such TPU generation: 'v4'"),
        ({"batch": 0}, "batch"),
        ({"seq_len": -1}, "seq_len"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"timeout_s": float("nan")}, "timeout_s"),
        ({"memory_mb": 0}, "memory_mb"),
    ],
)
def test_nonsense_is_refused(wrong: dict[str, Any], named: str) -> None:
    """A wrong value is named at once, before anything runs."""
    with pytest.raises(UsageError, match=named):
        ScanOptions(**wrong)


def test_settings_of_a_phase() -> None:
    """What decides a trace is handed on whole."""
    settings = ScanOptions(batch=2, seq_len=64, timeout_s=5, memory_mb=99).settings("float32")
    assert (settings.phase, settings.dtype, settings.batch) == ("forward", "float32", 2)
    assert (settings.seq_len, settings.timeout_s, settings.memory_mb) == (64, 5.0, 99)
