"""The paper's sentences on sparsity, accuracy and what its penalties mean."""

from itertools import pairwise

from riata.reporting.html.numbers import count
from riata.reproduce.algorithms import ALGORITHMS, PAPERS
from riata.reproduce.findings import Findings
from riata.reproduce.paper import CD_RANGE
from riata.reproduce.verdicts import (
    ACCURATE,
    FAILS,
    FOBOS,
    HOLDS,
    IN_PART,
    NOT_MEASURED,
    SPARSE,
    SUBGRADIENTS,
    Found,
    Test,
    all_points,
    describe,
    is_sparse_enough,
    most_accurate,
    verdict,
)


def same_alpha_online(findings: Findings) -> Found:
    """Fobos against coordinate descent on the very same problem."""
    pairs = [
        (batch, online)
        for batch in findings.along("cd", "text")
        if (online := findings.at("fobos", "text", batch.strength)) and 0 < batch.share < 0.9
    ]
    evidence = "; ".join(
        f"alpha {batch.strength:g}: {count(round(batch.features), 'feature')} by coordinate descent, "
        f"{online.features:,.0f} by Fobos"
        for batch, online in pairs
    )
    return (
        Found(verdict(online.features > 1.5 * batch.features for batch, online in pairs), evidence)
        if pairs
        else NOT_MEASURED
    )


def online_is_never_sparse(findings: Findings) -> Found:
    """One sparse and accurate online model refutes it."""
    best = most_accurate(filter(is_sparse_enough, all_points(["online"], findings)))
    fobos = most_accurate(filter(is_sparse_enough, all_points(FOBOS, findings)))
    if best is None:
        return NOT_MEASURED
    against = f" The best sparse model of Fobos is {describe(fobos)}." if fobos else " Fobos has no sparse model here."
    return Found(
        FAILS if best.accuracy >= ACCURATE else HOLDS,
        f"{describe(best)}, after one pass with an L1 penalty, sparse at every step.{against} It is a property of "
        "Fobos, which forgets past penalties, and not of online learning.",
    )


def only_two_are_sparse(findings: Findings) -> Found:
    """Which of the paper's algorithms have a model that is sparse and accurate at once."""
    both = {
        name: best for name in PAPERS
        if (best := most_accurate(filter(is_sparse_enough, all_points([name], findings)))) and best.accuracy >= ACCURATE
    }  # fmt: skip
    found = HOLDS if set(both) == {"cd", "l0-sgd"} else IN_PART if {"cd", "l0-sgd"} <= set(both) else FAILS
    return Found(found, "Sparse and accurate at once: " + ("; ".join(map(describe, both.values())) or "none") + ".")


def alpha_orders_sparsity(findings: Findings) -> Found:
    """Along alpha the share of weights falls, except for sub-gradients, where it never moves."""
    curves = [(name, reading) for name in ("cd", *FOBOS) for reading in ALGORITHMS[name].readings]
    falls = {curve: _falls([point.share for point in findings.along(*curve)]) for curve in curves}
    dense = min((point.share for point in all_points(SUBGRADIENTS, findings)), default=0.0)
    not_so = [f"{ALGORITHMS[name].name} ({reading})" for (name, reading), fall in falls.items() if not fall]
    return Found(
        verdict([*falls.values(), dense > 0.98]),
        f"The share falls with alpha in {sum(falls.values())} of {len(falls)} curves of coordinate descent and Fobos"
        + (f" (not in {', '.join(not_so)})" if not_so else "")
        + f"; the least share of any stochastic sub-gradient model is {dense:.4f}.",
    )


def _falls(values: list[float]) -> bool:
    return all(later <= earlier + 0.005 for earlier, later in pairwise(values))


def sparse_fobos_is_chance(findings: Findings) -> Found:
    best = most_accurate(filter(is_sparse_enough, all_points(FOBOS, findings)))
    if best is None:
        empty = min((p.strength for p in findings.points if p.algorithm in FOBOS and p.features == 0), default=None)
        said = "no alpha of the grid gives one" + (f": from {empty:g} on models are empty" if empty else "")
        return Found(HOLDS, f"There is no sparse Fobos model that holds a feature, {said}; an empty one has 0.500.")
    return Found(
        HOLDS if best.accuracy <= 0.6 else FAILS,
        f"{describe(best)}: the most accurate Fobos model of at most {SPARSE:.0%} of the features. Empty models, which "
        "have 0.500, are easily counted among sparse ones.",
    )


def coordinate_descent_range(findings: Findings) -> Found:
    points = [p for p in findings.along("cd", "code") if CD_RANGE[0] <= p.strength <= CD_RANGE[1]]
    both = [is_sparse_enough(point) and point.accuracy >= ACCURATE for point in points]
    said = "; ".join(f"{p.strength:g}: {p.accuracy:.3f} with {count(round(p.features), 'feature')}" for p in points)
    return Found(verdict(both), f"In the code's reading, at alpha {said}.")


def same_alpha_same_problem(findings: Findings) -> Found:
    """The largest alpha that still chooses a feature, with and without standardisation."""
    largest = {
        reading: max((p.strength for p in findings.along("cd", reading) if p.features > 0), default=0.0)
        for reading in ("text", "code")
    }
    text, code = findings.at("cd", "text", 1e-2), findings.at("cd", "code", 1e-2)
    if text is None or code is None or not all(largest.values()):
        return NOT_MEASURED
    return Found(
        FAILS if largest["code"] > 2 * largest["text"] else HOLDS,
        f"{describe(text)}; {describe(code)}. The largest alpha of the grid with a feature is {largest['text']:g} on "
        f"the rows as they are, and {largest['code']:g} once columns are standardised, as the code's coordinate "
        "descent does and its Fobos does not: their rows of Table 2 are of different problems.",
    )  # fmt: skip


def intercept_is_idle(findings: Findings) -> Found:
    """What the code's scoring loses by leaving the intercept out."""
    points = [point for point in findings.along("cd", "code") if point.features > 0]
    if not points:
        return NOT_MEASURED
    worst = max(points, key=lambda point: abs(point.accuracy - point.mean("accuracy_without_intercept")))
    lost = worst.accuracy - worst.mean("accuracy_without_intercept")
    return Found(
        FAILS if abs(lost) >= 0.01 else HOLDS,
        f"{describe(worst)}; without the intercept it is {worst.accuracy - lost:.3f}, a difference of {lost:+.3f}: the "
        "largest over the grid.",
    )


def l0_over_sizes(findings: Findings) -> Found:
    points = findings.along("l0-sgd", "code")
    said = ", ".join(f"{p.strength:g}: {p.accuracy:.3f}" for p in points)
    return Found(
        verdict(p.accuracy >= ACCURATE for p in points), f"Accuracy by K: {said}; accurate is {ACCURATE} or more."
    )


def half_are_zero(findings: Findings) -> Found:
    best = findings.best("exact", "riata")
    if best is None:
        return NOT_MEASURED
    noise = "" if best.probes is None else f", {best.probes:.0f} of them probes"
    return Found(HOLDS if best.share <= 0.5 else FAILS, f"The most accurate exact Lasso is {describe(best)}{noise}.")


def chosen_features(findings: Findings) -> Found:
    """Whether hard thresholding of single-row steps tells signal from noise."""
    if not findings.facts["probes"]:
        return NOT_MEASURED
    chance = findings.facts["probes"] / findings.facts["features"]
    shares = {
        name: {p.strength: p.probes / p.features for p in all_points([name], findings) if p.probes is not None}
        for name in ("l0-sgd", "best-k")
    }
    if not shares["l0-sgd"]:
        return NOT_MEASURED
    said = "; ".join(
        f"{ALGORITHMS[name].name} " + ", ".join(f"{share:.0%} (K = {k:g})" for k, share in of_method.items())
        for name, of_method in shares.items()
    )
    return Found(
        verdict(share < 0.5 * chance for share in shares["l0-sgd"].values()),
        f"Share of probes among the features, by chance {chance:.0%}: {said}.",
    )


TESTS = (
    Test("sparsity", "With the same parameter, sparsity promoted by batch methods is not preserved in online fashion.",
     same_alpha_online),
    Test("sparsity", "None of the online L1 methods is capable of producing sparse solutions.", online_is_never_sparse),
    Test("sparsity", "Only coordinate descent and L0-SGD produce solutions that are sparse and accurate.",
         only_two_are_sparse),
    Test("sparsity", "As the penalty increases, so does the sparsity; sub-gradients are always dense.",
         alpha_orders_sparsity),
    Test("sparsity", "The accuracy of sparse Fobos solutions is extremely low (about 50 %).", sparse_fobos_is_chance),
    Test("sparsity", "Coordinate descent is sparse and accurate for penalties from 1e-2 to 6e-1.",
         coordinate_descent_range),
    Test("setting", "(implied) The same penalty in two rows of Table 2 is the same problem.", same_alpha_same_problem),
    Test("setting", "(implied) Coordinate descent may be scored without its intercept.", intercept_is_idle),
    Test("sparsity", "L0-SGD is sparse and accurate for K from 20 to 500.", l0_over_sizes),
    Test("sparsity", "A good Lasso solution sets at least half of the weights to zero.", half_are_zero),
    Test("sparsity", "(implied) The K features that L0-SGD keeps are the informative ones.", chosen_features),
)  # fmt: skip
