"""Formats of cells: what is valid is parsed to the value it stands for, and survives a file."""

import json
from datetime import datetime

import pyarrow as pa
import pytest

from riata.data.cells.booleans import BOOLEAN_FORMATS, BooleanFormat
from riata.data.cells.dates import DATE_FORMATS, DateFormat, EpochFormat
from riata.data.cells.formats import from_json
from riata.data.cells.numbers import NUMBER_FORMATS, NumberFormat
from riata.schema import SchemaError

VALID = [
    (NumberFormat(), "1391.5", 1391.5), (NumberFormat(), " +.5e2 ", 50.0), (NumberFormat(".", ","), "1,391.5", 1391.5),
    (NumberFormat(".", ","), "1391.5", 1391.5), (NumberFormat(",", "."), "-1.391,5", -1391.5),
    (NumberFormat(",", " "), "1\u00a0391,5", 1391.5), (NumberFormat(".", "'"), "1\u2019391", 1391.0),
    (NumberFormat(mark="%"), "34.0%", 34.0), (NumberFormat(mark="%"), "34.0 %", 34.0),
    (NumberFormat(".", ",", "$"), "-$2,101.33", -2101.33), (NumberFormat(".", ",", "$"), "$-2,101.33", -2101.33),
    (NumberFormat(".", ",", "$", "(5)"), "($2,101.33)", -2101.33), (NumberFormat(".", ",", "$", "(5)"), "$(1.5)", -1.5),
    (NumberFormat(".", "", "", "(5)"), "( 5 )", -5.0), (NumberFormat(".", "", "", "(5)"), "-5", -5.0),
    (NumberFormat(",", ".", "€", "5-"), "1.170,01- €", -1170.01), (NumberFormat(",", "", "€", "5-"), "0,5 €-", -0.5),
    (NumberFormat(negative="5-"), "1e-2", 0.01),
    (NumberFormat(",", ".", "EUR"), "EUR 1.391,50", 1391.5), (BooleanFormat("yes", "no"), " YES", True),
    (BooleanFormat("yes", "no"), "No", False), (DateFormat("%Y-%m"), "2013-02", datetime(2013, 2, 1)),
    (DateFormat("%A, %d %B %Y"), "Thursday, 31 January 2013", datetime(2013, 1, 31)),
    (DateFormat("%a, %b %d, %Y"), "Thu, Jan 31, 2013", datetime(2013, 1, 31)),
]  # fmt: skip
INVALID = [
    (NumberFormat(), "1,5"), (NumberFormat(".", ","), "1,39"), (NumberFormat(".", ","), "0,391"),
    (NumberFormat(".", ","), "1391,500"), (NumberFormat(",", "."), "1.5"), (NumberFormat(), "0x1f"),
    (NumberFormat(), "(5)"), (NumberFormat(), "5-"), (NumberFormat(negative="(5)"), "(-5)"),
    (NumberFormat(negative="(5)"), "(5"), (NumberFormat(negative="5-"), "-5-"), (NumberFormat(), "nan"),
    (NumberFormat(), "34%"), (DateFormat("%d/%m/%Y"), "31/02/2013"),
    (DateFormat("%d/%m/%Y"), "1/13/2013"), (DateFormat("%d/%m/%Y"), "1/2/13"),
    (DateFormat("%d/%m/%Y"), "1/2/2013 5:00"), (DateFormat("%Y-%m"), "2013-13"), (DateFormat("%Y-%m"), "4711-05"),
    (BooleanFormat("yes", "no"), "maybe"), (EpochFormat("s"), "1.5"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "cell", "value"), VALID)
def test_cells_stand_for_values(form, cell, value):
    cells = pa.array([cell, None])
    assert form.valid(cells).to_pylist() == [True, None]
    assert form.parse(cells).to_pylist() == [value, None]
    assert form.parse(cells).type == form.type


@pytest.mark.parametrize(("form", "cell"), INVALID)
def test_other_cells_are_not_valid(form, cell):
    assert form.valid(pa.array([cell])).to_pylist() == [False]


@pytest.mark.parametrize("form", [*NUMBER_FORMATS, *BOOLEAN_FORMATS, *DATE_FORMATS, EpochFormat("ms")])
def test_a_format_survives_a_file(form):
    assert from_json(json.loads(json.dumps(form.to_json()))) == form


@pytest.mark.parametrize(
    "plain",
    [{"kind": "number", "thousands": "x"}, {"kind": "number", "negative": "x"},
     {"kind": "date", "pattern": "%d%d%Y"}, {"kind": "date", "pattern": 5},
     {"kind": "epoch", "unit": "h"}],
)  # fmt: skip
def test_a_file_that_was_changed_is_no_format(plain):
    with pytest.raises(SchemaError):
        from_json(plain)
