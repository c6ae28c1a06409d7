"""Real processors of vision-language models, made without the hub: a tiny vocabulary of words."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

IMAGE = 90
"""Id of the placeholder, ``<image>``, in the vocabulary."""
_VOCABULARY = 100
_NAMED = {
    IMAGE: "<image>",
    91: "<video>",
    93: "<begin>",
    94: "<end>",
    95: "<break>",
    96: "<fake_token_around_image>",
    97: "<global-img>",
    98: "<end_of_utterance>",
    99: "<pad>",
}
_SIDE = {"height": 32, "width": 32}


def tokenizer() -> Any:
    """Make a fast tokenizer of words, with the names under which processors ask for tokens."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from transformers import PreTrainedTokenizerFast

    words = {_NAMED.get(i, f"word{i}"): i for i in range(_VOCABULARY)}
    core = Tokenizer(WordLevel(words, unk_token="word0"))  # noqa: S106 - no password
    core.pre_tokenizer = WhitespaceSplit()
    asked = {
        "image_token": "<image>",
        "video_token": "<video>",
        "boi_token": "<begin>",
        "eoi_token": "<end>",
        "start_image_token": "<begin>",
        "end_image_token": "<end>",
        "context_image_token": "<image>",
    }
    made = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # transformers'
        tokenizer_object=core,
        unk_token="word0",  # noqa: S106
        pad_token="<pad>",  # noqa: S106
        bos_token="word1",  # noqa: S106
        extra_special_tokens=asked,
    )
    made.add_special_tokens({"additional_special_tokens": list(_NAMED.values())})
    return made


def _llava() -> Any:
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
    from transformers.models.llava.processing_llava import LlavaProcessor

    images = CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size=_SIDE)
    return LlavaProcessor(  # type: ignore[no-untyped-call]  # transformers'
        images,
        tokenizer(),
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )


def _llava_next() -> Any:
    from transformers.models.llava_next import image_processing_pil_llava_next as module
    from transformers.models.llava_next.processing_llava_next import LlavaNextProcessor

    images = module.LlavaNextImageProcessorPil(
        size={"shortest_edge": 32}, crop_size=_SIDE, image_grid_pinpoints=[[32, 64], [64, 64]]
    )
    return LlavaNextProcessor(  # type: ignore[no-untyped-call]  # transformers'
        images,
        tokenizer(),
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )


def _qwen(processor: str, family: str, patch: int) -> Callable[[], Any]:
    def make() -> Any:
        from transformers.models.qwen2_vl import image_processing_pil_qwen2_vl as module

        images = module.Qwen2VLImageProcessorPil(
            patch_size=patch, merge_size=2, temporal_patch_size=2
        )
        # Not from the package: that hides what it thinks needs torchvision.
        home = importlib.import_module(f"transformers.models.{family}.processing_{family}")
        return _without_video(getattr(home, processor), images)

    return make


def _without_video(kind: Any, images: Any, **more: Any) -> Any:
    """Make a processor whose video part, which needs torchvision, is not there."""

    class WithoutVideo(kind):  # type: ignore[misc]
        def check_argument_for_proper_class(self, name: str, argument: Any) -> Any:
            """Let the missing part pass."""
            if argument is not None:
                return super().check_argument_for_proper_class(name, argument)
            return None

    return WithoutVideo(images, tokenizer(), None, **more)


def _gemma3() -> Any:
    from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
    from transformers.models.gemma3.processing_gemma3 import Gemma3Processor

    return Gemma3Processor(Gemma3ImageProcessorPil(size=_SIDE), tokenizer(), image_seq_length=4)


def _paligemma() -> Any:
    from transformers.models.paligemma.processing_paligemma import PaliGemmaProcessor
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

    images: Any = SiglipImageProcessorPil(size=_SIDE)
    images.image_seq_length = 16
    return PaliGemmaProcessor(images, tokenizer())  # type: ignore[no-untyped-call]  # transformers'


def _idefics3() -> Any:
    from transformers.models.idefics3 import image_processing_pil_idefics3 as module
    from transformers.models.idefics3.processing_idefics3 import Idefics3Processor

    images = module.Idefics3ImageProcessorPil(
        do_image_splitting=False, size={"longest_edge": 32}, max_image_size={"longest_edge": 32}
    )
    return Idefics3Processor(images, tokenizer(), image_seq_len=4)


def _internvl() -> Any:
    from transformers.models.got_ocr2 import image_processing_pil_got_ocr2 as module
    from transformers.models.internvl.processing_internvl import InternVLProcessor

    images = module.GotOcr2ImageProcessorPil(size=_SIDE, crop_to_patches=False)
    return _without_video(InternVLProcessor, images, image_seq_length=4)


def _aya_vision() -> Any:
    from transformers.models.aya_vision.processing_aya_vision import AyaVisionProcessor
    from transformers.models.got_ocr2 import image_processing_pil_got_ocr2 as module

    images = module.GotOcr2ImageProcessorPil(size=_SIDE, crop_to_patches=False)
    return AyaVisionProcessor(
        images,
        tokenizer(),
        patch_size=8,
        img_size=32,
        downsample_factor=2,
        image_token="<ask>",  # noqa: S106
        img_patch_token="<image>",  # noqa: S106
        start_of_img_token="<begin>",  # noqa: S106
        end_of_img_token="<end>",  # noqa: S106
        tile_token="word2",  # noqa: S106
        tile_global_token="word3",  # noqa: S106
    )


def _mistral3() -> Any:
    from transformers.models.pixtral.image_processing_pil_pixtral import PixtralImageProcessorPil
    from transformers.models.pixtral.processing_pixtral import PixtralProcessor

    images = PixtralImageProcessorPil(size={"longest_edge": 32}, patch_size=8)
    return PixtralProcessor(
        images,
        tokenizer(),
        patch_size=8,
        spatial_merge_size=2,
        image_token="<image>",  # noqa: S106
        image_break_token="<break>",  # noqa: S106
        image_end_token="<end>",  # noqa: S106
    )


PROCESSORS: Mapping[str, Callable[[], Any]] = {
    "aya_vision": _aya_vision,
    "gemma3": _gemma3,
    "idefics3": _idefics3,
    "internvl": _internvl,
    "llava": _llava,
    "llava_next": _llava_next,
    "mistral3": _mistral3,
    "paligemma": _paligemma,
    "qwen2_5_vl": _qwen("Qwen2_5_VLProcessor", "qwen2_5_vl", 14),
    "qwen2_vl": _qwen("Qwen2VLProcessor", "qwen2_vl", 14),
    "qwen3_vl": _qwen("Qwen3VLProcessor", "qwen3_vl", 16),
}
"""Family -> its processor, for the small config of the family in the tests."""
NEED_TORCHVISION = {"mistral3"}
_ASKS = {"aya_vision": "<ask> word7", "gemma3": "<begin> word7", "internvl": "<image> word7"}


def count_placeholders(family: str, height: int, width: int) -> tuple[int, Any]:
    """Return the placeholders that the family's processor writes for an image, and its inputs."""
    import numpy as np

    processor = PROCESSORS[family]()
    image = np.zeros((height, width, 3), dtype=np.uint8)
    text = _ASKS.get(family, "<image> word7")
    made = processor(images=[image], text=[text], return_tensors="pt")
    return int((made["input_ids"] == IMAGE).sum()), made
