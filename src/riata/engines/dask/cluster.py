"""Connecting to a Dask cluster or starting one, running tasks on it, and explaining its failures."""

import asyncio
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from riata.engines.dask.payload import Carried
from riata.errors import EngineError, MissingPackageError

try:
    import dask.config
    from distributed import Client, Future, KilledWorker, LocalCluster, get_client, wait
    from distributed.comm import CommClosedError
    from distributed.comm import connect as distributed_connect
    from distributed.security import Security
except ImportError as error:
    raise MissingPackageError(
        f"a cluster needs Dask, which is not installed ({error}); pip install 'riata[dask]'"
    ) from None

__all__ = [
    "Client", "Future", "address", "carry", "connect", "in_tree", "in_use", "keep_open", "local_cluster", "lost",
    "n_threads", "result_of", "submit", "submit_all",
]  # fmt: skip
LARGE_GRAPH = "1GiB"  # from which Dask warns of large tasks: a task may well contain all coefficients
CLOSE_TIMEOUT = 2  # seconds to wait for the scheduler when a client is closed
CHECK_EVERY, NO_WORKERS = 5.0, 120.0  # seconds between checks for workers, and without any before giving up
CONNECT_TIMEOUT = 10  # seconds to wait for a scheduler, or for a first worker


class OwnClient(Client):  # type: ignore[misc]  # Dask has no types
    """A client that was created here, and is closed after its last user (with its cluster, if that is riata's, too)."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.users: set[object] = set()
        super().__init__(*arguments, set_as_default=False, **options)

    def release(self, user: object) -> None:
        """Close it, if nobody else uses it."""
        self.users.discard(user)
        if not self.users:
            close(self)


@contextmanager
def in_use(client: Client) -> Iterator[None]:
    """Keep a client of riata's own open meanwhile."""
    if not isinstance(client, OwnClient):
        yield
        return
    user = object()
    client.users.add(user)
    try:
        yield
    finally:
        client.release(user)


def keep_open(client: Client, dataset: object) -> None:
    """Keep a client of riata's own open for as long as this dataset lives: a view may outlive what it is a view of."""
    if isinstance(client, OwnClient):
        user = object()
        client.users.add(user)
        weakref.finalize(dataset, client.release, user)


def connect(engine: Any) -> Client:
    """The client of an engine.

    An engine is a Dask client, the address of a scheduler, "dask" for a new cluster on this machine, or None for Dask's
    current client, or a new cluster on this machine where there is none.
    """
    if isinstance(engine, Client):
        return engine
    if engine is None:
        try:
            return get_client()
        except ValueError:
            engine = "dask"
    if engine == "dask":
        return OwnClient(local_cluster())
    if not isinstance(engine, str) or "://" not in engine:
        raise EngineError(
            f"an engine is a Dask client, 'dask', or the address of a scheduler such as tcp://host:8786, not {engine!r}"
        )
    _check_answers(engine)
    try:
        return OwnClient(engine, timeout=CONNECT_TIMEOUT)
    except (OSError, TimeoutError, ValueError) as error:
        raise _no_scheduler(engine, str(error)) from None


def _check_answers(scheduler: str) -> None:
    """Refuse an address at which nobody answers in Dask's protocol: its own client may wait for an answer for ever."""

    async def greet() -> None:
        arguments = Security().get_connection_args("client")
        there = await asyncio.wait_for(
            distributed_connect(scheduler, timeout=CONNECT_TIMEOUT, **arguments), CONNECT_TIMEOUT + 1
        )
        there.abort()

    if scheduler.startswith("inproc://"):
        return  # of this process
    try:
        with ThreadPoolExecutor(1) as own_thread:  # this one may have an event loop: a notebook has
            own_thread.submit(asyncio.run, greet()).result()
    except TimeoutError:
        raise _no_scheduler(
            scheduler, f"whatever listens there gave no answer that Dask understands within {CONNECT_TIMEOUT} s"
        ) from None
    except (OSError, ValueError, TypeError) as error:
        raise _no_scheduler(scheduler, str(error)) from None


def _no_scheduler(address: str, reason: str) -> EngineError:
    return EngineError(f"there is no scheduler at {address} ({reason}); start one with: dask scheduler")


def local_cluster(workers: int | None = None, threads: int = 1) -> LocalCluster:
    """Worker processes on this machine, one per core by default.

    Dask's default makes them return freed memory to the system at once, so that every pass would allocate it again, and
    looks a hundred times a second at what they do.
    """
    environ = dict(dask.config.get("distributed.nanny.pre-spawn-environ"))
    environ.pop("MALLOC_TRIM_THRESHOLD_", None)
    unlike = {"distributed.nanny.pre-spawn-environ": environ, "distributed.worker.profile.enabled": False}
    with dask.config.set(unlike):
        return LocalCluster(n_workers=workers, threads_per_worker=threads, dashboard_address=":0")


def close(client: Client) -> None:
    """Disconnect from a cluster; one that was started here is stopped."""
    if threading.current_thread() is not threading.main_thread():  # maybe a thread of Dask, which must not wait
        threading.Thread(target=_close, args=(client,)).start()
    else:
        _close(client)


def _close(client: Client) -> None:
    client.close(timeout=CLOSE_TIMEOUT)
    if client.cluster is not None:
        client.cluster.close()


def n_threads(client: Client) -> int:
    """The number of threads of all workers; waits for a first worker."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_TIMEOUT)
    except TimeoutError:
        raise EngineError(
            f"the cluster at {address(client)} has no worker; start one with: dask worker {address(client)}"
        ) from None
    return sum(client.nthreads().values())


def address(client: Client) -> str:
    """The address of the scheduler."""
    return str(client.scheduler.address if client.scheduler else client._start_arg)


def carry(client: Client, value: Carried) -> Future:
    """A value for the workers, sent to the scheduler once, and then from worker to worker.

    It is the result of a task, not scattered data, so that it can be made again if the worker that has it dies.
    """
    return submit(client, _itself, value)


def _itself(value: Carried) -> Carried:
    return value


def submit(client: Client, f: Callable[..., Any], *arguments: Any) -> Future:
    """A new task, even if there was one with the same function and arguments."""
    return submit_all(client, f, *([argument] for argument in arguments))[0]


def submit_all(
    client: Client, f: Callable[..., Any], *arguments: Iterable[Any], worker: str | None = None
) -> list[Future]:
    """A task f(a, b, ...) for each of the arguments in parallel sequences, sent to the scheduler in one message.

    They run on this worker, if there is one and while it lives.
    """
    if client.status != "running":
        raise lost(client)
    where = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE_GRAPH}):
        return client.map(f, *arguments, pure=False, **where)


def in_tree(client: Client, combine: Callable[[list[Any]], Any], futures: list[Future], fan_in: int) -> Future:
    """The results combined on the workers, in a tree over neighbours that is always the same."""
    while len(futures) > 1:
        futures = submit_all(client, combine, [futures[i : i + fan_in] for i in range(0, len(futures), fan_in)])
    return futures[0]


def result_of(client: Client, futures: Any) -> Any:
    """The results of one or more futures; failures of the cluster are explained."""
    try:
        _wait(client, futures)
        return client.gather(futures)
    except KilledWorker as killed:
        raise EngineError(
            f"workers died {killed.allowed_failures + 1} times over the same rows, the last one at "
            f"{killed.last_worker.address}: most likely they ran out of memory; give a smaller budget (memory), "
            "smaller partitions, or workers with more memory"
        ) from None
    except (CancelledError, CommClosedError, TimeoutError, OSError) as error:
        if client.status == "running" and _all_there(futures):
            raise
        raise lost(client) from error


def _wait(client: Client, futures: Any) -> None:
    """Wait for futures, but not for long while the cluster has no workers."""
    without_workers = 0.0
    while without_workers < NO_WORKERS:
        try:
            with client.as_current():
                wait(futures, timeout=CHECK_EVERY)
            return
        except TimeoutError:
            without_workers = 0.0 if client.nthreads() else without_workers + CHECK_EVERY
    raise EngineError(
        f"the cluster at {address(client)} has had no worker for {NO_WORKERS:.0f} seconds: start some, open the data "
        "again and repeat the fit"
    )


def _all_there(futures: Any) -> bool:
    """Whether the scheduler still knows all futures."""
    futures = futures if isinstance(futures, Iterable) else [futures]
    return all(future.status not in ("cancelled", "lost") for future in futures)


def lost(client: Client) -> EngineError:
    """The error of a scheduler that was stopped or restarted."""
    return EngineError(
        f"the scheduler at {address(client)} is lost or was restarted, and what its workers held is gone: open the "
        "data again and repeat the fit (with a checkpoint, resume=True goes on where it was)"
    )
