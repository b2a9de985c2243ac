"""`riata doctor` and `riata completion`: this machine, and its shell."""

import os
import platform
from importlib.util import find_spec

import click

from riata.cli.group import main
from riata.cli.next_command import say_next
from riata.cli.options import json_option

NEEDED = ("riata", "numpy", "scipy", "scikit-learn", "numba", "pyarrow", "click", "rich")
EXTRAS = {  # packages that other things need, and what they are for
    "jinja2": "--report",
    "matplotlib": "--plot",
    "dask": "--engine dask",
    "distributed": "--engine dask",
    "cupy": "--device cuda",
    "fsspec": "more remote file systems",
    "openpyxl": "Excel workbooks",
    "fastavro": "Avro files",
    "duckdb": "duckdb:SELECT ... as data",
    "yaml": "--config FILE.yaml",
    "pandas": "pandas data frames",
    "polars": "polars data frames",
}
SHELLS = {
    "bash": 'eval "$(riata completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(riata completion zsh)"  # in ~/.zshrc',
    "fish": "riata completion fish > ~/.config/fish/completions/riata.fish",
}


@main.command(examples=("riata completion bash >> ~/.bashrc",))
@click.argument("shell", type=click.Choice(tuple(SHELLS)))
def completion(shell: str) -> None:
    """Print the lines that let a SHELL complete commands, options and their values."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    script = found(main, {}, "riata", "_RIATA_COMPLETE")
    click.echo(script.source_template % script.source_vars())  # source() asks which version of bash there is
    say_next(SHELLS[shell])


@main.command()
@json_option
def doctor(as_json: bool) -> None:
    """Show what riata finds on this machine: versions, cores, memory, compiled code, extras, GPU, Dask."""
    import json

    facts = {
        "versions": {"python": platform.python_version(), **{name: installed(name) for name in NEEDED}},
        "system": f"{platform.system()} {platform.machine()}",
        **hardware(),
        "compiled code": compiled_code(),
        "extras": {name: find_spec(name) is not None for name in EXTRAS},
        "gpu": gpu(),
        "dask": dask(),
    }
    if as_json:
        click.echo(json.dumps(facts))
        return
    from riata.reporting.terminal.doctor import show_facts

    show_facts(facts, EXTRAS)
    code = facts["compiled code"]
    assert isinstance(code, dict)
    if not code["writable"]:
        say_next("set RIATA_CACHE to a folder that can be written, or every process compiles anew")
    elif not code["kernels"]:
        say_next("riata warmup, which compiles ahead what the first fit would")
    else:
        say_next("riata profile DATA --target COLUMN")


def installed(package: str) -> str | None:
    """The version of a package, or None."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def hardware() -> dict[str, object]:
    """Cores that this process may use, and memory in MB."""
    from riata.machine import memory_mb, usable_cores

    return {"cores": usable_cores(), "memory_mb": memory_mb()}


def compiled_code() -> dict[str, object]:
    """Where machine code is kept, how many loops are there, and whether more can be."""
    from riata.kernels.disk_cache import kernels_folder

    folder = kernels_folder()
    if folder is None:
        return {"folder": None, "kernels": 0, "writable": False}
    there = sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0
    parent = next(one for one in (folder, *folder.parents) if one.exists())
    return {"folder": str(folder), "kernels": there, "writable": os.access(parent, os.W_OK)}


def gpu() -> str | None:
    """The GPU that passes can run on, by name."""
    if find_spec("cupy") is None:
        return None
    import cupy

    try:
        return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())
    except Exception:  # whatever a driver that is missing or too old raises
        return None


def dask() -> str | None:
    """The version of Dask's scheduler, where there is one."""
    return installed("distributed")
