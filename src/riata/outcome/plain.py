"""Proofs and bounds as plain values, for files and `--json`, and back."""

import re
from dataclasses import asdict
from typing import Any, get_args

import numpy as np

from riata.outcome.proofs import Bound, GlobalBound, Proof
from riata.schema import build


def _kind(proof: type) -> str:
    """DualityGap -> duality-gap."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", proof.__name__).lower()


KINDS = {_kind(proof): proof for proof in get_args(Proof)}
BOUNDS = {_kind(bound): bound for bound in get_args(Bound)}
MADE = ("kind", "gap")  # of what is written, from the rest


def _numbers(found: Proof | Bound) -> dict[str, Any]:
    """What it holds, with numbers of Python."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in asdict(found).items()}


def proof_to_json(proof: Proof | None) -> dict[str, Any] | None:
    """The kind of a proof and its numbers."""
    if proof is None:
        return None
    return {"kind": _kind(type(proof)), **_numbers(proof)}


def proof_from_json(plain: dict[str, Any] | None) -> Proof | None:
    """The proof again; None for a kind that a later version may have written."""
    kind = None if plain is None else plain.get("kind")
    if plain is None or not isinstance(kind, str) or kind not in KINDS:
        return None
    return build(KINDS[kind], {name: value for name, value in plain.items() if name != "kind"}, "its proof")


def bound_to_json(bound: Bound | None) -> dict[str, Any] | None:
    """The kind of a bound, its numbers, and the gap."""
    if bound is None:
        return None
    gap = {"gap": bound.gap} if isinstance(bound, GlobalBound) else {}
    return {"kind": _kind(type(bound)), **_numbers(bound), **gap}


def bound_from_json(plain: dict[str, Any] | None) -> Bound | None:
    """The bound again; None for a kind that a later version may have written."""
    kind = None if plain is None else plain.get("kind")
    if plain is None or not isinstance(kind, str) or kind not in BOUNDS:
        return None
    return build(BOUNDS[kind], {name: value for name, value in plain.items() if name not in MADE}, "its bound")
