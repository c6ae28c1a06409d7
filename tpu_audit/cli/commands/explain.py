"""``tpu-audit explain``: what a rule or a finding code means, or how an op fares and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click

from op_registry.loader import load
from op_registry.schema import Fallback, OpRecord, Snapshot, Support
from tpu_audit.cli import rule_view
from tpu_audit.cli.app import current_app
from tpu_audit.cli.lazy import Command
from tpu_audit.cli.op_names import find, op_words
from tpu_audit.cli.op_view import as_json, show
from tpu_audit.cli.options import format_option, registry_option
from tpu_audit.cli.suggest import did_you_mean
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from tpu_audit.audit.code import Code

_FALLBACKS = {
    Fallback.CPU_IF_ENABLED: "raises by default; a CPU kernel exists and would run in eager mode "
    "if TorchTPU's internal fallback switch were on, with transfers both ways; never compiled",
    Fallback.NEVER: "raises; no CPU kernel could take over",
}


@click.command(cls=Command)
@click.argument("name", metavar="CODE|OP")
@registry_option()
@format_option("console", "json")
def command(name: str, registry: str | None, fmt: str) -> None:
    """Explain a rule or code (TPA101, missing-op) or an op (aten.mish, linear).

    As JSON: {"rule": {...}} for a rule of `check`, {"code": {...}} for a code of `scan`, {"ops":
    [...]} for an op: what `registry show` says of it, `install` (the reference kernel that makes
    it run) and `replacement`.
    """
    from tpu_audit.audit import codes  # not for --help

    out = current_app().out
    if code := codes.lookup(name):
        if fmt == "json":
            out.json({"code": code})
        else:
            out.page(f"{code.code} {code.name} ({code.severity.value})", _sections(code))
        return
    if rule := rule_view.lookup(name):
        if fmt == "json":
            out.json({"rule": rule_view.as_json(rule)})
        else:
            out.page(rule_view.title(rule), rule_view.page(rule))
        return
    snapshot = load(registry)
    records = find(snapshot, name)
    if not records:
        names = {code.name for code in codes.CODES.values()}
        _refuse(name, snapshot, {*codes.CODES, *names, *rule_view.words()})
    if fmt == "json":
        out.json({"ops": [_explained(record, snapshot) for record in records]})
        return
    for record in records:
        show(out, record, *_advice(record, snapshot))


def _refuse(name: str, snapshot: Snapshot, codes: set[str]) -> NoReturn:
    near = did_you_mean(name, {*codes, *op_words(snapshot)})
    hint = near or "codes are like TPA901, ops like aten.add.Tensor: `tpu-audit registry list`"
    raise UsageError(f"{name!r} is no finding code and no op of the registry", hint=hint)


def _sections(code: Code) -> list[tuple[str, str]]:
    return [
        ("what", code.summary),
        ("why", code.why),
        ("fix", code.fix),
        *(("see", reference) for reference in code.references),
    ]


def _explained(record: OpRecord, snapshot: Snapshot) -> dict[str, object]:
    replacement = [text for _, text in _replacements(record, snapshot)]
    install = _install(record, snapshot)
    return {**as_json(record), "install": install, "replacement": replacement}


def _install(record: OpRecord, snapshot: Snapshot) -> str | None:
    from tpu_audit.audit.reference import advice_for  # not for --help

    return advice_for(record, snapshot)


def _advice(record: OpRecord, snapshot: Snapshot) -> list[tuple[str, str]]:
    lines = []
    install = _install(record, snapshot)
    if record.support is Support.MISSING and record.fallback:
        lines.append(("on a TPU", _FALLBACKS[record.fallback]))
    if install:
        lines.append(("install", install))
    replacements = _replacements(record, snapshot)
    if record.support is Support.MISSING and not replacements and not install:
        lines.append(
            ("replace", "no proven replacement is known; `explain TPA901` says what helps")
        )
    return [*lines, *replacements]


def _replacements(record: OpRecord, snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return what is proven to do the same without the trouble."""
    from tpu_audit.audit import advice  # not for --help

    packet = record.op.rpartition(".")[0]
    texts = []
    if record.support is not Support.NATIVE:
        pieces = (record.op, *(record.ends_in or ()))
        texts.append(next(filter(None, (advice.replacement(op, snapshot) for op in pieces)), None))
    texts += [advice.avoiding_sync(packet, snapshot), advice.keeping_gradient(packet, snapshot)]
    return [("replace", text) for text in texts if text]
