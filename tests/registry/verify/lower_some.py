"""Lowers a few calls where the wheel is; prints what came of them as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

from op_registry.build.device import initialise

initialise()

import torch  # noqa: E402

from op_registry.build.samples.handmade.declare import call, handmade_samples  # noqa: E402
from op_registry.toolchain.programs import digest  # noqa: E402
from op_registry.verify.joint import joint  # noqa: E402
from op_registry.verify.lowering import Lowered, lower  # noqa: E402
from op_registry.verify.values import expected  # noqa: E402

_ATEN = torch.ops.aten
_X = torch.rand(3, 4)
_ONES = [torch.ones(3) for _ in range(4)]
_TRAINING = True


def told(func: Any, sample: Any) -> dict[str, Any]:
    """Return what lowering gave, with values only to see what was written to."""
    right = expected(func, sample, torch.float32)
    answer = lower(func, sample, right.hidden if right else frozenset())
    if not isinstance(answer, Lowered):
        return {"cause": answer.cause, "message": answer.message}
    return {
        "digest": digest(answer.program) if answer.program else None,
        "inputs": len(answer.inputs),
        "outputs": len(answer.outputs),
        "host_integers": answer.host_integers,
    }


def gradient(func: Any, sample: Any) -> dict[str, Any]:
    """Return the same for forward and backward."""
    made = joint(func, sample)
    assert made is not None
    return told(*made)


def main() -> None:
    """Lower each kind of call once."""
    norm = call(torch.randn(4, 3, 2), *_ONES, _TRAINING, 0.1, 1e-5)
    steps = next(iter(handmade_samples("aten._fused_sgd_.default", torch.float32)))
    packed = handmade_samples("aten.lstm.data", torch.float32)[0]
    found = {
        "abs": told(_ATEN.abs.default, call(_X)),
        "abs_": told(_ATEN.abs_.default, call(_X)),
        "abs.out": told(_ATEN.abs.out, call(_X, out=torch.empty(0))),
        "sgd": told(_ATEN._fused_sgd_.default, steps),
        "norm": told(_ATEN.native_batch_norm.default, norm),
        "zeros": told(_ATEN.zeros.default, call([2, 3])),
        "size": told(_ATEN.is_same_size.default, call(_X, _X)),
        "packed": told(_ATEN.lstm.data, packed),
        "mish": told(_ATEN.mish.default, call(_X)),
        "nonzero": told(_ATEN.nonzero.default, call(_X)),
        "rand": told(_ATEN.rand_like.default, call(_X)),
        "mm": told(_ATEN.mm.default, call(*[torch.ones(2, 2, dtype=torch.int64)] * 2)),
        "pool": gradient(_ATEN.avg_pool1d.default, call(torch.rand(1, 2, 6), [2])),
        "exp": gradient(_ATEN.exp.default, call(_X)),
        "lstm": gradient(_ATEN.lstm.data, packed),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
