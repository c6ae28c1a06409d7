# Copyright (c) Quarry Labs.

import math
from typing import List, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.utils import logging

from .configuration_sandstone import SandstoneConfig
from .sandstone_generation_utils import make_context

logger = logging.get_logger(__name__)


class SandstoneAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.hidden_size = config.hidden_size
        self.num_heads = config.num_attention_heads
        self.head_dim = self.hidden_size // self.num_heads
        self.c_attn = nn.Linear(config.hidden_size, 3 * config.hidden_size)
        self.c_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        causal = torch.tril(torch.ones((config.seq_length, config.seq_length), dtype=torch.bool))
        self.register_buffer("bias", causal.view(1, 1, *causal.shape), persistent=False)

    def _attn(self, query, key, value):
        weights = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(self.head_dim)
        length = query.size(-2)
        mask = self.bias[:, :, :length, :length]
        weights = torch.where(mask, weights, torch.full([], torch.finfo(weights.dtype).min).cuda())
        return torch.matmul(F.softmax(weights, dim=-1), value)

    def forward(self, hidden_states, rotary):
        batch, length, _ = hidden_states.shape
        query, key, value = self.c_attn(hidden_states).split(self.hidden_size, dim=2)
        query, key, value = (
            t.view(batch, length, self.num_heads, self.head_dim).transpose(1, 2)
            for t in (query, key, value)
        )
        out = self._attn(query * rotary, key * rotary, value)
        return self.c_proj(out.transpose(1, 2).reshape(batch, length, self.hidden_size))


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, length):
        positions = torch.arange(length, device=self.inv_freq.device)
        freqs = torch.outer(positions, self.inv_freq)
        return torch.cat((freqs, freqs), dim=-1).cos()


class SandstoneLMHeadModel(PreTrainedModel):
    config_class = SandstoneConfig

    def __init__(self, config):
        super().__init__(config)
        if config.bf16 and not torch.cuda.is_bf16_supported():
            logger.warning("Your device does NOT seem to support bf16.")
        self.wte = nn.Embedding(config.vocab_size, config.hidden_size)
        self.rotary_emb = RotaryEmbedding(config.hidden_size // config.num_attention_heads)
        self.h = nn.ModuleList(
            [SandstoneAttention(config) for _ in range(config.num_hidden_layers)]
        )
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def forward(self, input_ids: torch.LongTensor = None, **kwargs):
        hidden_states = self.wte(input_ids)
        rotary = self.rotary_emb(input_ids.size(1))
        for block in self.h:
            hidden_states = hidden_states + block(hidden_states, rotary)
        return CausalLMOutputWithPast(logits=self.lm_head(hidden_states))

    @torch.no_grad()
    def chat(
        self, tokenizer, query: str, history: Optional[List[Tuple[str, str]]] = None
    ) -> Tuple[str, List]:
        context = make_context(tokenizer, query, history or [])
        inputs = torch.tensor([context]).cuda()
        outputs = self.generate(inputs)
        torch.cuda.empty_cache()
        return tokenizer.decode(outputs[0].tolist()), history
