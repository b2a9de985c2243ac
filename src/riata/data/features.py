"""Groups, penalty factors and bounds of features, by their names or by the columns they come from."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from riata.data.columns.categories import Category
from riata.data.columns.column import Encoder
from riata.data.columns.crosses import Cross
from riata.data.columns.dates import Date
from riata.data.columns.numbers import Number
from riata.data.columns.products import Product
from riata.data.dataset import Dataset
from riata.data.encoding import Encoding
from riata.errors import OptionError
from riata.near_misses import did_you_mean

GROUPED = (Category.kind, Date.kind, Number.kind)  # columns whose features are one group; words and lists are not
MOST_NAMED = 1 << 24  # features of which each has a place in arrays and lists
INCREASING, DECREASING = "increasing", "decreasing"  # orders of levels, by their size or by the alphabet


def groups_of(groups: Any, data: Dataset) -> np.ndarray | None:
    """The number of every feature's group: features of one label, or those of one column for "columns"."""
    if groups is None:
        return None
    check_each_has_a_place(data)
    if isinstance(groups, str):
        if groups != "columns" or data.encoding is None:
            raise OptionError(
                "groups must be one label for each feature, or 'columns' for data that riata.open made of columns, "
                f"not {groups!r}"
            )
        return np.unique(_groups_by_column(data.encoding), return_inverse=True)[1]
    if (listed := groups_listed(groups, data)) is not None:
        numbers = np.empty(data.n_features, dtype=np.int64)
        for number, features in enumerate(listed):
            numbers[features] = number
        return numbers
    labels = np.asarray(groups)
    if labels.shape != (data.n_features,):
        raise OptionError(f"groups must be one label for each of the {data.n_features} features")
    try:
        return np.unique(labels, return_inverse=True)[1]
    except TypeError:
        raise OptionError("groups must be labels of one kind, numbers or texts, and none may be None") from None


def groups_listed(groups: Any, data: Dataset) -> list[list[int]] | None:
    """The features of each group, where groups are lists of features or columns; any other is a group by itself."""
    given = list(groups.values()) if isinstance(groups, Mapping) else groups
    if not isinstance(given, list | tuple) or not all(isinstance(one, list | tuple | set | frozenset) for one in given):
        return None
    places, listed = _places(data), []
    for names in given:
        if not names:
            raise OptionError("groups has a list without a feature: leave it out")
        listed.append(sorted({j for name in names for j in _found("groups", name, places)}))
    named = set().union(*listed)
    return [*listed, *([j] for j in range(data.n_features) if j not in named)]


def groups_by_heredity(heredity: str, data: Dataset) -> list[list[int]]:
    """Groups of features with which an interaction is in only beside those that it is of (Lim & Hastie, 2015).

    Strong: every interaction has a group with both; weak: one with each of them. Others are groups by themselves.
    """
    places, start = _places(data), 0
    groups: list[list[int]] = []
    for encoder in data.encoding.encoders if data.encoding else ():
        factors = encoder.factors() if isinstance(encoder, Product | Cross) else []
        for j, pair in enumerate(factors, start):
            mains = [] if pair is None else [_main_of(name, encoder, places) for name in pair]
            groups += [[*mains, j]] if heredity == "strong" or not mains else [[main, j] for main in mains]
        start += encoder.width
    if not groups:
        raise OptionError(
            "heredity is about interactions, and there are none: name some (interactions), or leave it out"
        )
    interactions = {group[-1] for group in groups}
    return [*([j] for j in range(data.n_features) if j not in interactions), *groups]


def _main_of(name: str, encoder: Encoder, places: dict[str, list[int]]) -> int:
    """The feature of this name, or that of the number whose value is crossed as a level."""
    column = next((one for one in encoder.columns if name.startswith(f"{one}=")), name)
    found = places.get(name) or places.get(column)
    if found is None:
        raise OptionError(f"heredity needs {name!r} beside {encoder.column!r}, and it is no feature: do not drop it")
    return found[0]


def orders_of(bounds: Any, data: Dataset) -> list[list[int]]:
    """The features of columns whose bounds are an order of their levels, in the order of rising coefficients."""
    if not isinstance(bounds, Mapping):
        return []
    return [_in_order(column, order, data) for column, order in bounds.items() if isinstance(order, str)]


def with_signs_of_two(bounds: Any, data: Dataset) -> Any:
    """The bounds where an order of two levels, which have one feature, is the sign of its coefficient."""
    if not isinstance(bounds, Mapping):
        return bounds
    return {name: _sign_of_two(name, one, data) if isinstance(one, str) else one for name, one in bounds.items()}


def _sign_of_two(column: Any, order: str, data: Dataset) -> Any:
    encoder, _ = _category(column, order, data)
    if len(encoder.levels) != 1 or encoder.missing or not encoder.others:
        return order
    level, other = encoder.levels[0], encoder.others[0]
    return (0.0, None) if _levels_in_order(column, order, [other, level])[-1] == level else (None, 0.0)


def _in_order(column: Any, order: str, data: Dataset) -> list[int]:
    """The features of the levels of a column, as they are said to rise."""
    encoder, start = _category(column, order, data)
    return [start + encoder.levels.index(level) for level in _levels_in_order(column, order, encoder.levels)]


def _category(column: Any, order: str, data: Dataset) -> tuple[Category, int]:
    """The encoder of a column of levels, and the number of its first feature."""
    start = 0
    for encoder in data.encoding.encoders if data.encoding else ():
        if isinstance(encoder, Category) and encoder.column == column:
            return encoder, start
        start += encoder.width
    raise OptionError(
        f"bounds say {order!r} of {column!r}, and there is no column of levels of that name: an order is for those "
        "(categorical)"
    )


def _levels_in_order(column: Any, order: str, known: Sequence[str]) -> list[str]:
    """All levels of a column as they are said to rise: increasing, decreasing, or their names with < between them."""
    levels = [level.strip() for level in order.split("<")]
    if order in (INCREASING, DECREASING):
        levels = sorted(known, key=_as_number_or_text)
        levels = levels[::-1] if order == DECREASING else levels
    unknown, left_out = [one for one in levels if one not in known], [one for one in known if one not in levels]
    if unknown:
        hint = did_you_mean(unknown[0], known)
        raise OptionError(f"bounds of {column!r} name {unknown[0]!r}, and it has no such level{hint}")
    if left_out or len(set(levels)) < len(levels) or len(levels) < 2:
        what = f"leave out {left_out[0]!r}" if left_out else "do not name two or more, each once"
        raise OptionError(
            f"bounds of {column!r} {what}: write all levels in the order of rising coefficients, as in 'low<mid<high', "
            "or 'increasing' or 'decreasing' for their own order"
        )
    return levels


def _as_number_or_text(level: str) -> tuple[bool, float, str]:
    """Numbers by their size, before texts by the alphabet."""
    try:
        return False, float(level), level
    except ValueError:
        return True, 0.0, level


def _groups_by_column(encoding: Encoding) -> list[int]:
    """A number for every feature, which the features of one column share."""
    numbers: list[int] = []
    for encoder in encoding.encoders:
        start = len(numbers)
        grouped = encoder.kind in GROUPED
        numbers += [start] * encoder.width if grouped else list(range(start, start + encoder.width))
    return numbers


def factors_of(given: Any, data: Dataset) -> Any:
    """Penalty factors of all features, from {feature or column: number}, where the others are 1; else as given."""
    if not isinstance(given, Mapping):
        return given
    check_each_has_a_place(data)
    factors = np.ones(data.n_features)
    for features, factor in _of_features("penalty_factors", given, data):
        factors[features] = factor
    return factors


def bounds_of(given: Any, data: Dataset) -> np.ndarray | None:
    """(least, most) of every feature's coefficient, from {feature or column: pair}, or from a pair for each feature."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        check_each_has_a_place(data)
        bounds = np.tile([-np.inf, np.inf], (data.n_features, 1))
        pairs = [_bounds_of_one(name, pair) for name, pair in given.items()]
        for (features, _), pair in zip(_of_features("bounds", given, data), pairs, strict=True):
            bounds[features] = pair
        return bounds
    try:
        several = list(given)
    except TypeError:
        several = []
    if len(several) != data.n_features:
        raise OptionError(
            f"bounds must be {{name: (least, most)}}, or such a pair for each of the {data.n_features} features"
        )
    return np.array([_bounds_of_one(f"x{j}", pair) for j, pair in enumerate(several)])


def _bounds_of_one(name: Any, pair: Any) -> tuple[float, float]:
    """(least, most) as numbers; None is no bound."""
    try:
        least, most = pair
        least, most = -np.inf if least is None else float(least), np.inf if most is None else float(most)
    except (TypeError, ValueError):
        least = most = np.nan
    if np.isnan(least) or np.isnan(most):
        raise OptionError(
            f"bounds of {name!r} must be two numbers, the least and the most that its coefficient may be, where one "
            f"may be missing, not {pair!r}"
        )
    if least > most:
        raise OptionError(f"bounds of {name!r} leave no number: {least:g} is above {most:g}")
    if not least <= 0.0 <= most:
        raise OptionError(
            f"bounds of {name!r} from {least:g} to {most:g} leave out 0, the coefficient of a feature that is not in "
            "the model: take bounds with 0 between them"
        )
    return least, most


def _of_features(what: str, given: Mapping[Any, Any], data: Dataset) -> Iterator[tuple[list[int], Any]]:
    """The features that each name stands for, with its value."""
    places = _places(data)
    for name, value in given.items():
        yield _found(what, name, places), value


def _places(data: Dataset) -> dict[str, list[int]]:
    """The features that the names of features and columns stand for."""
    check_each_has_a_place(data)
    names = data.feature_names
    place = {str(name): [j] for j, name in enumerate(names if names is not None else _numbered(data.n_features))}
    start = 0
    for encoder in data.encoding.encoders if data.encoding else ():
        place.setdefault(encoder.column, list(range(start, start + encoder.width)))
        start += encoder.width
    return place


def _found(what: str, name: Any, places: dict[str, list[int]]) -> list[int]:
    if not isinstance(name, Hashable) or name not in places:
        hint = did_you_mean(str(name), places)
        raise OptionError(f"{what} name {name!r}, and there is no such feature or column{hint}")
    return places[name]


def check_each_has_a_place(data: Dataset) -> None:
    """Refuse what is said of single features where hashes number so many that there is no list of them."""
    if data.n_features > MOST_NAMED:
        raise OptionError(
            "groups, bounds and penalty factors are of features that can be listed, and here hashes tell "
            f"{data.n_features:,} apart: choose another solver"
        )


def _numbered(n_features: int) -> Iterator[str]:
    return (f"x{j}" for j in range(n_features))
