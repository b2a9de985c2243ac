"""Step schedules: a step is a function from the step numbers t = 1, 2, ... to the steps eta_t.

They work on arrays of t, so that the steps of a chunk are computed at once before the compiled sweep.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from riata.errors import OptionError


@dataclass(frozen=True)
class Schedule:
    """Step numbers t (one, or an array of them) -> steps eta_t = first / decay(t). A method can be pickled with it."""

    first: float
    decay: Callable[[np.ndarray], np.ndarray]

    def __call__(self, t: Any) -> np.ndarray:
        return self.first / self.decay(np.asarray(t, dtype=float))


def constant(first: float) -> Schedule:
    """eta_t = first."""
    return Schedule(first, np.ones_like)


def inverse(first: float) -> Schedule:
    """eta_t = first / t, the paper's choice for sub-gradients."""
    return Schedule(first, np.positive)


def inverse_sqrt(first: float) -> Schedule:
    """eta_t = first / sqrt(t), the paper's choice for Fobos."""
    return Schedule(first, np.sqrt)


STEPS: dict[str, Callable[[float], Schedule]] = {"constant": constant, "1/t": inverse, "1/sqrt(t)": inverse_sqrt}


def parse_step(text: str | float, default_schedule: str) -> Schedule:
    """The schedule that a text such as `0.5`, `1/t`, `2/t`, `1/sqrt(t)` or `2/sqrt(t)` describes.

    A number alone is the first step of `default_schedule`, that of the method.
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
