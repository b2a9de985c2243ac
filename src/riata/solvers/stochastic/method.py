"""The loop that all stochastic methods share: visit rows, let the method's sweep change the weights, yield.

A method works on the scaled row a = x / scale (standardisation) and on the weights of those columns. Its state between
chunks is all that a resumed run or the next `partial_fit` needs: penalties that are still to be applied to a weight are
applied at the end of a chunk, or kept in the method's memory.

Default steps are safe on data of any scale: eta_t is divided by the loss's curvature times the largest squared row
norm so far, so that a step never overshoots on its own row. On the paper's rows of unit norm that divides by one.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.kernels.losses import code_of
from riata.kernels.rows import Rows
from riata.kernels.steps import Steps
from riata.losses import Loss
from riata.matrices.matrix import Matrix
from riata.objective import Problem
from riata.solvers.iterate import Features, Iterate, Leads, Options, Saved
from riata.solvers.online.progressive_validation import ProgressiveValidation, progressive_validation
from riata.solvers.saved_checks import check_alike, check_facts, check_indices, restoring
from riata.solvers.stochastic.schedules import STEPS, Schedule, parse_step
from riata.solvers.stochastic.visits import ORDERS, within

MethodMemory = dict[str, np.ndarray]  # the arrays that a method keeps from row to row, by name


@dataclass
class State:
    """The weights of the scaled columns, the intercept, the number of steps, and the method's memory."""

    w: np.ndarray
    b: float = 0.0
    steps: int = 0
    largest: float = 0.0  # squared norm of the largest row
    memory: MethodMemory = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # of features by their numbers, where a method keeps them

    def saved(self) -> Saved:
        """A copy, since the run goes on."""
        arrays = {"w": self.w.copy(), **{f"memory.{name}": values.copy() for name, values in self.memory.items()}}
        names = list(self.names.items())
        facts = {"b": float(self.b), "steps": int(self.steps), "largest": float(self.largest), "names": names}
        return Saved(arrays, facts)


@dataclass(frozen=True)
class Sweep:
    """Some steps over rows of one chunk, as `Method.sweep` takes them."""

    rows: Rows
    y: np.ndarray
    weight: np.ndarray
    visits: np.ndarray
    batch: int
    loss: Loss
    etas: np.ndarray
    safe: float  # the loss's curvature if steps are divided by that along the largest row so far; 0 if not
    margins: np.ndarray  # output: those of the visited rows, each before it is learnt
    names: Callable[[np.ndarray], dict[int, str]] | None  # of features by their numbers
    plain: bool  # whether no column is scaled

    @property
    def steps(self) -> Steps:
        """The steps as kernels take them."""
        return Steps(
            self.rows, self.y, self.weight, self.visits, self.batch, code_of(self.loss), self.etas, self.safe,
            self.margins,
        )  # fmt: skip


class Method(Protocol):
    """A stochastic method: how rows change a state."""

    schedule: str  # its default decay of steps, a key of `STEPS`
    order: str = "uniform"  # its default order of visits, a key of `ORDERS`
    sign_flips: frozenset[str] = frozenset()  # parts of its memory that change sign with the targets

    def memory(self, n_features: int) -> MethodMemory:
        """The arrays, besides the weights, that it keeps from row to row, as they are before the first row."""
        return {}

    def bounds(self, n_features: int) -> dict[str, tuple[int, int]]:
        """The range of the indices in its memory, by name: the least, and the first beyond."""
        return {}

    def check(self, memory: MethodMemory) -> None:
        """Refuse a memory from a checkpoint, of the right types, shapes and bounds, that it could never have."""
        return

    def mirrored(self, memory: MethodMemory) -> MethodMemory:
        """The memory that it would have if all targets had the opposite sign."""
        return {name: -values if name in self.sign_flips else values.copy() for name, values in memory.items()}

    def width(self, n_features: int) -> int:
        """How many weights it keeps."""
        return n_features

    def rows(self, X: Matrix, scale: np.ndarray | float) -> Rows:
        """Rows as its sweep takes them."""
        return X.row_layout(scale)

    def features(self, state: State) -> Features | None:
        """The features that the weights of its model belong to; None: all of them."""
        return None

    def model(self, state: State) -> tuple[np.ndarray, float]:
        """The current model: weights of the scaled columns, and intercept."""
        return state.w, state.b

    def deviations(self, state: State) -> np.ndarray | None:
        """The deviations of all columns in the rows so far, where it keeps them."""
        return None

    def n_chosen(self, state: State) -> int:
        """How many features the current model has, or would have."""
        return int(np.count_nonzero(self.model(state)[0]))

    def leads(self, state: State) -> Leads | None:
        """What it leaves for an exact fit; None: no more than its model."""
        return None

    def shift(self, state: State, log_odds: float) -> float:
        """What to add to the intercept of its model to take noise out, where these are the log odds of all rows."""
        return 0.0

    def sweep(self, sweep: Sweep, state: State, learn_b: float) -> tuple[float, float]:
        """Change state.w, state.memory and sweep.margins in place; return the intercept and the largest row norm."""
        ...


@dataclass(frozen=True)
class Stepper:
    """A method with its loss, scales and steps: advances a state over the rows of a chunk."""

    method: Method
    loss: Loss
    step: Schedule
    safe: bool  # whether steps are divided by the curvature along the largest row so far
    batch: int
    learn_b: bool
    scale: np.ndarray | float = 1.0

    def advance(self, state: State, chunk: Chunk, visits: np.ndarray) -> np.ndarray:
        """Visit these rows of the chunk; returns the margins they had before they were learnt."""
        n_steps = -(-len(visits) // self.batch)
        etas = self.step(np.arange(state.steps + 1, state.steps + n_steps + 1))
        # Poisson's curvature has no bound: take that at margin 0. Should a fit diverge, the driver notices.
        safe = min(self.loss.curvature, 1.0) if self.safe else 0.0
        rows = self.method.rows(chunk.X, self.scale)
        margins = np.empty(len(visits) if self.loss.n_outputs == 1 else (len(visits), self.loss.n_outputs))
        plain = bool(np.all(np.asarray(self.scale) == 1.0))
        sweep = Sweep(
            rows, chunk.y, chunk.weight, visits, self.batch, self.loss, etas, safe, margins, chunk.names, plain
        )
        state.b, state.largest = self.method.sweep(sweep, state, float(self.learn_b))
        state.steps += n_steps
        return margins


def first_state(method: Method, n_features: int) -> State:
    """The state before the first row."""
    return State(np.zeros(method.width(n_features)), memory=method.memory(n_features))


def make_stepper(
    method: Method,
    loss: Loss,
    step: str | float | None,
    batch: int,
    learn_b: bool,
    scale: np.ndarray | float = 1.0,
) -> Stepper:
    """The method with its default schedule, safe on any scale, unless the user gave a step."""
    schedule = STEPS[method.schedule](1.0) if step is None else parse_step(step, method.schedule)
    return Stepper(method, loss, schedule, step is None, batch, learn_b, scale)


@dataclass
class RunState:
    """The state of a run over chunks: that of the method, the order of chunks in this pass, and how many are done."""

    state: State
    rng: np.random.Generator
    chunks: np.ndarray
    done: int = 0
    progressive: ProgressiveValidation = field(default_factory=ProgressiveValidation)  # of this pass

    def saved(self) -> Saved:
        """A copy, since the run goes on."""
        arrays, facts = self.state.saved()
        facts |= {"done": self.done, "progressive": self.progressive, "rng": self.rng.bit_generator.state}
        return Saved(arrays | {"chunks": self.chunks.copy()}, facts)


def first_run_state(method: Method, data: Dataset, seed: int | None) -> RunState:
    """The state before the first pass."""
    rng = np.random.default_rng(seed)
    return RunState(first_state(method, data.n_features), rng, data.shuffled(rng))


@restoring()
def resumed_run_state(saved: Saved, method: Method, data: Dataset) -> RunState:
    """The state that was saved, if it is as this method has it; JSON keeps every bit of its numbers."""
    arrays, facts = saved
    first = first_run_state(method, data, 0)
    state = resumed_state(saved, method, data.n_features)
    check_alike(arrays, {"chunks": first.chunks})
    check_indices(arrays["chunks"], "chunks", 0, len(first.chunks))
    check_facts(facts, {"done": int, "progressive": list[float]})
    if not 0 <= facts["done"] <= len(first.chunks):  # with more, a pass would never end
        raise ValueError(f"{facts['done']} chunks are done, of {len(first.chunks)}")
    rng = np.random.default_rng()
    rng.bit_generator.state = facts["rng"]
    return RunState(state, rng, arrays["chunks"], facts["done"], ProgressiveValidation(*facts["progressive"]))


@restoring()
def resumed_state(saved: Saved, method: Method, n_features: int) -> State:
    """The state of a method that was saved, if it is one that it may have."""
    arrays, facts = saved
    state = first_state(method, n_features)
    check_alike(arrays, state.saved().arrays)
    for name, (least, below) in method.bounds(n_features).items():
        check_indices(arrays[f"memory.{name}"], name, least, below)
    check_facts(facts, {"b": float, "steps": int, "largest": float})
    memory = {name.removeprefix("memory."): values for name, values in arrays.items() if name.startswith("memory.")}
    method.check(memory)
    for name, values in memory.items():
        np.copyto(state.memory[name], values)  # which lie as compiled loops want them
    return replace(
        state, w=arrays["w"], b=facts["b"], steps=facts["steps"], largest=facts["largest"], names=dict(facts["names"])
    )


def stochastic(problem: Problem, method: Method, options: Options) -> Iterator[Iterate]:
    """One iterate after every chunk, until max_steps; `end_of_pass` says whether it ends a pass."""
    data = problem.data
    scale = problem.scale  # of columns: coefficients of one column, for several outputs, share theirs
    scale = scale[:: problem.loss.n_outputs] if isinstance(scale, np.ndarray) else scale
    stepper = make_stepper(
        method, problem.loss, options.step, batch_rows(problem, options), problem.fit_intercept, scale
    )
    order = ORDERS[options.order or method.order]
    run = (
        first_run_state(method, data, options.seed)
        if options.resume is None
        else resumed_run_state(options.resume, method, data)
    )
    state = run.state
    guard = nullcontext if options.resume is None else restoring  # sums that were made up lead to divisions by zero
    mean_weight = data.total_weight / data.n_rows  # F is a weighted mean: only relative weights matter
    while not options.over(state.steps):
        if run.done == len(run.chunks):
            run.chunks, run.done = data.shuffled(run.rng), 0
            run.progressive = ProgressiveValidation()
        for chunk in data.visit(run.chunks[run.done :]):
            visits = order(chunk.n_rows, stepper.batch, run.rng)
            visits = within(visits, stepper.batch, state.steps, options.max_steps)
            weight = chunk.weight / mean_weight
            with guard():
                z = stepper.advance(state, chunk._replace(weight=weight), visits)
            run.done += 1
            validated = progressive_validation(problem.loss, chunk.y[visits], z, weight[visits])
            run.progressive = run.progressive.plus(validated)
            w, b = method.model(state)
            over = options.over(state.steps)
            end_of_pass = over or run.done == len(run.chunks)
            save = None if over else run.saved
            yield Iterate(
                w / problem.scale, b, state.steps, progressive=run.progressive, end_of_pass=end_of_pass, save=save,
                features=method.features(state), leads=partial(method.leads, state) if options.leads else None,
            )  # fmt: skip
            if over:
                return


def batch_rows(problem: Problem, options: Options) -> int:
    """Rows per step."""
    n_rows = problem.data.n_rows
    return n_rows if options.batch == "full" else min(int(options.batch or 1), n_rows)


def total_steps(problem: Problem, options: Options) -> int:
    """How many steps the options allow in all: Fobos by rounds halves them."""
    if options.max_steps is not None:
        return options.max_steps
    return options.max_passes * -(-problem.data.n_rows // batch_rows(problem, options))
