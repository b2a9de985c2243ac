"""Progressive validation of probabilities: how good they were, each given before its row was learnt."""

from typing import NamedTuple

import numpy as np

from riata.kernels.progressive import add_scores

BINS, WIDEST = 4096, 16.0  # of margins from -WIDEST to WIDEST: rows of one bin count as ties
BINS_OF_A_DAY, MOST_DAYS = 1024, 400  # 16 kB a day


class ProgressiveScores(NamedTuple):
    """Scores of the probabilities of a stream; None where all rows are of one class."""

    rows: int
    log_loss: float
    normalised_entropy: float | None  # the log loss over that of the share of positives, known for all rows
    auc: float | None
    calibration: float | None  # the sum of the probabilities over the weight of the positives

    def in_words(self) -> str:
        parts = [f"log loss {self.log_loss:.4f}"]
        if self.normalised_entropy is not None and self.auc is not None:
            parts += [f"{self.normalised_entropy:.3f} of that of the share alone", f"AUC {self.auc:.3f}"]
        if self.calibration is not None:
            parts.append(f"{self.calibration:.3f} positives were predicted for each positive row")
        return ", ".join(parts)


class ScoresSoFar:
    """Sums over the rows so far, from which the scores follow; in a memory that does not grow."""

    def __init__(self, bins: int = BINS) -> None:
        self.rows, self.loss, self.predicted = 0, 0.0, 0.0
        self.weights = np.zeros((2, bins))  # of negative and of positive rows, by margin

    def add(self, y: np.ndarray, z: np.ndarray, weight: np.ndarray) -> None:
        """Rows of targets -1 and +1, with the margins of the log odds that they had before they were learnt."""
        loss, predicted = add_scores(y, z, weight, WIDEST, self.weights)
        self.rows, self.loss, self.predicted = self.rows + len(y), self.loss + loss, self.predicted + predicted

    def saved(self) -> tuple[list[float], np.ndarray]:
        """Plain numbers, and the weights by margin."""
        return [float(self.rows), self.loss, self.predicted], self.weights

    def restore(self, sums: list[float], weights: np.ndarray) -> None:
        """Go on from what was saved; what does not go together is a `ValueError`."""
        if weights.shape != self.weights.shape or weights.dtype != self.weights.dtype or len(sums) != 3:
            raise ValueError("the scores of earlier rows do not go together")
        self.rows, self.loss, self.predicted, self.weights = int(sums[0]), sums[1], sums[2], weights.copy()

    @property
    def log_odds(self) -> float | None:
        """Those of a positive row among all; None where all rows are of one class."""
        negative, positive = self.weights.sum(axis=1)
        return float(np.log(positive / negative)) if min(negative, positive) > 0.0 else None

    def scores(self, swapped: bool = False) -> ProgressiveScores | None:
        """The scores, of the other class as the positive one if `swapped`; None before the first row."""
        negative, positive = self.weights.sum(axis=1)
        total = negative + positive
        if total <= 0.0:
            return None
        log_loss = self.loss / total
        if min(negative, positive) <= 0.0:
            return ProgressiveScores(self.rows, log_loss, None, None, None)
        share = positive / total
        entropy = -share * np.log(share) - (1.0 - share) * np.log1p(-share)
        below = np.cumsum(self.weights[0]) - 0.5 * self.weights[0]
        auc = float(self.weights[1] @ below / (positive * negative))
        predicted, wanted = (total - self.predicted, negative) if swapped else (self.predicted, positive)
        return ProgressiveScores(self.rows, log_loss, float(log_loss / entropy), auc, float(predicted / wanted))


class ScoresByDay:
    """The same for every day, of which there are at most MOST_DAYS: rows of later ones are in none."""

    def __init__(self) -> None:
        self._of_days: dict[int, ScoresSoFar] = {}

    @property
    def of_days(self) -> dict[int, ScoresSoFar]:
        """By days since 1970."""
        return self._of_days

    def restore(self, day: int, sums: list[float], weights: np.ndarray) -> None:
        """Go on from what was saved of a day."""
        self._of_days[day] = ScoresSoFar(BINS_OF_A_DAY)
        self._of_days[day].restore(sums, weights)

    def add(self, days: np.ndarray, y: np.ndarray, z: np.ndarray, weight: np.ndarray) -> None:
        """Rows of these days, counted from 1970."""
        for day in np.unique(days).tolist():
            if day not in self._of_days and len(self._of_days) == MOST_DAYS:
                continue
            rows = days == day
            self._of_days.setdefault(day, ScoresSoFar(BINS_OF_A_DAY)).add(y[rows], z[rows], weight[rows])

    def scores(self, swapped: bool = False) -> dict[str, ProgressiveScores]:
        """The scores by day, in order, where there are at least two."""
        found = {str(np.datetime64(day, "D")): one.scores(swapped) for day, one in sorted(self._of_days.items())}
        known = {day: scores for day, scores in found.items() if scores is not None}
        return known if len(known) > 1 else {}
