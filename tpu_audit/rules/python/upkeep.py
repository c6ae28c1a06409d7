"""Code that prepares inputs, finishes outputs or exports: on the host, whatever calls it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from tpu_audit.rules.python.module import Module

_HOST_FILE = re.compile(
    r"(?:^|/)(?:image_|video_|audio_)?(?:processing|processor|feature_extraction|tokenization|convert)"
    r"[^/]*\.py$"
    r"|(?:^|/)(?:data|datasets?|dataloaders?|transforms?)/(?:[^/]*/)*[^/]*\.py$"
    r"|(?:^|/)(?:exporters?/(?:[^/]*/)*[^/]*|(?:torch2|onnx_)?export(?:er|ers)?(?:_[^/]*)?)\.py$"
    r"|(?:^|/)utils/export/[^/]*\.py$|(?:^|/)(?:plotting|plots?|visuali[sz](?:e|er|ation))\.py$"
)
_HOST_CLASS = re.compile(
    r"(?<!Logits)(?<!Attn)(?<!Attention)Processor(?:Fast|Pil)?$|FeatureExtractor$|Dataset$"
    r"|Tokenizer(?:Fast)?$|Collator|BatchSampler$|^(?:Onnx|ORT)"
)
_HOST_FUNCTION = re.compile(
    r"(?:pre|post)_?process|collate|__getitem__|decode_latents|to_pil|tokeni[sz]e|^_?prepare_image"
    r"|^_?(?:load|save|export|visuali[sz]e|plot|log|hash)_"
    r"|^_?to_(?:onnx|torchscript|tensorrt|executorch|openvino|coreml|tflite)"
)


def on_host(node: ast.AST, module: Module) -> bool:
    """Tell whether ``node`` is in code that prepares inputs or finishes outputs."""
    if _HOST_FILE.search(module.path):
        return True
    function, owner = module.context(node).function, module.classes.enclosing(node)
    if function is not None and _HOST_FUNCTION.search(function.name):
        return True
    return owner is not None and _HOST_CLASS.search(owner.name) is not None
