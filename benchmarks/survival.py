"""Times to events: Cox's proportional hazards with L1, beside scikit-survival's Coxnet, glmstar and skglm.

    python benchmarks/survival.py [--rows 100000] [--features 50] [--file] [--skip skglm] [--out survival.md]

Synthetic rows: correlated columns, of which ten matter, exponential times, about a third of them censored; times are
whole numbers of at most 1,000 units, as days are, unless --continuous. All get the same standardised columns and the
same alpha, and fit once to warm up. Seconds are of the processor, the least of two; riata's fit includes the baseline
hazard. The excess is how far F is above the lowest, as a share of the loss of the model without features; the
certificate is riata's own bound on it. Those of the others that are not installed are left out. --file fits riata from
Parquet in a budget of 64 MB, too, and says what it read.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import riata
from riata.losses.cox import Cox, codes_of
from riata.machine import peak_rss_mb

RATIOS = (0.3, 0.05)  # of alpha_max


def problem(rows: int, features: int, continuous: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standardised columns, times, and whether they are those of events."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features)) + 0.5 * rng.normal(size=(rows, 1))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    w = np.zeros(features)
    w[:: max(1, features // 10)] = rng.normal(size=len(w[:: max(1, features // 10)])) / 3
    happens, end = rng.exponential(np.exp(-X @ w)), rng.exponential(2.0, rows)
    time = np.minimum(happens, end)
    return X, time if continuous else np.ceil(np.minimum(100 * time, 1000)), happens <= end


def objective(X, signed, w, alpha):
    times = np.unique(signed[signed > 0])
    loss = Cox(len(times) + 1)
    total = loss.total(loss.sums(codes_of(signed, times), X @ w, np.ones(len(signed))))
    return total / len(signed) + alpha * np.abs(w).sum()


def of_riata(X, y, alpha):
    return riata.SparseSurvival(alpha=alpha, standardize=False).fit(X, y).coef_


def of_coxnet(X, y, alpha):
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    return CoxnetSurvivalAnalysis(alphas=[alpha], l1_ratio=1.0, tol=1e-7).fit(X, y).coef_[:, 0]


def of_glmstar(X, y, alpha):
    import pandas as pd
    from glmnet import CoxNet
    from glmnet.cox import CoxFamily
    from glmnet.paths.fastnet import FastNetControl

    control = FastNetControl(thresh=1e-9, fdev=0.0, devmax=1.0, maxit=10_000_000, mxitnr=1000)
    family = CoxFamily(tie_breaking="breslow", event_id="time", status_id="event")
    target = pd.DataFrame({"time": y["time"], "event": y["event"].astype(float)})
    model = CoxNet(lambda_values=np.array([alpha]), standardize=False, control=control, family=family)
    return np.ravel(model.fit(np.asfortranarray(X), target).coefs_[0])


def of_skglm(X, y, alpha):
    from skglm.datafits import Cox as Datafit
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton
    from skglm.utils.jit_compilation import compiled_clone

    target = np.column_stack([y["time"], y["event"]]).astype(np.float64)
    datafit, penalty = compiled_clone(Datafit()), compiled_clone(L1(alpha))
    datafit.initialize(X, target)
    return ProxNewton(fit_intercept=False, tol=1e-7, max_iter=50).solve(X, target, datafit, penalty)[0]


def timed(fit, *given):
    """Coefficients, and the least of two times after a first fit, of the processor; None where it is not installed."""
    try:
        w = fit(*given)
    except ImportError:
        return None
    seconds = []
    for _ in range(2):
        started = time.process_time()
        w = fit(*given)
        seconds.append(time.process_time() - started)
    return w, min(seconds)


def from_file(X, y, alpha, found):
    """A line on a fit from Parquet in a small budget."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        columns = {f"x{j}": x.astype(np.float32) for j, x in enumerate(X.T)}
        pq.write_table(pa.table(columns | {"time": y["time"], "event": y["event"]}), path, row_group_size=1 << 16)
        size = path.stat().st_size / 1e6
        before, started = peak_rss_mb(), time.process_time()
        data = riata.open(path, "time", event="event", memory="64MB")
        trained = riata.train(data, riata.Spec(loss="cox", alpha=alpha, standardize=False))
        seconds = time.process_time() - started
        apart = np.abs(trained.coef[0] - found).max()
        return (
            f"From Parquet ({size:.0f} MB) with memory=64MB: {seconds:.1f} s of the processor, "
            f"{trained.course.passes:.0f} passes, gap {trained.course.gap:.0e}, coefficients within {apart:.0e} "
            f"of those in memory (peak of the process {before:.0f} MB before, {peak_rss_mb():.0f} MB after)."
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--continuous", action="store_true", help="no two events at the same time")
    parser.add_argument("--file", action="store_true")
    parser.add_argument("--skip", nargs="*", default=[], help="peers that would take too long, such as skglm")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    X, when, event = problem(args.rows, args.features, args.continuous)
    y, signed = np.rec.fromarrays([event, when], names="event, time"), np.where(event, when, -when)
    largest = riata.path(riata.open(X, y), riata.Spec(loss="cox", standardize=False), length=1).alphas[0]
    empty = objective(X, signed, np.zeros(args.features), 0.0)
    lines = [
        f"{args.rows:,} rows, {args.features} features, {event.mean():.0%} events, "
        f"{len(np.unique(when[event])):,} different times of events.\n",
        "| alpha / alpha_max | solver | seconds | features | excess | certified |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for ratio in RATIOS:
        alpha = ratio * largest
        fits = {"riata": of_riata, "scikit-survival Coxnet": of_coxnet, "glmstar": of_glmstar, "skglm": of_skglm}
        found = {
            name: one
            for name, fit in fits.items()
            if name not in args.skip and (one := timed(fit, X, y, alpha)) is not None
        }
        values = {name: objective(X, signed, w, alpha) for name, (w, _) in found.items()}
        gap = riata.SparseSurvival(alpha=alpha, standardize=False).fit(X, y).gap_
        for name, (w, seconds) in found.items():
            excess = (values[name] - min(values.values())) / empty
            certified = f"{gap:.0e}" if name == "riata" else ""
            lines.append(f"| {ratio} | {name} | {seconds:.2f} | {np.count_nonzero(w)} | {excess:.0e} | {certified} |")
    if args.file:
        lines += ["", from_file(X, y, alpha, found["riata"][0])]
    text = "\n".join(lines) + "\n"
    print(text)
    if args.out:
        args.out.write_text(text)


if __name__ == "__main__":
    main()
