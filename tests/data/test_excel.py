"""Excel workbooks: what cells become, sheets, bad cells, and what is said without openpyxl."""

import datetime
import sys

import openpyxl
import pytest

import riata
from riata.data.formats.excel import FIRST_ROWS
from riata.errors import DataError, MissingPackageError


def book(path, rows, title="rows", **others):
    workbook = openpyxl.Workbook()
    workbook.active.title = title
    for row in rows:
        workbook.active.append(row)
    for name, content in others.items():
        sheet = workbook.create_sheet(name)
        for row in content:
            sheet.append(row)
    workbook.save(path)
    return str(path)


def rows(n=60):
    yield ["size", "city", "when", None, "flag", "odd", "gaps", "empty", "y"]
    for i in range(n):
        day = datetime.datetime(2020, 1 + i % 12, 1)
        odd = "few" if i % 20 == 3 else i % 4
        yield [
            i % 7,
            "Oslo" if i % 2 else "Rom",
            day,
            "remark",
            i % 3 == 0,
            odd,
            "NA" if i % 5 == 0 else 0.5 * i,
            None,
            i,
        ]


def test_cells_become_features(tmp_path):
    data = riata.open(book(tmp_path / "a.xlsx", [[], *rows(), [], [None]]), "y")
    names = list(data.feature_names)
    assert data.n_rows == 60
    for name in ("size", "city=Rom", "when.month=2", "flag", "odd=2", "odd=few", "gaps", "gaps=(missing)"):
        assert name in names
    assert not any(name.startswith(("None", "empty")) for name in names)


def test_a_sheet_by_its_name(tmp_path):
    path = book(tmp_path / "a.xlsx", rows(), other=[["a", "y"], *([i, 2 * i] for i in range(20))])
    assert list(riata.open(f"{path}#other", "y").feature_names) == ["a"]
    assert riata.open(path, "y").n_rows == 60
    with pytest.raises(DataError, match="has no sheet 'third'; it has 'rows', 'other'"):
        riata.open(f"{path}#third", "y")


def test_sheets_that_are_not_read_are_said(tmp_path):
    path = book(tmp_path / "a.xlsx", [["note"], ["see the other"]], other=[["a", "y"], *([i, i] for i in range(20))])
    with pytest.raises(DataError, match=r"no column 'y' in .*a\.xlsx \(it has sheets 'other', too\).*there are 'note'"):
        riata.open(path, "y")
    assert any(
        "the first sheet is read, and not 'other'" in note for note in riata.open(path, need_target=False).profile.notes
    )
    assert not any("sheet" in note for note in riata.open(f"{path}#other", "y").profile.notes)


def test_columns_without_a_name_of_their_own_are_named_as_those_of_text_files(tmp_path):
    header = [None, "a", "a", None, "y"]
    data = riata.open(book(tmp_path / "a.xlsx", [header, *([i, i % 7, i % 5, i % 3, i] for i in range(40))]), "y")
    assert list(data.feature_names) == ["a", "a.1", "column 4"]
    said = "; ".join(data.profile.notes)
    for note in ("has no name and numbers the rows", "are called 'column 4'", "a number behind them: 'a.1'"):
        assert note in said


def test_several_workbooks_are_one_table(tmp_path):
    for i in range(3):
        book(tmp_path / f"{i}.xlsx", rows(20))
    for source in (tmp_path, f"{tmp_path}/*.xlsx"):
        assert riata.open(source, "y").n_rows == 60


def test_a_cell_of_another_type_is_named_or_its_row_skipped(tmp_path):
    plain = [["a", "y"], *([i, i] for i in range(FIRST_ROWS + 50))]
    plain[FIRST_ROWS + 20][0] = "many"
    path = book(tmp_path / "a.xlsx", plain)
    with pytest.raises(
        DataError, match=rf"a\.xlsx, row {FIRST_ROWS + 21}: column 'a' holds 'many', where the first rows have numbers"
    ):
        riata.open(path, "y")
    data = riata.open(path, "y", on_error="skip")
    assert data.n_rows == FIRST_ROWS + 49
    assert any(note.startswith("1 row could not be read: left out") for note in data.profile.notes)
    levels = riata.open(path, "y", categorical=["a"])
    assert levels.n_rows == FIRST_ROWS + 50


def test_text_is_read_as_that_of_csv_files_is(tmp_path):
    """Percentages, decimal commas, dates, codes and stray words, though all cells are text."""
    header = ["share", "price", "day", "zip", "paid", "mostly", "y"]
    body = [
        [
            f"{i}%",
            f"1.0{i},5",
            f"{1 + i % 28}/{1 + i % 12}/2013",
            f"0{i}",
            "yes" if i % 2 else "no",
            "lots" if i == 9 else i,
            i,
        ]
        for i in range(10, 60)
    ]
    body[-1][5] = "lots"
    path = book(tmp_path / "a.xlsx", [header, *body])
    data = riata.open(path, "y")
    names = list(data.feature_names)
    for name in ("share", "price", "day.days", "paid"):
        assert name in names
    assert data.profile.columns["zip"].type == "category"
    assert any("'mostly' looks like numbers but for 'lots' (1)" in note for note in data.profile.notes)
    assert any("day first" in note for note in data.profile.notes)
    better = riata.open(path, "y", csv={"missing": ["lots"]})
    assert "mostly=(missing)" in list(better.feature_names)
    model = riata.SparseRegressor(k=1).fit(better)
    assert len(model.predict(path)) == 50


def test_what_is_no_table_is_said(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="empty sheet"):
        riata.open(book(tmp_path / "a.xlsx", []), "y")
    with pytest.raises(DataError, match=r"row 1 has 1 name for 2 columns: if the header is row 3 .*csv=\{'skip': 2\}"):
        riata.open(book(tmp_path / "b.xlsx", [["Sales"], [], ["a", "y"], *[[i, i * i] for i in range(30)]]), "y")
    assert riata.open(tmp_path / "b.xlsx", "y", csv={"skip": 2}).n_rows == 30
    no_names = riata.open(book(tmp_path / "e.xlsx", [[i, i * i] for i in range(30)]), "x1", csv={"header": "no"})
    assert no_names.n_rows == 30
    path = tmp_path / "c.xlsx"
    content = (tmp_path / "a.xlsx").read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"c\.xlsx is damaged or no workbook"):
        riata.open(path, "y")
    (tmp_path / "d.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"d\.csv is an Excel workbook, not CSV text .*: give it the ending \.xlsx"):
        riata.open(tmp_path / "d.csv", "y")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'riata\[excel\]'"):
        riata.open(tmp_path / "a.xlsx", "y")
