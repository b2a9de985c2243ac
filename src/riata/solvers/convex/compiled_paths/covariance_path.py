"""A path of squared losses by products of columns: between two passes, models of many alphas that need no row.

With the products of the columns that are in a model, the slopes of all features, the loss and the duality gap follow
from those at another point, and one compiled loop goes along the alphas (`kernels.covariance_path`), as the covariance
updates of glmnet do (Friedman, Hastie & Tibshirani, 2010). Where columns are so correlated that its sweeps do not
suffice, Newton steps on the same products find the model (`quadratic`).

After some work a pass confirms the last model, from which the next ones are found: rounding does not add up.
"""

import numpy as np

from riata.data.in_memory import InMemory
from riata.kernels.covariance_path import AT_ITS_END, OTHERS_PULLED, Limits, Models, Origin, Place, follow_alphas
from riata.kernels.strengths import Strengths
from riata.matrices.dense import MOST_DEVIATIONS
from riata.objective import FirstOrder, Problem, Start, at_best_intercept
from riata.penalties import ElasticNet
from riata.solvers.convex.columns.columns import FASTER, SPARSE
from riata.solvers.convex.compiled_paths.covariances import Covariances
from riata.solvers.convex.compiled_paths.path_models import Passed, Proposal
from riata.solvers.convex.quadratics.curvature import Point
from riata.solvers.convex.quadratics.kept_factor import KeptFactor
from riata.solvers.convex.quadratics.quadratic import EASY_ROUNDS, SWEEPS, minimise_quadratic
from riata.solvers.convex.working_set import NO_EFFECT, STEP_PRECISION
from riata.threads import one_blas_thread

PASSES = 8.0  # as much work as so many of them take is done between two, which then are a small part of it
LEAST_WORK = 4e6  # products of two numbers: what goes with a pass costs little beside that
MIN_JOINING, SHARE_JOINING = 16, 0.5  # columns whose products are made at a time: so many, or this share of the known
ROUNDS = 3  # of sweeps: where they are not enough at one alpha columns are correlated, and Newton steps cost less,
STEP_WORK, ROUND_SWEEPS = 1e6, 5.0  # but for what goes with each: so many products, and about so many sweeps of a round
SOON = 4  # alphas: columns that may be pulled by then join, too, by the strong rule (Tibshirani et al., 2012),
LEAST_PULL = 0.7  # if they are pulled by this share of their threshold
TRIES = 10  # of Newton steps, or of columns that join, at one alpha
NEWTON_SHARE = 0.3  # of the gap that is asked for
PASSES_SPARED = 0.5  # of every alpha, beside models that are made two at a time
FEW_COLUMNS, MOST = 256, 0.5  # whose products with one another are made at once, if such a share of them is pulled


def covariance_path(problem: Problem, n_alphas: int, memory: int | None) -> "CovariancePath | None":
    """What can propose the models of a path of so many alphas; None where products cannot, or would be less exact than
    passes are."""
    data, loss = problem.data, problem.loss
    if not (loss.quadratic and loss.n_outputs == 1 and isinstance(problem.penalty, ElasticNet)):
        return None
    if not isinstance(data, InMemory) or (data.chunk.X.sparse and not _serve_sparse(data)):
        return None
    if np.any(np.abs(data.moments.mean) > MOST_DEVIATIONS * data.moments.scale):
        return None
    return CovariancePath(Covariances(data, problem.fit_intercept, memory), n_alphas)


def _serve_sparse(data: InMemory) -> bool:
    """Whether products of sparse columns are made at once, and a step along them costs less than one along a column,
    whose entries are read twice."""
    d = data.n_features
    return d <= FEW_COLUMNS and d * d <= 2.0 * SPARSE * data.chunk.X.array.nnz


def few_and_pulled(slopes: np.ndarray, thresholds: np.ndarray) -> bool:
    """Whether all columns are learnt at once."""
    pulled = int(np.count_nonzero(np.abs(slopes) > thresholds))
    return len(slopes) <= FEW_COLUMNS and pulled > MOST * len(slopes)


class CovariancePath:
    """Proposes models by products of columns."""

    def __init__(self, covariances: Covariances, n_alphas: int) -> None:
        self._covariances, self._factor = covariances, KeptFactor()
        self._n_alphas = n_alphas
        self._n_slow = 0  # alphas at which sweeps were not enough

    def proposed(
        self, problem: Problem, alphas: np.ndarray, way: list[Passed], at: FirstOrder, tol: float, unit: float
    ) -> Proposal | None:
        """As `Proposer` says."""
        _, w, b = way[-1]
        shares = alphas / alphas[0] if alphas[0] > 0.0 else np.ones(len(alphas))
        room = PASSES_SPARED * self._n_alphas * FASTER * len(w)
        run = self._run(problem, w, at, shares, room)
        work = max(PASSES * problem.data.n_rows * len(w), LEAST_WORK)
        with one_blas_thread():
            n = run.follow(self._limits(tol, unit, work))
        self._n_slow = run.n_slow
        if n == 0:
            return None
        coefs, intercepts = self._widened(problem, run.models.v[:n], w, b, at)
        return Proposal(coefs, intercepts, run.models.losses[:n], run.models.gaps[:n])

    def one(self, problem: Problem, start: Start, tol: float, unit: float) -> Point | None:
        """The model of the problem's own penalty, or a point on the way to it, by the products of all columns; None
        where there is no room for them."""
        w, b, at = start
        run = self._run(problem, w, at, np.ones(1), np.inf)
        with one_blas_thread():
            if not run.learn_all():
                return None
            run.follow(self._limits(tol, unit, np.inf))
        coefs, intercepts = self._widened(problem, run.v[None], w, b, at)
        return coefs[0], float(intercepts[0])

    def _run(self, problem: Problem, w: np.ndarray, at: FirstOrder, shares: np.ndarray, room: float) -> "_Run":
        loss = float(at.loss - (0.5 * at.by_b**2 if problem.fit_intercept else 0.0))
        origin = Origin(w, at_best_intercept(problem, at), loss)
        strengths = Strengths(*map(np.array, problem.strengths))
        return _Run(self._covariances, self._factor, strengths, origin, shares, room, self._n_slow)

    def _limits(self, tol: float, unit: float, work: float) -> Limits:
        return Limits(tol * unit, max(STEP_PRECISION, NO_EFFECT * tol), work, 1 if self._n_slow else ROUNDS)

    def _widened(
        self, problem: Problem, v: np.ndarray, w: np.ndarray, b: float, at: FirstOrder
    ) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of all columns, from those of the known ones, and intercepts."""
        W = self._covariances.features
        coefs = np.zeros((len(v), len(w)))
        coefs[:, W] = v
        if not problem.fit_intercept:
            return coefs, np.full(len(v), b)
        return coefs, b - at.by_b - (v - w[W]) @ self._covariances.mean[W]


class _Run:
    """Along alphas, which are shares of the first, from an origin."""

    def __init__(
        self,
        covariances: Covariances,
        factor: KeptFactor,
        strengths: Strengths,
        origin: Origin,
        shares: np.ndarray,
        room: float,
        n_slow: int,
    ) -> None:
        self.covariances, self.factor, self.strengths, self.origin = covariances, factor, strengths, origin
        self.n_slow = n_slow  # alphas at which sweeps were not enough: each halves what is tried before a Newton step
        self.room = room  # products of a known column with one that is not: more cost more than the passes they spare
        n = len(shares)
        self.v = origin.v[covariances.features]
        self.models = Models(shares, np.zeros((n, len(self.v))), np.empty(n), np.empty(n))

    def follow(self, limits: Limits) -> int:
        """Make models until they have taken the work, or get too difficult: how many."""
        missing = np.flatnonzero((self.origin.v != 0.0) & self.covariances.unknown)
        if len(missing) and not self._learn(missing):
            return 0
        together = few_and_pulled(self.origin.slopes, self.strengths.l1 * self.models.shares[-1])
        if not ((together and self.learn_all()) or self._join(self.origin.slopes, 0)):
            return 0
        i, tries = 0, 0  # the next model
        while True:
            known, place = self.covariances.known, self._place()
            W = known.features
            origin = self.origin._replace(v=self.origin.v[W])
            of_known = Strengths(*(of_each[W] for of_each in self.strengths))
            rounds = max(limits.rounds, int(0.5**self.n_slow * STEP_WORK / (ROUND_SWEEPS * max(len(W), 1) ** 2)))
            end, why, worked = follow_alphas(
                known, self.strengths, of_known, origin, place, self.models, i, True, limits._replace(rounds=rounds)
            )
            tries = tries + 1 if end == i else 0
            i, self.v, limits = int(end), place.v, _less(limits, worked)
            if why == AT_ITS_END or (i > 0 and limits.work <= 0.0) or tries > TRIES:
                return i
            if why == OTHERS_PULLED:
                if not self._join(place.all_slopes, i):
                    return i
            else:
                self.n_slow += 1
                self.v, worked = self._newton_minimum(place, limits.gap)
                limits = _less(limits, worked)._replace(rounds=1)

    def _place(self) -> Place:
        d, m, W = len(self.origin.v), len(self.v), self.covariances.features
        _, _, lower, upper = self.strengths
        here = Strengths(np.empty(m), np.empty(m), lower[W], upper[W])
        everywhere = Strengths(np.empty(d), np.empty(d), lower, upper)
        return Place(self.v, np.empty(m), here, np.zeros(d), np.empty(d), everywhere, np.zeros(d))

    def _join(self, slopes: np.ndarray, i: int) -> bool:
        """Learn the columns that are pulled most at these slopes, if any is pulled, or may be soon; whether it went."""
        shares, (l1, _, lower, upper), learnt = self.models.shares, self.strengths, self.covariances.features
        pull, soon = np.abs(slopes), shares[min(i + SOON, len(shares) - 1)]
        pull[np.where(slopes < 0.0, upper, lower) == 0.0] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            urgency = np.where(pull > 0.0, pull / l1, 0.0)
        urgency[learnt] = 0.0
        if urgency.max(initial=0.0) <= max(2.0 * soon - shares[i], LEAST_PULL * shares[i]):
            return True
        room = min(max(MIN_JOINING, int(SHARE_JOINING * len(self.v))), int(np.count_nonzero(urgency)))
        return self._learn(np.argpartition(-urgency, room - 1)[:room])

    def learn_all(self) -> bool:
        """Learn all columns, if there is room for them: whether they are known."""
        others = np.flatnonzero(self.covariances.unknown)
        return not len(others) or self._learn(others)

    def _learn(self, new: np.ndarray) -> bool:
        m, d = len(self.v) + len(new), len(self.origin.v)
        if m * (d - m) > self.room or not self.covariances.learn(new):
            return False
        self.v = np.concatenate([self.v, self.origin.v[new]])
        self.models = self.models._replace(v=np.hstack([self.models.v, np.zeros((len(self.models.v), len(new)))]))
        return True

    def _newton_minimum(self, place: Place, gap: float) -> tuple[np.ndarray, float]:
        """Over the known columns, from the place; and about what work it took."""
        l1, l2, lower, upper = place.strengths
        H, factor = self.covariances.known.among, self.factor
        if l2.any():
            H, factor = H.copy(), KeptFactor()  # the ridge goes with alpha
            H.ravel()[:: len(l2) + 1] += l2
        slope, enough = place.slopes + l2 * place.v, NEWTON_SHARE * gap
        before = factor.worked
        # Where these rounds are not enough H is nearly singular, and the usual steps, which go by rows, end sooner.
        v = minimise_quadratic(
            H, slope, l1, lower, upper, place.v, STEP_PRECISION, enough, rounds=EASY_ROUNDS, factor=factor
        )
        return v, SWEEPS * len(v) ** 2 + (factor.worked - before) / FASTER


def _less(limits: Limits, work: float) -> Limits:
    return limits._replace(work=limits.work - work)
