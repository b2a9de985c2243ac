"""What the user says about columns, and which columns become features."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pyarrow as pa

from riata.data.budget import MOST_WORDS_COUNTED
from riata.data.column_names import no_column
from riata.data.columns.stop_words import stop_words_of
from riata.data.columns.strings import bits_fault
from riata.data.columns.texts import Vocabulary
from riata.data.columns.words import MOST_NGRAMS, WordRules
from riata.data.formats.source import DENSE, INDICES, VALUES, Source
from riata.data.offset import Offset, one_of
from riata.data.row_marks import ROLES
from riata.errors import DataError, OptionError

ALL_PAIRS = (("all",),)  # of all columns that are features
LEVEL_BITS, NAME_BITS = 16, 20  # of hash buckets
FEWEST_BITS = 8  # of those of a cross, however many crosses there are
# options that follow from others: nobody is asked for them
DERIVED = {"words_counted", "cross_buckets", "more_targets", "happened"}


@dataclass(frozen=True)
class ColumnOptions:
    """What the user says about columns, see `riata.open`."""

    target: str | None = None
    more_targets: tuple[str, ...] = ()  # beside the first, where there are several
    event: str | None = None  # of times, whether they are those of an event
    happened: str | None = None  # the value in it that says so, where that is not 1
    trials: str | None = None  # of successes, among how many
    weight: str | None = None
    offset: str | None = None
    exposure: str | None = None  # of which the logarithm is the offset
    groups: str | None = None  # these three say which rows belong together in folds, see `riata.data.row_marks`
    time: str | None = None
    folds: str | None = None
    strata: str | None = None  # these two are of times to events
    entry: str | None = None
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    task: str = "auto"
    positive: Any = None  # the label of one of two classes
    max_levels: int = 10_000
    max_words: int = 50_000
    ngrams: int = 1
    stop_words: tuple[str, ...] = ()
    min_rows: int | None = None
    tfidf: bool = False
    hash_bits: int | None = None  # None: LEVEL_BITS of a column, NAME_BITS of rows of named features
    hash_text: bool = False
    crosses: tuple[tuple[str, ...], ...] = ()
    interactions: tuple[tuple[str, ...], ...] = ()  # each of them all pairs of some columns; see ALL_PAIRS
    words_counted: int = MOST_WORDS_COUNTED  # at a time, see `riata.data.budget.words_counted`
    cross_buckets: int = 1 << NAME_BITS  # of all crosses together, see `riata.data.budget.buckets_of_crosses`
    hashed: bool = False  # no vocabulary: features are numbered by hashes of their names
    on_error: str = "raise"

    def __post_init__(self) -> None:
        if self.hash_bits is not None and (fault := bits_fault(self.hash_bits)) is not None:
            raise OptionError(f"hash_bits {fault}")

    @property
    def level_bits(self) -> int:
        """How many bits the hashes of levels or words have."""
        return LEVEL_BITS if self.hash_bits is None else self.hash_bits

    def cross_bits(self, n_crosses: int) -> int:
        """How many bits the hashes of combined levels have, in each of so many crosses."""
        if self.hash_bits is not None:
            return self.hash_bits
        fit = (self.cross_buckets // max(n_crosses, 1)).bit_length() - 1
        return min(max(fit, FEWEST_BITS), LEVEL_BITS)

    @property
    def name_bits(self) -> int:
        """How many bits the hashes of names have, in a column of named features: one such column is as good as many."""
        return NAME_BITS if self.hash_bits is None else self.hash_bits

    @property
    def vocabulary(self) -> Vocabulary:
        """How words of texts become features."""
        rules = WordRules(self.ngrams, stop_words_of(self.stop_words))
        bits = self.level_bits if self.hash_text else None
        return Vocabulary(rules, self.max_words, self.min_rows, self.tfidf, bits, self.words_counted)

    @property
    def offset_role(self) -> Offset | None:
        """Where offsets come from."""
        column, exposure = one_of(self.offset, self.exposure)
        return None if column is None else Offset(column, exposure)

    @property
    def roles(self) -> dict[str, str]:
        """The columns of target, event, trials, weight and offset, by what they are."""
        given = {role: getattr(self, role) for role in ("target", "event", "trials", "weight", "offset", "exposure")}
        several = {f"target {i}": name for i, name in enumerate(self.more_targets, start=2)}
        return {role: name for role, name in given.items() if name is not None} | several

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns that are predicted."""
        return () if self.target is None else (self.target, *self.more_targets)

    @property
    def marks(self) -> dict[str, str]:
        """The columns that say which rows belong together, by their roles."""
        given = {role: getattr(self, role) for role in ROLES}
        return {role: name for role, name in given.items() if name is not None}


def check_columns(schema: pa.Schema, options: ColumnOptions) -> None:
    """Refuse names of columns that do not exist."""
    named = [
        *options.roles.values(),
        *options.marks.values(),
        *(options.features or ()),
        *options.drop,
        *options.categorical,
        *options.text,
    ]
    named += [name for some in (*named_crosses(options), *named_interactions(options)) for name in some]
    there = {*schema.names, *(name for name in options.drop if fields_of(name, schema.names))}
    for name in named:
        if name is not None and name not in there:
            raise DataError(no_column(name, schema.names))
    for some, what in (*((one, "a cross") for one in named_crosses(options)),
                       *((one, "an interaction") for one in named_interactions(options))):  # fmt: skip
        if known := {role: name for role, name in options.roles.items() if name in some}:
            role, name = known.popitem()
            raise DataError(f"{name!r} is the {role}, which cannot be part of {what}")
    for pair in pairs_of(named_interactions(options)):
        if any(set(pair) == set(cross) for cross in named_crosses(options)):
            raise OptionError(f"{pair[0]!r} and {pair[1]!r} are in crosses and in interactions: leave one of them out")
    for role in ("event", "trials", "offset", "exposure"):
        if options.roles.get(role) in options.targets:
            raise DataError(f"{options.roles[role]!r} is the target, and cannot be the column of {role}, too")
    for role, name in options.marks.items():
        if name in options.roles.values():
            taken = next(other for other, column in options.roles.items() if column == name)
            raise DataError(f"{name!r} is the {taken}, and cannot be the column of {role}, too")


def fields_of(struct: str, names: Sequence[str]) -> list[str]:
    """The columns that are fields of this struct: the names that its own and a dot begin; none of a column."""
    return [] if struct in names else [name for name in names if name.startswith(f"{struct}.")]


def check_words(options: ColumnOptions) -> None:
    """Refuse options of texts that make no sense, or would do nothing."""
    if not (isinstance(options.ngrams, int) and 1 <= options.ngrams <= MOST_NGRAMS):
        raise OptionError(f"ngrams must be 1 (words alone) to {MOST_NGRAMS} words, not {options.ngrams!r}")
    if options.min_rows is not None and options.min_rows < 1:
        raise OptionError(f"min_rows must be one row or more, not {options.min_rows!r}")
    for name, given in (("tfidf", options.tfidf), ("min_rows", options.min_rows is not None)):
        if given and (options.hash_text or options.hashed):
            raise OptionError(
                f"{name} asks in how many rows a word is, and hashed words are not counted: leave one out"
            )


def check_cells(source: Source, options: ColumnOptions, columns: Sequence[str]) -> None:
    """Refuse columns of text that may mean two things, and a target of numbers with words among them."""
    for name in columns:
        if name in source.refused:
            raise DataError(source.refused[name])
    for target in options.targets if options.task != "classification" else ():
        if target in source.strays:
            raise DataError(f"the target would have classes: {source.strays[target]}; or say task='classification'")


def feature_columns(source: Source, options: ColumnOptions) -> list[str]:
    """The columns that become features: those of X in a bare array, all without another role in a table."""
    names = source.schema.names
    matrix = [name for name in (DENSE, INDICES, VALUES) if name in names]
    if options.features is not None:
        names = list(options.features)
    elif source.bare and matrix:
        names = matrix
    else:
        names = [name for name in names if not is_index(name)]
    other = {*options.roles.values(), *options.drop}
    other |= {field for name in options.drop for field in fields_of(name, names)}
    if options.features is None:
        other |= set(options.marks.values())  # which are features only if they are named as such
    return [name for name in names if name not in other]


def columns_read(source: Source, options: ColumnOptions) -> list[str]:
    """The columns that the first pass reads, without repetition."""
    roles = list(options.roles.values())
    roles += options.marks.values()  # read later, from what a stream has stored by then
    crossed = [name for some in (*named_crosses(options), *named_interactions(options)) for name in some]
    return list(dict.fromkeys(feature_columns(source, options) + crossed + roles))


def as_names(columns: Sequence[Any]) -> tuple[str, ...]:
    """Names of columns; those of a pandas frame may be numbers."""
    return tuple(map(str, columns))


def as_crosses(crosses: Any) -> tuple[tuple[str, ...], ...]:
    """Each cross as the names of its columns, at least two; "all" is all pairs of columns of levels."""
    return _two_or_more(crosses, "a cross is of two columns or more, such as ('carrier', 'dest'), or 'all'")


def as_interactions(interactions: Any) -> tuple[tuple[str, ...], ...]:
    """Each as the names of two columns or more, all pairs of which are meant; "all" is all pairs of features."""
    return _two_or_more(interactions, "interactions are of two columns or more, such as ('price', 'size'), or 'all'")


def _two_or_more(given: Any, rule: str) -> tuple[tuple[str, ...], ...]:
    """Names of columns that go together, by groups of at least two, or "all" alone."""
    groups = [[given]] if isinstance(given, str) else given
    for group in groups:
        if isinstance(group, str) or (tuple(group) not in ALL_PAIRS and not 2 <= len(set(group)) == len(group)):
            raise OptionError(f"{rule}, not {group!r}")
    return tuple(map(as_names, groups))


def named_crosses(options: ColumnOptions) -> list[tuple[str, ...]]:
    """The crosses whose columns are named: not those of all pairs."""
    return [one for one in options.crosses if one not in ALL_PAIRS]


def named_interactions(options: ColumnOptions) -> list[tuple[str, ...]]:
    """The interactions whose columns are named: not those of all pairs."""
    return [one for one in options.interactions if one not in ALL_PAIRS]


def pairs_of(several: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """All pairs of columns that are named together, each once."""
    pairs = {frozenset(pair): pair for columns in several for pair in combinations(columns, 2)}
    return list(pairs.values())


def is_index(column: str) -> bool:
    """Whether a column is the index of a pandas frame, which has no name: it numbers the rows, and is no feature."""
    return re.fullmatch(r"__index_level_\d+__", column) is not None
