"""Tables that are written in combinations of ways drawn at random are read back as they were, or refused."""

import csv
import io
import random
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from riata.data.formats.csv import Csv
from riata.data.formats.files import find_files
from riata.data.formats.parts import parts_of

WORDS = ["a", "é", " b c", "x\ny", 'q"q', "", "two words, and a comma"]
DATES = ["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%b-%Y", "%Y/%m/%d", "%d/%m/%y %H:%M"]


class Writer:
    """A way to write a table."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.n_rows = rng.choice([30, 100, 400])
        self.separator, self.decimal, self.line_end = rng.choice(",;\t|"), rng.choice(".,"), rng.choice(["\n", "\r\n"])
        self.thousands = rng.choice(["", *(mark for mark in ",. '" if mark != self.decimal)])
        self.encoding = rng.choice(["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le"])
        self.quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
        self.mark, self.dates = rng.choice(["", "", "%", "$"]), rng.choice(DATES)

    def number(self, x: float | None) -> str:
        if x is None:
            return self.rng.choice(["", "NA", "-"])
        digits = f"{abs(x):,.2f}".translate(str.maketrans({",": self.thousands, ".": self.decimal}))
        marked = {"%": f"{digits}%", "$": f"${digits}", "": digits}[self.mark]
        return f"-{marked}" if x < 0 else marked

    def write(self, columns: dict[str, list[str]]) -> bytes:
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=self.separator, lineterminator=self.line_end, quoting=self.quoting)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return out.getvalue().encode(self.encoding)


@pytest.mark.parametrize("seed", range(80))
def test_what_was_written_is_read(seed, tmp_path):
    rng = random.Random(seed)
    how = Writer(rng)
    draws = np.random.default_rng(seed).normal(size=(2, how.n_rows)) * rng.choice([1, 1e4, 1e7])
    numbers = [None if rng.random() < 0.1 else round(x, 2) for x in draws[0]]
    days = [datetime(2013, 1, 1) + timedelta(days=7 * i, hours=i) for i in range(how.n_rows)]
    texts = [rng.choice(WORDS) for _ in days]
    columns = {
        "t": texts,
        "x": [how.number(x) for x in numbers],
        "d": [f"{day:{how.dates}}" for day in days],
        "z": [f"{x:.4f}".replace(".", how.decimal) for x in draws[1]],
    }
    order = rng.sample(list(columns), k=4)
    (tmp_path / "x.csv").write_bytes(how.write({name: columns[name] for name in order}))
    source = Csv(find_files(str(tmp_path / "x.csv")), block_bytes=1 << 16)
    assert not source.refused
    batches = [b for part in parts_of(source, rng.choice([1, 3])) for b in part.batches(order, 100)]
    found = pa.Table.from_batches(batches).to_pydict()
    assert found["x"] == pytest.approx(numbers)
    assert found["z"] == pytest.approx(np.round(draws[1], 4), rel=1e-12, abs=1e-9)
    assert found["d"] == [datetime.strptime(day, how.dates) for day in columns["d"]]
    assert found["t"] == [text or None for text in texts]
