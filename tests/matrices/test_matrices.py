"""Every operation on rows, for every way in which they can lie, against plain NumPy on the dense array in float64."""

import ast
import pickle
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import riata
from host_place import SparseReference
from problems import targets
from riata.arrays import namespace, to_host
from riata.data.chunk import Chunk, joined
from riata.losses import LOSSES, Loss
from riata.matrices.array_api import ArrayMatrix
from riata.matrices.host import as_matrix, from_parts

try:
    import array_api_strict as strict
except ImportError:  # NumPy does, but lets host and device mix
    strict = np

N, D = 300, 9


def strided(X):
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def beside(X):
    """The first columns of a wider array."""
    return np.column_stack([X, np.full((len(X), 2), np.nan)])[:, :-2]


def wide_indices(X):
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def within(X):
    """A run of the rows of a longer matrix."""
    return as_matrix(sp.csr_array(np.vstack([X[:5], X, X[:3]])))[5:-3]


IN_MEMORY = {
    "dense": as_matrix,
    "dense, float32": lambda X: as_matrix(X.astype(np.float32)),
    "dense, integers": lambda X: as_matrix((4 * X).astype(np.int64)),
    "dense, by columns": lambda X: as_matrix(np.asfortranarray(X)),
    "dense, float32 by columns": lambda X: as_matrix(np.asfortranarray(X.astype(np.float32))),
    "dense, strided": lambda X: as_matrix(strided(X)),
    "dense, beside others": lambda X: as_matrix(beside(X)),
    "csr": lambda X: as_matrix(sp.csr_array(X)),
    "csr, float32": lambda X: as_matrix(sp.csr_array(X.astype(np.float32))),
    "csr, wide indices": lambda X: as_matrix(wide_indices(X)),
    "csr, a view": within,
    "csc": lambda X: as_matrix(sp.csc_matrix(X)),
}
AS_ON_A_DEVICE = {
    "array API": lambda X: ArrayMatrix(strict.asarray(X)),
    "array API, float32": lambda X: ArrayMatrix(strict.asarray(X.astype(np.float32))),
    "array API of NumPy": ArrayMatrix,
    "sparse, as on a device": lambda X: SparseReference(sp.csr_array(X)),
}


@dataclass(frozen=True)
class Case:
    """Rows as they are stored, and the same entries as a plain array."""

    rows: object
    X: np.ndarray

    def there(self, values):
        """Values of rows, where the rows are."""
        return namespace(self.rows.array).asarray(values) if hasattr(self.rows.array, "__array_namespace__") else values


@pytest.fixture(name="rng")
def a_generator():
    return np.random.default_rng(7)


def case_of(make, rng):
    """Multiples of a quarter, which float32 holds exactly, many of them zero, about means that are not."""
    X = np.round(4 * (rng.normal(size=(N, D)) + 3.0 * rng.normal(size=D))) / 4
    X[rng.random(X.shape) < 0.4] = 0.0
    X[:, 3] = 0.0
    rows = make(X)
    return Case(rows, 4 * X if _whole(rows) else X)


def _whole(rows):
    return str(rows.dtype) == "int64"


@pytest.fixture(params=[*IN_MEMORY, *AS_ON_A_DEVICE])
def case(request, rng, monkeypatch):
    monkeypatch.setattr("riata.matrices.matrix.BLOCK_BYTES", 8 * D * 70)  # several blocks
    return case_of((IN_MEMORY | AS_ON_A_DEVICE)[request.param], rng)


@pytest.fixture(params=IN_MEMORY)
def here(request, rng):
    return case_of(IN_MEMORY[request.param], rng)


def digits(case):
    """Products of float32 columns may be made in float32."""
    return 1e-5 if "float32" in str(case.rows.dtype) else 1e-11


def test_shape_and_bytes(case):
    assert case.rows.shape == (N, D)
    assert case.rows.nbytes > 0


def test_margins(case, rng):
    w, W, b = rng.normal(size=D) * (np.arange(D) % 2), rng.normal(size=(D, 3)), rng.normal(size=3)
    assert_allclose(to_host(case.rows.margins(w)), case.X @ w, atol=1e-11)
    assert_allclose(to_host(case.rows.margins(w, 0.5)), case.X @ w + 0.5, atol=1e-11)
    assert_allclose(to_host(case.rows.margins(W, b)), case.X @ W + b, atol=1e-11)
    assert_allclose(to_host(case.rows.margins(np.zeros(D), 2)), np.full(N, 2.0))


@pytest.mark.parametrize("m", [1, 2, 3, 12])
def test_slopes(case, rng, m):
    U = rng.normal(size=(N, m))
    assert_allclose(case.rows.slopes(case.there(U)), case.X.T @ U, atol=1e-10)
    assert_allclose(case.rows.slopes(case.there(U[:, 0])), case.X.T @ U[:, 0], atol=1e-10)


def test_sums(case, rng):
    shift, u, D_ = rng.normal(size=D), rng.normal(size=N), rng.uniform(size=N)
    a = case.X - shift
    sums = case.rows.sums(shift, case.there(u), case.there(D_))
    for found, expected in zip(sums, (u @ a, D_ @ a, D_ @ a**2), strict=True):
        assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("numbers", [[4, 0, 7], [], list(range(D))])
def test_columns(case, numbers):
    numbers = np.array(numbers, dtype=np.int64)
    for rows in (slice(None), slice(10, 50)):
        found = case.rows.columns(numbers, rows)
        assert "float64" in str(found.dtype)
        assert_array_equal(to_host(found), case.X[rows][:, numbers])
    narrow = case.rows.narrowed(numbers)
    assert narrow.shape == (N, len(numbers))
    assert_array_equal(to_host(narrow.columns(np.arange(len(numbers)))), case.X[:, numbers])


@pytest.mark.parametrize("ids", [[7, 3, 49], [], list(range(50)), [50]])
def test_columns_of_more_features_than_memory_holds(ids, rng):
    """The cost is that of the entries, and no vector over all features is made."""
    ids, apart = np.array(ids, dtype=np.int64), 2**50
    X = sp.random_array((20, 50), density=0.2, rng=rng, format="csr")
    wide = sp.csr_array((X.data, X.indices.astype(np.int64) * apart, X.indptr.astype(np.int64)), shape=(20, 51 * apart))
    expected = np.hstack([X.toarray(), np.zeros((20, 1))])[:, ids]
    assert_array_equal(as_matrix(wide).narrowed(ids * apart).toarray(), expected)
    assert_array_equal(as_matrix(wide)[5:9].columns(ids * apart), expected[5:9])


class Own(Loss):
    """A loss that no compiled loop knows: the logistic one, by array functions."""

    name = "own"

    labels = True

    def value(self, y, z):
        return LOSSES["logistic"].value(y, z)

    def derivative(self, y, z):
        return LOSSES["logistic"].derivative(y, z)


@pytest.mark.parametrize("loss", [*LOSSES.values(), Own()], ids=lambda loss: type(loss).__name__)
def test_first_order(case, rng, loss):
    y, weight = targets(loss, rng.normal(size=N), rng), rng.uniform(0.5, 2.0, size=N)
    w, b = 0.05 * rng.normal(size=D) * (np.arange(D) % 3 > 0), 0.3
    z = case.X @ w + b
    f, u = loss.value(y, z), loss.derivative(y, z)
    totals, slopes = case.rows.first_order(loss, case.there(y), case.there(weight), w, b)
    expected = [weight.sum(), weight @ f]
    for side, on_this_side in enumerate((u > 0, u <= 0)):
        s = weight * on_this_side
        expected += [s @ u, s @ (u * z - f)]
        assert_allclose(slopes[side], case.X.T @ (s * u), atol=1e-9)
    assert_allclose(totals, expected, rtol=1e-9)


def test_moments(case, rng):
    y, weight = rng.normal(size=N) + 5.0, rng.uniform(0.5, 2.0, size=N)
    moments = case.rows.moments(case.there(y), case.there(weight))
    mean, y_mean = np.average(case.X, axis=0, weights=weight), np.average(y, weights=weight)
    assert_allclose(moments.weight, weight.sum())
    assert_allclose(moments.mean, mean, atol=1e-12)
    assert_allclose(moments.squares, weight @ (case.X - mean) ** 2, atol=1e-9)
    assert_allclose(moments.cross, (weight * (y - y_mean)) @ (case.X - mean), atol=1e-9)
    assert_allclose([moments.y_mean, moments.y_squares], [y_mean, weight @ (y - y_mean) ** 2])
    halves = [case.rows[rows].moments(case.there(y[rows]), case.there(weight[rows])) for rows in HALVES]
    both = halves[0] + halves[1]
    assert_allclose(both.squares, moments.squares, atol=1e-9)
    in_place = replace(halves[0], **{name: getattr(halves[0], name).copy() for name in ("mean", "squares", "cross")})
    in_place += halves[1]
    for name, expected in vars(both).items():
        assert_array_equal(getattr(in_place, name), expected)


HALVES = slice(0, 100), slice(100, N)


@pytest.mark.parametrize("own", [True, False])
def test_products(case, rng, own):
    weight, left = rng.uniform(0.5, 2.0, size=N), np.array([5, 1, 3])
    right = left if own else np.array([1, 5, 3, 8])
    about = [case.X[:, c] - np.average(case.X[:, c], axis=0, weights=weight) for c in (left, right)]
    found = case.rows.products(case.there(weight), left, right)
    halves = [case.rows[rows].products(case.there(weight[rows]), left, right) for rows in HALVES]
    for products in (found, halves[0] + halves[1]):
        expected = (weight[:, None] * about[0]).T @ about[1]
        assert_allclose(products.about_means, expected, rtol=digits(case), atol=N * digits(case))
        assert_allclose(products.right_mean, np.average(case.X[:, right], axis=0, weights=weight), atol=digits(case))
        assert_allclose(products.weight, weight.sum())


@pytest.mark.parametrize("left", [[6, 2], [], list(range(D))])
@pytest.mark.parametrize("right", [None, [2, 0, 8]])
@pytest.mark.parametrize("flat", [0.0, 0.6])
def test_column_products(case, rng, left, right, flat):
    """Also where most rows have no curvature and are passed over."""
    curvature, shift = np.where(rng.random(N) < flat, 0.0, rng.uniform(size=N)), rng.normal(size=D)
    left = np.array(left, dtype=np.int64)
    found = case.rows.column_products(case.there(curvature), shift, left, None if right is None else np.array(right))
    others = case.X if right is None else case.X[:, right]
    expected = (curvature[:, None] * (case.X[:, left] - shift[left])).T @ others
    assert_allclose(found, expected, atol=1e-8)


def test_rows(case, rng):
    for rows in (slice(3, 20), slice(290, 400), slice(0, 0), rng.random(N) < 0.3, rng.permutation(N)[:40]):
        taken = case.rows[rows]
        assert taken.shape == case.X[rows].shape
        assert_array_equal(to_host(taken.columns(np.arange(D))), case.X[rows])
        assert_allclose(to_host(taken.margins(np.ones(D))), case.X[rows].sum(axis=1))


def test_standardised(case, rng):
    columns, mean, scale = np.array([7, 2]), rng.normal(size=2), rng.uniform(1.0, 2.0, size=2)
    made = case.rows.standardised(columns, mean, scale, 1.0)
    expected = np.column_stack([(case.X[:, columns] - mean) / scale, np.ones(N)])
    assert_allclose(to_host(made.columns(np.arange(3))), expected, rtol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", [name for name in IN_MEMORY | AS_ON_A_DEVICE if name != "dense, integers"])
def test_not_finite(name, value, rng):
    X = rng.normal(size=(20, D))
    make = (IN_MEMORY | AS_ON_A_DEVICE)[name]
    assert make(X).not_finite() is None
    X[7, 4] = value
    assert make(X).not_finite() == 4


def test_a_run_of_rows_is_a_view(here):
    for whole, part in zip(here.rows.parts().values(), here.rows[10:40].parts().values(), strict=True):
        if len(whole) != N + 1:  # where each row of a sparse matrix begins is counted from the first one
            assert np.shares_memory(whole, part)


def test_wrapping_copies_nothing(rng):
    X = rng.normal(size=(5, 3))
    assert as_matrix(X).array is X
    S = sp.csr_array(X)
    assert np.shares_memory(as_matrix(S).array.data, S.data)
    rows = as_matrix(X)
    assert as_matrix(rows) is rows
    assert Chunk(X, X[:, 0], X[:, 1]).X.array is X


def test_stacked(here):
    parts = [Chunk(here.rows[rows], np.arange(N)[rows], np.ones(N)[rows]) for rows in HALVES]
    together = joined(parts)
    assert_array_equal(together.X.toarray(), here.X)
    assert_array_equal(together.y, np.arange(N))
    assert together.X.sparse == here.rows.sparse


def test_copies(here):
    assert_array_equal(here.rows.toarray(), here.X)
    assert_array_equal(here.rows.as_csr().toarray(), here.X)
    assert_array_equal(here.rows.contiguous().toarray(), here.X)
    for again in (from_parts(here.rows.parts(), here.rows.shape), pickle.loads(pickle.dumps(here.rows))):
        assert_array_equal(again.toarray(), here.X)
        assert again.sparse == here.rows.sparse


def test_row_squares_and_unit_rows(here, rng):
    v = rng.uniform(size=D)
    assert_allclose(here.rows.row_squares(v), here.X**2 @ v, rtol=1e-6)
    if not _whole(here.rows):  # integers have no unit rows
        norms = np.sqrt(np.sum(here.X**2, axis=1))
        assert_allclose(here.rows.unit_rows().toarray(), here.X / np.where(norms > 0, norms, 1.0)[:, None], rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in IN_MEMORY if name.startswith("csr")])
def test_entries_that_are_stored(name, rng):
    """A column may have all of them; then it can be counted from another origin."""
    X = np.where(rng.random((40, D)) < 0.5, 0.0, 4.0)
    X[:, 2] = 8.0
    rows, shift = IN_MEMORY[name](X), np.where(np.arange(D) == 2, 6.0, 0.0)
    assert_array_equal(rows.stored_in_columns(), np.count_nonzero(X, axis=0))
    assert_array_equal(rows.stored_less(shift).toarray(), X - shift)
    assert rows.stored_less(shift).array.dtype == rows.array.dtype


def test_layouts(here):
    scale = np.arange(1.0, D + 1)
    rows, columns = here.rows.row_layout(scale), here.rows.column_layout()
    assert_allclose(rows.shrink, 1 / scale)
    assert_array_equal(_dense(rows, D), here.X)
    assert_array_equal(_dense(columns, N), here.X.T)


def _dense(layout, width):
    if hasattr(layout, "X"):
        return layout.X
    return sp.csr_array((layout.data, layout.indices, layout.indptr), shape=(len(layout.indptr) - 1, width)).toarray()


SOURCE = Path(riata.__file__).parent
MAY_ASK = (  # matrices, their compiled layouts, where data comes in, and coefficients, which may be sparse too
    "matrices/", "kernels/rows.py", "data/opening/", "data/formats/", "data/encoding.py",
    "data/columns/beside.py", "estimators/",
    "engines/dask/collections.py", "training/coefficients.py", "scipy_later.py",
)  # fmt: skip
TYPES = {
    "Matrix", "DenseMatrix", "CsrMatrix", "ArrayMatrix", "CudaDense", "CudaSparse", "DenseRows",
    "CsrRows", "csr_array", "csc_array", "csr_matrix", "sparray", "spmatrix",
}  # fmt: skip


def asks_for_types(path):
    """The lines of a file that ask whether something is sparse, or one of the types of rows."""
    for node in ast.walk(ast.parse(path.read_text())):
        if name_of(node) in ("issparse", "isspmatrix", "is_sparse"):
            yield node.lineno
        is_question = isinstance(node, ast.Call) and name_of(node.func) == "isinstance"
        if is_question and TYPES & {name_of(part) for part in ast.walk(node)}:
            yield node.lineno


def name_of(node):
    """What a name or an attribute is called; None of other nodes."""
    return getattr(node, "id", None) or getattr(node, "attr", None)


def test_types_of_rows_are_asked_for_where_they_come_in():
    asking = {
        f"{name}:{line}"
        for path in SOURCE.rglob("*.py")
        if not (name := path.relative_to(SOURCE).as_posix()).startswith(MAY_ASK)
        for line in asks_for_types(path)
    }
    assert not asking
    assert list(asks_for_types(SOURCE / "matrices" / "host.py"))  # the question itself is recognised
