"""A BERT over unpadded batches."""

import torch
from flash_attn import flash_attn_varlen_qkvpacked_func
from flash_attn.bert_padding import pad_input, unpad_input
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from .configuration_flashberry import FlashberryConfig


class FlashberrySelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.num_attention_heads
        self.Wqkv = nn.Linear(config.hidden_size, 3 * config.hidden_size)
        self.out_proj = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x, cu_seqlens, max_seqlen):
        qkv = self.Wqkv(x)
        qkv = qkv.view(x.shape[0], 3, self.heads, -1)
        context = flash_attn_varlen_qkvpacked_func(qkv, cu_seqlens, max_seqlen)
        return self.out_proj(context.flatten(1))


class FlashberryModel(PreTrainedModel):
    config_class = FlashberryConfig

    def __init__(self, config):
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(
            [FlashberrySelfAttention(config) for _ in range(config.num_hidden_layers)]
        )
        self.post_init()

    def forward(self, input_ids, attention_mask=None, **kwargs):
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        batch, seqlen = input_ids.shape
        hidden = self.embeddings(input_ids)
        hidden, indices, cu_seqlens, max_seqlen, *_ = unpad_input(hidden, attention_mask)
        for layer in self.layers:
            hidden = hidden + layer(hidden, cu_seqlens, max_seqlen)
        return BaseModelOutput(last_hidden_state=pad_input(hidden, indices, batch, seqlen))
