"""What is known of the point where a method ended: a class for each kind of proof, with the numbers that belong to it.

`reason` is the reason for which a fit stops that has such a proof.
"""

from dataclasses import dataclass
from typing import ClassVar

from riata.outcome.reasons import StopReason


@dataclass(frozen=True)
class DualityGap:
    """No model of the kind has an objective lower by more than `relative` times the empty model's loss."""

    reason: ClassVar = StopReason.CERTIFIED_GAP
    missed: ClassVar = StopReason.GAP_ABOVE_TOL
    relative: float
    tol: float
    of_path: bool = False  # whether it is the largest of all models of a path

    @property
    def holds(self) -> bool:
        """Whether it is within the tolerance."""
        return self.relative <= self.tol


@dataclass(frozen=True)
class SwapOptimal:
    """No swap of one chosen feature, or group of them, for another lowers the objective.

    Where fewer than k are chosen, none of the others lowers it by coming in.
    """

    reason: ClassVar = StopReason.SWAP_OPTIMAL
    k: int
    n_others: int
    size: int  # how many are chosen
    counted: str = "features"  # or "groups", or "further" ones beside those that are always in
    n_refitted: int | None = None  # swaps that look best to second order, each refitted; None: all of them are known

    @property
    def full(self) -> bool:
        """Whether k are chosen, so that one more needs the place of another."""
        return self.size == self.k

    @property
    def compares_all(self) -> bool:
        """Whether there are no further models: a single feature is one swap away from all others."""
        if self.n_others <= 0:
            return self.full
        return self.k == 1 and self.n_refitted is None


@dataclass(frozen=True)
class SwapOptimalPath:
    """No swap improves the models of any size up to k."""

    reason: ClassVar = StopReason.SWAP_OPTIMAL
    counted: str = "features"  # or "groups"


@dataclass(frozen=True)
class SearchedAll:
    """No model of at most k features has an objective lower by more than `gap` of that of the one that was found."""

    reason: ClassVar = StopReason.SEARCHED_ALL
    k: int
    gap: float
    n_features: int
    n_out: int  # features that no better model can have
    n_in: int  # features that all of them must have
    n_parts: int  # of all models of the rest, each ruled out or tried
    counted: str = "features"  # or "groups", which the other numbers are of, too
    limit: float | None = None  # of coefficients, in units of standard deviations: of models within it


@dataclass(frozen=True)
class RefittedSupports:
    """Supports that are best for local models of the loss, refitted to the loss itself: this is no proof."""

    reason: ClassVar = StopReason.SUPPORTS_REFITTED
    n_local_models: int  # of which the better support was taken


@dataclass(frozen=True)
class Stationary:
    """No small change of the model lowers the objective: a far one may."""

    reason: ClassVar = StopReason.STATIONARY
    missed: ClassVar = StopReason.RESIDUAL_ABOVE_TOL
    residual: float  # the largest violation of an optimality condition, relative to the slopes at the start
    tol: float
    of_path: bool = False  # whether it is the largest of all models of a path

    @property
    def holds(self) -> bool:
        """Whether it is within the tolerance."""
        return self.residual <= self.tol


@dataclass(frozen=True)
class ZeroLoss:
    """The loss is as good as zero, which no model can beat."""

    reason: ClassVar = StopReason.ZERO_LOSS


@dataclass(frozen=True)
class AllTaken:
    """All features that there may be were taken, one after the other."""

    reason: ClassVar = StopReason.PURSUIT_ENDED
    k: int


@dataclass(frozen=True)
class SameSupport:
    """A gradient step would choose the same features again."""

    reason: ClassVar = StopReason.PURSUIT_ENDED


@dataclass(frozen=True)
class NoBetterRound:
    """Another round, with `times_k` times k further features to choose from, would not lower the loss."""

    reason: ClassVar = StopReason.PURSUIT_ENDED
    times_k: int


@dataclass(frozen=True)
class GlobalBound:
    """A bound on all models of at most k features, or groups of them: none has an objective below `value`."""

    k: int
    value: float
    objective: float  # of the model that was found
    counted: str = "features"  # or "groups"
    limit: float | None = None  # of models whose coefficients are within this limit, in units of standard deviations

    @property
    def gap(self) -> float:
        """How much better another model could be, as a share of the objective of the model that was found."""
        better = max(self.objective - self.value, 0.0)
        return better / self.objective if better else 0.0

    @property
    def is_best(self) -> bool:
        """Whether no model is better."""
        return self.gap <= NOTHING_BETTER


@dataclass(frozen=True)
class NoBound:
    """There is no such bound; `ridge` is one with which there would be a bound within a tenth."""

    k: int
    counted: str = "features"  # or "groups"
    ridge: float | None = None  # None: the slopes that would tell are not known


NOTHING_BETTER = 1e-8  # a gap of no more is the rounding of two objectives
Bound = GlobalBound | NoBound

Proof = (
    DualityGap
    | SwapOptimal
    | SwapOptimalPath
    | SearchedAll
    | RefittedSupports
    | Stationary
    | ZeroLoss
    | AllTaken
    | SameSupport
    | NoBetterRound
)
