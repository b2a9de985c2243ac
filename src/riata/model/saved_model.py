"""A model from its file, and what its file holds."""

from pathlib import Path
from typing import Any

import numpy as np

from riata.losses import LINKS, loss_of
from riata.model.hazard import BaselineHazard
from riata.model.listed_features import ListedFeatures
from riata.model.model import Model
from riata.model.model_file import the_document_in
from riata.model.training_facts import TrainingFacts


def document_of(model: Model) -> dict[str, Any]:
    """What the file of a model holds, in plain values: its features one by one, to be written as they come."""
    features = (
        {"name": name, "column": column, "coef": model.coef[:, j].tolist(), "deviation": deviation}
        for j, (name, column, deviation) in enumerate(zip(model.names, model.indices, model.deviations, strict=True))
    )
    content = vars(model) | {"features": features, "intercept": model.intercept.tolist()}
    content["training"] = model.training.to_json()
    content["hazard"] = model.hazard and model.hazard.to_json()
    content["cutpoints"] = None if model.cutpoints is None else model.cutpoints.tolist()
    unknown = [name for name in ("threshold", "hazard", "targets", "cutpoints") if content[name] is None]
    for name in ("names", "indices", "coef", "deviations", *unknown):
        del content[name]
    return content


def load_model(path: str | Path) -> Model:
    """Load a model that `Model.save` or `riata fit` wrote. Loading executes nothing.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Model
        The model as it was saved.

    Examples
    --------
    >>> import os, tempfile, numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = riata.SparseRegressor(k=2).fit(X, 3 * X[:, 4] - X[:, 7]).to_model()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.json")
    ...     model.save(path)
    ...     loaded = riata.load_model(path)
    >>> loaded.names, bool((loaded.predict(X) == model.predict(X)).all())
    (['x4', 'x7'], True)
    """
    with the_document_in(path) as document:
        features: ListedFeatures = document["features"]
        intercept = np.array(document["intercept"], dtype=float)
        return Model(
            **{key: document[key] for key in ("task", "loss", "objective", "classes", "n_features", "normalize")},
            names=features.names,
            indices=features.indices,
            coef=features.coef(len(intercept)),
            deviations=features.deviations,
            intercept=intercept,
            encoding=document.get("encoding"),
            training=TrainingFacts.from_json(document["training"]),
            link=_link_in(document),
            threshold=document.get("threshold"),
            targets=document.get("targets"),
            cutpoints=np.array(document["cutpoints"], dtype=float) if "cutpoints" in document else None,
            hazard=BaselineHazard.from_json(document["hazard"]) if "hazard" in document else None,
        )


def _link_in(document: dict[str, Any]) -> str:
    """The link that a model's file names; older files name only a loss, one of riata's own."""
    link = document.get("link")
    return (loss_of(document["loss"]).link if link is None else LINKS[link]).name
