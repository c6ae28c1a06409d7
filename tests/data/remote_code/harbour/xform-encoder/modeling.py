import torch
import xformers.ops as xops
from torch import nn
from transformers.modeling_utils import PreTrainedModel

from .configuration import XformConfig


class XformAttention(nn.Module):
    def __init__(self, config: XformConfig):
        super().__init__()
        self.qkv = nn.Linear(config.hidden_size, 3 * config.hidden_size)
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x: torch.Tensor, lengths: list[int]) -> torch.Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, 12, -1)).unbind(-3)
        bias = xops.fmha.attn_bias.BlockDiagonalMask.from_seqlens(lengths)
        out = xops.memory_efficient_attention(q, k, v, attn_bias=bias)
        return self.o_proj(out.flatten(-2))


class XformEncoder(PreTrainedModel):
    config_class = XformConfig

    def __init__(self, config: XformConfig):
        super().__init__(config)
        self.embed = nn.Embedding(30522, config.hidden_size)
        self.layers = nn.ModuleList(XformAttention(config) for _ in range(config.num_hidden_layers))

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        x = self.embed(input_ids)
        lengths = attention_mask.sum(dim=1).tolist()
        for layer in self.layers:
            x = x + layer(x, lengths)
        return x
