"""From files, arrays and frames to encoded rows on workers: who reads what, in two passes on the workers.

The driver sees the heads of files and a first batch of rows, which tell what kinds of columns there are. The first pass
learns the encoding, the second encodes: rows of files, of which every worker reads its own row groups, lines or rows,
into a file on its disk; blocks of Dask's collections in memory.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from riata.data.budget import chunk_bytes
from riata.data.encoding import Encoding
from riata.data.formats.parts import parts_of
from riata.data.formats.source import Source
from riata.data.in_memory import InMemory
from riata.data.opening.profile import FirstPass, Profile, Wishes, has_names, known_encoding
from riata.data.opening.profile_cache import profile_of
from riata.data.out_of_core import ROW_OVERHEAD, facts_of
from riata.engines.dask.cluster import Client, carry, in_tree, n_threads, result_of, submit_all
from riata.engines.dask.collections import blocks_of, first_look
from riata.engines.dask.on_workers import OnWorkers
from riata.engines.dask.parts import RowsInMemory, look_at_source, merged_looks, part_of_block, part_of_source
from riata.engines.dask.payload import Carried
from riata.engines.dask.worker import rows_of_part
from riata.errors import OptionError

PARTS_PER_THREAD = 4  # enough to share the work evenly, and to lose little with a worker
LEAST_PART = 8 << 20  # bytes of a file
BYTES_PER_TASK = 1 << 18  # that a thread reads and sums while the scheduler takes care of one task
LOOKS_AT_ONCE = 8  # statistics of columns are small
THREADS = 4  # of a worker, for which chunks of the usual size keep to the budget


def open_files(client: Client, source: Source, wishes: Wishes, rows, encoding, target, memory, cache) -> OnWorkers:
    """The rows of a source that the workers read for themselves; `encoding` is that of a model, where there is one."""
    if cache is False and not source.fast:
        raise OptionError(
            "workers keep encoded rows of this format in temporary files: give a folder for them as cache"
        )
    parts = parts_of(source, part_count(source.n_bytes or 0, n_threads(client)))
    if encoding is None:
        profile = profile_of(source, wishes, rows, lambda *asked: _learned(client, parts, *asked))
    else:
        profile = _known(source, known_encoding(source, encoding, target))
    folder = cache if isinstance(cache, str) else None
    return _encoded(client, part_of_source, parts, profile, memory, folder)


def part_count(n_bytes: int, threads: int) -> int:
    """How many parts to make of so many bytes.

    A pass over p parts of B bytes costs the scheduler p tasks and a thread B / p bytes, which together is least where
    p = sqrt(B / BYTES_PER_TASK).
    """
    return int(max(1, min(n_bytes // LEAST_PART, PARTS_PER_THREAD * threads, (n_bytes / BYTES_PER_TASK) ** 0.5)))


def open_collection(client: Client, rows, target, weight, wishes: dict, encoding: Encoding | None, memory) -> OnWorkers:
    """The rows of a Dask collection, or of delayed chunks."""
    blocks, roles = blocks_of(client, rows, target, weight)
    look = first_look(client, blocks, Wishes(**roles, **wishes))
    if encoding is None:
        profile = _looked(client, look, blocks, look.source.n_rows or 1)
    else:
        encoding = replace(encoding, weight=look.wishes.weight or encoding.weight)
        profile = _known(look.source, known_encoding(look.source, encoding, look.wishes.target))
    return _encoded(client, part_of_block, blocks, profile, memory, None)


def _learned(client, parts, source: Source, wishes: Wishes, rows: int) -> Profile:
    """The profile of a source: a first batch tells what kinds of columns there are, the parts tell the rest."""
    look = FirstPass(source, wishes)
    first = next(iter(source.batches(look.columns, rows)), None)
    if first is not None:
        look.begin(first)
    return _looked(client, look, parts, rows)


def _looked(client, look: FirstPass, parts, rows: int) -> Profile:
    """One pass on the workers."""
    source, look.source = look.source, None  # type: ignore[assignment]
    carried = carry(client, Carried(look))
    looks = submit_all(client, look_at_source, parts, [carried] * len(parts), [rows] * len(parts))
    found: FirstPass = result_of(client, in_tree(client, merged_looks, looks, LOOKS_AT_ONCE))
    found.source = source
    return found.profile()


def _known(source: Source, encoding: Encoding) -> Profile:
    return Profile(0, 0, 0, 0, 16.0 * len(source.schema.names), {}, encoding, has_names(source))


def _encoded(client, task, parts, profile: Profile, memory: int, folder) -> OnWorkers:
    """The parts as encoded rows, once they have counted them."""
    encoding = profile.encoding
    per_row = max(encoding.row_bytes, profile.row_bytes) + ROW_OVERHEAD
    sharing = max(1.0, max(client.nthreads().values(), default=1) / THREADS)
    chunk_rows = int(max(1, chunk_bytes(memory) // (per_row * sharing)))
    how = carry(client, Carried((encoding, chunk_rows, folder, profile.n_read == profile.n_rows > 0)))
    encoded = submit_all(client, task, parts, [how] * len(parts))
    nothing = carry(client, Carried(()))
    counting = submit_all(client, rows_of_part, encoded, [(0,)] * len(parts), [nothing] * len(parts))
    counts = np.array(result_of(client, counting))
    firsts = np.cumsum([0, *counts[:, 0]])
    facts = facts_of(profile, int(firsts[-1]), memory)
    return OnWorkers(client, encoded, [(int(i),) for i in firsts[:-1]], facts, encoding.row_bytes)


def send_rows(client: Client, data: InMemory) -> OnWorkers:
    """Rows that are in memory here, cut up and sent to the workers by way of the scheduler, which keeps a copy."""
    n_parts = min(PARTS_PER_THREAD * n_threads(client), data.n_rows)
    cuts = [i * data.n_rows // n_parts for i in range(n_parts + 1)]
    parts = submit_all(client, RowsInMemory, [[data.chunk.rows(slice(a, b))] for a, b in pairwise(cuts)])
    row_bytes = RowsInMemory([data.chunk]).__sizeof__() / data.n_rows
    return OnWorkers(client, parts, [(a,) for a in cuts[:-1]], data.facts, row_bytes)
