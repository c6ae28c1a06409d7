# -*- coding: utf-8 -*-
import torch as th
import torch.nn.functional as F
from torch import cuda
from torch.cuda import is_available as has_gpu
from torch.cuda.amp import autocast as amp_autocast

GPU = has_gpu()
_where = {"device": "cuda" if GPU else "cpu"}


def to_dev(*tensors):
    """Move – all of them – in one go."""
    return tuple((t.float() / 2).cuda() if GPU else t.float() / 2 for t in tensors)


def norm(x, enabled=True):
    with amp_autocast(enabled=enabled, dtype=th.bfloat16):
        return F.layer_norm(x @ x.T, (x.shape[0],))


def count():
    return cuda.device_count() if cuda.is_available() else 1


a, b = to_dev(th.arange(12).reshape(3, 4), th.ones(3, 4, dtype=th.int64))
total = norm(a) + norm(b) + th.zeros(3, 3, **_where)
assert total.device.type == _where["device"].split(":")[0]
print("größe", tuple(total.shape), count())
