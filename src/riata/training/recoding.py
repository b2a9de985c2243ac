"""Features that are sums of others, x' = x A: a model with coefficients v of those has coefficients w = A v of these.

Two things that are asked of features become simple for others:

- Groups that overlap (the latent group Lasso; Jacob, Obozinski & Vert, 2009): every group has copies of its features,
  and a coefficient is the sum of those of its copies. So a model has all features of some groups, whole. With groups
  of interactions and the features that they are of, none is in the model without these (heredity).
- Coefficients in order, such as those of the levels low < mid < high: the features are "mid or more" and "high", whose
  coefficients are the steps from one level to the next, and none of them is negative.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riata.arrays import namespace
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.features import (
    bounds_of,
    factors_of,
    groups_by_heredity,
    groups_listed,
    groups_of,
    orders_of,
    with_signs_of_two,
)
from riata.errors import OptionError
from riata.losses.several_margins import by_margin
from riata.matrices.host import as_matrix
from riata.scipy_later import sparse as sp
from riata.training.fitting import Fit
from riata.training.paths.model_path import ModelPath
from riata.training.selection.fits import SelectedFit
from riata.training.spec import Spec

BY_HEREDITY = {
    "strong": ", an interaction in groups with the two features that it is of, their coefficients added up",
    "weak": ", an interaction in a group with each of the features that it is of, their coefficients added up",
}


@dataclass(frozen=True)
class Recoding:
    """The matrix A, features x new features, and what is said of it in the formula of a model."""

    A: Any
    words: str
    copies: np.ndarray | None = None  # the feature of every new one, where each is a copy of one

    @property
    def n_features(self) -> int:
        """How many new features there are."""
        return int(self.A.shape[1])

    def of(self, data: Dataset) -> Dataset:
        """The rows with the new features."""
        A = self.A

        def part(chunk: Chunk) -> Chunk:
            X = chunk.X
            if namespace(chunk.weight) is np:
                return chunk._replace(X=as_matrix(X.array @ A))
            return chunk._replace(
                X=X.dense(X.columns(np.arange(X.shape[1])) @ namespace(chunk.weight).asarray(A.toarray()))
            )

        recoded = data.map(part)
        recoded.facts = recoded.facts.but(
            n_features=self.n_features, feature_names=None, encoding=None, copies=self.copies
        )
        return recoded

    def back(self, fitted: Fit) -> Fit:
        """The fit with coefficients of the features themselves."""
        n_outputs, result = fitted.spec.loss_function.n_outputs, fitted.result
        fitted = replace(
            fitted, result=replace(result, coef=self._of_features(result.coef, n_outputs)), note=self.words
        )
        if isinstance(fitted, SelectedFit):
            fitted = replace(fitted, path=self.path_back(fitted.path))
        return fitted

    def path_back(self, path: ModelPath) -> ModelPath:
        """The path with coefficients of the features themselves."""
        coefs = np.array([self._of_features(coef, path.n_outputs) for coef in path.coefs])
        return replace(path, coefs=coefs, copies=None)

    def _of_features(self, coef: np.ndarray, n_outputs: int) -> np.ndarray:
        return (self.A @ by_margin(coef, n_outputs).T).ravel()


def numbered_or_recoded(spec: Spec, data: Dataset) -> tuple[Spec, Recoding | None]:
    """The spec with arrays over features, and the recoding whose new features these are, if there must be one."""
    if spec.heredity is not None:
        _check_heredity(spec)
        _check_rows(data)
        return _with_copies(spec, data, groups_by_heredity(spec.heredity, data), BY_HEREDITY[spec.heredity])
    spec = replace(spec, bounds=with_signs_of_two(spec.bounds, data))
    listed, orders = groups_listed(spec.groups, data), orders_of(spec.bounds, data)
    overlaps = listed is not None and len(set().union(*listed)) < sum(map(len, listed))
    if not orders and not overlaps:
        return _numbered(spec, data), None
    _check_rows(data)
    if overlaps:
        if spec.k is not None and spec.alpha != "auto":
            raise OptionError("k counts groups that do not overlap: take alpha, or give every feature to one group")
        assert listed is not None
        return _with_copies(spec, data, listed, ", a coefficient the sum of one for each group of its feature")
    return _with_steps(spec, data, orders)


def _numbered(spec: Spec, data: Dataset) -> Spec:
    """The spec whose penalty factors, bounds and groups are arrays over the features of this data."""
    return replace(
        spec,
        penalty_factors=factors_of(spec.penalty_factors, data),
        bounds=bounds_of(spec.bounds, data),
        groups=groups_of(spec.groups, data),
    )


def _check_rows(data: Dataset) -> None:
    """Refuse rows that are gone, or known by their sums."""
    if data.is_summary or data.single_pass:
        raise OptionError(
            "groups that overlap and coefficients in order need rows that are kept, not statistics of them"
        )


def _check_heredity(spec: Spec) -> None:
    """Refuse what groups of interactions with their features do not go with."""
    if spec.heredity not in BY_HEREDITY:
        raise OptionError(f"heredity must be 'strong' or 'weak', not {spec.heredity!r}")
    if spec.k is not None and spec.alpha != "auto":
        raise OptionError("heredity goes with alpha, not with k alone: alpha='auto' beside k ends at so many features")
    beside = [name for name, given in {
        "groups": spec.groups is not None, "bounds": spec.bounds is not None, "nonnegative": spec.nonnegative,
        "l1_ratio": spec.l1_ratio < 1, "penalty": spec.penalty is not None}.items() if given]  # fmt: skip
    if beside:
        raise OptionError(f"heredity makes groups of its own, and does not go with {' and '.join(beside)}")


def _with_copies(spec: Spec, data: Dataset, groups: list[list[int]], words: str) -> tuple[Spec, Recoding]:
    """A copy of every feature for each of its groups."""
    features = np.concatenate(groups)
    labels = np.repeat(np.arange(len(groups)), list(map(len, groups)))
    plain = _numbered(replace(spec, groups=None), data)
    factors = None if plain.penalty_factors is None else np.asarray(plain.penalty_factors)[features]
    recoding = replace(_recoding(data, features, np.arange(len(features)), words), copies=features)
    return replace(plain, groups=labels, penalty_factors=factors), recoding


def _with_steps(spec: Spec, data: Dataset, orders: list[list[int]]) -> tuple[Spec, Recoding]:
    """For features in order, the steps between their coefficients; without an intercept, that of the first, too."""
    others = {name: pair for name, pair in spec.bounds.items() if not isinstance(pair, str)}
    plain = _numbered(replace(spec, bounds=others or None), data)
    ordered = set().union(*orders)
    kept = [j for j in range(data.n_features) if j not in ordered]
    sums = [[j] for j in kept]
    steps = [order[i:] for order in orders for i in range(1, len(order))]
    levels = [] if spec.fit_intercept else orders
    old = np.concatenate([np.array(one, dtype=np.int64) for one in (*sums, *levels, *steps)])
    new = np.repeat(np.arange(len(sums) + len(levels) + len(steps)), [len(one) for one in (*sums, *levels, *steps)])
    free = np.tile([-np.inf, np.inf], (len(sums) + len(levels), 1))
    if plain.bounds is not None:
        free[: len(kept)] = np.asarray(plain.bounds)[kept]
    bounds = np.concatenate([free, np.tile([0.0, np.inf], (len(steps), 1))])
    first = [one[0] for one in (*sums, *levels, *steps)]
    factors = None if plain.penalty_factors is None else np.asarray(plain.penalty_factors)[first]
    words = ", of levels in order the steps from one to the next"
    return replace(plain, bounds=bounds, penalty_factors=factors), _recoding(data, old, new, words)


def _recoding(data: Dataset, old: np.ndarray, new: np.ndarray, words: str) -> Recoding:
    return Recoding(sp.csr_array((np.ones(len(old)), (old, new)), shape=(data.n_features, int(new.max()) + 1)), words)
