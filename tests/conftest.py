"""Fixtures that all tests share."""

import os
import signal
from pathlib import Path

import numpy as np
import platformdirs
import pytest
from hypothesis import settings

# No example has a deadline: the first one compiles, and others may keep the machine busy.
settings.register_profile("default", deadline=None)
# The same examples in every run: what fails, fails again. HYPOTHESIS_PROFILE=default looks for new ones.
settings.register_profile("repeatable", settings.get_profile("default"), derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# machine code lies under a hash of what it was made of: sessions and the processes they start may share it
os.environ.setdefault("NUMBA_CACHE_DIR", platformdirs.user_cache_dir("riata"))

# a shell lets what it starts with & ignore Ctrl-C, which tests of signals would then never hear
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def rng():
    """A generator of its own for every test."""
    return np.random.default_rng(20260101)


@pytest.fixture
def shared_data():
    """The folder of real data sets, which not every checkout has beside it."""
    if not SHARED.is_dir():
        pytest.skip("the real data sets are not beside this checkout (../shared/data)")
    return SHARED


@pytest.fixture(scope="session", autouse=True)
def _cache_of_our_own(tmp_path_factory):
    """Tests neither need nor fill the user's cache folder; digits49 is built once a session."""
    os.environ.setdefault("RIATA_CACHE", str(tmp_path_factory.mktemp("cache")))
