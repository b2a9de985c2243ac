"""A cluster to work on: the user's own, one at an address, or one started here; and its failures in words."""

import threading
from collections.abc import Iterable
from concurrent.futures import CancelledError
from typing import Any

from riata.errors import EngineError, MissingPackageError

try:
    import dask.config
    from distributed import Client, Future, KilledWorker, LocalCluster, get_client, wait
    from distributed.comm import CommClosedError
except ImportError as error:
    raise MissingPackageError(
        f"a cluster needs Dask, which is not installed ({error}); pip install 'riata[dask]'"
    ) from None

LARGE_GRAPH = "1GiB"  # what a function carries may be as wide as the model: that is no mistake to warn of
GOODBYE = 2  # seconds that a scheduler gets to notice that nobody needs it any more
LOOK, ALONE = 5.0, 120.0  # seconds between looks at whether there are workers, and without any before giving up
PATIENCE = 10  # seconds to wait for a scheduler, or for a first worker


def connect(engine) -> tuple[Client, bool]:
    """The client of an engine, and whether it was made for it.

    An engine is a Dask client, the address of a scheduler, "dask" for a cluster that is started here, or None for the
    client that Dask's own functions would use, and a cluster started here where there is none.
    """
    if isinstance(engine, Client):
        return engine, False
    if engine is None:
        try:
            return get_client(), False
        except ValueError:
            engine = "dask"
    if engine == "dask":
        return Client(local_cluster(), set_as_default=False), True
    if not isinstance(engine, str) or "://" not in engine:
        raise EngineError(
            f"an engine is a Dask client, 'dask', or the address of a scheduler such as tcp://host:8786, not {engine!r}"
        )
    try:
        return Client(engine, timeout=PATIENCE, set_as_default=False), True
    except (OSError, TimeoutError) as error:
        raise EngineError(f"there is no scheduler at {engine} ({error}); start one with: dask scheduler") from None


def local_cluster(workers: int | None = None, threads: int = 1) -> LocalCluster:
    """Worker processes on this machine, one per core by default.

    Dask's default makes them give freed memory back at once, and a pass would then take the pages of its chunks anew.
    """
    environ = dict(dask.config.get("distributed.nanny.pre-spawn-environ"))
    environ.pop("MALLOC_TRIM_THRESHOLD_", None)
    with dask.config.set({"distributed.nanny.pre-spawn-environ": environ}):
        return LocalCluster(n_workers=workers, threads_per_worker=threads, dashboard_address=":0")


def close(client: Client) -> None:
    """Let go of a cluster; one that was started here ends."""
    if threading.current_thread() is not threading.main_thread():  # which may be Dask's own, and must not wait
        threading.Thread(target=_close, args=(client,)).start()
    else:
        _close(client)


def _close(client):
    client.close(timeout=GOODBYE)
    if client.cluster is not None:
        client.cluster.close()


def n_threads(client: Client) -> int:
    """Of all workers together; waits for a first one."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise EngineError(
            f"the cluster at {address(client)} has no worker; start one with: dask worker {address(client)}"
        ) from None
    return sum(client.nthreads().values())


def address(client: Client) -> str:
    """Where the scheduler is."""
    return str(client.scheduler.address if client.scheduler else client._start_arg)


def carry(client: Client, value) -> Future:
    """A carried value, sent to the scheduler once and from worker to worker from there on.

    It is the result of a task, not scattered data: if the worker that has it dies, it can be made again.
    """
    return submit(client, _itself, value)


def _itself(value):
    return value


def submit(client: Client, f, *arguments) -> Future:
    """A task of its own, even if there has been one like it."""
    return submit_all(client, f, *([argument] for argument in arguments))[0]


def submit_all(client: Client, f, *arguments) -> list[Future]:
    """A task for each of the arguments, told to the scheduler in one go."""
    if client.status != "running":
        raise lost(client)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE_GRAPH}):
        return client.map(f, *arguments, pure=False)


def in_tree(client: Client, combine, futures: list[Future], fan_in: int) -> Future:
    """The futures combined on the workers, neighbours first, always in the same order."""
    while len(futures) > 1:
        futures = submit_all(client, combine, [futures[i : i + fan_in] for i in range(0, len(futures), fan_in)])
    return futures[0]


def result_of(client: Client, futures: Any):
    """What futures came to, or why they came to nothing."""
    try:
        _wait(client, futures)
        return client.gather(futures)
    except KilledWorker as killed:
        raise EngineError(
            f"workers died {killed.allowed_failures + 1} times over the same rows, the last one at "
            f"{killed.last_worker.address}: most likely they ran out of memory; give a smaller budget (memory=), "
            "smaller partitions, or workers with more memory"
        ) from None
    except (CancelledError, CommClosedError, TimeoutError, OSError) as error:
        if client.status == "running" and _all_there(futures):
            raise
        raise lost(client) from error


def _wait(client, futures):
    """Wait for futures, as long as there is anybody to work on them now and then."""
    alone = 0.0
    while alone < ALONE:
        try:
            with client.as_current():
                wait(futures, timeout=LOOK)
            return
        except TimeoutError:
            alone = 0.0 if client.nthreads() else alone + LOOK
    raise EngineError(
        f"the cluster at {address(client)} has had no worker for {ALONE:.0f} seconds: start some, open the data again "
        "and repeat the fit"
    )


def _all_there(futures) -> bool:
    futures = futures if isinstance(futures, Iterable) else [futures]
    return all(future.status not in ("cancelled", "lost") for future in futures)


def lost(client: Client) -> EngineError:
    """The scheduler went away, or was told to forget."""
    return EngineError(
        f"the scheduler at {address(client)} is lost or was restarted, and what its workers held is gone: open the "
        "data again and repeat the fit (with checkpoint= and resume=True it goes on where it was)"
    )
