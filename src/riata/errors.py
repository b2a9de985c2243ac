"""Errors and warnings. Each has one sentence that says what is wrong, where, and what to do.

After an error there is no model; after a warning there is one that can be used.
"""


class RiataError(Exception):
    """Base of everything riata raises on purpose."""


class DataError(RiataError, ValueError):
    """The data cannot be read or used: the message says where and what to do."""


class MissingFileError(DataError):
    """There is no such file."""


class OptionError(RiataError, ValueError):
    """An option, or a combination of options, makes no sense."""


class OutputError(RiataError, OSError):
    """A file cannot be written, because the disk is full, for example. A file that was there is unchanged."""


class DivergenceError(RiataError, ArithmeticError):
    """A stochastic solver diverged."""


class ModelFileError(RiataError, ValueError):
    """A file is not a model that this version can read."""


class CheckpointError(RiataError, ValueError):
    """A checkpoint cannot be read, or belongs to another fit."""


class MissingPackageError(RiataError, ImportError):
    """An optional package is needed: the message says how to install it."""


class EngineError(RiataError, RuntimeError):
    """A cluster cannot be reached, or could not do the work: the message says what to do."""


class RiataWarning(UserWarning):
    """Base of everything riata warns of."""


class NotConvergedWarning(RiataWarning):
    """A fit stopped before it reached its tolerance. For estimators it is also scikit-learn's `ConvergenceWarning`."""


class DataWarning(RiataWarning):
    """Something in the data harms the model, or was left out of it."""


class OptionWarning(RiataWarning):
    """An option asks for more than is possible, such as more features than the data has."""


class ModelWarning(RiataWarning):
    """The model lacks something you would expect: a certificate, or quantiles that do not cross."""


class OutputWarning(RiataWarning):
    """A file could not be written, and the fit goes on without it."""
