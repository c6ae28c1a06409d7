# -*- coding: utf-8 -*-

from __future__ import annotations

from transformers.configuration_utils import PretrainedConfig


class KelpConfig(PretrainedConfig):

    model_type = 'kelp'

    def __init__(
        self,
        hidden_size: int = 2048,
        num_hidden_layers: int = 24,
        vocab_size: int = 50304,
        norm_eps: float = 1e-6,
        fuse_norm: bool = True,
        **kwargs
    ) -> KelpConfig:
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.vocab_size = vocab_size
        self.norm_eps = norm_eps
        self.fuse_norm = fuse_norm
        super().__init__(**kwargs)
