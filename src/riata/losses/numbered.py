"""What losses with a parameter share: their names carry it, such as `tweedie:1.7`."""

from riata.losses.loss import Loss


class NumberedLoss(Loss):
    """A loss with one number to set, which its constructor takes."""

    family: str  # its name without the number

    def __init__(self, number: float) -> None:
        self.name = f"{self.family}:{number!r}"
