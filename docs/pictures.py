"""What the site shows of riata's own making, made anew with every build: pictures, and a report to look at."""

from pathlib import Path

import riata


def make(folder: Path) -> None:
    """Fit a hundred small models, draw them into `folder`, and write a report there."""
    import matplotlib

    matplotlib.use("agg")
    from sklearn.datasets import load_diabetes

    folder.mkdir(exist_ok=True)
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    train, test = (X[:330], y[:330]), (X[330:], y[330:])
    model = riata.SparseRegressor(alpha="auto").fit(*train)
    found = riata.stability_selection(riata.SparseRegressor(k=4), *train, rounds=20)
    displays = {
        "path": riata.plot.path(model),
        "selection": riata.plot.selection(model),
        "convergence": riata.plot.convergence(riata.SparseClassifier(alpha_ratio=0.05).fit(X, y > y.median())),
        "coefficients": riata.plot.coefficients(model, stability=found),
        "stability": riata.plot.stability(found, X.columns),
        "residuals": riata.plot.residuals(model, test),
    }
    for name, display in displays.items():
        display.figure_.set_size_inches(6.0, 3.6)
        display.figure_.savefig(folder / f"{name}.svg")
    riata.write_report(model, folder / "diabetes.html", test=test, stability=found)


def setup(app) -> dict:
    """Sphinx calls this: pictures are made before pages are read."""
    app.connect("builder-inited", lambda app: make(Path(app.srcdir) / "_made"))
    return {"parallel_read_safe": True}
