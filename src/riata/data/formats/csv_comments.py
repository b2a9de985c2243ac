"""Lines of comments left out of text: Arrow takes them for rows where they have as many cells as rows have."""

import io
import re
from typing import Any


class WithoutComments(io.RawIOBase):
    """A stream of UTF-8 text without the lines that begin so; what looks like one inside quotes is none."""

    def __init__(self, text: Any, comment: str, quote: str) -> None:
        self._text, self._quote = text, quote.encode()
        self._begins = re.compile(rb"^[ \t]*" + re.escape(comment.encode()), re.MULTILINE)
        self._rest = b""  # a line that has not ended yet
        self._ready = memoryview(b"")
        self._quoted = False  # whether the text so far ends inside quotes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            # Arrow's `read` would never give back the memory for text that then cannot be decoded
            block = bytes(buffer[: self._text.readinto(buffer)])
            text = self._rest + block
            end = text.rfind(b"\n") + 1 if block else len(text)
            self._rest = text[end:]
            self._ready = memoryview(self.without(text[:end]))
            if not block:
                break
        n_bytes = min(len(buffer), len(self._ready))
        buffer[:n_bytes] = self._ready[:n_bytes]
        self._ready = self._ready[n_bytes:]
        return n_bytes

    def without(self, lines: bytes) -> bytes:
        """Whole lines, less those of comments."""
        if self._begins.search(lines) is None:
            self._quoted ^= self._has_odd_quotes(lines)
            return lines
        kept = []
        for line in lines.splitlines(keepends=True):
            if self._quoted or not self._begins.match(line):
                kept.append(line)
                self._quoted ^= self._has_odd_quotes(line)
        return b"".join(kept)

    def _has_odd_quotes(self, text: bytes) -> bool:
        return bool(self._quote) and text.count(self._quote) % 2 == 1

    def close(self) -> None:
        self._text.close()
        super().close()
