from torch import nn

from ..config import OrchardConfig
from .rope import rotate


class OrchardBlock(nn.Module):
    def __init__(self, config: OrchardConfig):
        super().__init__()
        self.proj = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        return x + self.proj(rotate(x))
