from transformers import PretrainedConfig


class AtticConfig(PretrainedConfig):
    model_type = "attic"
