"""The model types of the installed transformers, and the two classes of each that are traced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_HEADS = (
    "CAUSAL_LM",
    "IMAGE_TEXT_TO_TEXT",
    "MULTIMODAL_LM",
    "SEQ_TO_SEQ_CAUSAL_LM",
    "SPEECH_SEQ_2_SEQ",
    "MASKED_LM",
    "CTC",
    "RNNT",
    "TDT",
    "IMAGE_CLASSIFICATION",
    "OBJECT_DETECTION",
    "ZERO_SHOT_OBJECT_DETECTION",
    "UNIVERSAL_SEGMENTATION",
    "SEMANTIC_SEGMENTATION",
    "DEPTH_ESTIMATION",
    "AUDIO_CLASSIFICATION",
    "TEXT_TO_WAVEFORM",
    "TEXT_TO_SPECTROGRAM",
    "VIDEO_CLASSIFICATION",
    "ZERO_SHOT_IMAGE_CLASSIFICATION",
    "KEYPOINT_DETECTION",
    "KEYPOINT_MATCHING",
    "MASK_GENERATION",
    "IMAGE_TO_IMAGE",
    "TIME_SERIES_PREDICTION",
    "POSE_ESTIMATION",
    "VISUAL_QUESTION_ANSWERING",
    "TABLE_QUESTION_ANSWERING",
    "PRETRAINING",
    "SEQUENCE_CLASSIFICATION",
)
"""Tasks of the main head: what a model is published for comes before what it is tuned for later.
A type in none of these takes its first other task by name."""
_NO_HEADS = ("MODEL_FOR_BACKBONE", "MODEL_FOR_TEXT_ENCODING", "MODEL_FOR_IMAGE")
"""Mappings whose classes have no head: they count only where a type has nothing else."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AutoClass:
    """One class of a model type."""

    model_type: str
    name: str
    kind: str
    """``base``, or the task of the head in words: ``causal lm``."""

    @property
    def head(self) -> bool:
        """Whether it is the type's main head."""
        return self.kind != "base"


def auto_classes() -> list[tuple[str, list[AutoClass]]]:
    """Return every model type with an auto class, in order: its base class and its main head.

    The head is left out where it is the base class itself.
    """
    from transformers.models.auto import configuration_auto

    tables = _tables()
    found = [
        (name, _of_type(name, tables))
        for name in sorted(vars(configuration_auto)["CONFIG_MAPPING_NAMES"])
    ]
    return [(name, classes) for name, classes in found if classes]


Tables = Mapping[str, Mapping[str, str]]


def _tables() -> Tables:
    """Return mapping -> model type -> first class, ``MODEL`` for the base classes."""
    from transformers.models.auto import modeling_auto

    suffix = "_MAPPING_NAMES"
    return {
        name.removesuffix(suffix): {
            kind: one if isinstance(one, str) else one[0] for kind, one in value.items()
        }
        for name, value in vars(modeling_auto).items()
        if name.startswith("MODEL_") and name.endswith(suffix)
    }


def _of_type(model_type: str, tables: Tables) -> list[AutoClass]:
    base = tables["MODEL"].get(model_type)
    classes = [AutoClass(model_type=model_type, name=base, kind="base")] if base else []
    for table in _order(tables):
        name = tables[table].get(model_type)
        if name and name != base:
            kind = table.removeprefix("MODEL_FOR_").replace("_", " ").lower()
            return [*classes, AutoClass(model_type=model_type, name=name, kind=kind)]
    return classes


def _order(tables: Tables) -> list[str]:
    first = [f"MODEL_FOR_{task}" for task in _HEADS]
    rest = sorted(set(tables) - set(first) - set(_NO_HEADS) - {"MODEL"})
    return [name for name in (*first, *rest, *_NO_HEADS) if name in tables]
