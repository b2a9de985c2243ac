"""The estimators: scikit-learn's conventions around `riata.training.train`."""

from riata.estimators.classifier import SparseClassifier
from riata.estimators.regressor import SparseRegressor
from riata.estimators.survival import SparseSurvival

__all__ = ["SparseClassifier", "SparseRegressor", "SparseSurvival"]
