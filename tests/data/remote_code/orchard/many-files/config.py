from transformers import PretrainedConfig


class OrchardConfig(PretrainedConfig):
    model_type = "orchard"

    def __init__(self, hidden_size=256, **kwargs):
        super().__init__(**kwargs)
        self.hidden_size = hidden_size
