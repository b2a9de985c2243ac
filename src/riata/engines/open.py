"""Opening data in this process, on the workers of a Dask cluster, or where a Dask collection has it."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from riata.data.budget import parse_memory
from riata.data.dataset import Dataset
from riata.data.in_memory import InMemory
from riata.data.opened import opened_with
from riata.data.opening import open as local
from riata.data.opening.column_options import DERIVED, ColumnOptions, as_crosses, as_interactions
from riata.data.row_marks import ROLES
from riata.data.survival import event_and_value
from riata.errors import OptionError

OWN_WORDS = """    engine : Dask client, address or "dask", optional
        The cluster whose workers read the rows: a client, the address of a scheduler such as "tcp://host:8786", or
        "dask" for a cluster on this machine, which is closed with its last dataset. None reads rows in this process.
        Dask arrays, data frames and lists of delayed chunks stay on their workers, with or without an engine; `target`,
        `weight` and `offset` must then be of the same kind.

    Returns
    -------
    Dataset
        What `riata.train` and the `fit` of estimators take. Its rows are in memory, or are read anew in every pass. It
        knows the numbers of rows and features, the names of the features and the target.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> data = riata.open(X, target=3 * X[:, 4] - X[:, 7])
    >>> data.n_rows, data.n_features, data.task
    (100, 20, 'regression')

    The columns of tables and files become features by their contents; ``"sales/*.parquet"`` is opened in the same way.

    >>> import pyarrow as pa
    >>> sales = pa.table({"price": [3.5, 1.0, 2.5, 4.0], "city": ["A", "B", "A", "B"], "sold": ["no", "yes"] * 2})
    >>> data = riata.open(sales, target="sold")
    >>> list(data.feature_names), data.task
    (['price', 'city=B'], 'classification')
    """

OF_ROWS = ("target", "event", "trials", "weight", "offset", "exposure")
# options about columns
COLUMNS = [field.name for field in fields(ColumnOptions) if field.name not in OF_ROWS]


def open_data(source: Any, target: Any = None, *, engine: Any = None, **options: Any) -> Dataset:
    if engine is None and not is_distributed(source):
        data = local.open_data(source, target, **options)
        budget = _budget_of(data, options.get("memory"))
        data.facts = data.facts.but(opened=opened_with(source, target, options), memory=budget)
        return data
    from riata.engines.dask import cluster as dask_cluster

    client = dask_cluster.connect(engine)
    with dask_cluster.in_use(client):
        data = _on_dask(client, source, target, options)
    data.facts = data.facts.but(opened=opened_with(source, target, options | {"engine": client}))
    return data


def _explain(opening: Any) -> None:
    """Give `open_data` the arguments and the words of `riata.data.opening.open.open_data`, with its own in place."""
    own, theirs = (inspect.signature(one).parameters for one in (opening, local.open_data))
    hidden = ("remote_opener", "options")
    known = {name: one for name, one in {**own, **theirs}.items() if name not in hidden}
    for one in fields(ColumnOptions):
        if one.name not in known and one.name not in DERIVED:
            known[one.name] = inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type
            )
    opening.__signature__ = inspect.Signature(list(known.values()), return_annotation=Dataset)
    opening.__doc__ = (local.open_data.__doc__ or "").partition("    remote_opener : callable")[0] + OWN_WORDS


_explain(open_data)


def _budget_of(data: Dataset, asked: int | str | None) -> int | None:
    """What solvers keep to: the budget asked for, or else that of reading, if rows are read and not in memory."""
    if asked is not None:
        return parse_memory(asked)
    return None if isinstance(data, InMemory) else data.memory


def is_distributed(rows: Any) -> bool:
    """Whether rows are a Dask collection, or a list of delayed chunks."""
    first: Any = rows[0] if isinstance(rows, list | tuple) and len(rows) else rows
    return type(first).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(first, "__dask_graph__")


def lazily(f: Callable[[Any], np.ndarray], rows: Any, dtype: npt.DTypeLike, width: int | None = None) -> Any:
    """f of every block of a Dask collection, as a Dask array that is not computed yet.

    f returns a vector, or a matrix of `width` columns if that is given.
    """
    meta = np.empty((0,) if width is None else (0, width), dtype)
    if not hasattr(rows, "chunks"):
        return rows.map_partitions(f, meta=meta)
    rows = rows.rechunk({1: -1}) if rows.numblocks[1] > 1 else rows
    if width is None:
        return rows.map_blocks(f, drop_axis=1, meta=meta)
    return rows.map_blocks(f, chunks=(rows.chunks[0], (width,)), meta=meta)


def _on_dask(client: Any, source: Any, target: Any, options: dict[str, Any]) -> Dataset:
    from riata.engines.dask.opening import open_collection, open_files, send_rows

    if not is_distributed(source):
        rows = local.open_data(source, target, remote_opener=partial(open_files, client), **options)
        return send_rows(client, rows) if isinstance(rows, InMemory) and not rows.is_summary else rows
    unknown = options.keys() - {*COLUMNS, *OF_ROWS, "memory", "encoding", "n_features", "need_target", "cache"}
    if unknown:
        raise OptionError(f"a Dask collection has no use for {sorted(unknown)[0]!r}")
    about_columns = {name: options[name] for name in COLUMNS if name in options}
    for role in ROLES:
        if not isinstance(about_columns.get(role), str | None):
            raise OptionError(f"{role} of a Dask collection are one of its columns, given by its name")
    if "crosses" in about_columns:
        about_columns["crosses"] = as_crosses(about_columns["crosses"])
    if "interactions" in about_columns:
        about_columns["interactions"] = as_interactions(about_columns["interactions"])
    memory = parse_memory(options.get("memory"))
    event, happened = event_and_value(options.get("event"), list(getattr(source, "columns", ())))
    if happened is not None:
        options, about_columns = options | {"event": event}, about_columns | {"happened": happened}
    roles = {role: options.get(role) for role in OF_ROWS} | {"target": target}
    return open_collection(client, source, roles, about_columns, options.get("encoding"), memory)
