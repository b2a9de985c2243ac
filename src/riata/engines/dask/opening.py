"""From files, arrays and frames to encoded rows on workers, in two passes on the workers.

This process reads only the headers of files and a first batch of rows, to decide what kinds of columns there are. The
first pass learns the encoding, the second encodes the rows. Every worker reads its own parts of files, and writes the
encoded rows to a temporary file on its disk; those of Dask collections stay in memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.budget import chunk_bytes
from riata.data.encoding import Encoding
from riata.data.formats.parts import parts_of
from riata.data.formats.source import Source
from riata.data.in_memory import InMemory
from riata.data.opening.column_options import ColumnOptions
from riata.data.opening.first_pass import FirstPass
from riata.data.opening.profile import Profile, has_names, known_encoding
from riata.data.opening.profile_cache import profile_of
from riata.data.opening.rows import ReadyRows
from riata.data.out_of_core import ROW_OVERHEAD, facts_of
from riata.engines.dask.cluster import Client, Future, carry, in_tree, n_threads, result_of, submit_all
from riata.engines.dask.marks import MarksOnWorkers
from riata.engines.dask.on_workers import OnWorkers
from riata.engines.dask.parts import Part, RowsInMemory, look_at_source, merged_looks, part_of_block, part_of_source
from riata.engines.dask.payload import Carried
from riata.engines.dask.worker import rows_of_part
from riata.errors import OptionError

PARTS_PER_THREAD = 4  # enough to balance the load, and to lose little with a worker
LEAST_PART = 8 << 20  # the least size of a part of a file, in bytes
BYTES_PER_TASK = 1 << 18  # how much a thread reads and sums in the time that the scheduler needs for one task
LOOKS_AT_ONCE = 8  # how many first passes one task merges: they are small
THREADS = 4  # the most threads of a worker with which chunks of the usual size stay within the budget


def open_files(client: Client, ready: ReadyRows) -> OnWorkers:
    """The rows of a source, which the workers read themselves."""
    source = ready.source
    if ready.cache is False and not source.fast:
        raise OptionError(
            "workers keep encoded rows of this format in temporary files: give a folder for them as cache"
        )
    source.as_codes()
    parts = parts_of(source, part_count(source.n_bytes or 0, n_threads(client)))
    if ready.encoding is None:
        profile = profile_of(source, ready.options, ready.batch_rows, partial(_learned, client, parts))
    else:
        profile = _known(source, known_encoding(source, ready.encoding, ready.targets))
    folder = ready.cache if isinstance(ready.cache, str) else None
    data = _encoded(client, part_of_source, parts, profile, ready.memory, folder)
    return _with_marks(data, parts, source.schema, ready.options)


def part_count(n_bytes: int, threads: int) -> int:
    """Into how many parts to divide so many bytes.

    In a pass over B bytes in p parts, the scheduler handles p tasks and a thread reads B / p bytes; the time for both
    is least for p = sqrt(B / BYTES_PER_TASK).
    """
    return int(max(1, min(n_bytes // LEAST_PART, PARTS_PER_THREAD * threads, (n_bytes / BYTES_PER_TASK) ** 0.5)))


def open_collection(
    client: Client,
    rows: Any,
    given: dict[str, Any],
    options: dict[str, Any],
    encoding: Encoding | None,
    memory: int,
) -> OnWorkers:
    """The rows of a Dask collection, or of delayed chunks, with the target, weight and offset that are given."""
    from riata.engines.dask.collections import blocks_of, first_look  # imports dask.array, which files do without

    blocks, roles = blocks_of(client, rows, given)
    look = first_look(client, blocks, ColumnOptions(**roles, **options))
    schema = look.source.schema
    if encoding is None:
        profile = _looked(client, look, blocks, look.source.n_rows or 1)
    else:
        encoding = replace(
            encoding,
            weight=look.options.weight or encoding.weight,
            offset=look.options.offset_role or encoding.offset,
        )
        profile = _known(look.source, known_encoding(look.source, encoding, look.options.targets))
    data = _encoded(client, part_of_block, blocks, profile, memory, None)
    return _with_marks(data, blocks, schema, look.options)


def _with_marks(
    data: OnWorkers, parts: Sequence[Source | Future], schema: pa.Schema, options: ColumnOptions
) -> OnWorkers:
    """The dataset with the columns that say which rows belong together, where there are some."""
    if options.marks and data.encoding is not None:
        marks = MarksOnWorkers(data.client, parts, data.encoding, schema, options.marks, data.n_rows)
        data.facts = data.facts.but(marks=marks)
    return data


def _learned(client: Client, parts: Sequence[Source], source: Source, options: ColumnOptions, rows: int) -> Profile:
    """The profile of a source: its first batch decides the kinds of columns, then the workers read the parts."""
    look = FirstPass(source, options)
    first = next(iter(source.batches(look.columns, rows)), None)
    if first is not None:
        look.begin(first)
    return _looked(client, look, parts, rows)


def _looked(client: Client, look: FirstPass, parts: Sequence[Source | Future], rows: int) -> Profile:
    """The profile of all parts: one pass on the workers."""
    source, look.source = look.source, None  # type: ignore[assignment]  # not sent: every worker sets its own
    carried = carry(client, Carried(look))
    looks = submit_all(client, look_at_source, parts, [carried] * len(parts), [rows] * len(parts))
    found: FirstPass = result_of(client, in_tree(client, merged_looks, looks, LOOKS_AT_ONCE))
    found.source = source
    return found.profile()


def _known(source: Source, encoding: Encoding) -> Profile:
    return Profile(
        n_rows=0,
        n_read=0,
        without_target=0,
        zero_weight=0,
        row_bytes=16.0 * len(source.schema.names),
        columns={},
        encoding=encoding,
        named=has_names(source),
    )


def _encoded(
    client: Client,
    task: Callable[..., Part],
    parts: Sequence[Source | Future],
    profile: Profile,
    memory: int,
    folder: str | None,
) -> OnWorkers:
    """The dataset of all parts: `task` encodes a part, and the rows of each are counted."""
    encoding = profile.encoding
    per_row = max(encoding.row_bytes, profile.row_bytes) + ROW_OVERHEAD
    sharing = max(1.0, max(client.nthreads().values(), default=1) / THREADS)
    chunk_rows = int(max(1, chunk_bytes(memory) // (per_row * sharing)))
    how = carry(client, Carried((encoding, chunk_rows, folder, profile.n_read == profile.n_rows > 0)))
    groups = shared_out(client, len(parts)) if task is part_of_source else {}
    encoded: list[Future] = []
    for group, worker in groups.items() or [((0, len(parts)), None)]:
        its = parts[slice(*group)]
        encoded += submit_all(client, task, its, [how] * len(its), worker=worker)
    nothing = carry(client, Carried(()))
    counting = submit_all(client, rows_of_part, encoded, [(0,)] * len(parts), [nothing] * len(parts))
    counts = np.array(result_of(client, counting))
    firsts = np.cumsum([0, *counts[:, 0]])
    facts = facts_of(profile, int(firsts[-1]), memory)
    data = OnWorkers(client, encoded, [(int(i),) for i in firsts[:-1]], facts, encoding.row_bytes)
    return data.grouped([slice(*group) for group in groups]) if groups else data


def shared_out(client: Client, n_parts: int) -> dict[tuple[int, int], str]:
    """Neighbouring parts, from the first to the one behind the last, and their worker: a group for each thread.

    So a thread can go through its parts one after the other, where they are to be learnt together.
    """
    threads = [worker for worker, n in sorted(client.nthreads().items()) for _ in range(n)]
    n_groups = min(len(threads), n_parts)
    cuts = [i * n_parts // n_groups for i in range(n_groups + 1)]
    return dict(zip(pairwise(cuts), threads, strict=False))


def send_rows(client: Client, data: InMemory) -> OnWorkers:
    """Rows of this process, sent to the workers in parts, by way of the scheduler, which keeps a copy."""
    n_parts = min(PARTS_PER_THREAD * n_threads(client), data.n_rows)
    cuts = [i * data.n_rows // n_parts for i in range(n_parts + 1)]
    parts = submit_all(client, RowsInMemory, [[data.chunk.rows(slice(a, b))] for a, b in pairwise(cuts)])
    row_bytes = RowsInMemory([data.chunk]).__sizeof__() / data.n_rows
    return OnWorkers(client, parts, [(a,) for a in cuts[:-1]], data.facts, row_bytes)
