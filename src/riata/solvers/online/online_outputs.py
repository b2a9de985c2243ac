"""Solver 'online' for a margin of each of several classes at once: softmax, in one pass.

Every class has what `online.py` keeps for a margin; lanes go together over all classes, and are compared by the loss of
all of them.
"""

from dataclasses import dataclass

import numpy as np

from riata.errors import OptionError
from riata.kernels.online import LANES, SHIFT, WIDTH, all_weights
from riata.kernels.online_outputs import OutputMemory, OutputSettings, online_outputs_sweep
from riata.solvers.online.feature_block import deviations_of, lines_of_zeros
from riata.solvers.online.online import Online
from riata.solvers.stochastic.method import MethodMemory, State, Sweep

OF_CLASSES = ("b_z", "b_hold", "b", "slope_squares")


@dataclass(frozen=True)
class OnlineOutputs(Online):
    """The method for an alpha, or with none, of so many classes."""

    n_outputs: int = 3
    sign_flips = frozenset()

    def memory(self, n_features: int) -> MethodMemory:
        if self.k is not None:
            raise OptionError("solver 'online' takes k for one margin a row: with softmax give it an alpha, or neither")
        K, memory = self.n_outputs, super().memory(n_features)
        of_classes = {name: np.zeros((K, LANES + 1)) for name in OF_CLASSES}
        return memory | of_classes | {"block": lines_of_zeros(K * n_features)}

    def sweep(self, sweep: Sweep, state: State, learn_b: float) -> tuple[float, float]:
        if sweep.batch != 1:
            raise OptionError("solver 'online' takes one row a step: leave batch at 1")
        memory, done = state.memory, 0
        memory["stiffness"][:] = 1.0 / self.rates
        memory["curvature"][:] = (self.n_outputs - 1) / self.n_outputs**2  # of classes of equal shares
        while done < len(sweep.visits):
            due = max(self._due(memory) - state.steps - done, 0)
            visits = sweep.visits[done : done + due]
            z = self._take(sweep, visits, state, learn_b)[:, :, memory["lane"][0]]
            sweep.margins[done : done + len(visits)] = z
            done += len(visits)
            if len(visits) == due:
                self._stop(state, state.steps + done)
        return 0.0, 0.0

    def _take(self, sweep: Sweep, visits: np.ndarray, state: State, learn_b: float) -> np.ndarray:
        """Learn these rows; returns their margins before they were learnt, rows x classes x lanes."""
        memory = state.memory
        margins = np.empty((len(visits), self.n_outputs, LANES + 1))
        settings = OutputSettings(
            float(memory["curvature"][0]), learn_b > 0.0, self.alpha or 0.0, float(self.standardize),
            float(self.distinct),
        )  # fmt: skip
        kept = {name: memory[name] for name in OutputMemory._fields} | {"block": self._blocks(memory)}
        online_outputs_sweep(
            sweep.rows, sweep.plain, sweep.y, sweep.weight, visits, settings, OutputMemory(**kept), margins
        )
        return margins

    def _blocks(self, memory: MethodMemory) -> np.ndarray:
        """The numbers of every feature, class after class."""
        return memory["block"].reshape(self.n_outputs, -1, WIDTH)

    def model(self, state: State) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[override]
        """The weights of features x classes in a row, and the intercepts, about their mean."""
        memory, K = state.memory, self.n_outputs
        lane, blocks = memory["lane"][0], self._blocks(memory)
        n_features = blocks.shape[1]
        w, b = np.empty((n_features, K)), np.empty(K)
        all_lanes, deviation = np.empty((n_features, LANES)), np.empty(n_features)
        stiffness = memory["stiffness"] * memory["curvature"]
        for k in range(K):
            level, flat = self.levels(memory | {"slope_squares": memory["slope_squares"][k]})
            all_weights(blocks[k], memory["total"][0], level, flat, stiffness, all_lanes, deviation)
            w[:, k] = all_lanes[:, lane]
            b[k] = memory["b"][k, lane] - np.sum(w[:, k] * blocks[k, :, SHIFT])
        return w.ravel(), b - b.mean()

    def deviations(self, state: State) -> np.ndarray:
        return deviations_of(self._blocks(state.memory)[0], state.memory)  # the same for every class

    def leads(self, state: State) -> None:
        """Exact fits afterwards are of one margin."""
        return

    def n_chosen(self, state: State) -> int:
        return int(np.count_nonzero(self.model(state)[0].reshape(-1, self.n_outputs).any(axis=1)))
