"""Files as the world writes them give the answers that they should."""

import pytest
from tests.data.odd_csv import EARLY, FILES, Odd, odd, text

import riata
from riata.errors import DataError


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
    "percent and not": (odd("n,y\n" + "34%,1\n0.34,2\n5%,3\n" * 5), "'n' has numbers with different signs"),
    "two currencies": (odd("n,y\n" + "$34,1\n€5,2\n" * 5), "'n' has numbers with different signs"),
    "a target with words": (
        odd("n,y\n" + "".join(f"{i},{i if i % 20 else 'sold'}\n" for i in range(100))),
        "the target would have classes: column 'y' looks like numbers but for 'sold' \\(5\\) of 100 values",
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
