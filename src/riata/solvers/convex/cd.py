"""Coordinate descent (the paper's Algorithm 1): one weight after the other at its best with the others fixed,
    w_j = soft(A_j' M_j, n l1) / |A_j|^2,    M_j = y - sum_{i != j} A_i w_i.
All columns are in memory. For losses other than the squared one a weight minimises a quadratic upper bound instead.
"""

from collections.abc import Iterator

import numpy as np

from riata.data.budget import in_words
from riata.errors import OptionError
from riata.kernels.coordinate import Coordinates, coordinate_pass
from riata.kernels.losses import code_of
from riata.objective import Problem, duality_gap, first_order
from riata.solvers.iterate import Iterate, Options

COPIES = 2  # of all columns, while they are gathered
PER_ROW = 8  # numbers: target, weight, margin and what is made of them
PASSES_PER_CHECK = 10  # a certificate costs about as much as a pass


def cd(problem: Problem, options: Options) -> Iterator[Iterate]:
    """One iterate after every cyclic pass, with a certified gap now and then."""
    data, loss, penalty = problem.data, problem.loss, problem.penalty
    need = 8 * data.n_rows * (COPIES * data.n_features + PER_ROW)
    if options.memory is not None and not data.cheap_passes and need > options.memory:
        raise OptionError(
            f"solver 'cd' holds all columns in memory, about {in_words(need)} here, more than the budget of "
            f"{in_words(options.memory)}; take solver 'exact', or give it more memory"
        )
    columns = data.gather(np.arange(data.n_features)).column_layout()
    y, weight = data.targets()
    weight = weight / weight.sum()
    moments = data.moments
    # With a squared loss the best intercept is known at every move: that is descent along centred columns.
    means = moments.mean if problem.fit_intercept and loss.quadratic else np.zeros(data.n_features)
    curvatures = loss.curvature * (moments.squares / moments.weight + (moments.mean - means) ** 2)
    l1, l2 = (np.array(strength) for strength in problem.strengths[:2])
    coordinates = Coordinates(curvatures, means, l1, l2)
    w, b = np.zeros(data.n_features), 0.0
    z = np.zeros(data.n_rows)
    t = 0
    while True:
        t += 1
        if problem.fit_intercept:
            b -= (weight @ loss.derivative(y, z + b)) / loss.curvature
        b = coordinate_pass(columns, coordinates, code_of(loss), y, weight, w, z, b)
        if data.cheap_passes:  # otherwise `columns` is a copy, and the data is not read
            data.ledger.count(data.n_rows)
        objective = float(weight @ loss.value(y, z + b) + penalty.value(w))
        gap = duality_gap(problem, w, first_order(problem, w, b)) if t % PASSES_PER_CHECK == 0 else None
        yield Iterate(w.copy(), b, t, objective, gap)
