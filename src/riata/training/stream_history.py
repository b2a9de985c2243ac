"""The history of a fit of rows as they come."""

import time
from collections.abc import Callable

from riata.training.driver import GROWTH, Record, with_progressive
from riata.training.streams import Learner

PATIENCE = 1.0  # seconds between two looks at the model for the progress bar


class StreamHistory:
    """The records of a stream: a new one whenever there are enough more rows, and one at the end."""

    def __init__(self, progress: Callable[[Record], None] | None = None) -> None:
        self._started = self._looked = time.perf_counter()
        self._progress = progress
        self.records: list[Record] = []

    @property
    def seconds(self) -> float:
        """Since the fit began."""
        return time.perf_counter() - self._started

    def go_on(self, records: list[Record], seconds: float) -> None:
        """Go on from the history of an earlier fit, which took so long."""
        self.records, self._started = records, self._started - seconds

    def due(self, steps: int) -> bool:
        """Whether it is time to look at the model, which costs as much as it has features."""
        shown = self._progress is not None and time.perf_counter() - self._looked > PATIENCE
        return shown or steps >= GROWTH * self._before

    @property
    def _before(self) -> int:
        return self.records[-1].steps if self.records else 0

    def note(self, learner: Learner, n_chosen: int, last: bool = False) -> None:
        """Add a record of the model as it is now, of so many features."""
        self._looked = time.perf_counter()
        seconds, steps, progressive = self._looked - self._started, learner.steps, learner.margins.progressive
        record = with_progressive(
            Record(1.0, steps, seconds, None, None, n_chosen, end_of_pass=last), progressive, progressive.rows
        )
        if self._progress is not None:
            self._progress(record)
        if last and self._before == steps and self.records:
            self.records[-1] = record
        elif last or steps >= GROWTH * self._before:
            self.records.append(record)
