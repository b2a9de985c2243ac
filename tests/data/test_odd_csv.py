"""Files as the world writes them give the answers that they should."""

import csv
import gzip
from datetime import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from pyarrow import fs
from tests.data.odd_csv import CLEAN, DAYS, EARLY, FILES, Odd, continental, odd, text, thousands

import riata
from riata.data.encoding import Encoding
from riata.data.formats.csv import Csv
from riata.data.formats.csv_options import csv_options
from riata.data.formats.files import find_files
from riata.data.formats.parts import parts_of
from riata.errors import DataError, OptionError


def opened(folder, file: Odd, **options):
    path = folder / file.name
    path.write_bytes(file.content)
    return riata.open(path, target=options.pop("target", "y"), drop=file.drop, csv=file.csv or None, **options)


def coefficients(data):
    model = riata.SparseRegressor(alpha=1e-9, max_passes=50).fit(data).to_model()
    return {name: model.coef[0, j] for j, name in enumerate(model.names)} | {"": model.intercept[0]}


@pytest.mark.parametrize("case", FILES)
def test_an_odd_file_gives_the_answer_of_the_clean_one(case, tmp_path):
    file = FILES[case]
    target = "x2" if file.features[0] == "x0" else "y"
    data = opened(tmp_path, file, target=target)
    if file.exactly:
        assert data.feature_names == list(file.features)
    assert set(file.features) <= set(data.feature_names)
    said = " | ".join(data.profile.notes)
    for part in file.notes:
        assert part in said
    if not file.notes and not file.csv:
        assert "read with" not in said
    for column, kind in file.kinds.items():
        assert data.profile.columns[column].type == kind
    for column, n_missing in file.missing.items():
        assert data.profile.columns[column].missing == n_missing
    if file.coefficients:
        found = coefficients(data)
        assert found["a"] == pytest.approx(2, abs=1e-3)
        assert found["b"] == pytest.approx(-3, abs=1e-3)
    else:
        assert data.n_rows == 60


EITHER_DATE = odd(text(more={"d": [f"{d:%d/%m/%Y}" for d in EARLY]}))
REFUSED = {
    "dates day or month first": (EITHER_DATE, "'d' has dates such as '01/01/2013', which may have the day"),
    "thousands or decimals": (
        odd("n;y\n" + "1,391;1\n2,500;2\n17,125;4\n" * 5),
        "column 'n' has numbers such as '1,391', in which the comma may divide thousands or be a decimal comma",
    ),
    "lines before the header": (odd("made by a machine\n" + text()), "most rows have 3 cells, and line 1 has 1 names"),
    "a title and an empty line before the header": (
        odd("Sales report\nexported in 2024\n\n" + text()), r"if the header is line 4 .*csv={'skip': 3}\)"
    ),
    "a row of words that is no row of units": (
        odd(text().replace("\n", "\nm,kg,EUR\n", 1), csv={"units": "no"}), "'y' looks like numbers but for 'EUR'"
    ),
    "percent and not": (odd("n,y\n" + "34%,1\n0.34,2\n5%,3\n" * 5), "'n' has numbers with different signs"),
    "two currencies": (odd("n,y\n" + "$34,1\n€5,2\n" * 5), "'n' has numbers with different signs"),
    "a target with words": (
        odd("n,y\n" + "".join(f"{i},{i if i % 20 else 'sold'}\n" for i in range(100))),
        "the target would have classes: column 'y' looks like numbers but for 'sold' \\(5\\) of 100 values",
    ),
    "a target of dollars with a word": (
        odd("n,y\n" + "".join(f"{i},${i if i != 50 else 'pending'}\n" for i in range(100))),
        r"the target would have classes: column 'y' looks like numbers but for '\$pending' \(1\) of 100 values",
    ),
    "a target with many words": (
        odd("n,y\n0,5\n" + "".join(f"{i},n{i}\n" for i in range(2000))),
        "rows.csv, line 3: the target 'y' is 'n0' here, which is text, and it has more than 1000 values",
    ),
    "a quote that is not closed": (odd('t,y\nx,1\n"z,2\nx,3\nx,4\n'), "."),
    "a quote that is not closed, in the last column": (
        odd('y,t\n1,x\n2,"z\n3,x\n4,x\n'), "a quote is opened before 'z.* and never closed"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_may_mean_two_things_is_refused_in_a_sentence(case, tmp_path):
    file, sentence = REFUSED[case]
    with pytest.raises(DataError, match=sentence):
        opened(tmp_path, file)


def test_a_later_file_is_read_as_the_one_that_was_learnt_from(tmp_path):
    """Dates that may be read in two ways, and numbers that may be thousands, mean what they meant in training."""
    first = text(thousands, more={"d": [f"{d:%d/%m/%Y}" for d in DAYS]})
    train = opened(tmp_path, odd(first))
    model = riata.SparseRegressor(k=3).fit(train).to_model()
    model.save(tmp_path / "model.json")
    model = riata.load_model(tmp_path / "model.json")
    later = {"a": ["1,391", "2,500"], "b": ["1", "2"], "d": ["01/02/2013", "03/04/2013"]}
    plain = {"a": [1391.0, 2500.0], "b": [1.0, 2.0], "d": [datetime(2013, 2, 1), datetime(2013, 4, 3)]}
    for separator in ",;\t":
        lines = [list(later), *zip(*later.values(), strict=True)]
        (tmp_path / "later.csv").write_text("\n".join(separator.join(f'"{cell}"' for cell in line) for line in lines))
        assert model.predict(tmp_path / "later.csv") == pytest.approx(model.predict(pa.table(plain)))


@pytest.mark.parametrize("asked", [None, ",", "."])
def test_what_the_model_and_a_later_file_tell_differently_is_refused(asked, tmp_path):
    """1.250 had a point between thousands in training, and lies now beside 0.500."""
    german = odd(text(continental, sep=";"))
    model = riata.SparseRegressor(k=2).fit(opened(tmp_path, german)).to_model()
    path = tmp_path / "later.csv"
    path.write_text("a,b\n0.500,1.250\n0.700,2.250\n")
    if asked is None:
        with pytest.raises(
            DataError, match=r"'b' has numbers such as '1.250'.*csv={'decimal': ','} or csv={'decimal': '\.'}"
        ):
            model.predict(path)
    path.write_text("a;b\n1;1.250\n2;2.250\n")
    known = Encoding.from_json(model.encoding).cells
    source = Csv(find_files(str(path)), block_bytes=1 << 20, known=known, options=csv_options({"decimal": asked}))
    found = [b for batch in source.batches(["b"], 100) for b in batch.column("b").to_pylist()]
    assert found == ([1.25, 2.25] if asked == "." else [1250.0, 2250.0])


def test_rows_with_a_word_among_dollars_are_skipped(tmp_path):
    rows = "".join(f"{i},${1000 + i:,.2f}\n" for i in range(60))
    (tmp_path / "x.csv").write_text("n;y\n" + rows.replace(",$", ";$").replace("30;$1,030.00", "30;pending"))
    data = riata.open(tmp_path / "x.csv", target="y", on_error="skip")
    assert data.n_rows == 59
    assert data.profile.columns["y"].mean == pytest.approx((sum(range(1000, 1060)) - 1030) / 59)


def test_days_as_whole_numbers_are_days_in_a_later_file_too(tmp_path):
    days = "".join(f"{d:%Y%m%d},{i}\n" for i, d in enumerate(DAYS))
    model = riata.SparseRegressor(k=1).fit(opened(tmp_path, odd("date,y\n" + days))).to_model()
    (tmp_path / "later.csv").write_text("date\n20130131\n20150228\n")
    plain = pa.table({"date": [datetime(2013, 1, 31), datetime(2015, 2, 28)]})
    assert model.predict(tmp_path / "later.csv") == pytest.approx(model.predict(plain))


LATER = {
    "percentages without the sign": ([f"{i}%" for i in range(10, 70)], ["0.10", "0.2"], "without a % where the model"),
    "one date of the other order": (
        [f"{1 + i % 28:02}/{1 + i % 12:02}/2020" for i in range(60)],
        ["01/02/2020", "12/31/2020"],
        "dates that cannot be day first, as they were when the model was made",
    ),
}


@pytest.mark.parametrize("case", LATER)
def test_a_column_that_means_another_thing_later_is_refused(case, tmp_path):
    then, now, sentence = LATER[case]
    (tmp_path / "train.csv").write_text("a,y\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(then)))
    (tmp_path / "later.csv").write_text("a\n" + "".join(f"{cell}\n" for cell in now))
    model = riata.SparseRegressor(k=1).fit(riata.open(tmp_path / "train.csv", "y")).to_model()
    with pytest.raises(DataError, match=sentence):
        model.predict(tmp_path / "later.csv")


def test_a_column_that_begins_empty_is_read_as_the_model_read_it(tmp_path):
    train = "".join(f"{i}.{391 + i:03};{i}\n" for i in range(1, 60))
    (tmp_path / "train.csv").write_text("a;y\n2,5;0\n" + train)
    (tmp_path / "later.csv").write_text("a;b\n" + ";x\n" * 1_500_000 + "1.391;x\n")  # longer than a block
    model = riata.SparseRegressor(k=1).fit(riata.open(tmp_path / "train.csv", "y")).to_model()
    found = model.predict(tmp_path / "later.csv")
    assert found[-1] == pytest.approx(model.predict(pa.table({"a": [1391.0]}))[0])


@pytest.mark.parametrize(("pattern", "cells"), {"%Y-%d-%m": "2020-05-{:02}", "%Y%m%d": "202005{:02}"}.items())
def test_a_pattern_of_dates_is_followed(pattern, cells, tmp_path):
    rows = [cells.format(1 + i % 12) for i in range(60)]
    (tmp_path / "dates.csv").write_text("d,y\n" + "".join(f"{row},{i}\n" for i, row in enumerate(rows)))
    data = riata.open(tmp_path / "dates.csv", "y", csv={"dates": pattern})
    column = data.profile.columns["d"]
    assert column.type == "date"
    assert [column.least, column.largest] == [
        str(datetime.strptime(row, pattern).date()) for row in (rows[0], rows[11])
    ]


def test_a_later_file_may_be_written_in_another_way(tmp_path):
    """Syntax is a matter of each file, and so are decimal commas where the training's numbers had points."""
    model = riata.SparseRegressor(k=2).fit(opened(tmp_path, CLEAN)).to_model()
    wanted = model.predict(tmp_path / "rows.csv")
    for case in ("decimal commas", "utf-16", "comments", "quoted newlines", "windows line ends", "continental"):
        (tmp_path / "other.csv").write_bytes(FILES[case].content)
        assert model.predict(tmp_path / "other.csv") == pytest.approx(wanted)


LONG = "a first line\n" + 'and, "more"\n' * 20_000  # 200 kB


@pytest.mark.parametrize("n_parts", [1, 3, 40])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("block", [1 << 12, 1 << 16, 1 << 20])
def test_quoted_newlines_of_any_size_anywhere(block, encoding, n_parts, tmp_path):
    """In blocks much smaller than a cell, and in parts that are read apart."""
    rng = np.random.default_rng(block)
    pieces = np.array(["a", "\n", '"', ",", " ", "é", "\n\n", "word"])
    cells = ["".join(rng.choice(pieces, size=rng.integers(0, 9))) + "!" for _ in range(2000)]
    cells[1000] = LONG
    rows = [[i, cell, i / 4] for i, cell in enumerate(cells)]
    with open(tmp_path / "q.csv", "w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([["i", "t", "y"], *rows])
        file.write('2000,5" pipe,500\n')  # a quote that is no quote
    source = Csv(find_files(str(tmp_path / "q.csv")), block_bytes=block)
    batches = [b for part in parts_of(source, n_parts) for b in part.batches(["i", "t", "y"], 1000)]
    found = pa.Table.from_batches(batches).to_pydict()
    assert found == {"i": [*range(2001)], "t": [*cells, '5" pipe'], "y": [i / 4 for i in range(2001)]}


def test_rows_with_newlines_are_not_skipped_as_bad_ones(tmp_path):
    rows = "".join(f'{i},"two\nlines, {i}",{i}\n' for i in range(100_000)) + "1,2\n" + "oops,x,4\n"
    (tmp_path / "q.csv").write_text("a,t,y\n" + rows)
    data = riata.open(tmp_path / "q.csv", target="y", drop=["t"], on_error="skip")
    assert data.n_rows == 100_000
    note = next(note for note in data.profile.notes if note.startswith("2 rows could not be read: left out ("))
    assert "q.csv, row 100001" in note
    assert "q.csv, row 100002" in note


def test_letters_of_another_encoding_beyond_the_first_look_are_a_sentence(tmp_path):
    path = tmp_path / "late.csv"
    path.write_bytes(b"c,y\n" + b"plain,1\nother,2\n" * 300_000 + "Köln,3\n".encode("latin-1") * 20)
    with pytest.raises(DataError, match=r"not UTF-8.*csv={'encoding': 'latin-1'}"):
        riata.open(path, target="y")
    assert "c=Köln" in riata.open(path, target="y", csv={"encoding": "latin-1"}).feature_names


@pytest.mark.parametrize("given", [{"sep": ","}, {"decimal": ";"}, {"header": "maybe"}, {"dates": "year"},
        {"dates": "%d%d%Y"},
        {"dates": "%Q"}, "decimal=,",
                                   {"encoding": "utf-99"}, {"separator": ", "}, {"skip": "two"}])  # fmt: skip
def test_options_that_there_are_not_are_refused(given, tmp_path):
    (tmp_path / "x.csv").write_text(text())
    with pytest.raises(OptionError, match=r"csv|CSV"):
        riata.open(tmp_path / "x.csv", target="y", csv=given)


def test_a_column_of_dollars_with_a_word_is_not_called_an_identifier(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("n;m;y\n" + "".join(f"${1000 + i:,.2f};{i % 7};{i}\n" for i in range(60)) + "$many;1;60\n")
    said = " | ".join(riata.open(path, target="y").profile.notes)
    assert said.count("'n' looks like numbers but for '$many' (1) of 61 values") == 1
    assert "csv={'missing': ['$many']}); until then it is left out" in said
    assert "identifier" not in said


def test_classes_that_differ_in_capital_letters_are_pointed_out(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("n,y\n" + "".join(f"{i % 7},{('Up', 'up', 'down', 'Down ', 'left')[i % 5]}\n" for i in range(60)))
    said = " | ".join(riata.open(path, target="y").profile.notes)
    assert "classes of 'y' differ in capital letters or spaces alone" in said
    assert "'Up' and 'up'" in said
    assert "left" not in said.split("alone (")[1].split(")")[0]


def test_compressed_files_are_looked_at_alike(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(FILES["utf-16"].content))
    assert "utf-16 letters" in riata.open(tmp_path / "x.csv.gz", target="y").profile.notes[0]


def test_files_that_are_written_in_two_ways_are_read_together(tmp_path):
    (tmp_path / "1.csv").write_bytes(FILES["decimal commas"].content)
    (tmp_path / "2.csv").write_bytes(FILES["decimal commas between tabs"].content)
    assert coefficients(riata.open(tmp_path / "*.csv", target="y"))["b"] == pytest.approx(-3, abs=1e-3)


def test_free_text_is_suspected(tmp_path):
    reviews = [f"this is the review number {i} of a very long day" for i in range(60)]
    data = opened(tmp_path, odd(text(more={"review, long": reviews})))
    assert any("'review, long' looks like free text" in note and "categorical=['review, long']" in note
               for note in data.profile.notes)  # fmt: skip
    assert "review, long:review" in data.feature_names


@pytest.mark.parametrize("quoted", [False, True])
def test_parts_of_a_remote_file_are_right_or_refused(quoted, tmp_path):
    """It is not read through to find quotes: parts with quotes that the first look did not see are refused."""
    rows = [f"{i},t,{i}" for i in range(20_000)]
    if quoted:
        rows[15_000] = '15000,"two\nlines",15000'
    (tmp_path / "r.csv").write_text("\n".join(["a,t,y", *rows]))
    afar = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    parts = parts_of(Csv(find_files("r.csv", afar), block_bytes=1 << 12), 7)
    assert len(parts) == 7
    if quoted:
        with pytest.raises(DataError, match="quotes after its first rows"):
            [batch for part in parts for batch in part.batches(["a", "t"], 1000)]
    else:
        found = [a for part in parts for batch in part.batches(["a"], 1000) for a in batch.column("a").to_pylist()]
        assert found == [*range(20_000)]


@pytest.mark.parametrize("case", ["words among numbers", "either date"])
def test_a_later_file_that_cannot_be_read_as_before_is_refused(case, tmp_path):
    """Numbers have words among them; dates, which were plain, may now be read in two ways."""
    days = {"d": [f"{d:%Y-%m-%d}" for d in DAYS]}
    first = {"c": [str(i) for i in range(60)]} if case == "words among numbers" else days
    model = riata.SparseRegressor(k=2).fit(opened(tmp_path, odd(text(more=first), drop=["a"]))).to_model()
    later = FILES.get(case, EITHER_DATE)
    (tmp_path / "later.csv").write_bytes(later.content)
    with pytest.raises(DataError, match=r"but for 'unknown'|which may have the day or the month first"):
        model.predict(tmp_path / "later.csv")


def test_a_column_that_a_model_knows_as_numbers_is_no_time(tmp_path, rng):
    """Seconds were counted from the start of a run, and later files happen to count from 1970."""
    for name, origin in (("early", 0), ("late", 1_500_000_000)):
        seconds = origin + np.arange(60) * 1000
        rows = pd.DataFrame({"timestamp": seconds, "x": rng.normal(size=60)})
        rows.assign(y=rows["x"] + 1e-5 * rows["timestamp"]).to_csv(tmp_path / f"{name}.csv", index=False)
    data = riata.open(str(tmp_path / "early.csv"), "y")
    model = riata.SparseRegressor(alpha=1e-6).fit(data).to_model()
    late = pd.read_csv(tmp_path / "late.csv")
    assert_allclose(model.predict(str(tmp_path / "late.csv")), model.predict(late), rtol=1e-9)


def test_years_beside_an_empty_cell_over_the_names_of_rows_are_names(tmp_path):
    rows = ['"Food",22.2,44.5,59.6', '"Household",10.5,15.5,29', '"Medical",3.53,5.76,9.71', '"Private",.341,.974,2.45']
    (tmp_path / "spent.csv").write_text("\n".join(['"","1940","1950","1960"', *rows]) + "\n")
    data = riata.open(tmp_path / "spent.csv", "1960")
    assert data.n_rows == 4
    assert {"1940", "1950"} < set(data.feature_names)
    (tmp_path / "plain.csv").write_text("\n".join([",22.2,44.5,59.6", *rows]) + "\n")
    assert riata.open(tmp_path / "plain.csv", "59.6", csv={"header": True}).n_rows == 4


def test_a_first_row_with_gaps_is_no_header(tmp_path):
    rows = ["1\t\t5\t05db9164", "0\t2\t\t68fd1e64", "0\t3\t1\t05db9164", "1\t\t2\t8cf07265"] * 20
    (tmp_path / "log.tsv").write_text("\n".join(rows) + "\n")
    data = riata.open(tmp_path / "log.tsv", "x0")
    assert data.n_rows == 80
    assert list(data.feature_names[:4]) == ["x1", "x1=(missing)", "x2", "x2=(missing)"]
    (tmp_path / "named.tsv").write_text("\n".join(["y\t\tb\tc", *rows]) + "\n")
    assert riata.open(tmp_path / "named.tsv", "y").n_rows == 80


@pytest.mark.parametrize("first", ["2013/01/05", "2013-01"])
def test_years_that_come_first_do_not_tell_what_comes_first_elsewhere(first, tmp_path):
    """Beside dates that may be read in two ways."""
    lines = "".join(f"{first},0{i}/02/2013,{i}\n" for i in range(1, 6))
    (tmp_path / "rows.csv").write_text(f"a,b,y\n{lines}")
    with pytest.raises(
        DataError, match="column 'b' has dates such as '01/02/2013', which may have the day or the month"
    ):
        riata.open(tmp_path / "rows.csv", target="y")
    data = riata.open(tmp_path / "rows.csv", target="y", csv={"dates": "day first"})
    assert data.profile.columns["b"].largest == "2013-02-05"
    assert data.profile.columns["a"].type == "date"
