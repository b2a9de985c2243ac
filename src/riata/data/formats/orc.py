"""ORC files, a stripe at a time: about 64 MB of a file, as most writers cut them.

Arrow's reader of ORC crashes over some damaged files: it runs in a process of its own, `orc_process.py`.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import pyarrow as pa
from pyarrow import fs

from riata.data.formats.damage import validated
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource, one_schema
from riata.data.formats.tables import flat, flat_schema, owners
from riata.errors import MissingPackageError
from riata.machine import file_without_name

SCRIPT = Path(__file__).with_name("orc_process.py")


class Orc(FileSource):
    """Rows of ORC files."""

    def __init__(self, files: Sequence[File]) -> None:
        super().__init__(files)
        if find_spec("pyarrow._orc") is None:
            raise MissingPackageError("this build of PyArrow reads no ORC files: install one that does")
        self._nested = {file.path: self._schema(file) for file in files}
        with self.door(files[0]):  # names may be of bytes that are no text
            flattened = [flat_schema(schema).remove_metadata() for schema in self._nested.values()]
            self.schema = one_schema(files, flattened)
        self.n_rows = sum(int(schema.metadata[b"rows"]) for schema in self._nested.values())

    def _schema(self, file: File) -> pa.Schema:
        """The columns of a file as they are stored."""
        with self.door(file), _stream(file, None) as reader:
            return reader.schema

    def n_stripes(self, file: File) -> int:
        """Into how many stripes a file is cut."""
        return int(self._nested[file.path].metadata[b"stripes"])

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        stored = [field.name for field in owners(self._nested[file.path], columns)]
        wanted = pa.schema([self.schema.field(name) for name in columns])
        with _stream(file, stored, file.span, rows) as reader:
            for batch in reader:
                table = flat(pa.Table.from_batches([validated(batch)])).select(list(columns))
                yield from table.cast(wanted).combine_chunks().to_batches()

    def rows_before(self, file: File) -> int:
        before = (0, file.span[0] if file.span else 0)
        with _stream(file, self._nested[file.path].names[:1], before) as reader:
            return sum(batch.num_rows for batch in reader)


@contextmanager
def _stream(
    file: File, columns: Sequence[str] | None, stripes: tuple[int, int] | None = None, rows: int = 1 << 16
) -> Iterator[pa.RecordBatchStreamReader]:
    """What the other process reads of a file; an error of Arrow's, if it ends before its time."""
    command = [sys.executable, "-P", str(SCRIPT), json.dumps([columns, stripes, rows])]
    with _local(file) as content, file_without_name() as said:
        process = subprocess.Popen(command, stdin=content, stdout=subprocess.PIPE, stderr=said)
        assert process.stdout is not None
        try:
            fault: Exception | None = None
            try:
                with pa.ipc.open_stream(process.stdout) as reader:
                    yield reader
            except (pa.ArrowException, OSError) as error:
                fault = error
            process.stdout.close()  # a process that has more to write then ends well
            code = process.wait()
            if code == 1:
                said.seek(0)
                raise pa.ArrowInvalid(said.read().decode(errors="replace"))
            if code != 0:
                raise pa.ArrowInvalid("Arrow's reader of ORC crashes over it")
            if fault is not None:
                raise fault
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@contextmanager
def _local(file: File) -> Iterator[IO[bytes]]:
    """A file of this machine, open; one from elsewhere is copied."""
    if isinstance(file.filesystem, fs.LocalFileSystem):
        with open(file.path, "rb") as content:
            yield content
        return
    with file_without_name() as copy, file.seekable() as remote:
        shutil.copyfileobj(remote, copy)
        copy.seek(0)
        yield copy
