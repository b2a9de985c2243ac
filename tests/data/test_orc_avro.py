"""ORC and Avro files: types, nested fields, parts, damage, and what is said without fastavro."""

import datetime
import sys
from decimal import Decimal

import fastavro
import fsspec
import pyarrow as pa
import pytest
from pyarrow import orc

import riata
from riata.data.formats.files import find_files
from riata.data.formats.orc import Orc
from riata.data.formats.parts import parts_of
from riata.errors import DataError, MissingPackageError

N = 60
PLACE = {"type": "record", "name": "Place", "fields": [{"name": "city", "type": ["null", "string"]}]}
FIELDS = {
    "whole": "long",
    "size": ["null", "double"],
    "any": ["int", "double"],
    "flag": "boolean",
    "level": {"type": "enum", "name": "Level", "symbols": ["low", "high"]},
    "again": "Level",
    "day": {"type": "int", "logicalType": "date"},
    "at": {"type": "long", "logicalType": "timestamp-millis"},
    "price": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    "home": PLACE,
    "work": ["null", "Place"],
    "pair": {"type": "array", "items": "double"},
    "tags": {"type": "map", "values": "string"},
    "mixed": ["string", "long"],
    "y": "double",
}
FEATURES = (
    "whole", "size", "size=(missing)", "any", "flag", "level=low", "again=low", "day.days", "at.hour=5", "price",
    "home.city=Rom", "work.city=(missing)", "pair[1]",
)  # fmt: skip


def record(i):
    now = datetime.datetime(2020, 1, 1 + i % 20, i % 24, tzinfo=datetime.UTC)
    return {
        "whole": i, "size": None if i % 5 == 0 else 0.5 * i, "any": i if i % 2 else i + 0.5, "flag": i % 3 == 0,
        "level": "low" if i % 2 else "high", "again": "high" if i % 4 < 2 else "low", "day": now.date(), "at": now,
        "price": Decimal(i) / 4, "home": {"city": "Oslo" if i % 2 else "Rom"},
        "work": {"city": "Rom"} if i % 2 else None,
        "pair": [1.0 * i, 2.0], "tags": {"a": "b"}, "mixed": "a" if i % 2 else i, "y": i % 7 + 0.5,
    }  # fmt: skip


def write_avro(path, n=N, fields=FIELDS, **how):
    schema = {"type": "record", "name": "Row", "fields": [{"name": k, "type": v} for k, v in fields.items()]}
    with open(path, "wb") as file:
        fastavro.writer(file, schema, [{k: record(i)[k] for k in fields} for i in range(n)], **how)
    return str(path)


def test_types_of_avro_become_features(tmp_path):
    data = riata.open(write_avro(tmp_path / "a.avro"), "y")
    assert data.n_rows == N
    for name in FEATURES:
        assert name in list(data.feature_names)
    dropped = [note for note in data.profile.notes if "no feature: dropped" in note]
    assert [note.split("'")[1] for note in dropped] == ["tags", "mixed"]
    model = riata.SparseRegressor(k=3).fit(data)
    assert len(model.predict(tmp_path / "a.avro")) == N


def test_several_avro_files_and_small_budgets(tmp_path):
    for i in range(3):
        write_avro(tmp_path / f"{i}.avro", codec="deflate", sync_interval=300)
    assert riata.open(tmp_path, "y", memory="1MB").n_rows == 3 * N


def test_damage_of_avro_is_said(tmp_path, monkeypatch):
    write_avro(tmp_path / "a.avro")
    content = (tmp_path / "a.avro").read_bytes()
    for cut in (len(content) // 2, len(content) - 10):
        (tmp_path / "b.avro").write_bytes(content[:cut])
        with pytest.raises(DataError, match=r"b\.avro is damaged or cut short"):
            riata.open(tmp_path / "b.avro", "y")
    monkeypatch.setitem(sys.modules, "fastavro", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'riata\[avro\]'"):
        riata.open(tmp_path / "a.avro", "y")


def table(n=N):
    rows = [record(i) for i in range(n)]
    names = ["whole", "size", "flag", "level", "day", "at", "price", "home", "pair", "y"]
    return pa.table({name: [row[name] for row in rows] for name in names})


def test_types_of_orc_become_features(tmp_path):
    orc.write_table(table(), tmp_path / "a.orc")
    names = list(riata.open(tmp_path / "a.orc", "y").feature_names)
    for name in ("whole", "size=(missing)", "flag", "level=low", "day.days", "at.hour=5", "home.city=Rom", "pair[1]"):
        assert name in names


def test_stripes_of_orc_are_shared_out(tmp_path):
    orc.write_table(table(3000), tmp_path / "a.orc", stripe_size=1 << 14, batch_size=256)
    whole = Orc(find_files(str(tmp_path / "a.orc")))
    parts = parts_of(whole, 4)
    assert len(parts) > 1
    found = [one for part in parts for batch in part.batches(["whole"], 100) for one in batch["whole"].to_pylist()]
    assert found == list(range(3000))
    second = parts[1]
    first = next(second.batches(["whole"], 1))["whole"][0].as_py()
    assert second.where(0) == f"{tmp_path}/a.orc, row {first + 1}"


def test_damage_of_orc_is_said(tmp_path):
    orc.write_table(table(), tmp_path / "a.orc")
    content = (tmp_path / "a.orc").read_bytes()
    (tmp_path / "b.orc").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"b\.orc is damaged or cut short"):
        riata.open(tmp_path / "b.orc", "y")


def test_a_crash_over_orc_ends_another_process(tmp_path, monkeypatch):
    orc.write_table(table(), tmp_path / "a.orc")
    (tmp_path / "crashes.py").write_text("import os; os.abort()")
    monkeypatch.setattr("riata.data.formats.orc.SCRIPT", tmp_path / "crashes.py")
    with pytest.raises(DataError, match=r"a\.orc is damaged or cut short \(Arrow's reader of ORC crashes over it\)"):
        riata.open(tmp_path / "a.orc", "y")


def test_orc_from_elsewhere_and_rows_that_nobody_wants(tmp_path):
    orc.write_table(table(3000), tmp_path / "a.orc", stripe_size=1 << 14, batch_size=256)
    elsewhere = fsspec.filesystem("memory")
    elsewhere.pipe("/a.orc", (tmp_path / "a.orc").read_bytes())
    rows = Orc(find_files("memory://a.orc"))
    batches = rows.batches(["whole"], 100)
    assert next(batches)["whole"].to_pylist() == list(range(100))
    batches.close()
    assert sum(batch.num_rows for batch in rows.batches(["whole", "home.city"], 100)) == rows.n_rows == 3000
