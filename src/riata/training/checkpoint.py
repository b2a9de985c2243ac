"""Checkpoints: the state of a fit, saved in a folder, so that a fit that was killed can go on.

One file holds the arrays (NumPy's .npz, no pickle) and, as JSON, the plain facts and a fingerprint of the data and the
options, with a digest of them all. A new one is written beside the last, flushed to the disk and renamed into its
place, and the last one is kept too: whenever the process or the machine dies, one complete checkpoint is there. Where
one cannot be written, as on a full disk, the fit goes on: a warning says so, and the next one is tried in its time.
"""

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from riata.data.chunk import Chunk
from riata.data.columns.packed_names import for_json
from riata.data.dataset import Dataset
from riata.data.formats.damage import DAMAGE
from riata.data.remote import Remote
from riata.engines.cuda.on_device import OnDevice
from riata.errors import CheckpointError, OutputError, OutputWarning
from riata.files import reason, remove_stale, replacing
from riata.machine import file_without_name
from riata.solvers.iterate import Saved
from riata.training.row_sums import same_sums, sums_of_rows
from riata.user_warnings import warn_user

VERSION = 10
NEWEST, BEFORE = "checkpoint.npz", "checkpoint.before.npz"
UNREADABLE = (*DAMAGE, AttributeError, LookupError, TypeError)


@dataclass
class Checkpoints:
    """A folder of checkpoints of one fit, a new one after every so many seconds."""

    folder: Path
    fingerprint: dict[str, Any]
    every: float = 60.0
    _last: float = field(default_factory=time.monotonic)

    @property
    def due(self) -> bool:
        return time.monotonic() - self._last >= self.every

    def save(self, saved: Saved) -> None:
        """Write a checkpoint; from the first one on there is at every moment one that can be read."""
        try:
            self._write(saved)
        except OSError as error:
            told = error if isinstance(error, OutputError) else f"cannot write {self.folder}: {reason(error)}"
            warn_user(OutputWarning(f"this checkpoint is left out, and the fit goes on: {told}"))
        self._last = time.monotonic()

    def _write(self, saved: Saved) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        facts = {"version": VERSION, "fingerprint": self.fingerprint, "facts": saved.facts}
        text = np.frombuffer(json.dumps(facts, default=for_json).encode(), dtype=np.uint8)
        digest = np.frombuffer(_digest(text, saved.arrays), dtype=np.uint8)
        with replacing(self.folder / NEWEST) as file:
            arrays: dict[str, Any] = {f"array.{name}": values for name, values in saved.arrays.items()}
            np.savez(file, **arrays, facts=text, digest=digest)
            file.flush()
            os.fsync(file.fileno())
            if (self.folder / NEWEST).exists():
                os.replace(self.folder / NEWEST, self.folder / BEFORE)

    def load(self) -> Saved | None:
        """The newest checkpoint that is undamaged, None where there never was one; one of another fit is refused."""
        paths = [path for path in (self.folder / NEWEST, self.folder / BEFORE) if path.exists()]
        for path in paths:
            try:
                with open(path, "rb") as file, np.load(file, allow_pickle=False) as content:
                    if any(member.compress_type for member in content.zip.infolist()):
                        continue  # none of ours: what is compressed may expand to more than any memory
                    text = content["facts"]
                    written = json.loads(text.tobytes())
                    arrays = {name.removeprefix("array."): content[name] for name in content if name[:6] == "array."}
                    digest = content["digest"].tobytes() if "digest" in content else b""
                    if not all(isinstance(values, np.ndarray) for values in arrays.values()):
                        continue  # a member that is no array is given as bytes
            except UNREADABLE:
                continue
            if not isinstance(written, dict) or not isinstance(written.get("fingerprint"), dict):
                continue
            self._check(path, written)
            if digest != _digest(text, arrays):
                continue
            if not isinstance(written.get("facts"), dict):
                continue
            return Saved(arrays, written["facts"])
        if paths:
            raise CheckpointError(f"{paths[0]} is damaged, and so is the one before: start again without resuming")
        return None

    def _check(self, path: Path, written: dict[str, Any]) -> None:
        """Refuse a checkpoint of another format, of other data or of other options."""
        if written.get("version") != VERSION:
            raise CheckpointError(
                f"{path} has format {written.get('version')}, this riata reads {VERSION}: start again without resuming"
            )
        there = written["fingerprint"]
        mine = json.loads(json.dumps(self.fingerprint))
        sums = mine.pop("sums", None), there.pop("sums", None)
        different = sorted(name for name in mine.keys() | there.keys() if mine.get(name) != there.get(name))
        if different:
            name = different[0]
            raise CheckpointError(
                f"{path} is of another fit: its {name} is {there.get(name)!r}, here it is {mine.get(name)!r}; "
                "use the same data and options, another folder, or do not resume"
            )
        if not same_sums(*sums):
            raise CheckpointError(
                f"{path} is of other rows: the data has changed since it was written; use the same data, another "
                "folder, or do not resume"
            )


def _digest(facts: np.ndarray, arrays: dict[str, np.ndarray]) -> bytes:
    """A hash of all that was saved: compiled loops trust the types and lengths of these arrays without a check."""
    digest = sha256(facts.tobytes())
    for name in sorted(arrays):
        values = np.asarray(arrays[name])
        digest.update(f"{name} {values.dtype.str} {values.shape} ".encode())
        digest.update(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)
    return digest.digest()


def data_fingerprint(data: Dataset) -> dict[str, Any]:
    """Shape, number of chunks, sums, and a digest of the first chunk: on a cluster, whose chunks may change, a row."""
    chunk, n_chunks = _first_chunk(data), int(data.n_chunks)
    if isinstance(data, Remote):
        chunk, n_chunks = chunk.rows(slice(0, 1)), 1
    digest = sha256()
    for part in (*chunk.X.parts().values(), chunk.y, chunk.weight):
        digest.update(np.ascontiguousarray(part).data)
    return {
        "rows": int(data.n_rows), "columns": int(data.n_features), "chunks": n_chunks,
        "first chunk": digest.hexdigest()[:16], "sums": sums_of_rows(data),
    }  # fmt: skip


def _first_chunk(data: Dataset) -> Chunk:
    """The first chunk; of rows on a GPU, which are never read chunk by chunk, the first row and the targets of all."""
    if isinstance(data, OnDevice):
        return Chunk(data.take([0]).gather(np.arange(data.n_features)), *data.targets())
    return next(iter(data.visit([0])))


def check_folder(folder: str | Path) -> None:
    """Refuse a folder that cannot be made or written, before there is anything to save; one made to try is removed."""
    try:
        new = not Path(folder).exists()
        Path(folder).mkdir(parents=True, exist_ok=True)
        remove_stale(Path(folder))
        with file_without_name(str(folder)):
            pass
        if new:
            with suppress(OSError):  # another fit may have put something there
                Path(folder).rmdir()  # what is asked for may yet be refused
    except OSError as error:
        raise CheckpointError(f"cannot save checkpoints in {folder}: {reason(error)}") from None
