"""Components of diffusers pipelines, from their configs to their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.configs import LIBRARIES
from tests.support.libraries import component, ops, specs, trace

if TYPE_CHECKING:
    from pathlib import Path

    from op_registry.schema import Snapshot
    from tpu_audit.types.trace import Trace

pytest.importorskip("diffusers", reason="needs the extra diffusers")

SDPA = "aten._scaled_dot_product_cudnn_attention.default"


def _inputs(found: Trace, op: str) -> list[tuple[int, ...]]:
    """Return the shapes of the first tensor of the calls of ``op``, in order."""
    return [use.inputs[0].shape for use in found.ops if use.op == op]


def test_flux(tmp_path: Path, snapshot: Snapshot) -> None:
    """FLUX.1 attends over 4096 latent and 512 text tokens together; T5 reads 512, CLIP 77."""
    parts = specs(LIBRARIES / "flux", tmp_path)
    transformer = trace(parts["transformer"], snapshot)
    assert transformer.architecture == "FluxTransformer2DModel"
    assert (1, 2, 4096 + 512, 16) in _inputs(transformer, SDPA)
    assert any("4096 latent tokens, text 512 tokens" in text for text in transformer.assumptions)
    assert "1 x 512 tokens" in trace(parts["text_encoder_2"], snapshot).assumptions[-1]
    assert "1 x 77 tokens" in trace(parts["text_encoder"], snapshot).assumptions[-1]
    assert transformer.applies == ("forward", "train")[: len(transformer.applies)]


def test_decoding(tmp_path: Path, snapshot: Snapshot) -> None:
    """Of an autoencoder the decoder is run, at the size that its pipeline makes, as the model's."""
    found = trace(specs(LIBRARIES / "flux", tmp_path)["vae"], snapshot)
    assert _inputs(found, "aten.convolution.default")[0] == (1, 16, 128, 128)
    modules = {name for use in found.ops for name in use.modules}
    assert not any(name.startswith("encoder") for name in modules)
    assert {use.role.value for use in found.ops} == {"model"}
    assert found.applies == ("forward",)


def test_wan(tmp_path: Path, snapshot: Snapshot) -> None:
    """Wan sees 21 x 30 x 52 patches; what it keeps in float32 stays so, as when it is loaded."""
    found = trace(specs(LIBRARIES / "wan", tmp_path)["transformer"], snapshot)
    assert (1, 2, 21 * 30 * 52, 16) in _inputs(found, SDPA)
    linear = [use for use in found.ops if use.op == "aten.linear.default"]
    embedder = [use for use in linear if "condition_embedder.time_embedder.linear_1" in use.modules]
    assert {ref.dtype for use in embedder for ref in use.inputs} == {"float32"}
    assert {ref.dtype for ref in linear[-1].inputs} == {"bfloat16"}


SMALL_UNET: dict[str, Any] = {
    "_class_name": "UNet2DConditionModel",
    "sample_size": 8,
    "block_out_channels": [8, 16],
    "down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"],
    "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D"],
    "cross_attention_dim": 16,
    "attention_head_dim": 4,
    "layers_per_block": 1,
    "norm_num_groups": 4,
}
SDXL = {
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 8,
    "projection_class_embeddings_input_dim": 6 * 8 + 16,
}
REFINER = {**SDXL, "projection_class_embeddings_input_dim": 5 * 8 + 1280}
CONTROL = {
    key: value for key, value in SMALL_UNET.items() if key not in {"up_block_types", "sample_size"}
}
VAE = {
    "block_out_channels": [8],
    "down_block_types": ["DownEncoderBlock2D"],
    "up_block_types": ["UpDecoderBlock2D"],
    "norm_num_groups": 4,
    "layers_per_block": 1,
}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (SMALL_UNET, "latents 4x8x8, text 77 tokens"),
        ({**SMALL_UNET, **SDXL}, "latents 4x8x8, text 77 tokens"),
        ({**SMALL_UNET, **REFINER}, "latents 4x8x8, text 77 tokens"),
        ({**SMALL_UNET, "in_channels": 9}, "latents 9x8x8, text 77 tokens"),
        ({**SMALL_UNET, "num_class_embeds": 1000}, "latents 4x8x8, text 77 tokens"),
        ({**CONTROL, "_class_name": "ControlNetModel"}, "control image 512x512"),
        (
            {
                "_class_name": "UNet2DModel",
                "sample_size": 16,
                "block_out_channels": [8, 16],
                "down_block_types": ["DownBlock2D", "AttnDownBlock2D"],
                "up_block_types": ["AttnUpBlock2D", "UpBlock2D"],
                "norm_num_groups": 4,
                "layers_per_block": 1,
            },
            "sample 3x16x16",
        ),
        (
            {
                "_class_name": "SD3Transformer2DModel",
                "sample_size": 16,
                "num_layers": 1,
                "attention_head_dim": 8,
                "num_attention_heads": 2,
                "joint_attention_dim": 16,
                "caption_projection_dim": 16,
                "pooled_projection_dim": 16,
            },
            "latents 16x16x16, text 333 tokens",
        ),
        (
            {
                "_class_name": "QwenImageTransformer2DModel",
                "num_layers": 1,
                "attention_head_dim": 16,
                "num_attention_heads": 2,
                "joint_attention_dim": 16,
                "axes_dims_rope": [4, 6, 6],
            },
            "4096 latent tokens, text 512 tokens",
        ),
        (
            {
                "_class_name": "Flux2Transformer2DModel",
                "num_layers": 1,
                "num_single_layers": 1,
                "attention_head_dim": 16,
                "num_attention_heads": 2,
                "joint_attention_dim": 16,
                "timestep_guidance_channels": 16,
                "axes_dims_rope": [4, 4, 4, 4],
            },
            "4096 latent tokens, text 512 tokens",
        ),
        (
            {
                "_class_name": "CogVideoXTransformer3DModel",
                "num_layers": 1,
                "attention_head_dim": 16,
                "num_attention_heads": 2,
                "text_embed_dim": 16,
                "sample_height": 8,
                "sample_width": 8,
                "sample_frames": 9,
                "use_rotary_positional_embeddings": True,
            },
            "latents 3x16x8x8, text 226 tokens",
        ),
        ({**VAE, "_class_name": "AutoencoderKL", "sample_size": 16}, "decodes latents 4x16x16"),
        ({**VAE, "_class_name": "VQModel", "num_vq_embeddings": 16}, "decodes latents 3x32x32"),
    ],
)
def test_classes(snapshot: Snapshot, config: dict[str, Any], said: str) -> None:
    """Each class runs to the end on what its builder makes, with diffusers' own checks on."""
    found = trace(component(config), snapshot)
    assert found.architecture == config["_class_name"]
    assert any(said in text for text in found.assumptions)
    assert found.parameters > 0
    assert found.ops
    assert not any(use.guesses for use in found.ops)


def test_a_decoder_takes_its_neighbours_size(snapshot: Snapshot) -> None:
    """The latents are as large as the pipeline's denoiser makes them, whatever the own config."""
    config = {**VAE, "_class_name": "AutoencoderKL", "sample_size": 512}
    spec = component(config, component="vae", siblings={"unet": SMALL_UNET, "vae": config})
    assert _inputs(trace(spec, snapshot), "aten.convolution.default")[0] == (1, 4, 8, 8)


def test_batches(snapshot: Snapshot) -> None:
    """A batch of two gives every input twice."""
    found = trace(component({**SMALL_UNET, **SDXL}), snapshot, batch=2)
    assert _inputs(found, "aten.convolution.default")[0] == (2, 4, 8, 8)


def test_quantised_component(snapshot: Snapshot) -> None:
    """A component's quantisation is left out of the build, and said."""
    config = {**SMALL_UNET, "quantization_config": {"quant_method": "bitsandbytes"}}
    found = trace(component(config), snapshot)
    assert any("unquantised" in text for text in found.assumptions)
    assert ops(found) == ops(trace(component(SMALL_UNET), snapshot))
