"""The command line: a thin face over `open_data`, `riata.training` and `Model`.

Heavy imports wait until a command runs, so that `riata --help` answers at once.
"""

import os

from riata.cli import data, fit, machine, models, paths, reproduce, warmup  # each adds its commands to `main`
from riata.cli.group import main

__all__ = ["data", "fit", "machine", "main", "models", "paths", "reproduce", "warmup"]

# Buffers that Arrow makes for itself, as where it decodes Parquet, do not come from the pool that Python sets
# (`return_memory_early`); its own would keep them once they are freed, beyond any budget. It reads this when it is
# loaded, which none of the imports above does.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
