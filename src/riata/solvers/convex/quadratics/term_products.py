"""The curvature of a loss that couples rows: a sum over terms, each about the means of its own rows.

    H = sum_b sum_i c_ib (x_i - mean_b)(x_i - mean_b)' = sum_i D_i (x_i - mean)(x_i - mean)' - sum_b c_b t_b t_b'

with the shares c_ib of the terms b in D_i (`SettledLoss.shares`), c_b their sum, and t_b = mean_b - mean. So the
products of any other loss are enough, with the sums of the columns by terms beside them.

Where terms do not find their means by themselves, as cutpoints that keep their order (`SettledLoss.ties`), these
follow by less. With the springs K between neighbours it is s'(C + K)^-1 s in place of sum_b c_b t_b t_b', where s_b =
c_b t_b, and C has the c_b along its diagonal.
"""

from typing import NamedTuple

import numpy as np

from riata.arrays import namespace, to_host
from riata.data.chunk import Chunk
from riata.losses import SettledLoss, with_ties
from riata.matrices.moments import Products


class TermProducts(NamedTuple):
    """Products of columns over all terms, the sums of the columns and of the shares by terms, and ties of terms."""

    products: Products
    columns: np.ndarray  # features x terms
    shares: np.ndarray
    ties: np.ndarray  # of each term to the next; empty: there are none


def term_products(chunk: Chunk, loss: SettledLoss, z: np.ndarray, features: np.ndarray) -> TermProducts:
    """What the rows of a chunk add, at these margins."""
    shares = chunk.weight[:, None] * loss.shares(chunk.y, z)
    xp = namespace(shares)
    products = chunk.X.products(xp.sum(shares, axis=1), features, features)
    columns = chunk.X.narrowed(features).slopes(shares)
    return TermProducts(products, columns, to_host(xp.sum(shares, axis=0)), loss.ties(chunk.y, chunk.weight))


def within_terms(found: Products | TermProducts) -> Products:
    """The products about the means of each term; those of a loss that is a sum over rows as they are."""
    if isinstance(found, Products):
        return found
    products, columns, shares, ties = found
    on = shares > 0.0
    apart = columns[:, on] / shares[on] - products.right_mean[:, None]
    followed = (apart * shares[on]) @ apart.T
    if len(ties):
        moved = columns - np.outer(products.right_mean, shares)
        followed = moved @ np.linalg.solve(with_ties(shares, ties), moved.T)
    about_means = products.about_means - followed
    return Products(products.weight, products.left_mean, products.right_mean, about_means)
