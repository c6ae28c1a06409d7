"""diffusers pipelines: what their components are, and what is left out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.configs import CONFIGS, LIBRARIES, Options
from tpu_audit.sources.resolve import resolve

if TYPE_CHECKING:
    from pathlib import Path

UNET = {"_class_name": "UNet2DConditionModel", "_diffusers_version": "0.1", "sample_size": 8}


def test_components(options: Options) -> None:
    """Each component has its own class, library and config; schedulers and tokenizers have none."""
    spec = resolve(str(LIBRARIES / "flux"), options())
    found = [(part.component, part.library, part.architecture) for part in spec.components]
    assert found == [
        ("text_encoder", "transformers", "CLIPTextModel"),
        ("text_encoder_2", "transformers", "T5EncoderModel"),
        ("transformer", "diffusers", "FluxTransformer2DModel"),
        ("vae", "diffusers", "AutoencoderKL"),
    ]
    assert (spec.library, spec.architecture) == ("diffusers", "FluxPipeline")
    transformer = spec.components[2]
    assert transformer.siblings["vae"]["block_out_channels"] == [8, 16]
    assert transformer.id == spec.id


def test_a_component_without_its_config(options: Options) -> None:
    """A component that the index names and whose folder is missing stays, without a config."""
    spec = resolve(str(CONFIGS / "briaai/BRIA-3.2"), options())
    assert [part.component for part in spec.components] == ["text_encoder", "transformer", "vae"]
    assert all(part.config == {} for part in spec.components)
    assert any("transformer/config.json was ignored" in note for note in spec.notes)
    assert spec.components[1].home == "transformer_bria"


def test_the_index_decides_the_class(tmp_path: Path, options: Options) -> None:
    """The class that the index names loads the folder, whatever the folder's config says."""
    index = {"enc": ["transformers", "CLIPTextModelWithProjection"], "w": [None, None], "n": 3}
    (tmp_path / "model_index.json").write_text(json.dumps(index))
    (tmp_path / "enc").mkdir()
    config = {"architectures": ["CLIPTextModel"], "model_type": "clip_text_model"}
    (tmp_path / "enc/config.json").write_text(json.dumps(config))
    (part,) = resolve(str(tmp_path), options()).components
    assert (part.component, part.architecture) == ("enc", "CLIPTextModelWithProjection")


@pytest.mark.parametrize("name", ["unet", "transformer"])
def test_folders_without_an_index(tmp_path: Path, options: Options, name: str) -> None:
    """A repository that holds nothing but a component's folder is read as that component."""
    (tmp_path / name).mkdir()
    (tmp_path / name / "config.json").write_text(json.dumps(UNET))
    (part,) = resolve(str(tmp_path), options()).components
    assert (part.component, part.architecture) == (name, "UNet2DConditionModel")


def test_a_config_beside_the_index(tmp_path: Path, options: Options) -> None:
    """The folder is the pipeline; its config.json, given by path, is that one model."""
    index = {"unet": ["diffusers", "UNet2DConditionModel"]}
    (tmp_path / "model_index.json").write_text(json.dumps(index))
    (tmp_path / "config.json").write_text(json.dumps(UNET))
    assert len(resolve(str(tmp_path), options()).components) == 1
    alone = resolve(str(tmp_path / "config.json"), options())
    assert (alone.components, alone.architecture) == ((), "UNet2DConditionModel")
    by_index = resolve(str(tmp_path / "model_index.json"), options())
    assert [part.component for part in by_index.components] == ["unet"]
