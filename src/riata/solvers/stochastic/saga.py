"""SAGA (Defazio, Bach & Lacoste-Julien, NIPS 2014): steps on single rows, with the last slope of every row kept,
    w <- soft(w - eta (a_i (u_i(w) - u_i) + mean), eta l1),    mean += a_i (u_i(w) - u_i) / n,    u_i <- u_i(w).
Of a row only the number u_i is kept, so the memory is one number per row; eta = 1 / (3 L) converges. Rows that have not
been visited count with slope zero.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from riata.errors import OptionError
from riata.kernels.variance_reduced import saga_sweep
from riata.objective import Problem
from riata.solvers.iterate import Iterate, Options
from riata.solvers.saved_checks import check_array, check_facts, restoring
from riata.solvers.stochastic.resuming import generator, saved, weights
from riata.solvers.stochastic.svrg import constant_step, row_steps
from riata.solvers.stochastic.visits import ORDERS, within


def saga(problem: Problem, options: Options) -> Iterator[Iterate]:
    """One iterate after every pass."""
    data = problem.data
    if options.memory is not None and 8 * data.n_rows > options.memory:
        raise OptionError(
            f"solver 'saga' keeps a number per row, {8 * data.n_rows / 1e6:.0f} MB here, more than the budget; "
            "take solver 'svrg', or give it more memory"
        )
    steps_over = row_steps(problem, constant_step(problem, options, 1.0 / 3.0))
    order, rng = ORDERS[options.order or "uniform"], generator(options)
    w, b, steps = weights(options, data.n_features)
    mean, mean_b, slopes = _slopes(options, data.n_features)
    while not options.over(steps):
        numbers = data.shuffled(rng)
        for number, chunk in zip(numbers, data.visit(numbers), strict=True):
            visits = within(order(chunk.n_rows, 1, rng), 1, steps, options.max_steps)
            last = slopes.setdefault(number, np.zeros(chunk.n_rows))
            check_array({"slopes": last}, "slopes", np.float64, (chunk.n_rows,))
            mean_b, b = saga_sweep(steps_over(chunk, visits), 1.0 / data.n_rows, last, mean, mean_b, w, b)
            steps += len(visits)
            if options.over(steps):
                break
        arrays = {"w": w, "mean": mean, **{f"slopes.{number}": values for number, values in slopes.items()}}
        save = partial(saved, arrays, rng, b=float(b), mean_b=float(mean_b), steps=steps)
        yield Iterate(w / problem.scale, b, steps, save=None if options.over(steps) else save)


@restoring()
def _slopes(options: Options, n_features: int) -> tuple[np.ndarray, float, dict[int, np.ndarray]]:
    """The mean slope by w and by b and, by chunk, the last slope of every row: none yet, or those that were saved."""
    if options.resume is None:
        return np.zeros(n_features), 0.0, {}
    arrays, facts = options.resume
    slopes = {int(name.partition(".")[2]): values for name, values in arrays.items() if name.startswith("slopes.")}
    for name in arrays:
        if name.startswith("slopes."):
            check_array(arrays, name, np.float64, (None,))
    check_facts(facts, {"mean_b": float})
    return check_array(arrays, "mean", np.float64, (n_features,)), facts["mean_b"], slopes
