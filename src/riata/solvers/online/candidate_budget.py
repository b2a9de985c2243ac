"""How many candidates solvers 'online' and 'sketch' have for k features: as many as pay, and as there is room for."""

from dataclasses import dataclass

import numpy as np

from riata.errors import OptionError
from riata.solvers.online import top_k

CANDIDATES = 3  # for each of k
EXTRA = 400  # beyond k at most: the statistics are quadratic in their number
STATISTICS_SHARE = 0.7  # of the memory of a fit, for these; the rest is for rows and features


@dataclass(frozen=True)
class CandidateBudget:
    """The number of candidates for k features, where a fit may take so much memory."""

    k: int
    memory: int | None = None  # bytes; None: what has no room is refused elsewhere

    @property
    def most(self) -> int:
        """How many there are, at most."""
        wanted = min(CANDIDATES * self.k, self.k + EXTRA)
        if self.memory is None:
            return wanted
        return min(wanted, max(self.k, top_k.most_candidates(STATISTICS_SHARE * self.memory)))

    def check(self, n_features: int) -> None:
        """Refuse a k whose statistics there is no room for."""
        need = top_k.bytes_needed(min(self.k, n_features)) / STATISTICS_SHARE
        if self.memory is not None and need > self.memory:
            raise OptionError(
                f"solver 'online' needs at least {np.ceil(need / 1e6):.0f} MB for the products of k={self.k} features, "
                f"and memory is {self.memory / 1e6:.1f} MB; give it more, or ask for a smaller k"
            )
