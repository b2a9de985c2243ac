"""riata's own online method: sparse and accurate in one pass, without tuning.

FTRL-Proximal (see `ftrl.py`) with three changes.

1. Scale-free. Columns are standardised by their running deviations s_j inside the closed form of the weights, so that
   nothing is copied and units of columns do not matter; dense ones are counted from their means, as the first rows have
   them. Steps are relative to the slopes of the empty model, so that units of the target do not matter either. Of
   losses whose margins are logarithms, the empty model is the mean of the targets so far, and steps are relative to the
   curvature there. Slopes of quantiles have no unit, and steps are relative to the spread of the targets so far.
2. A threshold as high as the noise. The sum of slopes of a feature without information is a random walk, of size
   s_j sqrt(sum of u^2). A feature enters when its sum is several times that:
       level = noise * sqrt(sum of u^2) + alpha T,
   which is the scaled Lasso's choice of alpha (Sun & Zhang 2012) after every row; relative to T it decreases as the
   model improves and rows become more. Rows that are read again are little new evidence: from the second pass on the
   level grows nearly like T.
3. Four lanes (settings) learn from the same rows. Without an alpha they differ in `noise`, and the sparsest that
   explains nearly as much as the best is chosen; with an alpha, beside which the noise term becomes negligible, or for
   k features, they differ in their steps. They are compared by progressive validation (each row is predicted before it
   is learnt), in which the last half of the rows counts most. They share moments and the proximal term of each feature,
   so that four cost little more than one.

With a half-life the weight of old rows decreases in all sums, and the model follows data that change over time.

For exactly k features the noise is adjusted until about 3k features are in the model, second-order statistics of those
are summed meanwhile, and the model is cut to k and refitted on them at the end (see `top_k.py`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from riata.data.remote import Remote
from riata.errors import OptionError
from riata.kernels.losses import code_of
from riata.kernels.online import EMPTY, LANES, REPEATS, SHIFT, SLOPE, Memory, Settings, online_sweep
from riata.kernels.rows import CsrRows, Rows, leaves_zeros_out
from riata.losses import Loss
from riata.matrices.matrix import Matrix
from riata.objective import Problem
from riata.penalties import Cardinality, ElasticNet, hard_threshold
from riata.solvers.iterate import Iterate, Leads, Options
from riata.solvers.online import candidate_rows, top_k
from riata.solvers.online.candidate_budget import CandidateBudget
from riata.solvers.online.feature_block import deviations_of, lines_of_zeros, of_features
from riata.solvers.online.lane_weights import (
    Levels,
    largest_features,
    n_entered,
    sizes_in,
    weights_in,
    weights_of_lane,
)
from riata.solvers.saved_checks import check_indices
from riata.solvers.stochastic.method import Method, MethodMemory, State, Sweep, stochastic

NOISES = np.array([9.0, 6.0, 4.0, 3.0])  # of the lanes, without an alpha
NOISE_WITH_ALPHA = 1.0
RATES = np.array([0.01, 0.02, 0.04, 0.08])  # first steps of the lanes: weights of unit columns per unit of margin
RATE = 0.02  # that of all lanes, where they differ in their noise
ENOUGH_EXPLAINED = 0.97  # of what the best lane explains: a sparser lane that explains more is preferred to it
REVIEW = 1.2  # the number of rows grows by this factor from one review to the next
PER_HALF_LIFE = 10  # reviews, at least
MOST_LEADS = 100_000  # features for an exact fit afterwards
SETTLED = 1000  # rows, after which the mean of a column is known to some hundredths of its deviation
AGEING = {"losses", "xx", "xy"}  # in which older rows count less, since they were judged under earlier models
HALF_LIFE_SUMS = {  # besides those in block
    "b_z", "b_hold", "slope_squares", "total", "mean_sums", "bucket_sums", "bucket_squares",
}  # fmt: skip
NO_SCALES = np.empty(0)


@dataclass(frozen=True)
class Online(Method):
    """The method for an alpha or a k; with neither it finds an alpha itself."""

    alpha: float | None = None
    k: int | None = None
    standardize: bool = True
    distinct: float = np.inf  # the number of distinct rows, where they are read again
    half_life: float | None = None  # rows after which a row counts half; None: all rows count alike
    from_first_row: bool = True  # whether dense columns, and targets, are counted from the first row
    budget: int | None = None  # bytes
    schedule = "constant"
    order = "shuffled"
    sign_flips = frozenset({"b_z", "b", "xy", "origin", "centre", "bucket_sums"})

    def memory(self, n_features: int) -> MethodMemory:
        memory = {
            "block": lines_of_zeros(n_features), "origin": np.zeros(1),
            "b_z": np.zeros(LANES + 1), "b_hold": np.zeros(LANES + 1), "b": np.zeros(LANES + 1),
            "slope_squares": np.zeros(LANES + 1), "total": np.zeros(1), "losses": np.zeros(LANES + 2),
            "noise": np.full(LANES, NOISE_WITH_ALPHA) if self.alpha is not None else NOISES.copy(),
            "mean_sums": np.zeros(3), "curvature": np.ones(1), "stiffness": np.ones(LANES),
            "review": np.ones(1), "lane": np.zeros(1, dtype=np.int64),
        }  # fmt: skip
        if self.k is not None:
            self.candidate_budget.check(n_features)
            memory |= top_k.memory(min(self.n_candidates, n_features), n_features)
        return memory

    def bounds(self, n_features: int) -> dict[str, tuple[int, int]]:
        m = min(self.n_candidates, n_features)
        candidates = {} if self.k is None else {
            "candidates": (-1, n_features), "place_of": (-1, m),
        }  # fmt: skip
        return {"lane": (0, LANES), **candidates}

    def check(self, memory: MethodMemory) -> None:
        """Reviews come at growing weights, from 1 on: from zero or below, they would never end."""
        check_indices(memory["review"], "review", 1, 2**62)
        if self.k is not None:
            top_k.check(memory)

    def mirrored(self, memory: MethodMemory) -> MethodMemory:
        image = super().mirrored(memory)
        of_features(image, "z")[:] *= -1.0
        return image

    @property
    def candidate_budget(self) -> CandidateBudget:
        return CandidateBudget(self.k or 0, self.budget)

    @property
    def n_candidates(self) -> int:
        """How many there are, at most; none where no k was asked for."""
        return self.candidate_budget.most

    @property
    def finds_alpha(self) -> bool:
        return self.alpha is None and self.k is None

    @property
    def rates(self) -> np.ndarray | float:
        """First steps of the lanes."""
        return RATE if self.finds_alpha else RATES

    def rows(self, X: Matrix, scale: np.ndarray | float) -> Rows:
        """Sparse rows that are not scaled go without a scale for each of millions of features."""
        if X.sparse and np.ndim(scale) == 0 and scale == 1.0:
            entries = X.csr_parts()
            return CsrRows(entries.indptr, entries.indices, entries.data, NO_SCALES)
        return super().rows(X, scale)

    def sweep(self, sweep: Sweep, state: State, learn_b: float) -> tuple[float, float]:
        """Learn up to the next review, review, and so on: the rows of reviews do not depend on the chunks."""
        if sweep.batch != 1:
            raise OptionError("solver 'online' takes one row a step: leave batch at 1")
        memory, done = state.memory, 0
        self.set_units(memory, sweep.loss)
        while done < len(sweep.visits):
            due = max(self._due(memory) - state.steps - done, 0)  # a review that a checkpoint has missed is due now
            visits = sweep.visits[done : done + due]
            z = self._take(sweep, visits, state, learn_b)[:, memory["lane"][0]]
            sweep.margins[done : done + len(visits)] = z
            done += len(visits)
            if len(visits) == due:
                self._stop(state, state.steps + done)
                if self.from_first_row and learn_b and not leaves_zeros_out(sweep.rows):
                    self._count_from_means(memory)
        return self.intercept(memory), 0.0

    def _count_from_means(self, memory: MethodMemory) -> None:
        """Count dense columns from their means so far, while rows are few; margins stay as they are.

        The first row, from which they are counted at first, may be far away, and slopes of columns far from zero are
        learnt slowly, for they go with the intercept. Sums of slopes that were about the old origin stay, too: they
        are off by what a few rows add to the intercept.
        """
        total, block = float(memory["total"][0]), memory["block"]
        if not 0.0 < total <= SETTLED:
            return
        moved = of_features(memory, "sums") / total
        memory["b"][:LANES] += moved @ self.weights(memory)[0]
        memory["b_z"][:LANES] = -memory["b"][:LANES] * (1.0 + memory["b_hold"][:LANES])
        of_features(memory, "squares")[:] -= moved * of_features(memory, "sums")
        of_features(memory, "sums")[:] = 0.0
        block[:, SHIFT] += moved
        if self.k is not None:
            top_k.move_columns(memory, moved)

    def set_units(self, memory: MethodMemory, loss: Loss) -> None:
        """How stiff weights are, of each lane, and the curvature of the loss."""
        memory["stiffness"][:] = 1.0 / self.rates
        if not (loss.logarithms or loss.kinked):  # of those, the sweep works it out
            memory["curvature"][:] = min(loss.curvature, 1.0)

    def _due(self, memory: MethodMemory) -> int:
        """The step after which `_stop` is called next."""
        return int(np.ceil(memory["review"][0]))

    def _stop(self, state: State, steps: int) -> None:
        """What is done between two runs of rows: a review."""
        self._review(state.memory)

    def _take(self, sweep: Sweep, visits: np.ndarray, state: State, learn_b: float) -> np.ndarray:
        """Learn these rows; returns their margins before they were learnt, by all lanes and the empty model.

        The last columns have what is to be added to have the margins at which they were learnt, curvatures and slopes.
        """
        loss, memory = sweep.loss, state.memory
        margins = np.empty((len(visits), SLOPE + 1))
        settings = Settings(
            code_of(loss), loss.relative, loss.logarithms, loss.curvature_by_spread, learn_b > 0.0,
            self.from_first_row, self.alpha or 0.0, float(self.standardize), float(self.distinct),
            int(memory["lane"][0]),
        )  # fmt: skip
        swept = Memory(**{name: memory[name] for name in Memory._fields})
        online_sweep(sweep.rows, sweep.plain, sweep.y, sweep.weight, visits, settings, swept, margins)
        if self.k is not None:
            candidate_rows.gather(sweep, visits, margins, memory)
        return margins

    def _review(self, memory: MethodMemory) -> None:
        """Choose the best lane and, for k features, the candidates; adjust the noise to have enough of them."""
        memory["lane"][0] = self.best_lane(memory["losses"])
        self._age(memory)
        if self.k is None:
            return
        candidates, entered = self.choose_candidates(memory)
        top_k.replace_candidates(memory, candidates)
        squares = memory["slope_squares"][memory["lane"][0]]
        memory["slope"][0] = np.sqrt(squares / max(memory["total"][0], 1e-300))
        memory["noise"] *= np.clip(np.sqrt(entered / self.n_candidates), 0.8, 1.25)

    def choose_candidates(self, memory: MethodMemory) -> tuple[np.ndarray, np.ndarray]:
        """The best candidates as of now, and how many features are in the model of each lane."""
        return largest_features(memory, self.levels(memory), len(memory["candidates"]))

    def _age(self, memory: MethodMemory) -> None:
        """Set the next review, and reduce the weight of the rows so far.

        In the losses of lanes and in the statistics of candidates a row counts half when twice as many rows have been
        read, since it was predicted by an earlier model; with a half-life all sums decay.
        """
        now = memory["review"][0]
        wait = max((REVIEW - 1.0) * now, 1.0)
        fade = 1.0
        if self.half_life is not None:
            wait = min(wait, max(self.half_life / PER_HALF_LIFE, 1.0))
            fade = 0.5 ** (wait / self.half_life)
        memory["review"][0] = now + wait
        for name in AGEING & memory.keys():
            memory[name] *= min(fade, now / (now + wait))
        for name in HALF_LIFE_SUMS & memory.keys() if fade < 1.0 else ():
            memory[name] *= fade
        if fade < 1.0:
            memory["block"][:, :SHIFT] *= fade
            of_features(memory, "hold_square")[:] *= fade

    def best_lane(self, losses: np.ndarray, enough: float = ENOUGH_EXPLAINED) -> int:
        """The best lane by progressive validation; without an alpha, the sparsest that is nearly as good."""
        explained = losses[EMPTY] - losses[:LANES]
        best = int(np.argmax(explained))
        if self.finds_alpha and explained[best] > 0.0:
            return int(np.argmax(explained >= enough * explained[best]))
        return best

    def weights(self, memory: MethodMemory) -> tuple[np.ndarray, np.ndarray]:
        """The current weights of all features, a column for each lane, and the deviations of the features' columns."""
        return weights_in(memory["block"], memory, self.levels(memory))

    def levels(self, memory: MethodMemory) -> Levels:
        """The thresholds of all lanes as of now."""
        T = memory["total"][0]
        level = memory["noise"] * np.sqrt(memory["slope_squares"][:LANES]) * max(T / self.distinct, 1.0) ** REPEATS
        total_alpha = (self.alpha or 0.0) * T
        return Levels(level + total_alpha, 0.0) if self.standardize else Levels(level, total_alpha)

    def intercept(self, memory: MethodMemory) -> float:
        return float(memory["origin"][0] + memory["b"][memory["lane"][0]])

    def model(self, state: State) -> tuple[np.ndarray, float]:
        memory = state.memory
        if self.k is None or np.count_nonzero(memory["candidates"] >= 0) < self.k:
            w, b = weights_of_lane(memory, self.levels(memory)), self.intercept(memory)
            w = w if self.k is None else hard_threshold(w, self.k)
        else:
            w = np.zeros(len(of_features(memory, "sums")))
            features, weights, b = top_k.cut(memory, self.k, fit_intercept=bool(memory["b_hold"].any()))
            w[features] = weights
            b += memory["centre"][0]
        support = np.flatnonzero(w)
        return w, float(b - np.sum(w[support] * of_features(memory, "shift")[support]))

    def deviations(self, state: State) -> np.ndarray | None:
        return None if self.features(state) is not None else deviations_of(state.memory["block"], state.memory)

    def n_chosen(self, state: State) -> int:
        """Without the work of choosing which, or their weights."""
        memory = state.memory
        if self.k is not None and np.count_nonzero(memory["candidates"] >= 0) >= self.k:
            return min(self.k, len(top_k.places_of_candidates(memory)))
        n = n_entered(memory, self.levels(memory))
        return n if self.k is None else min(self.k, n)

    def leads(self, state: State) -> Leads | None:
        """The features of any lane, the largest of them; and the alpha of the chosen lane.

        That is at least sqrt(2 log d) times the noise of slopes, above which the largest of d features without
        information seldom comes: an exact fit reaches what lanes with a high threshold learn too slowly.
        """
        memory = state.memory
        if self.k is not None:
            return None
        sizes = sizes_in(memory["block"], memory, self.levels(memory))
        pool = np.flatnonzero(sizes)
        if len(pool) > MOST_LEADS:
            pool = np.sort(pool[np.argsort(-sizes[pool], kind="stable")[:MOST_LEADS]])
        if not self.finds_alpha:
            return Leads(pool, self.alpha)
        lane = memory["lane"][0]
        n_seen = int(np.count_nonzero(of_features(memory, "squares")))
        raised = max(1.0, float(np.sqrt(2.0 * np.log(max(n_seen, 2))) / memory["noise"][lane]))
        return Leads(pool, raised * float(self.levels(memory)[0][lane] / max(memory["total"][0], 1e-300)))

    def shift(self, state: State, log_odds: float) -> float:
        """The last steps of an intercept are noise, and much of it is also in that of the empty model.

        Of that the best value is known: the log odds of all rows. What it is off by is taken from that of the chosen
        lane, times the share of squared slopes that the lane has left: where that is calibrated, as much of a slope of
        the empty model is also in its own.
        """
        memory = state.memory
        if self.k is not None or self.half_life is not None or not memory["b_hold"].any():
            return 0.0
        squares = memory["slope_squares"]
        share = min(float(squares[memory["lane"][0]] / max(squares[EMPTY], 1e-300)), 1.0)
        return share * (log_odds - float(memory["origin"][0] + memory["b"][EMPTY]))

    def of_outputs(self, n_outputs: int) -> "Online":
        """The method for several margins a row."""
        from riata.solvers.online.online_outputs import OnlineOutputs  # which is made of this one

        return OnlineOutputs(self.alpha, self.k, n_outputs=n_outputs)


def online_method(penalty: Cardinality | ElasticNet) -> Online:
    """The method for k, for an alpha, or, where the penalty is 0, for an alpha that it finds itself."""
    if isinstance(penalty, Cardinality):
        return Online(k=penalty.k)
    return Online(alpha=float(penalty.l1) or None)


def online(problem: Problem, options: Options) -> Iterator[Iterate]:
    """The method on data that may be read several times."""
    penalty = problem.penalty
    if not isinstance(penalty, Cardinality):
        penalty = ElasticNet(problem.standardised_strengths[0])
    standardize = np.ndim(problem.scale) > 0
    n_outputs = problem.loss.n_outputs
    method = replace(
        online_method(penalty) if n_outputs == 1 else online_method(penalty).of_outputs(n_outputs),
        standardize=standardize,
        distinct=float(problem.data.n_rows),
        half_life=options.half_life,
        budget=options.memory or problem.data.memory,
    )
    if isinstance(problem.data, Remote):
        from riata.solvers.online.shared_out import shared_out

        return shared_out(problem, method, options)
    return stochastic(problem, method, options)
