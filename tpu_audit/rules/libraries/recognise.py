"""Finds packages wherever a project names them: imports, requirements, commands, images."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.libraries.optional import import_severity, is_own, only_asks
from tpu_audit.rules.libraries.required import requirements
from tpu_audit.rules.libraries.unimported import unimported
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document, Entry, Word
    from tpu_audit.rules.hit import Hit, Span
    from tpu_audit.rules.libraries.package import Package
    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.rule import Rule

_RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}
_IMAGE_KEYS = frozenset({"image", "repository", "base_image", "dockerImage", "container", "FROM"})
_EXTRAS = frozenset(
    {"optional-dependencies", "extras", "dependency-groups", "dev-dependencies", "group"}
)
_DOCS = re.compile(r"(?:^|/)docs?/")
"""Requirements of what only builds the documentation."""
_PROBES = frozenset({"command", "which", "type", "hash"})
"""Commands that ask whether there is a program."""
_RUNNERS = frozenset({"docker", "podman", "nerdctl", "singularity", "apptainer"})


def words(*groups: tuple[Package, ...]) -> tuple[str, ...]:
    """Return the words of files that may name one of the packages, for `Rule.words`."""
    return tuple(sorted(frozenset().union(*(p.tokens() for group in groups for p in group))))


def recognise(rule: Rule, packages: tuple[Package, ...]) -> None:
    """Let ``rule`` find ``packages`` in Python files and in all others."""
    finder = _Finder(rule, packages)
    rule.module(finder.module)
    rule.document()(finder.document)


def recognise_documents(rule: Rule, packages: tuple[Package, ...]) -> None:
    """Let ``rule`` find ``packages`` in files other than Python's."""
    rule.document()(_Finder(rule, packages).document)


class _Finder:
    """Looks for the packages of one rule."""

    def __init__(self, rule: Rule, packages: tuple[Package, ...]) -> None:
        self._rule = rule
        self._imports = {name: p for p in packages for name in p.imports}
        self._projects = {name: p for p in packages for name in p.projects}
        self._stems = {n[:-1]: p for n, p in self._projects.items() if n.endswith("*")}
        self._commands = {name: p for p in packages for name in p.commands}
        self._images = {name: p for p in packages for name in p.images}

    def module(self, module: Module) -> Iterator[Hit]:
        """Find imports, and requirements in the strings of a set-up script.

        A package is named once a file, and again only where its lack costs more.
        """
        noted: dict[str, int] = {}
        for node, names in module.imported:
            package = self._imported(names)
            if package is None or only_asks(node) or is_own(module, names[0]):
                continue
            hit = self._import_hit(module, node, package)
            rank = _RANK[hit.severity or self._rule.severity]
            root = names[0].partition(".")[0]
            if rank > noted.get(root, -1):
                noted[root] = rank
                yield hit
        for use, name in unimported(module, self._imports):
            package = self._package_of(name)
            if package is not None and name.partition(".")[0] not in noted:
                noted[name.partition(".")[0]] = 0
                severity = Severity.WARNING if package.runs_on_host else self._rule.severity
                yield module.hit(
                    use,
                    _message(package, "uses"),
                    package.instead,
                    severity=min(severity, self._rule.severity, key=_RANK.__getitem__),
                    cause=package.name,
                )
        for requirement in requirements(module):
            package = self._project(requirement.name)
            if package is not None:
                most = Severity.INFO if requirement.optional else None
                severity = self._severity(package, most)
                yield module.hit(
                    requirement.node,
                    _message(package, "requires"),
                    package.instead,
                    severity=severity,
                    cause=package.name,
                )

    def _imported(self, names: tuple[str, ...]) -> Package | None:
        """Return the package that one import brings; of several, one that needs CUDA to run."""
        taken = [n for n in names if not any(other.startswith(f"{n}.") for other in names)]
        found = [package for name in taken if (package := self._package_of(name)) is not None]
        return min(found, key=lambda package: package.runs_on_host, default=None)

    def _package_of(self, name: str) -> Package | None:
        head = name
        while head and head not in self._imports:
            head = head.rpartition(".")[0]
        return self._imports.get(head)

    def _import_hit(self, module: Module, node: ast.stmt | ast.Call, package: Package) -> Hit:
        severity = import_severity(module, node, package.imports)
        limit = Severity.WARNING if package.runs_on_host else self._rule.severity
        severity = min(severity, limit, self._rule.severity, key=_RANK.__getitem__)
        return module.hit(
            node,
            _message(package, "imports"),
            package.instead,
            severity=severity,
            cause=package.name,
        )

    def document(self, document: Document) -> Iterator[Hit]:
        """Find requirements, repositories, commands and images."""
        seen: set[Span] = set()
        for span, package, verb, most in self._in_document(document):
            if span not in seen:
                seen.add(span)
                yield document.hit(
                    span,
                    _message(package, verb),
                    package.instead,
                    severity=self._severity(package, most),
                    cause=package.name,
                )

    def _in_document(
        self, document: Document
    ) -> Iterator[tuple[Span, Package, str, Severity | None]]:
        if self._projects:
            extras = _extras(document)
            for item in document.requirements:
                package = self._project(item.name)
                if package is not None:
                    optional = item.locked or _DOCS.search(document.path) is not None
                    optional = optional or any(_inside(item.span, span) for span in extras)
                    yield (
                        item.span,
                        package,
                        "installs",
                        (Severity.INFO if optional else None),
                    )
            for word in _cloned(document):
                package = self._project(_repository(word.text))
                if package is not None:
                    yield word.span, package, "builds", None
        yield from self._run(document)
        for entry in document.entries if self._images else ():
            package = self._image(entry)
            if package is not None:
                yield entry.span, package, "runs", Severity.WARNING

    def _run(self, document: Document) -> Iterator[tuple[Span, Package, str, Severity | None]]:
        asked = {w.text for c in document.commands if c.name in _PROBES for w in c.words[1:]}
        for command in document.commands:
            package = self._commands.get(command.name)
            if package is not None:
                most = Severity.INFO if command.name in asked else None
                yield command.words[0].span, package, "runs", most
            texts = [word.text for word in command.words[:4]]
            if "-m" in texts[:-1]:
                place = texts.index("-m") + 1
                package = self._imported((texts[place],))
                if package is not None:
                    yield command.words[place].span, package, "runs", None
            if command.name in _RUNNERS:
                for word in command.words[1:]:
                    package = self._image_text(word.text)
                    if package is not None:
                        yield word.span, package, "runs", Severity.WARNING

    def _image(self, entry: Entry) -> Package | None:
        text = entry.value
        if not isinstance(text, str) or entry.key not in _IMAGE_KEYS:
            return None
        return self._image_text(text)

    def _image_text(self, text: str) -> Package | None:
        text = text.removeprefix("docker.io/").removeprefix("docker://")
        for image, package in self._images.items():
            rest = text[len(image) :]
            bounded = image.endswith((":", "-")) or rest[:1] in {"", ":", "@", "/", "-"}
            if text.startswith(image) and bounded and "tpu" not in rest and "cpu" not in rest:
                return package
        return None

    def _project(self, name: str) -> Package | None:
        found = self._projects.get(name)
        if found is not None or not self._stems:
            return found
        return next((p for stem, p in self._stems.items() if name.startswith(stem)), None)

    def _severity(self, package: Package, most: Severity | None) -> Severity:
        """Return what a requirement counts: its installation fails, or its use does."""
        limit = Severity.ERROR if package.builds else Severity.WARNING
        levels = (self._rule.severity, limit, most or Severity.ERROR)
        return min(levels, key=_RANK.__getitem__)


def _message(package: Package, verb: str) -> str:
    return f"this {verb} {package.name}; on a TPU {package.needs}"


def _extras(document: Document) -> list[Span]:
    """Return the places of optional dependencies: extras, groups, development."""
    found = []
    for entry in document.entries:
        if _EXTRAS & {*entry.keys} and not entry.container:
            found += [entry.span, entry.key_span or entry.span]
    return found


def _inside(span: Span, outer: Span) -> bool:
    return (outer.line, outer.column) <= (span.line, span.column) and (
        (span.end_line, span.end_column) <= (outer.end_line, outer.end_column)
    )


def _cloned(document: Document) -> Iterator[Word]:
    for command in document.commands:
        words = [word.text for word in command.words[:2]]
        if words == ["git", "clone"]:
            yield from (word for word in command.words[2:] if "/" in word.text)


def _repository(url: str) -> str:
    """Return the name of the repository that a URL leads to, as PEP 503 compares it."""
    name = url.partition("?")[0].rstrip("/").rpartition("/")[2].removesuffix(".git")
    return re.sub(r"[-_.]+", "-", name).lower()
