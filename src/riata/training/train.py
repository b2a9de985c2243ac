"""Training: from a dataset and a `Spec` to a model with its certificate and history.

Estimators and the command line both call `train`.
"""

from dataclasses import replace

from riata.data.budget import return_what_loading_took
from riata.data.dataset import Dataset
from riata.errors import ModelWarning, OptionError
from riata.machine import return_freed_memory
from riata.training.checks import (
    check_exposure,
    check_marks,
    check_request,
    check_shares,
    check_width,
)
from riata.training.spec import Spec
from riata.training.stages.polishing import (
    all_rows,
    check_polish,
    leads_of,
    look_at_rest,
    rows_of,
    second_fit,
    unit_of,
    widened,
    without_numbers,
)
from riata.training.streaming.stream_fit import learn_stream
from riata.training.targets.several_targets import check_targets
from riata.training.targets.usual_loss import with_usual_loss
from riata.training.trained import Trained
from riata.user_warnings import Warn, warn_user


def train(data: Dataset, spec: Spec, *, validation: Dataset | None = None, warn: Warn = warn_user) -> Trained:
    """Fit a model to a dataset, without scikit-learn: what the `fit` of the estimators does.

    Parameters
    ----------
    data : Dataset
        The result of `riata.open`. Its target decides between classification, regression and survival.
    spec : Spec
        The parameters of the fit, named as those of the estimators (`random_state` is `seed`).
    validation : Dataset, optional
        Rows on which k or alpha is chosen, with select="validation".
    warn : callable, optional
        Called with a `RiataWarning` for everything you should know about the model; by default `warnings.warn`.

    Returns
    -------
    Trained
        The coefficients, certificate, history and cost of the fit. Its `to_model` gives the model alone.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> trained = riata.train(riata.open(X, 3 * X[:, 4] - X[:, 7]), riata.Spec(k=2))
    >>> trained.to_model().names
    ['x4', 'x7']
    """
    spec = with_usual_loss(spec, data.task, data)
    check_request(spec, data.task)
    check_marks(data)
    check_width(data, spec)
    check_shares(spec.loss_function, data.facts.trials)
    check_exposure(spec.loss_function, data.facts.offset is not None and data.facts.offset.exposure)
    if spec.polish:
        if validation is not None:
            raise OptionError("polish has one strength, and no k or alpha for a validation set to choose")
        check_polish(spec, data)
        return _polished(data, spec, warn)
    return _fitted(data, spec, validation, warn)


def _fitted(data: Dataset, spec: Spec, validation: Dataset | None, warn: Warn) -> Trained:
    """One fit of what is asked for, of rows as they come or read as often as needed."""
    if data.single_pass and spec.learns_online:
        if validation is not None:
            raise OptionError("a stream that is not kept has no k or alpha for a validation set to choose")
        if data.facts.targets is not None:
            check_targets(data, spec)
        return learn_stream(data, spec, warn)
    from riata.training.task_fits import fit_by_task  # most of the solvers, which a stream does without

    return fit_by_task(data, spec, validation, warn)


def _polished(data: Dataset, spec: Spec, warn: Warn) -> Trained:
    """An online pass, and an exact fit over the candidates that it leaves."""
    found = replace(_fitted(data, spec, None, warn), learner=None)  # which takes much memory
    leads = leads_of(found)
    if not len(leads.features) or (found.classes is not None and len(found.classes) > 2):
        warn(ModelWarning("nothing was polished: the online pass found no feature, or more than two classes"))
        return replace(found, spec=spec)
    found = without_numbers(found)
    some = rows_of(data, found, leads.features)
    second = train(some, second_fit(spec, leads), warn=warn)
    exact = second.spec if second.spec.memory is not None else replace(second.spec, memory=some.memory)
    unit = unit_of(some, second, exact)
    del some  # of which much may be in memory
    return_freed_memory()
    return_what_loading_took()
    looked = look_at_rest(lambda: all_rows(data, found), unit, second, exact, leads.features, found.n_features)
    return widened(second, found, leads.features, spec, looked)
