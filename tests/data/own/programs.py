"""Small programs of a user's own, in the styles that people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable


class Resize(nn.Module):
    """Resizes as image processors do, then convolves."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return features of ``image`` (N, 3, H, W)."""
        sized = functional.interpolate(image, size=(64, 64), mode="bilinear", antialias=True)
        return self.conv(sized)  # type: ignore[no-any-return]


def antialiased_resize() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """Return a module with example inputs."""
    return Resize(), (torch.rand(1, 3, 100, 80),)


def detection_loss() -> Callable[[], torch.Tensor]:
    """Return a training step of a detection head: box and class losses, backward, AdamW."""
    boxes = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
    classes = nn.Linear(64, 10)
    optimizer = torch.optim.AdamW([*boxes.parameters(), *classes.parameters()])
    queries, target = torch.rand(2, 25, 64), torch.rand(2, 25, 4)
    labels = torch.zeros(2, 25, dtype=torch.long)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = functional.smooth_l1_loss(boxes(queries).sigmoid(), target)
        loss = loss + functional.cross_entropy(classes(queries).flatten(0, 1), labels.flatten())
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def weighted_bags() -> Callable[[], torch.Tensor]:
    """Return a training step of an EmbeddingBag whose samples carry learnt weights."""
    bags = nn.EmbeddingBag(100, 16, mode="sum")
    weigh = nn.Embedding(100, 1)
    optimizer = torch.optim.SGD([*bags.parameters(), *weigh.parameters()], lr=0.1)
    ids = torch.arange(28).view(4, 7)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = bags(ids, per_sample_weights=weigh(ids).squeeze(-1)).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()  # type: ignore[no-any-return]

    return step


def scaled_gradients() -> Callable[[], torch.Tensor]:
    """Return a training step with a gradient scaler, as CUDA code in float16 has it."""
    model = nn.Linear(16, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("tpu")
    batch = torch.rand(8, 16)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()  # type: ignore[no-any-return]

    return step


def mish_in_place() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """Return a convolution as detectors of the YOLO kind have it: its activation in place."""
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.Mish(inplace=True)), (torch.rand(1, 3, 16, 16),)


class _Detector(nn.Module):
    """Scores boxes and keeps those that do not overlap, through torchvision's op."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(32, 5)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return the kept boxes of ``features`` (boxes, 32)."""
        out = self.head(features)
        low, size, scores = out[:, :2], out[:, 2:4].abs(), out[:, 4]
        boxes = torch.cat([low, low + size], dim=1)
        kept = torch.ops.torchvision.nms(boxes, scores, 0.5)
        return boxes[kept]


def _declare_nms() -> None:
    """Declare torchvision's op where torchvision is not installed."""
    if not hasattr(torch.ops.torchvision, "nms"):
        schema = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        torch.library.define("torchvision::nms", schema)


def suppressed_boxes() -> tuple[nn.Module, dict[str, torch.Tensor]]:
    """Return a detector that suppresses overlapping boxes; its inputs by name."""
    _declare_nms()
    return _Detector(), {"features": torch.rand(50, 32)}


def broken() -> None:
    """Fail, as a program with a typing error does."""
    raise KeyError("width")


def nothing() -> int:
    """Return no program."""
    return 3


def needs_inputs() -> nn.Module:
    """Return a module without the inputs that it takes."""
    return Resize()


def cuda_inside() -> Callable[[], Any]:
    """Return a program that asks for a GPU."""
    return lambda: torch.rand(3, device="cuda")
