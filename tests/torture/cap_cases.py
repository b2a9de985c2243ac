"""The cases of `torture.caps`, and what may come of one."""

import random
import re
from pathlib import Path
from typing import NamedTuple

from pairs import pairs_first
from torture.cap_files import CONVERTED, KINDS

WIDE_STEPS = ("hsg-ht", "svrg-ht", "subgradient")  # which take arrays of all features: a pass would take minutes
BUDGETS_MB = (64, 128, 256)


class Case(NamedTuple):
    """A solver, a shape of data and the format of its file."""

    solver: str
    shape: str
    kind: str

    def words(self, path: Path, budget_mb: int) -> list[str]:
        from riata.solvers.registry import SOLVERS

        strength = ("--k", "3") if SOLVERS[self.solver].takes == "k" else ("--alpha-ratio", "0.3")
        target = {"npy": ("--target", "0"), "npz": (), "svm": (), CONVERTED: ()}.get(self.kind, ("--target", "y"))
        task = () if self.kind == CONVERTED else ("--task", "regression")
        few = ("--max-steps", "300") if self.solver in WIDE_STEPS else ()
        most = ("--memory", f"{budget_mb}MB", "--max-passes", "2", *few)
        return ["fit", str(path), *target, *task, "--solver", self.solver, *strength, *most, "--quiet", "--no-cache",
                "--out", f"{path}.{self.solver}.json"]  # fmt: skip


class Measured(NamedTuple):
    """What came of one fit."""

    code: int
    said: str
    more_mb: float  # the peak above what was held before the first one

    def fault(self, budget_mb: int) -> str | None:
        """What is wrong with it, if anything is."""
        sentence = self.code == 2 and re.search(r"\d (bytes|kB|MB|GB|TB)\b", self.said) is not None
        if self.code != 0 and not sentence:
            return f"exit code {self.code}: {self.said[:200]}"
        if self.more_mb > budget_mb:
            return f"{self.more_mb:.0f} MB more" + (f", then: {self.said[:150]}" if self.code else "")
        return None


def every_case(seed: int = 0) -> list[Case]:
    """All of them, those first that show every two of solver, shape and format together."""
    from riata.solvers.registry import SOLVERS

    cases = [Case(solver, shape, kind) for shape, kinds in KINDS.items() for kind in kinds for solver in SOLVERS]
    random.Random(seed).shuffle(cases)
    return pairs_first(cases)
