"""Penalties that take a first fit, by their names: the adaptive Lasso and uniLasso."""

from dataclasses import dataclass

from riata.errors import OptionError

FIRST_FITS = {
    "ridge": "all features with a small squared penalty",
    "unpenalised": "all features without a penalty",
    "marginal": "one feature at a time",
}
UNILASSO = "unilasso"
TWO_STAGES = ("adaptive", UNILASSO)


@dataclass(frozen=True)
class Adaptive:
    """The adaptive Lasso (Zou, 2006): the penalty of a feature is divided by |its coefficient in a first fit|^gamma."""

    first: str = "ridge"  # of FIRST_FITS
    gamma: float = 1.0


def adaptive_lasso(name: str) -> Adaptive | None:
    """What a name such as adaptive, adaptive:marginal or adaptive:ridge:2 says; None for another."""
    family, *words = name.split(":")
    if family != "adaptive":
        return None
    first, gamma = "ridge", 1.0
    for word in words:
        if word in FIRST_FITS:
            first = word
            continue
        try:
            gamma = float(word)
        except ValueError:
            raise OptionError(
                f"penalty {name!r}: behind adaptive stand {', '.join(FIRST_FITS)} or an exponent, such as "
                "adaptive:marginal or adaptive:ridge:2"
            ) from None
    if not 0.0 < gamma < float("inf"):
        raise OptionError(f"the exponent of the adaptive Lasso must be positive, not {gamma:g}")
    return Adaptive(first, gamma)
