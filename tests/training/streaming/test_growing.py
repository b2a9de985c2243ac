"""Files that become more: each is learnt once, in the first fit or in a later one, to the same bits."""

import json
import os
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import riata
from riata.cli import main
from riata.data.formats import new_files
from riata.errors import CheckpointError, DataError, MissingFileError, OptionError
from riata.training.streaming import stream_fit


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(new_files, "QUIET", 0.05)
    monkeypatch.setattr(new_files, "POLL", 0.01)


def hours(n_files=3, n=1500, labels=("0", "1"), seed=0):
    """Tables of clicks: a hashed column, whose levels become more, a date, gaps, few levels."""
    rng = np.random.default_rng(seed)
    for hour in range(n_files):
        ad = rng.integers(0, 1300, n) + 400 * hour
        ad[::5] = 7
        seen = rng.poisson(2, n)
        p = 1 / (1 + np.exp(1.0 - 1.5 * (ad == 7) - 0.3 * seen))
        click = np.array(labels)[(rng.random(n) < p).astype(int)]
        when = np.datetime64("2026-01-01") + (hour + rng.integers(0, 2, n)).astype("timedelta64[D]")
        yield pa.table(
            {
                "seen": pa.array(seen, mask=rng.random(n) < 0.1),
                "ad": [f"{i:06x}" for i in ad],
                "few": rng.choice(["a", "b", "c"], n),
                "when": when,
                "click": [int(c) for c in click] if labels == ("0", "1") else click,
            }
        )


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".arrow":
        pyarrow.feather.write_feather(table, path, compression="uncompressed")
    elif path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        rows = table.to_pylist()
        lines = (f"{2 * r['click'] - 1} |n seen:{r['seen'] or 0} |c ad={r['ad']} few={r['few']}" for r in rows)
        path.write_text("\n".join(lines) + "\n")


def spec(folder=None, **options):
    saved = {} if folder is None else {"checkpoint": folder, "resume": True}
    return riata.Spec(**{"solver": "online", "loss": "logistic"} | options | saved)


def learn(place, spec, **options):
    target = None if str(place).endswith("vw") else "click"
    return riata.train(riata.open(str(place), target, **{"growing": True} | options), spec)


def assert_same(one, other):
    """The same bits, in all that a fit leaves but times."""
    first, second = one.to_model(), other.to_model()
    assert (first.names, first.indices, first.classes) == (second.names, second.indices, second.classes)
    assert np.array_equal(first.coef, second.coef)
    assert np.array_equal(first.intercept, second.intercept)
    assert first.encoding == second.encoding
    assert (abs(one.coef - other.coef) > 0).sum() == 0
    assert one.course.progressive == other.course.progressive
    assert one.course.progressive_by_day == other.course.progressive_by_day
    assert one.course.n_rows == other.course.n_rows


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "vw"])
def test_new_files_alone_are_learnt_and_the_model_is_that_of_one_pass(ending, tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    for i, table in enumerate(hours()):
        write(table, log / f"{i}.{ending}")
        found = learn(f"{log}/*.{ending}", spec(tmp_path / "saved"))
    whole = learn(f"{log}/*.{ending}", spec(), growing=False, one_pass=True)
    assert found.course.n_rows == 4500
    assert_same(whole, found)
    with pytest.warns(UserWarning, match="no file is new"):
        again = learn(f"{log}/*.{ending}", spec(tmp_path / "saved"))
    assert_same(whole, again)


@pytest.mark.parametrize(
    "options",
    [
        {"k": 3},
        {"solver": "sketch", "k": 3, "hashed": True},
        {"solver": "ftrl", "alpha": 1e-3, "standardize": False},
        {"half_life": 500.0},
        {"sample_negatives": 0.4},
        {"crosses": [("ad", "few")]},
        {"normalize": "rows"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_so_it_is_of_every_solver_and_option(options, tmp_path):
    log, of_rows = tmp_path / "log", {"sample_negatives", "crosses", "hashed"}
    log.mkdir()
    opening = {name: value for name, value in options.items() if name in of_rows}
    asked = {name: value for name, value in options.items() if name not in of_rows}
    for i, table in enumerate(hours()):
        write(table, log / f"{i}.parquet")
        found = learn(log, spec(tmp_path / "saved", **asked), **opening)
    assert_same(learn(log, spec(**asked), growing=False, one_pass=True, **opening), found)


def test_labels_may_be_new_in_later_files(tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    labels = [("no", "yes"), ("no", "yes"), ("maybe", "yes")]
    for i, pair in enumerate(labels):
        write(next(hours(1, labels=pair, seed=i)), log / f"{i}.parquet")
        found = learn(log, spec(tmp_path / "saved"))
    assert found.classes.tolist() == ["maybe", "no", "yes"]
    assert_same(learn(log, spec(), growing=False, one_pass=True), found)


def test_numbers_whose_loss_gets_its_number_from_the_first_rows(tmp_path):
    log, rng = tmp_path / "log", np.random.default_rng(0)
    log.mkdir()
    for i in range(3):
        x = rng.normal(size=500)
        write(
            pa.table({"x": x, "z": rng.normal(size=500), "click": 3 * (1 + i) * x + rng.normal(size=500)}),
            log / f"{i}.parquet",
        )
        found = learn(log, spec(tmp_path / "saved", loss="huber"))
    assert_same(learn(log, spec(loss="huber"), growing=False, one_pass=True), found)


def test_files_may_move_or_go_once_they_are_learnt(tmp_path):
    log, old = tmp_path / "log", tmp_path / "old"
    log.mkdir()
    tables = list(hours())
    for i, table in enumerate(tables[:2]):
        write(table, log / f"{i}.parquet")
    learn(log, spec(tmp_path / "saved"))
    (log / "0.parquet").unlink()
    log.rename(old)
    write(tables[2], old / "2.parquet")
    assert learn(old, spec(tmp_path / "saved")).course.n_rows == 4500


def test_a_file_that_changed_after_it_was_learnt_is_an_error(tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    first, second, _ = hours()
    write(first, log / "0.csv")
    learn(log, spec(tmp_path / "saved"))
    with open(log / "0.csv", "ab") as file:
        pyarrow.csv.write_csv(second, file, pyarrow.csv.WriteOptions(include_header=False))
    with pytest.raises(DataError, match=r"0\.csv has changed since it was learnt .* rows cannot be unlearnt"):
        learn(log, spec(tmp_path / "saved"))


def test_files_that_are_not_complete_are_left_for_the_next_time(tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    tables = list(hours())
    write(tables[0], log / "0.parquet")
    write(tables[1], tmp_path / "1.parquet")
    content = (tmp_path / "1.parquet").read_bytes()
    (log / "1.parquet").write_bytes(content[:-100])
    for name in ("2.parquet.tmp", "_temporary.parquet", ".hidden.parquet"):
        (log / name).write_bytes(content[:1000])
    with pytest.warns(UserWarning, match=r"1\.parquet: not complete yet, and left for the next time"):
        assert learn(log, spec(tmp_path / "saved")).course.n_rows == 1500
    (log / "1.parquet").write_bytes(content)
    assert learn(log, spec(tmp_path / "saved")).course.n_rows == 3000


def test_text_that_still_grows_is_left_for_the_next_time(tmp_path, monkeypatch):
    monkeypatch.setattr(new_files, "QUIET", 0.5)
    log = tmp_path / "log"
    log.mkdir()
    tables = list(hours())
    write(tables[0], log / "0.csv")
    os.utime(log / "0.csv", (1e9, 1e9))
    write(tables[1], log / "1.csv")
    done = threading.Event()

    def go_on():
        with open(log / "1.csv", "ab") as file:
            while not done.wait(0.02):
                file.write(b"1,000001,a,2026-01-01,0\n")
                file.flush()

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        with pytest.warns(UserWarning, match=r"1\.csv: not complete yet"):
            found = learn(log, spec(tmp_path / "saved"))
    finally:
        done.set()
        writer.join()
    assert found.course.n_rows == 1500


def test_a_fit_that_was_killed_within_a_file_learns_it_once(tmp_path, monkeypatch):
    log = tmp_path / "log"
    log.mkdir()
    for i, table in enumerate(hours()):
        write(table, log / f"{i}.parquet")
    data = riata.open(str(log), "click", growing=True)
    seen = 0

    def killed(*_):
        nonlocal seen
        seen += 1
        if seen == 3:
            raise RuntimeError("killed")
        return chunk_of(*_)

    from riata.data.encoding import Encoding

    chunk_of = Encoding.chunk
    monkeypatch.setattr(Encoding, "chunk", killed)
    with pytest.raises(RuntimeError, match="killed"):
        riata.train(data, spec(tmp_path / "saved", every="0s"))
    monkeypatch.setattr(Encoding, "chunk", chunk_of)
    found = learn(log, spec(tmp_path / "saved"))
    assert_same(learn(log, spec(), growing=False, one_pass=True), found)


def test_a_folder_can_be_followed(tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    tables = list(hours())
    write(tables[0], log / "0.parquet")
    data = riata.open(str(log), "click", follow=True)

    def appear():
        try:
            for i, table in enumerate(tables[1:], 1):
                write(table, tmp_path / "on its way.parquet")
                os.rename(tmp_path / "on its way.parquet", log / f"{i}.parquet")
                deadline = time.monotonic() + 60
                while len(data.files) <= i and time.monotonic() < deadline:
                    time.sleep(0.01)
        finally:
            data.close()

    writer = threading.Thread(target=appear)
    writer.start()
    found = riata.train(data, spec(tmp_path / "saved"))
    writer.join()
    whole = learn(log, spec(), growing=False, one_pass=True)
    assert_same(whole, found)
    with pytest.warns(UserWarning, match="no file is new"):
        assert_same(whole, learn(log, spec(tmp_path / "saved")))


@pytest.mark.parametrize("learnt", [0, 1])
def test_ctrl_c_ends_it_with_the_model_so_far_once_there_are_rows_learnt(learnt, tmp_path, monkeypatch):
    """What loads or compiles code is of no use for a model if it was interrupted."""
    for i, table in enumerate(hours()):
        write(table, tmp_path / f"{i}.parquet")
    learn, chunks = stream_fit.learn_chunk, []

    def interrupted(*args):
        if len(chunks) == learnt:
            raise KeyboardInterrupt
        chunks.append(args)
        learn(*args)

    monkeypatch.setattr(stream_fit, "learn_chunk", interrupted)
    data = riata.open(tmp_path, "click", growing=True, memory="1MB")
    spec = riata.Spec(solver="online", loss="logistic")
    if learnt:
        assert 0 < riata.train(data, spec).course.n_rows < 4500
    else:
        with pytest.raises(KeyboardInterrupt):
            riata.train(data, spec)


def test_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log").mkdir()
    asked = ["fit", "log", "--target", "click", "--solver", "online", "--growing", "--checkpoint", "saved", "--resume"]
    for i, table in enumerate(hours()):
        write(table, tmp_path / "log" / f"{i}.parquet")
        done = CliRunner().invoke(main, [*asked, "--json"])
        assert done.exit_code == 0, done.output
        assert json.loads((tmp_path / "log.riata.json").read_text())["training"]["n_rows"] == 1500 * (i + 1)
    done = CliRunner().invoke(main, [*asked, "--k", "2"])
    assert done.exit_code == 2
    assert "its k is None, here it is 2" in " ".join(done.output.split())


def test_other_options_than_before_are_refused(tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    write(next(hours()), log / "0.parquet")
    learn(log, spec(tmp_path / "saved"))
    with pytest.raises(CheckpointError, match="its drop is None, here it is"):
        learn(log, spec(tmp_path / "saved"), drop=["few"])
    (tmp_path / "saved" / "checkpoint.npz").write_bytes(b"PK")
    with pytest.raises(CheckpointError, match="damaged"):
        learn(log, spec(tmp_path / "saved"))


def test_what_cannot_grow_says_so(tmp_path):
    write(next(hours()), tmp_path / "a.parquet")
    one, place = str(tmp_path / "a.parquet"), str(tmp_path / "*.parquet")
    with pytest.raises(OptionError, match="growing is for a folder, or a pattern"):
        riata.open(one, "click", growing=True)
    with pytest.raises(OptionError, match="a folder or a pattern can be followed"):
        riata.open(one, "click", follow=True)
    with pytest.raises(OptionError, match="open them with growing"):
        riata.train(riata.open(one, "click", one_pass=True), spec(tmp_path / "saved"))
    with pytest.raises(OptionError, match="leave batch or checkpoint out"):
        learn(place, spec(tmp_path / "saved", solver="ftrl", alpha=0.01, batch=2, standardize=False))
    with pytest.raises(OptionError, match="name columns of theirs"):
        riata.open(place, np.zeros(1500), growing=True)
    with pytest.raises(MissingFileError):
        riata.open(str(tmp_path / "*.csv"), "click", growing=True)
    (tmp_path / "b.feather").write_bytes(b"ARROW1\0\0")
    with pytest.raises(DataError, match=r"no file that is complete yet: .*b\.feather is being written"):
        riata.open(str(tmp_path / "*.feather"), "click", growing=True)
