"""How many rows there are, for the time that is left, before anybody has read them."""

import gzip

import pytest

from riata.data.opening.sources import Reading, open_source

N = 5000


@pytest.mark.parametrize(
    ("name", "line"), [("rows.csv", "{},{}\n"), ("rows.jsonl", '{{"a": {}, "y": {}}}\n'), ("rows.svm", "{} 1:{}\n")]
)
def test_the_first_lines_of_text_tell(name, line, tmp_path):
    (tmp_path / name).write_text("".join(line.format(i % 7, i % 11) for i in range(N)))
    with gzip.open(tmp_path / f"{name}.gz", "wb") as packed:
        packed.write((tmp_path / name).read_bytes())
    plain, packed = (open_source(tmp_path / f"{name}{end}", Reading(1 << 29)).about_rows() for end in ("", ".gz"))
    assert plain == pytest.approx(N, rel=0.05)
    assert packed is None
