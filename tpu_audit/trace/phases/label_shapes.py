"""How large labels are: tokens, classes, frames, pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from tpu_audit.trace.phases.labels import Head

_TRANSCRIPT = 4
"""Tokens of what is said in a sound: fewer than any sound has frames."""
_SIDE = 224


def image(head: Head) -> tuple[int, int]:
    """Return height and width of the images that the model is given."""
    pixels = head.inputs.get("pixel_values")
    if isinstance(pixels, torch.Tensor):
        return int(pixels.shape[-2]), int(pixels.shape[-1])
    return _SIDE, _SIDE


def patches(head: Head) -> int | None:
    """Return how many patches an image is cut into, None where the config does not say."""
    size = getattr(head.config, "patch_size", None)
    if not isinstance(size, int) or "pixel_values" not in head.inputs:
        return None
    height, width = image(head)
    count = (height // size) * (width // size)
    frames, tube = (getattr(head.config, name, None) for name in ("num_frames", "tubelet_size"))
    return count * (frames // tube) if frames and tube else count


def frames(head: Head) -> int | None:
    """Return how many frames the encoder makes of a sound, None where the model does not say."""
    count = getattr(head.model, "_get_feat_extract_output_lengths", None)
    sound = next(
        (head.inputs[n] for n in ("input_values", "input_features") if n in head.inputs), None
    )
    if sound is None or count is None:
        return None
    return int(count(torch.tensor([sound.shape[-1]]))[0])


def tokens(head: Head) -> torch.Tensor | None:
    """One label a token that the head sees."""
    decodes = getattr(head.config, "is_encoder_decoder", False)
    names = ("decoder_input_ids", "input_ids") if decodes else ("input_ids", "decoder_input_ids")
    ids = next((head.inputs[n] for n in names if n in head.inputs), None)
    if not isinstance(ids, torch.Tensor):
        return None
    return head.zeros(*ids.shape)


def _transcript(head: Head) -> torch.Tensor | None:
    if not head.is_a("CTC", "RNNT", "TDT"):
        return None
    return head.zeros(head.batch, _TRANSCRIPT) + 1


def _pixel_classes(head: Head) -> torch.Tensor | None:
    if not head.is_a("SEMANTIC_SEGMENTATION"):
        return None
    return head.zeros(head.batch, *image(head))


def _choice(head: Head) -> torch.Tensor | None:
    named = head.name.endswith(("MultipleChoice", "NextSentencePrediction"))
    return head.zeros(head.batch) if named else None


def _token_classes(head: Head) -> torch.Tensor | None:
    named = head.is_a("TOKEN_CLASSIFICATION") or head.name.endswith("TokenClassification")
    return tokens(head) if named else None


def _answer_scores(head: Head) -> torch.Tensor | None:
    if not head.is_a("VISUAL_QUESTION_ANSWERING") or not head.name.endswith("QuestionAnswering"):
        return None
    return head.zeros(head.batch, head.classes, dtype=torch.float32)


def _frame_classes(head: Head) -> torch.Tensor | None:
    if not head.is_a("AUDIO_FRAME_CLASSIFICATION"):
        return None
    length = frames(head)
    return None if length is None else head.zeros(head.batch, length, head.classes)


_CLASSIFIES = (
    "SEQUENCE_CLASSIFICATION",
    "IMAGE_CLASSIFICATION",
    "VIDEO_CLASSIFICATION",
    "AUDIO_CLASSIFICATION",
    "AUDIO_XVECTOR",
    "ZERO_SHOT_IMAGE_CLASSIFICATION",
)


def _classes(head: Head) -> torch.Tensor | None:
    named = head.name.endswith(("Classification", "Teacher", "XVector"))
    if not head.is_a(*_CLASSIFIES) and not named:
        return None
    problem = getattr(head.config, "problem_type", None)
    if problem == "multi_label_classification":
        return head.zeros(head.batch, head.classes, dtype=torch.float32)
    if problem == "regression" or (problem is None and head.classes == 1):
        return head.zeros(head.batch, dtype=torch.float32)
    return head.zeros(head.batch)


BY_TASK: tuple[Callable[[Head], Any], ...] = (
    _transcript,
    _pixel_classes,
    _choice,
    _token_classes,
    _answer_scores,
    _frame_classes,
    _classes,
    tokens,
)
"""What gives the labels of a task, the most special first; None: not its task."""
