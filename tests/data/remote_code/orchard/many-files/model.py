from torch import nn
from transformers import PreTrainedModel

from . import ops
from .config import OrchardConfig
from .layers import (
    OrchardBlock,
)


class OrchardModel(PreTrainedModel):
    config_class = OrchardConfig

    def __init__(self, config):
        super().__init__(config)
        self.embed = nn.Embedding(1000, config.hidden_size)
        self.block = OrchardBlock(config)

    def forward(self, input_ids):
        return ops.scale(self.block(self.embed(input_ids)))
