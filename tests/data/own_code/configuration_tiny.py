"""The config of a model whose classes are its repository's own."""

from typing import Any

from transformers import PretrainedConfig


class TinyConfig(PretrainedConfig):
    """Sizes of the model."""

    model_type = "tiny_own"

    def __init__(
        self,
        vocab_size: int = 64,
        hidden_size: int = 16,
        num_hidden_layers: int = 2,
        **other: Any,
    ) -> None:
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        super().__init__(**other)
