"""Data sets: `digits49` comes with the package, Gisette is downloaded."""

from riata.datasets.digits49 import is_probe, load_digits49
from riata.datasets.gisette import fetch_gisette, read_gisette
from riata.datasets.table import Table

__all__ = ["Table", "fetch_gisette", "is_probe", "load_digits49", "read_gisette"]
