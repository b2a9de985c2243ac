"""Machine code on disk: never out of date, shared by processes, and never the reason for an error."""

import errno
import os
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import riata
from riata.files import NOWHERE
from riata.kernels import disk_cache
from riata.kernels.compiled import compiled
from riata.kernels.products import dense_margins

SOURCE = Path(riata.__file__).parent
HELPER = "from riata.kernels.compiled import compiled\n\n@compiled()\ndef helper(x):\n    return x + 1\n"
CALLER = (
    "from riata.kernels.compiled import compiled\nfrom riata.kernels.helper import helper\n\n"
    "@compiled()\ndef caller(x):\n    return helper(x)\n"
)
CALL = (
    "from riata.kernels.caller import caller\n"
    "print(caller(1), sum(caller.stats.cache_hits.values()), sum(caller.stats.cache_misses.values()))"
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A copy of the package with two more kernels, one of which calls the other from another file, and a cache."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(SOURCE, folder / "riata", ignore=shutil.ignore_patterns("__pycache__", "*.npz"))
    (folder / "riata/kernels/helper.py").write_text(HELPER)
    (folder / "riata/kernels/caller.py").write_text(CALLER)
    assert answer(start(folder)) == ([2, 0, 1], "")
    return folder


@pytest.fixture
def copy(filled, tmp_path):
    """Another checkout of that package, whose cache holds what was compiled for it."""
    return shutil.copytree(filled, tmp_path / "copy")


def start(copy, **environment):
    """A process of its own that calls the kernel of the copied package."""
    given = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    given |= {"PYTHONPATH": str(copy), "RIATA_CACHE": str(copy / "cache"), **environment}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": copy}
    return subprocess.Popen([sys.executable, "-c", CALL], env=given, **options)


def answer(process):
    """What the process printed: the kernel's result, and how often its machine code was found and was not."""
    out, err = process.communicate()
    assert process.returncode == 0, err
    return [int(word) for word in out.split()], err


def test_a_change_of_a_helper_in_another_file_is_heeded(copy):
    (copy / "riata/kernels/helper.py").write_text(HELPER.replace("x + 1", "x + 5"))
    assert answer(start(copy)) == ([6, 0, 1], "")
    (copy / "riata/kernels/helper.py").write_text(HELPER)
    assert answer(start(copy)) == ([2, 1, 0], "")


def test_a_constant_of_a_loss_is_part_of_the_code(copy):
    with (copy / "riata/losses/__init__.py").open("a") as file:
        file.write("BEND = 2.0\n")
    assert answer(start(copy))[0] == [2, 0, 1]


def test_two_processes_with_an_empty_cache_both_work(copy):
    shutil.rmtree(copy / "cache")
    both = [start(copy), start(copy)]
    assert [answer(process)[0][0] for process in both] == [2, 2]
    assert answer(start(copy)) == ([2, 1, 0], "")
    assert not list(copy.glob("cache/**/*.part"))


def test_two_checkouts_of_the_same_code_share_it(copy, filled):
    assert answer(start(copy, RIATA_CACHE=str(filled / "cache")))[0] == [2, 1, 0]


def test_numbas_own_variable_says_where(copy):
    shutil.rmtree(copy / "cache")
    answer(start(copy, NUMBA_CACHE_DIR=str(copy / "elsewhere")))
    assert list(copy.glob("elsewhere/kernels/*/caller.caller-*"))
    assert not (copy / "cache").exists()


def test_a_setting_that_changes_machine_code_has_code_of_its_own(copy):
    assert answer(start(copy, NUMBA_BOUNDSCHECK="1"))[0] == [2, 0, 1]


def test_without_a_writable_folder_every_process_compiles_and_says_so_once(copy):
    (copy / "file").write_text("")
    found, notes = answer(start(copy, RIATA_CACHE=str(copy / "file")))
    assert found == [2, 0, 1]
    assert notes.count("Compiled code is not kept (Not a directory)") == 1


def test_a_folder_that_may_only_be_read_is_used(copy):
    folders = [copy / "cache", *copy.glob("cache/**/")]
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert answer(start(copy)) == ([2, 1, 0], "")
    finally:
        for folder in folders:
            folder.chmod(0o755)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """This process keeps machine code in a folder of its own."""
    monkeypatch.setattr(disk_cache, "kernels_folder", lambda: tmp_path / "kernels" / ("f" * 32))
    return tmp_path / "kernels" / ("f" * 32)


def kernel():
    """A kernel that nobody has called yet."""

    @compiled()
    def plus_one(x):
        return x + 1

    return plus_one


def misses(function):
    return sum(function.stats.cache_misses.values())


@pytest.mark.parametrize("damage", [lambda content: content[:-1], lambda content: b"", lambda content: content + b"x"])
def test_a_damaged_file_is_compiled_anew_and_replaced(folder, damage):
    kernel()(1)
    (file,) = folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    for expected in (1, 0):
        again = kernel()
        assert again(1) == 2
        assert misses(again) == expected


def test_a_full_disk_is_no_error(folder, monkeypatch, caplog):
    def full(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(disk_cache, "replacing", full)
    disk_cache._note_no_cache.cache_clear()
    assert [kernel()(1), kernel()(1)] == [2, 2]
    assert caplog.text.count("No space left on device") == 1


def test_a_user_without_a_home_has_no_cache(monkeypatch, caplog):
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(disk_cache, "cache_folder", lambda: NOWHERE)
    assert disk_cache.kernels_folder.__wrapped__() is None
    assert "no home folder" in caplog.text


def test_nothing_is_kept_when_the_files_change_under_a_process(folder, monkeypatch):
    monkeypatch.setattr(disk_cache, "CONTENT", "as imported")
    assert kernel()(1) == 2
    assert not folder.exists()


def test_machine_code_that_nobody_uses_is_removed(folder):
    for number, days in enumerate([1, 59, 61, 400]):
        (folder.parent / f"{number:032d}").mkdir(parents=True)
        used = time.time() - days * 86400
        os.utime(folder.parent / f"{number:032d}", (used, used))
    (folder.parent / "not ours").mkdir()
    kernel()(1)
    assert sorted(f.name[-8:] for f in folder.parent.iterdir()) == ["00000000", "00000001", "ffffffff", "not ours"]


def test_only_so_many_versions_are_kept(folder, monkeypatch):
    monkeypatch.setattr(disk_cache, "KEPT_FOLDERS", 3)
    for number in range(5):
        (folder.parent / f"{number:032d}").mkdir(parents=True)
        used = time.time() - 100 + number
        os.utime(folder.parent / f"{number:032d}", (used, used))
    kernel()(1)
    assert sorted(f.name[-1] for f in folder.parent.iterdir()) == ["3", "4", "f"]


def test_use_keeps_a_folder_young(folder):
    kernel()(1)
    os.utime(folder, (0, 0))
    disk_cache._mark_as_used.cache_clear()
    kernel()(1)
    assert time.time() - folder.stat().st_mtime < 86400


def test_a_kernel_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(dense_margins)) is dense_margins


def test_every_kernel_uses_this_cache():
    using_numbas = [f for f in SOURCE.rglob("*.py") if "njit" in f.read_text() and f.name != "compiled.py"]
    assert [f for f in using_numbas if f.name != "disk_cache.py"] == []
