"""How a model was made: what its file holds under "training"."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from riata.outcome.folds_used import FoldsUsed
from riata.outcome.plain import bound_from_json, bound_to_json, proof_from_json, proof_to_json
from riata.outcome.proofs import Bound, Proof
from riata.outcome.reasons import StopReason
from riata.outcome.rest import Rest
from riata.schema import build, checked

PerClass = int | float | None | list[int | float | None]  # a value, or one for every class where there are several


@dataclass(frozen=True)
class TrainingFacts:
    """How a model was made, in plain values. None: not known, as nearly all is while a stream goes on."""

    solver: str | None = None
    k: PerClass = None
    ridge: PerClass = None  # beside k, where there is one
    selection: str | None = None  # why this k (and ridge) or alpha was chosen, in words
    alpha: PerClass = None
    n_rows: int | None = None
    objective_value: float | None = None
    gap: float | None = None
    converged: bool | None = None
    stopped_because: str | None = None  # in words
    passes: float | None = None
    seconds: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    stop: list[StopReason] = field(default_factory=list)  # why it stopped, for every margin
    proof: list[Proof | None] = field(default_factory=list)  # and what was proved
    bound: list[Bound | None] = field(default_factory=list)  # how much better any other k features could be
    how_much_better: str | None = None  # in words
    counted: str | None = None  # what k counts, as `Spec.counted`; None in files of earlier versions
    folds: FoldsUsed | None = None  # on which models were scored, where k or alpha was chosen on some
    penalty_factors: bool = False  # whether features were penalised by factors of their own
    baseline: list[float] | None = None  # what a model without features knows: the mean, or the shares of the classes
    progressive: dict[str, int | float | None] | None = None  # scores of rows of a stream, each before it was learnt
    progressive_by_day: dict[str, dict[str, int | float | None]] = field(default_factory=dict)  # and by day
    rest: Rest | None = None  # what is known of features that were no candidates, where the model was polished
    offset: str | None = None  # "offset" or "exposure", where rows had one
    data: str | None = None
    target: str | None = None

    def to_json(self) -> dict[str, Any]:
        """What a file holds; without an end of the fit only what is known."""
        ended = self.stopped_because is not None
        plain = {name: value for name, value in vars(self).items() if (name in _ALWAYS and ended) or value}
        if self.stop:
            plain["stop"] = [reason.value for reason in self.stop]
            plain["proof"] = [proof_to_json(proof) for proof in self.proof]
        if self.bound:
            plain["bound"] = [bound_to_json(bound) for bound in self.bound]
        if self.folds is not None:
            plain["folds"] = self.folds.to_json()
        if self.rest is not None:
            plain["rest"] = asdict(self.rest)
        return plain

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "TrainingFacts":
        """The facts in a file, of this version or of another: what has no name here is left out."""
        known = {one.name: plain[one.name] for one in fields(cls) if one.name in plain}
        names = {reason.value for reason in StopReason}
        stop = checked(list[str], known.get("stop", []), "'stop' of its training")
        proofs, bounds = (
            checked(list[dict[str, Any] | None], known.get(name, []), f"{name!r} of its training")
            for name in ("proof", "bound")
        )
        known["stop"] = [StopReason(name) for name in stop if name in names]
        known["proof"] = [proof_from_json(proof) for proof in proofs]
        known["bound"] = [bound_from_json(bound) for bound in bounds]
        if known.get("folds") is not None:
            known["folds"] = FoldsUsed.from_json(checked(dict[str, Any], known["folds"], "'folds' of its training"))
        if known.get("rest") is not None:
            known["rest"] = build(Rest, known["rest"], "'rest' of its training")
        return build(cls, known, "its training")


_ALWAYS = (
    "solver", "k", "selection", "alpha", "n_rows", "objective_value", "gap", "converged", "stopped_because", "passes",
    "seconds", "parameters",
)  # fmt: skip
