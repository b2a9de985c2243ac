"""Each test keeps its profiles to itself."""

import pytest


@pytest.fixture(autouse=True)
def _own_profiles(tmp_path, monkeypatch):
    monkeypatch.setenv("RIATA_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def larger_than_memory(monkeypatch):
    """Small data is read as if it did not fit: many chunks, nothing held."""
    monkeypatch.setattr("riata.data.opening.rows.in_memory_bytes", lambda memory: 0)
    monkeypatch.setattr("riata.data.out_of_core.ROW_OVERHEAD", 1 << 12)
