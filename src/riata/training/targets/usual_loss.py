"""Which loss a fit has that names none: that of its task, and of successes among trials the binomial.

Of more than two classes it is softmax, which predicts better probabilities at equal sparsity
(`benchmarks/softmax.py sparsity`), wherever it goes with all else that is asked; otherwise one against the rest.
"""

from collections.abc import Mapping
from dataclasses import replace

from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.losses import AUTO, USUAL, Binomial, Softmax
from riata.training.checks import check_spec, check_width
from riata.training.selection.asked import search_of
from riata.training.spec import Spec


def with_usual_loss(spec: Spec, task: str, data: Dataset | None = None) -> Spec:
    """The spec with a loss in place of "auto"; rows that are still to come may be of two classes."""
    if spec.loss != AUTO:
        return spec
    if data is not None and data.facts.trials:
        return replace(spec, loss=Binomial.name)
    softmax = data is not None and data.classes is not None and _goes_with_softmax(spec, data, len(data.classes))
    return replace(spec, loss=Softmax.name if softmax else USUAL[task])


def _goes_with_softmax(spec: Spec, data: Dataset, n_classes: int) -> bool:
    weights = spec.class_weight.values() if isinstance(spec.class_weight, Mapping) else ()
    one_margin_each = (
        data.single_pass or spec.k is not None or spec.threshold is not None or data.facts.offset is not None
    )
    if n_classes <= 2 or one_margin_each or 0 in weights or spec.learns_online:  # as streams have it, too
        return False
    from riata.training.recoding import numbered_or_recoded  # most of the solvers, which few classes do without

    of_classes = replace(spec, loss=Softmax(n_classes))
    try:
        if search_of(spec) is not None:
            of_classes = replace(of_classes, alpha=None)
        check_width(data, of_classes)
        seen, recoding = numbered_or_recoded(of_classes, data)
        check_spec(seen, data.n_features if recoding is None else recoding.n_features)
    except OptionError:
        return False  # what is wrong with one against the rest, too, is said when that is fitted
    return True
