"""python -m fuzz: hostile files of all formats, for so many minutes, and a table of what came of them."""

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import platformdirs

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
    os.environ.setdefault(name, "1")  # before NumPy is imported: tries are small, and workers many
# Arrow's own allocator keeps the address space that it reserved for what a damaged file claims, which is limited here
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
# machine code is kept where it always is: the cache folder of a try is emptied before the next
os.environ.setdefault("NUMBA_CACHE_DIR", platformdirs.user_cache_dir("riata"))


def main() -> int:
    from fuzz.formats import catalogue
    from fuzz.tries import content
    from fuzz.workers import fuzz
    from fuzz.workshop import workshop

    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=None, help="how long")
    parser.add_argument("--tries", type=int, default=None, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="of all tries: the same ones for the same seed")
    parser.add_argument("--first", type=int, default=0, help="the number of the first try")
    parser.add_argument("--formats", default="", help="names, or beginnings of them, with commas")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, default=None, help="a folder for the files that went wrong")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="riata-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    try:
        every = catalogue(workshop(folder / "workshop"))
        wanted = tuple(filter(None, asked.formats.split(",")))
        formats = [one for one in every if not wanted or one.name.startswith(wanted)]
        minutes = 1.0 if asked.minutes is None and asked.tries is None else asked.minutes
        turns = [one for turn in range(10) for one in formats if turn < one.turns]
        report = fuzz(
            turns, asked.seed, folder, first=asked.first, tries=asked.tries,
            seconds=None if minutes is None else 60.0 * minutes, n_workers=asked.workers,
        )  # fmt: skip
        show(report)
        if asked.keep is not None:
            by_name = {one.name: one for one in formats}
            asked.keep.mkdir(parents=True, exist_ok=True)
            for failure in report.failures:
                one = by_name[failure.format]
                path = asked.keep / f"{failure.number}-{one.name.replace(' ', '-')}-{one.file}"
                path.write_bytes(content(one, asked.seed, failure.number))
        return 1 if report.failures else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def show(report) -> None:
    """The table of tries, then each way to fail with how often it was met and one example."""
    names = sorted({name for name, _ in report.counts})
    write(f"{'format':24} {'tries':>8} {'fine':>8} {'refused':>8} {'failed':>8}")
    for name in [*names, "all"]:
        of = Counter()
        for (format, kind), count in report.counts.items():
            if name in (format, "all"):
                of[kind] += count
        n = sum(of.values())
        write(f"{name:24} {n:8} {of['fine']:8} {of['refused']:8} {n - of['fine'] - of['refused']:8}")
    ways = Counter((f.format, f.verdict.kind, f.verdict.detail.split(": ")[0]) for f in report.failures)
    for (format, kind, where), count in ways.most_common():
        example = next(
            f
            for f in report.failures
            if (f.format, f.verdict.kind, f.verdict.detail.split(": ")[0]) == (format, kind, where)
        )
        write(f"{count:6} {format}: {kind} {example.verdict.detail} (try {example.number})")


def write(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
