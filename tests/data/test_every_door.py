"""A table gives the same model through every door that keeps its types: frames, tables, and files of each format."""

import datetime
import decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

import riata

N = 120
rng = np.random.default_rng(1)
X = rng.normal(size=(N, 3))
LEVELS = rng.choice(["u", "v", "w"], N)
Y = X[:, 0] - X[:, 1] + 0.3 * (LEVELS == "u") + 0.1 * rng.normal(size=N)
BASE = pd.DataFrame(X, columns=list("abc")).assign(y=Y)
ROW = np.arange(N)
DAYS = pd.Series(pd.to_datetime("2024-01-01") + pd.to_timedelta(ROW, "D"))

COLUMNS = {
    "levels": LEVELS,
    "levels with gaps": np.where(ROW % 5 == 0, None, LEVELS),
    "booleans": X[:, 0] > 0,
    "booleans with gaps": pd.array(np.where(ROW % 7 == 0, None, X[:, 0] > 0), dtype="boolean"),
    "whole numbers": (X[:, 0] * 10).astype(int),
    "whole numbers with gaps": pd.array(np.where(ROW % 7 == 0, None, (X[:, 0] * 10).astype(int)), dtype="Int64"),
    "few whole numbers": ROW % 3,
    "large whole numbers": 2**60 + (X[:, 0] * 2**55).astype(np.int64),
    "numbers with gaps": np.where(ROW % 7 == 0, np.nan, X[:, 0]),
    "single precision": X[:, 0].astype(np.float32),
    "days": DAYS,
    "days with gaps": DAYS.where(ROW % 5 != 0),
    "days of Python": [datetime.date(2024, 1, 1) + datetime.timedelta(int(i)) for i in ROW],
    "times in a zone": (DAYS + pd.to_timedelta(ROW * 3, "h")).dt.tz_localize("Europe/Berlin"),
    "nothing": None,
    "a constant": 1.0,
    "a constant word": "k",
    "names of rows": [f"id{i}" for i in ROW],
    "words with zeros before": rng.choice(["01", "02", "10"], N),
    "empty words": rng.choice(["", "x", "y"], N),
    "words with spaces": rng.choice([" x", "x ", "x"], N),
    "words with quotes": rng.choice(['a"b', "c,d", "e\nf"], N),
    "words beyond ASCII": rng.choice(["日本", "é", "🙂"], N),
    "text": [" ".join(rng.choice(list("abcdefgh"), 6)) for _ in ROW],
}  # fmt: skip
TABLES = {kind: BASE.assign(l=values) for kind, values in COLUMNS.items()} | {
    "decimals": BASE.assign(l=[decimal.Decimal(f"{x:.2f}") for x in X[:, 0]]),
    "names beyond ASCII": BASE.rename(columns={"a": "名前 é"}),
    "names with commas and quotes": BASE.rename(columns={"a": "a,b", "b": 'q"r'}),
    "numbers for names": BASE.rename(columns={"a": 0, "b": 1}),
    "labels": BASE.assign(y=np.where(Y > 0, "yes", "no")),
    "labels with gaps": BASE.assign(y=np.where(ROW % 5 == 0, None, np.where(Y > 0, "p", "q"))),
    "boolean labels": BASE.assign(y=Y > 0),
    "labels 3 and 7": BASE.assign(y=np.where(Y > 0, 7, 3)),
    "a target with gaps": BASE.assign(y=np.where(ROW % 5 == 0, np.nan, Y)),
}
OTHERWISE = {"decimals": "rows.jsonl", "empty words": "rows.csv"}  # where these are text, and missing


def doors(table: pd.DataFrame, folder: Path) -> dict[str, object]:
    """The table as everything that has its types, or tells them by its cells."""
    rows = pa.Table.from_pandas(table, preserve_index=False)
    table.to_csv(folder / "rows.csv", index=False)
    table.to_json(folder / "rows.jsonl", orient="records", lines=True, date_format="iso", double_precision=15)
    pq.write_table(rows, folder / "rows.parquet")
    pa.feather.write_feather(rows, folder / "rows.arrow")
    found = {"frame": table, "Arrow": rows, "polars": pl.from_arrow(rows)}
    files = ["rows.csv", "rows.jsonl", "rows.parquet", "rows.arrow"]
    if not any(map(pa.types.is_null, rows.schema.types)):
        orc.write_table(rows, folder / "rows.orc")
        files.append("rows.orc")
    return found | {name: str(folder / name) for name in files}


def found(source) -> tuple[str, list, dict[str, float]]:
    opened = riata.open(source, target="y", cache=False)
    loss = "squared" if opened.task == "regression" else "logistic"
    model = riata.train(opened, riata.Spec(alpha=0.01, loss=loss, tol=1e-10)).to_model()
    return model.task, model.classes, dict(zip(model.names, model.coef.ravel().tolist(), strict=True))


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.filterwarnings("ignore::riata.errors.DataWarning")
def test_every_door_leads_to_the_same_model(kind, tmp_path):
    models = {door: found(source) for door, source in doors(TABLES[kind], tmp_path).items()}
    models.pop(OTHERWISE.get(kind, ""), None)
    task, classes, coefs = models.pop("frame")
    assert len(coefs) >= 2
    for door, (of_task, of_classes, of_coefs) in models.items():
        assert (of_task, of_classes) == (task, classes), door
        assert of_coefs == pytest.approx(coefs, abs=1e-6), door
