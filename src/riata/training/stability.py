"""Stability selection of what a spec asks for."""

from typing import Any

import numpy as np

from riata.data.dataset import Dataset
from riata.training.selection.stability import Stability, check_counts_features, stability_of
from riata.training.spec import Spec
from riata.training.train import train
from riata.user_warnings import Warn, warn_user


def train_halves(data: Dataset, spec: Spec, *, warn: Warn = warn_user, **options: Any) -> Stability:
    """Train on both halves of the rows, again and again; `options` are those of `stability_of`."""
    check_counts_features(spec.solver)

    def coefficients(rows: Dataset) -> np.ndarray:
        return train(rows, spec, warn=warn).coef

    return stability_of(data, coefficients, **options)
