"""What all formats of cells offer."""

from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc


class CellFormat(ABC):
    """How the cells of a column are written. A frozen dataclass of plain values."""

    kind: ClassVar[str]
    type: ClassVar[pa.DataType]  # of the values

    @abstractmethod
    def valid(self, strings: pa.Array) -> pa.Array:
        """Which of these strings are written so; null for a null."""

    @abstractmethod
    def parse(self, strings: pa.Array) -> pa.Array:
        """The values of strings that are all valid."""

    @abstractmethod
    def said(self) -> str:
        """How cells are written in this format, for a note about such columns."""

    def reads(self, strings: pa.Array) -> bool:
        """Whether all strings are written so."""
        return bool(pc.all(self.valid(strings)).as_py() is not False)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]  # every format is a dataclass
