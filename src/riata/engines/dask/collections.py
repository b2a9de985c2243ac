"""Dask arrays, Dask data frames and delayed chunks: every block becomes rows on the worker that has it.

Blocks are read like the chunks of a stream: tables with named columns, or tuples (X, y[, weight[, offset]]), where X is
dense or a SciPy matrix. Encoded rows stay in the memory of the workers, from which Dask may spill them to disk.
"""

from dataclasses import replace
from typing import Any

import dask
import dask.array as da
import numpy as np
import pyarrow as pa

from riata.data.formats.source import OFFSET, TARGET, WEIGHT
from riata.data.formats.streams import batches_of
from riata.data.formats.tables import Table, column_table, to_table
from riata.data.opening.column_options import ColumnOptions
from riata.data.opening.first_pass import FirstPass
from riata.data.target_names import named_targets, names_of_targets
from riata.engines.dask.cluster import Client, Future, result_of, submit
from riata.errors import DataError

HEAD = 1000  # rows by which the kinds of columns are decided


class Block(Table):
    """The rows of a block, as an Arrow table."""

    def __init__(self, table: pa.Table, bare: bool, width: int | None) -> None:
        super().__init__(table, bare)
        self.width = width

    def head(self) -> "Block":
        """Its first rows."""
        return Block(self._table.slice(0, HEAD).combine_chunks(), self.bare, self.width)

    def __sizeof__(self) -> int:
        return self.n_bytes or 0


def blocks_of(client: Client, rows: Any, given: dict[str, Any]) -> tuple[list[Future], dict[str, Any]]:
    """A future of a `Block` for every block of a collection, and the names of the columns by their roles."""
    roles: dict[str, Any] = {}
    beside: dict[str | tuple[str, ...], Any] = {}
    for role, its in given.items():
        name = TARGET if role == "target" else role
        if role == "target" and (several := _several(its, rows)) is not None:
            roles |= {"target": several[0], "more_targets": several[1:]}
            if names_of_targets(its) is not None:
                beside[several] = _delayed(_aligned(its, rows))
            continue
        roles[role] = name if _is_column(its) else its
        if _is_column(its):
            beside[name] = _delayed(_aligned(its, rows))
    blocks = _delayed(rows)
    if any(len(others) != len(blocks) for others in beside.values()):
        raise DataError(
            f"the rows come in {len(blocks)} blocks, their target or weights in another number of blocks: rechunk or "
            "repartition them alike"
        )
    make, names = dask.delayed(_block, pure=False), list(beside)
    return client.compute([make(names, *pieces) for pieces in zip(blocks, *beside.values(), strict=True)]), roles


def _several(target: Any, rows: Any) -> tuple[str, ...] | None:
    """The names of several targets: columns of a frame, or those of a collection of its own; None where it is one."""
    return named_targets(target, list(getattr(rows, "columns", ()))) or names_of_targets(target)


def _is_column(given: Any) -> bool:
    """Whether a target or weight is a collection of its own, and not the name of a column."""
    return not (given is None or isinstance(given, str))


def _aligned(column: Any, rows: Any) -> Any:
    """A target or weights in blocks of the same lengths as those of the rows."""
    if isinstance(column, np.ndarray | list) and hasattr(rows, "chunks"):
        return da.from_array(np.asarray(column), chunks=(rows.chunks[0],))
    known = hasattr(rows, "chunks") and hasattr(column, "chunks") and not np.isnan([*rows.chunks[0]]).any()
    return column.rechunk({0: rows.chunks[0]}) if known else column


def _delayed(collection: Any) -> list[Any]:
    """The blocks of rows of a collection, as delayed objects."""
    if isinstance(collection, list | tuple):
        return list(collection)
    if not hasattr(collection, "to_delayed"):
        raise DataError(
            f"the target and the weights of a Dask collection must be Dask collections too, not {type(collection)}"
        )
    if getattr(collection, "ndim", 1) == 2 and hasattr(collection, "chunks") and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


def _block(names: list[str | tuple[str, ...]], rows: Any, *columns: Any) -> Block:
    """The rows of a block, joined with columns of these names (target, weight); a tuple is of several targets."""
    beside: dict[str, Any] = {}
    for its, values in zip(names, columns, strict=True):
        if isinstance(its, str):
            beside[its] = values
        else:
            beside |= dict(zip(its, np.asarray(values).T, strict=True))
    if (table := to_table(rows)) is not None:
        for name, values in beside.items():
            if name in table.column_names:
                raise DataError(f"the frame has a column {name!r} itself: name it, or drop it")
            table = table.append_column(name, column_table(values, name)[name])
        return Block(table, False, None)
    if isinstance(rows, tuple) and beside:
        raise DataError("tuples (X, y) and (X, y, weight) bring their own target and weights: give no others")
    pieces = rows if isinstance(rows, tuple) else (rows,)
    table = pa.Table.from_batches(batches_of(pieces))
    for name, values in beside.items():
        column = column_table(values, name)[name]
        if len(column) != table.num_rows:
            raise DataError(f"a chunk has {table.num_rows} rows but {len(column)} values of {name}")
        table = table.append_column(name, column)
    return Block(table, True, pieces[0].shape[1])


def first_look(client: Client, blocks: list[Future], options: ColumnOptions) -> FirstPass:
    """A first pass whose kinds of columns are decided by the first block that has rows."""
    for block in blocks:
        head: Block = result_of(client, submit(client, Block.head, block))
        if head.n_rows:
            break
    else:
        raise DataError("there are no rows to learn from")
    if head.bare and options.target is None and TARGET in head.schema.names:
        options = replace(options, target=TARGET)
    if head.bare and options.weight is None and WEIGHT in head.schema.names:
        options = replace(options, weight=WEIGHT)
    if head.bare and options.offset_role is None and OFFSET in head.schema.names:
        options = replace(options, offset=OFFSET)
    look = FirstPass(head, options)
    look.begin(head.slice(look.columns, 0, HEAD))
    return look
