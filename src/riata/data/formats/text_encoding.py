"""The encoding of a text file: UTF-8, UTF-16 or Latin-1, told by its first bytes; and its text as UTF-8."""

import codecs
from typing import Any

import pyarrow as pa

UTF8 = "utf-8"
ONE_BYTE = ("latin-1", "windows-1252")  # encodings in which a line end is the byte that it is in UTF-8
MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16",
         codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip


def encoding_of(head: bytes) -> str:
    """The encoding of text that begins so."""
    for mark, name in MARKS.items():
        if head.startswith(mark):
            return name
    even, odd = head[:4096:2], head[1:4096:2]
    for zeros, letters, name in ((even, odd, "utf-16-be"), (odd, even, "utf-16-le")):
        if zeros.count(0) > 0.5 * len(zeros) and letters.count(0) < 0.1 * len(letters):  # Latin letters in two bytes
            return name
    try:
        codecs.getincrementaldecoder(UTF8)().decode(head)  # the last letter may be cut
        return UTF8
    except UnicodeDecodeError:
        pass
    try:
        head.decode("windows-1252")
        controls = any(0x80 <= byte < 0xA0 for byte in set(head))
        return "windows-1252" if controls else "latin-1"
    except UnicodeDecodeError:
        return "latin-1"


def marked(encoding: str, head: bytes) -> str:
    """The encoding that was named; without the order of its bytes where they begin with a mark, which is no letter."""
    wide = codecs.lookup(encoding).name[:6]
    return wide if wide in MARKS.values() and encoding_of(head) == wide else encoding


def plain_utf8(encoding: str) -> bool:
    """Whether text of this encoding is UTF-8 as it stands, but perhaps for a byte-order mark."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")


def one_byte(encoding: str) -> bool:
    """Whether every letter is one byte."""
    return codecs.lookup(encoding).name in [codecs.lookup(name).name for name in ONE_BYTE]


def as_utf8(stream: Any, encoding: str) -> Any:
    """A stream of bytes as one of UTF-8."""
    if plain_utf8(encoding):
        return stream
    native = stream if isinstance(stream, pa.NativeFile) else pa.PythonFile(stream, "r")
    return pa.transcoding_input_stream(native, encoding, "utf8")


def utf8_of(head: bytes, encoding: str) -> bytes:
    """The first bytes of a file as UTF-8; the last letter may be cut."""
    if plain_utf8(encoding):
        return head
    return codecs.getincrementaldecoder(encoding)(errors="replace").decode(head).encode()
