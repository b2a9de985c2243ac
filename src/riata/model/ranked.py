"""The features of a model in the order of their effects, each made when it is asked for: there may be very many."""

from collections.abc import Sequence
from typing import overload

import numpy as np

Feature = tuple[str, np.ndarray, np.ndarray]  # its name, its coefficients and its effects, one for each margin


class Ranked(Sequence[Feature]):
    """Features with coefficients and effects (of one standard deviation), the largest effect first."""

    def __init__(self, names: Sequence[str], coef: np.ndarray, deviations: Sequence[float]) -> None:
        self._names, self._coef, self._effect = names, coef, coef * np.asarray(deviations)
        self._order = np.argsort(-np.abs(self._effect).max(axis=0, initial=0.0), kind="stable")

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, i: int) -> Feature: ...

    @overload
    def __getitem__(self, i: slice) -> list[Feature]: ...

    def __getitem__(self, i: int | slice) -> Feature | list[Feature]:
        if isinstance(i, slice):
            return [self._at(j) for j in self._order[i].tolist()]
        return self._at(int(self._order[i]))

    def _at(self, j: int) -> Feature:
        return self._names[j], self._coef[:, j], self._effect[:, j]
