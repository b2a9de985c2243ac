"""How good a model of times to events is.

Whether risks and times agree is a matter of pairs of rows: three numbers of every row are held in memory.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.errors import DataError
from riata.losses.cox import Cox, codes_of
from riata.model.concordance import concordance

if TYPE_CHECKING:
    from riata.model.hazard import BaselineHazard
    from riata.model.model import Model

GROUPS = ("a third of low risk", "a third of middle risk", "a third of high risk")
MOST_TIMES = 200  # of a curve
MOST_ROWS = 2000  # of a group, whose predicted curves are averaged


@dataclass(frozen=True)
class RiskCurves:
    """The share of some rows without an event up to each time: observed (Kaplan and Meier, 1958), and predicted."""

    name: str
    n_rows: int
    times: np.ndarray
    observed: np.ndarray
    predicted: np.ndarray


@dataclass(frozen=True)
class RiskQuality:
    """Scores, and curves of the rows in thirds by their predicted risk."""

    n_rows: int
    scores: dict[str, float | None]
    curves: list[RiskCurves]
    n_events: int
    baseline: dict[str, float | None] = field(default_factory=dict)  # scores of a model that knows no features


def risk_quality(model: "Model", data: Dataset) -> RiskQuality:
    """Concordance, the share of the deviance that is explained, and curves: one pass."""
    if not data.facts.survival:
        raise DataError(
            "the model predicts times to an event, and the target of the data has no events: name their column "
            "(event='...')"
        )
    parts = [(z, chunk.y, chunk.weight, _offsets(chunk)) for z, chunk in model.visit(data)]
    if not parts:
        raise DataError("there are no rows to score the model on")
    z, y, weight, offset = (np.concatenate(part) for part in zip(*parts, strict=True))
    c = concordance(y, z, weight)
    scores = {
        "concordance": None if np.isnan(c) else c,
        "deviance_explained": _explained(model.loss_function, y, z, weight, offset),
    }
    alone = concordance(y, offset, weight) if offset.any() else 0.5
    baseline: dict[str, float | None] = {"concordance": None if np.isnan(alone) else alone, "deviance_explained": 0.0}
    assert model.hazard is not None  # which its file was checked to have
    return RiskQuality(len(y), scores, _curves(model.hazard, y, z, weight), int(np.sum(y > 0)), baseline)


def _offsets(chunk: Chunk) -> np.ndarray:
    """What is known of rows in advance; 0 where nothing is."""
    return np.zeros(chunk.n_rows) if chunk.offset is None else np.asarray(chunk.offset)


def _explained(loss: object, y: np.ndarray, z: np.ndarray, weight: np.ndarray, offset: np.ndarray) -> float | None:
    """The share of the partial likelihood's deviance that a model explains, beside what offsets do; None without an
    event to explain."""
    times = np.unique(y[y > 0])
    assert isinstance(loss, Cox)
    own = type(loss)(len(times) + 1)
    code = codes_of(y, times)
    of_model, of_none = (own.total(own.sums(code, at - np.average(at, weights=weight), weight)) for at in (z, offset))
    return 1.0 - of_model / of_none if of_none > 0.0 and np.isfinite(of_model) else None


def _curves(hazard: "BaselineHazard", y: np.ndarray, z: np.ndarray, weight: np.ndarray) -> list[RiskCurves]:
    """The curves of thirds of the rows; of one group where all have the same risk."""
    cuts = np.quantile(z, [1 / 3, 2 / 3])
    group = np.searchsorted(cuts, z, side="left")
    found = []
    for i in np.unique(group):
        rows = np.flatnonzero(group == i)
        times, observed = kaplan_meier(y[rows], weight[rows])
        if len(times):
            some = rows[:: -(-len(rows) // MOST_ROWS)]
            predicted = np.average(hazard.survival(z[some], times), axis=0, weights=weight[some])
            name = GROUPS[i] if len(np.unique(group)) > 1 else ""
            found.append(RiskCurves(name, len(rows), times, observed, predicted))
    return found


def kaplan_meier(y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times of events (of very many, some), and the share of rows of which nothing had happened after each."""
    times, slot = np.unique(np.abs(y), return_inverse=True)
    deaths = np.bincount(slot, weight * (y > 0), len(times))
    at_risk = np.cumsum(np.bincount(slot, weight, len(times))[::-1])[::-1]
    survival = np.cumprod(1.0 - deaths / at_risk)
    on = np.flatnonzero(deaths)
    on = on[np.unique(np.linspace(0, len(on) - 1, min(len(on), MOST_TIMES)).round().astype(int))] if len(on) else on
    return times[on], survival[on]
