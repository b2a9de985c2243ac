"""A full disk, a closed pipe, a signal: one sentence, the documented exit code, and nothing half written."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from click.testing import CliRunner

from riata import open as riata_open
from riata.cli import ending, main
from riata.errors import DataError
from riata.files import TEMPORARY, replacing

resource = pytest.importorskip("resource", reason="this system has no limit on the size of files")
OLD = b"what was there before"
FIT = ["fit", "data.csv", "--target", "y", "--k", "2"]
WRITES = {  # commands, and the file of theirs that is larger than the limit
    "model": ([*FIT, "--out", "out.json"], "out.json"),
    "report": ([*FIT, "--out", "/dev/null", "--report", "out.html"], "out.html"),
    "predictions as CSV": (["predict", "model.json", "data.csv", "--no-cache", "--out", "out.csv"], "out.csv"),
    "predictions as Parquet": (
        ["predict", "model.json", "data.csv", "--no-cache", "--out", "out.parquet"],
        "out.parquet",
    ),
    "converted rows": (["convert", "data.csv", "out.arrow", "--target", "y"], "out.arrow"),
    "statistics": (["statistics", "data.csv", "out.npz", "--target", "y"], "out.npz"),
    "path": (["path", "data.csv", "--target", "y", "--out", "out.csv"], "out.csv"),
    "picture": (["path", "data.csv", "--target", "y", "--plot", "out.svg"], "out.svg"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch, rng):
    """A folder with data and a model, in which the tests run."""
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(300, 8))
    rows = np.column_stack([X, X @ np.arange(8.0) + rng.normal(size=300)])
    np.savetxt("data.csv", rows, delimiter=",", header="a,b,c,d,e,f,g,h,y", comments="")
    assert CliRunner().invoke(main, [*FIT, "--out", "model.json"]).exit_code == 0
    return tmp_path


def with_small_files(words, most_bytes=100):
    """Run a command that may write files of so many bytes only: the system says the same as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        return CliRunner().invoke(main, words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def unfinished(folder):
    return [path.name for path in folder.rglob("*") if path.name.endswith(TEMPORARY[1])]


@pytest.mark.parametrize("name", WRITES)
def test_a_full_disk_is_one_sentence_and_leaves_what_was_there(folder, name):
    words, out = WRITES[name]
    (folder / out).write_bytes(OLD)
    result = with_small_files(words)
    said = [line for line in result.stderr.splitlines() if line.startswith("riata:")]
    assert result.exit_code == 2, result.output
    assert [line.partition(": file too large")[0] for line in said] == [f"riata: cannot write {out}"]
    assert (folder / out).read_bytes() == OLD
    assert unfinished(folder) == []


def test_rows_that_cannot_be_kept_are_a_sentence(folder):
    result = with_small_files(["predict", "model.json", "data.csv"])
    assert result.exit_code == 2
    assert "riata: the encoded rows cannot be kept in " in result.stderr
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(
            DataError, match=r"the rows of the stream cannot be kept in .*: File too large; name another"
        ):
            riata_open((np.ones((9, 9)), np.arange(9.0)) for _ in range(99))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_fit_goes_on_when_its_checkpoints_cannot_be_written(folder):
    words = [*FIT, "--out", "/dev/null", "--checkpoint", "states", "--every", "0", "--solver", "l0-sgd"]
    result = with_small_files(words)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("note: this checkpoint is left out, and the fit goes on: cannot write states") == 1
    assert list((folder / "states").iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_device_without_room_is_a_sentence(folder):
    result = CliRunner().invoke(main, ["predict", "model.json", "data.csv", "--out", "/dev/full"])
    assert result.exit_code == 2
    assert "written as .csv or .parquet" in result.stderr
    result = CliRunner().invoke(main, [*FIT, "--out", "/dev/full"])
    assert result.exit_code == 2
    assert "riata: cannot write /dev/full: no space left on device" in result.stderr


def riata(*words, **options):
    return subprocess.Popen([sys.executable, "-m", "riata", *words], stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_standard_output_that_cannot_be_written(folder):
    with open("/dev/full", "wb") as full:
        process = riata("predict", "model.json", "data.csv", stdout=full)
    assert process.communicate()[1] == (
        "riata: cannot write to standard output: no space left on device; make room, or name another place\n"
    )
    assert process.returncode == 2


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="this system has no SIGPIPE")
def test_a_reader_that_has_seen_enough_ends_a_command_without_a_word(folder):
    reading, writing = os.pipe()
    os.close(reading)
    process = riata("predict", "model.json", "data.csv", stdout=writing)
    os.close(writing)
    assert process.communicate()[1] == ""
    assert process.returncode == 128 + signal.SIGPIPE


SLOW = """
import os, sys, threading, time, signal
from riata.cli import ending, main
from riata.files import replacing
import riata.model.model as module

def slow(self, path, save=module.Model.save):
    with replacing("other.json") as file:
        file.write(b"half")
        file.flush()
        print("half written", flush=True)
        time.sleep(60)

module.Model.save = slow
main(sys.argv[1:], prog_name="riata")
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_signals_leave_nothing_behind(folder, name, code):
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *FIT, "--out", "out.json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: [signal.signal(one, signal.SIG_DFL) for one in (signal.SIGHUP, signal.SIGINT)],
    )  # fmt: skip
    assert process.stdout.readline() == "half written\n"
    assert len(unfinished(folder)) == 1
    process.send_signal(getattr(signal, name))
    _, said = process.communicate()
    assert process.returncode == code, said
    assert "nothing was saved but what was said to be" in said
    assert "Traceback" not in said
    assert unfinished(folder) == []
    assert not (folder / "other.json").exists()


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_signal_within_a_function_that_compiled_code_calls_is_heard(folder, monkeypatch, name, code):
    """Python drops what is raised there: llvmlite calls such functions while it compiles."""

    @ctypes.CFUNCTYPE(None)
    def called():
        os.kill(os.getpid(), getattr(signal, name))
        sum(range(100))

    def save(self, path):
        called()
        time.sleep(60)

    monkeypatch.setattr("riata.model.model.Model.save", save)
    # tests in the background of a shell have been told to ignore Ctrl-C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = CliRunner().invoke(main, [*FIT, "--out", "out.json"])
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.exit_code == code
    assert "nothing was saved but what was said to be" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_before_a_command_has_begun_has_its_exit_code(folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("click.core.Group.parse_args", interrupted)
    done = CliRunner().invoke(main, FIT)
    assert done.exit_code == 130
    assert "Traceback" not in done.stderr


def test_what_a_killed_process_left_is_removed_at_the_next_start_and_what_is_in_use_is_not(folder):
    """A child writes half a file and is killed; this process writes another one meanwhile."""
    child = os.fork()
    if child == 0:
        with replacing("model.json") as file:
            file.write(b"half")
            file.flush()
            time.sleep(60)
    while len(unfinished(folder)) < 1:
        time.sleep(0.01)
    with replacing("mine.json") as file:
        file.write(b"whole")
        assert len(unfinished(folder)) == 2
    assert len(unfinished(folder)) == 1  # the child lives
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(unfinished(folder)) == 1
    assert CliRunner().invoke(main, ["fit", "data.csv", "--target", "y", "--k", "-1", "--out", "x.json"]).exit_code == 2
    assert unfinished(folder) == []
    assert (folder / "mine.json").read_bytes() == b"whole"


def test_a_user_without_a_home_folder_has_no_cache_and_everything_else(folder, monkeypatch):
    def no_home(*_, **__):
        raise RuntimeError("could not determine the home directory")

    monkeypatch.delenv("RIATA_CACHE")
    monkeypatch.setattr("platformdirs.user_cache_dir", no_home)
    assert CliRunner().invoke(main, [*FIT, "--out", "out.json"]).exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "model.json", "out.json"]


def test_what_arrow_says_of_rows_that_are_no_text_is_not_passed_on(tmp_path):
    """A line of too many cells whose bytes are no text: Arrow fails to show it to us, and prints a traceback."""
    rows = b"a,b,y\n" + b"".join(b"%d,%d,%d\n" % (i, i % 7, i % 5) for i in range(50))
    (tmp_path / "rows.csv").write_bytes(rows + b"1,\xee\xff\xfe,2,3\n" + rows[6:])
    words = [sys.executable, "-m", "riata", "fit", str(tmp_path / "rows.csv"), "--target", "y", "--quiet"]
    done = subprocess.run([*words, "--csv", "encoding=utf-8", "--out", os.devnull], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("riata: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_that_comes_as_soon_as_it_is_heard_is_a_sentence(name, monkeypatch):
    number, install = getattr(signal, name), signal.signal
    install(number, signal.SIG_DFL)  # below nohup it would be ignored

    def and_at_once(one, handler):
        before = install(one, handler)
        if one == number and callable(handler):
            os.kill(os.getpid(), number)
        return before

    with monkeypatch.context() as patched:
        patched.setattr(signal, "signal", and_at_once)
        result = CliRunner().invoke(main, ["solvers"])
    install(number, signal.SIG_DFL)
    assert (result.exit_code, result.stderr) == (
        128 + number,
        f"riata: ended by {name}: nothing was saved but what was said to be\n",
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_moment_in_which_a_lock_is_taken_comes_a_little_later(number):
    """Raised there, it left the lock of an Event taken, and whoever used that next waited for ever."""
    event, in_time = threading.Event(), []

    def at_its_return(frame, what, _):
        if frame.f_code is threading.Condition.__enter__.__code__:
            if what == "return" and not in_time:
                in_time.append(True)
                signal.getsignal(number)(number, frame)
            return at_its_return
        return None

    def wait():
        with ending._heard_signals():
            sys.settrace(at_its_return)
            try:
                event.wait(0.01)
            finally:
                sys.settrace(None)
            in_time.append(event._cond._lock.locked())
            time.sleep(20.0)

    before = sys.gettrace()
    with pytest.raises((KeyboardInterrupt, ending.Ended)):
        wait()
    sys.settrace(before)
    assert in_time == [True, False]
