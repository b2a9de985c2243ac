"""Opening what the user points at: arrays, frames, files here or remote, streams, and data sets by name.

| source                        | features                                  | target                                   |
| digits49, gisette (`:test`)   | as documented in riata.datasets           | its labels                               |
| Parquet, Arrow IPC, CSV, TSV  | every column that has no other role       | a column                                 |
| pandas, polars, PyArrow       | the same                                  | a column, or an array                    |
| svmlight / libsvm             | zero- or one-based                        | the first entry of each line             |
| .npz                          | array X, or a SciPy CSR file              | array `target`, `y` by default           |
| .npy, NumPy, SciPy            | all columns                               | a column number, an array, or a file     |
| what riata statistics wrote   | those that were read                      | the one that was read                    |
| a generator of chunks, "-"    | tables, or tuples (X, y[, weight])        | as for tables and arrays                 |
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import scipy.sparse as sp

from riata.data.budget import block_bytes, chunk_bytes, in_memory_bytes, parse_memory
from riata.data.columns.column import BadRow, as_floats
from riata.data.columns.crosses import Cross
from riata.data.columns.lists import check_numbers, check_values
from riata.data.csr import canonical
from riata.data.dataset import Dataset
from riata.data.encoding import Encoding
from riata.data.formats.csv import Csv
from riata.data.formats.files import Followed, StandardInput, find_files, guess_format, sniff
from riata.data.formats.ipc import Ipc
from riata.data.formats.npy import Npy, Npz
from riata.data.formats.parquet import Parquet
from riata.data.formats.source import TARGET, WEIGHT, Beside, OneColumn, Source
from riata.data.formats.streams import Kept, Once, Stream, from_chunks
from riata.data.formats.svmlight import Svmlight
from riata.data.formats.tables import Scanned, Table, column_table, matrix_batch, to_table
from riata.data.in_memory import InMemory
from riata.data.opening.checks import check_known, check_settled, refuse_given
from riata.data.opening.convert import open_converted
from riata.data.opening.profile import Wishes, known_profile, listed
from riata.data.opening.profile_cache import profile_of
from riata.data.out_of_core import OutOfCore
from riata.data.statistics import is_statistics, load_statistics
from riata.data.target import TASKS, GrowingTarget, Target, TargetLearner
from riata.errors import DataError, MissingFileError, OptionError

DATASETS = {"digits49": "load_digits49", "gisette": "fetch_gisette"}
EXPANSION = 4  # of a row in memory over its bytes in a file, before any has been read
MOST_ROWS = 1 << 16  # of a first batch


def open_data(
    source,
    target=None,
    *,
    weight=None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    text: Sequence[str] = (),
    crosses: Sequence[Sequence[str]] = (),
    task="auto",
    memory: int | str | None = None,
    cache: bool | str = True,
    follow=False,
    on_error="raise",
    encoding: Encoding | None = None,
    n_features: int | None = None,
    need_target=True,
    filesystem=None,
    elsewhere=None,
    **wishes,
) -> Dataset:
    """One dataset that every solver takes, whatever the source.

    Parameters
    ----------
    source : path, glob, URL, array, frame, generator of chunks, or the name of a data set
        What to read; "-" is standard input.
    target, weight : str, int, array or path
        A column by name (by number in a bare array), an array of one value per row, or a file of its own.
    features, drop : sequences of columns
        Which columns become features: all without another role by default, without those in `drop`.
    categorical, text : sequences of columns
        Columns whose values are levels, even if they are numbers, and columns of free text.
    crosses : sequence of sequences of columns
        Columns whose levels are also features in combination, such as ("carrier", "dest").
    task : {"auto", "classification", "regression"}
        What the target is. "auto": classes if it is text or boolean, or has exactly two values.
    memory : str or int, default="512MB"
        Budget. Data that needs less than a quarter of it is held in memory.
    cache : bool or folder, default=True
        Whether, and where, encoded rows of a slow format are kept in a temporary file for later passes. A stream
        without a cache can be read once: its first chunk tells what the columns are, and `n_rows` is that chunk's
        until all of it has been read.
    follow : bool, default=False
        Whether a text file is read on as it grows, without an end: a stream, not kept.
    on_error : {"raise", "skip"}
        Whether rows of text files that cannot be read are an error, or counted and left out.
    encoding : Encoding, optional
        That of a model: the same features, whatever this source holds besides. A weight that is given goes before
        the one that the model was fitted with.
    n_features, need_target :
        How many features sparse rows have, where it is known; whether a target must be there.
    filesystem : PyArrow or fsspec file system, optional
        Where the path lies, where the path does not say.
    elsewhere : callable, optional
        What makes a dataset of (source, wishes, rows of a first batch, encoding, target, memory, cache), where other
        processes are to read the rows: see `riata.engines`.
    **wishes :
        max_levels, max_words, word_pairs, hash_bits, hash_text, hashed: see `riata.data.opening.profile.Wishes`.
    """
    budget = parse_memory(memory)
    if task not in TASKS:
        raise OptionError(f"task must be one of {', '.join(TASKS)}, not {task!r}")
    if on_error not in ("raise", "skip"):
        raise OptionError(f"on_error must be 'raise' or 'skip', not {on_error!r}")
    settled = {
        "target": target if need_target else None, "weight": weight, "features": features, "drop": drop,
        "categorical": categorical, "text": text, "crosses": crosses, "task": task,
    }  # fmt: skip
    if is_statistics(source):
        statistics = load_statistics(source)
        check_settled(source, statistics.encoding, settled)
        return statistics.as_data()
    check_known(wishes, [field.name for field in fields(Wishes)])
    columns = {name: settled[name] for name in ("features", "drop", "categorical", "text", "crosses")}
    if isinstance(source, str) and source.partition(":")[0] in DATASETS and not Path(source).exists():
        fitting = encoding is None and n_features is None  # a model may bring the name of its own target
        refuse_given(
            columns | {"target": target if fitting else None}, f"{source} comes with its features and its target"
        )
        source, target, names = _dataset(source)
        return open_array(source, target, weight, task, names)
    if (sp.issparse(source) or isinstance(source, np.ndarray)) and not isinstance(source, np.memmap):
        refuse_given(
            columns, "an array has no names of columns; give a data frame, or choose among its columns yourself"
        )
        return open_array(source, target, weight, task, None, need_target)
    cache = False if follow else cache
    reading = Reading(budget, _as_text(encoding, categorical, text), on_error == "skip", filesystem, n_features, follow)
    rows = open_source(source, reading, target)
    if elsewhere is None and isinstance(rows, Ipc) and (converted := open_converted(rows, budget)) is not None:
        check_settled(source, converted.encoding, settled)
        return converted.load() if converted.n_bytes <= in_memory_bytes(budget) else converted
    rows, roles = with_roles(rows, target, weight, reading, need_target)
    if elsewhere is not None and rows.single_pass:
        raise DataError("a stream is read by one process: give a cluster files, or leave the engine out")
    if n_features is not None:
        rows.width = n_features
    if rows.single_pass and cache:
        rows = Kept(rows, cache if isinstance(cache, str) else None)
    elif rows.single_pass:
        rows = Once(rows, _first_rows(rows, budget))
    asked = Wishes(
        **roles, features=None if features is None else tuple(features), drop=tuple(drop), crosses=_as_crosses(crosses),
        categorical=tuple(categorical), text=tuple(text), task=task, on_error=on_error, **wishes,
    )  # fmt: skip
    batch_rows = _first_rows(rows, budget)
    target_name = roles["target"] if need_target else None
    if encoding is not None and roles["weight"] is not None:
        encoding = replace(encoding, weight=roles["weight"])  # a model need not have known any
    if elsewhere is not None:
        return elsewhere(rows, asked, batch_rows, encoding, target_name, budget, cache)
    if encoding is None:
        profile = profile_of(rows.first if isinstance(rows, Once) else rows, asked, batch_rows)
    else:
        profile = known_profile(rows, encoding, batch_rows, target_name)
    if isinstance(rows, Once) and encoding is None:
        profile.encoding = replace(profile.encoding, target=_growing(profile.encoding.target, task))
        profile.notes += _narrow(profile.encoding, n_features)
    data = OutOfCore(rows, profile, budget, cache)
    held = 0 < data.n_bytes <= in_memory_bytes(budget) and not rows.single_pass and not profile.encoding.hashed
    return data.load() if held else data


def _narrow(encoding: Encoding, n_features: int | None) -> list[str]:
    """A warning where numbered features of a stream may come that its first rows do not have."""
    if n_features is not None or encoding.hashed or all(e.kind != "sparse" for e in encoding.encoders):
        return []
    return [
        f"the first rows of the stream have {encoding.n_features} features, and later ones beyond are left out: say "
        "how many there are (n_features, or --n-features)"
    ]


def _growing(target: Target | None, task) -> Target | None:
    """The target of a stream, whose first rows need not have all labels; two numbers may be classes by mistake."""
    classes = None if target is None else target.classes
    if target is None or classes is None or not (task == "classification" or isinstance(classes[0], str)):
        return target
    return GrowingTarget(target.column, list(classes))  # type: ignore[arg-type]


def _as_crosses(crosses) -> tuple[tuple[str, ...], ...]:
    """Each cross as the names of its columns, two at least."""
    for cross in crosses:
        if isinstance(cross, str) or len(set(cross)) < 2 or len(set(cross)) < len(cross):
            raise OptionError(f"a cross is of two columns or more, such as ('carrier', 'dest'), not {cross!r}")
    return tuple(tuple(cross) for cross in crosses)


class Reading(NamedTuple):
    """How files are read."""

    memory: int
    as_text: tuple[str, ...] = ()  # columns of text files whose values are not to be taken for numbers
    skip_bad: bool = False
    filesystem: Any = None
    n_features: int | None = None  # how many the data has, where a model knows
    follow: bool = False  # whether a file is read on as it grows


def open_source(source, reading: Reading, target=None) -> Source:
    """The rows of anything that can be opened."""
    if isinstance(source, Source):
        return source
    if isinstance(source, str | Path):
        return _stdin(reading) if str(source) == "-" else _files(str(source), reading, target)
    if isinstance(source, np.memmap):
        return Table(pa.Table.from_batches([matrix_batch(source)]), bare=True)
    if isinstance(source, pads.Dataset):
        return Scanned(source)
    if (table := to_table(source)) is not None:
        return Table(table)
    if hasattr(source, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(source)
        return Stream(reader.schema, iter(reader))
    if isinstance(source, Iterable):
        return from_chunks(source)
    raise DataError(
        f"riata cannot open a {type(source).__name__}; it takes paths, arrays, frames and generators of chunks"
    )


def _files(path: str, reading: Reading, target) -> Source:
    files = find_files(path, reading.filesystem)
    kind = guess_format(files)
    if reading.follow:
        if kind not in ("csv", "svmlight") or len(files) > 1 or files[0].compression:
            raise OptionError("only a single file of CSV or svmlight text, not compressed, can be followed as it grows")
        files = [Followed(**vars(files[0]))]
    if kind == "npy":
        return Npy(files, int(target) if str(target).lstrip("-").isdigit() else None, reading.n_features)
    if kind in ("csv", "svmlight"):
        rows = _text(files, kind, reading)
        rows.single_pass = reading.follow
        return rows
    kinds: dict[str, Any] = {"parquet": Parquet, "ipc": Ipc}
    return Npz(files, in_memory_bytes(reading.memory)) if kind == "npz" else kinds[kind](files)


def _stdin(reading: Reading) -> Source:
    """Standard input, text of a format that its first bytes tell."""
    file = StandardInput()
    kind = sniff(file.head(), file.path)
    if kind not in ("csv", "svmlight"):
        raise DataError("standard input must be CSV or svmlight text; give other formats as files")
    rows = _text([file], kind, reading)
    rows.single_pass = True
    return rows


def _text(files: list[Any], kind: str, reading: Reading) -> Source:
    block = block_bytes(reading.memory)
    if kind == "csv":
        return Csv(files, block_bytes=block, as_text=reading.as_text, skip_bad=reading.skip_bad)
    return Svmlight(files, block_bytes=block, skip_bad=reading.skip_bad)


def with_roles(rows: Source, target, weight, reading: Reading, need_target=True) -> tuple[Source, dict[str, Any]]:
    """The rows with target and weight beside them where they come from elsewhere, and the names of both."""
    names, others = rows.schema.names, []
    roles: dict[str, Any] = {}
    for role, wish, name in (("target", target, TARGET), ("weight", weight, WEIGHT)):
        if wish is None or (isinstance(wish, str) and wish in names):
            roles[role] = wish
        elif isinstance(wish, str) and not need_target:
            roles[role] = None  # it would have been of use, but nobody needs it
        elif isinstance(rows, Npy) and role == "target" and TARGET in names:
            roles[role] = TARGET  # a column by its number
        elif isinstance(rows, Stream) and rows.bare and name in names:
            raise DataError(f"the chunks bring their own {role}: give no other beside them")
        else:
            while name in names:  # a column of the rows themselves
                name = f"_{name}"
            others.append(OneColumn(_values(wish, role, names, reading), name))
            roles[role] = name
    if roles["target"] is None and TARGET in names and (rows.bare or not need_target):
        roles["target"] = TARGET
    if roles["weight"] is None and WEIGHT in names and isinstance(rows, Stream) and rows.bare:
        roles["weight"] = WEIGHT  # of tuples (X, y, weight)
    if roles["target"] is None and need_target:
        raise DataError(f"the data needs a target: name one of its columns, {listed(names)}")
    return (Beside(rows, others) if others else rows), roles


def _values(wish, role, names, reading) -> Source:
    """A target or weight that is not a column of the rows: an array, or a file of its own."""
    if not isinstance(wish, str | Path):
        return Table(column_table(wish, role))
    try:
        return open_source(wish, reading)
    except MissingFileError:
        raise DataError(
            f"there is no column {str(wish)!r}; it has {listed(names)}, and there is no such file"
        ) from None


def open_array(X, target, weight, task, names=None, need_target=True) -> InMemory:
    """An array or a SciPy matrix that is in memory already: never copied, every entry finite."""
    X = canonical(X) if sp.issparse(X) else X
    if X.ndim != 2:
        raise DataError(f"X must have two dimensions, rows and columns, not {X.ndim}")
    if isinstance(target, str) and target.lstrip("-").isdigit():
        target = int(target)
    if isinstance(target, int | np.integer):
        X, target = np.delete(X, target, axis=1), X[:, target]
    if X.dtype.kind not in "biuf":
        raise DataError(f"an array of {X.dtype} holds no numbers; give a data frame or a file for mixed columns")
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    reading = Reading(parse_memory(None))
    try:
        if sp.issparse(X):
            check_values(X.data, X.indices, X.indptr)
        else:
            check_numbers(X, "X")
    except BadRow as bad:
        raise DataError(f"row {bad.row + 1}: {bad.sentence}") from bad
    n_rows, weights = X.shape[0], None
    if weight is not None:
        weights = checked_weights(as_floats(_whole_column(weight, "weight", reading, n_rows), "weight"))
    if target is None:
        if need_target:
            raise DataError("an array needs a target: an array of one value per row, a column number, or a file")
        return InMemory(X, np.zeros(n_rows), weights, names)
    column = _whole_column(target, "target", reading, n_rows)
    learner = TargetLearner(pa.field(TARGET, column.type), task)
    learner.add(column, np.ones(n_rows))
    found = learner.target()
    labels = found.labels
    if labels is not None and not learner.text:
        labels = labels.astype(column.type.to_pandas_dtype())  # an array's labels keep their type
    return InMemory(X, found.encode(column), weights, names, labels)


def checked_weights(weights: np.ndarray) -> np.ndarray:
    """The weights of an array's rows, if they are such."""
    wrong = ~(weights >= 0) | np.isinf(weights)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"row {row + 1}: the weight is {weights[row]}; a weight is a number of zero or more")
    if len(weights) and not weights.any():
        raise DataError("all weights are zero: there are no rows to learn from")
    return weights


def _whole_column(wish, role, reading, n_rows) -> pa.Array:
    rows = OneColumn(_values(wish, role, [], reading), role)
    column = pa.Table.from_batches(rows.batches([role], max(n_rows, 1)), rows.schema).column(role).combine_chunks()
    if len(column) != n_rows:
        raise DataError(f"there are {n_rows} rows of data but {len(column)} values of the {role}")
    if column.null_count or (pa.types.is_floating(column.type) and not np.isfinite(column.to_numpy()).all()):
        raise DataError(f"the {role} has a value that is missing or not finite; an array must be complete")
    return column


def _dataset(source: str):
    from riata import datasets

    name, _, split = source.partition(":")
    X, y, names = getattr(datasets, DATASETS[name])(split or "train")
    return X, y, [str(n) for n in names]


def _as_text(encoding, categorical, text) -> tuple[str, ...]:
    """Columns of text files that are to be read as they are written."""
    if encoding is None:
        return (*categorical, *text)
    classes = encoding.target.classes if encoding.target else None
    labels = [encoding.target.column] if classes and isinstance(classes[0], str) else []
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
