"""Labels for a training step, by what the head of the model predicts."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace.phases import label_shapes as shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tpu_audit.trace.phases.interface import Subject

    Labels = dict[str, Any]
    Maker = Callable[["Head"], Labels | None]


class Head:
    """What the makers of labels ask of a model."""

    def __init__(self, subject: Subject) -> None:
        self.name = type(subject.model).__name__
        self.model: Any = subject.model
        self.config: Any = subject.config
        self.inputs = subject.inputs
        self.device = subject.device
        self.batch = subject.settings.batch
        self.names = inspect.signature(subject.model.forward).parameters
        self.kinds = _kinds().get(self.name, frozenset())

    def takes(self, *names: str) -> bool:
        """Tell whether forward names all of these parameters."""
        return all(name in self.names for name in names)

    def is_a(self, *kinds: str) -> bool:
        """Tell whether the class is listed for one of these tasks: ``TOKEN_CLASSIFICATION``."""
        return not self.kinds.isdisjoint(kinds)

    def zeros(self, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """Return labels of class 0."""
        return torch.zeros(shape, dtype=dtype, device=self.device)

    @property
    def classes(self) -> int:
        """How many classes the head tells apart."""
        return int(getattr(self.config, "num_labels", None) or 2)


@functools.cache
def _kinds() -> Mapping[str, frozenset[str]]:
    """Return class -> tasks that transformers lists it for."""
    from transformers.models.auto import modeling_auto

    found: dict[str, set[str]] = {}
    for name, mapping in vars(modeling_auto).items():
        if name.startswith("MODEL_FOR_") and name.endswith("_MAPPING_NAMES"):
            task = name.removeprefix("MODEL_FOR_").removesuffix("_MAPPING_NAMES")
            for classes in mapping.values():
                for one in [classes] if isinstance(classes, str) else classes:
                    found.setdefault(one, set()).add(task)
    return {name: frozenset(tasks) for name, tasks in found.items()}


def _answers(head: Head) -> Labels | None:
    """Give the first and last token of an answer."""
    if not head.takes("start_positions", "end_positions"):
        return None
    return {name: head.zeros(head.batch) for name in ("start_positions", "end_positions")}


def _pretraining(head: Head) -> Labels | None:
    """Give what pretraining predicts besides tokens: whether sentences belong together."""
    sentence = {
        name: head.zeros(head.batch)
        for name in ("next_sentence_label", "sentence_order_label")
        if name in head.names
    }
    if not sentence or not head.takes("labels"):
        return None
    return {"labels": shapes.tokens(head), **sentence}


def _contrast(head: Head) -> Labels | None:
    """Let the model contrast its texts and images itself."""
    return {"return_loss": True} if head.takes("return_loss") else None


def _speech_pretraining(head: Head) -> Labels | None:
    """Mask spans of speech, and draw distractors for them."""
    if not head.takes("mask_time_indices") or head.takes("labels") or not head.is_a("PRETRAINING"):
        return None
    length = shapes.frames(head)
    if length is None:
        return None
    found = {"mask_time_indices": head.zeros(head.batch, length, dtype=torch.bool)}
    found["mask_time_indices"][:, ::2] = True
    if head.takes("sampled_negative_indices"):
        negatives = int(getattr(head.config, "num_negatives", 1))
        found["sampled_negative_indices"] = head.zeros(head.batch, length, negatives)
    return found


def _masked_image(head: Head) -> Labels | None:
    """Mask half of an image's patches."""
    patches = shapes.patches(head)
    if not head.is_a("MASKED_IMAGE_MODELING") or not head.takes("bool_masked_pos") or not patches:
        return None
    mask = head.zeros(head.batch, patches, dtype=torch.bool)
    mask[:, ::2] = True
    return {"bool_masked_pos": mask}


def _masks(head: Head) -> Labels | None:
    """Outline one object an image."""
    if not head.takes("mask_labels", "class_labels"):
        return None
    height, width = shapes.image(head)
    mask = functools.partial(head.zeros, 1, height, width, dtype=torch.float32)
    return {
        "mask_labels": [mask() for _ in range(head.batch)],
        "class_labels": [head.zeros(1) for _ in range(head.batch)],
    }


def _objects(head: Head) -> Labels | None:
    """Box one object an image."""
    detects = ("OBJECT_DETECTION", "ZERO_SHOT_OBJECT_DETECTION", "INSTANCE_SEGMENTATION")
    segments = head.is_a("IMAGE_SEGMENTATION", "INSTANCE_SEGMENTATION")
    boxed = head.is_a(*detects) or segments or head.name.endswith(("Detection", "Segmentation"))
    if not head.takes("labels") or not boxed or head.is_a("SEMANTIC_SEGMENTATION"):
        return None

    def one() -> Labels:
        box = torch.full((1, 4), 0.5, device=head.device)
        found = {"class_labels": head.zeros(1), "boxes": box}
        if segments or head.name.endswith("Segmentation"):
            found["masks"] = head.zeros(1, *shapes.image(head), dtype=torch.float32)
        return found

    return {"labels": [one() for _ in range(head.batch)]}


def _plain(head: Head) -> Labels | None:
    """Give labels of the shape that the task has."""
    if not head.takes("labels"):
        return None
    for shape in shapes.BY_TASK:
        labels = shape(head)
        if labels is not None:
            return {"labels": labels}
    return None


_MAKERS: tuple[Maker, ...] = (
    _answers,
    _pretraining,
    _contrast,
    _speech_pretraining,
    _masked_image,
    _masks,
    _objects,
    _plain,
)


def make_labels(subject: Subject) -> Labels:
    """Return the arguments of forward that make the model compute its own loss; may be empty."""
    head = Head(subject)
    found = (made for maker in _MAKERS if (made := maker(head)) is not None)
    labels = next(found, {})
    return {name: value for name, value in labels.items() if name not in subject.inputs}
