"""How to repeat it: the command, the code, the versions."""

import platform
from importlib.metadata import version

from riata.reporting.html.facts import Facts
from riata.reporting.html.page import Section
from riata.reporting.html.rendering import rendered

PACKAGES = ("riata", "numpy", "scipy", "scikit-learn", "numba", "pyarrow")


def repeat_section(facts: Facts) -> Section:
    """Blocks of text to copy."""
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    body = rendered(
        "repeat.html",
        command=facts.origin.command,
        code=facts.origin.code,
        versions=f"{versions}, Python {platform.python_version()} on {platform.system()} {platform.machine()}",
    )
    return Section("repeat", "Repeat it", body)
