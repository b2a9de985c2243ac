"""Products of two columns: number times number, as in `price*size`, and number times level, as in `price*shop=A`."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from riata.data.columns.categories import Category, CategoryLearner
from riata.data.columns.column import Encoder, Learner, as_floats
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.explained import Labels
from riata.data.columns.numbers import Number, NumberLearner, check_finite
from riata.errors import DataError
from riata.scipy_later import sparse as sp

TIMES = "*"


@dataclass(frozen=True)
class Product(Encoder):
    """Products of the features of two columns, one of them a number at least; its missing values are the mean."""

    column: str  # the name of the product
    parts: tuple[Encoder, ...]
    kind = "product"

    def fault(self) -> str | None:
        kinds = [part.kind for part in self.parts]
        if len(kinds) != 2 or Number.kind not in kinds or not {*kinds} <= {Number.kind, Category.kind}:
            return "is not a product of a number with a number or with levels"
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(part.column for part in self.parts)

    @property
    def stem(self) -> str:
        return self.parts[0].column

    @property
    def names(self) -> Sequence[str]:
        left, right = (part.names for part in self.parts)
        return [f"{one}{TIMES}{other}" for one in left for other in right]

    def factors(self) -> list[tuple[str, str]]:
        """The names of the two features that each feature is the product of."""
        left, right = (part.names for part in self.parts)
        return [(one, other) for one in left for other in right]

    @property
    def width(self) -> int:
        return self.parts[0].width * self.parts[1].width

    @property
    def nonzeros(self) -> float:
        return self.parts[0].nonzeros * self.parts[1].nonzeros

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        left, right = (part.encode([column], np.float64) for part, column in zip(self.parts, columns, strict=True))
        with np.errstate(over="ignore"):
            if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
                product = left * right
                check_finite(product, self.column)
                return product.astype(dtype)
        numbers: Any
        levels: Any
        numbers, levels = (left, right) if isinstance(left, np.ndarray) else (right, left)
        repeated = np.repeat(numbers.ravel(), np.diff(levels.indptr))
        return sp.csr_array((repeated.astype(dtype), levels.indices, levels.indptr), shape=levels.shape)

    def narrowed(self, names: Collection[str]) -> "Product":
        wanted = [pair for name, pair in zip(self.names, self.factors(), strict=True) if name in set(names)]
        parts = tuple(part.narrowed([pair[i] for pair in wanted]) for i, part in enumerate(self.parts))
        return replace(self, parts=parts)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "column": self.column, "parts": [part.to_json() for part in self.parts]}


class ProductLearner(Learner):
    """Shows the two columns to learners of their own, and the product of two numbers to a third."""

    between = TIMES

    def __init__(self, columns: tuple[str, str], parts: tuple[Learner, ...]) -> None:
        self.columns, self.parts = columns, parts
        both = all(isinstance(part, NumberLearner) for part in parts)
        self.product = NumberLearner(TIMES.join(columns)) if both else None

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        for part, column in zip(self.parts, columns, strict=True):
            part.add([column], weight, None)
        if self.product is not None:
            left, right = (as_floats(column, name) for column, name in zip(columns, self.columns, strict=True))
            with np.errstate(over="ignore"):
                self.product.add([pa.array(left * right, from_pandas=True)], weight, None)
        self.single = self.product is None and all(part.single for part in self.parts)

    def merge(self, later: Self) -> None:
        for part, other in zip(self.parts, later.parts, strict=True):
            part.merge(other)
        if self.product is not None and later.product is not None:
            self.product.merge(later.product)
        self.single = self.single and later.single

    def encoder(self, n_rows: int) -> Product:
        parts = []
        for part in self.parts:
            encoder = part.encoder(n_rows)
            if not isinstance(encoder, Number | Category):
                raise DataError(
                    f"column {encoder.column!r} has too many levels for the product {TIMES.join(self.columns)!r}: "
                    "leave it out of interactions, or raise max_levels"
                )
            parts.append(replace(encoder, missing=False) if isinstance(encoder, Number) else encoder)
        return Product(TIMES.join(self.columns), tuple(parts))

    def summary(self) -> ColumnProfile:
        if self.product is not None:
            return self.product.summary()
        return next(part for part in self.parts if isinstance(part, CategoryLearner)).summary()

    @property
    def too_many_levels(self) -> bool:
        return any(isinstance(part, CategoryLearner) and part.buckets is not None for part in self.parts)
