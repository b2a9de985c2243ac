"""The half of an estimator that learns rows as they come: `partial_fit`, and the fit of a stream that is not kept."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.estimators.hashed_coefficients import coefficients, known_features, support_of
from riata.solvers.registry import SOLVERS
from riata.training.progress import pass_progress
from riata.training.streams import Diary, Margins


class FromStreams:
    """What `SparseLinear` does with streams; `self` is one."""

    coef_: Any  # a fit of other rows sets these, too, and not of the same types
    intercept_: Any
    history_: Any
    gap_: float | None

    def _begin_stream(self: Any) -> bool:
        """Get ready for more rows; whether they are the first."""
        if hasattr(self, "_streams"):
            return False
        if hasattr(self, "coef_"):
            raise OptionError(
                "partial_fit goes on from partial_fit, or from the fit of a stream: a fit that reads its rows several "
                "times leaves no state to go on from; start with partial_fit, or with a clone"
            )
        self._begin()
        return True

    def _open_margins(self: Any) -> None:
        """Get ready for rows as they come."""
        if self.standardize and not SOLVERS[self.solver].own_alpha:
            raise OptionError("rows as they come cannot be standardised by columns not seen yet: set standardize=False")
        if self.penalty_factors is not None or self.groups is not None:
            raise OptionError("penalty_factors and groups are for solvers 'exact' and 'best-k', not for streams")
        self._streams = Margins(self._spec())

    def _take_over(self: Any, n_features: int) -> None:
        """The model of the streams, as of now."""
        models = [stream.model for stream in self._streams.streams]
        self.solver_, self.n_iter_ = self.solver, self._streams.streams[0].state.steps
        if models[0].features is not None:
            self._known = known_features(models)
        self.coef_ = coefficients(models, n_features)
        self.intercept_ = np.array([model.intercept for model in models])

    def _fit_stream(self: Any, data: Dataset):
        """Learn the rows of a stream as they come, until it ends or somebody presses Ctrl-C."""
        spec = self._spec()
        if spec.checkpoint is not None or self._search() is not None or self.debias:
            raise OptionError("a stream that is not kept has no checkpoints, no k or alpha 'auto' and no debias")
        self._open_margins()
        self._streams.spec = replace(spec, memory=spec.memory or data.memory)
        reason = "the stream ended"
        with pass_progress(self.verbose, "", spec) as progress:
            diary = Diary(progress)
            try:
                for chunk in self._rows_seen(data).visit():
                    self._learn_chunk(chunk, data)
                    if diary.due(self._streams.streams[0].state.steps):
                        self._note(diary, data)
            except KeyboardInterrupt:
                data.close()
                reason = "it was interrupted"
                if not self._streams.streams:
                    raise
            self._note(diary, data, last=True)
        self.n_features_in_, self.profile_ = data.n_features, data.profile
        if sp.issparse(self.coef_):
            self._numbered_names = data.feature_names
        elif data.feature_names is not None:
            self.feature_names_in_ = np.asarray(data.feature_names, dtype=object)
        self.history_, self.alpha_, self.gap_ = diary.history, spec.alpha, None
        self.n_passes_, self.converged_, self.stopped_because_ = 1.0, False, reason
        self.objective_ = self._streams.met.mean_loss
        self._made = {
            "objective": f"mean {spec.loss_function.name} loss, each row before it was learnt",
            "encoding": data.encoding,
            "training": self._training(spec.k, None, self._streams.met.rows, diary.history[-1].seconds),
        }
        return self

    def _note(self: Any, diary: Diary, data: Dataset, last=False) -> None:
        """A line of history, from the model as of now."""
        self._take_over(data.n_features)
        streams = self._streams
        diary.note(streams.met, streams.streams[0].state.steps, len(support_of(self.coef_)), last)

    def _learn_chunk(self: Any, chunk: Chunk, data: Dataset) -> None:
        """Learn the rows of a chunk of a stream."""
        self._streams.learn(chunk, [chunk.y])
