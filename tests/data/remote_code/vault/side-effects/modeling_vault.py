import os
import subprocess
from pathlib import Path

import torch
from transformers import PreTrainedModel

from .configuration_vault import VaultConfig

Path(os.environ["VAULT_WAS_RUN"]).write_text("modeling")
subprocess.run(["touch", os.environ["VAULT_WAS_RUN"]])
ONES = torch.ones(1).cuda()


class VaultModel(PreTrainedModel):
    config_class = VaultConfig

    def forward(self, x):
        return x * ONES
