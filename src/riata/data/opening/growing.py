"""Files of a folder or a pattern that become more: the first one tells what the columns are, each is read once."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.formats.files import File, find_files, is_place_of_files
from riata.data.formats.new_files import NewFiles
from riata.data.formats.sampled_negatives import SampledNegatives, as_share
from riata.data.formats.source import Source, WithColumns
from riata.data.opening.asked import Asked
from riata.data.opening.profile import Profile, known_encoding
from riata.data.opening.rows import RemoteOpener, check_answers, first_rows, open_rows
from riata.data.opening.sources import source_of_files, with_roles
from riata.data.out_of_core import OutOfCore, facts_of
from riata.errors import DataError, OptionError


class GrowingRows(OutOfCore):
    """The rows of files that become more, a file after the other."""

    def __init__(self, first: Source, profile: Profile, asked: Asked, files: NewFiles, batch_rows: int) -> None:
        """`first` is a source of the columns that all files have, and is never read."""
        first.single_pass = True
        super().__init__(first, profile, asked.memory, cache=False)
        self.asked, self.files, self.batch_rows = asked, files, batch_rows
        self.rows_before = 0  # rows of the files so far, which say which negatives are sampled
        self.when_learnt: Callable[[bool], None] = lambda last: None  # after a file, of several the `last` for now

    def continue_with(self, profile: Profile, batch_rows: int, rows_before: int) -> None:
        """Make of the rows to come the features that an earlier fit made of those before."""
        self._encoding, self.batch_rows, self.rows_before = profile.encoding, batch_rows, rows_before
        self._columns = profile.encoding.columns
        opened, memory = self.facts.opened, self.facts.memory
        self.facts = facts_of(profile, 0, self._budget, single_pass=True).but(opened=opened, memory=memory)

    def visit(self, order: Any = None) -> Iterator[Chunk]:
        for files in self.files:
            for file in files:
                yield from self._rows_of(file)
                self.when_learnt(file is files[-1])

    def _rows_of(self, file: File) -> Iterator[Chunk]:
        """The chunks of one file, which counts as learnt when more is asked for."""
        part, source = self._part(file)
        yield from part.visit()
        self.rows_before = source.n_read if isinstance(source, SampledNegatives) else self.rows_before
        self.ledger.count(part.ledger.rows_read)
        self.ledger.n_rows = self.ledger.rows_read
        self.facts = self.facts.but(n_rows=self.ledger.rows_read)
        self.files.note(file)

    def _part(self, file: File) -> tuple[Dataset, Source]:
        """The rows of a file, in the features that all files have, and where they are read from."""
        asked = replace(self.asked, encoding=self._encoding)
        reading = asked.reading()
        rows = source_of_files([file], reading, asked.target)
        check_answers(rows, file.path, asked.target, self._encoding)
        rows, roles = _roles(rows, asked)
        if isinstance(rows, SampledNegatives):
            rows.rows_before = self.rows_before
        known_encoding(rows, self._encoding, asked.column_options(roles).targets)  # which says what is missing
        rows.width = asked.n_features
        rows.as_codes()
        if reading.skip_bad:
            rows.leave_out_unlearnable(roles["weight"])
        rows.judge_by(self._columns)
        rows.single_pass = True
        assert self.profile is not None
        part = OutOfCore(rows, self.profile, asked.memory, cache=False)
        part.chunk_rows = self.batch_rows
        return part, rows

    def close(self) -> None:
        self.files.close()


def open_growing(source: Any, asked: Asked, remote_opener: RemoteOpener | None) -> Dataset:
    """The dataset of files that become more."""
    if not isinstance(source, str | Path) or not is_place_of_files(str(source), asked.filesystem):
        raise OptionError(
            "growing is for a folder, or a pattern such as 'log/*.parquet', in which files appear: name one of them"
        )
    if remote_opener is not None:
        raise OptionError("files that become more are read by one process: leave growing or the engine out")
    if asked.encoding is not None:
        raise OptionError("rows for a model are those that are there now: leave growing out")
    files = NewFiles(partial(find_files, str(source), asked.filesystem), asked.follow)
    complete = files.complete()
    if not complete:
        written = "".join(f": {path} is being written" for path in files.incomplete[:1])
        raise DataError(f"{source} holds no file that is complete yet{written}")
    reading = asked.reading()
    first = source_of_files(complete[:1], reading, asked.target)
    rows, _ = _roles(first, asked)
    batch_rows = first_rows(rows, asked.memory)
    looked = open_rows(source_of_files(complete[:1], reading, asked.target), asked, None)
    assert looked.profile is not None
    return GrowingRows(rows, looked.profile, asked, files, batch_rows)


def _roles(rows: Source, asked: Asked) -> tuple[Source, dict[str, Any]]:
    """The rows with the negatives that are sampled, and which columns have which roles."""
    rows, roles = with_roles(rows, asked.roles, asked.reading(), asked.need_target)
    if isinstance(rows, WithColumns):
        raise OptionError("files that become more have their targets and weights themselves: name columns of theirs")
    if asked.sample_negatives is not None:
        rows = SampledNegatives(rows, roles["target"], roles["weight"], as_share(asked.sample_negatives))
        roles["weight"] = rows.weight
    return rows, roles
