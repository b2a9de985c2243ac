"""Cross-validation of the squared loss from the products of columns, made in one reading of the rows.

The products of every fold are all that the squared loss can know of its rows (`riata.data.statistics`): those of the
other folds add up to what a path needs, and those of the fold itself score it.
"""

from riata.data.budget import parse_memory
from riata.data.dataset import Dataset
from riata.data.gram import gram_bytes
from riata.data.in_memory import InMemory
from riata.data.statistics import Statistics, SummaryRows, statistics_of
from riata.errors import OptionError
from riata.training.spec import Spec

WIDEST_IN_MEMORY = 500  # features; with more, reading rows again is cheaper than all their products


def fold_statistics(data: Dataset, spec: Spec, n_folds: int) -> Statistics | None:
    """The statistics of every fold, those that the data has or else a pass; None where rows are read instead."""
    if isinstance(data, SummaryRows) and n_folds > 1:
        _check_folds(data.statistics, n_folds)
        return data.statistics
    return statistics_of(data, n_folds, spec.seed or 0) if products_serve(data, spec, n_folds) else None


def products_serve(data: Dataset, spec: Spec, n_folds: int) -> bool:
    """Whether the products of all columns fit half of the memory, and cost less than the passes that they save."""
    d = data.n_features
    fit = gram_bytes(d, n_folds) <= parse_memory(spec.memory) // 2
    cheap = not data.cheap_passes or (isinstance(data, InMemory) and d <= WIDEST_IN_MEMORY and not data.chunk.X.sparse)
    return spec.loss_function.quadratic and data.n_rows >= 2 * d and fit and cheap


def _check_folds(statistics: Statistics, n_folds: int) -> None:
    """Refuse other folds than those that were read."""
    kept = len(statistics.folds)
    if kept == n_folds:
        return
    there = (
        f"{kept} folds" if kept > 1 else "no folds (rows were subtracted that had not been added, or none were asked)"
    )
    advice = f"take cv={kept}, or" if kept > 1 else "choose by aic, bic, ebic or other rows (select), or"
    raise OptionError(
        f"these statistics have {there}, and {n_folds} are wanted: {advice} read the data again with so many (--cv)"
    )
