"""One training step: forward in train mode, loss, backward, clipping of gradients, optimizer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves

from tpu_audit.trace.cuts import Cuts
from tpu_audit.trace.phases.forward import method_of
from tpu_audit.trace.phases.interface import attempt, autocasting
from tpu_audit.trace.phases.labels import make_labels
from tpu_audit.trace.phases.lost_gradients import find_lost
from tpu_audit.trace.phases.matching import matching_known
from tpu_audit.trace.phases.optimizers import OPTIMIZERS
from tpu_audit.trace.phases.train_mode import enter_train_mode
from tpu_audit.trace.tape import Tape
from tpu_audit.types.errors import NotAuditedError, Stage, shorten
from tpu_audit.types.trace import Role

if TYPE_CHECKING:
    from tpu_audit.trace.phases.interface import Subject

TRAIN = "train"
_CLIP = 1.0
"""Largest norm of the gradients: what transformers' Trainer clips to."""
_HINT = "the config may be incomplete, or the model may not train with these inputs"


def can_train(subject: Subject) -> bool:
    """Tell whether training is a phase of the model: it has weights, and forward is what runs."""
    return subject.method == "forward" and any(p.requires_grad for p in subject.model.parameters())


def run(subject: Subject) -> None:
    """Train one step."""
    if subject.settings.tracer != "pretended":
        raise _refused(
            "the torch_tpu tracer cannot train: autograd waits for a device there",
            "no_training",
            "trace training on the pretended device: --tracer pretended",
        )
    if not can_train(subject):
        raise _refused(f"{type(subject.model).__name__} has nothing to train", "no_training", None)
    enter_train_mode(subject)
    model, recorder = subject.model, subject.recorder
    subject.places.tape = Tape(_owners(model))
    recorder.cuts = cuts = Cuts()
    # Threads of autograd's engine would ask for devices, and there are none.
    with torch.autograd.set_multithreading_enabled(False), torch.enable_grad(), matching_known():
        try:
            labelled = _step(subject)
        finally:
            recorder.enter(None)
            recorder.role = recorder.cuts = subject.places.tape = None
        subject.no_gradient.extend(find_lost(subject, cuts, partial(learn, labelled=labelled)))


def _owners(model: torch.nn.Module) -> dict[int, str]:
    return {
        id(parameter): path
        for path, module in model.named_modules()
        for parameter in module.parameters(recurse=False)
    }


def _step(subject: Subject) -> bool:
    """Run the step; return whether the model computed its own loss."""
    parameters = [p for p in subject.model.parameters() if p.requires_grad]
    optimizer = OPTIMIZERS[subject.settings.optimizer](parameters)
    labelled = learn(subject)
    recorder = subject.recorder
    recorder.role = Role.CLIP
    clip = torch.nn.utils.clip_grad_norm_
    attempt(partial(clip, parameters, _CLIP, foreach=True), "clipping gradients", _HINT)
    recorder.role = Role.OPTIMIZER
    recorder.enter(None)  # the first step makes the optimizer's state, once
    attempt(optimizer.step, "the optimizer's step", _HINT)
    recorder.enter(TRAIN)
    attempt(optimizer.step, "the optimizer's step", _HINT)
    subject.assumptions.append(
        f"training: a step of {subject.settings.optimizer} in its steady state, "
        f"gradients clipped to norm {_CLIP:g}"
    )
    return labelled


def learn(subject: Subject, *, labelled: bool = True) -> bool:
    """Run forward and backward; return whether the labels served that the head seems to take.

    Where they do not, or where it takes none, a stand-in loss is taken of the outputs.
    """
    labels = make_labels(subject) if labelled else {}
    outputs, refused = _forward(subject, labels)
    loss = _own_loss(outputs)
    recorder = subject.recorder
    if loss is None:
        recorder.role = Role.LOSS
        loss = _stand_in(outputs)
        subject.assumptions.append(f"loss: mean of the outputs; {refused or 'the head has none'}")
    if loss is not None and loss.requires_grad:
        recorder.role = Role.BACKWARD
        attempt(loss.backward, "backward", _HINT)
    elif recorder.cuts:
        subject.assumptions.append("backward was not run: autograd is cut off before the loss")
    else:
        name = type(subject.model).__name__
        raise _refused(f"{name} gives nothing that a loss could be taken of", "no_loss", None)
    return labelled and not refused


def _forward(subject: Subject, labels: dict[str, Any]) -> tuple[Any, str]:
    """Call the model with ``labels``, or without where it refuses them: (outputs, why not)."""
    call = method_of(subject)
    refused = ""
    if labels:
        _begin(subject)
        try:
            with autocasting(subject.settings):
                return call(**subject.inputs, **labels), ""
        except Exception as error:  # noqa: BLE001 - whether it is the labels' fault shows below
            refused = f"the model refused labels: {shorten(error)}"
    _begin(subject)
    with autocasting(subject.settings):
        return attempt(
            partial(call, **subject.inputs), "the forward pass of training", _HINT
        ), refused


def _begin(subject: Subject) -> None:
    """Start the page, anew where a try was in vain."""
    recorder = subject.recorder
    if recorder.cuts is not None:
        recorder.ledgers.pop(TRAIN, None)
        recorder.enter(TRAIN)
        recorder.role = Role.MODEL
        recorder.cuts.forget()


def _own_loss(outputs: Any) -> torch.Tensor | None:
    """Return the loss that the model computed, as a number."""
    loss = getattr(outputs, "loss", None)
    if not isinstance(loss, torch.Tensor):
        return None
    return loss if loss.numel() == 1 else loss.mean()


def _stand_in(outputs: Any) -> torch.Tensor | None:
    """Return the mean over all floating outputs that depend on weights, None without any."""
    found = [
        leaf
        for leaf in tree_leaves(outputs)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad and leaf.is_floating_point()
    ]
    if not found:
        return None
    means = [leaf.float().mean() for leaf in found]
    return torch.stack(means).mean() if len(means) > 1 else means[0]


def _refused(message: str, code: str, hint: str | None) -> NotAuditedError:
    return NotAuditedError(message, stage=Stage.TRACE, code=code, skipped=True, hint=hint)
