"""A cluster to work on: the user's own, one at an address, or one started here; and its failures in words."""

from collections.abc import Iterable
from typing import Any

from riata.errors import EngineError, MissingPackageError

try:
    import dask.config
    from distributed import Client, Future, KilledWorker, LocalCluster, get_client
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError
except ImportError as error:
    raise MissingPackageError(
        f"a cluster needs Dask, which is not installed ({error}); pip install 'riata[dask]'"
    ) from None

LARGE = "1GiB"  # what a function carries may be as wide as the model: that is no mistake to warn of
PATIENCE = 30  # seconds to wait for a scheduler, or for a first worker


def connect(engine) -> Client:
    """The client of an engine: a Dask client, the address of a scheduler, or "dask" for a cluster started here."""
    if isinstance(engine, Client):
        return engine
    if engine == "dask":
        return _local_cluster()
    if not isinstance(engine, str) or "://" not in engine:
        raise EngineError(
            f"an engine is a Dask client, 'dask', or the address of a scheduler such as tcp://host:8786, not {engine!r}"
        )
    try:
        return Client(engine, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise EngineError(f"there is no scheduler at {engine} ({error}); start one with: dask scheduler") from None


def current_client() -> Client:
    """The client that Dask's own functions would use, or a cluster started here."""
    try:
        return get_client()
    except ValueError:
        return _local_cluster()


def _local_cluster() -> Client:
    """A worker per core of this machine."""
    return Client(LocalCluster(threads_per_worker=1, dashboard_address=None), set_as_default=False)


def close(client: Client) -> None:
    """Let go of a cluster; one that was started here ends."""
    client.close()
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
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE}):
        return client.submit(f, *arguments, pure=False)


def in_tree(client: Client, combine, futures: list[Future], fan_in: int) -> Future:
    """The futures combined on the workers, neighbours first, always in the same order."""
    while len(futures) > 1:
        groups = [futures[i : i + fan_in] for i in range(0, len(futures), fan_in)]
        futures = [group[0] if len(group) == 1 else submit(client, combine, group) for group in groups]
    return futures[0]


def result_of(client: Client, futures: Any):
    """What futures came to, or why they came to nothing."""
    try:
        return client.gather(futures)
    except KilledWorker as killed:
        raise EngineError(
            f"workers died {killed.allowed_failures + 1} times over the same rows, the last one at "
            f"{killed.last_worker.address}: most likely they ran out of memory; give a smaller budget (memory=), "
            "smaller partitions, or workers with more memory"
        ) from None
    except (FutureCancelledError, CommClosedError, TimeoutError, OSError) as error:
        if client.status == "running" and _all_there(futures):
            raise
        raise lost(client) from error


def _all_there(futures) -> bool:
    futures = futures if isinstance(futures, Iterable) else [futures]
    return all(future.status not in ("cancelled", "lost") for future in futures)


def lost(client: Client) -> EngineError:
    """The scheduler went away."""
    return EngineError(
        f"the scheduler at {address(client)} is lost, and with it what its workers held; start it again and repeat the "
        "fit (with checkpoint= and resume=True it goes on where it was)"
    )
