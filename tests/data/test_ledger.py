"""Rows that are read are counted once: as passes, or for monitoring."""

import pytest

from riata.data.ledger import Ledger


def test_monitoring_within_monitoring_goes_on():
    ledger = Ledger(10)
    ledger.count(10)
    with ledger.monitoring():
        ledger.count(1)
        with pytest.raises(ZeroDivisionError), ledger.monitoring():
            1 / 0  # noqa: B018
        ledger.count(2)
    ledger.count(5)
    assert (ledger.rows_read, ledger.rows_monitored, ledger.passes) == (15, 3, 1.5)
