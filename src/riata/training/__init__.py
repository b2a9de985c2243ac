"""From a dataset and plain options to a fitted model."""
