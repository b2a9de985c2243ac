"""Proximal SVRG (Xiao & Zhang, SIAM J. Optim. 2014): steps on single rows around an anchor whose full slope is known,
    mean = slope of the mean loss at the anchor v,    w <- soft(w - eta (a_i (u_i(w) - u_i(v)) + mean), eta l1).
The slopes of the rows agree more and more with the anchor's, so a constant eta = 1 / (4 L) converges. An anchor costs
a pass, which also gives F and its certificate there, and is followed by a pass of steps.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from riata.data.chunk import Chunk
from riata.errors import OptionError
from riata.kernels.losses import code_of
from riata.kernels.variance_reduced import RowSteps, svrg_sweep
from riata.objective import Problem, duality_gap, first_order
from riata.solvers.iterate import Iterate, Options
from riata.solvers.stochastic.resuming import generator, saved, weights
from riata.solvers.stochastic.schedules import parse_step
from riata.solvers.stochastic.visits import ORDERS, within


def svrg(problem: Problem, options: Options) -> Iterator[Iterate]:
    """The anchors, one after the other."""
    data, scale = problem.data, problem.scale
    steps_over = row_steps(problem, constant_step(problem, options, 0.25))
    order, rng = ORDERS[options.order or "uniform"], generator(options)
    w, b, steps = weights(options, data.n_features)
    yielded = steps  # those of an anchor that was yielded before it was saved
    while True:
        at = first_order(problem, w / scale, b)
        coef = w / scale
        if steps > yielded:
            F = at.loss + problem.penalty.value(coef)
            save = None if options.over(steps) else partial(saved, {"w": w}, rng, b=float(b), steps=steps)
            yield Iterate(coef, b, steps, float(F), duality_gap(problem, coef, at), save=save)
        if options.over(steps):
            return
        anchor, anchor_b = w.copy(), b
        for chunk in data.visit(data.shuffled(rng)):
            visits = within(order(chunk.n_rows, 1, rng), 1, steps, options.max_steps)
            b = svrg_sweep(steps_over(chunk, visits), anchor, anchor_b, at.by_w / scale, at.by_b, w, b)
            steps += len(visits)
            if options.over(steps):
                break


def row_steps(problem: Problem, eta: float) -> Callable[[Chunk, np.ndarray], RowSteps]:
    """What makes steps of length eta over rows of a chunk, whose weights are relative to the mean of all rows'."""
    l1, _ = problem.standardised_strengths
    mean_weight = problem.data.total_weight / problem.data.n_rows
    settings = code_of(problem.loss), eta, l1, float(problem.fit_intercept)

    def steps(chunk: Chunk, visits: np.ndarray) -> RowSteps:
        return RowSteps(chunk.X.row_layout(problem.scale), chunk.y, chunk.weight / mean_weight, visits, *settings)

    return steps


def constant_step(problem: Problem, options: Options, share: float) -> float:
    """The user's step, or this share of 1 / L with L the curvature along the largest row: one pass."""
    if options.batch not in (None, 1):
        raise OptionError("this solver takes one row a step: leave batch at 1")
    if options.step is not None:
        return float(parse_step(options.step, "constant")(1))
    return share / (problem.loss.curvature * largest_row(problem))


def largest_row(problem: Problem) -> float:
    """The largest weighted squared norm of a scaled row, with the 1 of the intercept: one pass."""
    data, largest = problem.data, 1e-300
    mean_weight = data.total_weight / data.n_rows
    shrink = np.broadcast_to(1.0 / np.square(problem.scale), data.n_features)
    for chunk in data.visit():
        norms = chunk.X.row_squares(shrink)
        largest = max(largest, float(np.max((norms + problem.fit_intercept) * chunk.weight)) / mean_weight)
    return largest
