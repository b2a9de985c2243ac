"""Which learner sees a column, by its type, its first rows and what the user said of it."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from riata.data.columns.categories import CategoryLearner
from riata.data.columns.column import Learner, as_strings
from riata.data.columns.combined_levels import CROSSED
from riata.data.columns.crosses import CrossLearner
from riata.data.columns.dates import DateLearner, look_like_dates
from riata.data.columns.hashed import LevelsLearner, WordsLearner
from riata.data.columns.lists import DenseLearner, SparseLearner, stem
from riata.data.columns.maps import HASHED, AnyNamesLearner, MapLearner
from riata.data.columns.numbers import NumberLearner
from riata.data.columns.products import ProductLearner
from riata.data.columns.texts import TextLearner, look_like_prose
from riata.data.formats.filesource import is_text
from riata.data.formats.source import Source
from riata.data.opening.column_options import ALL_PAIRS, ColumnOptions, feature_columns, named_crosses, pairs_of
from riata.errors import DataError

MOST_LEVELS_OF_FIRST_ROWS = 1000  # of a stream: a column with more of them is hashed
MOST_PAIRS = 10_000  # of all columns: each takes two learners


class ColumnLearners:
    """The choice of learners for the columns of a source, with notes on what was guessed or left out."""

    def __init__(self, source: Source, options: ColumnOptions) -> None:
        self.source, self.options, self.features = source, options, feature_columns(source, options)
        self.notes: list[str] = []
        self.left_out: dict[str, str] = {}  # why, as the end of a sentence

    def chosen(self, batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, ...], Learner]]:
        """A learner for every column, pair of list columns and cross that becomes features."""
        pairs, known = paired(batch.schema, self.features), dict[str, Learner | None]()
        for name in self.features:
            if name in pairs:
                yield (name, pairs[name]), self._sparse(name, pairs[name])
            elif name not in pairs.values():
                learner = known[name] = self._learner(name, batch.column(name))
                if learner is None:
                    self.notes.append(no_feature(name, batch.column(name).type))
                    self.left_out[name] = f"is {batch.column(name).type}, which is no feature"
                else:
                    yield (name,), learner
        crosses = self._crossed(known)
        for cross in crosses:
            yield cross, self._cross(cross, batch, len(crosses))
        for pair in self._interacting(known):
            yield pair, self._interaction(pair, known, batch)

    def _sparse(self, indices: str, values: str) -> SparseLearner:
        width, names = self.source.width, self.source.feature_names
        first = None if self.source.any_base else 0
        return SparseLearner(indices, values, width, first, names)

    def _categories(self, name: str, bits: int | None = None) -> Learner:
        options = self.options
        if options.hashed:
            return LevelsLearner(name)
        asked_for = name in {*options.categorical, *(options.features or ())}
        bits = options.level_bits if bits is None else bits
        return CategoryLearner(name, self._most_levels, bits, self.source.partial, asked_for)

    def _names(self, name: str) -> Learner:
        if self.options.hashed:
            return AnyNamesLearner(name)
        return MapLearner(name, self._most_levels, self.options.name_bits, self.source.partial)

    @property
    def _most_levels(self) -> int:
        """How many levels of a column are kept apart; later rows of a stream bring others."""
        most = self.options.max_levels
        return min(most, MOST_LEVELS_OF_FIRST_ROWS) if self.source.partial else most

    def _words(self, name: str) -> Learner:
        asked = self.options.vocabulary
        return WordsLearner(name, asked.rules) if self.options.hashed else TextLearner(name, asked)

    def _cross(self, cross: tuple[str, ...], batch: pa.RecordBatch, n_crosses: int) -> Learner:
        """The learner of one of so many crosses."""
        numeric = tuple(is_number(batch.column(name).type) for name in cross)
        bits = self.options.cross_bits(n_crosses)
        return CrossLearner(cross, numeric, self._categories(CROSSED.join(cross), bits))

    def _crossed(self, known: Mapping[str, Learner | None]) -> list[tuple[str, ...]]:
        """The columns whose levels are crossed; the learners of single columns are known."""
        named = named_crosses(self.options)
        if len(named) == len(self.options.crosses):
            return named
        levels = [name for name, one in known.items() if isinstance(one, CategoryLearner | LevelsLearner)]
        pairs = [pair for pair in pairs_of([levels]) if not any(set(pair) == set(cross) for cross in named)]
        _check_pairs(len(pairs), "be crossed")
        return [*named, *pairs]

    def _interacting(self, known: Mapping[str, Learner | None]) -> list[tuple[str, str]]:
        """The pairs of columns whose interactions are features; the learners of single columns are known."""
        several: list[Sequence[str]] = [one for one in self.options.interactions if one not in ALL_PAIRS]
        if self.all_pairs:
            several.append([name for name, one in known.items() if isinstance(one, NumberLearner | CategoryLearner)])
        pairs = pairs_of(several)
        if self.all_pairs:
            _check_pairs(len(pairs), "interact")
        return [pair for pair in pairs if not any(set(pair) == set(cross) for cross in self.options.crosses)]

    @property
    def all_pairs(self) -> bool:
        """Whether all columns may interact, so that a pair is nobody's wish."""
        return any(one in ALL_PAIRS for one in self.options.interactions)

    def _interaction(
        self, pair: tuple[str, str], known: Mapping[str, Learner | None], batch: pa.RecordBatch
    ) -> Learner:
        """The learner of an interaction: of levels their combinations, of numbers with any column their products."""
        parts: list[Learner] = []
        for name in pair:
            alone = known[name] if name in known else self._learner(name, batch.column(name))
            if not isinstance(alone, NumberLearner | CategoryLearner):
                raise DataError(f"column {name!r} has neither numbers nor levels, and cannot be part of an interaction")
            parts.append(NumberLearner(name) if isinstance(alone, NumberLearner) else self._categories(name))
        if not any(isinstance(part, NumberLearner) for part in parts):
            return self._cross(pair, batch, 1)
        return ProductLearner(pair, tuple(parts))

    def _learner(self, name: str, column: pa.Array) -> Learner | None:
        kind, options = column.type, self.options
        if name in options.text:
            return self._words(name)
        if name in options.categorical:
            return self._categories(name)
        if is_list(kind):
            return DenseLearner(name, self.source.feature_names)
        if is_map(kind):
            return self._names(name)
        if is_text(kind):
            strings = as_strings(column)
            if look_like_dates(strings):
                return DateLearner(name)
            if look_like_prose(strings):
                self.notes.append(
                    f"column {name!r} looks like free text: its words are counted (categorical=[{name!r}] makes levels "
                    "of it)"
                )
                return self._words(name)
            return self._categories(name)
        if pa.types.is_dictionary(kind):
            return self._categories(name)
        if is_number(kind):
            return NumberLearner(name)
        date = pa.types.is_temporal(kind) and not pa.types.is_interval(kind)
        return DateLearner(name) if date else None


def paired(schema: pa.Schema, features: list[str]) -> dict[str, str]:
    """Pairs of list columns, indices -> values: X.indices and X.values, doc_indices and doc_values, ..."""
    lists = [name for name in features if is_list(schema.field(name).type)]
    by_stem = {stem(name): name for name in lists if name.endswith("values")}
    return {name: by_stem[stem(name)] for name in lists if name.endswith("indices") and stem(name) in by_stem}


def no_feature(name: str, kind: pa.DataType) -> str:
    """A note on a column of a type from which no feature is made."""
    if (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and is_text(kind.value_type):
        return (
            f"column {name!r} holds lists of names, which are no feature: dropped; to use it make a column of yes and "
            f"no for every name, or join them to one text and declare it (text=[{name!r}])"
        )
    return f"column {name!r} is {kind}, which is no feature: dropped"


def is_list(kind: pa.DataType) -> bool:
    """Whether values are lists of numbers."""
    a_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(a_list) and is_number(kind.value_type)


def is_map(kind: pa.DataType) -> bool:
    """Whether values are maps from names, or whole numbers, to numbers."""
    if not pa.types.is_map(kind):
        return False
    return bool(is_text(kind.key_type) or pa.types.is_integer(kind.key_type)) and (
        is_number(kind.item_type) or kind.item_type == HASHED
    )


def is_number(kind: pa.DataType) -> bool:
    """Whether values are numbers, durations or booleans; a column of nulls counts as numbers."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_duration)
    return bool(pa.types.is_null(kind)) or any(test(kind) for test in tests)


def _check_pairs(n_pairs: int, what: str) -> None:
    """Refuse more pairs of columns than anybody would look at."""
    if n_pairs > MOST_PAIRS:
        raise DataError(f"there are {n_pairs:,} pairs of columns, more than {MOST_PAIRS:,}: name those that may {what}")
