"""Numbers whose squares overflow are refused in one sentence, without warnings of NumPy's before it."""

import numpy as np
import pytest

import riata
from riata.errors import DataError


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
@pytest.mark.parametrize(("column", "said"), [("b", "features"), ("y", "the target")])
def test_squares_that_overflow_are_refused_in_one_sentence(ending, column, said, tmp_path, rng):
    import pandas as pd

    rows = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("aby"))
    rows[column] *= 1e200
    path, target = tmp_path / f"rows.{ending}", "y"
    if ending == "npy":
        np.save(path, rows.to_numpy())
        target = 2
    elif ending == "csv":
        rows.to_csv(path, index=False)
    else:
        rows.to_parquet(path)
    with pytest.raises(DataError, match=f"{said}.* holds numbers whose squares are beyond the range"):
        riata.train(riata.open(path, target=target), riata.Spec(alpha=0.1))
