"""The gaps of the models of a path, by passes of their own."""

import numpy as np

from riata.objective import Problem, duality_gap, first_order, gap_unit
from riata.training.targets.outputs import of_coefficients


def gaps_by_passes(data, spec, path):
    """Over all features."""
    scale, gaps = data.moments.scale if spec.standardize else 1.0, []
    for alpha, w, b in zip(path.values, path.coefs, path.intercepts, strict=True):
        penalty = of_coefficients(spec, data.n_features).penalty_at(alpha, scale)
        problem = Problem(data, spec.loss_function, penalty, spec.fit_intercept, scale)
        gaps.append(duality_gap(problem, w, first_order(problem, w, float(b))) / gap_unit(problem))
    return np.array(gaps)
