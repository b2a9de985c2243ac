"""A fitted model: its file, its predictions, how good it is."""

from riata.model.model import Model
from riata.model.saved_model import load_model

__all__ = ["Model", "load_model"]
