"""What a rule is: identity, documentation, cases that prove it, and checks that find it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tpu_audit.rules.hit import Hit
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.python.devices import DeviceSink
    from tpu_audit.rules.python.module import Module

    NodeCheck = Callable[[Any, Module], Iterable[Hit]]
    NameCheck = Callable[[ast.expr, str, Module], Iterable[Hit]]
    MethodCheck = Callable[[ast.Call, ast.expr, Module], Iterable[Hit]]
    CallCheck = Callable[[ast.Call, str, Module], Iterable[Hit]]
    ImportCheck = Callable[[ast.stmt | ast.Call, str, Module], Iterable[Hit]]
    SinkCheck = Callable[[DeviceSink, Module], Iterable[Hit]]
    StringCheck = Callable[[ast.Constant, Module], Iterable[Hit]]
    ModuleCheck = Callable[[Module], Iterable[Hit]]
    DocumentCheck = Callable[[Document], Iterable[Hit]]


class Stability(StrEnum):
    """Whether a rule runs by default."""

    STABLE = "stable"
    PREVIEW = "preview"


class Dispatch(StrEnum):
    """By what a check is found: what its keys are."""

    NODE = "node"
    NAME = "name"
    CALL = "call"
    METHOD = "method"
    ATTRIBUTE = "attribute"
    KEYWORD = "keyword"
    IMPORTS = "imports"
    SINK = "sink"
    STRING = "string"
    MODULE = "module"
    DOCUMENT = "document"


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One registered function of a rule."""

    dispatch: Dispatch
    keys: tuple[Any, ...]
    """Node classes, names, attributes, document kinds or flavours, as ``dispatch`` says."""
    run: Callable[..., Iterable[Hit]]


@dataclass(frozen=True, slots=True)
class Case:
    """A file that a rule must find something in (``lines`` given), or must not."""

    source: str
    _: KW_ONLY
    filename: str = "case.py"
    lines: tuple[int, ...] = ()
    """Lines of the hits, one each, in order; empty for a valid case."""
    columns: tuple[int, ...] = ()
    """Columns of the same hits, where the case pins them."""
    fixed: str | None = None
    """The text after the edits of all its hits' fixes, display-only ones excepted; changes of
    imports are made elsewhere, so a case brings the imports that its new text needs."""
    severity: Severity | None = None
    """Severity of every hit, where it is not the rule's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Docs:
    """A rule's page, under fixed headings. Markdown without headings."""

    what: str
    why: str
    """Why it matters on a TPU."""
    example: str
    """Code, without a fence."""
    instead: str
    """Code to use instead, without a fence; a sentence where there is none."""
    fix_safety: str = ""
    references: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rule:
    """One pattern. A module under a family package holds it as ``RULE``."""

    code: str
    name: str
    """Kebab-case; names the pattern, so that "allow NAME" reads right."""
    severity: Severity
    docs: Docs
    words: tuple[str, ...]
    r"""Text that a file must contain for the rule to look at it: whole words (``\w+`` tokens), or
    any text with a star behind, as ``NCCL_*``. Empty for every file. Case counts."""
    valid: tuple[Case, ...]
    invalid: tuple[Case, ...]
    words_in_python: tuple[str, ...] = ()
    """The same for Python files, where they differ."""
    stability: Stability = Stability.STABLE
    since: str = "0.1.0"
    in_tests: Severity | None = Severity.INFO
    """The most that a hit in a test file counts; None drops it."""
    where_dead: Severity | None = None
    """The most that a hit counts in an arm that a TPU never takes; None drops it."""
    checks: list[Check] = field(default_factory=list, repr=False)

    @property
    def fixable(self) -> bool:
        """Whether any of its cases shows a repair."""
        return any(case.fixed is not None for case in self.invalid)

    def node(self, *classes: type[ast.AST]) -> Callable[[NodeCheck], NodeCheck]:
        """Register ``check(node, module)`` for every node of these classes. The costly way."""
        return self._register(Dispatch.NODE, classes)

    def use(self, *names: str) -> Callable[[NameCheck], NameCheck]:
        """Register ``check(node, name, module)`` for uses of dotted names, however imported.

        ``torch.cuda.is_available`` is one name; ``torch.cuda.*`` any name below, taken whole.
        """
        return self._register(Dispatch.NAME, names)

    def call(self, *names: str) -> Callable[[CallCheck], CallCheck]:
        """Register ``check(call, name, module)`` for calls of dotted names, as `use` has them."""
        return self._register(Dispatch.CALL, names)

    def method(self, *names: str) -> Callable[[MethodCheck], MethodCheck]:
        """Register ``check(call, receiver, module)`` for calls ``receiver.NAME(...)``."""
        return self._register(Dispatch.METHOD, names)

    def attribute(self, *names: str) -> Callable[[NodeCheck], NodeCheck]:
        """Register ``check(attribute, module)`` for ``anything.NAME``, read or written."""
        return self._register(Dispatch.ATTRIBUTE, names)

    def keyword(self, *names: str) -> Callable[[NodeCheck], NodeCheck]:
        """Register ``check(keyword, module)`` for ``f(NAME=...)``."""
        return self._register(Dispatch.KEYWORD, names)

    def imports(self, *names: str) -> Callable[[ImportCheck], ImportCheck]:
        """Register ``check(statement, name, module)`` for imports of packages or what is in them.

        Called once an import with the key that matched first; ``import_module("x")`` counts.
        """
        return self._register(Dispatch.IMPORTS, names)

    def sink(self, *kinds: str) -> Callable[[SinkCheck], SinkCheck]:
        """Register ``check(sink, module)`` for places that take a device; no kinds for all."""
        return self._register(Dispatch.SINK, kinds)

    def string(self, *parts: str) -> Callable[[StringCheck], StringCheck]:
        """Register ``check(constant, module)`` for strings with one of ``parts`` in them.

        Docstrings and strings that stand as a statement are left out.
        """
        return self._register(Dispatch.STRING, parts)

    def module(self, check: ModuleCheck) -> ModuleCheck:
        """Register ``check(module)``, called once a file."""
        self._register(Dispatch.MODULE, ())(check)
        return check

    def document(self, *kinds: str) -> Callable[[DocumentCheck], DocumentCheck]:
        """Register ``check(document)`` for files of these kinds or flavours; none for all."""
        return self._register(Dispatch.DOCUMENT, kinds)

    def _register(self, dispatch: Dispatch, keys: tuple[Any, ...]) -> Callable[[Any], Any]:
        def decorate(run: Callable[..., Iterable[Hit]]) -> Callable[..., Iterable[Hit]]:
            self.checks.append(Check(dispatch=dispatch, keys=keys, run=run))
            return run

        return decorate
