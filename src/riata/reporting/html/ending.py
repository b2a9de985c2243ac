"""What is known of other models where a fit ended: all parts of a page tell it in these words."""

from dataclasses import dataclass
from enum import Enum

from riata.model.training_facts import TrainingFacts
from riata.outcome.proofs import GlobalBound
from riata.outcome.reasons import StopReason
from riata.outcome.sentences import percent


class Certainty(Enum):
    """What is proved; the value is the mark that a page has for it."""

    BEST = "●"  # no model of the kind is better
    PARTLY = "◐"  # none is better by more than a bound, or none near by
    NONE = "○"


@dataclass(frozen=True)
class Ending:
    """The end of a fit in words."""

    certainty: Certainty
    tile: tuple[str, str]  # a word or number for the top of the page, and a note on it
    begins: str  # the sentence that says why it stopped
    found: str  # whether the model that was asked for was found


FOUND = "It was found, with a proof."
NEARBY = {
    StopReason.SWAP_OPTIMAL: ("no swap helps", "no swap of one feature is better; other models may be"),
    StopReason.STATIONARY: ("locally best", "no small change is better; other models may be"),
}
WITHOUT_PROOF = {
    StopReason.INTERRUPTED: "the fit was interrupted",
    StopReason.PURSUIT_ENDED: "found by a quick search",
    StopReason.SUPPORTS_REFITTED: "found by a quick search",
    StopReason.OBJECTIVE_STALLED: "the objective stood still",
}


def ending(training: TrainingFacts) -> Ending:
    """What is known at the end of a fit; of several classes, what holds for all of them."""
    return _by_gap(training) or _by_bounds(training) or _by_reasons(training)


def _by_gap(training: TrainingFacts) -> Ending | None:
    if training.gap is None:
        return None
    size = f"{training.gap:.1e}".replace("e-0", "e-")
    if training.converged:
        return Ending(Certainty.BEST, (size, "certified relative gap"), "Certified:", FOUND)
    tile = size, "relative gap; it stopped early"
    return Ending(Certainty.PARTLY, tile, "It stopped before it was certified:", "This one is not there yet.")


def _by_bounds(training: TrainingFacts) -> Ending | None:
    bounds = [bound for bound in training.bound if isinstance(bound, GlobalBound) and bound.value > 0.0]
    if not bounds or len(bounds) < len(training.bound):
        return None
    worst = max(bounds, key=lambda bound: bound.gap)
    note = f"no model of as many {worst.counted} is better"
    if worst.is_best:
        return Ending(Certainty.BEST, ("the best", note), "Proved:", FOUND)
    most = percent(worst.gap)
    found = f"That this one is the best is not proved: others may be better by up to {most}."
    begins = "Proved in part:" if training.converged else "It stopped before all was proved:"
    return Ending(Certainty.PARTLY, (most, f"{note} by more"), begins, found)


def _by_reasons(training: TrainingFacts) -> Ending:
    reasons = set(training.stop) - {StopReason.ZERO_LOSS}
    if training.stop and not reasons:
        return Ending(Certainty.BEST, ("loss zero", "no model has a smaller one"), "It arrived:", FOUND)
    for reason, (value, note) in NEARBY.items():
        if reasons == {reason}:
            found = f"That this one is the best is not proved: {note}."
            return Ending(Certainty.PARTLY, (value, note), "Proved of models near by alone:", found)
    note = next((words for reason, words in WITHOUT_PROOF.items() if reason in reasons), "why is below")
    why = "" if note == "why is below" else f": {note.replace('found', 'it was found')}"
    begins = "Not certified:" if training.converged else "Not certified; it stopped because"
    return Ending(Certainty.NONE, ("none", note), begins, f"That this one is the best is not proved{why}.")
