"""Timings of fits that did not end as they should are not reported as timings."""

from dataclasses import replace

import pytest

from riata.errors import RiataError
from riata.outcome.reasons import StopReason
from riata.outcome.stop import Stop
from riata.reproduce import timing, work
from riata.reproduce.timing import made_up_rows, seconds_of_a_fit
from riata.threads import _limit


def ending(monkeypatch, stop):
    """Every fit ends so."""
    fit = timing.fit

    def other(*args):
        fitted = fit(*args)
        return replace(fitted, result=replace(fitted.result, stop=stop))

    monkeypatch.setattr(timing, "fit", other)


def test_a_fit_that_did_not_converge_is_an_error(monkeypatch):
    ending(monkeypatch, Stop(StopReason.MAX_PASSES, passes=3))
    with pytest.raises(RiataError, match=r"exact did not converge.*max_passes=3"):
        seconds_of_a_fit("exact", made_up_rows(50, 50))


def test_an_interrupted_fit_interrupts_the_experiment(monkeypatch):
    ending(monkeypatch, Stop(StopReason.INTERRUPTED))
    with pytest.raises(KeyboardInterrupt):
        seconds_of_a_fit("exact", made_up_rows(50, 50))


def test_a_cell_in_a_worker_has_one_thread_of_blas(monkeypatch):
    class Cell:
        def run(self, rows):
            return {"depth": _limit._depth, "rows": rows}

    monkeypatch.setattr(work, "_rows", ["the rows"])
    assert work._run(Cell()) == {"depth": 1, "rows": "the rows"}
    assert _limit._depth == 0
