from transformers import PreTrainedConfig


class PlainGPTConfig(PreTrainedConfig):
    model_type = "plain_gpt"

    def __init__(
        self, hidden_size=512, num_attention_heads=8, num_hidden_layers=8, vocab_size=32000, **kwargs
    ):
        self.hidden_size = hidden_size
        self.num_attention_heads = num_attention_heads
        self.num_hidden_layers = num_hidden_layers
        self.vocab_size = vocab_size
        super().__init__(**kwargs)
