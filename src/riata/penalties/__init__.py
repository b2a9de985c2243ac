"""Penalties on the coefficients: one file per family; `penalty` says what every one of them offers."""

from riata.penalties.cardinality import Cardinality, hard_threshold
from riata.penalties.concave import CONCAVE, LQ, MCP, SCAD, concave_penalty
from riata.penalties.elastic_net import ElasticNet, soft_threshold
from riata.penalties.group_cardinality import GroupCardinality
from riata.penalties.group_lasso import GroupLasso
from riata.penalties.penalty import Numbers, Penalty, SeparablePenalty, Strengths

PENALTIES: dict[str, type[Penalty]] = {
    "elastic-net": ElasticNet,
    "cardinality": Cardinality,
    "group-cardinality": GroupCardinality,
    "group-lasso": GroupLasso,
    **CONCAVE,
}

__all__ = [
    "CONCAVE",
    "LQ",
    "MCP",
    "PENALTIES",
    "SCAD",
    "Cardinality",
    "ElasticNet",
    "GroupCardinality",
    "GroupLasso",
    "Numbers",
    "Penalty",
    "SeparablePenalty",
    "Strengths",
    "concave_penalty",
    "hard_threshold",
    "soft_threshold",
]
