"""Features that are always in a model of k others (`local_quadratic`): at their best, whatever the others are.

The others are left with what these do not explain of them, a Schur complement: H - E'E, where E = L^-1 times the rows
of H of these features, and L L' is H among them.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class AlwaysIn:
    """Some features, none of which is a combination of the others."""

    columns: np.ndarray
    explained: np.ndarray  # E: a row for each of them
    root: np.ndarray  # the transpose of L^-1
    step: np.ndarray  # theirs, while the others stay where they are

    @classmethod
    def none(cls, d: int) -> "AlwaysIn":
        """No such feature, of d."""
        return cls(np.empty(0, dtype=np.int64), np.empty((0, d)), np.empty((0, 0)), np.empty(0))

    @classmethod
    def of(cls, columns: np.ndarray, rows: np.ndarray, slopes: np.ndarray) -> tuple["AlwaysIn", np.ndarray]:
        """From rows of H and slopes of all features; with it L^-1 times their own slopes."""
        inverse = np.linalg.inv(np.linalg.cholesky(rows[:, columns]))
        own = inverse @ slopes[columns]
        return cls(columns, inverse @ rows, inverse.T, -inverse.T @ own), own

    def __len__(self) -> int:
        return len(self.columns)

    def in_units(self, own: np.ndarray, others: np.ndarray) -> "AlwaysIn":
        """In other units: coefficients divided by `own`, and rows of H by `others` (infinity makes a row 0)."""
        of_data = own[self.columns]
        return AlwaysIn(self.columns, self.explained / others, self.root / of_data[:, None], self.step / of_data)

    def take_off(self, H: np.ndarray, left: np.ndarray, right: np.ndarray | slice) -> None:
        """Leave of some rows and columns of H what these features do not explain."""
        of_right = self.explained[:, right]
        for row, part in zip(H, self.explained[:, left].T, strict=True):  # a product would be as large as H
            row -= part @ of_right

    def times(self, w: np.ndarray) -> np.ndarray:
        """What is taken off H w, for coefficients of all features or columns of them."""
        return self.explained.T @ (self.explained @ w)

    def moved(self, others: np.ndarray) -> np.ndarray:
        """Their best steps where others move so far: for columns of such moves, a row each."""
        return self.step - (self.root @ (self.explained @ others)).T
