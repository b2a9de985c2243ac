"""What the page and the account say beside tables and figures, each sentence made of the run's own facts."""

from collections import Counter

from riata.reproduce.algorithms import ALGORITHMS, FULL, QUICK, Effort
from riata.reproduce.claims import Claim
from riata.reproduce.findings import Findings
from riata.reproduce.paper import BATCH, BESTS
from riata.reproduce.tables import nearest_reading
from riata.reproduce.verdicts import FAILS, HOLDS, IN_PART, UNKNOWN, describe, most_accurate

WHOSE = {
    "text": "the text's reading", "code": "the code's reading",
    "scored": "the code's reading, scored without intercept",
}  # fmt: skip
TOPICS = {
    "sparsity": "Sparsity and accuracy", "setting": "What a penalty means", "convergence": "Convergence",
    "cost": "Computation and memory",
}  # fmt: skip
MANY = {HOLDS: "hold", FAILS: "do not hold", IN_PART: "hold in part", UNKNOWN: "were not measured"}
TITLE = "Learning Large Scale Sparse Models, reproduced"
GISETTE = {  # UCI's description, and the paper's
    "rows": "6,000", "test rows": "1,000", "features": "5,000", "known probes": "2,500, not named",
    "values that are not zero": "about 13 %",
}  # fmt: skip


def lead(findings: Findings) -> str:
    """The experiment in two sentences."""
    facts = findings.facts
    return (
        f"The experiment of Dhingra, Shen and Kleene on {facts['data']}: {facts['rows']:,} rows and "
        f"{facts['features']:,} features, its eight algorithms in two readings (what its text says, and what its "
        "published code did), with riata's exact, best-k and online beside them."
        + (" This is the quick version: far fewer steps than the paper's." if findings.quick else "")
    )


def in_short(findings: Findings, judged: list[Claim]) -> str:
    """The verdicts counted, and the best sparse models."""
    counts = Counter(claim.verdict for claim in judged)
    verdicts = ", ".join(f"{n} {MANY[verdict] if n > 1 else verdict}" for verdict, n in counts.most_common())
    ours = most_accurate(p for p in findings.points if p.algorithm == "best-k" and p.strength <= 100)
    theirs = findings.best("l0-sgd", "code")
    said = f"Of {len(judged)} sentences of the paper that were tested: {verdicts}."
    if ours is not None and theirs is not None:
        said += f" The best of the paper's sparse online method: {describe(theirs)}. For comparison, {describe(ours)}."
    return said


def settings(findings: Findings) -> list[tuple[str, str]]:
    """How everything was run."""
    effort: Effort = QUICK if findings.quick else FULL
    seeds = ", ".join(map(str, range(findings.seeds)))
    return [
        ("rows", "divided by their norm; squared loss on labels −1 and +1, half the square as in the paper; no "
                 "intercept and no standardisation, except for the code's coordinate descent, which has both"),
        ("penalties", f"alpha = {_strengths('cd', 'text', findings)}; single rows and batches in the code's reading: "
                      f"{_strengths('fobos', 'code', findings)}, sub-gradients "
                      f"{_strengths('stoc-subgd', 'code', findings)}"),
        ("K", _strengths("l0-sgd", "code", findings)),
        ("batches", f"of {BATCH} rows, drawn without repetition"),
        ("text", f"steps 1/t (sub-gradients) and 1/√t (Fobos), {effort.text_passes} passes over the rows; the text "
                 "names no number. Coordinate descent as in Algorithm 1. Full sub-gradients take a constant step of "
                 "one over the largest curvature"),
        ("code", f"steps 2/t and 2/√t, and 1 for L0-SGD, for which the text names none; {effort.code_steps:,} single "
                 f"rows or {effort.code_batch_steps:,} batches. Coordinate descent with standardised columns and an "
                 "intercept, as MATLAB's lasso has by default"),
        ("scored", "the code's coordinate descent, scored as the code does: without the intercept"),
        ("batch methods", f"at most {effort.batch_passes} passes of coordinate descent and of full sub-gradients"),
        ("seeds", seeds if findings.seeds == 1 else
                  f"{seeds}; in the code's reading, away from the paper's own penalty or K, the first two of single "
                  "rows and the first of batches, which have two at the paper's own; and one where alpha is so large "
                  "that nothing is learnt"),
        ("diverged", "; ".join(
            f"{ALGORITHMS[fit['algorithm']].name}, {fit['reading']}, at {fit['strength']:g}"
            for fit in findings.failures
        ) or "no fit"),
        ("chosen", "on the test rows, as in the paper, which flatters every method alike"),
        ("quick", "yes: far fewer steps than the paper's, so the shape of the answer only" if findings.quick else "no"),
    ]  # fmt: skip


def _strengths(name: str, reading: str, findings: Findings) -> str:
    return ", ".join(f"{point.strength:g}" for point in findings.along(name, reading))


def comparison(findings: Findings) -> list[tuple[str, str, str]]:
    """(what, this data, Gisette): where they differ."""
    facts = findings.facts
    here = {
        "rows": f"{facts['rows']:,}", "test rows": f"{facts['test_rows']:,}", "features": f"{facts['features']:,}",
        "known probes": "not named" if facts["probes"] is None else f"{facts['probes']:,}, named",
        "values that are not zero": f"{facts['non_zeros']:.0%}",
    }  # fmt: skip
    return [(name, value, GISETTE[name]) for name, value in here.items()]


def on_the_data(findings: Findings) -> str:
    """What a reader must know of the data before comparing numbers with the paper's."""
    if findings.facts["data"] != "digits49":
        return "These are the paper's own rows: its test rows are UCI's validation set."
    return (
        "digits49 is a twin of Gisette, made of the same digits by the same recipe: pixels, products of pixels and as "
        "many probes, columns of noise. It is not the same table: Gisette's pairs of pixels and its probes were drawn "
        "by others and were never published, so accuracies agree in their pattern and not in their last digits. The "
        "pixels here are of MNIST's published training and test images. digits49 says which columns are probes, so "
        "that this page can count those that each method chose, which nobody can on Gisette. With --data gisette the "
        "same command runs on the real rows."
    )


def readings(findings: Findings) -> list[str]:
    """Which reading gives which row of the paper's Table 2."""
    said = []
    for name, paper in BESTS.items():
        nearest = nearest_reading(name, findings)
        point = None if nearest is None else findings.at(name, nearest, paper.strength)
        if point is not None:
            said.append(
                f"{ALGORITHMS[name].name}: {WHOSE[point.reading]}, {point.accuracy:.3f} with {point.share:.3f} of the "
                f"weights, where the paper has {paper.accuracy:.3f} with {paper.sparsity:.3f}"
            )
    return said
