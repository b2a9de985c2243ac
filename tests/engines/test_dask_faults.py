"""Workers die, come, run out of memory and dawdle: a fit ends with the same bits, or with one sentence."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster, get_worker
from numpy.testing import assert_array_equal

import riata
from riata.engines.dask import cluster as dask_cluster
from riata.engines.dask import doubts, on_workers
from riata.engines.dask import opening as dask_open
from riata.engines.dask.worker import Result, run_of_part, run_of_parts, sum_of, sum_of_part
from riata.errors import EngineError
from riata.training.fitting import fit
from riata.training.spec import Spec

SPEC = Spec(alpha_ratio=0.02, loss="logistic")


@pytest.fixture(scope="module")
def cluster():
    """One worker, and two as soon as the first test has called for another."""
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="700MiB") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    return X, np.where(X[:, 0] - X[:, 1] + rng.normal(size=2000) > 0, 1.0, -1.0)


@pytest.fixture(scope="module")
def path(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    np.savetxt(path, np.column_stack(rows), delimiter=",", header=",".join([*"abcdefghij", "y"]), comments="")
    return str(path)


def opened(path, client):
    """Rows that workers read from a file, in twelve parts: what dies with one of them another reads again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_open, "part_count", lambda n_bytes, threads: 12)
        return riata.open(path, target="y", task="regression", engine=client)


@pytest.fixture(scope="module")
def data(client, path):
    return opened(path, client)


@pytest.fixture(scope="module")
def undisturbed(data):
    return fit(data, SPEC).result.coef


def test_a_worker_that_comes_and_one_that_dawdles(cluster, client, data, undisturbed):
    """Before any test harms the cluster: a nanny gives up a worker that dies at a bad moment, and one is missing."""
    cluster.scale(2)
    assert_array_equal(fit(data, SPEC).result.coef, undisturbed)
    client.wait_for_workers(2, timeout=120)

    def part(chunk):
        if get_worker().name == 0:
            time.sleep(0.1)
        return chunk.y.sum()

    assert data.sum(part) == data.sum(lambda chunk: chunk.y.sum())
    assert_array_equal(fit(data, SPEC).result.coef, undisturbed)


def test_workers_killed_at_random_moments_change_no_bit(cluster, data, undisturbed):
    rng, done = random.Random(5), threading.Event()

    def kill():
        """Not a worker that is starting: its nanny would give it up. One may be dying already, and has no number."""
        try:
            for _ in range(2):
                time.sleep(rng.uniform(0.05, 0.6))
                nannies = cluster.workers.values()
                there = [nanny for nanny in nannies if nanny.worker_address in cluster.scheduler.workers and nanny.pid]
                if there:
                    os.kill(rng.choice(there).pid, signal.SIGKILL)
        finally:
            done.set()

    killer = threading.Thread(target=kill)
    killer.start()
    while not done.is_set():
        assert_array_equal(fit(data, SPEC).result.coef, undisturbed)
    killer.join()
    assert_array_equal(fit(data, SPEC).result.coef, undisturbed)


def test_a_worker_killed_in_the_middle_of_a_pass(data, tmp_path):
    mark = str(tmp_path / "died")

    def part(chunk):
        if not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return chunk.n_rows, chunk.X.array.sum(axis=0)

    n_rows, sums = data.sum(part)
    assert n_rows == 2000
    assert_array_equal(sums, data.sum(lambda chunk: chunk.X.array.sum(axis=0)))


def test_a_worker_killed_while_it_learns_its_part(data, tmp_path):
    """Chunks of a view that kills are learnt by solver online: the part is learnt again, from its first row."""
    mark = str(tmp_path / "died")

    def deadly(chunk):
        if not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return chunk

    spec = Spec(solver="online", loss="logistic")
    undisturbed = fit(data, spec).result
    view = data.map(deadly).sharing_moments(lambda of_target: data.moments)
    found = fit(view, spec).result
    assert os.path.exists(mark)
    assert_array_equal(found.coef, undisturbed.coef)
    assert found.intercept == undisturbed.intercept


def test_a_worker_out_of_memory_is_replaced_and_one_that_always_is_gives_a_sentence(
    cluster, data, tmp_path, monkeypatch
):
    mark = str(tmp_path / "died")

    def greedy(chunk):
        return len(np.ones(1 << 28)) and time.sleep(60)

    def greedy_once(chunk):
        if not os.path.exists(mark):
            open(mark, "w").close()
            greedy(chunk)
        return chunk.n_rows

    assert data.sum(greedy_once) == 2000
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 1)  # two deaths over the same rows take long enough,
    monkeypatch.setattr(dask_cluster, "NO_WORKERS", 1e9)  # and a busy machine much longer to replace a worker
    with pytest.raises(EngineError, match="ran out of memory; give a smaller budget"):
        data.sum(greedy)


SERVE = """
import sys
from distributed import LocalCluster
cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0")
print(cluster.scheduler_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def healthy():
    """The client of a cluster that no test has harmed."""
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_a_scheduler_that_is_lost_gives_a_sentence_and_its_fit_goes_on_elsewhere(healthy, rows, tmp_path):
    X, y = da.from_array(rows[0], chunks=(500, -1)), da.from_array(rows[1], chunks=500)
    spec = replace(SPEC, checkpoint=str(tmp_path), every=0, tol=1e-12)
    server = subprocess.Popen([sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    records = []

    def lose_it(record):
        records.append(record)
        if len(records) == 3:
            server.kill()
            server.wait()

    try:
        data = riata.open(X, y, task="regression", engine=server.stdout.readline().strip())
        with pytest.raises(EngineError, match="is lost or was restarted"):
            fit(data, spec, lose_it)
    finally:
        server.kill()
        server.communicate()
    data = riata.open(X, y, task="regression", engine=healthy)
    before = data.passes
    resumed = fit(data, replace(spec, resume=True)).result
    again = data.passes - before
    undisturbed = fit(data, replace(spec, checkpoint=None)).result
    assert_array_equal(resumed.coef, undisturbed.coef)
    assert again < undisturbed.passes


def test_a_cluster_without_workers_is_not_waited_for_for_ever(rows, monkeypatch):
    X, y = (da.from_array(array, chunks=2000) for array in rows)
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as small,
        Client(small, set_as_default=False) as client,
    ):
        data = riata.open(X, y, task="regression", engine=client)
        client.sync(small.workers[0].close)
        for name, seconds in (("CONNECT_TIMEOUT", 0.5), ("CHECK_EVERY", 0.2), ("NO_WORKERS", 0.4)):
            monkeypatch.setattr(dask_cluster, name, seconds)
        with pytest.raises(EngineError, match="has had no worker for"):
            data.sum(lambda chunk: chunk.n_rows)
        with pytest.raises(EngineError, match="has no worker; start one"):
            riata.open("digits49", engine=client)


@pytest.mark.parametrize("address", ["foo://x", "tcp://", "tcp://127.0.0.1:abc", "tls://127.0.0.1:5"])
def test_an_address_that_is_none_is_one_sentence(address):
    with pytest.raises(EngineError, match=f"there is no scheduler at {address} .*start one with: dask scheduler"):
        dask_cluster.connect(address)


def test_a_port_that_says_nothing_is_one_sentence(monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_TIMEOUT", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(EngineError, match=f"no scheduler at {address} .*gave no answer that Dask understands"):
            dask_cluster.connect(address)


def test_a_part_whose_result_has_another_shape_is_noticed(path, healthy):
    """NumPy would spread an array of length 1 over the others, and the sum would be wrong."""
    data = opened(path, healthy)  # of the other cluster earlier tests may have killed all workers for good
    with pytest.raises(EngineError, match="of shapes"):
        data.sum(lambda chunk: np.ones(1 if chunk.y[0] > 0 else 10))


@pytest.mark.parametrize("lie", ["text", {"a": 1}, (1, 2), np.array(["1"] * 10), np.ones(10, dtype=complex)], ids=str)
def test_a_part_whose_result_is_of_another_kind_is_noticed(lie):
    with pytest.raises(EngineError, match="one of the workers runs other code"):
        sum_of([Result(1, np.ones(10)), Result(0, None), Result(1, lie)])


@pytest.mark.parametrize("lie", [None, 3.0, (1, np.ones(10))], ids=str)
def test_a_part_whose_result_does_not_say_of_how_many_rows_is_noticed(lie):
    with pytest.raises(EngineError, match="one of the workers runs other code"):
        sum_of([Result(1, np.ones(10)), lie])


def spoilt(result):
    """The same result with NaN for a number in each of its arrays."""
    result = deepcopy(result)
    for numbers in doubts._numbers(result.value):
        if numbers.ndim:
            numbers.flat[:1] = np.nan
    return result


LIES = {
    "no rows": (lambda result: Result(0, None), "workers have summed (0|18[0-9]+) rows in a pass, and there are 2000"),
    "a row less": (lambda result: result._replace(n_rows=result.n_rows - 1), "summed 1999 rows .* there are 2000"),
    "no numbers": (spoilt, "a worker answers that [0-9]+ sums over its rows are not finite .*repeat the fit"),
}


PASSES = []  # of the second part: here, since tasks are copied on their way


@dataclass
class Lying:
    """The worker of the second part lies from the second pass on; summed again, the part has its true result."""

    task: Callable
    lie: str

    def __call__(self, part, starts, *others):
        result = self.task(part, starts, *others)
        if self.task is run_of_parts:
            parts, firsts = part, [its[-1] for its in starts]
        else:
            parts, firsts = [part], [starts[1][-1] if self.task is run_of_part else starts[-1]]
        if not any(0 < first < 300 for first in firsts) or isinstance(parts[0], doubts.Brought):
            return result
        PASSES.append(firsts)
        return LIES[self.lie][0](result) if len(PASSES) > 1 else result


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("solver", ["exact", "best-k", "online"])
def test_a_part_whose_sums_are_no_numbers_or_of_other_rows_is_noticed(solver, lie, path, healthy, monkeypatch):
    data = opened(path, healthy)
    PASSES.clear()
    for task in (sum_of_part, run_of_part, run_of_parts):
        monkeypatch.setattr(on_workers, task.__name__, Lying(task, lie))
    strength = {"k": 2} if solver == "best-k" else {"alpha_ratio": 0.02}
    with pytest.raises(EngineError, match=LIES[lie][1]):
        fit(data, Spec(loss="logistic", solver=solver, **strength))
    assert len(PASSES) == 2


def test_a_loss_that_overflows_is_no_lie(path, healthy):
    """The trial of a long step may well have an infinite loss; it has so in this process, too."""
    data = opened(path, healthy)

    def losses(chunk):
        with np.errstate(over="ignore"):
            return chunk.n_rows, np.exp(np.array([1.0, 2000.0]) * chunk.X.array[:, :1]).sum(axis=0)

    n_rows, found = data.sum(losses)
    assert n_rows == 2000
    assert_array_equal(np.isfinite(found), [True, False])
