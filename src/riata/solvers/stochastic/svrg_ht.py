"""SVRG with hard thresholding (Li et al., ICML 2016; Shen & Li, JMLR 2018): batches around an anchor v whose full slope
is known,
    w <- H_k(w - eta (slope of the batch at w - slope of the batch at v + full slope at v)).
The noise of a batch vanishes as w approaches v, so that the support converges where that of plain SGD keeps changing.
"""

from collections.abc import Iterator
from functools import partial

from riata.objective import Problem, first_order
from riata.solvers.iterate import Iterate, Options
from riata.solvers.stochastic.batches import Batches, pieces
from riata.solvers.stochastic.method import batch_rows
from riata.solvers.stochastic.resuming import generator, saved, weights
from riata.solvers.stochastic.schedules import parse_step
from riata.solvers.stochastic.visits import ORDERS

BATCH = 128  # fewer rows make steps too short for a new feature ever to pass the threshold


def svrg_ht(problem: Problem, options: Options) -> Iterator[Iterate]:
    """The anchors, one after the other; each costs a pass, and is followed by a pass of steps."""
    data = problem.data
    eta = None if options.step is None else float(parse_step(options.step, "constant")(1))
    batches = Batches(problem, problem.cardinality.k, eta)
    order, rng = ORDERS[options.order or "shuffled"], generator(options)
    size = BATCH if options.batch is None else batch_rows(problem, options)
    w, b, steps = weights(options, data.n_features)
    yielded = steps  # those of an anchor that was yielded before it was saved
    while True:
        at = first_order(problem, w / problem.scale, b)
        if steps > yielded:
            save = None if options.over(steps) else partial(saved, {"w": w}, rng, b=float(b), steps=steps)
            yield Iterate(w / problem.scale, b, steps, at.loss, save=save)
        if options.over(steps):
            return
        anchor, anchor_b = w, b
        full_w, full_b = at.by_w / problem.scale, at.by_b * problem.fit_intercept
        for chunk in data.visit(data.shuffled(rng)):
            for piece in pieces(chunk, order(chunk.n_rows, size, rng), size):
                if options.over(steps):
                    break
                by_w, by_b = batches.slope(piece, w, b)
                anchor_by_w, anchor_by_b = batches.slope(piece, anchor, anchor_b)
                total = piece.weight.sum()
                by_w -= anchor_by_w  # in place: of very many features each copy counts
                by_w /= total
                by_w += full_w
                w, b = batches.step(piece, by_w, (by_b - anchor_by_b) / total + full_b, w, b)
                steps += 1
