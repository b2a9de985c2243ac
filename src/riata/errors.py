"""What can go wrong, each with one sentence that says what, where and what to do."""


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
