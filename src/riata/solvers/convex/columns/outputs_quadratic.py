"""The penalised quadratic of a loss of several margins per row, and descent along the columns of a working set.

Where coefficients are penalised one by one they move one by one; where all those of a feature are in or out together
(a group Lasso over outputs) they move together.
"""

from abc import ABC, abstractmethod

import numpy as np

from riata.data.in_memory import InMemory
from riata.kernels.output_blocks import block_curvatures, sweep_blocks
from riata.kernels.outputs import Derivatives, Moving, RowCurvatures, output_curvatures, sweep_outputs
from riata.losses import SeveralMargins
from riata.objective import FirstOrder, Problem
from riata.penalties import GroupLasso, Strengths
from riata.solvers.convex.columns.columns import Columns
from riata.solvers.convex.quadratics.extrapolation import extrapolated

SWEEPS = 8  # between two looks at the slopes of all coefficients


class OutputsQuadratic(ABC):
    """The quadratic about (v0, b0), of columns counted from their origin, at a point (v, b).

    Arrays over rows and outputs lie in memory as the sweeps want them. `_moved` are the margins less those of (v0, b0),
    and `_along_r` their products with r.
    """

    order = "C"  # of rows x outputs

    def __init__(
        self, problem: Problem, columns: Columns, origin: np.ndarray, at: FirstOrder, v: np.ndarray, b: np.ndarray
    ) -> None:
        loss, K = problem.loss, problem.loss.n_outputs
        assert isinstance(loss, SeveralMargins)
        assert isinstance(problem.data, InMemory)
        y, weight = problem.data.targets()
        self._X, share = problem.data.chunk.X, (weight / weight.sum())[:, None]
        d, r = loss.newton_curvature(y, self._X.margins(v.reshape(-1, K), b))
        r = np.zeros_like(d) if r is None else r
        self._d, self._weighted_r, self._r = (self._laid(x) for x in (share * d, share * r, r))
        self._columns, self._origin, self._penalty = columns, origin, problem.penalty
        self._slopes_b, self._curvatures_b = np.zeros(K), np.zeros(K)
        if problem.fit_intercept:
            self._slopes_b = np.asarray(at.by_b, dtype=np.float64)
            self._curvatures_b = np.sum(self._d - self._weighted_r * self._r, axis=0)
        self._slopes = at.by_w - np.outer(origin, self._slopes_b).ravel()
        self._v0, self._b0 = v, b
        self.v, self.b = v.copy(), b.copy()
        self._moved, self._along_r = self._laid(np.zeros((len(y), K))), np.zeros(len(y))

    def _laid(self, x: np.ndarray) -> np.ndarray:
        laid: np.ndarray = np.ascontiguousarray(x) if self.order == "C" else np.asfortranarray(x)
        return laid

    @abstractmethod
    def _active(self, slopes: np.ndarray) -> np.ndarray:
        """The coefficients that are not zero, or are pulled by these slopes."""

    @abstractmethod
    def _sweep(self, active: np.ndarray) -> float:
        """One sweep over these coefficients and the intercepts; by how much Q has become less."""

    @abstractmethod
    def _settled(self, active: np.ndarray, far: np.ndarray) -> np.ndarray:
        """These values of the active coefficients, but for those that would go where the quadratic is another one."""

    def descend(self) -> float:
        """Sweeps over the coefficients that are not zero, or are pulled, and an extrapolation; what they gained."""
        active = self._active(self._slopes_now())
        history, gained = [np.concatenate([self.v[active], self.b])], 0.0
        for _ in range(SWEEPS):
            gained += self._sweep(active)
            history.append(np.concatenate([self.v[active], self.b]))
        return gained + self._extrapolate(active, np.array(history))

    def _slopes_now(self) -> np.ndarray:
        """Those of the mean loss in all coefficients."""
        u = np.ascontiguousarray(self._d * self._moved - self._weighted_r * self._along_r[:, None])
        slopes: np.ndarray = self._slopes + (self._X.slopes(u) - np.outer(self._origin, u.sum(axis=0))).ravel()
        return slopes

    def _extrapolate(self, active: np.ndarray, history: np.ndarray) -> float:
        """Go where the last sweeps lead to, if that is lower; what it gained."""
        far = extrapolated(history)
        if far is None:
            return 0.0
        v, b = self.v.copy(), far[len(active) :]
        v[active] = self._settled(active, far[: len(active)])
        by_output = (v - self._v0).reshape(-1, len(b))
        moved = self._laid(self._X.margins(by_output, b - self._b0) - self._origin @ by_output)
        along_r = np.sum(self._r * moved, axis=1)
        gained = self._Q(self.v, self.b, self._moved, self._along_r) - self._Q(v, b, moved, along_r)
        if not gained > 0.0:
            return 0.0
        self.v, self.b, self._moved, self._along_r = v, b, moved, along_r
        return float(gained)

    def _Q(self, v: np.ndarray, b: np.ndarray, moved: np.ndarray, along_r: np.ndarray) -> float:
        curved = np.sum(self._d * moved * moved) - np.sum(self._weighted_r * moved * along_r[:, None])
        linear = self._slopes @ (v - self._v0) + self._slopes_b @ (b - self._b0)
        return float(linear + 0.5 * curved + self._penalty.value(v))


class ByCoefficient(OutputsQuadratic):
    """Coefficients one by one, each along one output: an elastic net."""

    order = "F"

    def __init__(
        self, problem: Problem, columns: Columns, origin: np.ndarray, at: FirstOrder, v: np.ndarray, b: np.ndarray
    ) -> None:
        super().__init__(problem, columns, origin, at, v, b)
        self._rows = RowCurvatures(self._d.T, self._weighted_r.T, self._r.T)
        curvatures = np.empty((len(v) // len(b), len(b)))
        output_curvatures(columns.rows, self._rows, curvatures)
        self._strengths = Strengths(*(np.array(strength) for strength in problem.strengths))
        self._derivatives = Derivatives(self._slopes, curvatures.ravel(), self._slopes_b, self._curvatures_b)

    def _active(self, slopes: np.ndarray) -> np.ndarray:
        l1, l2, lower, upper = self._strengths
        pulled = (np.abs(slopes + l2 * self.v) > l1) & (np.where(slopes < 0.0, upper, -lower) > 0.0)
        return np.flatnonzero((self.v != 0.0) | pulled)

    def _sweep(self, active: np.ndarray) -> float:
        point = Moving(self.v, self.b, self._moved.T, self._along_r)
        gained: float = sweep_outputs(
            self._columns.rows, self._rows, active, self._derivatives, *self._strengths, point
        )
        return gained

    def _settled(self, active: np.ndarray, far: np.ndarray) -> np.ndarray:
        last, lower, upper = self.v[active], self._strengths.lower[active], self._strengths.upper[active]
        held = (last == lower) | (last == upper) | (far * last <= 0.0)
        values: np.ndarray = np.where(held, last, np.clip(far, lower, upper))
        return values


class ByFeature(OutputsQuadratic):
    """All coefficients of a feature together: a group Lasso, or a sparse-group Lasso, whose groups are the features."""

    def __init__(
        self, problem: Problem, columns: Columns, origin: np.ndarray, at: FirstOrder, v: np.ndarray, b: np.ndarray
    ) -> None:
        super().__init__(problem, columns, origin, at, v, b)
        penalty, K = problem.penalty, len(b)
        assert isinstance(penalty, GroupLasso)
        scale = np.broadcast_to(np.asarray(penalty.scale, dtype=np.float64), len(v))[::K]
        self._outer = penalty.by_group[penalty.groups[::K]] * scale
        self._inner = penalty.by_feature[::K] * scale
        self._rows = RowCurvatures(self._d, self._weighted_r, self._r)
        curvatures = np.empty((len(v) // K, K))
        block_curvatures(columns.rows, self._at_most(), curvatures)
        slopes = self._slopes.reshape(-1, K)
        self._derivatives = Derivatives(slopes, curvatures, self._slopes_b, self._curvatures_b)
        self._work = np.empty((3, K))

    def _at_most(self) -> np.ndarray:
        """A diagonal for every row that diag(d) - r r' is no more than: d itself, or the sums of absolute rows."""
        others = np.abs(self._r).sum(axis=1, keepdims=True) - np.abs(self._r)
        sums = self._d - self._weighted_r * self._r + np.abs(self._weighted_r) * others
        less = sums.sum(axis=1, keepdims=True) < self._d.sum(axis=1, keepdims=True)
        return np.ascontiguousarray(np.where(less, sums, self._d))

    def _active(self, slopes: np.ndarray) -> np.ndarray:
        K = len(self.b)
        pulls = np.linalg.norm(np.maximum(np.abs(slopes.reshape(-1, K)) - self._inner[:, None], 0.0), axis=1)
        features = np.flatnonzero(self.v.reshape(-1, K).any(axis=1) | (pulls > self._outer))
        return (features[:, None] * K + np.arange(K)).ravel()

    def _sweep(self, active: np.ndarray) -> float:
        K = len(self.b)
        point = Moving(self.v.reshape(-1, K), self.b, self._moved, self._along_r)
        gained: float = sweep_blocks(
            self._columns.rows, self._rows, active[::K] // K, self._derivatives, self._inner, self._outer, point,
            self._work,
        )  # fmt: skip
        return gained

    def _settled(self, active: np.ndarray, far: np.ndarray) -> np.ndarray:
        last = self.v[active]
        return np.where(last == 0.0, 0.0, far)


def is_by_feature(penalty: GroupLasso, n_outputs: int) -> bool:
    """Whether each group is all coefficients of one feature, which lie side by side, the features in order."""
    expected = np.repeat(np.arange(len(penalty.groups) // n_outputs), n_outputs)
    return bool(np.array_equal(penalty.groups, expected))
