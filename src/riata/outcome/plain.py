"""Proofs as plain values, for files and `--json`, and back."""

import re
from dataclasses import asdict
from typing import Any, get_args

import numpy as np

from riata.outcome.proofs import Proof
from riata.schema import build


def _kind(proof: type) -> str:
    """DualityGap -> duality-gap."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", proof.__name__).lower()


KINDS = {_kind(proof): proof for proof in get_args(Proof)}


def proof_to_json(proof: Proof | None) -> dict[str, Any] | None:
    """The kind of a proof and its numbers."""
    if proof is None:
        return None
    numbers = {name: value.item() if isinstance(value, np.generic) else value for name, value in asdict(proof).items()}
    return {"kind": _kind(type(proof)), **numbers}


def proof_from_json(plain: dict[str, Any] | None) -> Proof | None:
    """The proof again; None for a kind that a later version may have written."""
    kind = None if plain is None else plain.get("kind")
    if plain is None or not isinstance(kind, str) or kind not in KINDS:
        return None
    proof: Proof = build(KINDS[kind], {name: value for name, value in plain.items() if name != "kind"}, "its proof")
    return proof
