"""Losses: what a row costs, by its target and its margin. `Loss` says what each of them knows about itself."""

from riata.losses.binomial import Binomial
from riata.losses.catalogue import AUTO, EVERY, LOSSES, USUAL, known_loss, loss_for, loss_of, recalled_loss
from riata.losses.coupled import CoupledLoss, SettledLoss
from riata.losses.link import LINKS, Link, against_rest, log_odds, ordinal_link, probabilities
from riata.losses.loss import Loss
from riata.losses.ordinal import GivenCutpoints, Ordinal, in_this_order, with_ties
from riata.losses.quantiles import Quantiles
from riata.losses.several_margins import SeveralMargins
from riata.losses.softmax import Softmax
from riata.losses.squared_targets import SquaredTargets
from riata.losses.with_offset import WithOffset, paired

__all__ = [
    "AUTO",
    "EVERY",
    "LINKS",
    "LOSSES",
    "USUAL",
    "Binomial",
    "CoupledLoss",
    "GivenCutpoints",
    "Link",
    "Loss",
    "Ordinal",
    "Quantiles",
    "SettledLoss",
    "SeveralMargins",
    "Softmax",
    "SquaredTargets",
    "WithOffset",
    "against_rest",
    "in_this_order",
    "known_loss",
    "log_odds",
    "loss_for",
    "loss_of",
    "ordinal_link",
    "paired",
    "probabilities",
    "recalled_loss",
    "with_ties",
]
