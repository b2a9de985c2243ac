"""Why a fit stopped."""

from enum import Enum


class StopReason(Enum):
    """Why a fit stopped; the value is its name in files and in `--json`."""

    CERTIFIED_GAP = "certified-gap"
    SWAP_OPTIMAL = "swap-optimal"
    SEARCHED_ALL = "searched-all"
    STATIONARY = "stationary"
    ZERO_LOSS = "zero-loss"
    PURSUIT_ENDED = "pursuit-ended"
    SUPPORTS_REFITTED = "supports-refitted"
    OBJECTIVE_STALLED = "objective-stalled"
    GAP_ABOVE_TOL = "gap-above-tol"
    RESIDUAL_ABOVE_TOL = "residual-above-tol"
    ROUNDING = "rounding"
    SEARCH_LIMIT = "search-limit"
    MAX_PASSES = "max-passes"
    LAST_STEP = "last-step"
    INTERRUPTED = "interrupted"
    STREAM_ENDED = "stream-ended"

    @property
    def converged(self) -> bool:
        """Whether the method reached what it aims for, with a proof or without."""
        return self in CONVERGED

    @property
    def certified(self) -> bool:
        """Whether it is proved, for all models of the kind and not only for those that were tried."""
        return self in (StopReason.CERTIFIED_GAP, StopReason.SWAP_OPTIMAL, StopReason.SEARCHED_ALL)


CONVERGED = frozenset(
    {
        StopReason.CERTIFIED_GAP,
        StopReason.SWAP_OPTIMAL,
        StopReason.SEARCHED_ALL,
        StopReason.STATIONARY,
        StopReason.ZERO_LOSS,
        StopReason.PURSUIT_ENDED,
        StopReason.SUPPORTS_REFITTED,
        StopReason.OBJECTIVE_STALLED,
    }
)
