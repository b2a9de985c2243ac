"""Losses: what a row costs, by its target and its margin. `Loss` says what each of them knows about itself."""

from riata.losses.catalogue import LOSSES, USUAL, known_loss, loss_for, loss_of, recalled_loss
from riata.losses.coupled import CoupledLoss, SettledLoss
from riata.losses.link import LINKS, Link, probabilities
from riata.losses.loss import Loss
from riata.losses.with_offset import WithOffset, paired

__all__ = [
    "LINKS",
    "LOSSES",
    "USUAL",
    "CoupledLoss",
    "Link",
    "Loss",
    "SettledLoss",
    "WithOffset",
    "known_loss",
    "loss_for",
    "loss_of",
    "paired",
    "probabilities",
    "recalled_loss",
]
