"""A little of `make torture` with every run of the tests, and that it notices what it is there for."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from torture.cap_cases import Case, Measured, every_case
from torture.cap_results import Results
from torture.caps import Files, measure

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="commands are forked, and files limited in size")
HERE = Path(__file__).parents[1]


def test_commands_that_are_ended_leave_old_files_or_new_ones():
    words = [sys.executable, "-m", "torture", "--rounds", "3", "--seed", "20261115"]
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(words, cwd=HERE, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 rounds" in done.stdout


def test_a_fit_keeps_to_its_budget(tmp_path):
    case = Case("exact", "tall", "npy")
    assert case in every_case()
    files = Files(tmp_path)
    found = measure(case, files, (64,))
    most_mb = 90  # 64 and some slack for a busy machine, where memory is given back later
    assert files.of(case.shape, case.kind, False).stat().st_size > most_mb * 10**6  # or else it would show nothing
    assert [one.fault(most_mb) for one in found] == [None]
    assert found[0].more_mb > 0


def test_fits_beyond_their_budget_and_refusals_that_say_no_size_are_noticed():
    assert Measured(0, "", 64.0).fault(64) is None
    assert Measured(2, "riata: this needs 80 MB, more than the budget", 10.0).fault(64) is None
    assert "65 MB more" in str(Measured(0, "", 65.0).fault(64))
    assert "100 MB more" in str(Measured(2, "riata: this needs 80 MB", 100.0).fault(64))
    for wrong in (Measured(2, "riata: no", 1.0), Measured(1, "Traceback", 1.0), Measured(-9, "it needs 80 MB", 1.0)):
        assert "exit code" in str(wrong.fault(64))


def test_budgets_that_were_kept_by_the_same_code_are_not_tried_again(tmp_path, monkeypatch):
    case, path = Case("exact", "tall", "npy"), tmp_path / "results"
    first, other = Results(path), Results(path)
    first.add(case, 64, Measured(0, "", 50.0))
    first.add(case, 128, Measured(0, "", 150.0))
    other.reread()
    assert [other.holds(case, mb, any_code=False) for mb in (64, 128, 256)] == [True, False, False]
    assert other.wrong() == ["exact,tall,npy with 128 MB: 150 MB more"]
    assert "| tall | npy | 1 | 50 | 1 | 150 |" in other.table()
    monkeypatch.setattr("torture.cap_results.code_hash", lambda: "changed")
    changed = Results(path)
    assert [changed.holds(case, 64, any_code) for any_code in (False, True)] == [False, True]


def test_commands_hear_ctrl_c_where_the_harness_itself_does_not(tmp_path, monkeypatch):
    """As where a shell started it in the background."""
    from torture import rounds
    from torture.commands import trials

    monkeypatch.setattr(rounds, "STUCK_SECONDS", 60)

    def wait(*_, **__):
        (tmp_path / "begun").mkdir()
        try:
            time.sleep(600)
        except KeyboardInterrupt:
            raise SystemExit(7) from None

    monkeypatch.setattr(rounds, "riata", wait)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        child = rounds.begin(trials()[0], tmp_path)
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        os.kill(child, signal.SIGINT)
        code, _ = rounds.ended(child, tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 7


def test_files_that_are_torn_or_others_are_noticed(tmp_path):
    from torture.commands import OLD, trials
    from torture.rounds import Wrong, check

    (trial,) = (one for one in trials() if one.name == "fit")
    path = tmp_path / trial.out
    for content, right in (
        (OLD, True),
        (b'{"coef": [1.0]}', True),
        (b'{"coef": [1.', False),
        (b'{"coef": [2]}', False),
    ):
        path.write_bytes(content)
        if right:
            check(trial, tmp_path, {"coef": [1.0]}, "torn")
        else:
            with pytest.raises(Wrong, match=r"torn: m\.json"):
                check(trial, tmp_path, {"coef": [1.0]}, "torn")
