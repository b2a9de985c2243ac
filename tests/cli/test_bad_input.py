"""Bad input gets one clear sentence, exit code 2, no traceback, and nothing is written."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

from riata.cli import main

GOOD = "a,b,y\n1,2,3\n2,1,5\n3,3,4\n4,0,1\n"
FILES = {
    "good.csv": GOOD,
    "infinite.csv": "a,b,y\n1,2,3\n2,inf,5\n3,3,4\n",
    "no_target.csv": "a,b,y\n1,2,\n2,1,\n3,3,\n",
    "one_class.csv": "a,b,y\n1,2,yes\n2,1,yes\n3,3,yes\n",
    "constant.csv": "a,b,y\n1,2,7\n2,1,7\n3,3,7\n",
    "empty.csv": "a,b,y\n",
    "nothing.csv": "",
    "only_target.csv": "y\n1\n2\n",
    "ragged.csv": "a,b,y\n1,2,3\n2,1\n",
    "broken.svm": "1 1:0.5 2:x\n",
    "broken.parquet": "PAR1 this is not parquet",
    "broken.npz": "this is not a zip",
    "unknown.xyz": "1 2 3",
    "dates.csv": "a,day,name,y\n1,2024-01-05,ann,3\n2,2024-02-07,bob,5\n3,2024-03-09,cy,4\n",
}
FIT = ["--target", "y", "--alpha", "0.1"]
REGRESSION = [*FIT, "--task", "regression"]

CASES = {
    "NaN in an array": (["fit", "nan.npy", "--target", "0", "--alpha", "1"], "nan.npy, row 2: column 0"),
    "infinite": (["fit", "infinite.csv", *FIT], "infinite.csv, line 3: column 'b' holds an infinite number"),
    "target missing in all rows": (["fit", "no_target.csv", *FIT], "3 have no target"),
    "one class": (["fit", "one_class.csv", *FIT], "one class"),
    "constant target": (["fit", "constant.csv", *REGRESSION], "same value, 7"),
    "no rows": (["fit", "empty.csv", *FIT], "no rows to learn from in empty.csv"),
    "empty file": (["fit", "nothing.csv", *FIT], "nothing.csv"),
    "no features": (["fit", "only_target.csv", *FIT], "0 features"),
    "ragged": (["fit", "ragged.csv", *FIT], "ragged.csv"),
    "broken svmlight": (["fit", "broken.svm", *FIT], "broken.svm"),
    "broken parquet": (["fit", "broken.parquet", *FIT], "broken.parquet"),
    "broken npz": (["fit", "broken.npz", *FIT], "broken.npz"),
    "unknown format": (["fit", "unknown.xyz", *FIT], "ending"),
    "no such file": (["fit", "absent.csv", *FIT], "no file absent.csv"),
    "no such column": (["fit", "good.csv", "--target", "z", "--alpha", "1"], "that name; there are 'a', 'b', 'y'"),
    "target as trials": (["fit", "good.csv", *FIT, "--trials", "y"], "'y' is the target, and cannot be"),
    "target as offset": (["fit", "good.csv", *FIT, "--offset", "y"], "'y' is the target, and cannot be"),
    "bounds twice": (["fit", "good.csv", *FIT, "--bound", "a=0..", "--bound", "a=..1"], "is given twice for 'a'"),
    "no target named": (["fit", "good.csv", "--alpha", "1"], "say which column to predict, --target COLUMN; there are"),
    "no target beside sparse rows": (["fit", "sparse.npz", "--k", "1"], "value per row, --target FILE.npy"),
    "target of dates": (["fit", "dates.csv", "--target", "day", "--k", "1"], "'day' holds dates, and a target must be"),
    "weights of words": (["fit", "dates.csv", *FIT, "--weight", "name"], "'name' holds 'ann', and weights must be"),
    "quantiles with k": (
        ["fit", "good.csv", "--target", "y", "--k", "1", "--loss", "quantile:0.9"],
        "'quantile:0.9' goes with alpha, or with k and --solver online",
    ),
    "more folds than rows": (["fit", "good.csv", "--target", "y", "--alpha", "auto"], "there are 4: take --cv 4"),
    "k below 1": (["fit", "good.csv", "--target", "y", "--k", "0"], "k must lie between 1 and"),
    "k not whole": (["fit", "good.csv", "--target", "y", "--k", "1.5"], "1.5"),
    "negative alpha": (["fit", "good.csv", "--target", "y", "--alpha", "-1"], "alpha must be zero or more"),
    "NaN alpha": (["fit", "good.csv", "--target", "y", "--alpha", "nan"], "alpha must be zero or more"),
    "both": (["fit", "good.csv", "--target", "y", "--alpha", "1", "--k", "1"], "--k and --alpha"),
    "mismatched lengths": (["fit", "X.npy", "--target", "y.npy", "--alpha", "1"], "4 rows of features but 3 targets"),
    "text classes for regression": (["fit", "one_class.csv", *REGRESSION], "text"),
    "unknown solver": (["fit", "good.csv", *FIT, "--solver", "magic"], "no solver 'magic'"),
    "solver of the other kind": (["fit", "good.csv", *FIT, "--solver", "l0-sgd"], "takes k, not alpha"),
    "l2 where there is none": (["fit", "good.csv", *FIT, "--solver", "subgradient", "--l1-ratio", "0.5"], "--l1-ratio"),
    "rounds with l2": (["fit", "good.csv", *FIT, "--solver", "fobos", "--rounds", "--l1-ratio", "0.5"], "rounds halve"),
    "bad step": (["fit", "good.csv", *FIT, "--solver", "fobos", "--step", "fast"], "step must be"),
    "bad batch": (["fit", "good.csv", *FIT, "--solver", "fobos", "--batch", "some"], "--batch"),
    "bound without dots": (["fit", "good.csv", *FIT, "--bound", "a=3"], "'a=3' is not NAME=LEAST..MOST"),
    "bound that is no number": (["fit", "good.csv", *FIT, "--bound", "a=x..0"], "is not NAME=LEAST..MOST"),
    "bound of no column": (["fit", "good.csv", *FIT, "--bound", "c=0.."], "bounds name 'c', and there is no such"),
    "bound without zero": (["fit", "good.csv", *FIT, "--bound", "a=1..2"], "from 1 to 2 leave out 0"),
    "bad memory": (["fit", "good.csv", *FIT, "--memory", "lots"], "memory must be a size"),
    "step that diverges": (
        ["fit", "good.csv", *REGRESSION, "--solver", "fobos", "--step", "1e9", "--max-passes", "100"], "diverged"
    ),
    "output is a folder": (["fit", "good.csv", *FIT, "--out", "folder"], "it is a folder"),
    "output without folder": (["fit", "good.csv", *FIT, "--out", "absent/m.json"], "no folder absent"),
    "no such model": (["predict", "absent.json", "good.csv"], "cannot read the model absent.json"),
    "not a model": (["inspect", "good.csv"], "not a riata model"),
    "bad test data": (["fit", "good.csv", *FIT, "--test", "infinite.csv"], "infinite.csv, line 3: column 'b'"),
    "predictions in an unknown format": (["predict", "model.json", "good.csv", "--out", "p.xyz"], ".csv or .parquet"),
}  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "folder").mkdir()
    np.save("X.npy", np.arange(8.0).reshape(4, 2))
    np.save("y.npy", np.arange(3.0))
    np.save("nan.npy", np.array([[1.0, 2.0], [3.0, np.nan], [4.0, 1.0]]))
    sp.save_npz("sparse.npz", sp.eye_array(9, format="csr"))
    CliRunner().invoke(main, ["fit", "good.csv", *FIT, "--out", "model.json", "--quiet"])
    assert (tmp_path / "model.json").exists()
    return tmp_path


@pytest.mark.parametrize("case", CASES)
def test_bad_input_gets_one_sentence(case, here):
    arguments, part = CASES[case]
    before = sorted(os.listdir(here))
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)  # no traceback
    message = result.stderr.strip().splitlines()[-1]
    assert part in message
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert sorted(os.listdir(here)) == before  # nothing half written


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no folder here that even root cannot write to")
def test_unwritable_folder(here):
    result = CliRunner().invoke(main, ["fit", "good.csv", *FIT, "--out", "/proc/self/m.json"])
    assert result.exit_code == 2
    assert "cannot write /proc/self/m.json" in result.stderr


def test_rows_without_a_prediction_are_named(here):
    lines = ["a,b,y", *(f"{i}.5,{i % 7}.5,{i}.5" for i in range(400))]
    lines[201], lines[301], lines[351] = "oops,1,2", "1,2,3,4", "1.5,oops,2"
    (here / "new.csv").write_text("\n".join(lines) + "\n")
    result = CliRunner().invoke(main, ["predict", "model.json", "new.csv", "--on-error", "skip"])
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 398
    note = next(line for line in result.stderr.splitlines() if "could not be read" in line)
    assert note.startswith("note: 3 rows could not be read: left out (")
    assert all(f"new.csv, row {row}" in note for row in (201, 301, 351))
    assert note.endswith("there is no prediction for them")
