"""Several classes at once: softmax beside one against the rest, and beside scikit-learn's saga, glmstar and adelie.

    python benchmarks/softmax.py sparsity [--data ../shared/data] [--only wine digits ...]
    python benchmarks/softmax.py speed [--data ../shared/data] [--only digits covtype covtype_whole news20]

`sparsity`: along paths of falling alphas, the held-out log loss of the largest model of each kind that has no more
coefficients, over all classes, than a budget. One against the rest has the same share of each class's own alpha_max for
all classes; its probabilities are scaled to sum to one. `speed`: the same objective (columns scaled beforehand, alpha a
tenth of alpha_max) by riata and by peers, in seconds of the processor; the excess is how far F is above riata's dual
bound, as a share of the loss of the model without features. Peers stop by tolerances of their own, which are shown,
and are not asked for more once a fit has taken a minute; adelie has a shared support only. Peers that are not installed
are left out.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from riata.data.in_memory import InMemory
from riata.losses import LINKS, Softmax, probabilities
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

PER_CLASS = (2, 5, 10, 20, 50)  # coefficients
N_ALPHAS, REACH = 25, 0.01
SAGA_PASSES = (20, 100, 500)
TOLERANCES = (1e-4, 1e-7, 1e-9)  # of glmstar and adelie
LONG = 60.0  # processor seconds


def digits(_data):
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


def wine(_data):
    from sklearn.datasets import load_wine

    return load_wine(return_X_y=True)


def carriers(data):
    """Which of 16 airlines flies at that hour over that distance."""
    frame = _sampled(
        data / "nycflights13.parquet", ["carrier", "origin", "month", "hour", "distance", "sched_arr_time"]
    )
    frame["hour"] = frame["hour"].astype(str)
    return _numbers(frame.drop(columns="carrier")), frame["carrier"].to_numpy()


def brands(data):
    """Which of 11 makes of cars a policy insures."""
    columns = ["VehBrand", "VehPower", "VehAge", "DrivAge", "BonusMalus", "VehGas", "Density", "Area", "Region"]
    frame = _sampled(data / "fremtpl2.parquet", columns)
    frame["Density"] = np.log(frame["Density"])
    return _numbers(frame.drop(columns="VehBrand")), frame["VehBrand"].to_numpy()


def _sampled(file, columns, n=20_000):
    import pandas as pd

    return pd.read_parquet(file, columns=columns).sample(n, random_state=0)


def _numbers(frame):
    import pandas as pd

    return pd.get_dummies(frame).to_numpy(dtype=float)


def covtype(data, n=20_000):
    found = np.load(data / "covtype.npz")
    rows = np.sort(np.random.default_rng(0).permutation(len(found["y"]))[:n])
    return found["X"][rows].astype(float), found["y"][rows]


def covtype_whole(data):
    return covtype(data, None)


def news20(data, n_words=3000):
    """Logarithms of counts of the words that most texts have, English stop words among them."""
    X = sp.csr_array(sp.load_npz(data / "news20_counts.npz"), dtype=np.float64)
    often = np.argsort(-np.diff(sp.csc_array(X).indptr), kind="stable")[:n_words]
    X = X[:, np.sort(often)]
    X.data = np.log1p(X.data)
    return X, np.load(data / "news20_counts.npz")["y20"]


SETS = {one.__name__: one for one in (wine, digits, covtype, carriers, brands, news20, covtype_whole)}
OF_SPARSITY = [name for name in SETS if name != "covtype_whole"]
OF_SPEED = ["digits", "covtype", "news20", "covtype_whole"]


def halves(X, y):
    """Two thirds to learn from, the rest to score, and classes by number; columns that vary, scaled."""
    classes, y = np.unique(y, return_inverse=True)
    rows = np.random.default_rng(1).permutation(len(y))
    learnt, scored = rows[: 2 * len(y) // 3], rows[2 * len(y) // 3 :]
    scale = InMemory(X[learnt], y[learnt].astype(float)).moments.scale
    X = X @ sp.diags_array(1.0 / scale) if sp.issparse(X) else X / scale
    X = sp.csr_array(X) if sp.issparse(X) else X
    return X[learnt], y[learnt], X[scored], y[scored], len(classes)


def sparsity(X, y, X_new, y_new, n_classes):
    """Lines of (coefficients a class, log loss and coefficients of softmax, of softmax with shared support, of ovr)."""
    found = [softmax_models(X, y, n_classes, shared) for shared in (False, True)]
    found.append(one_against_rest(X, y, n_classes))
    scored = [[(count_nonzero(W), log_loss(link, X_new, y_new, W, b)) for W, b, link in models] for models in found]
    for budget in PER_CLASS:
        within = [[one for one in models if one[0] <= budget * n_classes] for models in scored]
        yield budget, [models[-1] for models in within]


def softmax_models(X, y, n_classes, shared):
    spec = Spec(loss=Softmax(n_classes), standardize=False, shared_support=shared, tol=1e-4)
    enough = PER_CLASS[-1] * (1 if shared else n_classes)  # features that have more coefficients than any budget
    made = path_of_margin(InMemory(X, y.astype(float)), spec, length=N_ALPHAS, reach=REACH, max_features=enough)
    return [(w.reshape(-1, n_classes), b, "softmax") for w, b in zip(made.coefs, made.intercepts, strict=True)]


def one_against_rest(X, y, n_classes):
    spec = Spec(loss="logistic", standardize=False, tol=1e-4)
    made = []
    for k in range(n_classes):
        data = InMemory(X, np.where(y == k, 1.0, -1.0))
        largest = path_of_margin(data, spec, length=1).alphas[0]
        made.append(path_of_margin(data, spec, largest * np.geomspace(1.0, REACH, N_ALPHAS)))
    return [
        (np.stack([one.coefs[i] for one in made], axis=1), np.array([one.intercepts[i] for one in made]), "logistic")
        for i in range(N_ALPHAS)
    ]


def count_nonzero(W):
    return int(np.count_nonzero(W))


def log_loss(link, X, y, W, b):
    p = probabilities(LINKS[link], X @ W + b)
    return float(-np.log(np.maximum(p[np.arange(len(y)), y], 1e-15)).mean())


def speed(X, y, n_classes, skipped=()):
    """Lines of (who, seconds, excess), of supports by class and of a shared one."""
    data, loss = InMemory(X, y.astype(float)), Softmax(n_classes)
    shares = np.bincount(y) / len(y)
    unit = -float(shares @ np.log(shares))
    for shared in (False, True):
        spec = Spec(loss=loss, alpha_ratio=0.1, standardize=False, shared_support=shared)
        for _ in range(2):  # the first one compiles
            started = time.process_time()
            found = fit(data, spec)
            seconds = time.process_time() - started
        result, alpha = found.result, found.alpha
        bound = result.objective - result.gap * unit
        kind = "shared support, " if shared else ""
        yield f"riata, {kind}{count_nonzero(result.coef)} coefficients", seconds, result.gap
        taken = dict.fromkeys(skipped, np.inf)
        for who, solve in peers(X, y, n_classes, alpha, shared):
            name = who.split(",")[0]
            if taken.get(name, 0.0) > LONG:
                continue
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    W, b = solve()
                except ImportError:
                    continue
            taken[name] = time.process_time() - started
            penalty = np.linalg.norm(W, axis=1).sum() if shared else np.abs(W).sum()
            F = float(loss.value(y.astype(float), X @ W + b).mean()) + alpha * penalty
            yield f"{who}, {kind}{count_nonzero(W)} coefficients", taken[name], (F - bound) / unit


def peers(X, y, n_classes, alpha, shared):
    """Names, and functions that give coefficients (features x classes) and intercepts."""
    if shared:
        for tol in TOLERANCES:
            yield f"adelie, {tol:g}", lambda tol=tol: of_adelie(X, y, n_classes, alpha, tol)
        return
    for passes in SAGA_PASSES:
        yield f"saga, {passes} passes", lambda passes=passes: of_saga(X, y, alpha, passes)
    for tol in TOLERANCES:
        yield f"glmstar, {tol:g}", lambda tol=tol: of_glmstar(X, y, n_classes, alpha, tol)


def of_adelie(X, y, n_classes, alpha, tol):
    """Its loss is a mean over classes, too; penalties are the root of the number of classes unless they are given."""
    import adelie as ad

    columns = ad.matrix.sparse(sp.csc_matrix(X), method="naive") if sp.issparse(X) else np.asfortranarray(X)
    found = ad.grpnet(
        X=columns, glm=ad.glm.multinomial(y=np.eye(n_classes)[y]), penalty=np.ones(X.shape[1]), tol=tol, irls_tol=tol,
        lmda_path=[alpha / n_classes], progress_bar=False, early_exit=False, n_threads=1,
    )  # fmt: skip
    return found.betas.toarray()[0].reshape(-1, n_classes), found.intercepts[0]


def of_saga(X, y, alpha, passes):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(l1_ratio=1.0, C=1.0 / (alpha * len(y)), solver="saga", tol=1e-12, max_iter=passes)
    model.fit(X, y)
    return model.coef_.T, model.intercept_


def of_glmstar(X, y, n_classes, alpha, tol):
    from glmnet import MultiClassNet
    from glmnet.paths.fastnet import FastNetControl

    control = FastNetControl(thresh=tol, fdev=0.0, devmax=1.0, maxit=10_000_000, mxitnr=1000)
    X = sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X)
    model = MultiClassNet(lambda_values=np.array([alpha]), standardize=False, control=control).fit(X, y)
    return model.coefs_[0].reshape(-1, n_classes), np.ravel(model.intercepts_[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sparsity", "speed"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", nargs="+", choices=SETS, help="all by default")
    parser.add_argument("--skip", nargs="*", default=[], help="peers, such as glmstar, which may take minutes")
    options = parser.parse_args()
    for name in options.only or (OF_SPARSITY if options.what == "sparsity" else OF_SPEED):
        X, y, X_new, y_new, n_classes = halves(*SETS[name](options.data))
        of = f"{name} {X.shape[0]:,} x {X.shape[1]:,}, {n_classes} classes"
        if options.what == "sparsity":
            for budget, models in sparsity(X, y, X_new, y_new, n_classes):
                cells = " | ".join(f"{loss:.4f} ({size})" for size, loss in models)
                print(f"| {of} | {budget} | {cells} |", flush=True)
        else:
            for who, seconds, excess in speed(X, y, n_classes, options.skip):
                print(f"| {of} | {who} | {seconds:.2f} | {excess:.1e} |", flush=True)


if __name__ == "__main__":
    main()
