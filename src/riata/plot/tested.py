"""How good a model is on test rows, by scikit-learn's displays, from one pass over data of any size.

Test rows are a dataset, a path, a table that has the target, (X, y), or X and y, as scikit-learn's displays take them.
"""

from typing import Any

from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import ConfusionMatrixDisplay, PrecisionRecallDisplay, PredictionErrorDisplay, RocCurveDisplay

from riata.data.dataset import Dataset
from riata.engines.known_rows import has_columns
from riata.errors import OptionError
from riata.estimators.base import SparseLinear
from riata.estimators.input_checks import parts_of
from riata.model.model import Model
from riata.model.quality import ClassQuality, NumberQuality, Quality, TargetsQuality, quality
from riata.model.quality.curves import ScoreTable
from riata.plot.display import Axes, axes_for


def roc(
    fitted: SparseLinear | Model, test: Any, y: Any = None, *, label: Any = None, ax: Axes | None = None
) -> RocCurveDisplay:
    """The ROC curve: true positive rate against false positive rate.

    `test` is a dataset, a path or a table with its target, or X with `y`. `label` is the class to draw, by default the
    second of two.
    """
    name, table = _curve(fitted, test, y, label)
    false, true = table.roc()
    return _drawn(RocCurveDisplay(fpr=false, tpr=true, roc_auc=table.auc, pos_label=name), ax)


def precision_recall(
    fitted: SparseLinear | Model, test: Any, y: Any = None, *, label: Any = None, ax: Axes | None = None
) -> PrecisionRecallDisplay:
    """Precision against recall at every threshold.

    `test` is a dataset, a path or a table with its target, or X with `y`. `label` is the class to draw, by default the
    second of two.
    """
    name, table = _curve(fitted, test, y, label)
    precision, recall = table.precision_recall()
    display = PrecisionRecallDisplay(precision, recall, average_precision=table.average_precision, pos_label=name)
    return _drawn(display, ax)


def calibration(
    fitted: SparseLinear | Model, test: Any, y: Any = None, *, ax: Axes | None = None
) -> CalibrationDisplay:
    """The observed share of a class against its predicted probability, by tenths of the rows.

    The class is the second of two, or of several the most likely one of each row.

    `test` is a dataset, a path or a table with its target, or X with `y`.
    """
    found = _of_classes(fitted, test, y).calibration
    if found is None:
        raise OptionError(
            "only a model of probabilities, such as a logistic one, has any to compare with what came true"
        )
    return _drawn(CalibrationDisplay(found.observed, found.predicted, found.predicted), ax)


def confusion(
    fitted: SparseLinear | Model, test: Any, y: Any = None, *, ax: Axes | None = None
) -> ConfusionMatrixDisplay:
    """The confusion matrix: true classes against predicted classes.

    `test` is a dataset, a path or a table with its target, or X with `y`.
    """
    found = _of_classes(fitted, test, y)
    return _drawn(ConfusionMatrixDisplay(found.confusion, display_labels=found.labels), ax, values_format=".4g")


def residuals(
    fitted: SparseLinear | Model,
    test: Any,
    y: Any = None,
    *,
    kind: str = "actual_vs_predicted",
    label: str | None = None,
    ax: Axes | None = None,
) -> PredictionErrorDisplay:
    """True against predicted numbers for a sample of the rows; with kind="residual_vs_predicted", their residuals.

    `test` is a dataset, a path or a table with its target, or X with `y`. `label` is one of several targets.
    """
    found: Any = tested(fitted, with_target(test, y))
    if isinstance(found, TargetsQuality):
        if label is None or label not in found.by_target:
            raise OptionError(f"give label one of the targets: {', '.join(found.by_target)}")
        found = found.by_target[label]
    if not isinstance(found, NumberQuality):
        raise OptionError("a classifier has no residuals; take roc or confusion")
    truth, predicted = found.sample.T
    return _drawn(PredictionErrorDisplay(y_true=truth, y_pred=predicted), ax, kind=kind)


def tested(fitted: SparseLinear | Model, test: Any) -> Quality:
    """How good a fitted estimator, or a `Model`, is on a dataset, a path, a table or (X, y): one pass."""
    model = fitted if isinstance(fitted, Model) else fitted.to_model()
    if isinstance(test, Dataset) or has_columns(test):
        return quality(model, model.rows(test))
    given = parts_of(test, "test")
    offsets = given.offsets(model.offset)
    if isinstance(fitted, SparseLinear) and not fitted._encodes(given.X):
        return quality(model, fitted._dataset(given.X, given.y, given.weight, **offsets, reset=False))
    return quality(model, model.rows(given.X, given.y, weight=given.weight, **offsets))


def with_target(test: Any, y: Any) -> Any:
    """Test rows as one thing."""
    return test if y is None else (test, y)


def _of_classes(fitted: SparseLinear | Model, test: Any, y: Any) -> ClassQuality:
    found = tested(fitted, with_target(test, y))
    if not isinstance(found, ClassQuality):
        raise OptionError("a regression has no classes; take residuals")
    return found


def _curve(fitted: SparseLinear | Model, test: Any, y: Any, label: Any) -> tuple[str, ScoreTable]:
    """The scores of a class against the rest; of two classes, of the second."""
    found = _of_classes(fitted, test, y)
    label = next(iter(found.curves), None) if label is None and len(found.labels) == 2 else str(label)
    if label not in found.curves:
        raise OptionError(f"give label one of the classes that the test rows have: {', '.join(found.curves)}")
    return label, found.curves[label]


def _drawn(display: Any, ax: Axes | None, **options: Any) -> Any:
    """A display of scikit-learn's, drawn on these axes or on new ones."""
    return display.plot(ax=axes_for(display, ax), **options)
