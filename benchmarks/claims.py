"""Claims with exposure: Poisson, gamma and Tweedie Lassos on freMTPL2, beside glum and, for Poisson, glmstar.

    python benchmarks/claims.py [--rows 100000] [--data ../shared/data/fremtpl2.parquet] [--out claims.md]

All get the same one-hot columns, scaled to unit deviation (glum as tabmat likes them), the same offset, weights and
alpha, and fit once to warm up. Seconds are of the processor, the least of three. The excess is how far F is above the
lowest, as a share of the loss of the model without features; the certificate is riata's own bound on it. Peers that are
not installed (`pip install glum glmstar`) are left out; skglm has neither offsets nor weights.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import scipy.sparse as sp

import riata
from riata.data.in_memory import InMemory
from riata.losses import loss_of

RATIOS = (0.1, 0.01)  # of alpha_max
LOSSES = {"poisson": "poisson", "gamma": "gamma", "tweedie:1.5": "tweedie (1.5)"}


def problems(path: Path, rows: int) -> dict[str, tuple[sp.csr_array, np.ndarray, np.ndarray, np.ndarray]]:
    """X, y, weight and offset of each loss: counts with exposure, average amounts, amounts with exposure."""
    table = pq.read_table(path)
    chosen = np.sort(np.random.default_rng(0).permutation(table.num_rows)[:rows])
    table = table.take(chosen)
    exposure = np.clip(table["Exposure"].to_numpy(), 1e-3, 1.0)
    count = np.minimum(table["ClaimNb"].to_numpy(), 4).astype(float)
    amount = np.minimum(table["ClaimAmount"].to_numpy(), 100_000.0)
    levels = ["Area", "VehPower", "VehAge", "DrivAge", "BonusMalus", "VehBrand", "VehGas", "Region"]
    data = riata.open(table.select([*levels, "Density"]), count, categorical=levels, task="regression", memory="2GB")
    X = sp.csr_array(data.gather(np.arange(data.n_features)).as_csr(), dtype=np.float64)
    X = X @ sp.diags_array(1.0 / data.moments.scale)
    some = amount > 0
    return {
        "poisson": (X, count, np.ones(len(count)), np.log(exposure)),
        "gamma": (X[some], amount[some] / np.maximum(count[some], 1), np.maximum(count[some], 1), np.zeros(some.sum())),
        "tweedie:1.5": (X, amount, np.ones(len(count)), np.log(exposure)),
    }


def objective(loss, X, y, weight, offset, w, b, alpha):
    value = loss_of(loss).value(y, X @ w + b + offset)
    return float(weight @ value / weight.sum() + alpha * np.abs(w).sum())


def of_riata(loss, X, y, weight, offset, alpha):
    spec = riata.Spec(loss=loss, alpha=alpha, standardize=False)
    found = riata.train(InMemory(X, y, weight, offset=offset), spec)
    return found.coef[0], found.intercept[0], found.course.gap


def of_glum(loss, X, y, weight, offset, alpha):
    import tabmat
    from glum import GeneralizedLinearRegressor, TweedieDistribution

    family = {"poisson": "poisson", "gamma": "gamma"}.get(loss) or TweedieDistribution(float(loss.partition(":")[2]))
    matrix = tabmat.from_csc(sp.csc_matrix(X))
    model = GeneralizedLinearRegressor(
        family=family, link="log", alpha=alpha, l1_ratio=1.0, gradient_tol=1e-7, max_iter=1000
    )

    def run():
        fitted = model.fit(matrix, y, sample_weight=weight, offset=offset)
        return fitted.coef_, fitted.intercept_, None

    return run


def of_glmstar(loss, X, y, weight, offset, alpha):
    import pandas as pd
    from glmnet import FishNet
    from glmnet.paths.fastnet import FastNetControl

    if loss != "poisson":  # the others are not among its compiled paths
        raise ImportError
    columns, target = sp.csc_matrix(X), pd.DataFrame({"y": y, "offset": offset, "weight": weight})
    control = FastNetControl(thresh=1e-9, fdev=0.0, devmax=1.0, maxit=10_000_000, mxitnr=1000)
    model = FishNet(
        lambda_values=np.array([alpha]), standardize=False, control=control, response_id="y", offset_id="offset",
        weight_id="weight",
    )  # fmt: skip

    def run():
        fitted = model.fit(columns, target)
        return np.ravel(fitted.coefs_[0]), float(np.ravel(fitted.intercepts_)[0]), None

    return run


PEERS = {"glum": of_glum, "glmstar": of_glmstar}


def timed(run):
    times, found = [], run()
    for _ in range(3):
        start = time.process_time()
        found = run()
        times.append(time.process_time() - start)
    return min(times), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/fremtpl2.parquet"))
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    lines = [
        "| loss | rows x columns | alpha / alpha_max | features | riata, s | certificate | excess | glum, s | excess "
        "| glmstar, s | excess |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for loss, (X, y, weight, offset) in problems(chosen.data, chosen.rows).items():
        rows = InMemory(X, y, weight, offset=offset)
        empty = riata.train(rows, riata.Spec(loss=loss, alpha_ratio=1.0, standardize=False))
        alpha_max, unit = (
            empty.course.alphas[0],
            objective(loss, X, y, weight, offset, empty.coef[0], empty.intercept[0], 0),
        )
        for ratio in RATIOS:
            problem = (loss, X, y, weight, offset)
            alpha = ratio * alpha_max
            seconds, (w, b, gap) = timed(lambda p=problem, a=alpha: of_riata(*p, a))
            own = least = objective(*problem, w, b, alpha)
            found = {}
            for name, peer in PEERS.items():
                try:
                    took, (v, c, _) = timed(peer(*problem, alpha))
                except ImportError:
                    continue
                found[name] = took, objective(*problem, v, c, alpha)
                least = min(least, found[name][1])
            cells = [
                f"{found[name][0]:.2f} | {(found[name][1] - least) / unit:.1e}" if name in found else "- | -"
                for name in PEERS
            ]
            excess, others = (own - least) / unit, " | ".join(cells)
            lines.append(
                f"| {LOSSES[loss]} | {X.shape[0]:,} x {X.shape[1]} | {ratio:g} | {np.count_nonzero(w)} | {seconds:.2f} "
                f"| {gap:.1e} | {excess:.1e} | {others} |"
            )
            print(lines[-1], flush=True)
    text = "\n".join(lines)
    print(text)
    if chosen.out:
        chosen.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
