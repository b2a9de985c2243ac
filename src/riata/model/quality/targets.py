"""How good a regression of several targets is, or of several quantiles of one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from riata.data.dataset import Dataset
from riata.errors import DataError
from riata.model.crossing import crossing_rows
from riata.model.quality.numbers import NumberQuality, NumberSums, check_numbers

if TYPE_CHECKING:
    from riata.model.model import Model

Scores = dict[str, float | None]
AVERAGED = ("r2", "rmse", "mae", "mse")  # over the targets, as scikit-learn does it
OF_LEVELS = ("coverage", "d2_pinball", "pinball_loss")


@dataclass(frozen=True)
class TargetsQuality:
    """Scores of all targets, or levels, together, which are means, and how good predictions of each of them are."""

    n_rows: int
    scores: Scores
    by_target: Mapping[str, NumberQuality]
    baseline: Scores = field(default_factory=dict)  # scores of constant predictions
    of: str = "target"  # what each is called
    listed: tuple[str, ...] = ("r2", "rmse", "mae")  # the scores that tables have of each


def targets_quality(model: "Model", data: Dataset) -> TargetsQuality:
    """How good predictions of each target are, and the means over targets: one pass."""
    check_numbers(data)
    names = model.targets or []
    if (there := data.facts.targets) is None or len(there) != len(names):
        raise DataError(
            f"the model predicts {len(names)} targets, {', '.join(names)}, and these rows have "
            f"{1 if there is None else len(there)}"
        )
    known = model.training.baseline
    sums = [NumberSums(model, None if known is None else known[k]) for k in range(len(names))]
    for z, chunk in model.visit(data):
        for k, of_target in enumerate(sums):
            of_target.add(z[:, k], chunk._replace(y=chunk.y[:, k]))
    found = {name: of_target.quality() for name, of_target in zip(names, sums, strict=True)}
    of_all, of_constants = (
        _means([one.scores for one in found.values()]),
        _means([one.baseline for one in found.values()]),
    )
    return TargetsQuality(next(iter(found.values())).n_rows, of_all, found, of_constants)


def levels_quality(model: "Model", data: Dataset) -> TargetsQuality:
    """How good each quantile is, the means over levels, and the share of rows in which quantiles cross: one pass."""
    check_numbers(data)
    known, names, crossing = model.training.baseline, model.outputs, 0
    sums = [NumberSums(model.of_level(k), None if known is None else known[k]) for k in range(len(names))]
    for z, chunk in model.visit(data):
        crossing += crossing_rows(z)
        for k, of_level in enumerate(sums):
            of_level.add(z[:, k], chunk)
    found = {name: of_level.quality() for name, of_level in zip(names, sums, strict=True)}
    n_rows = next(iter(found.values())).n_rows
    scores = _means([one.scores for one in found.values()], OF_LEVELS[1:])
    of_constants = _means([one.baseline for one in found.values()], OF_LEVELS[1:])
    scores["crossing"], of_constants["crossing"] = crossing / n_rows, 0.0
    return TargetsQuality(n_rows, scores, found, of_constants, "level", OF_LEVELS)


def _means(of_targets: list[Scores], names: Sequence[str] = AVERAGED) -> Scores:
    """The mean of each score over the targets; None where some target has none."""
    means: Scores = {}
    for name in names:
        values = [one[name] for one in of_targets]
        means[name] = None if None in values else float(np.mean(np.array(values, dtype=np.float64)))
    return means
