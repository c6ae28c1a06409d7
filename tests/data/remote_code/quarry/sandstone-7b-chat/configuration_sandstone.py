# Copyright (c) Quarry Labs.

from transformers import PretrainedConfig


class SandstoneConfig(PretrainedConfig):
    model_type = "sandstone"
    keys_to_ignore_at_inference = ["past_key_values"]

    def __init__(
        self,
        vocab_size=151936,
        hidden_size=4096,
        num_hidden_layers=32,
        num_attention_heads=32,
        emb_dropout_prob=0.0,
        layer_norm_epsilon=1e-6,
        seq_length=8192,
        bf16=False,
        fp16=False,
        rotary_pct=1.0,
        **kwargs,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.emb_dropout_prob = emb_dropout_prob
        self.layer_norm_epsilon = layer_norm_epsilon
        self.seq_length = seq_length
        self.bf16 = bf16
        self.fp16 = fp16
        self.rotary_pct = rotary_pct
        super().__init__(**kwargs)
