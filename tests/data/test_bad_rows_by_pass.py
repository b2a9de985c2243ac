"""With on_error="skip" every pass leaves out the same rows, whatever columns it reads."""

import json

import openpyxl
import pytest

import riata
from riata.data.formats.csv import Csv
from riata.data.formats.excel import Excel
from riata.data.formats.files import find_files
from riata.data.formats.json import Json
from riata.errors import DataError

NAMES = ["id", "x", "z", "grp", "y"]
BAD = {"id": range(30, 60, 10), "x": range(20, 23), "z": range(43, 45)}  # rows from 20 on, after those that tell types


def records():
    def value(name, i):
        if i in BAD.get(name, ()):
            return "oops"
        return {"id": i, "x": (i * 7) % 11 + 0.5, "z": (i * 5) % 13 + 0.5, "grp": i // 6, "y": (i * 3) % 17 + 0.5}[name]

    return [{name: value(name, i) for name in NAMES} for i in range(60)]


def csv(folder):
    lines = [",".join(NAMES), *(",".join(str(record[name]) for name in NAMES) for record in records())]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    return folder / "rows.csv"


def json_lines(folder):
    (folder / "rows.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records()))
    return folder / "rows.jsonl"


def excel(folder):
    book = openpyxl.Workbook()
    book.active.append(NAMES)
    for record in records():
        book.active.append([record[name] for name in NAMES])
    book.save(folder / "rows.xlsx")
    return folder / "rows.xlsx"


def excel_source(files, **options):
    options.pop("block_bytes")
    return Excel(files, **options)


SOURCES = {"csv": (csv, Csv), "json": (json_lines, Json), "excel": (excel, excel_source)}


@pytest.mark.parametrize("kind", SOURCES)
def test_any_columns_of_a_source_have_the_same_rows(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("riata.data.formats.excel.FIRST_ROWS", 20)
    write, make = SOURCES[kind]
    source = make(find_files(str(write(tmp_path)), None), block_bytes=1 << 9, skip_bad=True)
    assert source.schema.names == NAMES

    def rows(*columns):
        return sum(batch.num_rows for batch in source.batches(columns, 7)), source.skipped

    whole = rows(*NAMES)
    assert whole[1] == 8
    assert {rows(name) for name in NAMES} == {whole}
    source.judge_by(["x", "grp", "y"])  # the others are never read: their cells do not matter
    assert rows("grp") == rows("grp", "x") == (whole[0] + 5, 3)


@pytest.mark.parametrize("memory", ["512MB", "1MB"])
@pytest.mark.parametrize("write", [csv, json_lines])
def test_groups_are_those_of_the_rows(write, memory, tmp_path, monkeypatch, request):
    if memory == "1MB":
        request.getfixturevalue("larger_than_memory")
    monkeypatch.setattr("riata.data.opening.sources.block_bytes", lambda _: 1 << 9)
    data = riata.open(str(write(tmp_path)), "y", groups="grp", memory=memory, on_error="skip")
    kept = [i for i in range(60) if not any(i in rows for rows in BAD.values())]
    assert data.n_rows == len(kept)
    for _ in range(3):
        assert sum(chunk.n_rows for chunk in data.visit()) == len(kept)
    groups = data.facts.marks["groups"].numbers.all()
    assert len(groups) == len(kept)
    assert len({(i // 6, group) for i, group in zip(kept, groups.tolist(), strict=True)}) == 10


def test_a_column_that_was_left_out_still_tells_bad_rows(tmp_path, larger_than_memory):
    path = tmp_path / "rows.csv"
    rows = (f"{'oops' if i % 100 == 99 else i},{i % 7}.5,{(i * 3) % 11}.5" for i in range(20_000))
    path.write_text("id,x,y\n" + "\n".join(rows) + "\n")
    data = riata.open(str(path), "y", on_error="skip", memory="1MB")
    assert "id" not in data.encoding.columns
    assert [data.n_rows, *(sum(chunk.n_rows for chunk in data.visit()) for _ in range(2))] == [19_800] * 3


def test_bad_rows_beside_a_target_of_its_own_are_refused(tmp_path):
    (tmp_path / "x.csv").write_text("a\n" + "".join(f"{i}.5\n" for i in range(200)) + "oops\n1.5\n")
    (tmp_path / "y.csv").write_text("t\n" + "".join(f"{i}.5\n" for i in range(201)) + "oops\n")
    with pytest.raises(DataError, match="put all columns into one file"):
        riata.open(str(tmp_path / "x.csv"), str(tmp_path / "y.csv"), on_error="skip")


def test_a_mark_of_another_number_of_rows_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,grp,y\n" + "".join(f"{i % 7}.5,{i % 4},{i % 5}.5\n" for i in range(40)))
    data = riata.open(str(path), "y", groups="grp")
    data.facts.marks._n_rows = 39
    with pytest.raises(DataError, match="'grp' has 40 values where 39 rows were read"):
        data.facts.marks["groups"]
