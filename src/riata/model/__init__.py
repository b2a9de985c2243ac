"""A fitted model: its file, its predictions, how good it is."""

from riata.model.model import Model, load_model

__all__ = ["Model", "load_model"]
