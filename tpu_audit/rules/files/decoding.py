"""Bytes of a file as text and back, keeping byte order mark, encoding and line ends."""

from __future__ import annotations

import codecs
import io
import tokenize
from dataclasses import dataclass

from tpu_audit.rules.files.errors import NotReadableError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Decoded:
    """A file's text, and what is needed to write it back."""

    text: str
    encoding: str
    bom: bytes = b""

    def encode(self, text: str) -> bytes:
        """Bytes of ``text`` in the file's encoding, its mark in front.

        Raises ``UnicodeEncodeError`` when the encoding lacks a character.
        """
        return self.bom + text.encode(self.encoding, _errors(self.encoding))


def decode(data: bytes, *, python: bool = False) -> Decoded:
    """Decode a file: by its mark, for Python by its declaration, else as UTF-8.

    Bytes of other files that are not UTF-8 come out as lone surrogates, which ``encode`` turns
    back. Raises ``NotReadableError`` for binary files, and for Python that Python would not read.
    """
    bom, encoding = next((pair for pair in _BOMS if data.startswith(pair[0])), (b"", "utf-8"))
    if python and encoding == "utf-8":
        encoding = _declared(data)
    body = data[len(bom) :]
    if b"\0" in body and encoding[:6] not in {"utf-16", "utf-32"}:
        raise NotReadableError("it holds null bytes: a binary file or a damaged one")
    try:
        text = body.decode(encoding, "strict" if python else _errors(encoding))
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        message = f"byte {error.object[error.start]:#04x} is not {encoding}"
        raise NotReadableError(message, line=line) from error
    except (LookupError, UnicodeError) as error:  # idna, punycode and the like
        raise NotReadableError(f"it cannot be decoded as {encoding}") from error
    return Decoded(text=text, encoding=encoding, bom=bom)


def _errors(encoding: str) -> str:
    return "surrogateescape" if encoding == "utf-8" else "strict"


def _declared(data: bytes) -> str:
    """Return the encoding that a Python file declares."""
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(data[:4096]).readline)
    except SyntaxError as error:
        _refuse_other_bytes(data)
        raise NotReadableError("it declares an encoding that Python lacks", line=1) from error
    if name == "utf-8-sig":
        return "utf-8"
    if not _extends_ascii(name):
        raise NotReadableError(f"it declares {name}, which Python does not read", line=1)
    return name


def _extends_ascii(name: str) -> bool:
    """Tell an encoding that a declaration can be read in: not UTF-16, nor one that is no text's."""
    try:
        return "#".encode(name) == b"#"
    except (LookupError, UnicodeError):
        return False


def _refuse_other_bytes(data: bytes) -> None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise NotReadableError("it is neither UTF-8 nor says what it is", line=line) from error
