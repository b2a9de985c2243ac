"""Targets and columns far from zero are counted from a nearer origin while a model is fitted.

Sums of products of numbers whose mean is 10^8 deviations have no digits left for what varies. Where there is an
intercept, the target (for a loss that sees y - z only) and sparse columns without a zero may be counted from their
means: the model is the same, and the intercept takes the rest back. Dense columns are centred in every pass for
products; only where they are so far that margins lose digits, too, are they counted from their means, in a copy.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from riata.arrays import to_host
from riata.coupled_passes import targets_one_by_one
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.losses.several_margins import by_margin
from riata.matrices.moments import LARGE_CONSTANT, Moments, varies
from riata.solvers.registry import SOLVERS
from riata.training.fitting import Fit
from riata.training.selection.fits import SelectedFit
from riata.training.spec import Spec

FAR = 1e4  # deviations from zero: the squares of nearer numbers lose 8 digits of 16
FAR_DENSE = 1e6  # deviations from zero: margins, which cancel such a mean by the intercept, are good to 10 digits


class Origin(NamedTuple):
    """Where the target and each column are counted from."""

    y: Any  # a number, or one for each of several targets
    x: np.ndarray
    hardly_vary: tuple[int, ...] = ()  # columns that pass for constants where they are counted from zero

    def of(self, data: Dataset) -> Dataset:
        """The rows, counted from here."""
        y, x = self.y, self.x  # not self: this alone is sent to the workers of a cluster

        def part(chunk: Chunk) -> Chunk:
            return chunk._replace(X=chunk.X.stored_less(x) if x.any() else chunk.X, y=chunk.y - y)

        return data.map(part)

    def back(self, fitted: Fit) -> Fit:
        """The fit with the intercepts for rows as they are."""

        def moved(coef: np.ndarray, intercept: Any) -> Any:
            if not self.x.any():
                return intercept + self.y
            n_outputs = np.shape(intercept)[-1] if np.ndim(intercept) == np.ndim(coef) else 1
            by_columns = coef @ self.x if n_outputs == 1 else by_margin(coef, n_outputs) @ self.x
            return intercept + self.y - by_columns

        result = fitted.result
        fitted = replace(fitted, result=replace(result, intercept=moved(result.coef, result.intercept)))
        if isinstance(fitted, SelectedFit):
            path = fitted.path
            fitted = replace(fitted, path=replace(path, intercepts=moved(path.coefs, path.intercepts)))
        return fitted


def far_origin(data: Dataset, spec: Spec) -> Origin | None:
    """Where to count from; None where zero will do. A pass, should there be columns far from zero."""
    if not spec.fit_intercept or data.single_pass or data.is_summary:
        return None
    if SOLVERS[spec.solver_name].finds_alpha:  # it counts from the first row, and needs no pass for that
        return None
    # whether moments of columns are wanted in any case
    needs_moments = spec.standardize or spec.k is not None or not SOLVERS[spec.solver_name].stochastic
    x, hardly_vary = _far_columns(data, spec.standardize) if needs_moments and not data.wide else (np.zeros(1), ())
    loss = spec.loss_function
    origin = Origin(_far_target(data, loss.n_outputs) if loss.relative else 0.0, x, hardly_vary)
    return origin if np.any(origin.y) or origin.x.any() else None


def _far_target(data: Dataset, n_targets: int) -> Any:
    if n_targets > 1:
        return np.array([_far_mean(one) for one in targets_one_by_one(data, n_targets)])
    return _far_mean(data.target_moments)


def _far_mean(moments: Moments) -> float:
    return moments.y_mean if _far(moments.y_squares / moments.weight, moments.y_mean) else 0.0


def _far_columns(data: Dataset, standardize: bool) -> tuple[np.ndarray, tuple[int, ...]]:
    """Where to count columns from, and those of them that would pass for constants.

    Large constants are counted from themselves: the slope of one is a rounding of its size, which passes for a pull
    unless columns are standardised.
    """
    moments = data.moments
    deviation = np.sqrt(moments.squares / moments.weight)
    far, very_far = (_far(deviation**2, moments.mean, deviations) for deviations in (FAR, FAR_DENSE))
    large = np.abs(moments.mean) > (np.inf if standardize else LARGE_CONSTANT)
    hardly = np.flatnonzero(((deviation > 0) | large) & ~varies(deviation, moments.mean))
    origin = np.zeros(data.n_features)
    if far.any():

        def entries(chunk: Chunk) -> np.ndarray:
            stored = chunk.X.stored_in_columns()
            return stored if chunk.X.sparse else np.where(very_far, stored, 0)

        origin = np.where(far & (data.sum(entries) == data.n_rows), moments.mean, 0.0)
    if len(hardly):
        ends = data.sum(lambda chunk: Ends.of(chunk, hardly))
        differ = ends.most > ends.least
        counted = differ | large[hardly]
        origin[hardly[counted]] = ends.least[counted]  # numbers of columns, from which others have no rounding
        hardly = hardly[differ]
    return origin, tuple(hardly.tolist())


@dataclass(frozen=True)
class Ends:
    """The least and the largest number of some columns: rounding cannot make two of one."""

    least: np.ndarray
    most: np.ndarray

    @classmethod
    def of(cls, chunk: Chunk, columns: np.ndarray) -> "Ends":
        values = to_host(chunk.X.columns(columns))
        return cls(values.min(axis=0, initial=np.inf), values.max(axis=0, initial=-np.inf))

    def __add__(self, other: "Ends") -> "Ends":
        return Ends(np.minimum(self.least, other.least), np.maximum(self.most, other.most))


def _far(variance: Any, mean: Any, deviations: float = FAR) -> Any:
    """Whether numbers of this variance and mean, or each of several, are so many deviations from zero."""
    deviation = np.sqrt(variance)
    return (deviations * deviation < np.abs(mean)) & varies(deviation, mean)
