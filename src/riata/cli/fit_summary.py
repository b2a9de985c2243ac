"""What `riata fit` tells of a model: how good it is, and what to do next."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_MISSED = 4  # classes without a row that is found, of which the names are given


@dataclass(frozen=True)
class Scores:
    """How good a model is on the rows it was fitted to, and on others, where that is known."""

    train: Any
    test: Any
    passes: float  # over the rows it was fitted to, to find that out

    @property
    def known(self) -> dict[str, Any]:
        return {name: one for name, one in (("train", self.train), ("test", self.test)) if one is not None}


def scores_of(model: Any, rows: Any, test: Any) -> Scores:
    """How good a model is on the rows it was fitted to, and on those of a test."""
    from riata.model.quality import quality
    from riata.model.quality.training_rows import training_quality

    passes_before = rows.passes
    of_training = training_quality(model, rows)
    passes = 0.0 if rows.cheap_passes else rows.passes - passes_before
    return Scores(of_training, None if test is None else quality(model, test), passes)


def summary_of(model: Any, scores: Scores, data: str, seconds: float) -> dict[str, Any]:
    """What is told of a fitted model, as plain values."""
    from riata.machine import peak_rss_mb
    from riata.reporting.terminal.fit_summary import as_dict

    return as_dict(model) | {
        "data": data, "seconds": round(seconds, 3), "peak_rss_mb": peak_rss_mb(),
        "train": None, "test": None, **{name: one.scores for name, one in scores.known.items()},
        "baseline": {name: one.baseline for name, one in scores.known.items()},
        "passes_to_score": round(scores.passes, 2),
    }  # fmt: skip


def show(model: Any, summary: dict[str, Any], scores: Scores) -> None:
    """Print the model and how good it is."""
    from riata.reporting.terminal.fit_summary import show_fit

    words = {"train": "training rows", "test": "test rows"}
    show_fit(model, summary, {words[name]: one for name, one in scores.known.items()})


def more_options(test_data: str | None, report: Path | None) -> list[str]:
    """What the same command can tell if more is asked, as a list that may be empty."""
    more = {"--test OTHER to score it on other rows": test_data, "--report page.html for a page about it": report}
    wanting = " and ".join(option for option, given in more.items() if given is None)
    return [f"the same command with {wanting}"] if wanting else []


def what_finds_more(model: Any, scores: Scores, options: dict[str, Any]) -> list[str]:
    """What helps a model that never predicts one of its classes, as a list that may be empty."""
    missed = never_found(list(scores.known.values())[-1:]) if model.classes is not None else None
    if missed is None or options["class_weight"] is not None or options["threshold"] is not None:
        return []
    decides = len(model.classes) == 2 and model.link_function.probabilities
    side = "lower" if missed == str(model.classes[1]) else "higher"  # the threshold is that of the second class
    threshold = f" or a {side} --threshold" if decides else ""
    return [f"no row of {missed} is found: --class-weight balanced{threshold} finds more of them"]


def never_found(found: list[Any]) -> str | None:
    """The classes that have rows, none of which are predicted to be of them; None where there are none such."""
    missed = [str(score.label) for one in found for score in one.by_class if score.recall == 0 and score.weight > 0]
    if len(missed) > MOST_MISSED:
        return f"{', '.join(missed[:MOST_MISSED])} and {len(missed) - MOST_MISSED} other classes"
    return " or ".join(filter(None, (", ".join(missed[:-1]), missed[-1]))) if missed else None
