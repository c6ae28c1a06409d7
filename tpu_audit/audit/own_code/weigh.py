"""What a finding in a model's files means for the model: it keeps its severity, or counts less."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tpu_audit.audit.own_code.entries import Entries, entries_of
from tpu_audit.audit.own_code.load_path import loaded_files
from tpu_audit.audit.own_code.reach import Reach, reach_of
from tpu_audit.types.report import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tpu_audit.types.model import ModelSpec

_WORST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_LESS = {Severity.ERROR: Severity.WARNING, Severity.WARNING: Severity.INFO}
_ASIDE = "in a file that loading the model does not read"
_IDLE = "in code that loading and forward do not reach"
_TRUSTED = "only with `trust_remote_code=True`: transformers has the class"
_DTYPE = "the audit is at the dtypes it was asked for"
_CONFIGS = frozenset({"config.json", "generation_config.json"})
_SAID = frozenset({"TPA704"})
"""Codes for "there is own code", which the scan tells itself and goes on to read."""
_AT_ANOTHER_DTYPE = frozenset({"TPA703"})


class OwnCode:
    """The code that comes with one model."""

    def __init__(self, spec: ModelSpec, *, native: bool) -> None:
        """Take the model; ``native``: transformers has its class, so own code has to be asked for.

        Code is read from disk when it is first needed.
        """
        self._spec = spec
        self._native = native

    @cached_property
    def entries(self) -> Entries:
        """Files and classes that the configs name."""
        return entries_of(self._spec)

    @cached_property
    def loaded(self) -> tuple[str, ...]:
        """Python files that run when the model is loaded with its own code."""
        return loaded_files(self.entries.files, self._texts) if self.entries.files else ()

    @cached_property
    def _alone(self) -> frozenset[str]:
        """Files of ``loaded`` that run whatever class of transformers there is."""
        return frozenset(loaded_files(self.entries.alone, self._texts))

    @cached_property
    def _texts(self) -> dict[str, str]:
        return dict(_readable(self._spec))

    @cached_property
    def _reach(self) -> Reach:
        texts = {name: self._texts[name] for name in self.loaded}
        return reach_of(texts, self.entries.classes)

    def missing(self) -> list[str]:
        """Return the files that ``auto_map`` names and that are not at hand."""
        return [name for name in self.entries.files if name not in self._spec.code_files]

    def weigh(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Return the findings as they count for the model, the worst first.

        Those that the scan tells otherwise are left out.

        In the configs of the model, and in code that loading and forward run, all keep their
        severity. One step less counts what forward does not reach, and what only runs when
        somebody asks for own code that transformers replaces. The rest is information.
        """
        weighed = (
            self._in_config(finding) if self._is_config(finding) else self._in_code(finding)
            for finding in findings
            if not (finding.code in _SAID and self._is_config(finding))
        )
        return tuple(sorted(weighed, key=lambda finding: _WORST_FIRST.index(finding.severity)))

    def _is_config(self, finding: Finding) -> bool:
        name = finding.location.path
        return name in _CONFIGS or name in self._spec.processor_configs

    def _in_config(self, finding: Finding) -> Finding:
        there = finding.code in _AT_ANOTHER_DTYPE
        return _lowered(finding, _DTYPE, to_info=True) if there else finding

    def _in_code(self, finding: Finding) -> Finding:
        name, line = finding.location.path or "", finding.location.line or 0
        if finding.severity is Severity.INFO:
            return finding
        if name not in self.loaded:
            return _lowered(finding, _ASIDE, to_info=True)
        if not self._reach.covers(name, line):
            finding = _lowered(finding, _IDLE)
        replaced = self._native and name not in self._alone
        return _lowered(finding, _TRUSTED) if replaced else finding


def without_repeats(
    of_phases: Iterable[Finding], of_files: Iterable[Finding]
) -> tuple[Finding, ...]:
    """Return the findings of phases that no finding at a line of the config says better.

    TPA702 says what becomes of a quantised checkpoint; TPA921 only that the trace is of another.
    """
    said = any(f.code == "TPA702" and f.location.path in _CONFIGS for f in of_files)
    return tuple(f for f in of_phases if not (said and f.code == "TPA921"))


def _lowered(finding: Finding, why: str, *, to_info: bool = False) -> Finding:
    """Return the finding with a severity of less weight and the reason behind its message."""
    less = Severity.INFO if to_info else _LESS.get(finding.severity, Severity.INFO)
    if less is finding.severity:
        return finding
    return replace(
        finding,
        severity=less,
        message=f"{finding.message} ({why})",
        cause=f"{finding.cause or finding.message} ({why})",
    )


def _readable(spec: ModelSpec) -> Iterator[tuple[str, str]]:
    for name, path in spec.code_files.items():
        try:
            yield name, Path(path).read_bytes().decode("utf-8", "replace")
        except OSError:
            continue  # the check has a record of it
