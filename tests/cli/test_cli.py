"""The command line, as a user types it."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from numpy.testing import assert_allclose
from sklearn.datasets import dump_svmlight_file

import riata
from riata.cli import main
from riata.cli.fit import default_file

SUMMARY = {
    "task", "loss", "solver", "k", "alpha", "n_rows", "n_features", "n_selected", "selected", "objective", "gap",
    "converged", "passes", "seconds", "peak_rss_mb", "test",
    "stop", "proof", "bound", "how_much_better", "progressive", "progressive_by_day",
}  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own, with one table in every format."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(80, 5)).round(3), columns=list("abcde"))
    frame["price"] = frame["a"] - 2 * frame["d"] + 0.1
    frame.to_csv("t.csv", index=False)
    frame.to_csv("t.tsv", index=False, sep="\t")
    frame.to_parquet("t.parquet")
    X, y = frame[list("abcde")].to_numpy(), frame["price"].to_numpy()
    np.savez("t.npz", X=X, y=y, feature_names=list("abcde"))
    sp.save_npz("sparse.npz", sp.csr_array(X))
    with np.load("sparse.npz") as parts:
        np.savez("sparse.npz", **parts, y=y)
    np.save("t.npy", np.column_stack([X, y]))
    np.save("X.npy", X)
    np.save("y.npy", y)
    dump_svmlight_file(X, y, "t.svm", zero_based=False)
    return tmp_path


def riata_command(*arguments):
    result = CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


SOURCES = {
    "t.csv": ["--target", "price"],
    "t.tsv": ["--target", "price"],
    "t.parquet": ["--target", "price"],
    "t.npz": [],
    "sparse.npz": [],
    "t.npy": ["--target", "5"],
    "X.npy": ["--target", "y.npy"],
    "t.svm": [],
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_same_rows_in_every_format_give_the_same_model(here, source):
    fit = json.loads(riata_command("fit", source, *SOURCES[source], "--alpha", "0.05", "--json"))
    assert set(fit) >= SUMMARY
    with np.load("t.npz") as file:
        reference = dict(file)
    expected = riata.SparseRegressor(alpha=0.05).fit(reference["X"], reference["y"])
    model = riata.load_model(fit["model"])
    assert_allclose(model.coef[0], expected.coef_[expected.get_support()], atol=1e-8)
    assert fit["n_selected"] == 2
    assert fit["task"] == "regression"
    assert fit["converged"]
    out = here / "p.csv"
    riata_command("predict", fit["model"], source, "--out", out)
    predicted = pd.read_csv(out)["prediction"]
    assert_allclose(predicted, expected.predict(reference["X"]), atol=1e-8)
    scores = json.loads(riata_command("evaluate", fit["model"], source, "--json"))
    assert scores["r2"] > 0.99


def test_fit_summary_on_digits49(here):
    text = riata_command("fit", "digits49", "--alpha-ratio", "0.1", "--test", "digits49:test", "--out", "d.json")
    for part in (
        "6,000 rows",
        "probes",
        "accuracy",
        "baseline",
        "positive is 1.0",
        "passes",
        "MB",
        "d.json",
        "pixel_r",
    ):
        assert part in text
    inspected = riata_command("inspect", "d.json")
    assert "classification of -1.0, 1.0" in inspected
    assert json.loads(riata_command("inspect", "d.json", "--json"))["format"] == "riata-model"


@pytest.mark.parametrize(
    "options",
    [
        ["--solver", "cd", "--alpha", "0.1"],
        ["--solver", "subgradient", "--alpha", "0.1", "--batch", "full", "--max-passes", "5"],
        ["--solver", "subgradient", "--alpha", "0.1", "--batch", "20", "--step", "1/t"],
        ["--solver", "fobos", "--alpha", "0.1", "--rounds", "--max-steps", "100"],
        ["--solver", "fobos", "--alpha", "0.1", "--l1-ratio", "0.5", "--no-intercept", "--no-standardize"],
        ["--solver", "l0-sgd", "--k", "2", "--normalize", "rows", "--no-standardize", "--seed", "3", "--step", "0.5"],
    ],
    ids=" ".join,
)
def test_every_solver_of_the_paper_from_the_command_line(here, options):
    fit = json.loads(riata_command("fit", "t.csv", "--target", "price", *options, "--json", "--tol", "1e-4"))
    assert fit["solver"] == options[1]
    assert np.isfinite(fit["objective"])


def test_classes_by_name(here):
    frame = pd.read_csv("t.csv")
    frame["price"] = np.where(frame["price"] > 0, "dear", "cheap")
    frame.to_csv("c.csv", index=False)
    fit = json.loads(riata_command("fit", "c.csv", "--target", "price", "--alpha", "0.01", "--test", "c.csv", "--json"))
    assert fit["task"] == "classification"
    assert fit["loss"] == "logistic"
    assert fit["test"]["accuracy"] > 0.95
    assert set(fit["test"]) == {"accuracy", "auc", "log_loss", "deviance_explained"}
    assert set(fit["train"]) == set(fit["baseline"]["train"]) == set(fit["baseline"]["test"]) == set(fit["test"])
    lines = riata_command("predict", fit["model"], "c.csv").splitlines()
    assert lines[0] == '"prediction","probability_cheap","probability_dear"'
    assert len(lines) == 81


def test_quiet_prints_nothing(here):
    assert riata_command("fit", "t.npz", "--alpha", "0.1", "--quiet") == ""
    assert (here / "t.riata.json").exists()


@pytest.mark.parametrize(
    ("data", "file"),
    [
        ("digits49:test", "digits49.riata.json"),
        ("sales/2026.parquet", "2026.riata.json"),
        ("s3://bucket/sales.csv", "sales.riata.json"),
        ("sales/*.parquet", "model.riata.json"),
        ("-", "model.riata.json"),
    ],
)
def test_a_model_is_named_after_its_data(data, file):
    assert str(default_file(data)) == file


def test_datasets_lists_them(here):
    assert "digits49:test" in riata_command("datasets")


def imported(commands: list[list[str]], heavy: tuple[str, ...]) -> list[str]:
    """What a process has imported of heavy modules after each command: one process, since none may import any."""
    code = (
        f"import sys\nfrom riata.cli import main\nfor words in {commands!r}:\n"
        f"    main(words, standalone_mode=False)\n"
        f"    print('imported', *[m for m in {heavy!r} if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = [line.split()[1:] for line in shown.stdout.splitlines() if line.startswith("imported")]
    assert len(found) == len(commands)
    return [f"{' '.join(words)}: {names}" for words, names in zip(commands, found, strict=True) if names]


def test_help_imports_nothing_heavy():
    """What `riata --help` loads decides how fast it answers; a clock would be noisy."""
    assert imported([["--help"]], ("numpy", "numba", "pyarrow", "sklearn", "pandas")) == []


def test_a_fit_imports_no_more_than_it_needs(here, rng):
    """scikit-learn, pandas and libraries for pictures take longer to import than a small fit takes to run."""
    numbers = rng.normal(size=(60, 4))
    np.savetxt("small.csv", np.column_stack([numbers, numbers[:, 0]]), delimiter=",", header="a,b,c,d,y", comments="")
    fits = [["fit", "small.csv", "--target", "y", *strength] for strength in (["--k", "2"], ["--alpha", "auto"])]
    heavy = ("sklearn", "pandas", "matplotlib", "dask", "jinja2", "joblib", "scipy.special", "scipy.stats")
    assert imported(fits, heavy) == []


def test_no_kind_of_column_imports_pandas(here, rng):
    """Arrow does, unasked, wherever it is handed a scalar of Python's: half a second, and 50 MB."""
    n = 300
    table = pd.DataFrame({"x": rng.normal(size=n), "level": rng.choice(["a b", "c", None], n)})
    table["other"], table["percent"] = rng.choice(["p", "q", "r"], n), [f"{i % 9}.5%" for i in range(n)]
    table["day"] = pd.date_range("2020-01-01", periods=n).strftime("%d/%m/%Y")
    table["told"] = rng.choice(["yes", "no"], n)
    table.loc[5, ["x", "day", "percent", "told"]] = None
    table["y"] = rng.normal(size=n)
    table.to_csv("small.csv", index=False)
    fit = ["fit", "small.csv", "--target", "y", "--alpha-ratio", "0.1", "--quiet"]
    kinds = [[], ["--cross", "level,other"], ["--text", "level"], ["--hash-text"]]
    assert imported([[*fit, *options] for options in kinds], ("pandas",)) == []


def test_no_format_imports_pandas(here, rng):
    table = pd.DataFrame({"x": rng.normal(size=300), "level": rng.integers(0, 50, 300).astype(str)})
    table["y"] = rng.normal(size=300)
    table.to_json("t.jsonl", orient="records", lines=True)
    table.to_orc("t.orc")
    table.to_parquet("t.parquet")
    S = sp.random_array((300, 20), density=0.3, format="csr", rng=rng)
    dump_svmlight_file(S, table["y"], "t.svm")
    np.savez("t.npz", indptr=S.indptr, indices=S.indices, data=S.data, shape=S.shape, format=b"csr", y=table["y"])
    np.save("t.npy", S.toarray())
    fits = [["t.npy", "--target", "0"], ["t.npz"], ["t.svm"], ["t.jsonl", "--target", "y"], ["t.orc", "--target", "y"],
            ["t.parquet", "--target", "y", "--max-levels", "10"]]  # fmt: skip
    commands = [["fit", *words, "--alpha-ratio", "0.1", "--quiet", "--no-cache"] for words in fits]
    assert imported(commands, ("pandas",)) == []


def test_a_small_fit_imports_neither_numba_nor_scipy(here, rng):
    """Their import costs more than the loops of such a fit, which are interpreted."""
    numbers = rng.normal(size=(60, 4))
    table = pd.DataFrame(numbers, columns=list("abcd")).assign(y=numbers[:, 0])
    table["label"] = np.where(numbers[:, 0] + rng.normal(size=60) > 0, "up", "down")
    table.to_csv("small.csv", index=False)
    fits = [
        ["fit", "small.csv", "--target", target, "--drop", other, *strength]
        for target, other in (("y", "label"), ("label", "y"))
        for strength in (["--k", "2"], ["--alpha-ratio", "0.1"])
    ]
    assert imported(fits, ("numba", "llvmlite", "scipy", "threadpoolctl", "sklearn", "pandas")) == []


def test_help_names_every_command():
    for command in ("fit", "predict", "evaluate", "inspect", "datasets", "path", "stability"):
        assert command in riata_command("--help")
        assert riata_command(command, "--help")


def test_a_second_process_compiles_nothing(here):
    """The compiled loops come from numba's cache on disk: hits, and not a single miss."""
    code = (
        "import numpy as np, riata\n"
        "from riata.kernels import coordinate, fobos, l0_sgd, subgradient\n"
        "X = np.random.default_rng(0).normal(size=(30, 4))\n"
        "for options in ({'solver': 'cd', 'alpha': 0.1}, {'solver': 'fobos', 'alpha': 0.1},\n"
        "                {'solver': 'subgradient', 'alpha': 0.1}, {'solver': 'l0-sgd', 'k': 2}):\n"
        "    riata.SparseRegressor(**options).fit(X, X[:, 0])\n"
        "for kernel in (coordinate.coordinate_pass, fobos.fobos_sweep, l0_sgd.l0_sgd_sweep,\n"
        "               subgradient.subgradient_sweep):\n"
        "    print(sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()))\n"
    )
    run = [sys.executable, "-W", "ignore", "-c", code]
    subprocess.run(run, check=True, capture_output=True)
    second = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split("\n")
    assert [line for line in second if line] == ["1 0"] * 4


def test_predictions_line_up_with_rows_of_weight_zero(here):
    frame = pd.read_csv("t.csv").assign(w=[0.0, 1.0] * 40)
    frame.to_csv("weighted.csv", index=False)
    riata_command("fit", "weighted.csv", "--target", "price", "--weight", "w", "--alpha", "0.01", "--out", "m.json")
    riata_command("predict", "m.json", "weighted.csv", "--out", "p.csv")
    predicted = pd.read_csv("p.csv")["prediction"]
    assert_allclose(predicted, riata.load_model("m.json").predict(frame[["a", "d"]].to_numpy(), ["a", "d"]), atol=1e-9)


def refusal(*arguments):
    result = CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 2, result.output
    return result.stderr


@pytest.mark.parametrize(
    "wish",
    [["--target", "a"], ["--drop", "b"], ["--weight", "c"], ["--task", "classification"], ["--categorical", "b"]],
    ids=str,
)
def test_a_converted_file_is_as_it_was_converted(here, wish):
    riata_command("convert", "t.csv", "t.arrow", "--target", "price", "--drop", "e")
    assert "chosen already" in refusal("fit", "t.arrow", "--alpha", "0.05", *wish)
    same = ["--target", "price", "--drop", "e", "--task", "regression"]
    riata_command("fit", "t.arrow", "--alpha", "0.05", "--out", "m.json", *same)
    riata_command("fit", "t.arrow", "--alpha", "0.05", "--out", "m.json", "--test", "t.csv")
    assert riata.load_model("m.json").training.target == "price"


def test_a_file_without_rows(here):
    riata_command("fit", "t.csv", "--target", "price", "--alpha", "0.05", "--out", "m.json")
    (here / "empty.csv").write_text("a,b,c,d,e,price\n")
    assert riata_command("predict", "m.json", "empty.csv").splitlines() == ['"prediction"']
    riata_command("predict", "m.json", "empty.csv", "--out", "p.parquet")
    assert len(pd.read_parquet("p.parquet")) == 0
    assert "no rows to score" in refusal("evaluate", "m.json", "empty.csv")


def test_a_model_of_python_knows_its_target(here):
    riata.SparseRegressor(alpha=0.05).fit(riata.open("t.csv", "price")).to_model().save("py.json")
    assert json.loads(riata_command("evaluate", "py.json", "t.csv", "--json"))["r2"] > 0.9


def test_a_loss_is_checked_before_the_rows_are_read_again(here):
    assert "loss must be one of" in refusal("fit", "t.csv", "--target", "price", "--loss", "logistic")


def test_a_fit_that_stops_early_says_so_in_a_note(here):
    fit = ["fit", "t.csv", "--target", "price", "--alpha", "0.001", "--solver", "cd", "--max-passes", "1"]
    said = CliRunner().invoke(main, fit, catch_exceptions=False).stderr
    assert "note: solver 'cd' stopped before the tolerance" in said
    assert ".py" not in said
    assert CliRunner().invoke(main, [*fit, "--quiet"], catch_exceptions=False).output == ""


NAMES = ["speed[km/h]", "speed[/h]", "[bold]", "a:car:b"]


def test_names_are_printed_as_they_are(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=NAMES)
    frame["[y]"] = np.array(["[x]", "[/x]", "z"])[np.digitize(frame.sum(axis=1), [-1, 1])]
    frame.to_csv("rows[1].csv", index=False)
    how = ["rows[1].csv", "--target", "[y]"]
    fit = ["fit", *how, "--k", "4", "--out", "model[1].json"]
    for arguments, seen in (
        (fit, [*NAMES, "rows[1].csv", "model[1].json", "[x]", "[/x]"]),
        (["inspect", "model[1].json"], [*NAMES, "[x], "]),
        (["profile", *how], [*NAMES, "rows[1].csv", "[/x], [x]"]),
        (["path", *how, "--k-max", "3"], ["[/x] against the rest"]),
        (["stability", "rows[1].csv", "--target", NAMES[0], "--k", "2", "--rounds", "4"], NAMES[1:]),
    ):
        monkeypatch.setenv("COLUMNS", "200")
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
        assert [word for word in seen if word not in result.stdout] == []
