"""Opening what the user points at: arrays, frames, files here or remote, streams, and data sets by name.

| source                        | features                                  | target                                   |
| digits49, gisette (`:test`)   | as documented in riata.datasets           | its labels                               |
| Parquet, Arrow, ORC, Avro     | every column that has no other role       | a column                                 |
| CSV, JSON, Excel, DuckDB      | the same                                  | a column                                 |
| pandas, polars, PyArrow       | the same                                  | a column, or an array                    |
| svmlight / libsvm             | zero- or one-based                        | the first entry of each line             |
| Vowpal Wabbit, libffm         | by their names                            | the first entry of each line             |
| .npz                          | array X, or a SciPy CSR file              | array `target`, `y` by default           |
| .npy, NumPy, SciPy            | all columns                               | a column number, an array, or a file     |
| what riata statistics wrote   | those that were read                      | the one that was read                    |
| a generator of chunks, "-"    | tables, or tuples (X, y[, weight])        | as for tables and arrays                 |
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from riata.data.budget import parse_memory
from riata.data.dataset import Dataset
from riata.data.encoding import Encoding
from riata.data.formats.files import is_place_of_files
from riata.data.opening.arrays import open_array
from riata.data.opening.asked import Asked, NamedColumns
from riata.data.opening.checks import check_as_encoded, check_known, check_n_features, refuse_given
from riata.data.opening.column_options import DERIVED, ColumnOptions
from riata.data.opening.growing import open_growing
from riata.data.opening.rows import RemoteOpener, open_rows
from riata.data.statistics import is_statistics, load_statistics
from riata.data.survival import from_structured, is_structured
from riata.scipy_later import is_sparse

DATASETS = {"digits49": "load_digits49", "gisette": "fetch_gisette"}


def open_data(
    source: Any,
    target: Any = None,
    *,
    event: Any = None,
    trials: Any = None,
    weight: Any = None,
    offset: Any = None,
    exposure: Any = None,
    groups: Any = None,
    time: Any = None,
    folds: Any = None,
    strata: Any = None,
    entry: Any = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    text: Sequence[str] = (),
    crosses: Sequence[Sequence[str]] = (),
    interactions: Sequence[Sequence[str]] | str = (),
    task: str = "auto",
    memory: int | str | None = None,
    cache: bool | str = True,
    follow: bool = False,
    one_pass: bool = False,
    growing: bool = False,
    on_error: str = "raise",
    sample_negatives: float | None = None,
    encoding: Encoding | None = None,
    n_features: int | None = None,
    need_target: bool = True,
    filesystem: Any = None,
    csv: Mapping[str, Any] | None = None,
    remote_opener: RemoteOpener | None = None,
    **options: Any,
) -> Dataset:
    """Open rows from a file, an array, a table or a stream as a dataset that every solver takes.

    Parameters
    ----------
    source : path, glob, URL, array, frame, generator of chunks, or the name of a data set
        The rows; "-" is standard input.
    target, weight : str, int, array or path
        A column by name (in a bare array by number), an array with one value per row, or a file. A list of columns, or
        an array of several, makes several targets: numbers that are predicted together. A structured array of booleans
        and numbers is events and their times, as in scikit-survival.
    event : str, tuple, array or path
        If the target is a time: 1 in rows whose event happened at that time, 0 in rows whose event had not happened by
        then. For a column with other values name the value of an event: "status=2", or ("status", 2). The task is
        then "survival".
    trials : str, array or path
        If the target counts successes: the number of trials of each row (loss "binomial").
    offset : str, array or path
        Known numbers that are added to the margins of the rows. Predictions of such a model need them, too.
    exposure : str, array or path
        In place of an offset, for losses with a logarithmic link: years, customers or the like, to which the mean is
        proportional. It is an offset of its logarithm.
    groups, time, folds : str, array or path
        What the folds of cross-validation depend on: groups, such as customers, whose rows stay in one fold; times, for
        folds that are scored by models of earlier rows; or fold numbers. Such a column is not a feature, unless
        `features` names it.
    strata, entry : str, array or path
        For times to events: strata, such as clinics, each with its own baseline hazard; and the times at which rows
        came under observation (late entry).
    features, drop : sequences of columns
        The columns that become features: by default all without another role, except those in `drop`.
    categorical, text : sequences of columns
        Columns of categories, even if their values are numbers, and columns of free text.
    crosses : sequence of sequences of columns, or "all"
        Columns whose combined levels are features, too, such as ("carrier", "dest"); "all" is every pair of categorical
        columns.
    interactions : sequence of sequences of columns, or "all"
        Columns whose products are features, too, such as ("price", "size"): numbers with numbers or with levels, and
        levels with levels. For more than two columns, and for "all", these are the products of all pairs.
    task : {"auto", "classification", "regression", "survival"}
        "auto" is classification if the target is text or boolean, or has exactly two values. "survival" without `event`
        expects negative times for rows without an event.
    positive : label, optional
        For two classes: the label that positive coefficients favour and that `threshold` is about. It becomes the last
        of the classes; by default that is the last in sorted order.
    memory : str or int, default="512MB"
        Memory budget. Data that needs less than a quarter of it is loaded into memory.
    cache : bool or folder, default=True
        Whether to keep encoded rows of slow formats in a temporary file for later passes, and in which folder. Without
        it a stream can be read only once: its first chunk determines the columns, and until all rows have been read
        `n_rows` is the size of that chunk.
    follow : bool, default=False
        Whether to keep reading while a text file grows, or while files appear in a folder or match a pattern
        (`growing`). The rows are then a stream without a cache.
    one_pass : bool, default=False
        Whether to read files only once and in order, like a stream, without a first pass and a cache. Columns with more
        than 1000 levels in the first chunk are hashed, since later rows may have new ones.
    growing : bool, default=False
        Whether files are added to the folder or pattern. Each file is read once, as with `one_pass`, when it is
        complete. A checkpoint remembers the files, so that a resumed fit learns only new ones.
    on_error : {"raise", "skip"}
        What to do with unreadable rows of text files: raise an error, or skip and count them.
    sample_negatives : float, optional
        Keep only this share of the rows whose target is not above 0, such as 0.1, and divide their weights by it. Every
        pass has the same rows.
    encoding : Encoding, optional
        The encoding of a model, to get the same features. If `weight`, `offset` or `exposure` is given, it replaces the
        column that the encoding names.
    n_features, need_target :
        The number of features of sparse rows, if it is known; whether a target is required.
    filesystem : PyArrow or fsspec file system, optional
        The file system of the path, if the path does not name it.
    csv : dict, optional
        The dialect of text files, such as {"decimal": ","}, if it is not recognised: the keys are those of
        `riata.data.formats.csv_options`.
    max_levels, max_words : int, default=10,000 and 50,000
        Columns with more levels than this are hashed; of a text column at most this many words are kept.
    ngrams : int, default=1
        Also count runs of up to this many neighbouring words: 2 for pairs.
    stop_words : sequence of str, default=()
        Words to ignore; "english" stands for a list of them.
    min_rows : int, optional
        Fewest rows that a word must be in to be a feature: 5 by default, or 1 % of the rows if there are few.
    tfidf : bool, default=False
        Whether to weight words by tf-idf: words of many rows count less, and each text has length 1.
    hash_text : bool, default=False
        Whether to hash words and keep no list of them.
    hash_bits : int, optional
        Bits of the hashes of levels, words and names: by default 16, or 20 for rows of named features (Vowpal Wabbit).
    hashed : bool, default=False
        Whether every feature has a hash of its name as its number, for solver "sketch".
    remote_opener : callable, optional
        Makes the dataset where other processes are to read the rows, see `riata.engines`.
    """
    if is_structured(target):
        target, task = from_structured(target), "survival"
    if follow and isinstance(source, str | Path) and not is_data_set(source):
        growing = growing or is_place_of_files(str(source), filesystem)
    one_pass = one_pass or growing
    marks = {"groups": groups, "time": time, "folds": folds, "strata": strata, "entry": entry}
    features = [features] if isinstance(features, str) else features
    drop, categorical, text = ([one] if isinstance(one, str) else one for one in (drop, categorical, text))
    asked = Asked(
        target=target, event=event, trials=trials, weight=weight, offset=offset, exposure=exposure,
        marks={role: given for role, given in marks.items() if given is not None},
        columns=NamedColumns(features, drop, categorical, text, crosses, interactions), column_rules=options, task=task,
        memory=parse_memory(memory), cache=False if follow or one_pass else cache, follow=follow, one_pass=one_pass,
        growing=growing, on_error=on_error, filesystem=filesystem, csv=csv, encoding=encoding, n_features=n_features,
        need_target=need_target, sample_negatives=sample_negatives,
    )  # fmt: skip
    check_known(options, [field.name for field in fields(ColumnOptions) if field.name not in DERIVED])
    if is_statistics(source):
        return _open_statistics(source, asked)
    if is_data_set(source):
        return _open_by_name(source, asked)
    if (is_sparse(source) or isinstance(source, np.ndarray)) and not isinstance(source, np.memmap):
        return _open_array(source, asked)
    return open_growing(source, asked, remote_opener) if growing else open_rows(source, asked, remote_opener)


def is_data_set(source: Any) -> bool:
    """Whether this is the name of a data set, such as "digits49:test"."""
    return isinstance(source, str) and source.partition(":")[0] in DATASETS and not Path(source).exists()


def _open_statistics(source: Any, asked: Asked) -> Dataset:
    """Summary rows of what `riata statistics` wrote."""
    refuse_given(asked.of_streams, f"{source} holds sums, and no rows that become more")
    refuse_given(asked.sampling, f"{source} holds sums, and no rows to choose among")
    statistics = load_statistics(source, asked.memory)
    check_as_encoded(source, statistics.encoding, asked.settled_by_encoding)
    return check_n_features(statistics.as_data(), asked.n_features)


def _open_by_name(source: str, asked: Asked) -> Dataset:
    """A data set by its name, such as "digits49:test"."""
    from riata import datasets

    refuse_given(asked.sampling, f"{source} is small, and as it is")
    fitting = asked.encoding is None and asked.n_features is None  # otherwise the target may be that of a model
    refuse_given(
        asked.columns._asdict() | {"target": asked.target if fitting else None},
        f"{source} comes with its features and its target",
    )
    name, _, split = source.partition(":")
    X, y, names = getattr(datasets, DATASETS[name])(split or "train")
    return open_array(X, y, asked.beside, asked.task, list(map(str, names)), marks=asked.marks, positive=asked.positive)


def _open_array(source: Any, asked: Asked) -> Dataset:
    """An array or a SciPy matrix, which is in memory already."""
    refuse_given(asked.of_streams, "an array does not become longer; only a file of text does")
    refuse_given(asked.sampling, "rows of an array are in memory: leave out those that you do not want")
    refuse_given(
        asked.columns._asdict(),
        "an array has no names of columns; give a data frame, or choose among its columns yourself",
    )
    rows = open_array(
        source, asked.target, asked.beside, asked.task, None, asked.need_target, asked.marks, asked.positive
    )
    return check_n_features(rows, asked.n_features)
