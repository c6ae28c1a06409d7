"""What a test for CUDA guards."""

from __future__ import annotations

import pytest

from tests.support.python_code import module_of
from tpu_audit.rules.python.guards import Guarded, guard_of

TEST = "torch.cuda.is_available()"
GUARDED = {
    "raise": (f"if not {TEST}:\n    raise E", Guarded.DEMAND),
    "raise at the end": (f"if not {TEST}:\n    x = 1\n    raise E", Guarded.DEMAND),
    "exit": (f"if not {TEST}:\n    sys.exit(1)", Guarded.DEMAND),
    "else raise": (f"if {TEST}:\n    go()\nelse:\n    raise E", Guarded.DEMAND),
    "assert": (f"assert {TEST}, 'needs a GPU'", Guarded.DEMAND),
    "and raise": (f"if not {TEST} and not x.is_available():\n    raise E", Guarded.WAY),
    "raise with CUDA": (f"if {TEST}:\n    raise E", Guarded.WAY),
    "cache": (f"if {TEST}:\n    torch.cuda.empty_cache()", Guarded.EXTRA),
    "seeds": (
        f"if {TEST}:\n    torch.cuda.manual_seed_all(0)\n    torch.backends.cudnn.tune(1)",
        Guarded.EXTRA,
    ),
    "message": (f"if {TEST}:\n    logger.info('x')", Guarded.EXTRA),
    "nested": (f"if {TEST}:\n    for i in x:\n        torch.cuda.empty_cache()", Guarded.EXTRA),
    "cache and a way": (f"if {TEST}:\n    torch.cuda.empty_cache()\n    go()", Guarded.WAY),
    "cache or else": (f"if {TEST}:\n    torch.cuda.empty_cache()\nelse:\n    go()", Guarded.WAY),
    "several": ("if torch.cuda.device_count() > 1:\n    go()", Guarded.EXTRA),
    "way": (f"if {TEST}:\n    go()", Guarded.WAY),
    "flag": (f"x = {TEST}", Guarded.WAY),
    "ternary": (f"x = 1 if {TEST} else 2", Guarded.WAY),
}


@pytest.mark.parametrize(("source", "guarded"), GUARDED.values(), ids=GUARDED)
def test_guard_of(source: str, guarded: Guarded) -> None:
    """A demand is told from an extra, and both from a way of its own."""
    module = module_of(source)
    (use,) = [*module.index.attributes.get("is_available", [])[:1]] or [
        module.index.attributes["device_count"][0]
    ]
    assert guard_of(use, module) is guarded
