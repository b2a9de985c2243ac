"""Links: functions from a margin to a prediction. A model's file names its link, and predicting needs no more."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.functions import expit
from riata.losses.normal import normal_cdf


@dataclass(frozen=True)
class Link:
    """The prediction at a margin z, and how reports explain z itself."""

    name: str
    mean: Callable[[Any], Any]  # the expected target at z; of labels, the probability of +1
    inverse: Callable[[Any], Any]  # z at which a target of this mean is expected; labels are -1 and +1
    of_number: str  # what z is, where a number is predicted
    of_class: str  # what z is, where a class is predicted: of which one follows
    probabilities: bool = False  # whether the mean is the probability of the label +1, or has those of all classes
    sums_to_one: bool = False  # whether the means of all margins of a row are probabilities that sum to one
    is_log_odds: bool = False  # whether z is the logarithm of the odds of the label +1
    of_rate: bool = False  # whether z is the logarithm of a rate, which an exposure multiplies
    even: float = 0.0  # the margin at which both of two classes are as likely

    def reading(self, of: str | None = None) -> str:
        """What z is, in words: of a number, or of this class."""
        return self.of_number if of is None else f"{self.of_class} of {of}"


def _log(mean_y: Array) -> Array:
    return np.log(np.maximum(mean_y, 1e-300))  # no counts at all: as small a mean as numbers allow


def _log_odds(mean_y: Array) -> Array:
    mean_y = np.clip(mean_y, -1.0 + 1e-15, 1.0 - 1e-15)  # one label only: as sure as numbers allow
    return np.log1p(mean_y) - np.log1p(-mean_y)


def _log_odds_of_share(share: Any) -> Any:
    """The margin whose share is `share`; as sure as numbers allow where it is 0 or 1."""
    share = np.clip(share, 1e-15, 1.0 - 1e-15)
    return np.log(share) - np.log1p(-share)


def _normal_quantile(mean_y: Any) -> Any:
    share = np.clip(0.5 + 0.5 * np.asarray(mean_y), 1e-15, 1.0 - 1e-15)
    return np.vectorize(NormalDist().inv_cdf, otypes=[np.float64])(share)[()]


def _rate_quantile(mean_y: Any) -> Any:
    share = np.clip(0.5 + 0.5 * np.asarray(mean_y), 1e-15, 1.0 - 1e-15)
    return np.log(-np.log1p(-share))


def _happens(z: Array) -> Array:
    """The probability of an event at all, where its rate is exp(z)."""
    xp = namespace(z)
    return -xp.expm1(-xp.exp(xp.clip(z, None, 700.0)))


def softmax(z: Array) -> Array:
    """exp(z) as shares of their sum, over the last axis."""
    xp = namespace(z)
    e = xp.exp(z - xp.max(z, axis=-1)[..., None])
    return e / xp.sum(e, axis=-1)[..., None]


def between_cutpoints(cutpoints: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The probabilities of classes in an order, a column each, where these cutpoints lie between neighbours."""
    odds = np.asarray(cutpoints) - np.reshape(z, (-1, 1))
    lower, higher = expit(odds), expit(-odds)
    nothing = np.zeros((len(odds), 1))
    return np.where(  # a difference of the two that are small, which have all digits
        np.hstack([odds, odds[:, -1:]]) < 0.0,
        np.hstack([lower, nothing + 1.0]) - np.hstack([nothing, lower]),
        np.hstack([nothing + 1.0, higher]) - np.hstack([higher, nothing]),
    )


def _without_cutpoints(z: Array) -> Array:
    raise ValueError("the probabilities of classes in an order need the cutpoints between them")


IDENTITY = Link("identity", np.asarray, np.asarray, "the prediction", "the score")
EXP = Link("exp", np.exp, _log, "the logarithm of the prediction", "the score", of_rate=True)
LOGISTIC = Link(
    "logistic",
    expit,
    _log_odds,
    "the logarithm of the odds",
    "the logarithm of the odds",
    probabilities=True,
    is_log_odds=True,
)
PROBIT = Link(
    "probit",
    normal_cdf,
    _normal_quantile,
    "the normal quantile of the probability",
    "the normal quantile of the probability",
    probabilities=True,
)
CLOGLOG = Link(
    "cloglog",
    _happens,
    _rate_quantile,
    "the logarithm of the rate",
    "the logarithm of the rate",
    probabilities=True,
    of_rate=True,
    even=math.log(math.log(2.0)),
)
SHARE = Link("share", expit, _log_odds_of_share, "the logarithm of the odds", "the score")
SOFTMAX = Link(
    "softmax",
    softmax,
    _log,
    "the logarithm of the probability, up to what all classes share",
    "the logarithm of the probability, up to what all classes share,",
    probabilities=True,
    sums_to_one=True,
)
ORDINAL = Link(
    "ordinal",
    _without_cutpoints,
    _log,
    "the logarithm of the odds of a higher class",
    "the logarithm of the odds of a higher class",
    probabilities=True,
    sums_to_one=True,
)
LINKS: dict[str, Link] = {
    link.name: link for link in (IDENTITY, EXP, LOGISTIC, PROBIT, CLOGLOG, SHARE, SOFTMAX, ORDINAL)
}


def ordinal_link(cutpoints: Any) -> Link:
    """The link of classes in an order, from one margin to the probabilities of all of them."""
    return replace(ORDINAL, mean=partial(between_cutpoints, np.asarray(cutpoints, dtype=np.float64)))


def log_odds(link: Link, z: np.ndarray) -> np.ndarray:
    """The logarithms of the odds at margins of a link that gives the probability of one of two classes."""
    if link.is_log_odds:
        return z
    tiny = np.finfo(np.float64).tiny
    p: np.ndarray = np.clip(link.mean(z), tiny, None)
    return np.log(p) - np.log(np.maximum(1.0 - p, tiny))


def against_rest(link: Link, z: np.ndarray) -> np.ndarray:
    """A score of each class against the rest: z itself, or its log odds where probabilities sum to one."""
    if not link.sums_to_one:
        return z
    with np.errstate(divide="ignore"):
        p = link.mean(z)
        return np.log(p) - np.log1p(-p)


def probabilities(link: Link, z: np.ndarray) -> np.ndarray:
    """Class probabilities by a link that gives them; one-against-rest ones are scaled to sum to one."""
    p: np.ndarray = link.mean(z)
    if link.sums_to_one:
        return p
    if p.ndim == 1:
        return np.column_stack([1.0 - p, p])
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])
