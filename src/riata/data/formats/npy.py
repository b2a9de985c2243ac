"""Arrays in files: .npy, read by position, and .npz, whose members are read side by side as streams.

A member of an .npz may be compressed; it is decompressed as it is read, so nothing grows with the rows.
"""

import zipfile
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import fs

from riata.data.budget import in_words
from riata.data.csr import check_entries
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource
from riata.data.formats.source import DENSE, INDICES, TARGET, VALUES
from riata.data.formats.tables import dense_column, list_column, native
from riata.errors import DataError


@dataclass(frozen=True)
class Layout:
    """What the head of an .npy file says."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype
    start: int

    @property
    def row_bytes(self) -> int:
        return self.dtype.itemsize * int(np.prod(self.shape[1:]))


def read_layout(handle) -> Layout:
    version = np.lib.format.read_magic(handle)
    head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = head(handle)
    if dtype.hasobject:
        raise DataError("an array of Python objects cannot be read safely; save numbers or strings")
    return Layout(shape, fortran and len(shape) > 1, dtype, handle.tell())


def as_column(values: np.ndarray) -> pa.Array:
    """Rows of an array: plain values of one dimension, lists of two or more."""
    if values.ndim == 1:
        return pa.array(values.view(np.uint8) if values.dtype == np.bool_ else values)
    return dense_column(values.reshape(len(values), int(np.prod(values.shape[1:]))))


class Npy(FileSource):
    """One array, read by position: any rows at the cost of those rows. One of its columns may be the target."""

    bare = fast = True
    n_rows: int

    def __init__(self, files: list[File], target: int | None = None, n_features: int | None = None):
        super().__init__(files)
        if len(files) > 1:
            raise DataError("several .npy files are not one array; open them one at a time, or as Parquet")
        with files[0].seekable() as handle:
            self._layout = read_layout(handle)
        shape = self._layout.shape
        if not 1 <= len(shape) <= 2:
            raise DataError(f"{files[0].path} holds an array of {len(shape)} dimensions; riata needs rows and columns")
        if shape[1:] == (n_features,):
            target = None  # the rows hold features only
        if target is not None and not (len(shape) == 2 and -shape[1] <= target < shape[1]):
            raise DataError(f"{files[0].path} has no column {target}; it has {shape[-1]}, counted from 0")
        self.n_rows, self._target = shape[0], target
        self.schema = self.slice(None, 0, 0).schema

    def fingerprint(self):
        return [*super().fingerprint(), self._target]

    def read(self, file, columns, rows):
        for start in range(0, self.n_rows, rows):
            yield self.slice(columns, start, start + rows)

    def slice(self, columns, start, stop):
        arrays = self._arrays(start, stop)
        names = list(arrays) if columns is None else list(columns)
        return pa.RecordBatch.from_arrays([as_column(arrays[name]) for name in names], names=names)

    def matrix_apart(self, columns, start, stop):
        if self._target is None:
            return None
        arrays = self._arrays(start, stop)
        return pa.RecordBatch.from_arrays([as_column(arrays[TARGET])], names=[TARGET]), arrays[DENSE]

    def _arrays(self, start, stop):
        """The columns of some rows; features that lie side by side are a view."""
        values = self._values(start, stop)
        if self._target is None:
            return {DENSE if values.ndim > 1 else TARGET: values}
        target, last = self._target % values.shape[1], values.shape[1] - 1
        ends = {0: values[:, 1:], last: values[:, :-1]}
        X = ends[target] if target in ends else np.delete(values, target, axis=1)
        return {DENSE: X, TARGET: values[:, target]}

    def _values(self, start, stop):
        start, stop = min(start, self.n_rows), min(stop, self.n_rows)
        if self.files[0].changed():
            raise DataError(
                f"{self.files[0].path} changed while it was being read; start again when nobody writes to it"
            )
        try:
            return native(self._mapped(start, stop) if self._mappable and start < stop else self._read(start, stop))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise DataError(self.explain(self.files[0], error, ())) from error

    @property
    def _mappable(self) -> bool:
        return not self._layout.fortran and isinstance(self.files[0].filesystem, fs.LocalFileSystem)

    def _mapped(self, start, stop):
        """A map of these rows and no others: its pages count as the process's until the array is gone."""
        layout = self._layout
        shape = (stop - start, *layout.shape[1:])
        at = layout.start + start * layout.row_bytes
        return np.asarray(np.memmap(self.files[0].path, layout.dtype, "r", at, shape))

    def _read(self, start, stop):
        layout, size = self._layout, stop - start
        with self.files[0].seekable() as handle:
            if not layout.fortran:
                handle.seek(layout.start + start * layout.row_bytes)
                flat = np.frombuffer(handle.read_buffer(size * layout.row_bytes), layout.dtype)
                return flat.reshape(size, *layout.shape[1:])
            values = np.empty((size, *layout.shape[1:]), layout.dtype)
            for j in range(layout.shape[1]):
                handle.seek(layout.start + (j * layout.shape[0] + start) * layout.dtype.itemsize)
                values[:, j] = np.frombuffer(handle.read(size * layout.dtype.itemsize), layout.dtype)
            return values


class Member:
    """One array of an .npz, read from its first row to its last."""

    def __init__(self, archive: zipfile.ZipFile, name: str, held_bytes=0):
        self._handle = archive.open(f"{name}.npy")
        self.layout = read_layout(self._handle)
        self._at, self._held = 0, None
        if self.layout.fortran and held_bytes:
            n_bytes = self.layout.row_bytes * self.layout.shape[0]
            if n_bytes > held_bytes:
                raise DataError(
                    f"{name!r} is stored by columns and needs {in_words(n_bytes)} at once, more than a quarter of the "
                    "memory; save np.ascontiguousarray of it, which can be read row by row"
                )
            self._held = archive_value(archive, name, None)

    def rows(self, n: int) -> np.ndarray:
        if self._held is not None:
            self._at += n
            return native(self._held[self._at - n : self._at])
        n_bytes = n * self.layout.row_bytes
        content = self._handle.read(n_bytes)
        if len(content) < n_bytes:
            raise EOFError("the archive ends too early")
        return native(np.frombuffer(content, self.layout.dtype).reshape(n, *self.layout.shape[1:]))


class Npz(FileSource):
    """Arrays X (or the parts of a SciPy CSR matrix) with the targets and any other array of one value per row."""

    bare = True
    n_rows: int

    def __init__(self, files: list[File], held_bytes: int):
        super().__init__(files)
        self._held_bytes = held_bytes
        if len(files) > 1:
            raise DataError("several .npz files are not one array; open them one at a time, or as Parquet")
        with self._archive() as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            self.sparse = {"indptr", "indices", "data", "shape"} <= set(names)
            if not self.sparse and DENSE not in names:
                raise DataError(
                    f"{files[0].path} holds {', '.join(names)}, but neither an array X nor a SciPy CSR matrix"
                )
            if self.sparse and (kind := archive_value(archive, "format", b"csr")) != b"csr":
                raise DataError(
                    f"{files[0].path} holds a {kind.decode()} matrix; save it as csr, the only one read by rows"
                )
            self.width = int(archive_value(archive, "shape", [0, 0])[1]) if self.sparse else None
            self.feature_names = [str(n) for n in archive_value(archive, "feature_names", [])]
            shapes = {name: Member(archive, name).layout.shape for name in names if name not in _PARTS}
            self.n_rows = Member(archive, "indptr").layout.shape[0] - 1 if self.sparse else shapes[DENSE][0]
            beside = [name for name, shape in shapes.items() if shape == (self.n_rows,) and name != "feature_names"]
            self._members = beside + ([] if self.sparse else [DENSE])
            kinds = [(name, as_column(Member(archive, name).rows(0)).type) for name in self._members]
            if self.sparse:
                kinds += [(INDICES, pa.large_list(self._type(archive, "indices")))]
                kinds += [(VALUES, pa.large_list(self._type(archive, "data")))]
        self.schema = pa.schema(kinds)

    def _archive(self):
        try:
            return zipfile.ZipFile(self.files[0].seekable())
        except (zipfile.BadZipFile, pa.ArrowException, OSError) as error:
            raise DataError(self.explain(self.files[0], error, ())) from error

    @staticmethod
    def _type(archive, name):
        return pa.from_numpy_dtype(Member(archive, name).rows(0).dtype)

    def read(self, file, columns, rows):
        with self._archive() as archive:
            members = {name: Member(archive, name, self._held_bytes) for name in columns if name in self._members}
            csr = CsrMembers(archive, self.width or 0) if self.sparse and {INDICES, VALUES} & set(columns) else None
            for start in range(0, self.n_rows, rows):
                n = min(rows, self.n_rows - start)
                arrays = {name: as_column(member.rows(n)) for name, member in members.items()}
                arrays |= csr.rows(n) if csr else {}
                yield pa.RecordBatch.from_arrays([arrays[name] for name in columns], names=list(columns))


_PARTS = ("indptr", "indices", "data", "shape", "format")


class CsrMembers:
    """The three arrays of a CSR matrix, advanced together."""

    def __init__(self, archive, width: int):
        self._width = width
        self._indptr, self._indices, self._data = (Member(archive, name) for name in ("indptr", "indices", "data"))
        self._at = int(self._indptr.rows(1)[0])

    def rows(self, n):
        ends = self._indptr.rows(n).astype(np.int64)
        offsets = np.concatenate([[0], ends - self._at])
        self._at = int(ends[-1]) if n else self._at
        if (np.diff(offsets) < 0).any():
            raise EOFError("indptr does not increase")
        indices, data = self._indices.rows(int(offsets[-1])), self._data.rows(int(offsets[-1]))
        check_entries(offsets, indices, self._width, n, len(data))
        return {INDICES: list_column(offsets, indices), VALUES: list_column(offsets, data)}


def archive_value(archive, name, default):
    """A small array of the archive, whole."""
    if f"{name}.npy" not in archive.namelist():
        return default
    with archive.open(f"{name}.npy") as handle:
        value = np.lib.format.read_array(handle)
    return value.item() if value.ndim == 0 else value
