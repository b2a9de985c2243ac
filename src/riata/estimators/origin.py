"""Numbers far from zero, counted from a nearer origin while a model is fitted.

Sums of products of numbers whose mean is 10^8 deviations have no digits left for what varies. Where there is an
intercept, the target (for a loss that sees y - z only) and sparse columns without a zero may be counted from their
means: the model is the same, and the intercept takes the rest back. Dense columns are centred in every pass anyway.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from riata.data.dataset import Dataset
from riata.data.moments import varies
from riata.fitting import Fit, Spec
from riata.losses import LOSSES
from riata.selection.fits import SelectedFit

FAR = 1e4  # deviations from zero: the squares of nearer numbers lose 8 digits of 16


class Origin(NamedTuple):
    """Where the target and each column are counted from."""

    y: float
    x: np.ndarray

    def moved(self, data: Dataset) -> Dataset:
        """The rows, counted from here."""
        y, x = self  # all that has to travel to rows elsewhere

        def part(chunk):
            X = chunk.X
            if x.any():
                values = (X.data - x[X.indices]).astype(X.dtype)
                X = sp.csr_array((values, X.indices, X.indptr), shape=X.shape)
            return chunk._replace(X=X, y=chunk.y - y)

        return data.map(part)

    def moved_back(self, fitted: Fit) -> Fit:
        """The fit with the intercepts for rows as they are."""

        def back(coef, intercept):
            return intercept + self.y - (coef @ self.x if self.x.any() else 0.0)

        result = fitted.result
        fitted = replace(fitted, result=replace(result, intercept=float(back(result.coef, result.intercept))))
        if isinstance(fitted, SelectedFit):
            path = fitted.path
            fitted = replace(fitted, path=replace(path, intercepts=back(path.coefs, path.intercepts)))
        return fitted


def far_origin(data: Dataset, spec: Spec) -> Origin | None:
    """Where to count from; None where zero will do. A pass, should there be columns far from zero."""
    if not spec.fit_intercept or data.once or data.stands_in:
        return None
    needs_moments = spec.standardize or spec.k is not None  # of columns, whether or not they are looked at here
    x = _far_columns(data) if needs_moments and not data.wide else np.zeros(1)
    origin = Origin(_far_target(data) if LOSSES[spec.loss].relative else 0.0, x)
    return origin if origin.y or origin.x.any() else None


def _far_target(data: Dataset) -> float:
    moments = data.target_moments
    return moments.y_mean if _far(moments.y_squares / moments.weight, moments.y_mean) else 0.0


def _far_columns(data: Dataset) -> np.ndarray:
    moments = data.moments
    far = _far(moments.squares / moments.weight, moments.mean)
    if not far.any():
        return np.zeros(data.n_features)

    def entries(chunk):
        X = chunk.X
        return np.bincount(X.indices, minlength=X.shape[1]) if sp.issparse(X) else np.zeros(X.shape[1], dtype=np.intp)

    return np.where(far & (data.sum(entries) == data.n_rows), moments.mean, 0.0)


def _far(variance, mean):
    deviation = np.sqrt(variance)
    return (FAR * deviation < np.abs(mean)) & varies(deviation, mean)
