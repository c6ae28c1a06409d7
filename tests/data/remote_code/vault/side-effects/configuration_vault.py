import os
from pathlib import Path

from transformers import PretrainedConfig

Path(os.environ["VAULT_WAS_RUN"]).write_text("configuration")


class VaultConfig(PretrainedConfig):
    model_type = "vault"
