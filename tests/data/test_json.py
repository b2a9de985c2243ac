"""JSON lines and arrays: nested fields, awkward strings, bad records, and blocks of any size."""

import json

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import riata
from riata.cli import main
from riata.data.formats.files import find_files
from riata.data.formats.json import Json
from riata.data.formats.json_array import _Cutter, lines_of_array
from riata.data.formats.parts import parts_of
from riata.data.opening.sources import Reading, open_source
from riata.errors import DataError

STRINGS = ("Oslo", 'a "quoted" \\ name', "[{]},:", "new\nline", "æøå", "\\", '"')


def records(n=300):
    rng = np.random.default_rng(3)
    return [
        {
            "y": float(i % 7),
            "place": {"city": STRINGS[i % len(STRINGS)], "at": {"lat": float(rng.normal()), "lon": i}},
            "when": f"2020-0{1 + i % 9}-01T10:00:00",
            "sizes": [i, 0.5 * i],
        }
        | ({"often": True} if i % 3 else {})
        for i in range(n)
    ]


def write(path, rows, **how):
    text = json.dumps(rows, **how) if path.suffix == ".json" else "".join(json.dumps(row, **how) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return str(path)


def source(path, block_bytes=1 << 20, **options):
    return Json(find_files(str(path)), block_bytes=block_bytes, **options)


def rows_of(path, block_bytes=1 << 20, **options):
    reader = source(path, block_bytes, **options)
    found = [row for batch in reader.batches(reader.schema.names, 50) for row in batch.to_pylist()]
    return found, reader


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
@pytest.mark.parametrize("how", [{}, {"indent": 3}, {"ensure_ascii": False}], ids=str)
@pytest.mark.parametrize("block_bytes", [64, 1000, 1 << 20])
def test_fields_have_dotted_names_whatever_the_blocks(tmp_path, name, how, block_bytes):
    if name == "rows.jsonl" and "indent" in how:
        pytest.skip("a record on several lines is no JSON line")
    rows = records()
    found, reader = rows_of(write(tmp_path / name, rows, **how), block_bytes)
    assert reader.schema.names[:5] == ["y", "place.city", "place.at.lat", "place.at.lon", "when"]
    assert [row["place.city"] for row in found] == [row["place"]["city"] for row in rows]
    assert [row["place.at.lat"] for row in found] == [row["place"]["at"]["lat"] for row in rows]
    assert [row["sizes"] for row in found] == [row["sizes"] for row in rows]
    if block_bytes > 64:  # of one record, where there is no such field, its name is not known
        assert [row["often"] for row in found] == [row.get("often") for row in rows]


def test_all_kinds_of_values_become_features(tmp_path):
    data = riata.open(write(tmp_path / "rows.jsonl", records()), "y", task="regression")
    names = list(data.feature_names)
    for name in ("place.at.lat", "place.city=Oslo", "when.month=3", "sizes[1]", "often=(missing)"):
        assert name in names


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


class Dripping:
    """A stream that gives a few bytes at a time."""

    def __init__(self, content: bytes, size: int) -> None:
        self.content, self.size = content, size

    def read(self, n_bytes: int) -> bytes:
        part, self.content = self.content[: self.size], self.content[self.size :]
        return part


@given(
    rows=st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=3), max_size=6),
    indent=st.sampled_from([None, 1]),
    ascii_only=st.booleans(),
    size=st.integers(1, 40),
)
@settings(max_examples=150)
def test_an_array_is_cut_into_its_records(rows, indent, ascii_only, size):
    content = json.dumps(rows, indent=indent, ensure_ascii=ascii_only).encode()
    lines = b"".join(block.tobytes() for block in lines_of_array(Dripping(content, size), 1 << 10, "x"))
    assert [json.loads(line) for line in lines.splitlines() if line.strip()] == rows


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
def test_blocks_are_all_that_is_held(tmp_path, name):
    rows = [{"y": i, "a": "x" * 100, "b": {"c": 0.5}} for i in range(40_000)]
    path, block = write(tmp_path / name, rows), 1 << 16
    assert (tmp_path / name).stat().st_size > 50 * block
    reader, before = source(path, block), pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in reader.batches(["y", "a", "b.c"], 1000)]
    assert len(held) > 40
    assert max(held) < 10 * block


BAD = {
    "a string among numbers": ('{"y": 1, "a": "many"}', "column 'a' is text, and a number in other rows"),
    "an object among numbers": ('{"y": 1, "a": {"b": 1}}', "column 'a' is an object, and a number in other rows"),
    "no JSON": ('{"y": 1, "a": ', "this is no JSON"),
    "a list": ("[1, 2]", "no record such as {...} here"),
    "a name twice": ('{"y": 1, "a": 1, "a": 2}', "'a' is there twice"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("block_bytes", [64, 1 << 20])
def test_a_bad_record_is_named_or_skipped(tmp_path, kind, block_bytes):
    bad, sentence = BAD[kind]
    lines = [json.dumps({"y": i, "a": i}) for i in range(40)]
    lines[11:11] = ["", bad]
    lines[30:30] = [bad]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError) as raised:
        rows_of(tmp_path / "rows.jsonl", block_bytes)
    assert "rows.jsonl, line 13: " in str(raised.value)
    assert sentence in str(raised.value)
    found, reader = rows_of(tmp_path / "rows.jsonl", block_bytes, skip_bad=True)
    assert [row["y"] for row in found] == list(range(40))
    assert reader.skipped == 2
    data = riata.open(tmp_path / "rows.jsonl", "y", on_error="skip")
    note = next(note for note in data.profile.notes if note.startswith("2 rows could not be read: left out ("))
    assert "rows.jsonl, line 13; " in note


def test_a_bad_record_of_an_array_is_told_by_its_row(tmp_path):
    rows = [{"a": i, "y": i} for i in range(20)]
    rows[7]["a"] = "many"
    with pytest.raises(DataError, match=r"rows\.json, row 8: column 'a' is text"):
        riata.open(write(tmp_path / "rows.json", rows, indent=1), "y")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"columns": ["a"],\n "data": [[1]]}', "a record such as {...} on every line, or an array"),
        ("[1, 2, 3]", "a JSON array, but not of records"),
        ('[{"a": 1, "y": 2}, {"a": 1', "cut short: its JSON array does not end"),
        ('[{"a": 1, "y": 2}]\n[{"a": 1}]' + " " * 5000 + "[", "goes on after the end of its JSON array"),
        ("[]", "holds no records"),
        ("", "holds no records"),
    ],
)
def test_what_is_not_records_is_said(tmp_path, content, sentence):
    (tmp_path / "rows.json").write_text(content)
    with pytest.raises(DataError) as raised:
        riata.open(tmp_path / "rows.json", "y")
    assert sentence in str(raised.value)


def test_files_may_lack_fields_and_have_others(tmp_path):
    write(tmp_path / "a.jsonl", [{"y": i, "a": i} for i in range(20)])
    write(tmp_path / "b.jsonl", [{"y": i, "a": None, "b": "x"} for i in range(20)])
    data = riata.open(tmp_path, "y", task="regression")
    assert data.n_rows == 40
    assert list(data.feature_names) == ["a", "a=(missing)", "b=(missing)"]
    write(tmp_path / "c.jsonl", [{"y": 1, "a": "text"}])
    with pytest.raises(DataError, match=r"c\.jsonl has a column of another type than .*a\.jsonl"):
        riata.open(tmp_path, "y")


def test_numbers_that_are_names_keep_them(tmp_path):
    write(tmp_path / "a.jsonl", [{"y": i % 5, "code": 7 + i % 2, "none": None} for i in range(40)])
    data = riata.open(tmp_path / "a.jsonl", "y", categorical=["code", "none"], task="regression")
    assert list(data.feature_names) == ["code=8", "none=(missing)"]
    model = riata.SparseRegressor(k=1).fit(data)
    assert np.isfinite(model.predict(tmp_path / "a.jsonl")).all()


def test_lines_are_shared_out_and_arrays_are_not(tmp_path):
    rows = records(100)
    for name, n_parts in (("rows.jsonl", 3), ("rows.json", 1)):
        whole = source(write(tmp_path / name, rows))
        parts = parts_of(whole, 3)
        assert len(parts) == n_parts
        found = [y for part in parts for batch in part.batches(["y"], 50) for y in batch["y"].to_pylist()]
        assert found == [row["y"] for row in rows]


def test_the_command_line_takes_json_from_files_and_from_standard_input(tmp_path):
    rows = [{"a": i % 5, "b": {"c": i % 3}, "y": 2 * (i % 5) + i % 3} for i in range(60)]
    path = write(tmp_path / "rows.jsonl", rows)
    out = str(tmp_path / "model.json")

    def run(*arguments, **how):
        result = CliRunner().invoke(main, list(arguments), **how)
        assert result.exit_code == 0, result.output
        return result.stdout

    run("fit", path, "--target", "y", "--k", "2", "--quiet", "--out", out)
    assert riata.load_model(out).names == ["a", "b.c"]
    for given_rows in (path, write(tmp_path / "array.json", rows)):
        answers = run("predict", out, given_rows).split()[1:]
        np.testing.assert_allclose([float(one) for one in answers], [row["y"] for row in rows], atol=1e-6)
        with open(given_rows, "rb") as content:
            assert run("predict", out, "-", input=content.read()).split()[1:] == answers
    assert "R2" in run("evaluate", out, path, "--target", "y")
    assert "b.c" in run("profile", path, "--target", "y")
    run("convert", path, str(tmp_path / "rows.arrow"), "--target", "y")


UNENDING = {
    "a string": '{"a": "' + "x" * 400,
    "an object": '{"a": {' + '"b": [1, 2], ' * 30,
    "a list": '{"a": [' + "1, " * 140,
    "backslashes": '{"a": "' + "\\" * 401,
}


@pytest.mark.parametrize("kind", UNENDING)
@pytest.mark.parametrize("first", ["", '{"a": 1, "y": 2},'], ids=["at once", "later"])
def test_a_record_that_never_ends_is_not_read_to_the_end_of_the_file(tmp_path, kind, first, monkeypatch):
    (tmp_path / "rows.json").write_text("[" + first + UNENDING[kind] + " " * 1_000_000)
    scanned = []
    cut = _Cutter.cut
    monkeypatch.setattr(_Cutter, "cut", lambda self, text: scanned.append(len(text)) or cut(self, text))
    with pytest.raises(DataError, match=r"record .*does not end, or needs more memory"):
        rows_of(tmp_path / "rows.json", 1 << 10)
    assert sum(scanned) < 100 << 10  # of a million


def test_a_few_records_at_first_tell_as_much_as_many(tmp_path):
    records = [{"review": f"a film of {i} good and {i % 7} bad parts " * 8, "y": i % 3} for i in range(100)]
    (tmp_path / "rows.json").write_text(json.dumps(records))
    assert next(open_source(tmp_path / "rows.json", Reading(1 << 29)).batches(["review"], 1000)).num_rows < 20
    assert riata.open(tmp_path / "rows.json", target="y").profile.columns["review"].type == "text"


def test_lists_of_names_are_dropped_with_advice(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f'{{"tags": ["u", "v"], "a": {i % 5}, "y": {i}}}\n' for i in range(30)))
    notes = riata.open(path, target="y").profile.notes
    assert any("'tags' holds lists of names" in note and "text=['tags']" in note for note in notes)
