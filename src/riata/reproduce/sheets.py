"""Tables as people read them, for the page and for the account alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from riata.reporting.html.numbers import duration, short
from riata.reproduce.algorithms import ALGORITHMS
from riata.reproduce.findings import Findings
from riata.reproduce.tables import NEAR_BEST, TARGETS, Row, nearest_reading, table1, table2, times_to_accuracy

NONE = "–"


@dataclass(frozen=True)
class Sheet:
    """Titles of columns and rows of texts."""

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    texts: int = 1  # columns of words, before those of numbers


def sheet1(findings: Findings) -> Sheet:
    """Table 1."""
    columns = (
        "algorithm", "a step", "grows as", "paper", "memory", "grows as", "paper", "rate", "paper", "sparsest", "paper",
    )  # fmt: skip
    rows = [
        (
            row["algorithm"], _time(row), _powers(row["time_by_n"], row["time_by_d"]), row["paper_computation"] or NONE,
            NONE if row["most_mb"] is None else f"{row['most_mb']:.0f} MB",
            _powers(row["memory_by_n"], row["memory_by_d"]), row["paper_memory"] or NONE,
            NONE if row["rate"] is None else f"T^{_signed(-row['rate'])}", row["paper_rate"] or NONE,
            NONE if row["share"] is None else f"{row['share']:.4f} ({row['share_accuracy']:.3f})",
            row["paper_sparsity"] or NONE,
        )
        for row in table1(findings)
    ]  # fmt: skip
    note = (
        "Time of one step (of a whole fit for exact and best-k) at the largest shape measured, and peak memory above a "
        "tiny fit, with the powers of n and d that fit the measurements; the paper's O() beside them, m being the 20 "
        "rows of a batch. Rate: the power of the number of steps T with which the objective approaches the least there "
        "is, median over penalties or k. Sparsest: the share of weights that are not zero in the sparsest model within "
        f"{NEAR_BEST} of the method's best accuracy, and its accuracy; the paper's scores go from 1 to 4, the sparsest."
    )
    return Sheet("table1", "Table 1: costs, convergence, sparsity", note, columns, rows)


def sheet2(findings: Findings) -> Sheet:
    """Table 2."""
    columns = (
        "algorithm", "reading", "accuracy", "share", "features (probes)", "at", "the paper",
        "here at the paper's", "nearer",
    )  # fmt: skip
    nearest = {ALGORITHMS[name].name: nearest_reading(name, findings) for name in ALGORITHMS}
    rows = [
        (
            row["algorithm"], row["reading"], _accuracy(row["accuracy"], row["accuracy_spread"]), _share(row["share"]),
            f"{row['features']:.0f}" + ("" if row["probes"] is None else f" ({row['probes']:.0f})"),
            _strength(row["takes"], row["strength"]),
            _papers(row), _there(row),
            "yes" if nearest[row["algorithm"]] == row["reading"] else "",
        )
        for row in table2(findings)
    ]  # fmt: skip
    spread = "with the standard deviation over seeds, " if findings.seeds > 1 else ""
    note = (
        f"The most accurate model of every method on the test rows, {spread}and the share of its weights that are not "
        "zero; the paper's row; accuracy and share here at the paper's own penalty or K, and which reading comes "
        "nearer to the paper there. Models are chosen on the test rows, as in the paper, which flatters all alike."
    )
    return Sheet("table2", "Table 2: the best models", note, columns, rows, texts=2)


def sheet_of_times(findings: Findings) -> Sheet:
    """Time to a given accuracy."""
    known = {(row["algorithm"], row["target"]): row for row in times_to_accuracy(findings)}
    rows = []
    for algorithm in ALGORITHMS.values():
        cells = [known[algorithm.name, target] for target in TARGETS]
        rows.append((algorithm.name, *(_soonest(cell, algorithm.takes) for cell in cells)))
    note = "Seconds in the solver until a test accuracy was first reached, at the strength where that was soonest."
    columns = ("algorithm", *(f"to {target}" for target in TARGETS))
    return Sheet("times", "Time to a given accuracy", note, columns, rows)


def _soonest(cell: Row, takes: str) -> str:
    if cell["seconds"] is None:
        return "never"
    return f"{duration(cell['seconds'])} ({_strength(takes, cell['strength'])})"


def _time(row: Row) -> str:
    seconds = row["seconds_of_a_step"]
    if seconds is None:
        return NONE
    return f"{1e6 * seconds:.1f} µs" if seconds < 1e-3 else f"{1e3 * seconds:.1f} ms"


def _powers(by_n: float | None, by_d: float | None) -> str:
    """n^0.02 d^0.98; a dash where neither is known."""
    known = [f"{name}^{_signed(power)}" for name, power in (("n", by_n), ("d", by_d)) if power is not None]
    return " ".join(known) or NONE


def _signed(power: float) -> str:
    return f"{power + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _accuracy(value: float | None, spread: float | None = None) -> str:
    if value is None:
        return NONE
    return f"{value:.4f}" if spread is None else f"{value:.4f} ± {spread:.4f}"


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.4f}"


def _strength(takes: str, value: float | None) -> str:
    if value is None:
        return NONE
    return f"K = {value:.0f}" if takes == "k" else short(value)


def _papers(row: Row) -> str:
    if row["paper_accuracy"] is None:
        return NONE
    at = _strength(row["takes"], row["paper_strength"])
    return f"{row['paper_accuracy']:.4f}, {row['paper_share']:.4f} at {at}"


def _there(row: Row) -> str:
    return NONE if row["accuracy_there"] is None else f"{row['accuracy_there']:.4f}, {row['share_there']:.4f}"
