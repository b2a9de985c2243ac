"""Columns that should not be in a model: what is noticed, and which are left out. The rules are in docs/data.md.

Few rows tell nothing: with less than `ENOUGH_ROWS` every column is taken as it is.
"""

import math
import re
from typing import NamedTuple

import pyarrow as pa

from riata.data.cells.column_look import SOME_NUMBER
from riata.data.cells.matching import matching
from riata.data.cells.numbers import unit_of
from riata.data.columns.arrow_values import string_array
from riata.data.columns.categories import Category, HashedCategory, fewest_rows
from riata.data.columns.column import ENOUGH_ROWS, Encoder
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.row_order import UNIQUE
from riata.data.columns.texts import Text

LEAK = 0.5  # a column that alone explains more of the target than this is pointed out
COPY = 0.9995
TELLS = 0.95  # and one that explains more than this of one among several classes
A_SENTENCE = 3  # words at least
MOST_NUMBERS = 32  # written as text with a point or a comma, such as 1.6 and 2.0, that may be levels
ID_WORDS = {"id", "ids", "idx", "index", "key", "uuid", "guid", "row", "rowid", "rownum", "serial"}


class Unfit(NamedTuple):
    """Why a column should not be in, as a sentence; and the end of a short one where it is left out."""

    sentence: str
    why: str | None = None

    @property
    def left_out(self) -> bool:
        return self.why is not None


def unfit(name: str, found: ColumnProfile, n_rows: int, encoder: Encoder) -> Unfit | None:
    """What there is to say against a column with this encoder, if anything; whatever the target is."""
    if n_rows < ENOUGH_ROWS or found.type not in ("number", "category", "date", "text"):
        return None
    return (
        _says_nothing(name, found, n_rows)
        or _has_too_many_values(name, found, n_rows, encoder)
        or _may_be_an_identifier(name, found)
    )


def _says_nothing(name: str, found: ColumnProfile, n_rows: int) -> Unfit | None:
    """A column without values, or with a single one."""
    if found.missing == n_rows or (found.type == "text" and found.levels == 0):
        return Unfit(f"column {name!r} is empty: left out", "is empty")
    if found.missing == 0 and _constant(found):
        why = "has the same value in all rows"
        return Unfit(f"column {name!r} {why}: left out", why)
    return None


def _has_too_many_values(name: str, found: ColumnProfile, n_rows: int, encoder: Encoder) -> Unfit | None:
    """A column of levels or words, most of which few rows have."""
    n_valid, distinct = n_rows - found.missing, found.distinct or 0
    kept = ", but for whether there is one" if found.missing else ""
    own = found.type == "category" and distinct > UNIQUE * n_valid and n_valid >= ENOUGH_ROWS
    many = own or (found.type == "category" and distinct > MOST_NUMBERS)
    if many and (example := _written_number(found)) is not None:
        each = "nearly every row has its own" if own else f"there are {found.distinct:,} different ones"
        return Unfit(
            f"column {name!r} holds numbers that are written as text, such as {example!r}, and {each}: left out{kept}; "
            f"make numbers of them (categorical=[{name!r}] keeps them as they are)",
            "holds numbers that are written as text",
        )
    if own:
        return Unfit(
            f"column {name!r} has another value in nearly every row, as an identifier has, of which nothing can be "
            f"learnt for other rows: left out{kept} (categorical=[{name!r}] keeps it{_words_of(name, found)})",
            "has another value in nearly every row",
        )
    if isinstance(encoder, Category) and encoder.rare and not encoder.levels:
        most = math.ceil(fewest_rows(n_rows)) - 1
        rows = "one row" if most == 1 else f"{most} rows at most"
        return Unfit(
            f"column {name!r} has {found.levels:,} levels of {rows} each, too few to learn from: left out{kept} "
            f"(categorical=[{name!r}] keeps it{_words_of(name, found)})",
            "has rare levels alone",
        )
    if isinstance(encoder, Text) and not encoder.words:
        why = "has no word in rows enough to learn from"
        return Unfit(f"column {name!r} {why}: left out", why)
    if isinstance(encoder, HashedCategory):
        return Unfit(
            f"column {name!r} has about {found.distinct:,} levels in {n_rows:,} rows: hashed into "
            f"{2**encoder.bits:,} features; if it is an identifier, drop it {_dropping(name)}",
        )
    return None


def _may_be_an_identifier(name: str, found: ColumnProfile) -> Unfit | None:
    """A column of numbers or dates that tell rows apart, by what they are or by its name."""
    if found.numbers_rows and named_as_id(name):
        why = "numbers the rows"
        return Unfit(f"column {name!r} {why}: left out (unless it is named among the features)", why)
    if found.numbers_rows:
        what = "dates" if found.type == "date" else "whole numbers"
        return Unfit(
            f"column {name!r} holds {what} of which every row has its own, as if they numbered the rows: kept, but a "
            f"model may learn the order of the file from it; if that means nothing, drop it {_dropping(name)}",
        )
    if found.type == "number" and found.whole and named_as_id(name) and (found.largest, found.least) != (1.0, 0.0):
        return Unfit(
            f"column {name!r} is named as an identifier, and taken for a number: drop it {_dropping(name)}, or "
            f"make levels of it (categorical=[{name!r}])",
        )
    return None


def _written_number(found: ColumnProfile) -> str | None:
    """A value of a column of amounts that no file of text explains, such as $1,391.00 or 7.6 kg in JSON."""
    values = [value for value in found.most_frequent or [] if "." in value or "," in value]  # digits may be names
    unit = unit_of(string_array(values, pa.string()), share=0.9) if values else ""
    bare = [value.removesuffix(unit) for value in values]
    right = values and values == found.most_frequent and matching(bare, SOME_NUMBER).issuperset(bare)
    return values[0] if right else None


def _words_of(name: str, found: ColumnProfile) -> str:
    """What else may be done with values of several words."""
    values = found.most_frequent or []
    sentences = bool(values) and all(len(value.split()) >= A_SENTENCE for value in values)
    return f", text=[{name!r}] counts its words" if sentences else ""


def _dropping(name: str) -> str:
    """How to leave a column out."""
    return f"(drop=[{name!r}])"


def _constant(found: ColumnProfile) -> bool:
    return found.levels == 1 if found.type in ("category", "text") else found.least == found.largest


def named_as_id(name: str) -> bool:
    """Whether a name ends in a word for identifiers, as in customer_id, PassengerId or index, or begins as IDpol."""
    if re.match(r"ID[a-z_]|id_", name):
        return True
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return bool(words) and words[-1].lower() in ID_WORDS


def without_values(encoder: Encoder, found: ColumnProfile) -> list[Encoder]:
    """What remains of the encoder of a column that is left out: whether there is a value, where some have none."""
    some = found.type == "category" and found.missing > 0 and found.distinct
    return [Category(encoder.column, (), False, True)] if some else []


def leak(name: str, found: ColumnProfile, target: str) -> str | None:
    """A sentence on a column that gives the target away."""
    advice = f"if it is not known when predicting, drop it {_dropping(name)}"
    if (found.explains or 0.0) > COPY:
        return f"column {name!r} is all but a copy of {target!r}: {advice}"
    if (found.explains or 0.0) > LEAK:
        return f"column {name!r} alone explains {found.explains:.0%} of {target!r}: {advice}"
    if found.tells is not None and found.tells.share > TELLS:
        share = f"{found.tells.share:.0%}"
        return f"column {name!r} alone explains {share} of whether {target!r} is {found.tells.label!r}: {advice}"
    return None
