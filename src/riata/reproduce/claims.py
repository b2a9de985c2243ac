"""The paper's sentences, each with a verdict that follows from the numbers of a run, and these numbers."""

from typing import NamedTuple

from riata.reproduce import claims_of_cost, claims_of_sparsity
from riata.reproduce.findings import Findings


class Claim(NamedTuple):
    """What the paper says, whether it is so here, and why."""

    topic: str
    sentence: str
    verdict: str
    evidence: str


def claims(findings: Findings) -> list[Claim]:
    """Every sentence, judged."""
    tests = (*claims_of_sparsity.TESTS, *claims_of_cost.TESTS)
    return [Claim(test.topic, test.sentence, *test.found(findings)) for test in tests]
