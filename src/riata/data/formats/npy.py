"""Arrays in files: .npy, with random access, and .npz, whose arrays are read in parallel as streams.

The arrays of an .npz file may be compressed; they are decompressed as they are read, in bounded memory.
"""

import math
import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import fs

from riata.data.budget import in_words
from riata.data.columns.arrow_values import arrow_of
from riata.data.csr import check_entries
from riata.data.formats.damage import reason_of
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource
from riata.data.formats.source import DENSE, INDICES, TARGET, VALUES
from riata.data.formats.tables import dense_column, list_column, native
from riata.errors import DataError
from riata.machine import hold_still
from riata.visible_text import on_one_line


@dataclass(frozen=True)
class Layout:
    """The header of an .npy file."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int  # the position of the first number

    @property
    def row_bytes(self) -> int:
        return self.dtype.itemsize * math.prod(self.shape[1:])

    @property
    def n_bytes(self) -> int:
        return self.dtype.itemsize * math.prod(self.shape)


def read_layout(handle: Any, size: int, name: str) -> Layout:
    """The header at the start of `size` bytes, which must be enough for the array that it tells of."""
    try:
        version = np.lib.format.read_magic(handle)
        head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = head(handle)
        start = handle.tell()
    except Exception as error:  # a header is a Python literal: there is no end to what wrong ones make NumPy raise
        raise DataError(f"the header of {name} is damaged ({reason_of(error)}); save the array again") from error
    if dtype.hasobject:
        raise DataError(f"{name} is of Python objects, which cannot be read safely; save numbers or strings")
    layout = Layout(shape, fortran and len(shape) > 1, dtype, start)
    if min(shape, default=0) < 0 or layout.n_bytes > size - start:
        raise DataError(
            f"{name} is damaged or cut short: an array of shape {shape} takes {in_words(abs(layout.n_bytes))}, and "
            f"there are {in_words(size - start)}; write or fetch it again"
        )
    return layout


def as_column(values: np.ndarray) -> pa.Array:
    """The rows of an array as an Arrow column: values of one dimension, lists of more dimensions."""
    if values.ndim == 1:
        return arrow_of(values.view(np.uint8) if values.dtype == np.bool_ else values)
    return dense_column(values.reshape(len(values), int(np.prod(values.shape[1:]))))


class Npy(FileSource):
    """One array, with random access to its rows. One of its columns may be the target."""

    bare = fast = True
    n_rows: int

    def __init__(self, files: list[File], target: int | None = None, n_features: int | None = None) -> None:
        super().__init__(files)
        if len(files) > 1:
            raise DataError("several .npy files are not one array; open them one at a time, or as Parquet")
        with self.door(files[0]), files[0].seekable() as handle:
            self._layout = read_layout(handle, handle.size(), files[0].path)
        shape = self._layout.shape
        if not 1 <= len(shape) <= 2:
            raise DataError(f"{files[0].path} holds an array of {len(shape)} dimensions; riata needs rows and columns")
        if shape[1:] == (n_features,):
            target = None  # all columns are features
        if target is not None and not (len(shape) == 2 and -shape[1] <= target < shape[1]):
            raise DataError(f"{files[0].path} has no column {target}; it has {shape[-1]}, counted from 0")
        self.n_rows, self._target = shape[0], target
        with self.door(files[0]):
            self.schema = self._batch(None, 0, 0).schema

    def fingerprint(self) -> list[object]:
        return [*super().fingerprint(), self._target]

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        for start in range(0, self.n_rows, rows):
            yield self.slice(columns, start, start + rows)

    def slice(self, columns: Sequence[str], start: int, stop: int) -> pa.RecordBatch:
        return self._batch(columns, start, stop)

    def _batch(self, columns: Sequence[str] | None, start: int, stop: int) -> pa.RecordBatch:
        arrays = self._arrays(start, stop)
        names = list(arrays) if columns is None else list(columns)
        return pa.RecordBatch.from_arrays([as_column(arrays[name]) for name in names], names=names)

    def matrix_slice(self, columns: Sequence[str], start: int, stop: int) -> tuple[pa.RecordBatch, np.ndarray] | None:
        if self._target is None:
            return None
        arrays = self._arrays(start, stop)
        return pa.RecordBatch.from_arrays([as_column(arrays[TARGET])], names=[TARGET]), arrays[DENSE]

    def _arrays(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """Features and target of some rows; a view, unless the target is one of the inner columns."""
        values = self._values(start, stop)
        if self._target is None:
            return {DENSE if values.ndim > 1 else TARGET: values}
        target, last = self._target % values.shape[1], values.shape[1] - 1
        ends = {0: values[:, 1:], last: values[:, :-1]}
        X = ends[target] if target in ends else np.delete(values, target, axis=1)
        return {DENSE: X, TARGET: values[:, target]}

    def _values(self, start: int, stop: int) -> np.ndarray:
        start, stop = min(start, self.n_rows), min(stop, self.n_rows)
        if self.files[0].changed():
            raise DataError(self._changed())
        with self.door(self.files[0]):
            return native(self._rows(start, stop))

    def _rows(self, start: int, stop: int) -> np.ndarray:
        """Some rows as they are stored."""
        mapped = None
        if start < stop and not self._layout.fortran and isinstance(self.files[0].filesystem, fs.LocalFileSystem):
            mapped = self._mapped(start, stop)
        return self._read(start, stop) if mapped is None else mapped

    def _mapped(self, start: int, stop: int) -> np.ndarray | None:
        """A memory map of these rows only: the pages that were read are released with the array.

        None where nobody keeps the file from being cut short meanwhile, which would end the process.
        """
        layout = self._layout
        shape = (stop - start, *layout.shape[1:])
        at = layout.start + start * layout.row_bytes
        with open(self.files[0].path, "rb") as handle:
            if not hold_still(handle.fileno()):
                return None
            if os.fstat(handle.fileno()).st_size < at + (stop - start) * layout.row_bytes:
                raise DataError(self._changed())
            return np.asarray(np.memmap(handle, layout.dtype, "r", at, shape))  # has a copy of the handle

    def _read(self, start: int, stop: int) -> np.ndarray:
        layout, size = self._layout, stop - start
        with self.files[0].seekable() as handle:
            if not layout.fortran:
                handle.seek(layout.start + start * layout.row_bytes)
                flat = self._numbers(handle, size * math.prod(layout.shape[1:]))
                return flat.reshape(size, *layout.shape[1:])
            values = np.empty((size, *layout.shape[1:]), layout.dtype)
            for j in range(layout.shape[1]):
                handle.seek(layout.start + (j * layout.shape[0] + start) * layout.dtype.itemsize)
                values[:, j] = self._numbers(handle, size)
            return values

    def _numbers(self, handle: pa.NativeFile, n: int) -> np.ndarray:
        """The next n numbers of a file, all of them."""
        content = handle.read_buffer(n * self._layout.dtype.itemsize)
        if len(content) < n * self._layout.dtype.itemsize:
            raise DataError(self._changed())
        return np.frombuffer(content, self._layout.dtype)

    def _changed(self) -> str:
        return f"{self.files[0].path} changed while it was being read; start again when nobody writes to it"


class Member:
    """One array of an .npz, read from its first row to its last.

    One stored by columns has to be loaded as a whole, if it is at most `most_bytes`.
    """

    def __init__(self, archive: zipfile.ZipFile, name: str, most_bytes: int = 0) -> None:
        self._handle = archive.open(f"{name}.npy")
        self.layout = layout_of(archive, name, self._handle)
        if not self.layout.shape:
            raise DataError(f"{name!r} is a single value, and no array with rows")
        self._next_row = 0
        self._loaded: np.ndarray | None = None
        if self.layout.fortran and most_bytes:
            if self.layout.n_bytes > most_bytes:
                raise DataError(
                    f"{name!r} is stored by columns and needs {in_words(self.layout.n_bytes)} at once, more than a "
                    "quarter of the memory; save np.ascontiguousarray of it, which can be read row by row"
                )
            self._loaded = archive_value(archive, name, None, most_bytes)

    def rows(self, n: int) -> np.ndarray:
        """The next n rows."""
        if self._loaded is not None:
            self._next_row += n
            return native(self._loaded[self._next_row - n : self._next_row])
        n_bytes = n * self.layout.row_bytes
        content = self._handle.read(n_bytes)
        if len(content) < n_bytes:
            raise EOFError("the archive ends too early")
        return native(np.frombuffer(content, self.layout.dtype).reshape(n, *self.layout.shape[1:]))


class Npz(FileSource):
    """An array X or the parts of a SciPy CSR matrix, and all other arrays of one value per row (targets, ...)."""

    bare = True
    n_rows: int

    def __init__(self, files: list[File], most_bytes: int) -> None:
        """`most_bytes` limits the size of arrays stored by columns, which have to be loaded as a whole."""
        super().__init__(files)
        self._most_bytes = most_bytes
        if len(files) > 1:
            raise DataError("several .npz files are not one array; open them one at a time, or as Parquet")
        with self.door(files[0]), self._archive() as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
            self.sparse = {"indptr", "indices", "data", "shape"} <= set(names)
            if not self.sparse and DENSE not in names:
                listed = on_one_line(", ".join(names))
                raise DataError(f"{files[0].path} holds {listed}, but neither an array X nor a SciPy CSR matrix")
            layouts = {name: layout_of(archive, name) for name in names}
            self.n_bytes = sum(layout.n_bytes for layout in layouts.values())  # not as they are compressed
            rows_and_more = layouts["indptr" if self.sparse else DENSE].shape
            if not rows_and_more:
                raise DataError(f"{files[0].path} holds a single value in place of rows: save an array of rows")
            self.n_rows = max(rows_and_more[0] - self.sparse, 0)
            self.width = self._width(archive) if self.sparse else None
            self.feature_names = [
                str(n) for n in np.atleast_1d(archive_value(archive, "feature_names", [], most_bytes))
            ]
            width = self.width if self.sparse else math.prod(rows_and_more[1:])
            if self.feature_names and len(self.feature_names) != width:
                n_names = len(self.feature_names)
                raise DataError(f"{files[0].path} holds {n_names} names of {width} features: save one for each")
            if max(layout.row_bytes for layout in layouts.values() if layout.shape) > most_bytes:
                raise DataError(
                    f"a row of {files[0].path} takes more than a quarter of the memory; give it more, or save fewer "
                    "columns"
                )
            beside = [
                name
                for name, layout in layouts.items()
                if layout.shape == (self.n_rows,)
                and name not in (*_PARTS, "feature_names", *(() if self.sparse else (DENSE,)))
            ]
            self._members = beside + ([] if self.sparse else [DENSE])
            kinds = [(name, as_column(Member(archive, name).rows(0)).type) for name in self._members]
            if self.sparse:
                kinds += [(INDICES, pa.large_list(self._type(archive, "indices")))]
                kinds += [(VALUES, pa.large_list(self._type(archive, "data")))]
        self.schema = pa.schema(kinds)

    def _width(self, archive: zipfile.ZipFile) -> int:
        """How many columns the sparse matrix has."""
        path = self.files[0].path
        kind = archive_value(archive, "format", b"csr")
        word = kind.decode(errors="replace") if isinstance(kind, bytes) else kind
        if not isinstance(word, str) or word != "csr":
            known = word if isinstance(word, str) and word.isalpha() else "damaged"
            raise DataError(f"{path} holds a {known} matrix; save it as csr, the only one read by rows")
        parts = {name: layout_of(archive, name) for name in ("indptr", "indices", "data")}
        if any(
            len(part.shape) != 1 or (part.dtype.kind not in "iu" and name != "data") for name, part in parts.items()
        ):
            raise DataError(f"{path} is damaged: indptr, indices and data are not as those of a CSR matrix")
        shape = np.asarray(archive_value(archive, "shape", ()))
        if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape[0] != self.n_rows or not 0 <= shape[1] < 2**62:
            raise DataError(f"{path} is damaged: its shape is {shape.tolist()}, and indptr is of {self.n_rows} rows")
        return int(shape[1])

    def _archive(self) -> zipfile.ZipFile:
        return zipfile.ZipFile(self.files[0].seekable())

    @staticmethod
    def _type(archive: zipfile.ZipFile, name: str) -> pa.DataType:
        return pa.from_numpy_dtype(Member(archive, name).rows(0).dtype)

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        with self._archive() as archive:
            members = {name: Member(archive, name, self._most_bytes) for name in columns if name in self._members}
            csr = (
                CsrMembers(archive, self.width or 0, self._most_bytes)
                if self.sparse and {INDICES, VALUES} & set(columns)
                else None
            )
            for start in range(0, self.n_rows, rows):
                n = min(rows, self.n_rows - start)
                arrays = {name: as_column(member.rows(n)) for name, member in members.items()}
                arrays |= csr.rows(n) if csr else {}
                yield pa.RecordBatch.from_arrays([arrays[name] for name in columns], names=list(columns))


_PARTS = ("indptr", "indices", "data", "shape", "format")


class CsrMembers:
    """The three arrays of a CSR matrix, read together."""

    def __init__(self, archive: zipfile.ZipFile, width: int, most_bytes: int) -> None:
        self._width, self._most_bytes = width, most_bytes
        self._indptr, self._indices, self._data = (Member(archive, name) for name in ("indptr", "indices", "data"))
        self._next_entry = int(self._indptr.rows(1)[0])

    def rows(self, n: int) -> dict[str, pa.Array]:
        """The next n rows, as a pair of list columns."""
        ends = self._indptr.rows(n).astype(np.int64)
        offsets = np.concatenate([[0], ends - self._next_entry])
        self._next_entry = int(ends[-1]) if n else self._next_entry
        if (np.diff(offsets) < 0).any():
            raise EOFError("indptr does not increase")
        n_entries = int(offsets[-1])
        if n_entries * (self._indices.layout.row_bytes + self._data.layout.row_bytes) > self._most_bytes:
            raise DataError(
                f"{n} rows have {n_entries} entries, which take more than a quarter of the memory; give it more"
            )
        indices, data = self._indices.rows(n_entries), self._data.rows(n_entries)
        check_entries(offsets, indices, self._width, n, len(data))
        return {INDICES: list_column(offsets, indices), VALUES: list_column(offsets, data)}


def layout_of(archive: zipfile.ZipFile, name: str, handle: Any = None) -> Layout:
    """The header of an array of the archive; `handle` is at its start, if it is open already."""
    member, words = archive.getinfo(f"{name}.npy"), f"the array {name!r}"
    if handle is not None:
        return read_layout(handle, member.file_size, words)
    with archive.open(member) as handle:
        return read_layout(handle, member.file_size, words)


def archive_value(archive: zipfile.ZipFile, name: str, default: Any, most_bytes: int = 1 << 16) -> Any:
    """An array of the archive, or a scalar where it has no dimension; the default where there is none."""
    if f"{name}.npy" not in archive.namelist():
        return default
    layout = layout_of(archive, name)
    if layout.n_bytes > most_bytes:
        raise DataError(f"the array {name!r} takes {in_words(layout.n_bytes)}, which is too much")
    with archive.open(f"{name}.npy") as handle:
        try:
            value = np.lib.format.read_array(handle)
        except TypeError as error:  # a shape that NumPy takes for one until it counts
            raise DataError(f"the header of the array {name!r} is damaged ({reason_of(error)})") from error
    return value.item() if value.ndim == 0 else value
