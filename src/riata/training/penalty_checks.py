"""Penalties that make no sense beside other options, or for a loss: pairs of whether it is so, and the sentence."""

from numbers import Real

import numpy as np

from riata.penalties import PENALTIES, GroupLasso, SeparablePenalty
from riata.solvers.capabilities import EXACT_ONLY
from riata.training.spec import Spec
from riata.training.stages.two_stages import Adaptive

_NEWTON = {"second derivative", "one margin a row", "sum over rows"}  # what first fits ask of a loss


def group_checks(spec: Spec) -> list[tuple[bool, str]]:
    """Whether groups go with the other options beside alpha."""
    if not (isinstance(spec.group_ratio, Real) and 0 < float(spec.group_ratio) <= 1):
        return [(True, f"group_ratio must lie in (0, 1], not be {spec.group_ratio!r}")]
    if spec.shared_support and spec.loss_function.n_outputs == 1:
        return [(True, "shared_support is for several targets, or for several classes at once: take loss 'softmax'")]
    if spec.k is not None and spec.shared_support is False and spec.loss_function.n_outputs > 1:
        return [
            (True, "k counts features, which all classes or targets share: leave shared_support out, or take alpha")
        ]
    if (spec.groups is None and not spec.shared_support) or spec.k is not None:
        return [
            (spec.group_ratio != 1, "group_ratio goes with groups and alpha: give both"),
            (_uneven(spec), "penalty_factors must be alike within each group"),
        ]
    if spec.groups is None:
        alone = "say shared_support=False"
        return [
            (spec.l1_ratio < 1, f"a shared support has no l1_ratio: leave it at 1, or {alone}"),
            (spec.nonnegative or spec.bounds is not None,
             f"a shared support has no bounds and no nonnegative: leave them out, or {alone}"),
        ]  # fmt: skip
    return [
        (spec.l1_ratio < 1, "l1_ratio has no place beside groups and alpha: group_ratio below 1 adds L1 within groups"),
        (spec.nonnegative or spec.bounds is not None, "groups and alpha have no bounds and no nonnegative"),
        (_uneven(spec), "penalty_factors must be alike within each group"),
    ]


def _uneven(spec: Spec) -> bool:
    """Whether features of one group have different penalty factors."""
    factors = np.asarray(spec.factors)
    grouped = spec.groups is not None and factors.ndim == 1 and len(factors) == len(spec.groups)
    return grouped and bool(np.any(_spread(factors, spec.groups)))


def _spread(x: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """How far the numbers of each group lie apart."""
    most, least = np.full((2, int(groups.max()) + 1), [[-np.inf], [np.inf]])
    np.maximum.at(most, groups, x)
    np.minimum.at(least, groups, x)
    return most - least


def penalty_checks(spec: Spec) -> list[tuple[bool, str]]:
    """Whether the penalty that was named, or given, goes with the other options."""
    penalty = spec.penalty
    if penalty is None:
        return []
    if spec.unilasso:
        return _unilasso_checks(spec)
    if spec.adaptive is not None:
        return _adaptive_checks(spec, spec.adaptive)
    if isinstance(penalty, str) and spec.own_penalty is None:
        goes_with = {
            "elastic-net": "alpha",
            "cardinality": "k",
            "group-cardinality": "k and groups",
            "group-lasso": "alpha and groups",
        }
        return [
            (penalty not in PENALTIES,
             f"there is no penalty {penalty!r}; take 'adaptive', 'unilasso', 'lq', 'mcp' or 'scad', or leave it out: "
             "alpha asks for the elastic net, k for that many features"),
            (penalty in PENALTIES and type(spec.family) is not PENALTIES[penalty],
             f"penalty {penalty!r} goes with {goes_with.get(penalty)}"),
        ]  # fmt: skip
    own = spec.own_penalty
    if own is None:
        return [(True, f"penalty must be a name or a riata.penalties.Penalty, not {penalty!r}")]
    its_name = "a penalty object" if own is penalty else f"penalty {penalty!r}"
    beside = [name for name, given in {
        "l1_ratio": spec.l1_ratio != 1, "ridge": bool(spec.ridge), "nonnegative": spec.nonnegative,
        "bounds": spec.bounds is not None,
        "groups": spec.groups is not None}.items() if given]  # fmt: skip
    return [
        ("cardinality" in own.has, "a number of features is given as k, not as a penalty"),
        (not isinstance(own, SeparablePenalty) and type(own) is not GroupLasso,  # whose blocks solvers know
         f"{type(own).__name__} is neither a sum over features, derived from riata.penalties.SeparablePenalty, nor "
         "riata's GroupLasso: solvers take no other"),
        (spec.k is not None, f"{its_name} has a strength alpha and no k: give one of the two"),
        (bool(beside) and own is penalty,
         f"{' and '.join(beside)} would do nothing beside {its_name}: it says all of that itself"),
        (bool(beside), f"{its_name} does not go with {' and '.join(beside)}: leave one of them out"),
    ]  # fmt: skip


def _adaptive_checks(spec: Spec, asked: Adaptive) -> list[tuple[bool, str]]:
    """Whether the adaptive Lasso goes with the other options, and the loss has its first fit."""
    loss, name = spec.loss_function, spec.penalty
    return [
        (spec.k is not None, f"penalty {name!r} has a strength alpha and no k: give one of the two"),
        (spec.groups is not None or bool(spec.shared_support),
         f"penalty {name!r} gives each feature a factor of its own, which groups do not have: leave one of them out"),
        (spec.solver_name != "exact", EXACT_ONLY.format(solver=spec.solver_name)),
        (asked.first != "marginal" and not loss.has >= _NEWTON,
         f"a first fit of all features needs one margin a row and two derivatives, which {loss.name!r}{loss.summed} "
         "does not have: take penalty 'adaptive:marginal'"),
    ]  # fmt: skip


def _unilasso_checks(spec: Spec) -> list[tuple[bool, str]]:
    """Whether uniLasso goes with the other options, and the loss has fits of single features."""
    loss = spec.loss_function
    beside = [name for name, given in {
        "nonnegative": spec.nonnegative, "bounds": spec.bounds is not None, "groups": spec.groups is not None,
        "shared_support": spec.shared_support}.items() if given]  # fmt: skip
    return [
        (spec.k is not None, "penalty 'unilasso' has a strength alpha and no k: give one of the two"),
        (bool(beside), f"penalty 'unilasso' has bounds of its own, and does not go with {' and '.join(beside)}"),
        (not spec.fit_intercept, "penalty 'unilasso' has an intercept in each of its fits: leave fit_intercept alone"),
        (spec.solver_name != "exact", f"penalty 'unilasso' goes with solver 'exact', not with {spec.solver_name!r}"),
        (not loss.has >= _NEWTON, "fits of single features need one margin a row and two derivatives, which "
                                  f"{loss.name!r}{loss.summed} does not have: take penalty 'adaptive:marginal'"),
    ]  # fmt: skip


def factor_checks(spec: Spec, n_features: int) -> list[tuple[bool, str]]:
    """Whether penalty factors are numbers that a penalty can be multiplied by."""
    if spec.penalty_factors is None:
        return []
    factors = np.asarray(spec.penalty_factors, dtype=np.float64)
    right_shape = factors.shape == (n_features,)
    return [
        (not right_shape, f"penalty_factors must be one number for each of the {n_features} features"),
        (not (np.isfinite(factors).all() and (factors >= 0).all()), "penalty_factors must be zero or more, and finite"),
        (right_shape and not factors.any(), "penalty_factors are all 0: at least one feature must have a penalty"),
        (spec.k is not None and spec.alpha is None and not np.isin(factors, (0.0, 1.0)).all(),
         "beside k the penalty factor of a feature is 0, which is always in and not counted, or 1"),
    ]  # fmt: skip
