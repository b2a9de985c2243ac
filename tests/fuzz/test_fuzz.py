"""A little of `make fuzz` with every run of the tests, and that the harness notices what it is there for."""

import ctypes
import faulthandler
import itertools
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fuzz.byte_mutations import mutated
from fuzz.formats import Format, catalogue
from fuzz.tries import REFUSED, content
from fuzz.workers import fuzz
from fuzz.workshop import workshop

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked, and their memory read from /proc")
SEED = 20261115


@pytest.fixture(scope="module")
def formats(tmp_path_factory):
    """All formats; the tries are for one core each, as they are with `make fuzz`."""
    return catalogue(workshop(tmp_path_factory.mktemp("fuzz") / "workshop"))


def test_hostile_files_of_every_format_are_read_or_refused_in_a_sentence(formats, tmp_path):
    report = fuzz(formats, SEED, tmp_path, tries=5 * len(formats))
    assert report.failures == []
    assert report.n_tries == 5 * len(formats)
    kinds = {name: {kind for format, kind in report.counts if format == name} for name, _ in report.counts}
    assert set(kinds) == {one.name for one in formats}
    assert all(REFUSED in found for found in kinds.values())  # what was tried is hostile


def test_good_files_of_every_format_are_read(formats, tmp_path):
    """Otherwise nothing beyond the first check would ever be tried."""
    good = [Format(one.name, one.file, lambda rng, one=one: one.make(None), one.commands) for one in formats]
    report = fuzz(good, SEED, tmp_path, tries=len(good))
    assert {kind for _, kind in report.counts} == {"fine"}, report


def test_the_same_seed_makes_the_same_files(formats):
    for one in formats:
        assert content(one, SEED, 3) == content(one, SEED, 3)
    assert len({mutated(bytes(200), np.random.default_rng(i)) for i in range(50)}) > 40


def crash(path: Path, out: Path):
    faulthandler.disable()  # pytest's would tell
    ctypes.string_at(0)


def hang(path: Path, out: Path):
    while True:
        pass


def end(path: Path, out: Path):
    os._exit(3)


def traceback(path: Path, out: Path):
    raise KeyError


@pytest.mark.parametrize("harm", [crash, end, hang, traceback])
def test_the_harness_survives_and_counts_what_goes_wrong(harm, tmp_path, monkeypatch):
    monkeypatch.setattr("fuzz.workers.HANG_SECONDS", 0.5)
    wrong = Format("wrong", "x", lambda rng: b"", harm)
    right = Format("right", "x", lambda rng: b"", lambda path, out: [["inspect", str(path)]])
    report = fuzz([right, wrong], SEED, tmp_path, tries=6, n_workers=2)
    kind = {crash: "crash SIGSEGV", hang: "hang", end: "process ended", traceback: "harness"}[harm]
    assert report.counts == {("right", REFUSED): 3, ("wrong", kind): 3}
    assert [failure.number for failure in report.failures] in ([1, 3, 5], [3, 1, 5], [1, 5, 3], [5, 1, 3], [5, 3, 1])


def test_a_time_limit_is_kept(formats, tmp_path, monkeypatch):
    """By a clock that a try moves on by a second."""
    monkeypatch.setattr("fuzz.workers.time", SimpleNamespace(monotonic=itertools.count().__next__))
    assert fuzz(formats[:2], SEED, tmp_path, tries=50, seconds=5.0).n_tries == 4
