import torch
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel
from transformers.utils.import_utils import is_causal_conv1d_available, is_mamba_ssm_available

if is_mamba_ssm_available():
    from mamba_ssm.ops.selective_scan_interface import selective_scan_fn
else:
    selective_scan_fn = None

if is_causal_conv1d_available():
    from causal_conv1d import causal_conv1d_fn
else:
    causal_conv1d_fn = None

is_fast_path_available = all((selective_scan_fn, causal_conv1d_fn))


class ShoalConfig(PretrainedConfig):
    model_type = "shoal"


class ShoalMixer(nn.Module):
    def __init__(self, size=64):
        super().__init__()
        self.in_proj = nn.Linear(size, size)
        self.A_log = nn.Parameter(torch.zeros(size))

    def cuda_kernels_forward(self, hidden_states):
        return selective_scan_fn(hidden_states, self.A_log)

    def slow_forward(self, hidden_states):
        return hidden_states * torch.exp(-torch.exp(self.A_log))

    def forward(self, hidden_states):
        hidden_states = self.in_proj(hidden_states)
        if is_fast_path_available and "cuda" in self.in_proj.weight.device.type:
            return self.cuda_kernels_forward(hidden_states)
        return self.slow_forward(hidden_states)


class ShoalForCausalLM(PreTrainedModel):
    config_class = ShoalConfig

    def __init__(self, config):
        super().__init__(config)
        self.embed = nn.Embedding(100, 64)
        self.mixer = ShoalMixer()

    def forward(self, input_ids):
        return self.mixer(self.embed(input_ids))
