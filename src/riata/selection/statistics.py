"""Folds of a squared loss from one reading: all statistics minus those of a fold train, and those of the fold score."""

import numpy as np

from riata.data.dataset import Dataset
from riata.data.folds import fold_of
from riata.data.gram import Gram, gram_bytes, gram_of_chunks
from riata.fitting import Spec
from riata.selection.paths import ModelPath
from riata.selection.scoring import SCORES, HeldOut

MOST_FEATURES = 2000  # statistics of more columns take longer than the passes that they spare
ROWS_PER_FEATURE = 4  # with fewer, the rows themselves are the smaller matrix


def statistics_serve(data: Dataset, spec: Spec, n_folds: int) -> bool:
    """Whether the folds should come from statistics."""
    d = data.n_features
    fits = spec.memory is None or (n_folds + 4) * gram_bytes(d) <= spec.memory
    return spec.loss == "squared" and d <= min(MOST_FEATURES, data.n_rows // ROWS_PER_FEATURE) and fits


def fold_statistics(data: Dataset, n_folds: int, seed: int) -> list[Gram]:
    """The statistics of every fold: one pass for all."""
    grams: list[Gram | None] = [None] * n_folds
    start = 0
    for chunk in data.visit():
        folds = fold_of(np.arange(start, start + chunk.n_rows), n_folds, seed)
        start += chunk.n_rows
        for fold in np.unique(folds):
            gram = gram_of_chunks([chunk.rows(np.flatnonzero(folds == fold))], data.n_features)
            known = grams[fold]
            grams[fold] = gram if known is None else known + gram
    return [gram for gram in grams if gram is not None]


def scored_by(gram: Gram, path: ModelPath) -> HeldOut:
    """What `held_out` gives on the rows of the statistics."""
    losses = [gram.mean_loss(w, b) for w, b in zip(path.coefs, path.intercepts, strict=True)]
    return HeldOut(SCORES["squared"][1] * np.array(losses), gram.weight)
