"""How well all models of a path do, on rows they have not seen or by what they cost in parameters. Less is better.

Held-out rows: the mean loss, which is called what people call it: the mean squared error is twice the squared loss, the
log loss is the logistic loss. Information criteria, with m non-zero coefficients of d, n rows and a deviance D:
    AIC = D + 2 m,    BIC = D + m log n,    EBIC = BIC + 2 log(d choose m)    (Chen & Chen, 2008).
D is n log(mean squared error) for the squared loss, whose noise is then estimated too, and 2 n times the mean loss for
those that are half a deviance. Models with more than n / 2 features are left out: as m nears n the squared error nears
zero, and its logarithm would always win.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riata.arrays import namespace, to_host
from riata.coupled_passes import Point, by_rows, coupled_losses, margins_at
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.losses import CoupledLoss, Loss
from riata.training.paths.model_path import ModelPath

CRITERIA = ("aic", "bic", "ebic")
ROWS_AT_ONCE = 4096  # rows whose margins, one for every model and output, are in memory at once,
MARGINS_AT_ONCE = 1 << 19  # or fewer, on the host, where these would be more margins


class HeldOut(NamedTuple):
    """The scores of the models of a path on some rows, and what those rows weigh."""

    scores: np.ndarray
    weight: float


def held_out(data: Dataset, path: ModelPath, loss: Loss, learnt: Dataset) -> HeldOut:
    """The score of every model on these rows, where it has learnt from others: one pass over these."""
    if isinstance(loss, CoupledLoss) and loss.settles_for_others:
        points = list(zip(path.coefs, path.intercepts.tolist(), strict=True))
        return scored_loss(loss, *_settled_losses(data, by_rows(learnt, loss, points), points))
    return scored_loss(loss, *mean_losses(data, loss, path.coefs, path.intercepts))


def _settled_losses(data: Dataset, losses: Sequence[Loss], points: Sequence[Point]) -> tuple[np.ndarray, float]:
    """The mean loss of several models, each by a loss of its own, on these rows, and what they weigh: one pass."""

    def part(chunk: Chunk) -> tuple[np.ndarray, float]:
        values = [
            float(chunk.weight @ loss.value(chunk.y, margins_at(chunk, w, b)))
            for loss, (w, b) in zip(losses, points, strict=True)
        ]
        return np.array(values), float(namespace(chunk.y).sum(chunk.weight))

    total, weight = data.sum(part)
    return total / weight, float(weight)


def mean_losses(data: Dataset, loss: Loss, coefs: np.ndarray, intercepts: np.ndarray) -> tuple[np.ndarray, float]:
    """The mean loss of several models, a row of coefficients each, on these rows, and what they weigh: one pass."""
    if isinstance(loss, CoupledLoss):  # of these rows alone, as if there were no others
        points = list(zip(coefs, intercepts.tolist(), strict=True))
        return coupled_losses(data, loss, points), data.total_weight
    K, value, n_models = loss.n_outputs, loss.value, len(coefs)
    by_feature = coefs.reshape(n_models, -1, K)
    used = np.flatnonzero(np.any(by_feature != 0, axis=(0, 2)))
    columns = by_feature[:, used].transpose(1, 0, 2).reshape(len(used), n_models * K)  # one for every margin
    W = np.ascontiguousarray(columns)
    intercepts = intercepts.ravel()

    def part(chunk: Chunk) -> tuple[np.ndarray, float]:
        total, xp = np.zeros(n_models), namespace(chunk.y)
        step = max(1, min(ROWS_AT_ONCE, MARGINS_AT_ONCE // (n_models * K))) if xp is np else ROWS_AT_ONCE
        for i in range(0, chunk.n_rows, step):
            rows = slice(i, min(i + step, chunk.n_rows))
            z = chunk.X[rows].narrowed(used).margins(W, intercepts)
            z = z if K == 1 else xp.reshape(z, (z.shape[0], n_models, K))
            total += to_host(chunk.weight[rows] @ value(chunk.y[rows, ...][:, None, ...], z))
        return total, float(xp.sum(chunk.weight))

    total, weight = data.sum(part)
    return total / weight, float(weight)


def scored_loss(loss: Loss, mean_losses: np.ndarray, weight: float) -> HeldOut:
    """Mean losses in the unit of the score that they are reported as, such as the mean squared error."""
    return HeldOut(loss.score_factor * mean_losses, float(weight))


def criterion(name: str, path: ModelPath, loss: Loss, n_rows: int) -> np.ndarray:
    """AIC, BIC or EBIC of every model; infinite where there are too many features to say."""
    m, d = path.n_coefficients, path.n_choosable
    price = {"aic": 2.0 * m, "bic": np.log(n_rows) * m, "ebic": np.log(n_rows) * m + 2.0 * _log_choices(d, m)}[name]
    deviance = loss.deviance(path.losses, n_rows)
    if deviance is None:
        raise OptionError(f"loss {loss.name!r} is no likelihood, so there is no AIC or BIC: select by cv or validation")
    return np.where(m <= n_rows / 2, deviance + price, np.inf)


def _log_choices(d: int, m: np.ndarray) -> np.ndarray:
    """log of d choose m."""
    from scipy.special import gammaln  # slow to import

    return gammaln(d + 1.0) - gammaln(m + 1.0) - gammaln(d - m + 1.0)
