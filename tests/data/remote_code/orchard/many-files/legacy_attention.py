"""The attention of the first release. Kept for reference; nothing imports it."""

import torch
from apex.normalization import FusedLayerNorm


class LegacyAttention(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm = FusedLayerNorm(size)

    def forward(self, x):
        return self.norm(x).cuda()
