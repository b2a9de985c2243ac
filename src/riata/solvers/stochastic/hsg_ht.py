"""Hybrid stochastic gradient hard thresholding (Zhou, Yuan & Feng, NeurIPS 2018): gradient steps on batches that grow,
    w <- H_k(w - eta * mean slope of a batch),    batch_t = first * growth^t,
so that the noise of the slopes decreases as the weights converge. A batch may be longer than a chunk, up to all rows:
in the end the method is iterative hard thresholding.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from riata.objective import Problem
from riata.solvers.iterate import Iterate, Options
from riata.solvers.saved_checks import check_array, check_facts, check_positive
from riata.solvers.stochastic.batches import Batches
from riata.solvers.stochastic.resuming import chunk_arrays, chunk_of, generator, saved, weights
from riata.solvers.stochastic.schedules import parse_step
from riata.solvers.stochastic.visits import ORDERS

FIRST_BATCH, GROWTH = 64, 1.02  # a few hundred steps in the first ten passes over thousands of rows


def hsg_ht(problem: Problem, options: Options) -> Iterator[Iterate]:
    """One iterate after every pass; `batch` is the size of the first one."""
    data = problem.data
    eta = None if options.step is None else float(parse_step(options.step, "constant")(1))
    batches = Batches(problem, problem.cardinality.k, eta)
    order, rng = ORDERS[options.order or "shuffled"], generator(options)
    size = float(FIRST_BATCH if options.batch is None else data.n_rows if options.batch == "full" else options.batch)
    w, b, steps = weights(options, data.n_features)
    rows, weight, by_w, by_b, sample = 0, 0.0, np.zeros(data.n_features), 0.0, None
    if options.resume is not None:  # a pass may end in the middle of a batch
        arrays, facts = options.resume
        check_facts(facts, {"size": float, "rows": int, "weight": float, "by_b": float})
        size, rows, weight, by_b = (facts[name] for name in ("size", "rows", "weight", "by_b"))
        check_positive(facts, "size")
        by_w = check_array(arrays, "by_w", np.float64, (data.n_features,))
        sample = chunk_of(arrays, data.n_features)
    while not options.over(steps):
        for chunk in data.visit(data.shuffled(rng)):
            visits = order(chunk.n_rows, 1, rng)
            while len(visits) and not options.over(steps):
                room = max(1, int(size) - rows)
                piece, visits = chunk.rows(visits[:room]), visits[room:]
                if sample is None or piece.n_rows > sample.n_rows:
                    sample = piece  # the rows from which the length of the step is found
                slope_w, slope_b = batches.slope(piece, w, b)
                rows, weight = rows + piece.n_rows, weight + piece.weight.sum()
                by_w, by_b = by_w + slope_w, by_b + slope_b
                if rows < int(size):
                    continue
                w, b = batches.step(sample, by_w / weight, by_b / weight, w, b)
                size = min(size * GROWTH, data.n_rows)
                rows, weight, by_w, by_b, sample = 0, 0.0, np.zeros(data.n_features), 0.0, None
                steps += 1
        save = partial(
            saved, {"w": w, "by_w": by_w, **chunk_arrays(sample)}, rng, b=float(b), steps=steps,
            size=size, rows=rows, weight=float(weight), by_b=float(by_b),
        )  # fmt: skip
        yield Iterate(w / problem.scale, b, steps, save=None if options.over(steps) else save)
