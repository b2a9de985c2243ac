"""Solver 'online' where workers have the rows: each learns its own parts, and what they learnt is put together.

Every part is learnt from the beginning, as if there were no other, and leaves sums. Moments, squares of slopes and
losses of all parts add up to those of all rows. What a feature has learnt is in two pieces: its weight v_p, and the
rest r_p of its sum of slopes, which its threshold holds back,
    z_p = -(s_p^2 + hold_p) v_p + r_p.
Together they are the mean of the weights, by how much evidence (`hold`, a root of a sum of squared slopes) a part has
of the feature, and the sum of what was held back, under the threshold of all rows:
    v = sum hold_p v_p / sum hold_p,    hold = sqrt(sum hold_p^2),    z = -(s^2 + hold) v + sum r_p.
A feature of which no part alone has enough evidence may so enter. What was held back are slopes to which no weight has
answered: where they exceed the threshold, the weight moves by no more than a Newton step of the feature alone. Sums are
added in a tree that depends on the parts alone: the model is the same bits for the same parts, whichever worker did
what. A part whose worker died is learnt again.

Which lane is best depends on how many rows were learnt: parts, which have few, do best with low thresholds. So parts
leave their last rows, which then are learnt here, by the state of all parts, and lanes are compared by how well they
predicted these. Parts that lie on one worker are learnt one after the other, as one.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from riata.data.remote import Remote
from riata.errors import OptionError
from riata.kernels.online import EMPTY, HOLD_SQUARE, LANES, SHIFT, SQUARES, SUMS
from riata.losses import Loss
from riata.objective import Problem
from riata.solvers.iterate import Iterate, Options
from riata.solvers.online.online import Online
from riata.solvers.online.part_learner import LearntPart, LeftRows, PartLearner
from riata.solvers.online.progressive_validation import ProgressiveValidation
from riata.solvers.online.shared_candidates import shared_candidates
from riata.solvers.stochastic.method import MethodMemory, State

LEFT_SHARE, MOST_LEFT = 0.2, 50_000  # of all rows that are learnt here; of so many, the means of losses are well known
LEFT_BYTES = 32 << 20  # of them, at most
# of what the best lane explains of them. More than `ENOUGH_EXPLAINED`, for they tell how good lanes have become, while
# losses on the way count how far sparse ones were behind at first
ENOUGH_OF_LEFT = 0.98


class Learnt(NamedTuple):
    """What a part leaves, or several: all of it adds up."""

    pulled: np.ndarray  # hold_p v_p of every feature and lane
    held_back: np.ndarray  # r_p of the same
    of_features: np.ndarray  # hold_p, hold_p^2, sums and squares of columns, of every feature
    of_intercepts: np.ndarray  # the same two pieces, and hold_p^2, of every lane and the empty model
    sums: np.ndarray  # squares of slopes and losses of all lanes, weight of rows
    steps: int
    dense: int  # parts whose columns are counted from their means
    progressive: ProgressiveValidation
    left: LeftRows


def pieces(method: Online, part: LearntPart) -> Learnt:
    """The sums of a part that has been learnt."""
    memory = part.state.memory
    w, deviation = method.weights(memory)
    v = w * (memory["stiffness"] * memory["curvature"])
    block = memory["block"]
    hold = np.sqrt(block[:, HOLD_SQUARE])
    held_back = block[:, :LANES] + (deviation**2 + hold)[:, None] * v
    b, b_hold = memory["b"], memory["b_hold"]
    return Learnt(
        hold[:, None] * v,
        held_back,
        np.column_stack([hold, block[:, HOLD_SQUARE], block[:, SUMS], block[:, SQUARES]]),
        np.stack([b_hold * b, b_hold, b_hold**2]),
        np.concatenate([memory["slope_squares"], memory["losses"], memory["total"]]),
        part.state.steps,
        int(part.dense),
        part.progressive,
        part.left,
    )


def together(method: Online, learner: PartLearner, learnt: Learnt) -> State:
    """The state of all parts."""
    state = learner.first_state()
    memory, block = state.memory, state.memory["block"]
    method.set_units(memory, learner.stepper.loss)
    n = len(memory["slope_squares"])
    memory["slope_squares"][:], memory["losses"][:] = learnt.sums[:n], learnt.sums[n:-1]
    memory["total"][:] = learnt.sums[-1]
    hold_sum, hold_squares, block[:, SUMS], block[:, SQUARES] = learnt.of_features.T
    block[:, HOLD_SQUARE], hold = hold_squares, np.sqrt(hold_squares)
    mean = block[:, SUMS] / memory["total"]
    variance = np.maximum(block[:, SQUARES] / memory["total"] - mean**2, 0.0)
    v = learnt.pulled / np.maximum(hold_sum, 1e-300)[:, None]
    own = (variance + hold)[:, None]
    held_back = _within_newton(method, memory, learnt.held_back, variance[:, None], own, learner.stepper.loss)
    block[:, :LANES] = held_back - own * v
    if learnt.dense:
        block[:, SHIFT] = learner.means
    pulled, b_hold_sum, b_hold_squares = learnt.of_intercepts
    memory["b"][:] = pulled / np.maximum(b_hold_sum, 1e-300)
    memory["b_hold"][:] = np.sqrt(b_hold_squares)
    memory["b_z"][:] = -memory["b"] * (1.0 + memory["b_hold"])
    memory["lane"][0] = method.best_lane(memory["losses"])
    state.b, state.steps = method.intercept(memory), learnt.steps
    return state


def learn_left(method: Online, learner: PartLearner, state: State, left: LeftRows) -> ProgressiveValidation:
    """Learn the rows that parts have left, and choose the lane that predicted them best."""
    memory, progressive = state.memory, ProgressiveValidation()
    if not left.chunks:
        return progressive
    memory["losses"][:] = 0.0  # those of parts are of models that had learnt less
    memory["review"][:] = state.steps + sum(chunk.n_rows for chunk in left.chunks) + 1  # none on the way
    for chunk in left.chunks:
        progressive = progressive.plus(learner.learn(state, chunk, np.arange(chunk.n_rows)))
    memory["lane"][0] = method.best_lane(memory["losses"], ENOUGH_OF_LEFT)
    state.b = method.intercept(memory)
    return progressive


def _within_newton(
    method: Online, memory: MethodMemory, held_back: np.ndarray, variance: np.ndarray, own: np.ndarray, loss: Loss
) -> np.ndarray:
    """What was held back, of which the excess over the threshold moves a weight by no more than a Newton step.

    The excess is divided by s^2 + hold (`own`); that of a Newton step is the curvature of all rows. Of a likelihood of
    labels it is the mean square of the slopes, here of those of the empty model.
    """
    level, flat = method.levels(memory)
    total = float(memory["total"][0])
    curvature = float(memory["curvature"][0])
    if loss.labels:
        curvature = min(float(memory["slope_squares"][EMPTY]) / max(total, 1e-300), curvature)
    newton = variance * (curvature / memory["curvature"][0] * total / memory["stiffness"])
    size = np.abs(held_back)
    excess = np.maximum(size - (np.sqrt(variance) * level + flat), 0.0)
    left: np.ndarray = np.sign(held_back) * (size - excess * (1.0 - own / np.maximum(np.maximum(own, newton), 1e-300)))
    return left


def shared_out(problem: Problem, method: Online, options: Options) -> Iterator[Iterate]:
    """One pass, in which every part is learnt where it is."""
    data = problem.data
    check_shared(problem, method, options, "online")
    if method.k is not None:
        yield from shared_candidates(problem, method, options, by_number=False)
        return
    assert isinstance(data, Remote)
    n_left = 0.0  # one run of all rows knows which lane is best, as one process does
    if data.n_long_runs > 1:
        n_left = min(LEFT_SHARE * data.n_rows, MOST_LEFT, LEFT_BYTES / max(data.row_bytes, 1.0)) / data.n_long_runs
    centred = problem.fit_intercept and not data.wide
    learner = PartLearner.of(problem, method, options, centred, pieces, int(n_left))
    learnt = data.sum_long_runs(learner)
    state = together(method, learner, learnt)
    progressive = learnt.progressive.plus(learn_left(method, learner, state, learnt.left))
    w, b = method.model(state)
    yield Iterate(
        w / problem.scale,
        b,
        state.steps,
        progressive=progressive,
        leads=partial(method.leads, state) if options.leads else None,
    )


def check_shared(problem: Problem, method: Online, options: Options, solver: str) -> None:
    """Refuse what workers that learn side by side cannot do."""
    loss = problem.loss
    unlike = loss.kinked or loss.n_outputs > 1 or (loss.logarithms and method.k is None)
    exact = "exact" if method.k is None else "best-k"
    refusals = [
        (method.half_life is not None, "has no half_life: workers learn side by side, and no row is older than others"),
        (unlike, f"does not learn loss {loss.name!r}: take solver {exact!r}"),
        (options.batch not in (None, 1), "takes one row a step: leave batch at 1"),
        (options.order not in (None, method.order), "visits the rows of a chunk in random order: leave order out"),
        (options.max_passes > 1 or options.max_steps is not None, "makes one pass: leave out max_passes and max_steps"),
    ]
    for wrong, sentence in refusals:
        if wrong:
            raise OptionError(f"on a cluster solver {solver!r} {sentence}; or leave the engine out")
