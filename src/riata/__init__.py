"""Sparse linear models from data of any size, in bounded memory."""

from importlib.metadata import version

__version__ = version("riata")
