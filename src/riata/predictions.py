"""Predictions as a table: a column for the answer, and one per class for its probability."""

import sys

import numpy as np

from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.files import replacing
from riata.model import Model, probabilities


def predictions(model: Model, data: Dataset) -> dict[str, np.ndarray]:
    """Columns by name, a row for every row of the data: one pass."""
    z = np.concatenate([model.margins(chunk.X, data.feature_names) for chunk in data.visit()])
    if model.classes is None:
        return {"prediction": z}
    chosen = (z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)
    columns = {"prediction": np.asarray(model.classes)[chosen]}
    if model.loss == "logistic":
        p = probabilities(z)
        columns |= {f"probability_{label}": p[:, i] for i, label in enumerate(model.classes)}
    return columns


def write_predictions(columns: dict[str, np.ndarray], out) -> None:
    """To a CSV or Parquet file, whole or not at all; to standard output as CSV where `out` is None."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    table = pa.table(columns)
    if out is None:
        pyarrow.csv.write_csv(table, sys.stdout.buffer)
        return
    writers = {".csv": pyarrow.csv.write_csv, ".parquet": pyarrow.parquet.write_table}
    if out.suffix not in writers:
        raise OptionError(f"predictions are written as .csv or .parquet, not {out.suffix or 'a file without ending'}")
    with replacing(out) as file:
        writers[out.suffix](table, file)
