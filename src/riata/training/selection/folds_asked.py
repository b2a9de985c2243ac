"""Which folds a spec asks for, on these rows: as many as `cv` says, by what columns say of the rows, or as given."""

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import numpy as np

from riata.arrays import to_host
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.fold_rules import MOST_FOLDS, as_given, forward, grouped, numbered, row_numbers, stratified
from riata.data.folds import Folds, by_position
from riata.data.row_marks import FOLDS, GROUPS, OF_FOLDS, TIME, Mark, MarksGiven
from riata.data.row_numbers import RowNumbers
from riata.errors import OptionError
from riata.training.spec import Spec

WAYS = (
    "cv must be a whole number of at least 2 folds, a splitter of scikit-learn, one fold number for each row, or pairs "
    "(rows to learn from, rows to score)"
)
DAYS = {"": 1.0, "D": 1.0, "H": 1 / 24, "MIN": 1 / 1440, "S": 1 / 86400, "W": 7.0}


def folds_asked(data: Dataset, spec: Spec) -> Folds:
    """The folds of a search; classes have about the same share in each, where nothing else is asked for."""
    cv, seed, marks = spec.cv, spec.seed or 0, data.facts.marks
    named = [] if marks is None else [role for role in marks.columns if role in OF_FOLDS]
    if len(named) > 1:
        raise OptionError(f"folds are by groups, by time or by numbers: give one of {' and '.join(named)}")
    if TIME not in named and spec.gap not in (0, None):
        raise OptionError("a gap lies between blocks in time: give it beside time, the column that orders the rows")
    if not _is_number(cv):
        if FOLDS in named or TIME in named:
            raise OptionError(f"{named[0]} makes the folds itself: give no cv beside it but a number of folds")
        return _given(data, cv, None if marks is None or GROUPS not in marks else marks[GROUPS])
    cv = n_folds_of(cv)
    if marks is not None and FOLDS in marks:
        return numbered(marks[FOLDS])
    if marks is not None and TIME in marks:
        return forward(marks[TIME], cv, *_gap(spec.gap, marks[TIME]))
    if marks is not None and GROUPS in marks:
        return grouped(marks[GROUPS], cv, seed, strata=class_codes(data))
    strata = class_codes(data)
    return by_position(cv, seed) if strata is None else stratified(strata, cv, seed)


def folds_by_value(data: Dataset, n_folds: int, seed: int) -> Folds | None:
    """Folds by what each row is, whatever is beside it, so that those of several days go together; None for one."""
    marks = data.facts.marks
    if marks is not None and FOLDS in marks:
        return numbered(marks[FOLDS])
    if n_folds == 1:
        return None
    if marks is not None and TIME in marks:
        return forward(marks[TIME], n_folds)
    if marks is not None:
        return grouped(marks[GROUPS], n_folds, seed, by_value=True)
    return by_position(n_folds, seed)


def halves_of(data: Dataset) -> Callable[[int], Folds]:
    """A function from seeds to random halves of the rows, which keep groups whole and shares of classes alike."""
    marks, strata = data.facts.marks, class_codes(data)
    if marks is not None and GROUPS in marks:
        mark = marks[GROUPS]
        return lambda seed: grouped(mark, 2, seed, at_random=True)
    if strata is None:
        return lambda seed: by_position(2, seed)
    return lambda seed: stratified(strata, 2, seed)


def class_codes(data: Dataset) -> RowNumbers | None:
    """The place of every row's class among the classes: one pass; None where the target is a number."""

    def codes(chunk: Chunk) -> np.ndarray:
        return to_host(chunk.y).astype(np.uint16)

    return None if data.classes is None else row_numbers(data, codes, np.uint16)


def n_folds_of(cv: Any) -> int:
    """The number of folds, where it is all that is asked for."""
    if not _is_number(cv):
        raise OptionError(f"{WAYS}, not {cv!r}")
    if cv < 2:
        raise OptionError(f"cv must be a whole number of at least 2 folds, and not {cv}")
    return int(cv)


def _is_number(cv: Any) -> bool:
    return isinstance(cv, int | np.integer) and not isinstance(cv, bool)


def _given(data: Dataset, cv: Any, groups: Mark | None) -> Folds:
    """Folds that the user has made: by a splitter, by a number for each row, or row by row."""
    if isinstance(cv, str):
        raise OptionError(
            f"cv={cv!r} is no number of folds; a column of fold numbers is named when data is opened: "
            f"riata.open(..., folds={cv!r})"
        )
    if hasattr(cv, "split"):
        strata = class_codes(data)
        y = (row_numbers(data, lambda chunk: to_host(chunk.y), np.float64) if strata is None else strata).all()
        belongs = None if groups is None else groups.numbers.all()
        try:
            pairs = list(islice(cv.split(np.empty((len(y), 0)), y, belongs), MOST_FOLDS + 1))
        except (ValueError, TypeError) as error:
            no_groups = "; if it divides groups of rows, give groups beside it" if belongs is None else ""
            raise OptionError(f"{type(cv).__name__} cannot divide these rows: {error}{no_groups}") from error
        return as_given(pairs, len(y), type(cv).__name__)
    if not isinstance(cv, Iterable):
        raise OptionError(f"{WAYS}, not {cv!r}")
    kept = data.kept
    given: Any = cv if hasattr(cv, "__len__") else list(cv)
    if not isinstance(given, list | tuple) or (len(given) and np.isscalar(given[0])):
        return numbered(MarksGiven({FOLDS: given}, data.n_rows if kept is None else len(kept), kept)[FOLDS])
    return as_given(given, data.n_rows, kept=kept)


def _gap(gap: Any, mark: Mark) -> tuple[float, str | None]:
    """The gap in the unit of the times, and as it is said: of dates in days, unless it has a unit of its own."""
    match = re.fullmatch(r"([0-9.]+)\s*([A-Z]*)", "0" if gap is None else str(gap).strip().upper())
    unit = match[2] if match else None
    try:
        if match and (unit == "" or (mark.dates and unit in DAYS)):
            value = float(match[1]) * (DAYS[match[2]] if mark.dates else 1.0)
            said = f"{match[1]} day{'' if value == 1 else 's'}" if mark.dates and unit == "" else str(gap)
            return value, said if value else None
    except ValueError:  # of a number such as 1.2.3
        pass
    ways = "days, or a span such as 7d, 12h or 30min" if mark.dates else f"a number, in the unit of {mark.column!r}"
    raise OptionError(f"gap must be {ways}, not {gap!r}")
