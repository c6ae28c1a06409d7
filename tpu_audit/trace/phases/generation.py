"""Prefill and decode: the first two steps of the model's own ``generate()``.

Prefill is all that happens until the second step begins: preparing the inputs, the forward pass
over the prompt, choosing the first token. Decode is one step from there, in its steady state. Calls
outside the model's modules are bookkeeping.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace import guesses
from tpu_audit.trace.phases.interface import attempt, autocasting
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn

    from tpu_audit.trace.phases.interface import Subject

PREFILL = "prefill"
DECODE = "decode"
_TOKENS = 3
"""Tokens to ask for: prefill, the step that counts as decode, and one to end it."""
_NOT_FOR_GENERATE = ("labels", "use_cache", "return_dict", "cache_position", "position_ids")
_DECODER = "decoder_"
_LOOP = "transformers/generation/"
_ONE_STEP = "ForCTC"
"""What classes are called whose output is chosen for all positions at once."""
_OWN_LOOPS = {
    "SpeechT5ForTextToSpeech": ("transformers/models/speecht5/", "speecht5.decoder.prenet"),
}
"""Class with a loop of its own -> the code that asks whether it has ended, and what each step of
it begins with."""
_PLAIN = "generation_config"
_SEMANTIC = "semantic_generation_config"
"""What Bark's first part calls its generation config."""


class Enough(BaseException):
    """Ends a generation that has shown its steps; not an Exception, so that no model catches it."""


def can_generate(model: nn.Module) -> bool:
    """Tell whether the class has a ``generate()`` that runs it."""
    ask = getattr(model, "can_generate", None)
    return bool(callable(ask) and ask()) and callable(getattr(model, "generate", None))


def run(subject: Subject) -> None:
    """Generate until the second step has ended."""
    if not can_generate(subject.model):
        raise NotAuditedError(
            f"{type(subject.model).__name__} has no generate()",
            stage=Stage.BUILD,
            code="no_generation",
            skipped=True,
            hint="trace its forward phase",
        )
    arguments = arguments_of(subject)
    settled = settle(subject, subject.settings.kv_cache, _TOKENS)
    subject.assumptions.append(_say(settled, subject))
    generate: Any = subject.model.generate
    call = partial(generate, **arguments, **{_config_name(subject): settled})
    hint = "the config or generation_config.json may be incomplete"
    recorder = subject.recorder
    # Only generation's own questions are answered no: it asks whether the text has ended.
    loops = (_LOOP, *(path for path, _ in _OWN_LOOPS.values()))
    goes_on = guesses.answering(lambda: not subject.places.issuer().startswith(loops))
    recorder.enter(PREFILL)
    try:
        casting = autocasting(subject.settings)
        with torch.no_grad(), casting, goes_on, _steps(subject), contextlib.suppress(Enough):
            attempt(call, "generate", hint)
    finally:
        recorder.enter(None)
    if DECODE not in recorder.ledgers:
        _ended_at_once(subject)


def _ended_at_once(subject: Subject) -> None:
    """Tell of a ``generate()`` that reads all frames in one step: it has no decode."""
    name = type(subject.model).__name__
    if not name.endswith(_ONE_STEP):
        raise NotAuditedError(
            "generate() ended before it had decoded a second token",
            stage=Stage.TRACE,
            code="generate_ended",
        )
    said = f"generate() of {name} is a single step: it has no decode"
    subject.assumptions.append(said)
    if subject.settings.phase == DECODE:
        raise NotAuditedError(
            said, stage=Stage.TRACE, code="no_decode", skipped=True, hint="trace its prefill"
        )


def _loops(model: nn.Module) -> list[nn.Module]:
    """Return the modules that a loop of generation runs, step by step."""
    from transformers.generation.utils import GenerationMixin

    if (own := _OWN_LOOPS.get(type(model).__name__)) is not None:
        return [model.get_submodule(own[1])]
    return [module for module in model.modules() if isinstance(module, GenerationMixin)]


@contextlib.contextmanager
def _steps(subject: Subject) -> Iterator[None]:
    """Turn the page at each step: a call of the outermost module that generates."""
    depth = steps = 0

    def enter(_module: nn.Module, _args: Any) -> None:
        nonlocal depth, steps
        depth += 1
        if depth > 1:
            return
        steps += 1
        if steps == 2:  # noqa: PLR2004 - the second step
            subject.recorder.enter(DECODE)
        elif steps > 2:  # noqa: PLR2004
            raise Enough

    def leave(_module: nn.Module, _args: Any, _out: Any) -> None:
        nonlocal depth
        depth -= 1

    generating = _loops(subject.model)
    handles = [m.register_forward_pre_hook(enter) for m in generating]
    handles += [m.register_forward_hook(leave, always_call=True) for m in generating]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def arguments_of(subject: Subject) -> dict[str, Any]:
    """Return what a processor would give: no labels, no tokens for the decoder."""
    return {
        name: value
        for name, value in subject.inputs.items()
        if name not in _NOT_FOR_GENERATE and not name.startswith(_DECODER)
    }


def settle(subject: Subject, kv_cache: str, tokens: int) -> Any:
    """Return the model's own generation config, bounded to a few tokens, with this cache."""
    config = _own_config(subject)
    asked = {
        "max_length": None,
        "max_new_tokens": tokens,
        "min_length": 0,
        "min_new_tokens": None,
        "use_cache": True,
        "return_dict_in_generate": False,
        "cache_implementation": _CACHES[kv_cache],
        "disable_compile": True,  # the calls of eager execution are what is traced
    }
    for name, value in asked.items():
        setattr(config, name, value)
    _settle_tokens(config, subject)
    return config


_CACHES = {"dynamic": None, "static": "static"}


def _config_name(subject: Subject) -> str:
    generate: Any = subject.model.generate
    return _SEMANTIC if _SEMANTIC in inspect.signature(generate).parameters else _PLAIN


def _own_config(subject: Subject) -> Any:
    from transformers import GenerationConfig
    from transformers.models.bark.generation_configuration_bark import BarkSemanticGenerationConfig

    if _config_name(subject) == _SEMANTIC:
        length = subject.inputs["input_ids"].shape[1]  # what its processor pads a text to
        kind: Any = BarkSemanticGenerationConfig  # its constructor has no annotations
        return kind(max_input_semantic_length=length)
    given = subject.spec.generation_config
    if given:
        return GenerationConfig.from_dict(dict(given))
    return copy.deepcopy(subject.model.generation_config)


def _settle_tokens(config: Any, subject: Subject) -> None:
    """Fill in the token ids that a checkpoint's tokenizer would have settled."""
    end = config.eos_token_id
    if config.pad_token_id is None and end is not None:
        config.pad_token_id = end[0] if isinstance(end, list) else end
    decodes = getattr(subject.config, "is_encoder_decoder", False)
    if decodes and config.decoder_start_token_id is None and config.bos_token_id is None:
        config.decoder_start_token_id = 0
        subject.assumptions.append("decoder starts with token 0: the config names none")


def _say(config: Any, subject: Subject) -> str:
    how = "sampling" if getattr(config, "do_sample", False) else "greedy"
    if (getattr(config, "num_beams", None) or 1) > 1:
        how += f", {config.num_beams} beams"
    return f"generate(): {how}, {subject.settings.kv_cache} cache, one step of decode"
