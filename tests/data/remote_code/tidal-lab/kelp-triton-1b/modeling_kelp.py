# -*- coding: utf-8 -*-

from __future__ import annotations

import torch
import torch.nn as nn
from transformers.modeling_outputs import BaseModelOutput, CausalLMOutput
from transformers.modeling_utils import PreTrainedModel

from .configuration_kelp import KelpConfig
from .fused_norm import FusedRMSNorm


class KelpMixer(nn.Module):

    def __init__(self, config: KelpConfig) -> None:
        super().__init__()
        self.norm = FusedRMSNorm(config.hidden_size, eps=config.norm_eps)
        self.decay = nn.Parameter(torch.ones(config.hidden_size))
        self.proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = self.norm(x)
        state, out = torch.zeros_like(normed[:, 0]), []
        for t in range(normed.shape[1]):
            state = state * self.decay.sigmoid() + normed[:, t]
            out.append(state)
        return x + self.proj(torch.stack(out, dim=1))


class KelpPreTrainedModel(PreTrainedModel):

    config_class = KelpConfig
    supports_gradient_checkpointing = True
    _no_split_modules = ['KelpMixer']


class KelpModel(KelpPreTrainedModel):

    def __init__(self, config: KelpConfig) -> None:
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([KelpMixer(config) for _ in range(config.num_hidden_layers)])
        self.post_init()

    def forward(self, input_ids: torch.LongTensor, **kwargs) -> BaseModelOutput:
        hidden_states = self.embeddings(input_ids)
        for layer in self.layers:
            hidden_states = layer(hidden_states)
        return BaseModelOutput(last_hidden_state=hidden_states)


class KelpForCausalLM(KelpPreTrainedModel):

    def __init__(self, config: KelpConfig) -> None:
        super().__init__(config)
        self.model = KelpModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def forward(self, input_ids: torch.LongTensor, **kwargs) -> CausalLMOutput:
        return CausalLMOutput(logits=self.lm_head(self.model(input_ids).last_hidden_state))
