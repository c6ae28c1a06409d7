from transformers import PretrainedConfig


class FlashberryConfig(PretrainedConfig):
    model_type = "flashberry"

    def __init__(self, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
                 vocab_size=30528, use_flash_attn=True, **kwargs):
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.vocab_size = vocab_size
        self.use_flash_attn = use_flash_attn
        super().__init__(**kwargs)
