"""Plain text that a compiled loop reads: columns are those that Arrow makes, and what is not plain is left to Arrow."""

import random

import numpy as np
import pyarrow as pa
import pytest

from riata.data.formats import csv as csv_module
from riata.data.formats.csv import Csv
from riata.data.formats.files import find_files
from riata.errors import DataError

N_ROWS = 4000
BLOCK = 1 << 16  # of which a file has two
WORDS = [
    "a",
    "",
    "NA",
    "NAN!",
    "-",
    "N",
    "level",
    "é",
    "x" * 31,
    "y" * 32,
    "z" * 33,
    "long " * 20,
    "#N/A",
    "k. A.",
    " ",
]


def rows_of(content: bytes, folder, *, beside: bool, columns=None, **options) -> tuple[pa.Table | str, int]:
    """All rows, or the sentence about why not; and how many batches Arrow's reader gave."""
    path = folder / ("rows.tsv" if b"\t" in content else "rows.csv")
    path.write_bytes(content)
    n_parsed = 0
    try:
        source = Csv(find_files(str(path)), block_bytes=BLOCK, **options)
        parsed = source._parsed

        def counted(*arguments):
            nonlocal n_parsed
            for batch in parsed(*arguments):
                n_parsed += 1
                yield batch

        source._parsed = counted
        if beside:
            source.read_beside_others()
        names = columns or source.schema.names
        table = pa.Table.from_batches(source.batches(names, 100), pa.schema([source.schema.field(n) for n in names]))
    except DataError as error:
        return str(error), n_parsed
    table.validate(full=True)
    return table, n_parsed


@pytest.fixture(autouse=True)
def all_files(monkeypatch):
    monkeypatch.setattr(csv_module, "PLAIN_FROM", 0)


def table(seed: int, separator: str = "\t", line_end: str = "\n", header: bool = True, last: bool = True) -> bytes:
    rng = random.Random(seed)
    lines = [["n", "s", "x", "t"]] if header else []
    for _ in range(N_ROWS):
        x = rng.choice(
            ["", f"{rng.randrange(10 ** rng.randrange(1, 16))}", f"{rng.gauss(0, 100):.{rng.randrange(1, 6)}f}"]
        )
        n = rng.choice([f"{rng.randrange(-99, 10**8)}", f"00{rng.randrange(9)}", "NA", "-0"])
        lines.append([n, rng.choice(WORDS), x, f"w{rng.randrange(9)}"])
    return (line_end.join(separator.join(line) for line in lines) + (line_end if last else "")).encode()


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"header": False},
        {"line_end": "\r\n"},
        {"last": False},
        {"line_end": "\r\n", "last": False},
        {"separator": ","},
        {"separator": "|", "header": False},
    ],
)
@pytest.mark.parametrize("columns", [None, ["s", "n"], ["x"], ["t"]])
def test_plain_text_is_read_as_arrow_reads_it(how, columns, tmp_path):
    content = table(len(how), **how)
    if columns and how.get("header") is False:
        columns = [f"x{'nsxt'.index(name)}" for name in columns]
    expected, n_arrow = rows_of(content, tmp_path, beside=False, columns=columns)
    found, n_here = rows_of(content, tmp_path, beside=True, columns=columns)
    assert n_here == 0 < n_arrow
    assert found.equals(expected)
    assert found.num_rows == N_ROWS
    for name in found.column_names:
        assert found[name].null_count == expected[name].null_count
        if found[name].type == pa.float64():  # -0 too, which is equal to 0
            signs = [np.signbit(t[name].fill_null(0.0).to_numpy()) for t in (found, expected)]
            np.testing.assert_array_equal(*signs)


ODD = {
    "a quote": b'7\t"a b"\t1\tw',
    "a quoted line end": b'7\t"a\nb"\t1\tw',
    "a letter in a number": b"7x\ta\t1\tw",
    "an exponent": b"1e3\ta\t1\tw",
    "a plus": b"+5\ta\t1\tw",
    "many digits": b"1234567890123456789\ta\t0.12345678901234567\tw",
    "infinity": b"inf\ta\t1\tw",
    "spaces": b" 7 \ta\t1\tw",
    "half a number": b"7.\ta\t.5\tw",
    "a blank line": b"",
    "a line of spaces": b"   ",
    "too few cells": b"7\ta\t1",
    "too many cells": b"7\ta\t1\tw\t5",
    "a return in a cell": b"7\ta\rb\t1\tw",
    "a return in a last cell": b"7\ta\t1\tw\r\r",
    "a zero byte": b"7\ta\0b\t1\tw",
    "Latin-1": b"7\ta\xe9b\t1\tw",
    "a long cell": b"7\t" + b"a" * (3 * BLOCK) + b"\t1\tw",
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("at", [300, N_ROWS - 3, N_ROWS])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_odd_rows_are_left_to_arrow(odd, at, line_end, tmp_path):
    end = line_end.encode()
    lines = table(1, line_end=line_end).split(end)
    content = end.join([*lines[: at + 1], odd, *lines[at + 1 :]])
    expected, _ = rows_of(content, tmp_path, beside=False)
    found, _ = rows_of(content, tmp_path, beside=True)
    if isinstance(expected, str):
        assert found == expected
    else:
        assert found.equals(expected)


def test_later_blocks_are_left_to_arrow_with_their_rows(tmp_path):
    lines = table(1).split(b"\n")
    lines[-5] = b'7\t"a b"\t1\tw'
    found, n_arrow = rows_of(b"\n".join(lines), tmp_path, beside=True)
    assert found.num_rows == N_ROWS
    assert n_arrow > 0
    assert found["s"][N_ROWS - 4].as_py() == "a b"


@pytest.mark.parametrize("options", [{"skip_bad": True}, {"as_text": ["s"]}])
def test_options_change_nothing(options, tmp_path):
    content = table(2)
    expected, _ = rows_of(content, tmp_path, beside=False, **options)
    assert rows_of(content, tmp_path, beside=True, **options)[0].equals(expected)


def test_several_and_compressed_files_are_read(tmp_path):
    import gzip

    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(table(3)))
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(table(4)))
    tables = []
    for beside in (False, True):
        source = Csv(find_files(str(tmp_path)), block_bytes=BLOCK)
        if beside:
            source.read_beside_others()
        tables.append(pa.Table.from_batches(source.batches(source.schema.names, 100)))
    assert tables[0].equals(tables[1])
    assert tables[0].num_rows == 2 * N_ROWS
