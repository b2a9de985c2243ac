"""What is asked of features by their names or columns, as numbers for all features of a dataset."""

from dataclasses import replace

from riata.data.dataset import Dataset
from riata.data.features import bounds_of, factors_of, groups_of
from riata.training.spec import Spec


def with_features_numbered(spec: Spec, data: Dataset) -> Spec:
    """The spec whose penalty factors, bounds and groups are arrays over the features of this data."""
    return replace(
        spec,
        penalty_factors=factors_of(spec.penalty_factors, data),
        bounds=bounds_of(spec.bounds, data),
        groups=groups_of(spec.groups, data),
    )
