"""A model whose classes are its repository's own."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

from .configuration_tiny import TinyConfig


class TinyForCausalLM(PreTrainedModel):
    """Embeddings, linear layers with mish between them, a head."""

    config_class = TinyConfig

    def __init__(self, config: TinyConfig) -> None:
        super().__init__(config)
        size = config.hidden_size
        self.embed = nn.Embedding(config.vocab_size, size)
        self.layers = nn.ModuleList(nn.Linear(size, size) for _ in range(config.num_hidden_layers))
        self.head = nn.Linear(size, config.vocab_size, bias=False)
        self.post_init()

    def forward(self, input_ids: torch.Tensor, **_other: Any) -> CausalLMOutput:
        """Return logits of the next token."""
        x = self.embed(input_ids)
        for layer in self.layers:
            x = x + functional.mish(layer(x))
        return CausalLMOutput(logits=self.head(x))
