"""The paper's sentences on convergence, computation and memory."""

from collections.abc import Iterable

from riata.reproduce.algorithms import ALGORITHMS
from riata.reproduce.findings import Findings, Point
from riata.reproduce.fits import EARLY
from riata.reproduce.memory import BUDGET
from riata.reproduce.verdicts import FAILS, FOBOS, HOLDS, NOT_MEASURED, SUBGRADIENTS, Found, Test, verdict
from riata.units import parse_bytes

SINGLE_ROWS = ("fobos", "round-fobos", "stoc-subgd", "l0-sgd")
ENOUGH = 10  # passes, to call an objective restless or calm
RESTLESS, CALM = 0.1, 0.02  # share of passes in which the objective rises


def l0_is_fastest(findings: Findings) -> Found:
    """Mean loss, without the penalty, early and at the end; each method at the strength that is best."""
    ways = {name: findings.along(name, "code") for name in SINGLE_ROWS}
    if not all(ways.values()):
        return NOT_MEASURED
    first = {
        name: min(note["loss"] for point in points for note in point.trace if note["steps"] <= EARLY[-1])
        for name, points in ways.items()
    }
    last = {name: min(point.trace[-1]["loss"] for point in points) for name, points in ways.items()}
    said = "; ".join(f"{ALGORITHMS[name].name} {first[name]:.4f}, {last[name]:.4f}" for name in SINGLE_ROWS)
    return Found(
        verdict(min(losses, key=lambda name: losses[name]) == "l0-sgd" for losses in (first, last)),
        f"Least mean loss within {EARLY[-1]:,} steps, and at the end, with the code's steps: {said}.",
    )


def small_alphas_are_best(findings: Findings) -> Found:
    ways = [points for name in (*FOBOS, *SUBGRADIENTS) for r in ("text", "code") if (points := findings.along(name, r))]
    best = [min(points, key=lambda point: point.mean("objective")) for points in ways]
    least = [points[0].strength == chosen.strength for points, chosen in zip(ways, best, strict=True)]
    others = "".join(
        f"; {point.label} at {point.strength:g}" for point, is_least in zip(best, least, strict=True) if not is_least
    )
    return Found(
        verdict(least),
        f"The final objective is least at the smallest alpha in {sum(least)} of {len(least)} cases{others}.",
    )


def large_sizes_are_best(findings: Findings) -> Found:
    points = findings.along("l0-sgd", "code")
    if len(points) < 2:
        return NOT_MEASURED
    best = min(points, key=lambda point: point.mean("loss"))
    said = ", ".join(f"{point.strength:g}: {point.mean('loss'):.3f}" for point in points)
    larger = best.strength >= sorted(point.strength for point in points)[len(points) // 2]
    return Found(HOLDS if larger else FAILS, f"Final mean loss by K: {said}.")


def rises_of(names: Iterable[str], findings: Findings) -> dict[Point, float]:
    """At the least alpha, or the largest k: the share of passes in which the objective rose."""
    found = {}
    for name in names:
        for reading in ALGORITHMS[name].readings:
            points = findings.along(name, reading)
            if points:
                point = points[0] if ALGORITHMS[name].takes == "alpha" else points[-1]
                if point.mean("passes") >= ENOUGH:
                    found[point] = point.mean("rises")
    return found


def _rises_in_words(rises: dict[Point, float]) -> str:
    if not rises:
        return NOT_MEASURED.evidence
    said = "; ".join(f"{p.label} {share:.0%}" for p, share in rises.items())
    return f"Looked at once a pass, at the least alpha or the largest K, the objective rose this often: {said}."


def single_rows_are_restless(findings: Findings) -> Found:
    rises = rises_of(("fobos", "round-fobos", "l0-sgd"), findings)
    return Found(verdict(share >= RESTLESS for share in rises.values()), _rises_in_words(rises))


def others_are_monotone(findings: Findings) -> Found:
    rises = rises_of(("stoc-subgd", "mini-subgd", "mini-fobos"), findings)
    return Found(verdict(share <= CALM for share in rises.values()), _rises_in_words(rises))


def subgradients_are_slower(findings: Findings) -> Found:
    """At the least alpha, how far each is above the optimum at the end."""
    pairs = [
        (slow[0], fast[0])
        for name, other in (("stoc-subgd", "fobos"), ("mini-subgd", "mini-fobos"))
        for reading in ("text", "code")
        if (slow := findings.along(name, reading)) and (fast := findings.along(other, reading))
    ]
    said = "; ".join(
        f"{slow.label} ends at {slow.mean('objective'):.3f}, {fast.label} at {fast.mean('objective'):.3f}"
        for slow, fast in pairs
    )
    return Found(
        verdict(slow.mean("objective") > fast.mean("objective") for slow, fast in pairs), f"Objectives: {said}."
    )


def memory_without_rows(findings: Findings) -> Found:
    grows = {
        name: findings.exponent("memory", name, "n")
        for name in (*FOBOS, *SUBGRADIENTS, "l0-sgd")
        if findings.costs("memory", name, "n")
    }
    said = "; ".join(f"{ALGORITHMS[name].name} n^{exponent:.2f}" for name, exponent in grows.items())
    return Found(verdict(exponent <= 0.1 for exponent in grows.values()), f"Memory above a tiny fit grows as {said}.")


def order_of_magnitude(findings: Findings) -> Found:
    batch, online = findings.costs("memory", "cd", "n"), findings.costs("memory", "fobos", "n")
    if not batch or not online:
        return NOT_MEASURED
    rows, most = batch[-1]
    least = max(online[-1][1], 1.0)  # less cannot be told from chance
    return Found(
        HOLDS if most >= 10 * least else FAILS,
        f"With {rows:,} rows coordinate descent needs {most:.0f} MB, Fobos {least:.0f} MB or less: a factor of "
        f"{most / least:.0f} or more, which grows with the rows.",
    )


def batch_needs_all_rows(findings: Findings) -> Found:
    """The exact Lasso from a file, in a budget."""
    held, budgeted = findings.costs("memory", "cd", "n"), findings.costs("memory", "exact", "n")
    if not held or not budgeted:
        return NOT_MEASURED
    rows, most = budgeted[-1]
    within = most <= (parse_bytes(BUDGET) or 0) / 1e6
    return Found(
        FAILS if within else HOLDS,
        f"With {rows:,} rows riata's exact, a batch method with a certificate, needs {most:.0f} MB of its budget of "
        f"{BUDGET}, and coordinate descent {held[-1][1]:.0f} MB; from the smallest to the largest number of rows the "
        f"former grows as n^{findings.exponent('memory', 'exact', 'n'):.2f}, the latter as "
        f"n^{findings.exponent('memory', 'cd', 'n'):.2f}.",
    )


def steps_cost_d(findings: Findings) -> Found:
    names = [name for name in (*FOBOS, *SUBGRADIENTS, "l0-sgd") if findings.costs("time", name, "n")]
    by_n = {name: findings.exponent("time", name, "n") for name in names}
    by_d = {name: findings.exponent("time", name, "d") for name in names}
    said = "; ".join(f"{ALGORITHMS[name].name} n^{by_n[name]:.2f} d^{by_d[name]:.2f}" for name in names)
    return Found(
        verdict(by_n[name] < 0.35 and 0.5 < by_d[name] < 1.35 for name in names),
        f"Seconds of a step on dense rows grow as {said} (small powers of n are the caches of the processor).",
    )


TESTS = (
    Test("convergence", "L0-SGD has the fastest rate of convergence among the online methods.", l0_is_fastest),
    Test("convergence", "Small penalties give the best convergence.", small_alphas_are_best),
    Test("convergence", "L0-SGD converges best for larger K.", large_sizes_are_best),
    Test("convergence", "The objective of Fobos on single rows, of its rounds and of L0-SGD is highly variable.",
     single_rows_are_restless),
    Test("convergence", "The objective of stochastic sub-gradients and of both mini-batch methods falls monotonically.",
     others_are_monotone),
    Test("convergence", "Sub-gradients converge much more slowly than Fobos.", subgradients_are_slower),
    Test("cost", "A step of an online method costs O(d), whatever the number of samples.", steps_cost_d),
    Test("cost", "The memory of online methods is independent of the sample size.", memory_without_rows),
    Test("cost", "Compared to batch methods, memory is reduced by one order of magnitude.", order_of_magnitude),
    Test("cost", "Batch methods must hold all samples, and are not practical for huge sample sizes.",
         batch_needs_all_rows),
)  # fmt: skip
