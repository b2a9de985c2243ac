"""A fit of rows as they come, until they end or Ctrl-C: of a stream, or of files that become more."""

from dataclasses import replace

import numpy as np

from riata.data.budget import return_what_loading_took
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.days import days_of_rows
from riata.data.encoding import Encoding
from riata.data.opening.growing import GrowingRows
from riata.data.target import Target
from riata.errors import DataWarning, OptionError
from riata.outcome.reasons import StopReason
from riata.outcome.stop import Stop
from riata.solvers.registry import SOLVERS
from riata.training.preparing import rows_seen
from riata.training.progress import pass_progress
from riata.training.selection.asked import search_of
from riata.training.spec import Spec
from riata.training.streaming.stream_checkpoint import StreamCheckpoints, check_saving
from riata.training.streaming.stream_history import StreamHistory
from riata.training.streaming.streams import Learner
from riata.training.trained import Course, Trained
from riata.user_warnings import Warn


def learn_stream(data: Dataset, spec: Spec, warn: Warn) -> Trained:
    """Learn the rows of a stream as they come, until it ends or Ctrl-C.

    The learner, which can go on from there, is kept in what it leaves behind.
    """
    if search_of(spec) is not None or spec.debias:
        raise OptionError("a stream that is not kept has no k or alpha 'auto' and no debias")
    check_saving(data, spec)
    saving = StreamCheckpoints(data, spec) if isinstance(data, GrowingRows) and spec.checkpoint is not None else None
    learner = Learner(spec, None if data.classes is None else np.array([], dtype=np.asarray(data.classes).dtype))
    learner.offset = data.facts.offset
    learner.margins.days_of = days_of_rows(data.encoding)
    learner.margins.spec = replace(spec, memory=data.memory if spec.memory is None else spec.memory)
    reason = StopReason.STREAM_ENDED
    with pass_progress(spec.verbose, "", spec) as progress:
        history = StreamHistory(progress, data.n_features)
        if saving is not None:
            saving.begin(learner, history)
        rows, beginning = rows_seen(data, spec), False
        try:
            for number, chunk in enumerate(rows.visit()):
                beginning = number == 0
                learn_chunk(learner, chunk, data)
                return_what_loading_took()
                beginning = False
                if history.due(learner.steps):
                    history.note(learner, learner.n_chosen(data.n_features))
        except KeyboardInterrupt:
            data.close()
            reason = StopReason.INTERRUPTED
            if beginning or not learner.margins.streams:
                raise
        found = learner.trained(data.n_features, data.feature_names)
        history.note(learner, len(found.support), last=True)
    for sentence in () if saving is None else saving.notes():
        warn(DataWarning(sentence))
    if learner.order.is_sorted:
        warn(DataWarning(
            "the rows are sorted by class, and a stream learns most from those that come last: bring them in random "
            "order, or let a file be read more than once"
        ))  # fmt: skip
    spec, progressive = replace(spec, loss=learner.spec.loss), learner.margins.progressive
    course = Course(
        formula=_formula(spec),
        alphas=[spec.alpha],
        ks=[spec.k],
        ridges=[spec.ridge],
        histories=[history.records],
        n_rows=progressive.rows,
        passes=1.0,
        seconds=history.records[-1].seconds,
        objective=progressive.mean_loss,
        gap=None,
        stops=[Stop(reason)],
        progressive=learner.scores,
        progressive_by_day=learner.scores_by_day,
    )
    encoding = _with_classes_learnt(data.encoding, found.classes)
    return replace(found, spec=spec, encoding=encoding, profile=data.profile, course=course, learner=learner)


def _formula(spec: Spec) -> str:
    """What a stream minimises, in words."""
    scaled = spec.standardize and SOLVERS[spec.solver_name].finds_alpha
    unit = " of columns scaled to unit deviation" if scaled else ""
    if spec.alpha is None and spec.k is None:
        penalty = ", with a penalty found while learning"
    else:
        penalty = spec.family.formula(spec.alpha, unit)
    return f"mean {spec.loss_function.name} loss{penalty}, in one pass"


def _with_classes_learnt(encoding: Encoding | None, classes: np.ndarray | None) -> Encoding | None:
    """The encoding whose target has the classes of the model, in its order."""
    if encoding is None or encoding.target is None or classes is None:
        return encoding
    return replace(encoding, target=Target(encoding.target.column, tuple(classes.tolist())))


def learn_chunk(learner: Learner, chunk: Chunk, data: Dataset) -> None:
    if learner.classes is None:
        learner.learn(chunk)
        return
    assert data.encoding is not None
    assert data.encoding.target is not None
    labels = np.asarray(data.encoding.target.labels)
    learner.learn_labelled(chunk, labels[chunk.y.astype(np.intp)])
