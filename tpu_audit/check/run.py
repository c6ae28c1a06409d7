"""Checks paths: discovery, cache, processes, comments, settings, report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tpu_audit.check.changed import Changes, changes_since
from tpu_audit.check.digest import settings_digest
from tpu_audit.check.discover import Discovery, discover
from tpu_audit.check.grouping import RANK, grouped
from tpu_audit.check.options import CheckOptions
from tpu_audit.check.recall import Progress, Recall, Silent, results_of
from tpu_audit.check.selection import PerFile, all_rules, ignored_in, per_file, selected
from tpu_audit.check.silence import judge
from tpu_audit.types.check import CheckReport, Suppressed
from tpu_audit.types.report import Finding, Location, Severity, ToolInfo, Unread
from tpu_audit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tpu_audit.check.result import FileResult, Item
    from tpu_audit.check.source import Source


def check(
    paths: Sequence[str],
    *,
    options: CheckOptions | None = None,
    progress: Progress | None = None,
) -> CheckReport:
    """Check files and folders. Nothing is run, imported or changed.

    Raises UsageError for a path, a selector or a git revision that does not exist.
    """
    options = options or CheckOptions()
    rules = selected(options.select, options.ignore, preview=options.preview)
    exceptions = per_file(options.per_file_ignores)
    found = discover(paths, excludes=options.exclude, respect_gitignore=options.respect_gitignore)
    changes = changes_since(options.diff_base, map(Path, paths)) if options.diff_base else None
    sources = [s for s in found.sources if changes is None or changes.touches(s.path)]
    codes = tuple(rule.code for rule in rules)
    recall = Recall(
        digest=settings_digest(codes),
        codes=lambda: codes,
        cache_dir=options.cache_dir,
        jobs=options.jobs,
    )
    results, notes = results_of(sources, recall, progress or Silent())
    collector = _Collector(codes=frozenset(codes), exceptions=exceptions, changes=changes)
    for source, result in zip(sources, results, strict=True):
        collector.take(source, result)
    return collector.report(paths, found, options.min_severity, notes)


@dataclass(slots=True, kw_only=True)
class _Collector:
    """Turns results of files into a report."""

    codes: frozenset[str]
    exceptions: tuple[PerFile, ...]
    changes: Changes | None
    kinds: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[Finding, str]] = field(default_factory=list)
    suppressed: list[Suppressed] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    def take(self, source: Source, result: FileResult) -> None:
        """Add the result of one file."""
        if result.kind is None:
            return
        self.kinds[result.kind] += 1
        self.unread += (
            Unread(path=source.shown, line=gap.line, code=gap.code, reason=gap.reason)
            for gap in result.gaps
        )
        judged = judge(result, self.codes)
        dropped = ignored_in(source.logical, self.exceptions) if self.exceptions else frozenset()
        for item in self._changed(source, judged.kept):
            if item.code in dropped:
                self.suppressed.append(Suppressed(finding=_finding(source, item), by="settings"))
            else:
                self.findings.append((_finding(source, item), item.cause))
        silenced = dict(judged.silenced)
        self.suppressed += (
            Suppressed(finding=_finding(source, item), by="comment", reason=silenced[item].reason)
            for item in self._changed(source, tuple(silenced))
        )

    def _changed(self, source: Source, items: Sequence[Item]) -> Iterator[Item]:
        for item in items:
            if self.changes is None or self.changes.includes(source.path, item.line, item.end_line):
                yield item

    def report(
        self,
        paths: Sequence[str],
        found: Discovery,
        least: Severity,
        notes: tuple[str, ...],
    ) -> CheckReport:
        """Return everything that was collected, without findings below ``least``."""
        shown = [pair for pair in self.findings if RANK[pair[0].severity] <= RANK[least]]
        names = {rule.code: rule.name for rule in all_rules()}
        return CheckReport(
            tool=ToolInfo(version=__version__),
            paths=tuple(paths),
            files=dict(sorted(self.kinds.items())),
            findings=tuple(finding for finding, _ in shown),
            causes=grouped(shown, names),
            suppressed=tuple(self.suppressed),
            unread=(*found.unread, *self.unread),
            notes=notes,
        )


def _finding(source: Source, item: Item) -> Finding:
    return Finding(
        code=item.code,
        severity=Severity(item.severity),
        message=item.message,
        fix=item.advice,
        location=Location(path=source.shown, line=item.line, column=item.column),
        cause=item.cause,
        fixable=item.fixable,
    )
