"""The command line: a thin face over `open_data`, `riata.training` and `Model`.

Heavy imports wait until a command runs, so that `riata --help` answers at once.
"""

from riata.cli import data, fit, machine, models, paths, reproduce, warmup  # each adds its commands to `main`
from riata.cli.group import main

__all__ = ["data", "fit", "machine", "main", "models", "paths", "reproduce", "warmup"]
