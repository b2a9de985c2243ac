"""The curvature of a loss that couples rows: a sum over terms, each about the means of its own rows.

    H = sum_b sum_i c_ib (x_i - mean_b)(x_i - mean_b)' = sum_i D_i (x_i - mean)(x_i - mean)' - sum_b c_b t_b t_b'

with the shares c_ib of the terms b in D_i (`SettledLoss.shares`), c_b their sum, and t_b = mean_b - mean. So the
products of any other loss are enough, with the sums of the columns by terms beside them.
"""

from typing import NamedTuple

import numpy as np

from riata.arrays import to_host
from riata.data.chunk import Chunk
from riata.losses import SettledLoss
from riata.matrices.moments import Products


class TermProducts(NamedTuple):
    """Products of columns over all terms, and the sums of the columns and of the shares by terms."""

    products: Products
    columns: np.ndarray  # features x terms
    shares: np.ndarray


def term_products(chunk: Chunk, loss: SettledLoss, z: np.ndarray, features: np.ndarray) -> TermProducts:
    """What the rows of a chunk add, at these margins."""
    shares = chunk.weight[:, None] * loss.shares(chunk.y, z)
    products = chunk.X.products(shares.sum(axis=1), features, features)
    return TermProducts(products, chunk.X.narrowed(features).slopes(shares), to_host(shares.sum(axis=0)))


def within_terms(found: Products | TermProducts) -> Products:
    """The products about the means of each term; those of a loss that is a sum over rows as they are."""
    if isinstance(found, Products):
        return found
    products, columns, shares = found
    on = shares > 0.0
    apart = columns[:, on] / shares[on] - products.right_mean[:, None]
    about_means = products.about_means - (apart * shares[on]) @ apart.T
    return Products(products.weight, products.left_mean, products.right_mean, about_means)
