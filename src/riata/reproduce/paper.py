"""What the paper says: its grid, its Table 1 and its Table 2."""

from typing import NamedTuple

ALPHAS = tuple(10.0**power for power in range(-5, 3))  # the text: "from 1e-5 to 1e2"
SIZES = (20, 50, 100, 150, 200, 250, 300, 400, 500)
BATCH = 20
CODE_STEPS, CODE_BATCH_STEPS = 200_000, 100_000  # of the published code; the text names no number
CD_RANGE = (1e-2, 6e-1)  # where the text finds coordinate descent sparse and accurate


class Costs(NamedTuple):
    """A row of Table 1."""

    computation: str
    memory: str
    convergence: str
    sparsity: str


class Best(NamedTuple):
    """A row of Table 2."""

    accuracy: float
    sparsity: float  # the share of weights that are not zero
    strength: float


COSTS = {
    "cd": Costs("O(nd)", "O(nd)", "1/T²", "4"),
    "subgd": Costs("O(nd)", "O(nd)", "1/T", "2"),
    "mini-subgd": Costs("O(md)", "O(md)", "1/√T", "2"),
    "stoc-subgd": Costs("O(d)", "O(d)", "1/√T", "1"),
    "fobos": Costs("O(d)", "O(d)", "1/√T", "2"),
    "mini-fobos": Costs("O(md)", "O(md)", "1/√T", "3"),
    "round-fobos": Costs("O(d)", "O(d)", "1/√T", "2"),
    "l0-sgd": Costs("O(d)", "O(d)", "unknown", "perfect"),
}
BESTS = {
    "fobos": Best(0.9690, 0.9910, 1e-5),
    "round-fobos": Best(0.9700, 0.9910, 1e-5),
    "mini-fobos": Best(0.9680, 0.9906, 1e-5),
    "cd": Best(0.9350, 0.0738, 1e-2),
    "stoc-subgd": Best(0.8810, 0.9910, 1e-5),
    "mini-subgd": Best(0.8860, 0.9910, 1e-5),
    "l0-sgd": Best(0.9470, 0.0800, 400),
}
