"""The two estimators: scikit-learn's conventions around `riata.fitting`."""

from riata.estimators.classifier import SparseClassifier
from riata.estimators.regressor import SparseRegressor

__all__ = ["SparseClassifier", "SparseRegressor"]
