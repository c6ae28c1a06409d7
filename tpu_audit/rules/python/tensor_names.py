"""Names of PyTorch's that tell whether a value is a tensor, and where it lives."""

from __future__ import annotations

import re

FACTORIES = frozenset(
    f"torch.{name}"
    for name in (
        *("tensor", "as_tensor", "from_numpy", "asarray", "zeros", "ones", "empty", "full"),
        *("arange", "linspace", "logspace", "eye", "rand", "randn", "randint", "randperm"),
        *("normal", "tril_indices", "triu_indices", "hann_window", "hamming_window", "range"),
        *("Tensor", "FloatTensor", "LongTensor", "IntTensor", "BoolTensor", "ByteTensor"),
        *("DoubleTensor", "HalfTensor", "scalar_tensor", "frombuffer", "blackman_window"),
    )
)
"""Make a tensor on the host unless a device is named."""
NOT_TENSORS = re.compile(
    r"torch\.(?:is_|get_|set_|device$|dtype$|Size$|finfo$|iinfo$|Generator$|compile$|load$|save$"
    r"|no_grad|inference_mode|enable_grad|autocast|manual_seed|numel$|equal$|allclose$|seed$"
    r"|initial_seed|result_type|promote_types|can_cast|typename|broadcast_shapes|hub\.|jit\."
    r"|utils\.|distributed\.|backends\.|cuda\.|accelerator\.|tpu\.|optim\.|onnx\.|export\.|fx\."
    r"|profiler\.|autograd\.(?!grad$)|library\.|compiler\.|amp\.|_dynamo|_inductor|multiprocessing"
    r"|overrides|testing\.|nn\.(?!functional\.|Parameter$|utils\.rnn\.|utils\.clip_grad_norm_$|Buffer$)|ao\.|quantization"
    r"|version|hip|mps\.|xpu\.|random|storage|types|package|func\.functional_call$|_C\.|_check"
    r"|(?:float|int|uint|bfloat|complex)\d|half$|bool$|long$|short$|double$|cfloat$|cdouble$"
    r"|int$|float$|[a-z_]*sparse_coo$|strided$|channels_last|contiguous_format|preserve_format)"
)
"""Names below ``torch`` whose call or value is no tensor."""
HOST_RESULTS = frozenset(
    {
        *(
            "item",
            "get_seq_length",
            "tolist",
            "numpy",
            "size",
            "dim",
            "numel",
            "stride",
            "nelement",
            "ndimension",
        ),
        *("element_size", "data_ptr", "is_contiguous", "get_device", "is_floating_point"),
        *("is_complex", "storage_offset", "backward", "named_parameters", "parameters"),
        *("state_dict", "keys", "append", "startswith", "endswith", "join", "strip", "lower"),
        *("upper", "format", "encode", "decode", "read", "readlines", "exists", "group"),
    }
)
"""Methods whose result is on the host, or no tensor."""
TENSOR_METHODS = frozenset(
    {
        *("detach", "unsqueeze", "softmax", "log_softmax", "masked_fill", "masked_fill_"),
        *(
            "clone",
            "permute",
            "contiguous",
            "expand",
            "expand_as",
            "view_as",
            "type_as",
            "new_zeros",
        ),
        *("new_ones", "new_full", "new_tensor", "new_empty", "requires_grad_", "gather"),
        *("scatter", "scatter_", "scatter_add", "scatter_add_", "index_select", "index_add"),
        *("index_add_", "index_copy_", "masked_select", "topk", "sigmoid", "bmm", "float"),
        *("long", "half", "bfloat16", "double", "detach_", "eq", "ne", "gt", "lt", "ge", "le"),
        *("logical_and", "logical_or", "logical_not", "exp", "log", "sqrt", "rsqrt", "clamp"),
        *("clamp_", "clamp_min", "clamp_max", "abs", "pow", "relu", "tanh", "unbind", "chunk"),
        *("logsumexp", "isnan", "isinf", "isfinite", "matmul", "addmm", "mul_", "add_", "div_"),
        *("sub_", "narrow", "unfold", "tril", "triu", "amax", "amin", "norm", "mul", "div"),
        *("zero_", "fill_", "copy_", "uniform_", "normal_", "repeat_interleave", "floor"),
        *("ceil", "sign", "neg", "erf", "cos", "sin", "bernoulli", "multinomial", "roll"),
        *("movedim", "unflatten", "type", "index_fill", "index_fill_", "masked_scatter"),
    }
)
"""Methods that tensors have, and NumPy's arrays and Python's own types do not."""
TENSOR_EVIDENCE = frozenset(
    {
        *("detach", "backward", "unsqueeze", "requires_grad", "grad_fn", "masked_fill"),
        *("softmax", "log_softmax", "permute", "contiguous", "logsumexp", "type_as"),
        *("index_select", "unbind", "retain_grad", "requires_grad_", "expand_as", "cuda"),
        *("bfloat16", "new_zeros", "new_ones", "is_cuda", "masked_fill_", "expand", "cpu"),
    }
)
"""Attributes by whose use a name is taken for a tensor."""
REDUCTIONS = frozenset({"max", "min", "any", "all", "argmax", "argmin", "sum", "mean"})
"""Methods by which a parameter of ``forward`` is taken for a tensor."""
TENSOR_ATTRIBUTES = frozenset({"T", "mT", "H", "mH", "data", "grad", "real", "imag"})
"""Attributes of a tensor that are tensors."""
OUTPUTS = frozenset(
    {
        *("loss", "logits", "last_hidden_state", "pooler_output", "sample", "prev_sample"),
        *("logits_per_image", "logits_per_text", "image_embeds", "text_embeds", "pred_boxes"),
        *("start_logits", "end_logits", "prediction_logits", "latents"),
    }
)
"""Attributes of what models return that are tensors."""
MODEL = re.compile(
    r"(?:^|_)(?:model|net|network|criterion|loss_fn|loss_func|loss_function|encoder|decoder|unet"
    r"|vae|backbone|discriminator|generator|critic|actor|policy|transformer|classifier|head"
    r"|ddp|module|netG|netD|lm|student|teacher|embedder|text_encoder)$"
)
"""Names of modules that are called."""
INPUTS = frozenset(
    {
        *("x", "y", "q", "k", "v", "query", "key", "value", "input", "inputs", "input_ids"),
        *("hidden_states", "attention_mask", "pixel_values", "position_ids", "labels", "logits"),
        *("targets", "target", "tokens", "images", "image", "img", "feats", "features", "src"),
        *("tgt", "inputs_embeds", "encoder_hidden_states", "latents", "token_type_ids", "mask"),
        *("input_features", "query_states", "key_states", "value_states", "xs", "seq", "feat"),
        *("emb", "embs", "embeddings", "ids", "token_ids", "lens", "durations", "hidden", "memory"),
        *("logit", "probs", "coords", "points", "boxes", "wav", "waveform", "audio", "mel"),
        *("frames", "video", "z", "noise", "cond", "memory_mask", "src_mask", "tgt_mask"),
        *("input_tensor", "residual", "scores", "lengths", "padding_mask", "key_padding_mask"),
        *("h", "hx", "inp", "obs", "pred", "preds", "adj", "edge_index", "embeds", "text_embeds"),
        *("image_embeds", "input_embeds", "prompt_embeds"),
    }
)
"""Parameters of ``forward`` that are tensors as a rule."""
