from transformers.configuration_utils import PretrainedConfig


class XformConfig(PretrainedConfig):
    model_type = "xform-encoder"

    def __init__(self, hidden_size=768, num_hidden_layers=12,
                 use_memory_efficient_attention=True, **kwargs):
        super().__init__(**kwargs)
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.use_memory_efficient_attention = use_memory_efficient_attention
