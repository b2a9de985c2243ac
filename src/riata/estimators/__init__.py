"""The two estimators: scikit-learn's conventions around `riata.training.fitting`."""

from riata.estimators.classifier import SparseClassifier
from riata.estimators.regressor import SparseRegressor

__all__ = ["SparseClassifier", "SparseRegressor"]
