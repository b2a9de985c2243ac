"""Which alpha: by cross-validation, a validation set or an information criterion; and which features are stable.

Each works on the models of a path, so that choosing costs little more than the path itself. For a squared loss whose
statistics fit in memory, the folds of a cross-validation come from one reading: all rows minus those of a fold.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from riata.data.dataset import Dataset
from riata.data.gram import Gram, gram_bytes, gram_of_chunks
from riata.data.part import Part, deal, part_of
from riata.errors import OptionError
from riata.fitting import Spec
from riata.losses import LOSSES
from riata.path import Path, path

FOLDS = 5
GRAM_FEATURES = 2000  # statistics of more columns take longer than the paths that they spare
CRITERIA = ("aic", "bic", "ebic")


@dataclass(frozen=True)
class Selection:
    """A path on all rows, a score per alpha (smaller is better) and the place of the chosen one."""

    path: Path
    scores: np.ndarray
    errors: np.ndarray | None  # standard errors of the scores, where there are any
    best: int
    chosen: int
    reason: str

    @property
    def alpha(self) -> float:
        return float(self.path.alphas[self.chosen])

    @property
    def coef(self) -> np.ndarray:
        return self.path.coefs[self.chosen]

    @property
    def intercept(self) -> float:
        return float(self.path.intercepts[self.chosen])


def cross_validated(data: Dataset, spec: Spec, *, folds=FOLDS, one_se=True, seed=0, **grid) -> Selection:
    """The alpha of the smallest held-out loss or, with `one_se`, the sparsest within one standard error of it."""
    if not 2 <= folds <= data.n_rows:
        raise OptionError(f"folds must lie between 2 and the number of rows, {data.n_rows}, not be {folds}")
    found = path(data, spec, **grid)
    held_out = _by_statistics if _statistics_serve(data, spec, folds) else _by_passes
    losses = np.array(list(held_out(data, spec, found.alphas, folds, seed)))
    scores, errors = losses.mean(axis=0), losses.std(axis=0, ddof=1) / np.sqrt(folds)
    best = int(np.argmin(scores))
    if not one_se:
        return Selection(found, scores, errors, best, best, f"the smallest loss over {folds} held-out folds")
    sparsest = int(np.argmax(scores <= scores[best] + errors[best]))  # alphas fall: the first one is the sparsest
    reason = f"the sparsest model within one standard error of the smallest loss over {folds} held-out folds"
    return Selection(found, scores, errors, best, sparsest, reason)


def _statistics_serve(data, spec, folds) -> bool:
    d = data.n_features
    fits = spec.memory is None or (folds + 2) * gram_bytes(d) <= spec.memory
    return spec.loss == "squared" and d <= min(GRAM_FEATURES, data.n_rows) and fits


def _by_statistics(data, spec, alphas, folds, seed):
    """Held-out losses from statistics of every fold: one pass."""
    grams = _fold_grams(data, folds, seed)
    total = sum(grams[1:], start=grams[0])
    for gram in grams:
        models = path((total - gram).as_data(), spec, alphas)
        yield [gram.mean_loss(w, b) for w, b in zip(models.coefs, models.intercepts, strict=True)]


def _fold_grams(data, folds, seed) -> list[Gram]:
    grams: list[Gram | None] = [None] * folds
    for i, chunk in enumerate(data.visit()):
        parts = deal(chunk.n_rows, folds, seed, i)
        for part in np.unique(parts):
            gram = gram_of_chunks([chunk.rows(parts == part)], data.n_features)
            known = grams[part]
            grams[part] = gram if known is None else known + gram
    return [gram for gram in grams if gram is not None]


def _by_passes(data, spec, alphas, folds, seed):
    """Held-out losses from a path without every fold."""
    for fold in range(folds):
        models = path(part_of(data, folds, fold, seed, without=True), spec, alphas)
        yield path_losses(models, Part(data, folds, fold, seed), spec)


def path_losses(models: Path, data: Dataset, spec: Spec) -> np.ndarray:
    """The mean loss of every model of a path on other rows: one pass."""
    loss = LOSSES[spec.loss]
    used = np.flatnonzero(models.coefs.any(axis=0))
    coefs = models.coefs[:, used].T

    def part(chunk):
        z = chunk.X[:, used] @ coefs + models.intercepts
        return chunk.weight @ loss.value(chunk.y[:, None], z), chunk.weight.sum()

    losses, weight = data.sum(part)
    return losses / weight


def validated(data: Dataset, validation: Dataset, spec: Spec, **grid) -> Selection:
    """The alpha of the smallest loss on rows kept apart."""
    found = path(data, spec, **grid)
    scores = path_losses(found, validation, spec)
    best = int(np.argmin(scores))
    return Selection(found, scores, None, best, best, "the smallest loss on the validation rows")


def by_criterion(data: Dataset, spec: Spec, criterion="bic", **grid) -> Selection:
    """The alpha that minimises AIC, BIC or EBIC, a coefficient counting as one degree of freedom.

    -2 log likelihood is n log(mean square) for the squared loss and 2 n mean loss for the others; a degree of freedom
    costs 2 (AIC) or log n (BIC, EBIC), and EBIC adds 2 log of the number of models of that size.
    """
    if criterion not in CRITERIA:
        raise OptionError(f"criterion must be one of {', '.join(CRITERIA)}, not {criterion!r}")
    found = path(data, spec, **grid)
    n, d, k = data.n_rows, data.n_features, found.n_selected
    fit = n * np.log(np.maximum(2.0 * found.losses, 1e-300)) if spec.loss == "squared" else 2.0 * n * found.losses
    scores = fit + (2.0 if criterion == "aic" else np.log(n)) * (k + spec.fit_intercept)
    if criterion == "ebic":
        scores = scores + 2.0 * (gammaln(d + 1) - gammaln(k + 1) - gammaln(d - k + 1))
    scores = np.where(k < n, scores, np.inf)  # as many features as rows fit anything
    best = int(np.argmin(scores))
    return Selection(found, scores, None, best, best, f"the smallest {criterion.upper()}")


@dataclass(frozen=True)
class Stability:
    """How often each feature was among the first `q` over half-samples, and which were often enough."""

    frequencies: np.ndarray
    selected: np.ndarray
    q: int
    threshold: float
    expected_errors: float  # at most so many of the selected are noise, on average


def stable_features(data: Dataset, spec: Spec, q: int, *, threshold=0.6, pairs=25, seed=0) -> Stability:
    """Stability selection (Meinshausen and Buehlmann, 2010) over complementary halves (Shah and Samworth, 2013).

    Of features chosen in at least a share `threshold` of the halves, where each chose q, at most
    q^2 / ((2 threshold - 1) d) are expected to be noise, if noise features are exchangeable.
    """
    if not 1 <= q <= data.n_features:
        raise OptionError(f"q must lie between 1 and the number of features, {data.n_features}, not be {q}")
    if not 0.5 < threshold <= 1:
        raise OptionError(f"threshold must lie in (0.5, 1], not be {threshold}")
    counts = np.zeros(data.n_features)
    for pair in range(pairs):
        for half in (0, 1):
            counts[_first_features(part_of(data, 2, half, seed + pair), spec, q)] += 1
    frequencies = counts / (2 * pairs)
    selected = np.flatnonzero(frequencies >= threshold)
    bound = q**2 / ((2 * threshold - 1) * data.n_features)
    return Stability(frequencies, selected, q, threshold, bound)


def _first_features(data, spec, q) -> np.ndarray:
    """The q features that a path lets in first; of those that enter together, the largest by standardised weight."""
    models = path(data, spec, max_features=q)
    sizes = data.moments.scale if spec.standardize else 1.0
    chosen = np.flatnonzero(models.coefs[-1])
    if len(chosen) <= q:
        return chosen
    before = np.flatnonzero(models.coefs[-2])
    entering = np.setdiff1d(chosen, before)
    order = np.argsort(-np.abs(models.coefs[-1] * sizes)[entering], kind="stable")
    return np.concatenate([before, entering[order]])[:q]
