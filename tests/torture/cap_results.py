"""What came of the cases of `torture.caps`, kept line by line as they end: a run can be gone on with."""

import hashlib
import json
from pathlib import Path

import riata
from torture.cap_cases import Case, Measured


def code_hash() -> str:
    """Of all code that a fit may run."""
    root, digest = Path(riata.__file__).parent, hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


class Results:
    """The last result of each case with each budget: in memory and, if one is named, a file that others may add to."""

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._code, self._read = path, code_hash(), 0
        self._of: dict[tuple[Case, int], tuple[str, Measured]] = {}
        self.reread()

    def reread(self) -> None:
        """Take what other runs have added."""
        if self._path and self._path.exists():
            with open(self._path, encoding="utf-8") as file:
                file.seek(self._read)
                for line in iter(file.readline, ""):
                    case, budget_mb, code, measured = json.loads(line)
                    self._of[Case(*case), budget_mb] = code, Measured(*measured)
                self._read = file.tell()

    def add(self, case: Case, budget_mb: int, measured: Measured) -> None:
        self._of[case, budget_mb] = self._code, measured
        if self._path:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps([case, budget_mb, self._code, measured]) + "\n")

    def holds(self, case: Case, budget_mb: int, any_code: bool) -> bool:
        """Whether a case was tried, by this code or by any, and kept its budget."""
        code, measured = self._of.get((case, budget_mb), ("", Measured(-1, "not tried", 0.0)))
        return (any_code or code == self._code) and measured.fault(budget_mb) is None

    def wrong(self) -> list[str]:
        faults = [(case, mb, measured.fault(mb)) for (case, mb), (_, measured) in sorted(self._of.items())]
        return [f"{','.join(case)} with {mb} MB: {fault}" for case, mb, fault in faults if fault]

    def table(self) -> list[str]:
        """By shape and format: with how many solvers each budget was tried, and the most MB that one of them took.

        Behind that, in brackets, how many of them were refused.
        """
        budgets = sorted({mb for _, mb in self._of})
        rows = ["| shape | format | " + " | ".join(f"solvers | budget {mb}" for mb in budgets) + " |"]
        rows.append("| --- | --- |" + " --- | --- |" * len(budgets))
        for shape, kind in sorted({case[1:] for case, _ in self._of}):
            cells = [
                _most([one for (case, mb), (_, one) in self._of.items() if case[1:] == (shape, kind) and mb == budget])
                for budget in budgets
            ]
            rows.append(f"| {shape} | {kind} | " + " | ".join(cells) + " |")
        n_cases, codes = len({case for case, _ in self._of}), len({code for code, _ in self._of.values()})
        return [*rows, f"{n_cases} cases, {len(self._of)} fits, {codes} states of the code, {len(self.wrong())} wrong"]


def _most(fits: list[Measured]) -> str:
    refused = sum(one.code != 0 for one in fits)
    most = f"{max((one.more_mb for one in fits), default=0.0):.0f}"
    return f"{len(fits)} | {most} ({refused})" if refused else f"{len(fits)} | {most}"
