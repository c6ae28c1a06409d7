from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field, replace

import torch


@dataclass
class ModelConfig:
    width: int = 24
    depth: int = 2


@dataclass
class TrainConfig:
    """What a run needs."""

    device: str = "cuda"  # or cpu
    dtype: str = "float32"
    compile: bool = False
    model: ModelConfig = field(default_factory=ModelConfig)


def build(cfg: TrainConfig) -> torch.nn.Module:
    layers = [torch.nn.Linear(cfg.model.width, cfg.model.width) for _ in range(cfg.model.depth)]
    return torch.nn.Sequential(*layers).to(device=cfg.device, dtype=getattr(torch, cfg.dtype))


def main(overrides: dict[str, str]) -> None:
    cfg = replace(TrainConfig(), **overrides)
    torch.manual_seed(3)
    model = build(cfg)
    x = torch.ones(2, cfg.model.width, device=cfg.device)
    y = model(x)
    print(json.dumps(asdict(cfg.model)), tuple(y.shape), sum(p.numel() for p in model.parameters()))


if __name__ == "__main__":
    main(dict(pair.split("=") for pair in sys.argv[1:]))
