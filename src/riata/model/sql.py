"""A model as an SQL expression over the columns of a table, which needs no riata to predict.

It is a sum of products: a number with its mean where it is NULL, CASE for levels and gaps, EXTRACT for dates. Words of
a text, hashed levels, lists and crosses have no short expression, and are refused.
"""

from collections.abc import Iterator
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from riata.data.columns.categories import Category
from riata.data.columns.column import MISSING, RARE, Encoder
from riata.data.columns.dates import SECONDS_PER_DAY, WEEKDAYS, Date
from riata.data.columns.numbers import Number
from riata.data.columns.products import Product
from riata.data.encoding import Encoding
from riata.errors import OptionError
from riata.losses.link import CLOGLOG, EXP, IDENTITY, LOGISTIC, SHARE

if TYPE_CHECKING:
    from riata.model.model import Model

LARGEST = 700.0  # whose exponential is a number
SIGMOID = "1e0 / (1e0 + EXP(LEAST(-({z}), {largest})))"
PREDICTED = {
    IDENTITY: "{z}",
    EXP: "EXP({z})",
    LOGISTIC: SIGMOID,
    SHARE: SIGMOID,
    CLOGLOG: "1e0 - EXP(-EXP(LEAST({z}, {largest})))",
}
EXTRACTED = {"month": "MONTH", "weekday": "ISODOW", "hour": "HOUR"}


def sql_of(model: "Model", output: str | None = None) -> str:
    """The prediction of a number or a probability; of several outputs or other links, the margin."""
    z = _margin(model, _place(model, output))
    link = model.link_function if len(model.intercept) == 1 and model.task != "survival" else IDENTITY
    return PREDICTED.get(link, "{z}").format(z=z, largest=number(LARGEST))


def what_it_gives(model: "Model") -> str:
    """What the expression is, in words."""
    if len(model.intercept) > 1 or model.task == "survival" or model.link_function not in PREDICTED:
        return "the sum of coefficients, which is the margin"
    if model.classes is not None and model.link_function.probabilities:
        return f"the probability of {model.classes[1]}"
    return "the prediction" if model.classes is None else f"the margin, which is positive for {model.classes[1]}"


def _place(model: "Model", output: str | None) -> int:
    """Which of the margins is asked for."""
    if len(model.intercept) == 1 and output is None:
        return 0
    if output in model.outputs:
        return model.outputs.index(output)
    known = ", ".join(map(repr, model.outputs))
    if not known:
        raise OptionError(f"the model has one output, and no {output!r}")
    raise OptionError(f"a model of several outputs is an expression for each: name one of {known}")


def _margin(model: "Model", place: int) -> str:
    if model.normalize is not None:
        raise OptionError("rows are divided by their norm, which needs every column: that is no short SQL expression")
    if len(set(model.names)) < len(model.names):
        raise OptionError("two features of the model have the same name, and cannot be told apart: fit it again")
    values = _values(model)
    terms = [number(model.intercept[place])]
    terms += [f"{number(c)} * {values[name]}" for name, c in zip(model.names, model.coef[place], strict=True) if c != 0]
    if (offset := model.offset) is not None:
        if offset.column is None:
            raise OptionError(f"the model has an {offset.role} that is no column: SQL cannot name it")
        terms.append(f"LN({name_of(offset.column)})" if offset.exposure else name_of(offset.column))
    return " + ".join(terms)


def _values(model: "Model") -> dict[str, str]:
    """The value of every feature of a model, by name."""
    if model.encoding is None:
        return {name: _as_number(name) for name in model.names}
    found: dict[str, str] = {}
    for encoder in Encoding.from_json(model.encoding).encoders:
        wanted = set(model.names)
        if encoder.gives(wanted):
            found |= {name: value for name, value in features_of(encoder) if name in wanted}
    return found


@singledispatch
def features_of(encoder: Encoder) -> Iterator[tuple[str, str]]:
    """The features that an encoder makes: their names, and the SQL of their values."""
    raise OptionError(
        f"column {encoder.column!r} becomes features of the kind {encoder.kind!r}, which SQL cannot express"
    )


@features_of.register
def _(encoder: Number) -> Iterator[tuple[str, str]]:
    yield encoder.column, f"COALESCE({_as_number(encoder.column)}, {number(encoder.mean)})"
    if encoder.missing:
        yield f"{encoder.column}={MISSING}", _one_if(f"{name_of(encoder.column)} IS NULL")


@features_of.register
def _(encoder: Category) -> Iterator[tuple[str, str]]:
    text = f"CAST({name_of(encoder.column)} AS VARCHAR)"
    for level in encoder.levels:
        yield f"{encoder.column}={level}", _one_if(f"{text} = {string(level)}")
    if encoder.rare:
        others = f" AND {text} NOT IN ({', '.join(map(string, encoder.levels))})" if encoder.levels else ""
        yield f"{encoder.column}={RARE}", _one_if(f"{name_of(encoder.column)} IS NOT NULL{others}")
    if encoder.missing:
        yield f"{encoder.column}={MISSING}", _one_if(f"{name_of(encoder.column)} IS NULL")


@features_of.register
def _(encoder: Date) -> Iterator[tuple[str, str]]:
    at = f"CAST({name_of(encoder.column)} AS TIMESTAMP)"
    days = f"EXTRACT(EPOCH FROM {at}) / {number(SECONDS_PER_DAY)}"
    yield f"{encoder.column}.days", f"(COALESCE({days}, {number(encoder.mean)}) - {number(encoder.origin)})"
    for part, codes in encoder.parts.items():
        for code in codes:
            named = WEEKDAYS[code] if part == "weekday" else code
            counted = code + 1 if part == "weekday" else code  # weekdays are counted from 1 on, Monday
            yield f"{encoder.column}.{part}={named}", _one_if(f"EXTRACT({EXTRACTED[part]} FROM {at}) = {counted}")
    if encoder.missing:
        yield f"{encoder.column}={MISSING}", _one_if(f"{name_of(encoder.column)} IS NULL")


@features_of.register
def _(encoder: Product) -> Iterator[tuple[str, str]]:
    left, right = (dict(features_of(part)) for part in encoder.parts)
    for name, (one, other) in zip(encoder.names, encoder.factors(), strict=True):
        yield name, f"({left[one]} * {right[other]})"


def _one_if(condition: str) -> str:
    return f"CASE WHEN {condition} THEN 1 ELSE 0 END"


def _as_number(column: str) -> str:
    return f"CAST({name_of(column)} AS DOUBLE PRECISION)"


def name_of(column: str) -> str:
    """A column's name as SQL quotes it."""
    if "\\" in column:
        raise OptionError(f"the name {column!r} has a backslash, which some databases take for more than a letter")
    return _quoted(column, '"')


def string(text: str) -> str:
    """A string as SQL quotes it. To some databases a backslash in it would say that a quote is none."""
    parts = [_quoted(part, "'") for part in text.split("\\")]
    return parts[0] if len(parts) == 1 else f"CONCAT({', CHR(92), '.join(parts)})"


def _quoted(text: str, mark: str) -> str:
    if "\0" in text:
        raise OptionError(f"{text!r} has a character of code 0, which SQL cannot express")
    return f"{mark}{text.replace(mark, mark * 2)}{mark}"


def number(value: float | np.floating) -> str:
    """A number of floating point with all its digits, in brackets where it is negative."""
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if value < 0 else text
