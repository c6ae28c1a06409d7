import torch


class AtticLayer(torch.nn.Module):
    def forward(self, x):
        return x.cuda()
