"""A module with hooks and a trainer of our own, after Lightning."""

import torch
from torch import nn


class LitModule(nn.Module):
    automatic_optimization = True

    @property
    def device(self):
        return next(self.parameters()).device

    def training_step(self, batch, batch_idx):
        raise NotImplementedError


class Regressor(LitModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 1)
        self.register_buffer("scale", torch.full((1,), 0.5))

    def training_step(self, batch, batch_idx):
        x, y = batch
        if not self.device == x.device: raise ValueError("batch is elsewhere")
        return ((self.net(x) * self.scale - y) ** 2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


class Trainer:
    def __init__(self, accelerator="auto", precision=32):
        self.use_gpu = accelerator != "cpu" and torch.cuda.is_available()
        self.precision = precision

    def transfer(self, batch):
        return [(t + 0).cuda(non_blocking=True) if self.use_gpu else t for t in batch]

    def fit(self, module, batches):
        if self.use_gpu:
            module.cuda()
        optimizer = module.configure_optimizers()
        for index, batch in enumerate(batches):
            optimizer.zero_grad()
            loss = module.training_step(self.transfer(batch), index)
            loss.backward()
            optimizer.step()
            print("step=%d loss=%.4f" % (index, loss.item()))


torch.manual_seed(11)
Trainer().fit(Regressor(), [(torch.randn(5, 6), torch.randn(5, 1)) for _ in range(3)])
