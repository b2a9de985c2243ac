"""Vowpal Wabbit's text and libffm's: as a slow reader reads them, however they are cut; maps of other files."""

import gzip
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riata
from riata.data.columns.maps import HashedMap, named_values
from riata.data.columns.strings import bucket_of, hashes_of
from riata.data.formats.files import find_files, sniff
from riata.data.formats.named_lines import Libffm, VowpalWabbit
from riata.data.formats.parsed_lines import begun_ahead, whole_lines
from riata.errors import DataError
from riata.kernels.csr import SOUND, worst_fault


def slow_vw(line):
    """(label, importance, base, tag, features) of a good line."""
    before, *spaces = line.split("|")
    words = before.split()
    tag = ""
    if words and (before.endswith(words[-1]) or words[-1].startswith("'")):
        tag = words.pop().removeprefix("'")
    label, importance, base = (
        float(words[i]) if i < len(words) else default for i, default in enumerate((np.nan, 1, 0))
    )
    features = []
    for space in spaces:
        named = bool(space) and not space[0].isspace()
        head, *rest = space.split() if named else ["", *space.split()]
        name, _, weight = head.partition(":")
        nameless = 0
        for word in rest:
            own, _, value = word.partition(":")
            number = float(value or 1) * float(weight or 1)
            if not own:
                own, nameless = str(nameless), nameless + 1
            if number:
                features.append((f"{name}^{own}" if name else own, number))
    return label, importance, base, tag, features


words = st.text(
    st.characters(codec="utf-8", exclude_characters=" \t\r\n|:'^\0", exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]),
    min_size=1,
    max_size=5,
)
numbers = st.sampled_from(["1", "-1", "0", "2.5", "1e-3", "+3", ".5", "-0.0"])
gaps = st.sampled_from([" ", "  ", "\t"])


@st.composite
def vw_lines(draw):
    line = " ".join(draw(st.lists(numbers, max_size=3)))
    line += " " if line else ""
    line += draw(st.sampled_from(["", "'", "'tag", "'tag ", "tag"]))
    for _ in range(draw(st.integers(1, 3))):
        line += "|" + draw(st.one_of(st.just(""), words)) if draw(st.booleans()) else "|"
        if not line.endswith("|") and draw(st.booleans()):
            line += ":" + draw(numbers)
        for _ in range(draw(st.integers(0, 3))):
            line += draw(gaps) + draw(st.one_of(words, st.just(":2")))
            if not line.endswith(":2") and draw(st.booleans()):
                line += ":" + draw(numbers)
        line += draw(st.sampled_from(["", " "]))
    return line


def read(kind, path, block_bytes, **options):
    source = kind(find_files(str(path)), block_bytes=block_bytes, **options)
    return pa.Table.from_batches(source.batches(source.schema.names, 100), source.schema).to_pylist()


@settings(max_examples=60)
@given(st.lists(vw_lines(), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_vowpal_wabbit_s_text_is_read_as_a_slow_reader_reads_it(tmp_path_factory, lines, end):
    path = tmp_path_factory.mktemp("vw") / "x.vw"
    path.write_bytes((end.join(lines)).encode())
    found = read(VowpalWabbit, path, 1 << 10)
    assert len(found) == len(lines)
    for row, line in zip(found, lines, strict=True):
        label, weight, base, tag, features = slow_vw(line)
        assert row["y"] == label or np.isnan(row["y"]) == np.isnan(label) == True  # noqa: E712
        assert (row["weight"], row["base"], row["tag"]) == (weight, base, tag)
        assert [name for name, _ in row["X"]] == [name for name, _ in features]
        assert [value for _, value in row["X"]] == pytest.approx([value for _, value in features], rel=1e-15)


def test_there_is_room_for_features_between_any_blanks(tmp_path):
    for blank in " \t\r":
        (tmp_path / "x.vw").write_bytes(f"1 |{'n' * 100}{blank}{blank.join(['a', ':3'] * 5000)}\n".encode())
        (row,) = read(VowpalWabbit, tmp_path / "x.vw", 1 << 20)
        assert len(row["X"]) == 10_000
        assert row["X"][-1] == ("n" * 100 + "^4999", 3.0)


def test_libffm_s_text_is_read_whatever_the_blocks(tmp_path, rng):
    rows = [
        [(f"{f}:{rng.integers(99)}", float(rng.integers(1, 9))) for f in range(rng.integers(0, 9))] for _ in range(300)
    ]
    lines = [" ".join([str(i), *(f"{name}:{value:g}" for name, value in row)]) for i, row in enumerate(rows)]
    (tmp_path / "x.ffm.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    for block in (1 << 7, 1 << 20):
        found = read(Libffm, tmp_path / "x.ffm.gz", block)
        assert [row["y"] for row in found] == list(range(300))
        assert [row["X"] for row in found] == rows


BAD = {
    "no bar": ("x.vw", b"1 | a\n1 a b\n", "x.vw, line 2: there is no |"),
    "a label that is no number": ("x.vw", b"1 | a\n\n1:2 3 | b\n", "line 3: before the first"),
    "four numbers": ("x.vw", b"1 2 3 4 | a\n", "line 1: before the first"),
    "a value that is no number": ("x.vw", b"1 | a:2 b:x\n", "line 1: .* not a number"),
    "a value of two": ("x.vw", b"1 | a:2:3\n", "line 1: .* not a number"),
    "a long namespace": ("x.vw", b"1 |" + b"n" * 101 + b" a\n", "line 1: .* namespace is longer"),
    "no UTF-8": ("x.vw", b"1 | a\n1 | \xc3\x28\n", "line 2: it is not UTF-8"),
    "a base": ("x.vw", b"1 1 0.5 | a\n", "line 1: .*offset='base'"),
    "an infinite value": ("x.vw", b"1 | a:1\n1 | b:1e999 c\n", "line 2: there is a number so large"),
    "an infinite product": ("x.vw", b"1 | a:1\n1 |n:1e300 b:1e300\n", "line 2: there is a number so large"),
    "an infinite label": ("x.vw", b"1 | a:1\n1e999 | b\n", "line 2: there is a number so large"),
    "an infinite importance": ("x.vw", b"1 | a:1\n1 1e999 | b\n", "line 2: the importance is no number of zero"),
    "an infinite value of libffm": ("x.ffm", b"1 1:a:1\n1 1:b:1e999\n", "line 2: there is a number so large"),
    "no target": ("x.ffm", b"1 1:2:3\nx 1:2:3\n", "x.ffm, line 2: a line must begin"),
    "no triple": ("x.ffm", b"1 1:2:3\n1 1:2\n", "line 2: .* field:index:value"),
    "no number": ("x.ffm", b"1 1:2:x\n", "line 1: .* not a number"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_lines_are_named_or_skipped(case, tmp_path):
    name, content, sentence = BAD[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        riata.open(tmp_path / name, task="regression")
    if "line" in sentence:
        (tmp_path / name).write_bytes(content + (b"2 | good\n" if name == "x.vw" else b"2 1:2:3\n"))
        data = riata.open(tmp_path / name, task="regression", on_error="skip")
        assert any(note.startswith("1 row could not be read") for note in data.profile.notes)
        assert data.targets()[0][-1] == 2


def test_importances_weigh_and_a_base_is_an_offset(tmp_path):
    (tmp_path / "x.vw").write_text("1 2 0.5 | a\n-1 3 0.25 | b\n | c\n")
    data = riata.open(tmp_path / "x.vw", offset="base")
    assert data.targets()[1].tolist() == [2.0, 3.0]
    (chunk,) = data.visit()
    assert chunk.offset.tolist() == [0.5, 0.25]
    assert any("1 of 3 rows are without a target" in note for note in data.profile.notes)


def log_of(rng, n=3000, levels=5000):
    """Lines of many names, two of which matter."""
    ad, count = rng.zipf(1.3, n) % levels, rng.poisson(2, n)
    z = 2.5 * (ad == 1) - 2.0 * (ad == 2) + 0.5 * count - 1.0
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-z)), 1, -1)
    return [f"{a} |n seen:{c} |c ad={b}" for a, b, c in zip(y, ad, count, strict=True)]


@pytest.mark.parametrize("solver", ["online", "sketch"])
def test_many_names_are_hashed_and_models_keep_those_they_use(solver, tmp_path, rng):
    (tmp_path / "x.vw").write_text("\n".join(log_of(rng)))
    data = riata.open(tmp_path / "x.vw", one_pass=True, max_levels=100, hash_bits=14, hashed=solver == "sketch")
    model = riata.train(data, riata.Spec(solver=solver, loss="logistic", k=3)).to_model()
    assert {"c^ad=1", "c^ad=2", "n^seen"} == {name.split("|")[0] for name in model.names}
    model.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_size < 4000
    again = riata.load_model(tmp_path / "model.json")
    (tmp_path / "new.vw").write_text("|n seen:3 |c ad=1 what\n|c ad=2\n|z z\n")
    p = again.predict_proba(tmp_path / "new.vw")[:, list(again.classes).index(1.0)]
    assert p[0] > p[2] > p[1]


@pytest.mark.parametrize("bits", [3, 12])
@pytest.mark.parametrize(("kind", "line"), [(VowpalWabbit, "1 |s {} |é :2 :3"), (Libffm, "1 {}")])
def test_names_that_were_hashed_as_they_were_read_are_those_of_their_letters(kind, line, bits, tmp_path, rng):
    n_names = [*rng.integers(0, 60, 30), 300]  # one row is long
    name = "a{}:2" if kind is VowpalWabbit else "4:{}:2"
    rows = [line.format(" ".join(name.format(i % 97) for i in rng.integers(0, 10**6, n))) for n in n_names]
    (tmp_path / "x").write_text("\n".join(rows))
    source = kind(find_files(str(tmp_path / "x")), block_bytes=1 << 20)
    plain, hashed = [], []
    for found in (plain, hashed):
        found.extend(batch.column("X") for batch in source.batches(["X"], 100))
        source.as_codes()
    for before, after in zip(plain, hashed, strict=True):
        names = named_values(before, "X").names
        assert np.array_equal(named_values(after, "X").given_hashes, hashes_of(names))
        assert before.keys == after.keys
        dense = np.zeros((len(before), 2**bits))
        of_row = np.repeat(np.arange(len(before)), np.diff(before.offsets.to_numpy()))
        np.add.at(dense, (of_row, bucket_of(hashes_of(names), bits)), before.items.to_numpy())
        encoder = HashedMap("X", bits, {})
        for X in (
            encoder.encode([after], np.float32),
            encoder.encode([after[:-1]], float),
            encoder.encode([before], float),
        ):
            assert np.array_equal(X.toarray(), dense[: X.shape[0]])
            assert worst_fault(X.indptr, X.indices, X.shape[1])[0] == SOUND


def test_maps_of_other_files_are_features(tmp_path):
    maps = [[("a", 1), ("b", 2)], [], [("a", 3)], [("c", 1), ("c", 4)]]
    table = pa.table({"m": pa.array(maps, pa.map_(pa.string(), pa.int32())), "y": [1.0, 2.0, 3.0, 4.0]})
    pq.write_table(table, tmp_path / "x.parquet")
    data = riata.open(tmp_path / "x.parquet", "y")
    assert list(data.feature_names) == ["m.a", "m.b", "m.c"]
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    assert X.tolist() == [[1, 2, 0], [0, 0, 0], [3, 0, 0], [0, 0, 5]]
    empty = pa.table({"m": pa.array([[("a", 1.0)], None], pa.map_(pa.string(), pa.float64())), "y": [1.0, 2.0]})
    with pytest.raises(DataError, match="row 2: 'm' has no map"):
        riata.open(empty, "y")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"1 |n a:1 b\n", "vowpal wabbit"),
        (b"-1 2.5 'tag | a b c\n", "vowpal wabbit"),
        (b"1 1:2:3 2:3:4\n", "libffm"),
        (b"1 2:3 3:4\n", "svmlight"),
        (b"1|2|3\n", "csv"),
        (b"a |b |c\n", "csv"),
        (b"1 | 2 | 3\n", "csv"),
    ],
)
def test_text_without_an_ending_is_known_by_its_first_line(line, kind):
    assert sniff(line, "rows") == kind


@pytest.mark.parametrize("at_once", [1, 2, 3])
@pytest.mark.parametrize("block", [2, 7, 64, 1000])
def test_blocks_that_are_kept_are_not_overwritten(at_once, block, rng):
    text = b"".join(b"x" * int(n) + b"\n" for n in rng.integers(0, 12, 200)) + b"the last"
    kept = begun_ahead(whole_lines(io.BytesIO(text), block, at_once), at_once)
    assert b"".join(piece.tobytes() for piece in kept) == text


def test_an_error_comes_behind_what_was_begun_before_it():
    def items():
        yield from range(5)
        raise DataError("torn")

    got = []
    with pytest.raises(DataError, match="torn"):
        got.extend(begun_ahead(items(), 2))
    assert got == [0, 1, 2, 3, 4]


def test_a_weight_below_zero_is_said_with_its_file_and_line(tmp_path):
    path = tmp_path / "rows.vw"
    path.write_text("1 |a b\n-1 |a c\n" * 50 + "1 -2 |a b\n")
    with pytest.raises(
        DataError, match=r"rows\.vw, line 101: the importance is no number of zero or more; correct the line"
    ):
        riata.train(riata.open(str(path), one_pass=True), riata.Spec(solver="online", loss="logistic"))
