"""What a new file takes the place of, and what it leaves alone."""

import os
import stat
import threading

import pytest

from riata.errors import OptionError
from riata.files import remove_stale, replacing, writable


def write(path, content=b"new"):
    with replacing(writable(path)) as file:
        file.write(content)


def test_a_link_stays_and_leads_to_the_new_content(tmp_path):
    (tmp_path / "folder").mkdir()
    there, link = tmp_path / "folder" / "there", tmp_path / "link"
    there.write_bytes(b"old")
    link.symlink_to("folder/there")
    before = there.stat().st_ino
    write(link)
    assert link.is_symlink()
    assert there.read_bytes() == b"new"
    assert there.stat().st_ino != before  # at once, not over the old content
    assert os.listdir(tmp_path / "folder") == ["there"]


def test_a_link_that_leads_nowhere_makes_its_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "there")
    write(tmp_path / "link")
    assert (tmp_path / "there").read_bytes() == b"new"
    (tmp_path / "lost").symlink_to(tmp_path / "absent" / "there")
    with pytest.raises(OptionError, match="no folder"):
        write(tmp_path / "lost")


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write(pipe)
    reader.join(120)
    assert read == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_to(tmp_path):
    (tmp_path / "null").symlink_to("/dev/null")
    write(tmp_path / "null")
    assert (tmp_path / "null").is_symlink()
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_are_kept(tmp_path, mode):
    path = tmp_path / "model.json"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


def test_a_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").touch()
    write(tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_an_error_leaves_the_old_file(tmp_path):
    (tmp_path / "there").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "there"):
        1 / 0  # noqa: B018
    assert (tmp_path / "there").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["there"]


def test_a_file_that_is_about_to_get_its_name_is_not_stale(tmp_path, monkeypatch):
    chmod = os.chmod

    def while_another_looks(path, mode):
        remove_stale(tmp_path)
        chmod(path, mode)

    monkeypatch.setattr(os, "chmod", while_another_looks)
    write(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_bytes() == b"new"
