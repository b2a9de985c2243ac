"""A little of `python -m fuzz.arguments` with every run of the tests."""

import itertools

from fuzz.arguments import odd_arguments, tried


def test_odd_arguments_are_a_fit_or_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RIATA_CACHE", str(tmp_path / "cache"))
    found = list(itertools.islice(odd_arguments(20261117, tmp_path), 60))
    assert [(words, verdict) for words, verdict in found if not verdict.good] == []
    assert {verdict.kind for _, verdict in found} == {"fine", "refused"}


def test_other_ends_are_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("riata.cli.main", lambda words, prog_name: 1 / 0)
    assert tried(["fit"], tmp_path).kind == "traceback"
    monkeypatch.setattr("riata.cli.main", lambda words, prog_name: (_ for _ in ()).throw(SystemExit(2)))
    assert not tried(["fit"], tmp_path).good  # without a sentence
