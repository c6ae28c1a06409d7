"""Why a published parameter count may differ from the count of the class that is traced.

Every reason is arithmetic on the model's own tensors. A difference counts as explained when the
terms of one reason, or of a few together, add up to it exactly.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.census.weights import Layer, Tensors, Weights, layers_of, size

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOLERANCE = 5000
_BLOCK = 128
_NVFP4_GROUP = 16
_MXFP4_GROUP = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One model whose counts differ."""

    ours: int
    theirs: int
    config: Mapping[str, Any]
    """Of the text model."""
    weights: Weights
    quantised: bool
    """The checkpoint is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    """Something that one count holds and the other does not."""

    what: str = ""
    amount: int = 0
    layer: Layer | None = None
    """The layer that the term adds, where it adds one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Terms, and what they leave unexplained."""

    terms: tuple[Term, ...]
    rest: int

    def __str__(self) -> str:
        """Write the terms with their amounts."""
        return "; ".join(f"{t.what} ({t.amount:+,})" for t in self.terms)


def explain(case: Case) -> Reason | None:
    """Return the reason with the fewest terms that leaves nothing, else the one that leaves least.

    None when even that leaves more than 1 / :data:`_TOLERANCE` of the count.
    """
    reasons = [_whole(case, term) for term in _published_otherwise(case)]
    reasons += _sums(case)
    best = min(reasons, key=lambda r: (abs(r.rest), len(r.terms)), default=None)
    return best if best and abs(best.rest) <= case.theirs / _TOLERANCE else None


def _whole(case: Case, term: Term) -> Reason:
    return Reason(terms=(term,), rest=case.theirs - case.ours - term.amount)


def _sums(case: Case) -> Iterator[Reason]:
    for stored, more in itertools.product(_stored(case), _more_layers(case)):
        for packed in _packed(case, more.layer):
            terms = tuple(term for term in (stored, more, packed) if term.amount)
            rest = case.theirs - case.ours - sum(term.amount for term in terms)
            yield Reason(terms=terms, rest=rest)


def _published_otherwise(case: Case) -> Iterator[Term]:
    """Yield published numbers that are no count of tensors."""
    for digits in (1, 2, 3):
        rounded = round(case.ours, digits - len(str(case.ours)))
        if rounded == case.theirs:
            what = f"published number is rounded to {digits} digits"
            yield Term(what=what, amount=rounded - case.ours)
    for what, estimate in _estimates(case.config):
        yield Term(what=what, amount=estimate - case.ours)


def _estimates(config: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    names = ("hidden_size", "num_hidden_layers", "vocab_size", "num_attention_heads")
    if not all(isinstance(config.get(name), int) for name in names):
        return
    hidden, layers, vocab, heads = (config[name] for name in names)
    if inner := config.get("intermediate_size") or config.get("ffn_dim"):
        estimate = layers * (4 * hidden**2 + 2 * hidden * inner) + vocab * hidden
        yield "published number is an estimate, layers x (4h^2 + 2hi) + vh", estimate
    experts, width = config.get("num_experts"), config.get("moe_intermediate_size")
    if experts and width:
        head, pairs = config.get("head_dim", hidden // heads), config["num_key_value_heads"]
        shared = config.get("shared_expert_intermediate_size", 0)
        layer = 2 * hidden * head * (heads + pairs) + experts * hidden * (3 * width + 1)
        estimate = layers * (layer + 3 * hidden * shared) + 2 * vocab * hidden
        yield "published number is an estimate: attention everywhere, no norms", estimate


def _stored(case: Case) -> Iterator[Term]:
    """Yield tensors of the checkpoint that are no parameters, or the same one twice."""
    config = case.config
    yield Term()
    if kept := size(case.weights.kept_buffers):
        yield Term(what="stored buffers", amount=kept)
    if positions := config.get("max_position_embeddings"):
        yield Term(what="stored position_ids", amount=positions)
    if context := config.get("n_ctx"):
        amount = config["n_layer"] * context**2
        yield Term(what="stored causal masks, one a layer", amount=amount)
    hidden, vocab = config.get("hidden_size"), config.get("vocab_size")
    if hidden and vocab:
        yield Term(what="tied output head stored again", amount=vocab * hidden)
    if hidden and (heads := config.get("num_attention_heads")):
        amount = config["num_hidden_layers"] * (hidden // heads // 2)
        yield Term(what="stored rotary frequencies, one set a layer", amount=amount)
    if shared := _shared_keys(layers_of(case.weights)):
        scalars = {n: s for n, s in case.weights.kept_buffers.items() if "layer_scalar" in n}
        what = "stored keys and values of layers that use another's, and layer scalars"
        yield Term(what=what, amount=shared + size(scalars))


def _shared_keys(layers: list[Layer]) -> int:
    """Count what layers without keys would have of them: as those with queries as wide."""
    own: dict[tuple[int, ...], int] = {}
    total = 0
    for layer in layers:
        queries = next((s for n, s in layer.mixing.items() if "q_proj" in n), ())
        keys = {n: s for n, s in layer.mixing.items() if re.search("k_proj|v_proj|k_norm", n)}
        if keys:
            own[queries] = size(keys)
        else:
            total += own.get(queries, 0)
    return total


def _more_layers(case: Case) -> Iterator[Term]:
    """Yield layers that predict further tokens: in the checkpoint, not in the class."""
    yield Term()
    layers = layers_of(case.weights)
    hidden, vocab = case.config.get("hidden_size"), case.config.get("vocab_size")
    if not layers or not hidden or not vocab:
        return
    experts = case.config.get("n_routed_experts") or 0
    shapes = {_key(layer): layer for layer in _possible(layers)}
    for layer, number, tables in itertools.product(shapes.values(), (1, 3), (0, 1, 2)):
        own = size(layer.mixing) + size(layer.feeding) + size(layer.rest)
        for bias in {0, experts}:
            amount = number * (own + 2 * hidden**2 + 3 * hidden + bias) + tables * vocab * hidden
            what = "1 layer" if number == 1 else f"{number} layers"
            also = f" with {tables} embedding tables" if tables else ""
            what = f"{what} of multi-token prediction{also}"
            yield Term(what=what, amount=amount, layer=_repeated(layer, number))


def _possible(layers: list[Layer]) -> Iterator[Layer]:
    """Join the mixing of one layer to the feeding of another, and layers that are either."""
    mixing = {size(layer.mixing): layer for layer in layers}
    feeding = {size(layer.feeding): layer for layer in layers}
    for one, other in itertools.product(mixing.values(), feeding.values()):
        yield Layer(mixing=one.mixing, feeding=other.feeding, rest=other.rest)
        plain = {name: shape for name, shape in one.mixing.items() if "sinks" not in name}
        yield Layer(mixing=plain, feeding=other.feeding, rest=other.rest)
    if set(mixing) == {0}:
        for one, other in itertools.combinations(feeding.values(), 2):
            yield Layer(mixing=one.feeding, feeding=other.feeding, rest={**one.rest, **other.rest})


def _key(layer: Layer) -> tuple[int, int, int]:
    return size(layer.mixing), size(layer.feeding), size(layer.rest)


def _repeated(layer: Layer, number: int) -> Layer:
    def times(tensors: Tensors) -> Tensors:
        return {f"{i}:{name}": shape for i in range(number) for name, shape in tensors.items()}

    return Layer(mixing=times(layer.mixing), feeding=times(layer.feeding), rest=times(layer.rest))


def _packed(case: Case, more: Layer | None) -> Iterator[Term]:
    """Yield what quantised checkpoints hold: scales beside weights, or two weights in a byte."""
    yield Term()
    if not case.quantised:
        return
    weights = _multiplied(case.weights)
    added = {**more.mixing, **more.feeding} if more else {}
    every = {**weights, **{n: s for n, s in added.items() if n.split(":")[1] in weights}}
    for left_out in ("lm_head", "weights_proj", "o_proj"):
        every = {name: shape for name, shape in every.items() if left_out not in name}
        amount = sum(_blocks(shape) for shape in every.values())
        also = f", {left_out} left out" if left_out != "lm_head" else ""
        yield Term(what=f"stored FP8 scales of 128 x 128 blocks{also}", amount=amount)
    yield from _four_bits(weights)


def _multiplied(weights: Weights) -> Tensors:
    """Weights that a quantiser takes: linear ones and stacks of experts."""
    return {
        name: shape
        for name, shape in weights.parameters.items()
        if (name in weights.linear or _stacked(name, shape)) and "vis" not in name
    }


def _stacked(name: str, shape: tuple[int, ...]) -> bool:
    """Whether these are the weights of all experts of a layer."""
    return ".experts." in name and len(shape) == 3


def _blocks(shape: tuple[int, ...]) -> int:
    rows, columns = (math.ceil(side / _BLOCK) for side in shape[-2:])
    return math.prod(shape[:-2]) * rows * columns


def _four_bits(weights: Tensors) -> Iterator[Term]:
    body = {name: shape for name, shape in weights.items() if "lm_head" not in name}
    chosen: dict[str, Tensors] = {
        "all linear weights": body,
        "all routed experts": {n: s for n, s in body.items() if _stacked(n, s)},
        "all MLPs and experts": {n: s for n, s in body.items() if "attn" not in n},
    }
    for what, tensors in chosen.items():
        total = size(tensors)
        scales = total // _NVFP4_GROUP
        yield Term(what=f"{what} packed, two in a byte", amount=-total // 2)
        yield Term(what=f"{what} packed, two in a byte, with scales", amount=scales - total // 2)
        yield Term(what=f"stored MXFP4 scales of {what}", amount=total // _MXFP4_GROUP)
