"""Runs one call on fakes, and for real beside it where all its values are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

from tpu_audit.trace import guesses, shadow

aten = torch.ops.aten
_INDEXED = {aten.index.Tensor, aten.index_put_.default, aten.index_put.default}
_UNINITIALISED = {
    aten.empty.memory_format,
    aten.empty_strided.default,
    aten.empty_like.default,
    aten.new_empty.default,
    aten.new_empty_strided.default,
    aten.empty_permuted.default,
}
_MASKS = (torch.bool, torch.uint8)


class Outcome(NamedTuple):
    """What a call gave."""

    out: Any
    guessed: bool = False
    host_read: bool = False
    """The host learnt a value or a size from the device."""


class _Traits(NamedTuple):
    """What the schema of an op says of its values."""

    reads_data: bool
    random: bool
    mutable: bool


_traits: dict[Any, _Traits] = {}


def traits(func: Any) -> _Traits:
    """Look the traits of an overload up, once per overload."""
    found = _traits.get(func)
    if found is None:
        tags = func.tags
        dynamic = torch.Tag.dynamic_output_shape in tags and func not in _INDEXED
        tagged = dynamic or torch.Tag.data_dependent_output in tags
        reads = tagged or func._schema.name in guesses.UNTAGGED
        random = torch.Tag.nondeterministic_seeded in tags
        found = _traits[func] = _Traits(reads, random, func._schema.is_mutable)
    return found


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Outcome:
    """Run ``func`` on fakes, keeping known values known and answering reads of data."""
    of = traits(func)
    if of.reads_data and not _size_given(func, kwargs):
        return _read(func, args, kwargs)
    host_read = guessed = False
    if func in _INDEXED:
        args, host_read, guessed = _masks_to_indices(func, args)
    if func is aten.split_with_sizes.default and (even := _evenly(*args, **kwargs)):
        args, guessed = (args[0], even, *args[2:]), True
    out = func(*args, **kwargs)
    drawn_on_device = of.random and not _on_host(out)
    known = not drawn_on_device and _compute_beside(func, args, kwargs, out)
    if of.mutable and not known:
        _spoil_written(func, args, kwargs)
    return Outcome(out, guessed=guessed, host_read=host_read)


def _on_host(out: Any) -> bool:
    """Tell whether a result is the host's own: what it draws, it draws from a known seed."""
    leaves = [leaf for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor)]
    return all(leaf.device.type == "cpu" for leaf in leaves)


def _size_given(func: Any, kwargs: dict[str, Any]) -> bool:
    return func is aten.repeat_interleave.Tensor and kwargs.get("output_size") is not None


def _compute_beside(func: Any, args: Any, kwargs: Any, out: Any) -> bool:
    """Compute the call for real if it is known and small, and attach the result."""
    if any(isinstance(a, torch.Tensor) and shadow.known_value(a) is None for a in args):
        return False  # most calls: on activations
    flat, spec = tree_flatten((args, kwargs))
    tensors = [t for t in (*flat, *tree_leaves(out)) if isinstance(t, torch.Tensor)]
    if not all(shadow.small(t) for t in tensors):
        return False
    if func in _UNINITIALISED and out.dtype.is_floating_point:
        return False  # a parameter to be: the checkpoint decides
    known, value = shadow.compute(func, flat, spec)
    if known and func in _UNINITIALISED:
        with unset_fake_temporarily():
            value.zero_()  # never read before it is written; zero keeps runs alike
    if known:
        shadow.attach_all(out, value)
    return known


def _evenly(x: torch.Tensor, split_sizes: list[int], dim: int = 0, **_: Any) -> list[int] | None:
    return guesses.spread(split_sizes, x.shape[dim])


def _spoil_written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        for tensor in tree_leaves(value):
            if isinstance(tensor, torch.Tensor):
                shadow.spoil(tensor)


def _read(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Outcome:
    flat, spec = tree_flatten((args, kwargs))
    device = next((t.device for t in flat if isinstance(t, torch.Tensor)), torch.device("cpu"))
    known, value = shadow.compute(func, flat, spec)
    if known:
        return Outcome(_on_device(value, device), host_read=True)
    answered, value = guesses.guess(func, args, kwargs)
    if not answered:
        return Outcome(func(*args, **kwargs), host_read=True)
    return Outcome(value, guessed=True, host_read=True)


def _masks_to_indices(func: Any, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], bool, bool]:
    """Replace boolean masks by the indices they select; (args, read, guessed)."""
    indices = list(args[1])
    if not any(isinstance(i, torch.Tensor) and i.dtype in _MASKS for i in indices):
        return args, False, False
    values = args[2] if func is not aten.index.Tensor else None
    guessed = False
    new: list[Any] = []
    for index in indices:
        if not isinstance(index, torch.Tensor) or index.dtype not in _MASKS:
            new.append(index)
            continue
        mask = shadow.known_value(index)
        if mask is None:
            guessed = True
            new += guesses.selected_by(index, values)
        else:
            new += _selected(mask, index.device)
    return (args[0], new, *args[2:]), True, guessed


def _selected(mask: torch.Tensor, device: torch.device) -> list[Any]:
    """Return the indices that a known mask selects; of a large one only how many they are."""
    if mask.numel() > shadow.MAX_INTEGERS:
        with unset_fake_temporarily():
            count = int(mask.sum())
        return [torch.empty(count, dtype=torch.int64, device=device) for _ in mask.shape]
    with unset_fake_temporarily():
        found = [i.clone() for i in mask.nonzero(as_tuple=True)]
    return [_on_device(i, device) for i in found]


def _on_device(value: Any, device: torch.device) -> Any:
    """Wrap the real tensors of a result as known fakes on ``device``."""

    def wrap(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        fake = torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype, device=device)
        shadow.attach(fake, leaf)
        return fake

    return tree_map(wrap, value)
