"""Step schedules: a step is a function from the step numbers t = 1, 2, ... to the steps eta_t.

They work on arrays of t, so a whole chunk's steps are made at once before the compiled sweep.
"""

import numpy as np

from riata.errors import OptionError


def constant(first):
    """eta_t = first."""
    return lambda t: np.full(np.shape(t), float(first))


def inverse(first):
    """eta_t = first / t, the paper's choice for sub-gradients."""
    return lambda t: first / np.asarray(t, dtype=float)


def inverse_sqrt(first):
    """eta_t = first / sqrt(t), the paper's choice for Fobos."""
    return lambda t: first / np.sqrt(np.asarray(t, dtype=float))


STEPS = {"constant": constant, "1/t": inverse, "1/sqrt(t)": inverse_sqrt}


def parse_step(text, default_schedule):
    """A schedule from the way people write one: `0.5`, `1/t`, `2/t`, `1/sqrt(t)`, `2/sqrt(t)`.

    A bare number is the first step of `default_schedule`, the method's own.
    """
    first, slash, decay = str(text).replace(" ", "").partition("/")
    schedule = {"": STEPS[default_schedule], "/t": inverse, "/sqrt(t)": inverse_sqrt}.get(slash + decay)
    try:
        value = float(first)
    except ValueError:
        value = np.nan
    if schedule is None or not (np.isfinite(value) and value > 0):
        raise OptionError(f"step must be a positive number, 'c/t' or 'c/sqrt(t)' with a positive c, not {text!r}")
    return schedule(value)
