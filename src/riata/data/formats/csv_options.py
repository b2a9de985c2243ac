"""What a user says about text files (`csv={...}`, `--csv KEY=VALUE`); what is not said is found by a first look.

| key        | means                                                                                     |
| separator  | between cells: a character, or tab, space                                                 |
| quote      | around cells: a character, or none                                                        |
| encoding   | of the text, such as utf-8, latin-1, utf-16                                               |
| header     | yes or no: whether the first line has the names of the columns                            |
| skip       | how many lines come before that                                                           |
| units      | yes or no: whether the line after the names has the units of the columns, and no row      |
| comment    | what lines that are no rows begin with, such as #; or none                                |
| decimal    | the decimal mark: . or ,                                                                  |
| thousands  | what divides thousands: , or . or space or '; or none                                     |
| dates      | day first, month first, or a pattern such as %d %b %Y                                     |
| epoch      | columns of seconds (or milliseconds) since 1970; or none                                  |
| missing    | words that stand for a missing value, besides the usual ones                              |
"""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from riata.data.cells.asked import AskedCells
from riata.data.cells.dates import DAY_FIRST, MONTH_FIRST, is_pattern
from riata.errors import OptionError

CHARACTERS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|", "none": "", "no": ""}
ANSWERS = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class CsvOptions:
    """What was said; None for what is to be found."""

    separator: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None
    skip: int | None = None
    units: bool | None = None
    comment: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    dates: str | None = None
    epoch: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()  # columns that a model knows as numbers, which nobody is asked for

    @property
    def cells(self) -> AskedCells:
        return AskedCells(self.decimal, self.thousands, self.dates, self.epoch, self.missing, self.numbers)


KEYS = [field.name for field in fields(CsvOptions) if field.name != "numbers"]


def csv_options(given: Mapping[str, Any] | None) -> CsvOptions:
    """The options in a dictionary, of values or of words."""
    if given is None:
        return CsvOptions()
    if not isinstance(given, Mapping):
        raise OptionError(f"csv is a dictionary such as {{'decimal': ','}}, not {given!r}")
    return CsvOptions(**{key: _value(key, value) for key, value in given.items()})


def _value(key: str, value: Any) -> Any:
    if key not in KEYS:
        raise OptionError(f"there is no option {key!r} for CSV; there are {', '.join(KEYS)}")
    if value is None:
        return () if key == "missing" else None
    if key in ("missing", "epoch"):
        words = (value,) if isinstance(value, str) else tuple(map(str, value))
        return () if key == "epoch" and words in (("none",), ("no",)) else words
    if key in ("header", "units"):
        answer = value if isinstance(value, bool) else ANSWERS.get(str(value).lower())
        return _checked(key, value, answer, answer is not None, "yes or no")
    if key == "skip":
        number = int(value) if str(value).isdigit() else -1
        return _checked(key, value, number, number >= 0, "a number of lines")
    word = str(value)
    if key == "encoding":
        return _checked(key, value, word, _is_encoding(word), "the name of an encoding, such as latin-1")
    if key == "dates":
        word = word.replace("-", " ") if "%" not in word else word
        return _checked(key, value, word, word in (DAY_FIRST, MONTH_FIRST) or is_pattern(word),
                        "'day first', 'month first' or a pattern such as '%d %b %Y'")  # fmt: skip
    character = CHARACTERS.get(word, word)
    if key == "decimal":
        return _checked(key, value, character, character in (".", ","), "'.' or ','")
    if key == "thousands":
        return _checked(key, value, character, character in ("", ",", ".", " ", "'"), "',', '.', space, \"'\" or none")
    least = 1 if key == "separator" else 0
    return _checked(key, value, character, least <= len(character.encode()) <= 1, "one character")


def _checked(key: str, given: Any, value: Any, good: bool, wanted: str) -> Any:
    if not good:
        raise OptionError(f"csv {key} is {wanted}, not {given!r}")
    return value


def _is_encoding(name: str) -> bool:
    try:
        codecs.lookup(name)
    except LookupError:
        return False
    return True
