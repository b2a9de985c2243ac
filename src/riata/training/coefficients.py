"""Coefficients of features known by number alone, where nothing may be kept for every feature (solver 'sketch').

`coef_` is then a sparse matrix, a row per margin, as wide as there are features; its non-zeros are all there is.
"""

import numpy as np

from riata.matrices.host import as_matrix
from riata.scipy_later import is_sparse
from riata.scipy_later import sparse as sp


def coefficients(found, n_features: int):
    """A row per margin of some results or streams: dense, or sparse where they are of some features only."""
    if found[0].features is None:
        return np.vstack([one.coef for one in found])
    chosen = [np.flatnonzero(one.coef) for one in found]
    ids = np.concatenate([one.features.ids[on] for one, on in zip(found, chosen, strict=True)])
    values = np.concatenate([one.coef[on] for one, on in zip(found, chosen, strict=True)])
    indptr = np.concatenate([[0], np.cumsum([len(on) for on in chosen])])
    coef = sp.csr_array((values, ids, indptr), shape=(len(found), n_features))
    coef.sort_indices()
    return coef


def known_features(found) -> dict[int, tuple[str | None, float]]:
    """Name, where known, and deviation of every chosen feature, by number."""
    return {
        int(one.features.ids[place]): (
            one.features.names.get(int(one.features.ids[place])),
            float(one.features.deviations[place]),
        )
        for one in found
        for place in np.flatnonzero(one.coef)
    }


def support_of(coef) -> np.ndarray:
    """The features of any margin, in order."""
    return np.unique(coef.indices) if is_sparse(coef) else np.flatnonzero((np.atleast_2d(coef) != 0).any(axis=0))


def known_numbers(coef, n_features: int) -> np.ndarray:
    """The features of which something is known: all of them, or those of any margin where coef is sparse."""
    return support_of(coef) if is_sparse(coef) else np.arange(n_features)


def dense_part(coef, features: np.ndarray) -> np.ndarray:
    """The coefficients of these features, a row per margin."""
    return as_matrix(coef).narrowed(features).toarray() if is_sparse(coef) else np.atleast_2d(coef)[:, features]


def margins(X, coef):
    """X coef', rows x margins, at the cost of the non-zeros where coef is sparse."""
    if not is_sparse(coef):
        return as_matrix(X).margins(np.atleast_2d(coef).T)
    features = support_of(coef)
    return as_matrix(X).narrowed(features).margins(dense_part(coef, features).T)
