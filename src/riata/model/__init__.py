"""A fitted model: its file, its predictions, how good it is.

`model` has the class. What it does by others: `columns_of_features` finds its features in other data, `decisions` goes
from margins to classes, `hazard` to survival curves, `quality` scores it, `model_words` prints it, `sql` writes it as
an expression. Its file is written and checked by `model_file` (with `json_pieces` and `model_checks`), and
`saved_model` makes a model of it again. `predictions` are tables of what it predicts.
"""

from riata.model.model import Model
from riata.model.saved_model import load_model

__all__ = ["Model", "load_model"]
