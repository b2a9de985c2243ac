"""Signals wait for work that must not be interrupted, and are heard after it."""

import signal
import threading

import numpy as np
import pytest

from riata.kernels.compiled import compiled
from riata.uninterrupted import uninterrupted


@pytest.fixture
def heard():
    """The signals that were heard, each of which raises an exception."""
    numbers = []

    def hear(number, frame):
        numbers.append(number)
        raise InterruptedError(number)

    before = {one: signal.signal(one, hear) for one in (signal.SIGINT, signal.SIGTERM)}
    yield numbers
    for one, handler in before.items():
        signal.signal(one, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_for_the_end_of_the_work(number, heard):
    done = []

    def work():
        with uninterrupted():
            with uninterrupted():
                signal.raise_signal(number)
                done.append("inner")
            done.append("outer")

    with pytest.raises(InterruptedError):
        work()
    assert done == ["inner", "outer"]
    assert heard == [number]
    with pytest.raises(InterruptedError):
        signal.raise_signal(number)


def test_a_signal_that_nobody_hears_keeps_its_way(heard):
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with uninterrupted():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        signal.raise_signal(signal.SIGTERM)
    assert heard == []
    signal.signal(signal.SIGTERM, before)


def test_other_threads_leave_signals_as_they_are(heard):
    def work():
        before = signal.getsignal(signal.SIGINT)
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT) is before)

    seen = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]


def test_code_is_compiled_to_its_end(heard, monkeypatch):
    """Half of it was taken apart, which may crash the process."""
    from numba.core import compiler

    compile_extra = compiler.compile_extra

    def interrupted(*args, **options):
        signal.raise_signal(signal.SIGTERM)
        return compile_extra(*args, **options)

    def twice(x):
        return x + x

    kernel = compiled()(twice)
    kernel.machine._cache.load_overload = lambda *_: None
    monkeypatch.setattr(compiler, "compile_extra", interrupted)
    with pytest.raises(InterruptedError):
        kernel(np.ones(3))
    assert len(kernel.machine.overloads) == 1
    np.testing.assert_array_equal(kernel(np.ones(3)), [2.0, 2.0, 2.0])
