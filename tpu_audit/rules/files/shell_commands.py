"""The simple commands of a shell script: words, assignments, what stands before them stripped."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tpu_audit.rules.files.document import Command, Entry, Word
from tpu_audit.rules.files.shell_words import Token, Tokenizer

if TYPE_CHECKING:
    from tpu_audit.rules.text import SourceText

_KEYWORDS = frozenset(
    [
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "while",
        "until",
        "do",
        "done",
        "for",
        "select",
        "!",
        "{",
        "}",
        "time",
    ]
)
_RUNNERS = frozenset(
    ["sudo", "exec", "nohup", "command", "nice", "ionice", "eatmydata", "builtin", "watch"]
)
_SETTERS = frozenset(["export", "declare", "typeset", "local", "readonly", "env", "setenv"])
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_REDIRECTION = re.compile(r"[0-9]*[<>]|&>")
_SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh", "ssh"])
_MAX_DEPTH = 20


@dataclass(slots=True)
class _Simple:
    """One command as it is collected."""

    tokens: list[Token] = field(default_factory=list)
    skip: bool = False
    """The next word is a redirection's target."""


def commands(source: SourceText, text: str, start: int, end: int, depth: int = 0) -> list[Command]:
    """Return the commands of ``text[start:end]``, those in ``$(...)`` and here-documents too.

    ``text`` is the source's text, or that text with parts masked at the same length.
    """
    tokenizer = Tokenizer(text, start, end)
    found: list[Command] = []
    simple = _Simple()
    bodies = 0
    for token in tokenizer.tokens():
        if token.kind == "word":
            _add(simple, token)
        elif _REDIRECTION.match(token.text):
            simple.skip = True
        else:
            command = _finish(source, text, simple)
            for low, high in tokenizer.bodies[bodies:]:
                if command and command.name in _SHELLS and depth < _MAX_DEPTH:
                    found += commands(source, text, low, high, depth + 1)
            bodies = len(tokenizer.bodies)
            found += _with_inner(source, text, simple, command, depth)
            simple = _Simple()
    found += _with_inner(source, text, simple, _finish(source, text, simple), depth)
    return found


def _add(simple: _Simple, token: Token) -> None:
    if simple.skip:
        simple.skip = False
    elif simple.tokens or token.text not in _KEYWORDS or token.end - token.start > len(token.text):
        simple.tokens.append(token)


def _with_inner(
    source: SourceText, text: str, simple: _Simple, command: Command | None, depth: int
) -> list[Command]:
    found = [command] if command else []
    if depth < _MAX_DEPTH:
        for token in simple.tokens:
            for low, high in token.inner:
                found += commands(source, text, low, high, depth + 1)
        if command and (script := _script(simple, command)):
            found += commands(source, text, *script, depth + 1)
    return found


def _script(simple: _Simple, command: Command) -> tuple[int, int] | None:
    """Return the place of the script in ``bash -c '...'``."""
    if command.name not in _SHELLS:
        return None
    flags = [place for place, word in enumerate(command.words) if re.match(r"-\w*c$", word.text)]
    if not flags or flags[0] + 1 >= len(command.words):
        return None
    token = simple.tokens[len(simple.tokens) - len(command.words) + flags[0] + 1]
    quoted = token.end - token.start >= len(token.text) + 2
    return (token.start + 1, token.end - 1) if quoted else None


def _finish(source: SourceText, text: str, simple: _Simple) -> Command | None:
    """Make a command of the collected words; None when there are none."""
    tokens = simple.tokens
    if not tokens:
        return None
    assignments, rest = [], 0
    while rest < len(tokens):
        token = tokens[rest]
        if match := _ASSIGNMENT.match(text, token.start, token.end):
            assignments.append(_entry(source, token, match))
        elif not _stands_before(tokens, rest):
            break
        rest += 1
    if _sets_only(tokens[:rest]):
        assignments += _bare_pair(source, tokens, rest)
        rest = len(tokens)
    words = tuple(Word(text=t.text, span=source.span(t.start, t.end)) for t in tokens[rest:])
    span = source.span(tokens[0].start, tokens[-1].end)
    return Command(words=words, span=span, assignments=tuple(assignments))


def _stands_before(tokens: list[Token], place: int) -> bool:
    """Tell a word that only runs or sets what comes next: sudo, env, export and their options."""
    word = tokens[place].text
    before = {token.text for token in tokens[:place]}
    if word in _RUNNERS or word in _SETTERS:
        after = tokens[place + 1].text if place + 1 < len(tokens) else ""
        # ``command -v program`` asks where it is, and does not run it.
        return bool(after) and (word, after) not in {("command", "-v"), ("command", "-V")}
    return word.startswith("-") and bool(before & (_RUNNERS | _SETTERS))


def _sets_only(before: list[Token]) -> bool:
    """Tell ``export A=1 B``: what follows are names, not a command as after ``env``."""
    return any(token.text in _SETTERS and token.text != "env" for token in before)


def _bare_pair(source: SourceText, tokens: list[Token], rest: int) -> list[Entry]:
    """Return csh's ``setenv NAME value``."""
    if tokens[rest - 1].text != "setenv" or rest + 1 >= len(tokens):
        return []
    name, value = tokens[rest], tokens[rest + 1]
    return [
        Entry(
            keys=(name.text,),
            value=value.text,
            span=source.span(value.start, value.end),
            key_span=source.span(name.start, name.end),
        )
    ]


def _entry(source: SourceText, token: Token, match: re.Match[str]) -> Entry:
    return Entry(
        keys=(match.group(1),),
        value=token.text[match.end() - match.start() :],
        span=source.span(match.end(), token.end),
        key_span=source.span(match.start(1), match.end(1)),
    )
