"""What is known of the features that were no candidates of an exact fit."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rest:
    """The features outside of a fit: how many of them would enter, and how much all of them could gain."""

    n_candidates: int
    n_others: int
    n_above: int | None = None  # whose slopes exceed the penalty, so that they would enter; None: not looked at
    largest: float | None = None  # slope, in units of the penalty
    gap: float | None = None  # over all features, relative to the empty model's loss

    def in_words(self) -> str:
        """What is known of them, in a sentence."""
        of = f"the fit is over {self.n_candidates:,} candidates"
        if not self.n_others:
            return f"{of}, which are all features"
        if self.n_above is None or self.largest is None or self.gap is None:
            return f"{of}; of the {self.n_others:,} other features nothing is known"
        best = f"no model of all features is better by more than {self.gap:.1e} of the loss without features"
        if not self.n_above:
            return f"{of}, and none of the {self.n_others:,} other features would enter: {best}"
        return (
            f"{of}; of the {self.n_others:,} other features {self.n_above:,} would enter, with slopes up to "
            f"{self.largest:.3g} times the penalty, and {best}"
        )
