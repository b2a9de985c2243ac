"""What only some systems have is used in one module, and riata works where it is missing."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import other_systems
import riata
from riata import machine

SOURCE = Path(riata.__file__).parent
ONE_MODULE = "machine.py"


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("elsewhere")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 6)), columns=list("abcdef"))
    frame["level"] = rng.choice(["x", "y", "Ümlaut"], 400)
    frame["target"] = 2 * frame["a"] - frame["c"] + 0.1 * rng.normal(size=400)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    return tmp_path


def command(*words: str) -> str:
    return f"from riata.cli import main; main({list(words)!r}, standalone_mode=False);"


FITS = """
import os, pathlib, numpy as np, riata
from riata import machine
with open("rows.csv", "rb"):
    try:
        os.replace("rows.parquet", "rows.csv")
    except PermissionError:
        pass
    else:
        raise AssertionError("this system lets open files be replaced")
assert machine.resource is None and machine.peak_rss_mb() is None
data = riata.open("rows.csv", target="target", memory="1MB")
out = riata.SparseRegressor(solver="l0-sgd", k=2, max_passes=5, checkpoint="saved", every=0).fit(data)
again = riata.SparseRegressor(solver="l0-sgd", k=2, max_passes=5, checkpoint="saved", every=0, resume=True)
again.fit(riata.open("rows.csv", target="target", memory="1MB"))
assert np.array_equal(out.coef_, again.coef_)
chunks = ((np.full((50, 2), i), np.full(50, i)) for i in range(20))
stream = riata.open(chunks, cache=True)
riata.SparseRegressor(alpha=0.1).fit(stream)
del data, stream
print(sorted(path.name for path in pathlib.Path().rglob("riata-*")))
"""
SHARED = ("--target", "target", "--memory", "2MB")
PARTS = {  # of one process, since the imports of each would take longer than all of it
    "commands": command("profile", "rows.csv", *SHARED[:2])
    + command("fit", "rows.csv", *SHARED, "--k", "2", "--report", "report.html", "--out", "m.json", "--quiet")
    + command("path", "rows.parquet", *SHARED, "--n-alphas", "5", "--out", "path.csv")
    + command("predict", "m.json", "rows.parquet", "--out", "predicted.csv"),
    "json": command("fit", "rows.parquet", "--target", "target", "--k", "2", "--json"),
    "fits": FITS,
}
BETWEEN = "-- another part --"


@pytest.fixture(scope="module")
def said(rows):
    """What each part prints on a system without POSIX."""
    script = Path(other_systems.__file__)
    environment = os.environ | {"RIATA_CACHE": str(rows / "cache"), "PYTHONPATH": str(SOURCE.parent)}
    environment |= {"NUMBA_CACHE_DIR": environment.get("NUMBA_CACHE_DIR", str(rows / "kernels"))}
    code = f"\nprint({BETWEEN!r})\n".join(PARTS.values())
    command = [sys.executable, "-X", "warn_default_encoding", str(script), code]
    done = subprocess.run(command, cwd=rows, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(PARTS, done.stdout.split(f"{BETWEEN}\n"), strict=True))


def test_commands_work_without_posix(rows, said):
    assert "Ümlaut" in said["commands"]
    assert set(riata.load_model(rows / "m.json").names) == {"a", "c"}
    assert "peak memory" not in (rows / "report.html").read_text(encoding="utf-8")
    assert (rows / "path.csv").exists()
    assert (rows / "predicted.csv").exists()


def test_json_says_that_the_peak_is_unknown(said):
    assert json.loads(said["json"])["peak_rss_mb"] is None


def test_fits_kept_rows_and_checkpoints_work_without_posix(said):
    assert said["fits"].split("\n")[-2] == "[]"


def test_a_file_without_a_name_outlives_its_handle_while_it_is_mapped(tmp_path):
    import mmap

    with machine.file_without_name(str(tmp_path)) as handle:
        handle.write(b"rows" * 5000)
        handle.flush()
        mapped = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
    machine.forget_pages(mapped, 5000, 3000)
    assert mapped[8000:8004] == b"rows"
    assert not list(tmp_path.iterdir())


def used_by(path: Path) -> set[str]:
    """What a file uses that only some systems have, and text without an encoding."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [a.name for a in node.names] + [getattr(node, "module", None) or ""]
            found |= {name for name in names if name in other_systems.POSIX_MODULES}
        elif isinstance(node, ast.Attribute):
            called = isinstance(node.value, ast.Name) and f"{node.value.id}.{node.attr}"
            hidden = other_systems.POSIX_FUNCTIONS + other_systems.POSIX_SIGNALS
            if called and called.partition(".")[0] in ("os", "signal") and node.attr in hidden:
                found.add(called)
            if called in ("mmap.MADV_DONTNEED", "tempfile.TemporaryFile", "ctypes.CDLL", "os.rename"):
                found.add(called)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith((*(f"{place}/" for place in other_systems.OF_LINUX), "/tmp")):
                found.add(node.value)
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", None)
            of_a_page = getattr(getattr(node.func, "value", None), "id", None) == "formatter"  # click's, not a file
            encoded = any(option.arg == "encoding" for option in node.keywords)
            if name in ("read_text", "write_text") and not (of_a_page or encoded):
                found.add(name)
    return found


def test_what_only_some_systems_have_is_in_one_module():
    found = {path.relative_to(SOURCE).as_posix(): used_by(path) for path in SOURCE.rglob("*.py")}
    where = {name: used for name, used in found.items() if used}
    assert where.pop(ONE_MODULE) >= {"resource", "/proc/self/status", "tempfile.TemporaryFile", "ctypes.CDLL"}
    assert where == {}


GROUPS = {  # the files of a control group, by version, that leave 3000 bytes and 400 of pages of files
    "second": {"memory.max": "10000", "memory.current": "7000",
               "memory.stat": "anon 6600\nactive_file 100\ninactive_file 300"},
    "first": {"memory/memory.limit_in_bytes": "10000", "memory/memory.usage_in_bytes": "7000",
              "memory/memory.stat": "active_file 1\ninactive_file 2\ntotal_active_file 100\ntotal_inactive_file 300"},
}  # fmt: skip


@pytest.mark.parametrize("version", GROUPS)
def test_free_memory_is_no_more_than_a_container_leaves(version, tmp_path, monkeypatch):
    known = machine.memory_mb()
    if known is None:
        pytest.skip("this system does not tell")
    assert 0 <= machine.free_memory() <= known["total"] * 1_000_000
    (tmp_path / "memory").mkdir()
    for name, content in GROUPS[version].items():
        (tmp_path / name).write_text(content, "ascii")
    monkeypatch.setattr(machine, "Path", lambda path: tmp_path if path == "/sys/fs/cgroup" else Path(path))
    assert machine.free_memory() == 3400
    (tmp_path / next(name for name in GROUPS[version] if name.endswith("stat"))).unlink()
    assert machine.free_memory() == 3000
    (tmp_path / next(iter(GROUPS[version]))).write_text("max", "ascii")
    assert machine.free_memory() > 3400


def test_free_memory_is_unknown_where_the_system_does_not_tell(monkeypatch):
    monkeypatch.setattr(machine, "memory_mb", lambda: None)
    assert machine.free_memory() is None


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077, 0o002])
@pytest.mark.parametrize("status", ["as it is", "of an older system", "missing"])
def test_the_file_mode_mask_is_read_and_files_are_never_open_to_all(mask, status, tmp_path, monkeypatch):
    if status != "as it is":
        (tmp_path / "old").write_text("Name:\tpython\nState:\tR (running)\n")
        monkeypatch.setattr(machine, "STATUS", tmp_path / ("old" if status == "of an older system" else "missing"))
    set_to, original = [], os.umask
    before = original(mask)
    try:
        monkeypatch.setattr(os, "umask", lambda mask: set_to.append(mask) or original(mask))
        found = machine.file_mode_mask()
        monkeypatch.undo()
        after = original(mask)
    finally:
        original(before)
    assert found == after == mask
    assert all(mask in (machine.PRIVATE, found) for mask in set_to)
    if status == "as it is" and sys.platform == "linux":
        assert set_to == []


def test_code_that_was_forgotten_still_runs():
    import llvmlite.binding as llvm

    def held() -> int:
        """The kB of its machine code that this process holds."""
        total, ours = 0, False
        for line in Path("/proc/self/smaps").read_text().splitlines():
            if "-" in line.split()[0]:
                ours = " r-xp " in line and "llvmlite" in line
            total += int(line.split()[1]) if ours and line.startswith("Rss:") else 0
        return total

    if not Path("/proc/self/smaps").exists():
        pytest.skip("this system does not tell")
    assembly = "define i32 @f() { ret i32 1 }"
    llvm.parse_assembly(assembly)  # an earlier fit may have had all of it forgotten
    before = held()
    if not before:
        pytest.skip("this system does not tell how much of a file is in memory")
    of_files = machine.resident_file_bytes()
    machine.forget_code_of("llvmlite")
    assert machine.resident_file_bytes() < of_files - 500 * before  # kB
    machine.forget_code_of("there is no such library")
    assert held() < before / 2
    assert llvm.parse_assembly(assembly).name == "<string>"
