"""What losses with a parameter share: their names carry it, such as `tweedie:1.7`."""

from riata.losses.loss import Loss


class NumberedLoss(Loss):
    """A loss with one number to set, which its constructor takes."""

    family: str  # its name without the number
    by_spread: float | None = None  # the number where none is given, in spreads of the targets; None: it has a default

    def __init__(self, number: float | None) -> None:
        self.name = self.family if number is None else f"{self.family}:{float(number)!r}"
