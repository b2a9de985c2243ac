"""One linear function: moved, recoded, fitted or chosen along a path, and put back into what was asked for."""

from dataclasses import replace
from numbers import Integral

from riata.data.dataset import Dataset
from riata.data.folds import Folds
from riata.errors import DataWarning, ModelWarning, NotConvergedWarning, OptionError, OptionWarning
from riata.outcome.proofs import NoBound
from riata.solvers.registry import SOLVERS
from riata.solvers.subset.close_features import Apart, kept_apart
from riata.training.fitting import Fit, fit, make_problem
from riata.training.offsets import with_offsets
from riata.training.origin import Origin, far_origin
from riata.training.progress import pass_progress, path_progress
from riata.training.recoding import Recoding, numbered_or_recoded
from riata.training.selection.asked import Search, search_of
from riata.training.selection.fits import debiased, fit_selected
from riata.training.spec import Spec
from riata.user_warnings import Warn

BEST_K = "best-k"
MOST_NAMED = 3  # features that explain another


def fit_margin(
    data: Dataset, spec: Spec, validation: Dataset | None, folds: Folds | None, warn: Warn, label: str = ""
) -> Fit:
    """Fit one linear function, with a progress bar if asked for and a warning if it did not converge.

    Rows may be counted from a nearer origin, and have other features (`recoding`). The fit is then of these rows, and
    in the end it becomes one of the rows as they are.
    """
    validation = None if validation is None else with_offsets(validation, spec)[0]
    data, spec = with_offsets(data, spec)
    search, origin = search_of(spec), far_origin(data, spec)
    spec, recoding = numbered_or_recoded(spec, data)
    spec = replace(spec, memory=data.memory if spec.memory is None else spec.memory)
    if origin is not None and origin.hardly_vary:
        warn(DataWarning(_about_digits(data, origin.hardly_vary)))
    both: tuple[Origin | Recoding | None, ...] = (origin, recoding)
    changes = [change for change in both if change is not None]
    for change in changes:
        data, validation = change.of(data), validation and change.of(validation)
    spec = _of_all_at_most(spec, data, warn)
    if search is None:
        _check_nothing_is_chosen(spec, validation)
        with pass_progress(spec.verbose, label, spec) as progress:
            fitted = fit(data, spec, progress)
    else:
        search = replace(_within(search, spec, data, warn), folds=folds)
        with path_progress(spec.verbose, label) as progress:
            fitted = fit_selected(data, replace(spec, k=None, alpha=None), search, validation, progress)
    if recoding is None:
        before = data.passes
        _warn_of_features_kept_apart(fitted, data, warn)
        fitted = replace(fitted, result=replace(fitted.result, passes=fitted.result.passes + data.passes - before))
    if spec.debias and search is None:  # a search has scored, and moved, all models of its path
        fitted = debiased(fitted, data)
    for change in reversed(changes):
        fitted = change.back(fitted)
    _warn_of_result(fitted, spec, warn)
    return fitted


def _check_nothing_is_chosen(spec: Spec, validation: Dataset | None) -> None:
    """Refuse what is for a choice among models, where there is one fit."""
    if spec.debias == "auto":
        raise OptionError(
            "debias='auto' is chosen by scores along a path: give alpha as 'auto', too, or debias a share"
        )
    if validation is not None:
        raise OptionError("a validation set chooses k or alpha: give one of them as 'auto', select='validation'")


def _warn_of_result(fitted: Fit, spec: Spec, warn: Warn) -> None:
    """Warn of a tolerance that was not reached, and of a certificate that was asked for in vain."""
    if not fitted.result.converged and not SOLVERS[fitted.solver].stochastic:
        stopped = f"solver {fitted.solver!r} stopped before the tolerance: {fitted.result.reason}"
        warn(NotConvergedWarning(stopped))
    bound = fitted.result.bound
    if spec.certifies and isinstance(bound, NoBound) and bound.ridge is not None:
        warn(ModelWarning(
            "nothing was certified: without a ridge there is no bound here to search by, as where features are "
            "combinations of others (all levels of a column are); give a small ridge, such as 0.01, or a coef_limit"
        ))  # fmt: skip


def _warn_of_features_kept_apart(fitted: Fit, data: Dataset, warn: Warn) -> None:
    """Warn of features that best k did not put together, as they are nearly the same, though that would have gained."""
    loss, spec = fitted.spec.loss_function, fitted.spec
    of_one_margin = loss.n_outputs == 1 and not loss.couples_rows and not loss.kinked
    if fitted.solver != BEST_K or not fitted.result.converged or not of_one_margin or spec.certifies or data.is_summary:
        return
    problem, _ = make_problem(data, spec)
    if problem.cardinality.groups is not None:
        return
    apart = kept_apart(problem, fitted.result.coef, fitted.result.intercept, fitted.result.close)
    if apart:
        warn(ModelWarning(_about_features_kept_apart(apart, data, fitted.result.objective)))


def _about_features_kept_apart(apart: list[Apart], data: Dataset, objective: float) -> str:
    best, more = apart[0], len(apart) - 1
    of_others = " and ".join(_name(data, one) for one in best.others[:MOST_NAMED])
    of_others += f" and {n_more} more" if (n_more := len(best.others) - MOST_NAMED) > 0 else ""
    of_more = f" ({more} more of this kind are not named)" if more else ""
    return (
        f"{_name(data, best.feature)} is explained by {of_others} but for {best.distance:.0e} of its spread, and best "
        f"k does not put features together that are so nearly the same: that would lower the objective by about "
        f"{min(best.gain / objective, 1.0):.2g} of itself{of_more}; give the difference as a feature of its own"
    )


def _name(data: Dataset, feature: int) -> str:
    return repr(str(data.feature_names[feature])) if data.feature_names is not None else f"'x{feature}'"


def _about_digits(data: Dataset, columns: tuple[int, ...]) -> str:
    """A note on columns whose numbers are nearly the same: their coefficients are right, and their use loses digits."""
    first = _name(data, columns[0])
    what = f"column {first} varies" if len(columns) == 1 else f"{first} and {len(columns) - 1} more columns vary"
    return (
        f"{what} by less than 1e-12 of the mean, so that predictions lose digits: subtract a number near the mean first"
    )


def _of_all_at_most(spec: Spec, data: Dataset, warn: Warn) -> Spec:
    """A k of no more features than there are, with a note where more were asked for: a search may try any."""
    most = spec.n_choices(data.n_features)
    if not isinstance(spec.k, Integral) or not 1 <= most < int(spec.k):
        return spec
    more = f"k={spec.k} is more than the {most} {spec.counted} there are: the model may have all of them"
    warn(OptionWarning(more))
    return replace(spec, k=most)


def _within(search: Search, spec: Spec, data: Dataset, warn: Warn) -> Search:
    """A search for no more features than there are, with a note where it was asked to go further."""
    most = spec.n_choices(data.n_features)
    if not isinstance(search.k_max, int) or search.k_max <= most:
        return search
    warn(OptionWarning(f"there are {most} {spec.counted}: the path ends there, and not at k_max={search.k_max}"))
    return replace(search, k_max=most)
