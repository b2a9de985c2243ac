"""Cells shared by two processes; those that must be alone come last, one after the other."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from riata.errors import RiataError
from riata.reproduce.plan import Cell
from riata.reproduce.rows import Rows
from riata.reproduce.store import Store
from riata.threads import one_blas_thread

PROCESSES = 2
_rows: list[Rows] = []  # of a worker process: what its cells learn from


def run_cells(
    cells: list[Cell], rows: Rows, store: Store, progress: Callable[[int, int, str], None] | None = None
) -> list[dict[str, Any]]:
    """What every cell says, in order; those in the store are not run again."""
    waiting = [cell for cell in cells if store.get(cell) is None]
    done = len(cells) - len(waiting)
    for cell, result in _results(waiting, rows):
        store.put(cell, result)
        done += 1
        if progress is not None:
            progress(done, len(cells), cell.key)
    results = map(store.get, cells)
    return [result for result in results if result is not None]


def _results(cells: list[Cell], rows: Rows) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Cells with their results, as they come."""
    together = [cell for cell in cells if not cell.alone]
    if together:
        context = multiprocessing.get_context("spawn")  # threads and forks do not mix
        with ProcessPoolExecutor(PROCESSES, context, initializer=_begin, initargs=(rows,)) as pool:
            running: dict[Future[dict[str, Any]], Cell] = {pool.submit(_run, cell): cell for cell in together}
            try:
                while running:
                    finished, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        yield running.pop(future), future.result()
            except BrokenProcessPool:
                raise RiataError(
                    "a process of the experiment was killed; the same command goes on from there"
                ) from None
            except BaseException:
                for worker in multiprocessing.active_children():
                    worker.terminate()  # nobody waits for half a fit
                raise
    for cell in cells:
        if cell.alone:
            yield cell, cell.run(rows)


def _begin(rows: Rows) -> None:
    """Prepare a worker for its first cell."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to hear: a fit would end with half a model
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _rows.append(rows)


def _end_with_parent() -> None:
    """A parent that is killed cannot tell its workers to stop."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run(cell: Cell) -> dict[str, Any]:
    with one_blas_thread():  # two processes on two cores leave no core for threads of BLAS
        return cell.run(_rows[0])
