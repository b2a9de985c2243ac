"""The strengths of a penalty and its bounds, for every feature."""

from typing import NamedTuple

import numpy as np


class Strengths(NamedTuple):
    """sum_j l1_j |w_j| + l2_j / 2 w_j^2 over lower_j <= w_j <= upper_j, perhaps infinite, in arrays of their own."""

    l1: np.ndarray
    l2: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
