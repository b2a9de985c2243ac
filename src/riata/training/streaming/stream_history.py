"""The history of a fit of rows as they come."""

import time
from collections.abc import Callable

from riata.training.driver import GROWTH, Record, with_progressive
from riata.training.streaming.streams import Learner

PATIENCE = 1.0  # seconds between two looks at the model for the progress bar
LOOKED_AT = 8  # features that are looked at in less than a tenth of the time that it takes to learn a row
MOST_FEATURES = 1 << 20  # there may be more, but what is kept of them has as many places, or few more


class StreamHistory:
    """The records of a stream: a new one whenever there are enough more rows, and one at the end."""

    def __init__(self, progress: Callable[[Record], None] | None = None, n_features: int = 0) -> None:
        """A look at the model costs as much as there are features: the more, the fewer records."""
        self._least_wait = min(n_features, MOST_FEATURES) / LOOKED_AT
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
        """Whether it is time to look at the model."""
        shown = self._progress is not None and time.perf_counter() - self._looked > PATIENCE
        return shown or self._are_more(steps)

    def _are_more(self, steps: int) -> bool:
        """Whether there are so many more rows that a record is due."""
        wait = max((GROWTH - 1.0) * self._before, self._least_wait)
        return not self.records or steps >= self._before + wait

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
        elif last or self._are_more(steps):
            self.records.append(record)
