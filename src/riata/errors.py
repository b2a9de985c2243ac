"""What can go wrong, each with one sentence that says what, where and what to do.

Errors are raised: there is no model. Warnings are given beside a model that is worth having.
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
    """A file cannot be written: the disk is full, say, or closed to this user; what was there before is still whole."""


class DivergenceError(RiataError, ArithmeticError):
    """A stochastic method left the region where numbers mean something."""


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
    """A fit stopped before its tolerance. That of an estimator is scikit-learn's `ConvergenceWarning`, too."""


class DataWarning(RiataWarning):
    """The data have something that the model suffers from, or that was left out of it."""


class OptionWarning(RiataWarning):
    """An option asked for more than there is, such as for more features than the data have."""


class ModelWarning(RiataWarning):
    """The model lacks something that one would expect of it: a certificate, or quantiles that do not cross."""


class OutputWarning(RiataWarning):
    """A file could not be written, and the fit goes on without it."""
