"""MathML that several formulas share."""


def row(*parts: str) -> str:
    """Parts of a formula, taken together."""
    return f"<mrow>{''.join(parts)}</mrow>"


def fraction(above: str, below: str) -> str:
    return f"<mfrac>{above}{below}</mfrac>"


def square(of: str) -> str:
    return f"<msup>{of}<mn>2</mn></msup>"


LEFT, RIGHT, BAR = ('<mo stretchy="false">' + sign + "</mo>" for sign in "()|")
HALF = fraction("<mn>1</mn>", "<mn>2</mn>")
RESIDUAL = "<mi>y</mi><mo>−</mo><mi>z</mi>"
LABELS = '<mo>,</mo><mspace width="0.6em"/><mi>y</mi><mo>=</mo><mo>±</mo><mn>1</mn>'
