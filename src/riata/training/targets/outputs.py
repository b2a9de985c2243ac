"""Models of several margins that are fitted at once, as softmax is: their coefficients as solvers see them, in a row.

What a user says of a feature holds for its coefficients of all outputs: its penalty factor, its bounds, its group.
"""

from dataclasses import replace

import numpy as np

from riata.training.spec import Spec


def of_coefficients(spec: Spec, n_features: int) -> Spec:
    """The spec whose factors, bounds and groups are those of each coefficient; itself where there is one margin."""
    n_outputs = spec.loss_function.n_outputs
    if n_outputs == 1:
        return spec

    def repeated(of_features: object) -> np.ndarray | None:
        return None if of_features is None else np.repeat(np.asarray(of_features), n_outputs, axis=0)

    whole = spec.shared_support or spec.k is not None  # features are in for all outputs or for none
    groups = np.arange(n_features) if spec.groups is None and whole else spec.groups
    return replace(
        spec,
        penalty_factors=repeated(spec.penalty_factors),
        bounds=repeated(spec.bounds),
        groups=repeated(groups),
    )


def coefficient_scale(scale: np.ndarray | float, n_outputs: int) -> np.ndarray | float:
    """The scale of the column of each coefficient."""
    return np.repeat(scale, n_outputs) if isinstance(scale, np.ndarray) and n_outputs > 1 else scale
