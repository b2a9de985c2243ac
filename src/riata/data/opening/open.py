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
from riata.data.opening.checks import check_as_encoded, check_known, check_width, refuse_given
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
    """One dataset that every solver takes, whatever the source.

    Parameters
    ----------
    source : path, glob, URL, array, frame, generator of chunks, or the name of a data set
        What to read; "-" is standard input.
    target, weight : str, int, array or path
        A column by name (by number in a bare array), an array of one value per row, or a file of its own. A list of
        columns, or an array of several, is of several targets, numbers that are predicted at once. A structured array
        of booleans and numbers is of events and their times, as scikit-survival has them.
    event : str, tuple, array or path
        Where the target is a time: 1 in rows whose event happened then, 0 in those of which no more is known than that
        it had not happened by then. A column may have other values: "status=2", or ("status", 2), says that it happened
        in rows whose status is 2, and in no others. The task is then "survival".
    trials : str, array or path
        Where the target counts successes: the number of trials of each row, among which they are (loss "binomial").
    offset : str, array or path
        Numbers known in advance that are added to the margins of rows, whatever the features. A model that was fitted
        with them needs them for every row it predicts.
    exposure : str, array or path
        In place of an offset, for losses of a logarithmic link: how much of something a row has, such as years or
        customers. The mean is in proportion to it, which is an offset of its logarithm.
    groups, time, folds : str, array or path
        A column that says which rows belong together when k or alpha is chosen: a group such as a customer, whose rows
        are in one fold; a time, for folds that are scored by models of earlier rows; or the numbers of folds. It is no
        feature, unless `features` names it.
    strata, entry : str, array or path
        Of times to events: a column of strata, such as clinics, each of which has a baseline hazard of its own; and of
        times at which rows came under observation (start and stop), before which nothing could be seen of them.
    features, drop : sequences of columns
        Which columns become features: all without another role by default, without those in `drop`.
    categorical, text : sequences of columns
        Columns whose values are levels, even if they are numbers, and columns of free text.
    crosses : sequence of sequences of columns, or "all"
        Columns whose levels are also features in combination, such as ("carrier", "dest"); "all" is every pair of
        columns of levels.
    interactions : sequence of sequences of columns, or "all"
        Columns whose products are features, too, such as ("price", "size"): of two numbers, of a number with each level
        of the other, and combinations of levels. Of more than two columns, and of "all", these are all pairs.
    task : {"auto", "classification", "regression", "survival"}
        What the target is; for "survival" without `event`, times that are negative where no event happened. "auto":
        classes if it is text or boolean, or has exactly two values.
    positive : label, optional
        Which of two classes is the positive one, for which positive coefficients and `threshold` speak: the last in
        order by default. It becomes the last of the classes.
    memory : str or int, default="512MB"
        Budget. Data that needs less than a quarter of it is loaded into memory.
    cache : bool or folder, default=True
        Whether, and in which folder, encoded rows of a slow format are written to a temporary file for later passes.
        A stream without a cache can be read only once: its first chunk tells what the columns are, and `n_rows` is
        the size of that chunk until all rows have been read.
    follow : bool, default=False
        Whether to wait for more: for rows at the end of a text file, or for files in a folder or of a pattern
        (`growing`). They are then a stream, without a cache.
    one_pass : bool, default=False
        Whether files are read once, in their order, as a stream is: no first pass over all rows, and no cache. Columns
        with more than 1000 levels in the first chunk are hashed, because later rows bring others.
    growing : bool, default=False
        Whether the files of a folder or a pattern become more. Each is read once, as with `one_pass`, as soon as it is
        complete; a checkpoint knows which were learnt, and a fit that resumes learns the others.
    on_error : {"raise", "skip"}
        Whether rows of text files that cannot be read are an error, or counted and left out.
    sample_negatives : float, optional
        The share of rows whose target is not above 0 that are kept, such as 0.1; their weights are divided by it. All
        passes keep the same rows.
    encoding : Encoding, optional
        The encoding of a model, to make the same features of these rows. A `weight` that is given takes precedence
        over the weight column of the encoding; so does an `offset` or an `exposure`.
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
    hash_text : bool, default=False
        Whether words are numbered by a hash, without a list of them.
    hash_bits : int, optional
        Bits of hashes of levels, words and names: 16 by default, and 20 of rows of named features (Vowpal Wabbit).
    hashed : bool, default=False
        Whether all features are numbered by hashes of their names, for solver "sketch".
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
    return check_width(statistics.as_data(), asked.n_features)


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
    return check_width(rows, asked.n_features)
