"""What work went into a minimum along columns, in entries of a dense column in a sweep: by it the next is chosen."""

from dataclasses import dataclass

ROUND = 3e5  # what a round of sweeps, or a step, costs besides


@dataclass
class Effort:
    """What went into sweeps since the last Newton step: over one quadratic, and over all on the way to a minimum.

    Conjugate gradients have some of the work that went into sweeps since their last step; and twice the work of that,
    if it gained more for its work than sweeps did.
    """

    here: float = 0.0
    in_all: float = 0.0
    for_conjugate: float = 0.0

    def add(self, cost: float) -> None:
        self.here, self.in_all = self.here + cost, self.in_all + cost

    def pays(self, newton_cost: float, settled: bool) -> bool:
        """Whether a Newton step is due; earlier quadratics count where the last sweeps left all signs as they were."""
        return newton_cost <= (self.in_all if settled else self.here)
