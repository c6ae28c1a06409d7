import os
import random

import numpy as np
import torch


def seed_everything(seed: int, deterministic: bool = True) -> None:
    random.seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed(seed)
        torch.cuda.manual_seed_all(seed)
    if deterministic:
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.benchmark = False
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"


def worker_init(worker_id):
    seed_everything(torch.initial_seed() % 2**32 + worker_id)


seed_everything(123)
dev = torch.device(f"cuda:{torch.cuda.current_device()}") if torch.cuda.is_available() else torch.device("cpu")
weights = torch.nn.init.normal_(torch.empty(4, 4, device=dev))
drop = torch.nn.functional.dropout(torch.ones(4, 4, device=dev), 0.5)
print((weights * drop).shape, random.random(), float(np.random.rand()))
