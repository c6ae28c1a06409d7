"""Folding of repeated layers."""

from __future__ import annotations

from tpu_audit.render.module_paths import collapse


def test_layers_become_a_range() -> None:
    """Twelve layers are one line, and a gap shows."""
    layers = [f"bert.encoder.layer.{index}.output" for index in (0, 1, 2, 5)]

    assert collapse(layers) == ("bert.encoder.layer.[0-2,5].output",)


def test_layers_in_layers() -> None:
    """Stages of blocks fold as far as they are alike; uneven stages stay apart."""
    paths = [f"stages.{s}.blocks.{b}.attn" for s, n in ((0, 2), (1, 2), (2, 6)) for b in range(n)]

    assert collapse(paths) == ("stages.[0-1].blocks.[0-1].attn", "stages.2.blocks.[0-5].attn")


def test_single_paths_stay() -> None:
    """What does not repeat is left as it is, in its order, once."""
    assert collapse(["b.0.c", "a", "b.0.c", ""]) == ("b.0.c", "a", "")
