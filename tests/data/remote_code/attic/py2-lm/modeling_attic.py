import torch

from .layers_attic import AtticLayer


class AtticModel(torch.nn.Module):
    def forward(self, x):
        print "shape", x.size()
        return AtticLayer()(x)
