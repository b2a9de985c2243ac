"""Why a fit stopped, in words. Sentences are made here, for people; no code reads them."""

from collections import Counter
from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from riata.outcome.proofs import (
    AllTaken,
    Bound,
    DualityGap,
    GlobalBound,
    NoBetterRound,
    NoBound,
    Proof,
    RefittedSupports,
    SameSupport,
    SearchedAll,
    Stationary,
    SwapOptimal,
    SwapOptimalPath,
    ZeroLoss,
)
from riata.outcome.reasons import StopReason
from riata.outcome.stop import Stop

FEW = 3  # sentences that are still read
IN_SHORT = {
    StopReason.CERTIFIED_GAP: "the relative duality gap is within the tolerance",
    StopReason.SWAP_OPTIMAL: "no swap of one feature inside for one outside improves the objective",
    StopReason.SEARCHED_ALL: "no model of as many features is better",
    StopReason.STATIONARY: "it is a stationary point: no small change lowers the objective",
    StopReason.ZERO_LOSS: "the loss is within a millionth of zero, which no model can beat: add a ridge",
    StopReason.PURSUIT_ENDED: "the method came to its end",
    StopReason.SUPPORTS_REFITTED: "a quick search along the path came to its end, without a proof; a fit with one k "
    "alone searches more thoroughly",
    StopReason.OBJECTIVE_STALLED: "the objective has not moved for some passes",
    StopReason.GAP_ABOVE_TOL: "the relative duality gap did not get within the tolerance",
    StopReason.RESIDUAL_ABOVE_TOL: "it did not get to a stationary point within the tolerance",
    StopReason.ROUNDING: "rounding hides what a further step would gain",
    StopReason.SEARCH_LIMIT: "the search of all models ended before the gap was closed",
    StopReason.MAX_PASSES: "it reached max_passes",
    StopReason.LAST_STEP: "the solver ended at its last step",
    StopReason.INTERRUPTED: "it was interrupted",
    StopReason.STREAM_ENDED: "the stream ended",
}


def why(stop: Stop) -> str:
    """Why a fit stopped, as the end of a sentence."""
    if stop.proof is not None:
        return what_is_proved(stop.proof)
    if isinstance(stop.short_of, DualityGap):
        return _gap(stop.short_of, "did not get within")
    if stop.short_of is not None:
        return f"{_residual(stop.short_of)} did not get within {stop.short_of.tol:.1e}"
    if stop.reason is StopReason.MAX_PASSES and stop.passes is not None:
        return f"it reached max_passes={stop.passes}"
    if stop.reason is StopReason.OBJECTIVE_STALLED and stop.passes is not None:
        return f"the objective has not moved for {stop.passes} passes"
    return IN_SHORT[stop.reason]


def why_all(stops: Sequence[Stop]) -> str:
    """Why the fits of several classes stopped: what they share is said once, and one sentence where there are many."""
    said = sorted({why(stop) for stop in stops})
    if len(said) == 1:
        return said[0]
    gaps = [stop.proof for stop in stops if isinstance(stop.proof, DualityGap)]
    if len(gaps) == len(stops):
        largest = max(gap.relative for gap in gaps)
        return f"all relative duality gaps are within {gaps[0].tol:.1e}, and the largest is {largest:.1e}"
    if len(said) <= FEW:
        return "; ".join(said)
    counts = Counter(stop.reason for stop in stops)
    return "; ".join(f"for {n} of {len(stops)} classes {IN_SHORT[reason]}" for reason, n in counts.most_common())


@singledispatch
def what_is_proved(proof: Proof) -> str:
    """A proof in words."""
    raise TypeError(f"no sentence says what {type(proof).__name__} is")


@what_is_proved.register
def _(proof: DualityGap) -> str:
    return _gap(proof, "is within")


def _gap(gap: DualityGap, relation: str) -> str:
    if gap.of_path:
        return f"the largest relative duality gap of the path, {gap.relative:.1e}, {relation} {gap.tol:.1e}"
    return f"the relative duality gap {gap.relative:.1e} {relation} {gap.tol:.1e}"


@what_is_proved.register
def _(proof: SwapOptimal) -> str:
    k, counted, one = proof.k, proof.counted, proof.counted.removesuffix("s")
    if proof.full and proof.n_others == 0:
        return f"the model has the only {one}" if k == 1 else f"the model has all {k} {counted}"
    if proof.full:
        inside = f"the {one}" if k == 1 else f"one of the {k} {counted}"
        change = f"swap of {inside} for {'the other' if proof.n_others == 1 else f'one of the other {proof.n_others}'}"
    else:
        change = f"further {one.removeprefix('further ')}"
    if proof.n_refitted == 1:
        return f"the {change} that looks best does not improve the objective, refitted"
    if proof.n_refitted:
        return f"no {change} improves the objective among the {proof.n_refitted} that look best, each refitted"
    if proof.n_refitted == 0:
        return f"to second order, no {change} improves the objective"
    if proof.full or "groups" in counted:
        return f"no {change} improves the objective"
    return f"{proof.size} {counted} do as well as {k}: no other changes the objective"


@what_is_proved.register
def _(proof: SwapOptimalPath) -> str:
    one = proof.counted.removesuffix("s")
    return f"for every size, no swap of one {one} inside for one outside improves the objective"


@what_is_proved.register
def _(proof: SearchedAll) -> str:
    found = how_much_better(GlobalBound(proof.k, 1.0 - proof.gap, 1.0, proof.counted, proof.limit))
    screened = f"{proof.n_out} of {proof.n_features} {proof.counted} were ruled out, {proof.n_in} proved in"
    parts = "1 part" if proof.n_parts == 1 else f"{proof.n_parts} parts"
    return f"{found}: {screened}, and the other models were searched in {parts}"


@what_is_proved.register
def _(proof: RefittedSupports) -> str:
    return IN_SHORT[StopReason.SUPPORTS_REFITTED]


@what_is_proved.register
def _(proof: Stationary) -> str:
    return f"it is a stationary point: {_residual(proof)} is within {proof.tol:.1e}"


def _residual(proof: Stationary) -> str:
    of = "the largest residual of the path" if proof.of_path else "the residual of the optimality conditions"
    return f"{of}, {proof.residual:.1e} of the first slopes,"


@what_is_proved.register
def _(proof: ZeroLoss) -> str:
    return IN_SHORT[StopReason.ZERO_LOSS]


@what_is_proved.register
def _(proof: AllTaken) -> str:
    return "all k features have been taken"


@what_is_proved.register
def _(proof: SameSupport) -> str:
    return "a gradient step chooses the same features again"


@what_is_proved.register
def _(proof: NoBetterRound) -> str:
    many = "k" if proof.times_k == 1 else f"{proof.times_k}k"
    return f"another round of {many} features would not lower the loss"


@singledispatch
def how_much_better(bound: Bound) -> str:
    """How much better any other model of as many features could be, in words."""
    raise TypeError(f"no sentence says what {type(bound).__name__} is")


def all_bounds(bounds: Sequence[Bound | None]) -> str | None:
    """The bounds of several classes: what they share once, of many the loosest; None where there is no bound."""
    known = [bound for bound in bounds if bound is not None]
    said = sorted({how_much_better(bound) for bound in known})
    if len(said) > 1 and all(isinstance(bound, NoBound) for bound in known):
        return _no_bounds([bound for bound in known if isinstance(bound, NoBound)])
    if len(said) <= FEW:
        return "; ".join(said) or None
    return f"of the loosest of {len(known)} classes: {how_much_better(max(known, key=_looseness))}"


def _no_bounds(bounds: Sequence[NoBound]) -> str:
    """One sentence for classes without a bound: the largest ridge that one of them needs is enough for all."""
    if len(sizes := {bound.k for bound in bounds}) == 1:
        models = f"other models of {_many(bounds[0].k, bounds[0].counted)}"
    else:
        models = f"other models of {min(sizes)} to {_many(max(sizes), bounds[0].counted)}"
    said = f"without a ridge there is no bound on {models}"
    ridges = [bound.ridge for bound in bounds if bound.ridge is not None]
    if not ridges:
        return said
    return (
        f"{said}; ridge={max(ridges):.1g} {'gives' if len(ridges) == len(bounds) else 'may give'} one for every class"
    )


def _many(k: int, counted: str) -> str:
    return f"{k} {counted if k != 1 else counted.removesuffix('s')}"


def _looseness(bound: Bound) -> float:
    return bound.gap if isinstance(bound, GlobalBound) else float("inf")


@how_much_better.register
def _(bound: GlobalBound) -> str:
    models = _many(bound.k, bound.counted)
    if bound.limit is not None:
        models += f" with coefficients of at most {bound.limit:g} standard deviations"
    if bound.is_best:
        return f"this is the best model of {models} there is"
    if bound.value <= 0.0:
        return f"the bound on other models of {models} is 0, which says nothing: certify it, or take a larger ridge"
    return f"no model of {models} can be more than {percent(bound.gap)} better"


@how_much_better.register
def _(bound: NoBound) -> str:
    said = f"without a ridge there is no bound on other models of {_many(bound.k, bound.counted)}"
    return said if bound.ridge is None else f"{said}; ridge={bound.ridge:.1g} gives one"


def percent(share: float) -> str:
    """A share in per cent, of two digits, and never less than it is."""
    digits = 10.0 ** (np.floor(np.log10(100.0 * share)) - 1.0)
    return f"{np.ceil(100.0 * share / digits - 1e-9) * digits:.3g} %"
