"""How a fit stopped: the reason, and what belongs to it."""

from dataclasses import dataclass

from riata.outcome.proofs import DualityGap, Proof, Stationary
from riata.outcome.reasons import StopReason


@dataclass(frozen=True)
class Stop:
    """Why a fit stopped, with the proof where there is one. `sentences.why` says it in words."""

    reason: StopReason
    proof: Proof | None = None
    passes: int | None = None  # the limit that was reached, or those in which the objective did not move
    short_of: DualityGap | Stationary | None = None  # what did not get within its tolerance

    @classmethod
    def proved(cls, proof: Proof) -> "Stop":
        """The end of a fit that has a proof."""
        return cls(proof.reason, proof)

    @classmethod
    def reached(cls, certificate: DualityGap | Stationary) -> "Stop":
        """The end of a fit by its gap or its residual, within the tolerance or not."""
        return cls.proved(certificate) if certificate.holds else cls(certificate.missed, short_of=certificate)

    @property
    def converged(self) -> bool:
        """Whether the method reached what it aims for, with a proof or without."""
        return self.reason.converged
