import torch
import torch.nn as nn
from torch.cuda.amp import autocast, custom_bwd, custom_fwd
from transformers import PretrainedConfig, PreTrainedModel


class MeadowConfig(PretrainedConfig):
    model_type = "meadow_vit"

    def __init__(self, hidden_size=768, image_size=224, patch_size=16, **kwargs):
        super().__init__(**kwargs)
        self.hidden_size = hidden_size
        self.image_size = image_size
        self.patch_size = patch_size


class _TruncExp(torch.autograd.Function):
    @staticmethod
    @custom_fwd(cast_inputs=torch.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.exp(x)

    @staticmethod
    @custom_bwd
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.exp(x.clamp(-15, 15)).to(torch.device("cuda"))


trunc_exp = _TruncExp.apply


class MeadowViT(PreTrainedModel):
    config_class = MeadowConfig

    def __init__(self, config):
        super().__init__(config)
        size = config.patch_size
        self.patch_embed = nn.Conv2d(3, config.hidden_size, size, stride=size)
        self.attn = nn.MultiheadAttention(config.hidden_size, 12, batch_first=True)

    def forward(self, pixel_values):
        with autocast():
            x = self.patch_embed(pixel_values).flatten(2).transpose(1, 2)
            x = x + self.attn(x, x, x)[0]
        return trunc_exp(x.float())

    def benchmark(self, batch):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        self(batch)
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end)
