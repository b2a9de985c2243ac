"""digits49: a twin of Gisette that comes with the package and says which columns are noise.

Gisette (Isabelle Guyon, NIPS 2003 feature selection challenge) tells 4 from 9 with 5000 columns: pixels of
the middle and top of MNIST images, where the two digits differ, products of two such pixels, and as many
probes that know nothing of the label. UCI's files do not say which are which. This table follows the same
recipe, and its names do:

    pixel_r07c12            999 * v[7, 12]              v = image / 255, rounded to an integer 0..999
    product_r07c12_r09c14   999 * v[7, 12] * v[9, 14]   two pixels at most FARTHEST apart, drawn at random
    probe_0001              a pixel, or a product found nowhere else, with its rows shuffled

2500 columns are real and 2500 are probes, with the same share of pixels and products, so the marginals of the
two halves agree. Pixels and pairs are chosen on the training images. 6000 training and 1000 test rows, half
of each digit, with 19 to 20% non-zeros.
"""

from importlib.resources import files

import numpy as np
import numpy.typing as npt

from riata.datasets.table import Table, check_split, recall, remember

N_REAL = 2500
LEVELS = 999
ROWS = slice(3, 17)  # middle and top: the stem below is the same in both digits
FARTHEST = 14  # rows or columns; pixels farther apart are seldom both inked
SEEN = 24  # training images in which a column is not zero, at least; rarer columns are noise and harm selection
SEED = 49
VERSION = "digits49-v1"  # part of the cache's file names: raise it with any change of content


def load_digits49(split: str = "train") -> Table:
    """Load the `split` "train" or "test" of digits49; y is +1 for a 9 and -1 for a 4.

    The first call builds both splits, in seconds, and caches them in `$RIATA_CACHE` or the user's cache folder.

    >>> X, y, feature_names = load_digits49("test")
    >>> X.shape
    (1000, 5000)
    """
    check_split(split)
    table = recall(f"{VERSION}-{split}")
    if table is None:
        tables = build()
        for part, built in tables.items():
            remember(f"{VERSION}-{part}", built)
        table = tables[split]
    return table


def is_probe(names: npt.ArrayLike) -> np.ndarray:
    """Whether each name is that of a noise column; `is_probe(feature_names[coef != 0]).sum()` counts those chosen."""
    return np.strings.startswith(np.asarray(names, dtype=str), "probe_")


def build(seed: int = SEED) -> dict[str, Table]:
    """Both splits from the packaged images, as {"train": Table, "test": Table}."""
    rng = np.random.default_rng(seed)
    with (files(__package__) / "mnist49.npz").open("rb") as file, np.load(file, allow_pickle=False) as mnist:
        images = {split: mnist[f"{split}_images"].reshape(-1, 784) for split in ("train", "test")}
        y = {split: np.where(mnist[f"{split}_digits"] == 9, 1.0, -1.0) for split in ("train", "test")}

    pixels, pairs = candidates(images["train"] > 0)
    n_products = N_REAL - len(pixels)
    drawn = rng.choice(pairs, 2 * n_products, replace=False)
    real, fresh = drawn[:n_products], drawn[n_products:]

    names = [f"pixel_{place(p)}" for p in pixels] + [f"product_{place(p)}_{place(q)}" for p, q in real]
    names += [f"probe_{i:04d}" for i in range(1, N_REAL + 1)]
    order = rng.permutation(2 * N_REAL)

    tables = {}
    for split in ("train", "test"):
        probes = rng.permuted(columns(images[split], pixels, fresh), axis=0)  # each column on its own
        X = np.hstack([columns(images[split], pixels, real), probes])[:, order]
        tables[split] = Table(X.astype(np.float32), y[split], np.array(names)[order])
    return tables


def candidates(ink: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of the region, and pairs of them within reach, inked in at least SEEN rows of `ink`."""
    region = np.zeros((28, 28), dtype=bool)
    region[ROWS] = True
    pixels = np.flatnonzero(region.ravel() & (ink.sum(axis=0) >= SEEN))
    first, second = np.triu_indices(len(pixels), k=1)
    inked = ink[:, pixels].astype(np.float32)
    together = (inked.T @ inked)[first, second]  # counts below 2**24 are exact in float32
    row, column = np.divmod(pixels, 28)
    apart = np.maximum(abs(row[first] - row[second]), abs(column[first] - column[second]))
    kept = (together >= SEEN) & (apart <= FARTHEST)
    return pixels, np.column_stack([pixels[first[kept]], pixels[second[kept]]])


def columns(images: np.ndarray, pixels: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Pixels, then products, rounded to integers 0..LEVELS."""
    v = images.astype(np.uint32)
    products = v[:, pairs[:, 0]] * v[:, pairs[:, 1]]
    return np.hstack([quantised(v[:, pixels], 255), quantised(products, 255**2)])


def quantised(values: np.ndarray, largest: int) -> np.ndarray:
    """LEVELS * values / largest, rounded in integer arithmetic: the same on every machine."""
    return ((2 * LEVELS * values + largest) // (2 * largest)).astype(np.uint16)


def place(pixel: int) -> str:
    """r07c12 for row 7, column 12."""
    return f"r{pixel // 28:02d}c{pixel % 28:02d}"
