"""svmlight text: numbers to the last bit, any spelling, zero- or one-based."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from riata.data.opening.open import open_data
from riata.kernels.svmlight import read_number


def number(text):
    raw = np.frombuffer(text.encode(), dtype=np.uint8)
    return read_number(raw, 0, len(raw))


@settings(max_examples=500)
@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e20, max_value=1e20))
def test_numbers_are_read_as_python_reads_them(value):
    for text in (repr(value), f"{value:.17g}", f"{value:.6f}"):
        read, end = number(text)
        assert end == len(text)
        assert abs(read - float(text)) <= 4 * np.spacing(abs(float(text)))
        if 1e-3 < abs(value) < 1e15:
            assert read == float(text)


@pytest.mark.parametrize(
    "text", ["1", "+1", "-1.", ".5", "1e3", "1E-3", "0", "-0.0", "123456789012345678901234", "1e-310"]
)
def test_spellings_of_numbers(text):
    read, end = number(text)
    assert end == len(text)
    assert read == pytest.approx(float(text), rel=1e-15)


@pytest.mark.parametrize("text", ["", "x", "-", ".", "e5", "nan", "inf"])
def test_what_is_not_a_number_is_not_read(text):
    assert number(text)[1] == 0


def opened(tmp_path, text, **options):
    (tmp_path / "x.svm").write_text(text)
    return open_data(str(tmp_path / "x.svm"), task="regression", **options)


def test_comments_queries_blank_lines_and_line_ends(tmp_path):
    data = opened(tmp_path, "# head\n1 qid:7 1:2 3:4 # tail 5:6\r\n\n-1\t2:1e-1   \n+3")
    assert_array_equal(data.targets()[0], [1, -1, 3])
    assert_array_equal(data.X.toarray() if hasattr(data.X, "toarray") else data.X, [[2, 0, 4], [0, 0.1, 0], [0, 0, 0]])
    assert list(data.feature_names) == ["x1", "x2", "x3"]


def test_the_base_is_found_and_stated(tmp_path):
    data = opened(tmp_path, "1 0:1 2:3\n2 1:5\n")
    assert list(data.feature_names) == ["x0", "x1", "x2"]
    assert any("count from 0" in note for note in data.profile.notes)


def test_a_model_keeps_its_width_on_other_rows(tmp_path):
    data = opened(tmp_path, "1 1:1 3:3\n2 2:5\n")
    other = opened(tmp_path, "1 2:7 9:1\n", encoding=data.encoding)
    X = other.X.toarray() if hasattr(other.X, "toarray") else other.X
    assert_array_equal(X, [[0, 7, 0]])


@pytest.mark.parametrize("block_bytes", [1 << 6, 1 << 8, 1 << 20])
def test_blocks_do_not_matter(tmp_path, rng, block_bytes, monkeypatch):
    monkeypatch.setattr("riata.data.opening.sources.block_bytes", lambda memory: block_bytes)
    rows = [sorted(rng.choice(500, rng.integers(0, 40), replace=False)) for _ in range(200)]
    text = "".join(f"{i} " + " ".join(f"{j}:{i + j}" for j in row) + "\n" for i, row in enumerate(rows))
    data = opened(tmp_path, text)
    assert_array_equal(data.targets()[0], np.arange(200))
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    first = 0 if any(0 in row for row in rows) else 1
    for i, row in enumerate(rows):
        assert_array_equal(np.flatnonzero(X[i]) + first, [j for j in row if i + j])


def test_indices_beyond_32_bits(tmp_path):
    data = opened(tmp_path, f"1 1:1 {2**40}:3\n2 2:5\n")
    assert data.n_features == 2**40
    assert data.X.indices.dtype == np.int64
    assert data.X.indices.max() == 2**40 - 1
