"""The local quadratic of a loss with several margins a row, or whose rows go together, over some of the features.

Its curvature is that of Newton steps of solver 'exact'. A feature has a coefficient for every margin, and is in the
model for all of them or for none: they are a group (`group_subset`). Where there is one margin a row, as of times to
events, a feature is a column of one target (`targets_subset`).
"""

import numpy as np

from riata.losses import SeveralMargins
from riata.objective import FirstOrder, Problem
from riata.solvers.convex.quadratics.curvature import Point
from riata.solvers.convex.quadratics.targets_curvature import TargetsCurvature
from riata.solvers.convex.working_set import WorkingSetState, read
from riata.solvers.subset.search.group_subset import GroupSubset
from riata.solvers.subset.search.targets_subset import TargetsSubset


class CoupledQuadratic:
    """The quadratic at a point, whose slopes are known: one pass for the curvature."""

    def __init__(
        self,
        problem: Problem,
        here: Point,
        at: FirstOrder,
        features: np.ndarray,
        min_gain: float,
        sample: Problem | None = None,
    ):
        W = coefficients_of(features, problem.loss.n_outputs)
        state = WorkingSetState(*here, W, sample=sample)
        curvature = read(problem, state, first=False, second=True)[1]
        assert curvature is not None
        self.features = features
        self._problem, self._here, self._at, self._curvature = problem, here, at, curvature
        H, slope = curvature.quadratic(problem, at)
        self.curvatures = H.diagonal().reshape(len(features), -1).mean(axis=1)  # of features, without a ridge
        l2 = np.broadcast_to(np.asarray(problem.cardinality.l2, dtype=np.float64), len(here[0]))[W]
        v, slope = here[0][W], slope + l2 * here[0][W]
        self._directions: np.ndarray | None = None  # of the margins, that tell losses apart
        if isinstance(curvature, TargetsCurvature) or problem.loss.n_outputs == 1:
            shape = len(features), -1
            H, self._unit = in_units(H, l2.reshape(shape)[:, 0])
            of_targets = (part.reshape(shape) for part in (v, slope))
            v, slope = (next(of_targets) * self._unit[:, None], next(of_targets) / self._unit[:, None])
            self.search: GroupSubset = TargetsSubset(H, self._varying(H, H @ v - slope), min_gain)
        else:
            assert isinstance(problem.loss, SeveralMargins)
            self._directions = Q = problem.loss.directions()
            of_each = len(features), problem.loss.n_outputs
            v, slope = ((part.reshape(of_each) @ Q).ravel() for part in (v, slope))
            H = np.einsum("jkil,ka,lb->jaib", H.reshape(of_each * 2), Q, Q, optimize=True).reshape(len(v), -1)
            H, self._unit = in_units(H, np.repeat(l2[:: problem.loss.n_outputs], Q.shape[1]))
            h = self._varying(H, H @ (v * self._unit) - slope / self._unit)
            self.search = GroupSubset(H, h, np.repeat(np.arange(len(features)), Q.shape[1]), min_gain)

    @property
    def members(self) -> np.ndarray:
        """The features of the set that the search is at."""
        return self.features[self.search.members]

    def go_to(self, features: np.ndarray) -> None:
        """Begin a search at these features."""
        self.search.go_to(np.searchsorted(self.features, features))

    def minimum(self) -> Point:
        """Where the quadratic is least, with the features that the search is at."""
        found = self.search.outlook
        v = np.zeros((len(self._unit), *found.weights.shape[1:]))
        v[found.support] = (found.weights.T / self._unit[found.support]).T
        if self._directions is not None:
            v = v.reshape(len(self.features), -1) @ self._directions.T
        return self._curvature.moved(self._problem, self._at, self._here, v.ravel())

    @staticmethod
    def _varying(H: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Nothing is to be gained by columns that do not vary."""
        return np.where((H.diagonal() > 0.0).reshape(-1, *[1] * (h.ndim - 1)), h, 0.0)


def coefficients_of(features: np.ndarray, n_outputs: int) -> np.ndarray:
    """The numbers of all coefficients of these features."""
    return (features[:, None] * n_outputs + np.arange(n_outputs)).ravel()


def in_units(H: np.ndarray, l2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """H with its ridge, for weights whose squares have a curvature of 1 (or 0), and what coefficients are times."""
    norm2 = H.diagonal() + l2
    varies = norm2 > 0.0
    unit = np.sqrt(np.where(varies, norm2, 1.0))
    H = H / unit / unit[:, None]
    H[np.diag_indices_from(H)] = np.where(varies, 1.0, 0.0)
    return H, unit
