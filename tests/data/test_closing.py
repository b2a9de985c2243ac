"""Waiting that somebody else ends: Ctrl-C at any moment leaves nothing that others would wait for."""

import threading

import pytest

from riata.data.closing import STEP, Closing
from riata.data.read_ahead import ahead


def test_it_waits_no_longer_than_asked_or_until_the_end():
    closing = Closing()
    assert closing.wait(0.0) is False
    assert closing.wait(STEP / 10) is False
    threading.Timer(STEP / 10, closing.ask).start()
    assert closing.wait(600.0) is True
    assert closing.asked


def test_reading_ahead_takes_no_lock_of_python_in_the_thread_that_asks(monkeypatch):
    """Ctrl-C may come in any line of it: what C takes and releases in one step stays whole."""
    items = ahead(iter(range(5)), depth=2)
    first = next(items)

    def taken(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Condition, "__enter__", taken)
        rest = list(items)
    assert [first, *rest] == list(range(5))


def test_items_are_abandoned_where_their_thread_cannot_start(monkeypatch):
    def start(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(KeyboardInterrupt):
            next(ahead(iter(range(5))))
