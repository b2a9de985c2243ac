"""What is asked of one opening, as one frozen object: the arguments of `riata.open`, which travel together."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from riata.data.budget import buckets_of_crosses, words_counted
from riata.data.columns.crosses import Cross
from riata.data.columns.numbers import Number
from riata.data.columns.products import Product
from riata.data.encoding import Encoding
from riata.data.formats.csv_options import csv_options
from riata.data.formats.sampled_negatives import as_share
from riata.data.offset import one_of
from riata.data.opening.column_options import ColumnOptions, as_crosses, as_interactions, as_names
from riata.data.opening.sources import Reading
from riata.data.survival import event_and_value
from riata.data.target import TASKS
from riata.errors import OptionError


class NamedColumns(NamedTuple):
    """Columns that are given by their names, see `riata.open`."""

    features: Sequence[str] | None
    drop: Sequence[str]
    categorical: Sequence[str]
    text: Sequence[str]
    crosses: Sequence[Sequence[str]]
    interactions: Sequence[Sequence[str]] | str


@dataclass(frozen=True)
class Asked:
    """What is asked of one opening, see `riata.open`."""

    target: Any
    event: Any
    trials: Any
    weight: Any
    offset: Any
    exposure: Any
    marks: Mapping[str, Any]  # those of groups, time and folds that are given
    columns: NamedColumns
    column_rules: Mapping[str, Any]  # the other options of `ColumnOptions`, by name
    task: str
    memory: int  # bytes
    cache: bool | str
    follow: bool
    one_pass: bool
    growing: bool
    on_error: str
    filesystem: Any
    csv: Mapping[str, Any] | None
    encoding: Encoding | None  # of a model
    n_features: int | None
    need_target: bool
    sample_negatives: float | None = None
    happened: str | None = None  # the value of `event` that says so, see `with_event`

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise OptionError(f"task must be one of {', '.join(TASKS)}, not {self.task!r}")
        if self.on_error not in ("raise", "skip"):
            raise OptionError(f"on_error must be 'raise' or 'skip', not {self.on_error!r}")
        one_of(self.offset, self.exposure)
        if self.sample_negatives is not None:
            as_share(self.sample_negatives)
            if self.event is not None or self.trials is not None:
                what = "times" if self.trials is None else "shares of trials"
                raise OptionError(
                    f"sample_negatives is for rows of which some are positive, not for {what}: leave it out"
                )
        if self.trials is not None and (self.event is not None or self.task not in ("auto", "regression")):
            raise OptionError("trials go with successes, whose share is a number: leave event and task out")
        if self.event is not None and self.task not in ("auto", "survival"):
            raise OptionError(f"events go with times to them, which are no {self.task}: leave event or task out")

    @property
    def roles(self) -> dict[str, Any]:
        """Target, weight, offset and marks: each a column, an array or a file of its own."""
        return {"target": self.target, **self.beside, **self.marks}

    def with_event(self, columns: Collection[str]) -> "Asked":
        """What is asked, once the columns are known: the event status=2 is then the value 2 of the column 'status'."""
        event, happened = event_and_value(self.event, columns)
        return self if happened is None else replace(self, event=event, happened=happened)

    @property
    def beside(self) -> dict[str, Any]:
        """What is given for every row beside its features and its target."""
        names = ("event", "trials", "weight", "offset", "exposure")
        return {name: getattr(self, name) for name in names}

    @property
    def of_streams(self) -> dict[str, Any]:
        """Options that ask for rows that become more, or are read only once."""
        return {name: getattr(self, name) or None for name in ("follow", "one_pass", "growing")}

    @property
    def shaping(self) -> dict[str, str]:
        """What decides which rows and features there are, as text, by the names of the options."""
        shaping = self.roles | self.columns._asdict() | dict(self.column_rules) | self.sampling
        shaping |= {"task": self.task, "on_error": self.on_error, "csv": self.csv, "n_features": self.n_features}
        return {name: repr(value) for name, value in shaping.items() if value not in (None, (), [])}

    @property
    def sampling(self) -> dict[str, Any]:
        """Options that choose among the rows."""
        return {"sample_negatives": self.sample_negatives}

    @property
    def settled_by_encoding(self) -> dict[str, Any]:
        """What rows that were encoded before cannot be asked any more."""
        target = self.target if self.need_target else None
        return self.roles | {
            "target": target, **self.columns._asdict(), "task": self.task, "positive": self.positive
        }  # fmt: skip

    @property
    def positive(self) -> Any:
        """The label of one of two classes, where it is given."""
        return self.column_rules.get("positive")

    def reading(self) -> Reading:
        """How files are to be read."""
        return Reading(
            memory=self.memory,
            as_text=_as_text(self.encoding, self.columns),
            skip_bad=self.on_error == "skip",
            filesystem=self.filesystem,
            n_features=self.n_features,
            follow=self.follow and not self.growing,
            csv=replace(csv_options(self.csv), numbers=_plain_numbers(self.encoding)),
            cells={} if self.encoding is None else self.encoding.cells,
            labels=(self.target,) if isinstance(self.target, str) else (),
        )

    def column_options(self, roles: Mapping[str, str | None]) -> ColumnOptions:
        """What is said about columns, where it is known which of them have the roles."""
        features, drop, categorical, text, crosses, interactions = self.columns
        return ColumnOptions(
            features=None if features is None else as_names(features),
            drop=as_names(drop), categorical=as_names(categorical), text=as_names(text), crosses=as_crosses(crosses),
            interactions=as_interactions(interactions),
            task=self.task, happened=self.happened, on_error=self.on_error, words_counted=words_counted(self.memory),
            cross_buckets=buckets_of_crosses(self.memory),
            **{**self.column_rules, **roles},
        )  # fmt: skip


def _plain_numbers(encoding: Encoding | None) -> tuple[str, ...]:
    """Columns that a model knows as numbers, so that whole numbers in them are no seconds since 1970."""
    return () if encoding is None else tuple(e.column for e in encoding.encoders if isinstance(e, Number))


def _as_text(encoding: Encoding | None, columns: NamedColumns) -> tuple[str, ...]:
    """Columns of text files whose values must not be parsed as numbers."""
    if encoding is None:
        return (*columns.categorical, *columns.text)
    return text_columns(encoding)


def text_columns(encoding: Encoding) -> tuple[str, ...]:
    """Columns of a model whose values are text, whatever they look like."""
    target = encoding.target
    labels = [target.column] if target and target.classes and isinstance(target.classes[0], str) else []
    multiplied = [part for e in encoding.encoders if isinstance(e, Product) for part in e.parts]
    no_levels = ("number", "dense", "sparse", "date", "cross", "product")
    levels = [e.column for e in (*encoding.encoders, *multiplied) if e.kind not in no_levels]
    crosses = [e for e in encoding.encoders if isinstance(e, Cross)]
    crossed = [c for e in crosses for c, number in zip(e.crossed, e.numeric, strict=True) if not number]
    return (*levels, *crossed, *labels)
