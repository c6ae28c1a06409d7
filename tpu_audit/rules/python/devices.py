"""Places that take a device: arguments of torch.device, .to, device=, map_location and others."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tpu_audit.rules.python.options import keyword

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.python.possible import Possible

"""What a fix writes for a process group's backend."""


class SinkKind(StrEnum):
    """What takes the device."""

    DEVICE = "torch.device"
    TO = "to"
    KEYWORD = "keyword"
    """``device=`` of any call: factory functions, modules, pipelines."""
    MAP_LOCATION = "map_location"
    DEVICE_MAP = "device_map"
    GENERATOR = "generator"
    DEFAULT = "default"
    """``torch.set_default_device``."""
    AUTOCAST = "autocast"
    """The device type of ``torch.autocast`` and its like."""
    ENTRY = "entry"
    """An entry of a dict or a subscript, under a key named like a device."""
    ASSIGNED = "assigned"
    """A variable or attribute named like a device; where its value goes is not known."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DeviceSink:
    """One expression that is taken for a device."""

    kind: SinkKind
    node: ast.expr
    """The device."""
    call: ast.Call | None
    """The call that takes it; None for an assignment or an entry."""


_KEYWORDS = {
    "device": SinkKind.KEYWORD,
    "torch_device": SinkKind.KEYWORD,
    "target_device": SinkKind.KEYWORD,
    "hw_accel": SinkKind.KEYWORD,
    "map_location": SinkKind.MAP_LOCATION,
    "device_map": SinkKind.DEVICE_MAP,
}
_KEYS = frozenset({"device", "torch_device", "target_device", "train_device", "eval_device"})
_FIRST_ARGUMENT = {
    "torch.device": (SinkKind.DEVICE, "device", "type"),
    "torch.Generator": (SinkKind.GENERATOR, "device"),
    "torch.set_default_device": (SinkKind.DEFAULT, "device"),
    "torch.autocast": (SinkKind.AUTOCAST, "device_type"),
    "torch.amp.GradScaler": (SinkKind.AUTOCAST, "device"),
    "torch.distributed.device_mesh.init_device_mesh": (SinkKind.DEVICE, "device_type"),
    "torch.distributed.init_device_mesh": (SinkKind.DEVICE, "device_type"),
    "torch.distributed.device_mesh.DeviceMesh": (SinkKind.DEVICE, "device_type"),
    "torch.distributed.DeviceMesh": (SinkKind.DEVICE, "device_type"),
}
_LATER_ARGUMENT = {
    "torch.load": (SinkKind.MAP_LOCATION, 1),
    "torch.jit.load": (SinkKind.MAP_LOCATION, 1),
    "torch.hub.load_state_dict_from_url": (SinkKind.MAP_LOCATION, 2),
    "safetensors.torch.load_file": (SinkKind.KEYWORD, 1),
    "safetensors.safe_open": (SinkKind.KEYWORD, 2),
}
"""The place of the device among the positional arguments, from 0."""


def is_cuda(possible: Possible) -> bool:
    """Tell whether a constant names a CUDA device: ``cuda``, ``cuda:0``, ``cuda:`` and a hole."""
    value = possible.value
    return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))


def is_indexed(possible: Possible) -> bool:
    """Tell whether a CUDA device's constant names an index."""
    return is_cuda(possible) and str(possible.value) != "cuda"


def find_sinks(module: Module) -> tuple[DeviceSink, ...]:
    """Return all places of a module that take a device of PyTorch's, each once."""
    if module.libraries.is_jax:
        return ()
    found: dict[ast.expr, DeviceSink] = {}
    for sink in _all(module):
        if not module.libraries.of_call(sink.call):
            found.setdefault(sink.node, sink)
    return tuple(found.values())


def _all(module: Module) -> Iterator[DeviceSink]:
    yield from _named(module)
    yield from _moves(module)
    yield from _keywords(module)
    yield from _loads(module)
    yield from _entries(module)
    yield from _assigned(module)


def _named(module: Module) -> Iterator[DeviceSink]:
    for name, (kind, *words) in _FIRST_ARGUMENT.items():
        for call in module.uses.called(name):
            node = call.args[0] if call.args else keyword(call, *words)
            if node is not None:
                yield DeviceSink(kind=SinkKind(kind), node=node, call=call)


def _moves(module: Module) -> Iterator[DeviceSink]:
    for attribute in module.index.attributes.get("to", ()):
        call = module.parent(attribute)
        if isinstance(call, ast.Call) and call.func is attribute and call.args:
            yield DeviceSink(kind=SinkKind.TO, node=call.args[0], call=call)


def _keywords(module: Module) -> Iterator[DeviceSink]:
    for word, kind in _KEYWORDS.items():
        for argument in module.index.keywords.get(word, ()):
            call = module.parent(argument)
            if isinstance(call, ast.Call):
                yield DeviceSink(kind=kind, node=argument.value, call=call)


def _loads(module: Module) -> Iterator[DeviceSink]:
    for name, (kind, place) in _LATER_ARGUMENT.items():
        for call in module.uses.called(name):
            if len(call.args) > place:
                yield DeviceSink(kind=kind, node=call.args[place], call=call)


def _entries(module: Module) -> Iterator[DeviceSink]:
    for literal in module.index.of(ast.Dict):
        for key, value in zip(literal.keys, literal.values, strict=True):
            if isinstance(key, ast.Constant) and key.value in _KEYS:
                yield DeviceSink(kind=SinkKind.ENTRY, node=value, call=None)
    for store in module.index.of(ast.Subscript):
        if isinstance(store.ctx, ast.Store) and getattr(store.slice, "value", None) in _KEYS:
            statement = module.parent(store)
            if isinstance(statement, ast.Assign):
                yield DeviceSink(kind=SinkKind.ENTRY, node=statement.value, call=None)


def _assigned(module: Module) -> Iterator[DeviceSink]:
    for statement in module.index.of(ast.Assign):
        if any(module.is_device(target) for target in statement.targets):
            yield DeviceSink(kind=SinkKind.ASSIGNED, node=statement.value, call=None)
    for callee in module.index.names.get("setattr", ()):
        call = module.parent(callee)
        given = call.args if isinstance(call, ast.Call) else []
        if len(given) == 3 and getattr(given[1], "value", None) in _KEYS:  # noqa: PLR2004 - of setattr
            yield DeviceSink(kind=SinkKind.ASSIGNED, node=given[2], call=None)
    for annotated in module.index.of(ast.AnnAssign):
        if annotated.value is not None and module.is_device(annotated.target):
            yield DeviceSink(kind=SinkKind.ASSIGNED, node=annotated.value, call=None)
