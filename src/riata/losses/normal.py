"""The tail of the normal distribution, by array functions of any library, with all digits however far out.

    tail(x) = exp(x^2 / 2) P(N > x)        for x >= 0, Mills' ratio over sqrt(2 pi)

Series of Chebyshev polynomials of t = (x - c) / (x + c), with c = REACH sqrt(2), fitted in 120 digits: of
(1 + sqrt(pi / 2) x) 2 tail(x), and of the curvature of -log P(N > x). Tests hold both against SciPy and mpmath.
"""

import math

from riata.arrays import Array, namespace

REACH = 2.5
ROOT_2, ROOT_PI = math.sqrt(2.0), math.sqrt(math.pi)
SCALED_TAIL = (
    1.0831133241469209, -0.04060281427922233, -0.07249762175211508, 0.03920955239731367,
    -0.010656705433660128, 0.0014360602588819695, 3.886493298932807e-05, -4.411309769645777e-05,
    2.249226209214698e-06, 1.3646801171227846e-06, -1.1488060092772348e-07, -5.222848262911129e-08,
    3.817361792526204e-09, 2.3795567002064355e-09, -5.121304587490764e-11, -1.1554392159702666e-10,
    -6.730722747300022e-12, 5.2546204533795025e-12, 9.084018090047144e-13, -1.7949115842102575e-13,
    -7.387202106344787e-14, 1.237386527135813e-16, 4.390194782857646e-15, 6.847569401559395e-16,
    -1.5865461141847834e-16, -7.133567960460111e-17, -2.795500759045811e-18, 4.192236981054311e-18,
)  # fmt: skip
CURVATURE = (
    0.8770300503722319, 0.17893003058390572, -0.06256939672858455, 0.003575015945556274,
    0.0040622871545787365, -0.0009071616935514827, -0.00022234666741684282, 0.0001007613145732456,
    9.493038282001015e-06, -9.253993864839984e-06, -1.8372771209448491e-07, 7.796640498954498e-07,
    -2.0371106606557294e-08, -6.250260596844192e-08, 3.4267054795923035e-09, 4.835560781957201e-09,
    -3.381995890816364e-10, -3.617339026841574e-10, 2.6721604270513016e-11, 2.597969605111665e-11,
    -1.8142061117905882e-12, -1.7651502486629142e-12, 1.112078645780738e-13, 1.1106262930049534e-13,
    -6.925952611881804e-15, -6.307992770964833e-15, 5.432107847169185e-16, 3.1801572223280415e-16,
    -5.600468386271844e-17, -1.5076680306211413e-17, 6.077537872788849e-18, 8.993507199564816e-19,
)  # fmt: skip


def tail(x: Array) -> Array:
    """exp(x^2 / 2) P(N > x), for x >= 0."""
    s = x / ROOT_2
    return 0.5 * _series(SCALED_TAIL, s) / (1.0 + ROOT_PI * s)


def tail_curvature(x: Array) -> Array:
    """The second derivative of -log P(N > x), for x >= 0: r (r - x) with r = density / P, without its cancellation."""
    return _series(CURVATURE, x / ROOT_2)


def normal_cdf(z: Array) -> Array:
    """P(N <= z)."""
    xp = namespace(z)
    outside = xp.exp(-0.5 * z * z) * tail(abs(z))
    return xp.where(z > 0.0, 1.0 - outside, outside)


def _series(coefficients: tuple[float, ...], s: Array) -> Array:
    """The sum of a Chebyshev series, by Clenshaw's recurrence."""
    t = 1.0 - 2.0 * REACH / (s + REACH)  # also where s is infinite
    ahead, here = 0.0 * t, 0.0 * t
    for c in coefficients[:0:-1]:
        ahead, here = here, 2.0 * t * here - ahead + c
    return t * here - ahead + coefficients[0]
