"""Cross-validation of the squared loss from the products of columns, made in one reading of the rows.

The products of every fold are all that the squared loss can know of its rows (`riata.data.statistics`): those of the
other folds add up to what a path needs, and those of the fold itself score it.
"""

from riata.data.budget import parse_memory
from riata.data.dataset import Dataset
from riata.data.folds import Folds
from riata.data.gram import gram_bytes
from riata.data.in_memory import InMemory
from riata.data.statistics import Statistics, SummaryRows, statistics_of
from riata.errors import OptionError
from riata.outcome.folds_used import FoldKind
from riata.training.spec import Spec

WIDEST_IN_MEMORY = 500  # features; with more, reading rows again is cheaper than all their products
PARTS_PER_FOLD = 3  # parts that folds may be made of: gaps in time make two for each


def fold_statistics(data: Dataset, spec: Spec, folds: Folds | None) -> Statistics | None:
    """The statistics of every fold, those that the data has or else a pass; None where rows are read instead."""
    if isinstance(data, SummaryRows) and folds is not None:
        _check_folds(data.statistics, folds.n_folds)
        return data.statistics
    if folds is not None and folds.plan.n_codes > PARTS_PER_FOLD * folds.n_folds:
        return None
    n_codes = 1 if folds is None else folds.plan.n_codes
    return statistics_of(data, folds=folds) if products_serve(data, spec, n_codes) else None


def products_serve(data: Dataset, spec: Spec, n_codes: int) -> bool:
    """Whether the products of all columns fit half of the memory, and cost less than the passes that they save."""
    d = data.n_features
    tells_all = not spec.unilasso and data.facts.copies is None
    fit = gram_bytes(d, n_codes) <= parse_memory(spec.memory) // 2
    cheap = not data.cheap_passes or (isinstance(data, InMemory) and d <= WIDEST_IN_MEMORY and not data.chunk.X.sparse)
    return spec.loss_function.quadratic and tells_all and data.n_rows >= 2 * d and fit and cheap


def _check_folds(statistics: Statistics, n_folds: int) -> None:
    """Refuse other folds than those that were read."""
    kept = statistics.plan.n_folds
    if kept == n_folds or statistics.plan.used.kind is FoldKind.COLUMN:
        return
    there = (
        f"{kept} folds" if kept > 1 else "no folds (rows were subtracted that had not been added, or none were asked)"
    )
    advice = f"take cv={kept}, or" if kept > 1 else "choose by aic, bic, ebic or other rows (select), or"
    raise OptionError(
        f"these statistics have {there}, and {n_folds} are wanted: {advice} read the data again with so many "
        f"(cv={n_folds})"
    )
