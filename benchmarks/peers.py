"""Every solver as one function: prepare(X, y, benchmark) does what is not timed, and returns solve(alphas, tol).

`solve` returns (coefs, intercepts), one row per alpha. A solver that cannot do a benchmark is not offered for it, and
one whose package is missing is skipped.
"""

import atexit
import shutil
import subprocess
import tempfile
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def riata(X, y, benchmark):
    from riata.data.in_memory import InMemory
    from riata.training.fitting import fit
    from riata.training.paths.path import path_of_margin
    from riata.training.spec import Spec

    X = X if sp.issparse(X) else np.ascontiguousarray(X)
    options = {"loss": benchmark.loss, "standardize": False, "fit_intercept": benchmark.fit_intercept}

    def solve(alphas, tol):
        data = InMemory(X, y)  # a fresh one: nothing that was learnt before is kept
        if len(alphas) == 1:
            result = fit(data, Spec(alpha=alphas[0], tol=tol, **options)).result
            solve.passes = data.passes
            return [result.coef], [result.intercept]
        found = path_of_margin(data, Spec(tol=tol, **options), alphas)
        solve.passes = found.passes
        return found.coefs, found.intercepts

    return solve


def celer(X, y, benchmark):
    import celer as package

    X = _columns(X.astype(np.float64, copy=False))  # float32 never gets to a gap of 1e-6
    if len(y) and benchmark.path:
        task = "lasso" if benchmark.loss == "squared" else "logreg"

        def solve_path(alphas, tol):
            # celer's logistic loss is a sum, and its tolerance is relative to the loss at zero
            scale = len(y) if task == "logreg" else 1.0
            _, coefs, _ = package.celer_path(X, y, task, alphas=np.array(alphas) * scale, tol=tol)[:3]
            return coefs.T, np.zeros(len(alphas))

        return solve_path

    def solve(alphas, tol):
        if benchmark.loss == "squared":
            model = package.Lasso(alpha=alphas[0], fit_intercept=benchmark.fit_intercept, tol=tol)
        else:
            model = package.LogisticRegression(C=1.0 / (alphas[0] * len(y)), tol=tol)
        model.fit(X, y)
        return [model.coef_.ravel()], [float(np.ravel(model.intercept_)[0]) if benchmark.fit_intercept else 0.0]

    return solve


def skglm(X, y, benchmark):
    """Its tolerance is a slope, so it is taken relative to the largest; dense columns are centred, in place of the
    intercept, with which it crawls."""
    from skglm import Lasso, SparseLogisticRegression

    squared, fit_intercept = benchmark.loss == "squared", benchmark.fit_intercept
    means, y_mean = np.zeros(X.shape[1]), 0.0
    if squared and fit_intercept and not sp.issparse(X):
        means, y_mean = X.mean(axis=0, dtype=np.float64), y.mean()
        X, y, fit_intercept = (X - means).astype(X.dtype), y - y_mean, False
    slope = np.max(np.abs(X.T @ (y - y.mean()))) / len(y) * (1.0 if squared else 0.5)
    X = _columns(X)

    def solve(alphas, tol):
        kind = Lasso if squared else SparseLogisticRegression
        model = kind(alpha=alphas[0], fit_intercept=fit_intercept, tol=tol * slope, warm_start=True)
        coefs, intercepts = [], []
        for alpha in alphas:
            model.alpha = alpha
            model.fit(X, y)
            coefs.append(model.coef_.ravel().copy())
            own = float(np.ravel(model.intercept_)[0]) if fit_intercept else 0.0
            intercepts.append(own + y_mean - means @ coefs[-1])
        return coefs, intercepts

    return solve


def adelie(X, y, benchmark):
    import adelie as package

    matrix = package.matrix.sparse(sp.csc_matrix(X), method="naive") if sp.issparse(X) else np.asfortranarray(X, float)
    glm = package.glm.gaussian(y=y) if benchmark.loss == "squared" else package.glm.binomial(y=(y + 1) / 2)

    def solve(alphas, tol):
        state = package.grpnet(
            X=matrix, glm=glm, lmda_path=np.array(alphas), intercept=benchmark.fit_intercept, progress_bar=False,
            early_exit=False, tol=tol,
        )  # fmt: skip
        return state.betas.toarray(), np.asarray(state.intercepts)

    return solve


def glum(X, y, benchmark):
    from glum import GeneralizedLinearRegressor

    family = "normal" if benchmark.loss == "squared" else "binomial"
    target = y if benchmark.loss == "squared" else (y + 1) / 2
    X = X.astype(np.float64, copy=False)  # it takes no float32 beside them

    def solve(alphas, tol):
        model = GeneralizedLinearRegressor(
            alpha=alphas[0], l1_ratio=1, family=family, fit_intercept=benchmark.fit_intercept, gradient_tol=tol
        )
        model.fit(X, target)
        return [model.coef_], [float(model.intercept_)]

    return solve


def scikit_learn(X, y, benchmark):
    from sklearn.linear_model import Lasso, LogisticRegression, lasso_path

    X = _columns(X) if benchmark.loss == "squared" else X

    def solve(alphas, tol):
        if benchmark.path:
            coefs = lasso_path(X, y, alphas=alphas, tol=tol, max_iter=100_000)[1]
            return coefs.T, np.zeros(len(alphas))
        if benchmark.loss == "squared":
            model = Lasso(alpha=alphas[0], fit_intercept=benchmark.fit_intercept, tol=tol, max_iter=100_000).fit(X, y)
        else:
            model = LogisticRegression(
                C=1.0 / (alphas[0] * len(y)),
                l1_ratio=1,
                solver="liblinear",
                fit_intercept=False,
                tol=tol,
                max_iter=10_000,
            ).fit(X, y)
        return [model.coef_.ravel()], [float(np.ravel(model.intercept_)[0])]

    return solve


def glmstar(X, y, benchmark):
    """glmnet's C++ from Python, by its own authors."""
    from glmnet import GaussNet, LogNet
    from glmnet.paths.fastnet import FastNetControl

    squared = benchmark.loss == "squared"
    X, target = _columns(X) if sp.issparse(X) else np.asfortranarray(X, float), y if squared else (y + 1) / 2

    def solve(alphas, tol):
        control = FastNetControl(thresh=tol, fdev=0.0, devmax=1.0, maxit=10_000_000, mxitnr=1000)
        kind = GaussNet if squared else LogNet
        model = kind(
            lambda_values=np.array(alphas), standardize=False, fit_intercept=benchmark.fit_intercept, control=control
        ).fit(X, target)
        return model.coefs_, np.ravel(model.intercepts_)

    return solve


def glmnet(X, y, benchmark):
    """R's, by glmnet.R in a process of its own, which reads the matrix from a folder and times the fit alone."""
    folder = Path(tempfile.mkdtemp(prefix="riata-glmnet-"))
    atexit.register(shutil.rmtree, folder)
    columns, family = _columns(X), "gaussian" if benchmark.loss == "squared" else "binomial"
    parts = {"y": y, "shape": np.array(X.shape, dtype=np.int32)}
    if sp.issparse(X):
        parts |= {"indices": columns.indices, "indptr": columns.indptr, "data": columns.data}
    else:
        parts["data"] = columns.T.astype(np.float64)
    for name, array in parts.items():
        array.tofile(folder / name)

    def solve(alphas, tol):
        np.array(alphas).tofile(folder / "alphas")
        script = Path(__file__).with_name("glmnet.R")
        command = ["Rscript", script, folder, family, str(int(benchmark.fit_intercept)), str(tol)]
        subprocess.run(command, check=True, capture_output=True)
        found = np.fromfile(folder / "found")
        solve.seconds = found[0]
        return found[1 + len(alphas) :].reshape(len(alphas), -1), found[1 : 1 + len(alphas)]

    return solve


def _columns(X):
    """CSC with 32-bit indices or Fortran order: what column solvers read fastest."""
    if not sp.issparse(X):
        return np.asfortranarray(X)
    return sp.csc_matrix(X)


def offered(benchmark) -> dict:
    """The solvers that can do a benchmark, of those that are installed."""
    squared = benchmark.loss == "squared"
    own_intercept = not squared and benchmark.fit_intercept  # celer has none, and liblinear penalises it
    dense_and_not_wide = benchmark.data in {"covtype", "covtype pairs", "AR(.95) 20,000 x 2000", "digits49"}
    able = {
        "riata": True,
        "celer": not own_intercept,
        "skglm": True,
        "adelie": True,
        "glmstar": True,
        "glum": dense_and_not_wide and not benchmark.path,  # it has the curvature of all columns at once
        "scikit-learn": squared,
        "liblinear": not squared and not own_intercept and not benchmark.path,
        "glmnet": True,
    }
    return {name: SOLVERS[name] for name, can in able.items() if can and _installed(name)}


def missing() -> list[str]:
    """A sentence for every peer that is not here."""
    absent = [name for name in SOLVERS if not _installed(name)]
    return [f"Without {name}, which is not installed." for name in absent]


@cache
def _installed(name) -> bool:
    if name == "glmnet":
        command = ["Rscript", "-e", "library(glmnet)"]
        return (
            bool(shutil.which("Rscript")) and subprocess.run(command, capture_output=True, check=False).returncode == 0
        )
    modules = {"scikit-learn": "sklearn", "liblinear": "sklearn", "glmstar": "glmnet"}
    return find_spec(modules.get(name, name)) is not None


SOLVERS = {
    "riata": riata, "celer": celer, "skglm": skglm, "adelie": adelie, "glum": glum, "scikit-learn": scikit_learn,
    "liblinear": scikit_learn, "glmstar": glmstar, "glmnet": glmnet,
}  # fmt: skip


warnings.filterwarnings("ignore")  # a peer that warns of an unmet tolerance is judged by the certificate
