"""JSON read a piece at a time, so that the text of a large file is not in memory beside what it says."""

import json
from collections.abc import Callable, Iterator
from typing import Any, TextIO

LETTERS = 1 << 16  # of the text that are read at once, at least
BLANKS = " \t\n\r"
DECODER = json.JSONDecoder()


class Pieces:
    """A value of JSON in a file, taken apart from its first letter to its last. What is no JSON is a ValueError."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._text, self._at = file, "", 0

    def value(self) -> Any:
        """The next value, as a whole."""
        self.next_letter()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError:  # it may go on in what is still to be read
                if not self._read_more():
                    raise
                continue
            if end < len(self._text) or not self._read_more():  # a number could go on, too
                self._at = end
                return value

    def object(self, take: "Callable[[str, Pieces], Any]") -> dict[str, Any]:
        """The next value, an object, whose values `take` takes by their keys."""
        found = {}
        for _ in self._items("{", "}"):
            key = self.value()
            if not isinstance(key, str):
                raise ValueError("a key is no text")
            self._expect(":")
            found[key] = take(key, self)
        return found

    def items(self) -> Iterator[Any]:
        """The items of the next value, a list, one by one."""
        for _ in self._items("[", "]"):
            yield self.value()

    def _items(self, begin: str, end: str) -> Iterator[None]:
        """Stop before every item."""
        self._expect(begin)
        if self.next_letter() == end:
            self._expect(end)
            return
        while True:
            yield
            if self.next_letter() == end:
                self._expect(end)
                return
            self._expect(",")

    def next_letter(self) -> str:
        """The next letter that is not blank, which stays there; nothing at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in BLANKS:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read_more():
                return ""

    def _expect(self, letter: str) -> None:
        if self.next_letter() != letter:
            raise ValueError(f"there is no {letter} where one should be")
        self._at += 1

    def _read_more(self) -> bool:
        """Read as much again as is left; whether there was anything."""
        left = self._text[self._at :]
        self._text = left + self._file.read(max(LETTERS, len(left)))
        self._at = 0
        return len(self._text) > len(left)
