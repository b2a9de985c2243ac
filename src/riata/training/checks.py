"""Options that make no sense, by themselves or with the data, are refused here, in one sentence each."""

from collections.abc import Iterable
from numbers import Real
from operator import eq
from typing import Any, TypeGuard

import numpy as np

from riata.arrays import namespace
from riata.data.budget import in_words, least_for_vectors
from riata.data.columns.names import Numbered
from riata.data.dataset import Dataset
from riata.data.remote import Remote
from riata.data.row_marks import ENTRY, STRATA
from riata.errors import DataError, OptionError
from riata.losses import Loss, loss_for
from riata.matrices.moments import LARGEST, Moments, check_weight
from riata.solvers.capabilities import why_not
from riata.solvers.registry import SOLVERS, Solver
from riata.solvers.stochastic.visits import ORDERS
from riata.training.checkpoint import check_folder
from riata.training.penalty_checks import factor_checks, group_checks, penalty_checks
from riata.training.spec import Spec
from riata.training.targets.outputs import of_coefficients
from riata.training.targets.several_classes import check_class_weight
from riata.units import whole_megabytes

YES_OR_NO = ("fit_intercept", "standardize", "nonnegative", "rounds", "polish", "resume")
OF_COLUMNS = 5  # vectors of a fit that do not grow with the number of margins: moments and scales of columns
LITTLE = 4 << 20  # bytes, up to which vectors are not counted: what a solver makes of them is more, and says so itself
WIDEST = 1 << 34  # features: one number for each would take 128 GiB
SAVING = [name for name, solver in SOLVERS.items() if solver.saves or solver.method]  # that have checkpoints


def check_request(spec: Spec, task: str) -> None:
    """Refuse what makes no sense whatever the data is; a folder for checkpoints is tried out."""
    if spec.normalize not in (None, "rows"):
        raise OptionError(f"normalize must be None or 'rows', not {spec.normalize!r}")
    loss_for(task, spec.loss)
    if spec.checkpoint is not None:
        check_folder(spec.checkpoint)
    if spec.class_weight is not None and task != "classification":
        raise OptionError("class_weight is for classes, and the target holds numbers")
    check_class_weight(spec.class_weight)
    _check_threshold(spec, task)


def _check_threshold(spec: Spec, task: str) -> None:
    """Refuse a threshold that no probability can meet, or where there are none."""
    if spec.threshold is None:
        return
    if task != "classification":
        raise OptionError("threshold is for classes, and the target holds numbers")
    if not (isinstance(spec.threshold, Real) and 0 < float(spec.threshold) < 1):
        raise OptionError(f"threshold must be a probability between 0 and 1, not {spec.threshold!r}")
    if not spec.loss_function.link.probabilities:
        raise OptionError(
            f"a threshold is of probabilities, and loss {spec.loss_function.name!r} gives none: take loss 'logistic'"
        )


def check_spec(spec: Spec, n_features: int) -> None:
    """Refuse what makes no sense, one sentence each."""
    _check_numbers(spec)
    solver = SOLVERS[spec.solver_name]
    checks = [
        *_strength_checks(spec, n_features),
        *penalty_checks(spec),
        *factor_checks(spec, n_features),
        ((spec.nonnegative or spec.bounds is not None) and spec.k is not None,
         f"solver {spec.solver_name!r} has no bounds or nonnegative; take alpha and solver 'exact'"),
        *_capability_checks(of_coefficients(spec, n_features), solver),
        *_step_checks(spec, solver),
        *_certify_checks(spec),
        *_ending_checks(spec, solver, n_features),
        *_checkpoint_checks(spec, solver),
        (spec.rounds and spec.l1_ratio < 1, "rounds halve an L1 penalty, as in the paper: leave l1_ratio at 1"),
        (spec.rounds and spec.solver_name != "fobos", "rounds are a variant of solver 'fobos'"),
    ]  # fmt: skip
    refuse(checks)


def refuse(checks: Iterable[tuple[bool, str]]) -> None:
    """Raise the sentence of the first check that says that something is wrong."""
    for wrong, sentence in checks:
        if wrong:
            raise OptionError(sentence)


def _strength_checks(spec: Spec, n_features: int) -> list[tuple[bool, str]]:
    """Whether k, alpha and what goes with each of them say how sparse the model is to be."""
    given = [name for name in ("k", "alpha", "alpha_ratio") if getattr(spec, name) is not None]
    most = spec.n_choices(n_features)
    return [
        (len(given) > 1, f"give one of k, alpha and alpha_ratio, not {' and '.join(given)}"),
        (spec.k is not None and not _whole(spec.k), f"k must be a whole number or 'auto', not {spec.k!r}"),
        (_whole(spec.k) and not 1 <= spec.k <= most,
         f"k must lie between 1 and the number of {spec.counted}, {most}, not be {spec.k}"),
        *group_checks(spec),
        (not _at_least_zero(spec.alpha), f"alpha must be zero or more, or 'auto', not {_shown(spec.alpha)}"),
        (not _at_least_zero(spec.alpha_ratio), f"alpha_ratio must be zero or more, not {_shown(spec.alpha_ratio)}"),
        (not _at_least_zero(spec.ridge), f"ridge must be zero or more, not {spec.ridge}"),
        (spec.ridge is not None and spec.ridge > 0 and not 1e-140 <= spec.ridge <= 1e140,
         f"ridge must be zero, or from 1e-140 to 1e140, not {spec.ridge}"),  # beyond that its bounds overflow
        (bool(spec.ridge) and spec.k is None,
         f"ridge goes with k and a solver that takes it; {spec.solver_name!r} does not"),
        (not 0 < spec.l1_ratio <= 1, f"l1_ratio must lie in (0, 1], not be {spec.l1_ratio}"),
        (spec.l1_ratio < 1 and spec.k is not None, "l1_ratio goes with alpha; beside k take a ridge"),
    ]  # fmt: skip


def _step_checks(spec: Spec, solver: Solver) -> list[tuple[bool, str]]:
    """Whether options of steps and passes are what they should be, and the solver takes steps."""
    idle = [name for name in ("batch", "step", "order", "max_steps") if getattr(spec, name) is not None]
    return [
        (spec.order not in (None, *ORDERS), f"order must be one of {', '.join(ORDERS)}, not {spec.order!r}"),
        (spec.batch not in (None, "full") and not (_whole(spec.batch) and spec.batch >= 1),
         f"batch must be a positive whole number or 'full', not {spec.batch!r}"),
        (bool(idle) and not solver.stochastic,
         f"{' and '.join(idle)} would do nothing: solver {spec.solver_name!r} takes no steps on single rows"),
        (spec.max_passes is not None and spec.max_passes < 1, f"max_passes must be at least 1, not {spec.max_passes}"),
        (spec.max_steps is not None and spec.max_steps < 1, f"max_steps must be at least 1, not {spec.max_steps}"),
    ]  # fmt: skip


def _ending_checks(spec: Spec, solver: Solver, n_features: int) -> list[tuple[bool, str]]:
    """Whether the fit can end where it is to, and what it keeps on the way has room."""
    return [
        (not _share_or_auto(spec.debias),
         f"debias must be a share of the way between 0 and 1, or 'auto', not {spec.debias!r}"),
        (not 0 <= spec.tol < np.inf, f"tol must be zero or more, not {spec.tol}"),
        (spec.half_life is not None and not solver.finds_alpha, "a half_life is for solvers 'online' and 'sketch'"),
        (n_features > WIDEST and not solver.width_free,
         f"solver {spec.solver_name!r} keeps a number for every feature, and there are {n_features:,}: take "
         "solver 'sketch'"),
        (spec.half_life is not None and not 0 < spec.half_life < np.inf,
         f"half_life must be positive, not {spec.half_life}"),
    ]  # fmt: skip


def _checkpoint_checks(spec: Spec, solver: Solver) -> list[tuple[bool, str]]:
    """Whether there is a folder to resume from, and the solver has checkpoints."""
    return [
        (spec.resume and spec.checkpoint is None, "to resume, say from which folder: give checkpoint"),
        (spec.checkpoint is not None and not (solver.saves or solver.method),
         f"solver {spec.solver_name!r} has no checkpoints; take one of {', '.join(SAVING)}"),
        (spec.checkpoint is not None and spec.groups is not None and spec.k is not None and not spec.certifies,
         "k groups of features have no checkpoints but those of a search of all models: give certify, too"),
    ]  # fmt: skip


def _certify_checks(spec: Spec) -> list[tuple[bool, str]]:
    """Whether there is something to certify or to bound, and how far."""
    if spec.coef_limit is not None:
        limit = spec.coef_limit
        if spec.solver_name != "best-k":
            return [(True, f"coef_limit goes with k and solver 'best-k', not with solver {spec.solver_name!r}")]
        if not (isinstance(limit, Real) and 0 < float(limit) < np.inf):
            return [(True, f"coef_limit must be a positive number, not {limit!r}")]
    given = {"certify": spec.certify, "coef_limit": spec.coef_limit}
    asked = [name for name, value in given.items() if value is not None and value is not False]  # a gap of 0 is one
    if asked and spec.k is not None and not spec.one_by_one:
        name = f"{spec.loss_function.name!r}{_of_margins(spec.loss_function)}"
        what = "losses of one margin for each row by itself"
        return [(True, f"{asked[0]} is for {what}, and {name} is none: leave it out")]
    if not spec.certifies:
        return []
    gap = spec.certify is True or (isinstance(spec.certify, Real) and 0 <= float(spec.certify) < 1)
    return [
        (
            not gap,
            f"certify must be True, or the gap to stop at, a share of at least 0 and below 1, not {spec.certify!r}",
        ),
        (
            spec.solver_name != "best-k",
            f"certify goes with k and solver 'best-k', not with solver {spec.solver_name!r}",
        ),
    ]


def _capability_checks(spec: Spec, solver: Solver) -> list[tuple[bool, str]]:
    """What the solver needs of the penalty and the loss, and they do not have."""
    penalty = spec.family
    if spec.penalty_factors is not None and spec.k is None:
        penalty = penalty.scaled(1.0, spec.factors)
    if "no groups" in penalty.has and spec.k is None and spec.own_penalty is None:
        penalty = penalty.within(*spec.limits)
    sentence = why_not(spec.solver_name, solver.needs, penalty, spec.loss_function)
    return [] if sentence is None else [(True, sentence)]


def _check_numbers(spec: Spec) -> None:
    """Refuse what is no number where one must be."""
    optional = {"ridge", "max_passes", "max_steps", "half_life"}
    for name in ("l1_ratio", "tol", *optional):
        value = getattr(spec, name)
        if not (isinstance(value, Real) or (value is None and name in optional)):
            raise OptionError(f"{name} must be a number, not {value!r}")
    for name in ("max_passes", "max_steps"):
        value = getattr(spec, name)
        if value is not None and value % 1 != 0 and np.isfinite(value):
            raise OptionError(f"{name} must be a whole number, not {value}")
    if spec.seed is not None and not (_whole(spec.seed) and spec.seed >= 0):
        raise OptionError(f"the seed must be a whole number of zero or more, not {spec.seed!r}")
    for name in YES_OR_NO:
        if not isinstance(value := getattr(spec, name), bool | np.bool_ | int) or value not in (0, 1):
            raise OptionError(f"{name} must be true or false, not {value!r}")


def _share_or_auto(value: Any) -> bool:
    return (isinstance(value, str) and value == "auto") or (isinstance(value, Real) and 0 <= float(value) <= 1)


def _whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    """A number as it is printed, anything else so that text which looks like a number is told from one."""
    return str(value) if isinstance(value, Real) else repr(value)


def _at_least_zero(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and 0 <= float(value) < np.inf)


def check_rows(data: Dataset, spec: Spec) -> None:
    """Refuse rows that a loss cannot learn from."""
    if data.n_rows == 0:
        raise DataError("there are no rows to learn from")
    solver = SOLVERS[spec.solver_name]
    if isinstance(data, Remote) and solver.stochastic and not solver.shared_out:
        raise OptionError(
            f"solver {spec.solver_name!r} learns from one row after the other, which a cluster cannot share out: take "
            "solver 'exact', 'best-k', 'online' or 'sketch' there, or leave the engine out"
        )
    if isinstance(data, Remote) and solver.shared_out and spec.checkpoint is not None:
        raise OptionError(
            f"on a cluster solver {spec.solver_name!r} makes one pass, without checkpoints: leave them out"
        )
    loss = spec.loss_function
    if data.is_summary and spec.unilasso:
        raise OptionError("there are statistics in place of rows, and penalty 'unilasso' leaves out one row at a time")
    if data.is_summary and (not loss.quadratic or SOLVERS[spec.solver_name].stochastic):
        what = f"the squared loss only, not {loss.name!r}"
        if loss.quadratic:
            what = f"no rows for solver {spec.solver_name!r} to visit"
        raise OptionError(f"there are statistics in place of rows, and they know {what}")
    if not loss.takes_all and data.sum(lambda chunk: int(not namespace(chunk.y).all(loss.takes(chunk.y)))):
        raise DataError(loss.refusal)


def check_marks(data: Dataset) -> None:
    """Refuse columns of strata and entries where there are no times to events."""
    given = [] if data.facts.marks is None else [role for role in (STRATA, ENTRY) if role in data.facts.marks]
    if given and data.task != "survival":
        raise OptionError(f"{given[0]} goes with times to events: name the column of events (event), or leave it out")


def check_shares(loss: Loss, of_trials: bool) -> None:
    """Refuse successes of trials for a loss that is not of shares."""
    if of_trials and not loss.of_shares:
        raise OptionError(
            f"trials are of successes, whose shares loss 'binomial' takes, and not {loss.name!r}: take that, or leave "
            "trials out"
        )


def check_exposure(loss: Loss, exposed: bool) -> None:
    """Refuse an exposure for a loss whose margins are no logarithms of means or rates."""
    if exposed and not loss.link.of_rate:
        raise OptionError(
            f"an exposure multiplies the mean, and loss {loss.name!r} has no logarithm of one for a margin: give it as "
            "an offset, which is added to margins, or take loss 'poisson' for counts or 'cloglog' for classes"
        )


def check_width(data: Dataset, spec: Spec) -> None:
    """Refuse more features than the budget has room for: a single index of a sparse row can ask for billions."""
    memory = spec.memory_bytes or data.memory
    loss = spec.loss_function if data.classes is None else spec.loss_function.of_classes(len(data.classes))
    loss = loss if data.facts.targets is None else loss.of_targets(len(data.facts.targets))
    solver = SOLVERS.get(spec.solver_name)
    if memory is None or solver is None or solver.width_free:
        return
    as_they_come = data.single_pass and spec.learns_online
    vectors, alike = (solver.vectors_of_stream, 0) if as_they_come else (solver.vectors, OF_COLUMNS)
    need = least_for_vectors(data.n_features, alike + (vectors - alike) * loss.n_outputs)
    if need > max(memory, LITTLE):
        raise OptionError(
            f"{data.n_features} features{_of_margins(loss)} need at least {whole_megabytes(need)}, more than the "
            f"budget of {in_words(memory)}; give it more memory, correct the indices, or take solver 'sketch', whose "
            "memory does not grow with them"
        )


def _of_margins(loss: Loss) -> str:
    what = "classes" if "classification" in loss.tasks else "targets"
    return f" of {loss.n_outputs} {what}" if loss.n_outputs > 1 else ""


def check_target_varies(data: Dataset) -> None:
    """Refuse a target that there is nothing to learn from, and numbers whose squares are beyond floating point."""
    check_varies(data, data.target_moments)


def check_varies(data: Dataset, target: Moments, name: str = "the target") -> None:
    """Refuse a target of these moments that there is nothing to learn from."""
    check_weight(target.weight)
    deviation = np.sqrt(target.y_squares / target.weight)
    size = max(abs(target.y_mean), deviation)
    if size != 0 and not 1 / LARGEST < size < LARGEST:
        about = f" of {size:.3g}" if np.isfinite(size) else ""
        raise DataError(
            f"{name} holds numbers{about} whose squares are beyond the range of floating-point numbers: give "
            "it in another unit"
        )
    if not target.y_varies and data.facts.offset is None:
        alone = " (1 sample)" if data.n_observed == 1 else ""
        raise DataError(f"{name} has the same value, {target.y_mean:g}, in every row{alone}: there is nothing to learn")


def check_same_features(data: Dataset, others: Dataset) -> None:
    """Refuse other rows whose features, as far as they have names, are not those that are learnt from."""
    mine, theirs = data.feature_names, others.feature_names
    if mine is None or theirs is None or _same(mine, theirs):
        return
    raise DataError(
        "the validation set has other features than the rows to learn from, or has them in another order: open it with "
        "encoding=data.encoding, where data is what you learn from"
    )


def check_same_offsets(data: Dataset, others: Dataset) -> None:
    """Refuse other rows that lack the offset of those that are learnt from, or have one where those have none."""
    if (data.facts.offset is None) == (others.facts.offset is None):
        return
    if data.facts.offset is None:
        raise DataError("the validation set has an offset, and the rows to learn from have none: leave it out")
    role = data.facts.offset.role
    raise DataError(
        f"the rows to learn from have an {role}, and the validation set has none: name its column, or, "
        f"beside arrays, give (X, y, sample_weight, {role})"
    )


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, Numbered) and isinstance(theirs, Numbered):  # there may be millions
        return (len(mine), mine[:1], mine[-1:]) == (len(theirs), theirs[:1], theirs[-1:])
    return len(mine) == len(theirs) and all(map(eq, mine, theirs))
