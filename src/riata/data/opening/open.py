"""Opening what the user points at: arrays, frames, files here or remote, streams, and data sets by name.

| source                        | features                                  | target                                   |
| digits49, gisette (`:test`)   | as documented in riata.datasets           | its labels                               |
| Parquet, Arrow, ORC, Avro     | every column that has no other role       | a column                                 |
| CSV, JSON, Excel, DuckDB      | the same                                  | a column                                 |
| pandas, polars, PyArrow       | the same                                  | a column, or an array                    |
| svmlight / libsvm             | zero- or one-based                        | the first entry of each line             |
| .npz                          | array X, or a SciPy CSR file              | array `target`, `y` by default           |
| .npy, NumPy, SciPy            | all columns                               | a column number, an array, or a file     |
| what riata statistics wrote   | those that were read                      | the one that was read                    |
| a generator of chunks, "-"    | tables, or tuples (X, y[, weight])        | as for tables and arrays                 |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from riata.data.budget import chunk_bytes, in_memory_bytes, in_words, parse_memory
from riata.data.column_names import listed
from riata.data.columns.crosses import Cross
from riata.data.dataset import Dataset
from riata.data.encoding import Encoding
from riata.data.formats.csv_options import csv_options
from riata.data.formats.ipc import Ipc
from riata.data.formats.source import Source, WithColumns
from riata.data.formats.streams import StoredStream, UnstoredStream
from riata.data.opening.arrays import open_array
from riata.data.opening.checks import check_as_encoded, check_known, refuse_given
from riata.data.opening.column_options import ColumnOptions, columns_read
from riata.data.opening.convert import open_converted
from riata.data.opening.decoded_batches import DecodedBatches
from riata.data.opening.profile import Profile, known_encoding, known_profile
from riata.data.opening.profile_cache import profile_of
from riata.data.opening.sources import Reading, open_source, with_roles
from riata.data.out_of_core import OutOfCore
from riata.data.row_marks import MarksOfSource
from riata.data.statistics import is_statistics, load_statistics
from riata.data.target import TASKS, GrowingTarget, Target
from riata.errors import DataError, OptionError
from riata.near_misses import did_you_mean
from riata.scipy_later import is_sparse

DATASETS = {"digits49": "load_digits49", "gisette": "fetch_gisette"}
EXPANSION = 4  # how many times its size in a file a row is guessed to take in memory
MOST_ROWS = 1 << 16  # of a first batch

# makes a dataset of (source, options, rows of a first batch, encoding, target, memory, cache)
RemoteOpener = Callable[[Source, ColumnOptions, int, Encoding | None, str | None, int, bool | str], Dataset]


def open_data(
    source: Any,
    target: Any = None,
    *,
    weight: Any = None,
    groups: Any = None,
    time: Any = None,
    folds: Any = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    text: Sequence[str] = (),
    crosses: Sequence[Sequence[str]] = (),
    task: str = "auto",
    memory: int | str | None = None,
    cache: bool | str = True,
    follow: bool = False,
    on_error: str = "raise",
    encoding: Encoding | None = None,
    n_features: int | None = None,
    need_target: bool = True,
    filesystem: Any = None,
    csv: Mapping[str, Any] | None = None,
    remote_opener: RemoteOpener | None = None,
    **options: Any,
) -> Dataset:
    """One dataset that every solver takes, whatever the source.

    Parameters
    ----------
    source : path, glob, URL, array, frame, generator of chunks, or the name of a data set
        What to read; "-" is standard input.
    target, weight : str, int, array or path
        A column by name (by number in a bare array), an array of one value per row, or a file of its own.
    groups, time, folds : str, array or path
        A column that says which rows belong together when k or alpha is chosen: a group such as a customer, whose rows
        are in one fold; a time, for folds that are scored by models of earlier rows; or the numbers of folds. It is no
        feature, unless `features` names it.
    features, drop : sequences of columns
        Which columns become features: all without another role by default, without those in `drop`.
    categorical, text : sequences of columns
        Columns whose values are levels, even if they are numbers, and columns of free text.
    crosses : sequence of sequences of columns
        Columns whose levels are also features in combination, such as ("carrier", "dest").
    task : {"auto", "classification", "regression"}
        What the target is. "auto": classes if it is text or boolean, or has exactly two values.
    memory : str or int, default="512MB"
        Budget. Data that needs less than a quarter of it is loaded into memory.
    cache : bool or folder, default=True
        Whether, and in which folder, encoded rows of a slow format are written to a temporary file for later passes.
        A stream without a cache can be read only once: its first chunk tells what the columns are, and `n_rows` is
        the size of that chunk until all rows have been read.
    follow : bool, default=False
        Whether to wait for more rows at the end of a text file: it is then a stream, without a cache.
    on_error : {"raise", "skip"}
        Whether rows of text files that cannot be read are an error, or counted and left out.
    encoding : Encoding, optional
        The encoding of a model, to make the same features of these rows. A `weight` that is given takes precedence
        over the weight column of the encoding.
    n_features, need_target :
        How many features sparse rows have, where that is known; whether a target is required.
    filesystem : PyArrow or fsspec file system, optional
        The file system of the path, if the path does not say.
    csv : dict, optional
        How text files are written, where a first look at them does not tell it right, such as {"decimal": ","}: the
        keys are those of `riata.data.formats.csv_options`.
    max_levels, max_words : int, default=10,000 and 50,000
        Levels of a column, and words of a column of text, that are kept apart.
    ngrams : int, default=1
        The longest runs of neighbouring words that are counted, too: 2 for pairs.
    stop_words : sequence of str, default=()
        Words that are passed over; "english" stands for a list of them.
    min_rows : int, optional
        The rows that a word is in, at least, to be a feature: 5 by default, or 1 % of few rows.
    tfidf : bool, default=False
        Whether words count less the more rows have them, and rows of words have length 1.
    hash_text, hash_bits : bool, default=False, and int, default=16
        Whether words are numbered by a hash of so many bits, without a list of them.
    hashed : bool, default=False
        Whether all features are numbered by hashes of their names, for solver "sketch".
    remote_opener : callable, optional
        Makes the dataset where other processes are to read the rows, see `riata.engines`.
    """
    budget = parse_memory(memory)
    if task not in TASKS:
        raise OptionError(f"task must be one of {', '.join(TASKS)}, not {task!r}")
    if on_error not in ("raise", "skip"):
        raise OptionError(f"on_error must be 'raise' or 'skip', not {on_error!r}")
    marks = {role: given for role, given in (("groups", groups), ("time", time), ("folds", folds)) if given is not None}
    asked = {
        "target": target if need_target else None, "weight": weight, **marks, "features": features, "drop": drop,
        "categorical": categorical, "text": text, "crosses": crosses, "task": task,
    }  # fmt: skip
    check_known(options, [field.name for field in fields(ColumnOptions)])
    growing = {"follow": follow or None}
    if is_statistics(source):
        refuse_given(growing, f"{source} holds sums, and no rows that become more")
        statistics = load_statistics(source, budget)
        check_as_encoded(source, statistics.encoding, asked)
        return statistics.as_data()
    columns = {name: asked[name] for name in ("features", "drop", "categorical", "text", "crosses")}
    if isinstance(source, str) and source.partition(":")[0] in DATASETS and not Path(source).exists():
        fitting = encoding is None and n_features is None  # otherwise the target may be the name of that of a model
        refuse_given(
            columns | {"target": target if fitting else None}, f"{source} comes with its features and its target"
        )
        source, target, names = _dataset(source)
        return open_array(source, target, weight, task, names, marks=marks)
    if (is_sparse(source) or isinstance(source, np.ndarray)) and not isinstance(source, np.memmap):
        refuse_given(growing, "an array does not become longer; only a file of text does")
        refuse_given(
            columns, "an array has no names of columns; give a data frame, or choose among its columns yourself"
        )
        return open_array(source, target, weight, task, None, need_target, marks)
    cache = False if follow else cache
    reading = Reading(
        budget, _as_text(encoding, categorical, text), on_error == "skip", filesystem, n_features, follow,
        csv_options(csv), {} if encoding is None else encoding.cells, (target,) if isinstance(target, str) else (),
    )  # fmt: skip
    rows = open_source(source, reading, target)
    if remote_opener is None and isinstance(rows, Ipc) and (converted := open_converted(rows, budget)) is not None:
        check_as_encoded(source, converted.encoding, asked)
        return converted.load() if converted.n_bytes <= in_memory_bytes(budget) else converted
    if encoding is not None and need_target:
        _check_answers(rows, source, target)
    rows, roles = with_roles(rows, {"target": target, "weight": weight, **marks}, reading, need_target)
    if remote_opener is not None and rows.single_pass:
        raise DataError("a stream is read by one process: give a cluster files, or leave the engine out")
    if n_features is not None:
        rows.width = n_features
    by_place = isinstance(rows, WithColumns) or any(roles[role] is not None for role in marks)
    if cache and (rows.single_pass or (rows.unordered and by_place)):
        rows = StoredStream(rows, cache if isinstance(cache, str) else None)
    elif rows.single_pass:
        rows = UnstoredStream(rows, _first_rows(rows, budget))
    column_options = ColumnOptions(
        features=None if features is None else _names(features),
        drop=_names(drop), categorical=_names(categorical), text=_names(text), crosses=as_crosses(crosses),
        task=task, on_error=on_error, **(options | roles),
    )  # fmt: skip
    batch_rows = _first_rows(rows, budget)
    target_name = roles["target"] if need_target else None
    if encoding is not None and roles["weight"] is not None:
        encoding = replace(encoding, weight=roles["weight"])
    rows.judge_by(_columns_used(rows, column_options, encoding, target_name))
    if remote_opener is not None:
        remote = remote_opener(rows, column_options, batch_rows, encoding, target_name, budget, cache)
        if remote.profile is not None:
            remote.profile.notes += _time_note(time, column_options)
        return remote
    decoded = DecodedBatches(0 if rows.single_pass else in_memory_bytes(budget))
    if encoding is not None:
        profile = known_profile(rows, encoding, batch_rows, target_name, decoded)
    elif isinstance(rows, UnstoredStream):
        profile = _profile_of_stream(rows, column_options, batch_rows, n_features)
    else:
        profile = profile_of(rows, column_options, batch_rows, decoded=decoded)
    profile.notes += _time_note(time, column_options)
    if profile.encoding.names_bytes > budget:
        raise DataError(
            f"the names of {profile.encoding.n_features} features need {in_words(profile.encoding.names_bytes)}, more "
            f"than the budget of {in_words(budget)}; give it more memory, correct the indices, or drop the column"
        )
    data = OutOfCore(rows, profile, budget, cache)
    if column_options.marks:
        data.facts = data.facts.but(marks=MarksOfSource(rows, profile.encoding, column_options.marks, data.n_rows))
    fits = 0 < data.n_bytes <= in_memory_bytes(budget) and not rows.single_pass and not profile.encoding.hashed
    return data.load(decoded) if fits else data


def _check_answers(rows: Source, source: Any, target: Any) -> None:
    """Refuse rows for a model that are without its target."""
    names = rows.schema.names
    if rows.bare or not isinstance(target, str) or target in names or Path(target).exists():
        return
    where = source if isinstance(source, str | Path) else "the data"
    hint = did_you_mean(target, names) or "; to predict without answers use predict"
    raise DataError(f"{where} has no column {target!r}, the target, but {listed(names)}{hint}")


def _columns_used(rows: Source, options: ColumnOptions, encoding: Encoding | None, target: str | None) -> Sequence[str]:
    """The columns that any pass may read."""
    if encoding is None:
        return columns_read(rows, options)
    return [*known_encoding(rows, encoding, target).columns, *options.marks.values()]


def _profile_of_stream(
    rows: UnstoredStream, options: ColumnOptions, batch_rows: int, n_features: int | None
) -> Profile:
    """The profile of the first rows of a stream, which may not have all labels and features yet."""
    profile = profile_of(rows.first, options, batch_rows)
    profile.encoding = replace(profile.encoding, target=_growing(profile.encoding.target, options.task))
    profile.notes += _width_note(profile.encoding, n_features)
    return profile


def _time_note(given: Any, options: ColumnOptions) -> list[str]:
    """A note on a column of times that would have been a feature, had it not been named as such."""
    if options.time is None or options.time != given or options.features is not None or options.time in options.drop:
        return []
    keeps = "naming it among the features keeps it (features=..., or --features)"
    return [f"{options.time!r} orders the folds and is no feature; {keeps}"]


def _width_note(encoding: Encoding, n_features: int | None) -> list[str]:
    """A note for streams of sparse rows: later rows may have features beyond those of the first ones."""
    if n_features is not None or encoding.hashed or all(e.kind != "sparse" for e in encoding.encoders):
        return []
    return [
        f"the first rows of the stream have {encoding.n_features} features, and later ones beyond are left out: say "
        "how many there are (n_features, or --n-features)"
    ]


def _growing(target: Target | None, task: str) -> Target | None:
    """The target of a stream, which may have more labels than its first rows.

    Two different numbers in the first rows are a guess at classes, not a reason to let more of them become classes.
    """
    classes = None if target is None else target.classes
    if target is None or classes is None or not (task == "classification" or isinstance(classes[0], str)):
        return target
    return GrowingTarget(target.column, list(classes))


def as_crosses(crosses: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Each cross as the names of its columns, at least two."""
    for cross in crosses:
        if isinstance(cross, str) or len(set(cross)) < 2 or len(set(cross)) < len(cross):
            raise OptionError(f"a cross is of two columns or more, such as ('carrier', 'dest'), not {cross!r}")
    return tuple(_names(cross) for cross in crosses)


def _names(columns: Sequence[Any]) -> tuple[str, ...]:
    """Names of columns; those of a pandas frame may be numbers."""
    return tuple(map(str, columns))


def _dataset(source: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """X, y and the names of the columns of a data set by name, such as "digits49:test"."""
    from riata import datasets

    name, _, split = source.partition(":")
    X, y, names = getattr(datasets, DATASETS[name])(split or "train")
    return X, y, [str(n) for n in names]


def _as_text(encoding: Encoding | None, categorical: Sequence[str], text: Sequence[str]) -> tuple[str, ...]:
    """Columns of text files whose values must not be parsed as numbers."""
    if encoding is None:
        return (*categorical, *text)
    target = encoding.target
    labels = [target.column] if target and target.classes and isinstance(target.classes[0], str) else []
    levels = [e.column for e in encoding.encoders if e.kind not in ("number", "dense", "sparse", "date", "cross")]
    crosses = [e for e in encoding.encoders if isinstance(e, Cross)]
    crossed = [c for e in crosses for c, number in zip(e.crossed, e.numeric, strict=True) if not number]
    return (*levels, *crossed, *labels)


def _first_rows(rows: Source, memory: int) -> int:
    """How many rows to read at once before their size is known."""
    if rows.n_rows and rows.n_bytes:
        row_bytes = EXPANSION * rows.n_bytes / rows.n_rows
    else:
        row_bytes = 16.0 * len(rows.schema.names)
    return int(min(max(1, chunk_bytes(memory) // max(row_bytes, 1.0)), MOST_ROWS))
