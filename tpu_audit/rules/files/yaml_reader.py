"""YAML: every document of a stream, block and flow style, templates tolerated."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from tpu_audit.rules.files import flavours, steps
from tpu_audit.rules.files.document import Document, Entry, Key, Value
from tpu_audit.rules.files.errors import MAX_DEPTH, NotReadableError
from tpu_audit.rules.files.packages import entry_requirements
from tpu_audit.rules.files.scalars import plain_scalar
from tpu_audit.rules.files.templates import has_templates, mask
from tpu_audit.rules.hit import Span
from tpu_audit.rules.text import SourceText

_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*[ \t]+)+")
"""An anchor and a tag in front of a value."""


def read(path: str, source: SourceText) -> Document:
    """Read a YAML file. Raises ``NotReadableError`` when no YAML parser would take it."""
    templated = has_templates(source.text)
    text = mask(source.text) if templated else source.text
    entries = _Reader(source, text).read()
    found = flavours.of_yaml(path, entries, templated=templated)
    return Document(
        kind="yaml",
        path=path,
        source=source,
        flavours=found,
        entries=entries,
        commands=steps.commands(source, entries, found),
        requirements=entry_requirements(source, entries, found),
    )


@dataclass(slots=True)
class _Container:
    """A mapping or sequence that is open."""

    keys: tuple[Key, ...]
    place: int
    """Index in the entries of the container's own entry."""
    mapping: bool
    size: int = 0
    key: Key | None = None
    """The key whose value comes next."""
    key_span: Span | None = None


@dataclass(slots=True)
class _Reader:
    """Turns the parser's events into entries. No recursion."""

    source: SourceText
    text: str
    entries: list[Entry] = field(default_factory=list)
    open: list[_Container] = field(default_factory=list)
    stream: int = -1
    last: int = 0
    """End of the last content: where block containers end, which have no mark of their own."""

    def read(self) -> tuple[Entry, ...]:
        import yaml  # for YAML files only

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            for event in yaml.parse(self.text, loader):
                self._take(event, yaml)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else None
            message = f"not valid YAML: {error.problem or error.context}"
            raise NotReadableError(message, line=line) from error
        except (yaml.YAMLError, UnicodeError, RecursionError) as error:
            raise NotReadableError(f"not valid YAML: {type(error).__name__}") from error
        return tuple(self.entries)

    def _take(self, event: Any, yaml: Any) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self.stream += 1
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.AliasEvent():
                self._place(event, None, container=True)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._begin(event, mapping=isinstance(event, yaml.MappingStartEvent))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._finish(event)

    def _scalar(self, event: Any) -> None:
        top = self.open[-1] if self.open else None
        span = self._span(event)
        if top and top.mapping and top.key is None:
            raw = self.source.slice(span)
            top.key = self._real(event, raw) if event.style else raw
            top.key_span = span
            return
        typed = not event.style and event.tag is None
        text = self._real(event, self.source.slice(span))
        self._place(event, plain_scalar(text) if typed else text)

    def _real(self, event: Any, raw: str) -> str:
        """Return the scalar's text, as it stands in the file where a template was masked."""
        if self.text is self.source.text or not has_templates(raw):
            return str(event.value)
        return raw[1:-1] if event.style in {"'", '"'} else raw

    def _place(self, event: Any, value: Value, *, container: bool = False) -> tuple[Key, ...]:
        """Add an entry under the next key of the open container; return its keys."""
        top = self.open[-1] if self.open else None
        keys: tuple[Key, ...] = ()
        key_span = None
        if top and top.mapping and top.key is None:
            top.key, top.key_span = "", self._span(event)  # a key that is not a scalar
            return (*top.keys, "")
        if top:
            keys = (*top.keys, top.size if top.key is None else top.key)
            key_span, top.key, top.key_span = top.key_span, None, None
            top.size += 1
        self.entries.append(
            Entry(
                keys=keys,
                value=value,
                span=self._span(event),
                key_span=key_span,
                container=container,
                stream=max(self.stream, 0),
            )
        )
        return keys

    def _begin(self, event: Any, *, mapping: bool) -> None:
        if len(self.open) > MAX_DEPTH:
            line = event.start_mark.line + 1
            raise NotReadableError(f"nested deeper than {MAX_DEPTH} levels", line=line)
        before = len(self.entries)
        keys = self._place(event, None, container=True)
        place = before if len(self.entries) > before else -1
        self.open.append(_Container(keys=keys, place=place, mapping=mapping))

    def _finish(self, event: Any) -> None:
        self.last = max(self.last, event.end_mark.index if self._marked(event) else 0)
        place = self.open.pop().place
        if place >= 0:
            entry = self.entries[place]
            start = self.source.index(entry.span.line, entry.span.column)
            self.entries[place] = replace(entry, span=self.source.span(start, self.last))

    def _marked(self, event: Any) -> bool:
        """Tell a flow container, which ends at a bracket."""
        return bool(event.end_mark.index > event.start_mark.index)

    def _span(self, event: Any) -> Span:
        start: int = event.start_mark.index
        if properties := _PROPERTIES.match(self.text, start, event.end_mark.index):
            start = properties.end()
        end: int = event.end_mark.index
        while end > start and self.text[end - 1] in " \t\r\n":
            end -= 1
        self.last = max(self.last, end)
        return self.source.span(start, end)
