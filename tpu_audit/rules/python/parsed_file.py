"""A parsed Python file as text: places, edits, hits, and the nodes around a node."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability, Edit, Fix
from tpu_audit.rules.hit import Hit, Span
from tpu_audit.rules.python.comments import count_comments
from tpu_audit.rules.python.walk import Index
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from tpu_audit.types.report import Severity


class ParsedFile:
    """A parsed Python file. Raises ``SyntaxError`` or ``ValueError`` as ``ast.parse`` does."""

    def __init__(self, path: str, text: str, tree: ast.Module | None = None) -> None:
        self.path = path
        self.source = SourceText(text)
        self.tree = ast.parse(text) if tree is None else tree

    def close(self) -> None:
        """Let go of the tree and the answers, which refer to one another; nothing works after.

        Their memory is free at once, so that a long run needs no garbage collector.
        """
        for part in list(vars(self).values()):
            if hasattr(part, "__dict__") and type(part).__module__.startswith(__package__):
                vars(part).clear()
        vars(self).clear()

    @property
    def text(self) -> str:
        """The file's text."""
        return self.source.text

    @cached_property
    def index(self) -> Index:
        """Nodes by class, names, attributes, keywords, parents."""
        return Index(self.tree)

    @cached_property
    def torch_name(self) -> str:
        """What the file calls ``torch`` at its top level; ``torch`` where it does not."""
        bound = {
            alias.asname or "torch"
            for statement in self.index.of(ast.Import)
            if self.index.parents[statement] is self.tree
            for alias in statement.names
            if alias.name == "torch" or (alias.name.startswith("torch.") and not alias.asname)
        }
        return "torch" if "torch" in bound or not bound else min(bound)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node around ``node``."""
        return self.index.parents.get(node)

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the innermost statement that ``node`` is in."""
        while not isinstance(node, ast.stmt):
            node = self.index.parents[node]
        return node

    def is_docstring(self, node: ast.Constant) -> bool:
        """Tell whether a string stands as a statement: documentation or commented-out code."""
        return isinstance(self.index.parents.get(node), ast.Expr)

    def span(self, node: ast.AST) -> Span:
        """Return the place of a node that has one: any but operators and contexts."""
        column, line = self.source.column, node.lineno  # type: ignore[attr-defined] # documented
        end_line = node.end_lineno  # type: ignore[attr-defined] # as above
        return Span(
            line=line,
            column=column(line, node.col_offset),  # type: ignore[attr-defined] # as above
            end_line=end_line,
            end_column=column(end_line, node.end_col_offset),  # type: ignore[attr-defined] # as above
        )

    def _spoils_text(self, node: ast.AST, fix: Fix) -> bool:
        """Tell a fix that writes quotes inside an f-string: an error before Python 3.12."""
        parent: ast.AST | None = node
        while isinstance(parent, ast.expr | ast.keyword):
            parent = self.index.parents.get(parent)
            if isinstance(parent, ast.JoinedStr):
                return any(mark in edit.text for edit in fix.edits for mark in "\"'\\")
        return False

    def _drops(self, fix: Fix) -> bool:
        """Tell a fix that writes code anew without the comments that stand in it."""
        old = ((edit, self.source.encoded[edit.start : edit.end]) for edit in fix.edits)
        return any(
            edit.text
            and b"#" in data
            and count_comments(data.decode("utf-8", "replace")) > count_comments(edit.text)
            for edit, data in old
        )

    def method_span(self, call: ast.Call) -> Span:
        """Return the place from a method's name to the end of its call: ``cuda(0)``.

        The whole call where the method is not named by an attribute.
        """
        span = self.span(call)
        if not isinstance(call.func, ast.Attribute):
            return span
        name = self.span(call.func)
        column = name.end_column - len(call.func.attr)
        return replace(span, line=name.end_line, column=column)

    def byte_range(self, node: ast.AST) -> tuple[int, int]:
        """Return the place of a node as byte offsets."""
        offset = self.source.byte_offset
        return (
            offset(node.lineno, node.col_offset),  # type: ignore[attr-defined] # documented
            offset(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined] # as above
        )

    def code(self, node: ast.AST) -> str:
        """Return the source of a node, as written."""
        start, end = self.byte_range(node)
        return self.source.encoded[start:end].decode("utf-8", "surrogatepass")

    def edit(self, node: ast.AST, text: str) -> Edit:
        """Return the edit that writes ``text`` over a node."""
        start, end = self.byte_range(node)
        return Edit(start=start, end=end, text=text)

    def replace(
        self, node: ast.AST, text: str, applicability: Applicability = Applicability.UNSAFE
    ) -> Fix:
        """Return a fix that writes ``text`` over a node."""
        return Fix(edits=(self.edit(node, text),), applicability=applicability)

    def hit(
        self,
        node: ast.AST,
        message: str,
        advice: str,
        *,
        fix: Fix | None = None,
        severity: Severity | None = None,
        cause: str = "",
        span: Span | None = None,
    ) -> Hit:
        """Make a hit at ``node``, where reachability and context are judged.

        ``span`` is the place to point at where it is not the whole node, as `method_span`.
        """
        return Hit(
            span=span or self.span(node),
            message=message,
            advice=advice,
            fix=None if fix is None or self._spoils_text(node, fix) or self._drops(fix) else fix,
            severity=severity,
            cause=cause,
            anchor=node,
        )
