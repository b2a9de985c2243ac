"""Coefficients of features known by number alone, where nothing may be kept for every feature (solver 'sketch').

`coef_` is then a sparse matrix, a row per margin, as wide as there are features; its non-zeros are all there is.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from riata.losses.several_margins import by_margin
from riata.matrices.host import as_matrix
from riata.scipy_later import is_sparse
from riata.scipy_later import sparse as sp
from riata.solvers.iterate import Features

Coefficients = Any  # margins x features: a NumPy array, or a SciPy CSR array where features are known by number alone


class Margin(Protocol):
    """What a fit or a stream found for one margin."""

    @property
    def coef(self) -> np.ndarray: ...

    @property
    def intercept(self) -> Any: ...

    @property
    def features(self) -> Features | None: ...


def coefficients(found: Sequence[Margin], n_features: int) -> Coefficients:
    """A row for every margin: dense, or sparse where the margins are of some features only."""
    if found[0].features is None:
        rows = [by_margin(one.coef, np.size(one.intercept)) for one in found]
        return np.ascontiguousarray(rows[0]) if len(rows) == 1 else np.vstack(rows)
    chosen = [np.flatnonzero(one.coef) for one in found]
    ids = np.concatenate([_features_of(one).ids[on] for one, on in zip(found, chosen, strict=True)])
    values = np.concatenate([one.coef[on] for one, on in zip(found, chosen, strict=True)])
    indptr = np.concatenate([[0], np.cumsum([len(on) for on in chosen])])
    coef = sp.csr_array((values, ids, indptr), shape=(len(found), n_features))
    coef.sort_indices()
    return coef


def known_features(found: Sequence[Margin]) -> dict[int, tuple[str | None, float]]:
    """Name, where known, and deviation of every chosen feature, by number."""
    known = {}
    for one in found:
        features = _features_of(one)
        for place in np.flatnonzero(one.coef):
            number = int(features.ids[place])
            known[number] = features.names.get(number), float(features.deviations[place])
    return known


def _features_of(one: Margin) -> Features:
    assert one.features is not None  # either all margins have them, or none
    return one.features


def support_of(coef: Coefficients) -> np.ndarray:
    """The features of any margin, in order."""
    if is_sparse(coef):
        return np.unique(coef.indices)
    rows = np.atleast_2d(coef)
    return np.flatnonzero(rows[0] if len(rows) == 1 else (rows != 0).any(axis=0))


def known_numbers(coef: Coefficients, n_features: int) -> np.ndarray:
    """The features of which something is known: all of them, or those of any margin where coef is sparse."""
    return support_of(coef) if is_sparse(coef) else np.arange(n_features)


def dense_part(coef: Coefficients, features: np.ndarray) -> np.ndarray:
    """The coefficients of these features, a row per margin."""
    return as_matrix(coef).narrowed(features).toarray() if is_sparse(coef) else np.atleast_2d(coef)[:, features]


def margins(X: Any, coef: Coefficients) -> np.ndarray:
    """X coef', rows x margins, at the cost of the non-zeros where coef is sparse."""
    if is_sparse(coef):
        features = support_of(coef)
        X, coef = as_matrix(X).narrowed(features), dense_part(coef, features)
    return as_matrix(X).margins(np.atleast_2d(coef).T)
