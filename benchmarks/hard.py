"""riata against its peers where it is hard: small penalties, correlated or wide columns, standardised text.

    python benchmarks/hard.py --list
    python benchmarks/hard.py [--case genotypes "=golub Lasso, max/30"] [--solvers riata celer] [--limit 100] [--again]
        [--known 3]
        [--from docs/hard-solvers.md] [--out docs/hard.md] [--solvers-out docs/hard-solvers.md]
    python benchmarks/hard.py --cores 2 --case ... [--out docs/hard.md]

As `convex.py`, to the same certified gap, but in processor seconds on one core, so that other work on the machine
hardly counts; with `--cores 2` in seconds by the clock, and processor seconds beside them. A solver is stopped at the
limit, loading not counted, or where it can no longer be the fastest. Every result is kept in build/hard.json as soon as
it is there, and what is kept is not measured again: cases can be run one at a time, and a run that was stopped goes on.
The tables have all that is kept: `--out` has a line per case, `--solvers-out` one per case and solver that says of
which run it is; `--from` takes back what the latter has.
"""

import argparse
import json
import math
import os
import resource
import sys
import time
from pathlib import Path

if "--cores" not in sys.argv:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])

import convex
from pages import table, write_section

import problems

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "hard.json"
LIMIT = 100  # processor seconds
COMPILING = {"riata": 20, "skglm": 20}  # seconds to compile loops
STARTING, TRIES = 3, 10  # seconds of others, and times the fastest so far: a solver that takes longer is not faster
LARGER_ALPHA = "none at a larger alpha"
HEAD = f"""# Where it is hard: every solver

Written by `python benchmarks/hard.py --solvers-out docs/hard-solvers.md`, whose cases and rules
[Where it is hard](hard.md) tells. Times are processor seconds on one core, the first in a fresh process (where loops
may be compiled) and the best of up to three more. What stands behind > was too little for a certified gap of
{convex.TARGET:g}: the seconds of the last answer, at a tolerance that was too loose, or those that had been spent on
the next when the solver was stopped. The last column says of which day and revision a line is.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default=[""], nargs="*", help="cases whose name contains one of these; with =, is it")
    parser.add_argument("--solvers", default=[], nargs="*", help="these alone, also where they failed before")
    parser.add_argument("--limit", type=int, default=LIMIT, help="processor seconds of a solver on a case")
    parser.add_argument("--tries", type=int, default=TRIES, help="times the fastest so far that a solver may take")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument(
        "--known",
        type=float,
        default=0.0,
        help="times riata's seconds: a peer may take that for an answer of a tolerance",
    )
    parser.add_argument("--again", action="store_true", help="measure anew what is kept")
    parser.add_argument("--list", action="store_true", help="name the cases, and do nothing")
    parser.add_argument(
        "--from", type=Path, dest="table", help="take back what the table in this file has and is not kept"
    )
    parser.add_argument("--out", type=Path, help="write a line for each case that is kept into this page")
    parser.add_argument("--solvers-out", type=Path, help="write a line for each case and solver to this Markdown file")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    convex.clock = time.process_time if options.cores == 1 else time.perf_counter
    convex.LIMIT, convex.LAST = (math.inf, 3600) if options.known else (options.limit, max(600, 20 * options.limit))
    problems.BENCHMARKS = problems.HARD
    if options.measure:
        number, solver = int(options.measure[0]), options.measure[1]
        problems.load(problems.HARD[number])
        _stop_after(options.limit * options.cores)
        if options.known:
            convex.before_answer = lambda: _stop_after(options.limit)
        convex.measure(number, solver)
        return
    if options.list:
        print(*(benchmark.name for benchmark in problems.HARD), sep="\n")
        return
    if options.table:
        _take_back(options.table, options.cores)
    for number, benchmark in enumerate(problems.HARD):
        if any(_asked(benchmark.name, case) for case in options.case):
            _measured(number, benchmark, options)
    kept = _kept()
    rows = [(one.name, _in_order(_results(kept, one, options.cores))) for one in problems.HARD]
    rows = [(name, results) for name, results in rows if results]
    by_case = _by_case(rows, kept) if options.cores == 1 else _by_the_clock(rows)
    if options.out:
        section = "cases" if options.cores == 1 else "cases on two cores"
        write_section(options.out, section, f"{_about()}\n\n{by_case}")
    if options.solvers_out:
        options.solvers_out.write_text(f"{HEAD}\n{_about()}\n\n{convex.measurements(rows)}\n")
    print(by_case)


def _about():
    from peers import missing

    return " ".join([convex.machine(), *missing()])


def _stop_after(seconds):
    """End this process after so many more processor seconds: whoever waits for it has what it told until then."""
    spent = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds + 1, resource.RLIM_INFINITY))


def _asked(name, case):
    return name == case[1:] if case.startswith("=") else case in name


def _kept():
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def _keep(name, cores, found):
    """Add results to those kept of a case: read anew, since another run may have added some."""
    kept = _kept()
    kept.setdefault(_key(name, cores), {}).update({result["solver"]: result for result in found})
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(kept, indent=1))


def _key(name, cores):
    return f"{name}, {cores} cores"


def _results(kept, benchmark, cores):
    return kept.get(_key(benchmark.name, cores), {})


def _in_order(results):
    from peers import SOLVERS

    return [results[solver] for solver in SOLVERS if solver in results]


def _measured(number, benchmark, options):
    """Measure all solvers of a case that are not kept, each in its own process, and keep what they say."""
    from peers import offered

    for solver in offered(benchmark):
        kept = _kept()
        results = _results(kept, benchmark, options.cores)
        limit = _limit(solver, results, options)
        each = ["--known", str(options.known)] if options.known else []
        if options.known and solver != "riata":
            left_out = _is_known(results, solver, options.known)
        elif options.solvers:  # those are asked, whatever came of larger alphas
            left_out = solver not in options.solvers or (solver in results and not options.again)
        else:
            gave_up = _gave_up(kept, benchmark, solver, options.cores)
            left_out = gave_up or (solver in results and not options.again)
        if left_out:
            continue
        result = convex.run(number, solver, ["--limit", str(limit), *each, *_cores(options.cores)])
        if options.known:
            result["spent"] = COMPILING.get(solver, 0)  # of the limit of the answer in which it was stopped
        _keep(benchmark.name, options.cores, [{**result, "limit": limit, "run": problems.run_name()}])
        print(f"{benchmark.name:45} {solver:14} {result['warm']} s  gap {result['gap']}", flush=True)


def _cores(number):
    return [] if number == 1 else ["--cores", str(number)]


def _limit(solver, results, options):
    """Seconds for a solver to be the fastest: it may compile, and try a few tolerances; or those for one answer."""
    ours = results.get("riata")
    if options.known and solver != "riata" and ours is not None and convex.certified(ours):
        return math.ceil(COMPILING.get(solver, 0) + options.known * ours["warm"])
    known = [r["warm"] for r in results.values() if convex.certified(r)]
    needed = COMPILING.get(solver, STARTING) + options.tries * min(known, default=options.limit)
    return min(options.limit, round(needed))


def _is_known(results, solver, times):
    """Whether a peer is certified, fails, or has spent so many times riata's seconds on an answer that was not good
    enough."""
    ours, its = results.get("riata"), results.get(solver)
    if ours is None or not convex.certified(ours):
        return True
    if its is None:
        return False
    return convex.certified(its) or "failed" in its or convex.at_least(its) >= times * ours["warm"]


def _gave_up(kept, benchmark, solver, cores):
    """Whether the solver was not certified at a larger alpha of the same problem."""
    for other in problems.HARD:
        same = (other.data, other.loss, other.path) == (benchmark.data, benchmark.loss, benchmark.path)
        found = _results(kept, other, cores).get(solver)
        if same and other.ratio < benchmark.ratio and found is not None and not convex.certified(found):
            return True
    return False


def _take_back(path, cores):
    """Keep the results of a table that was written before, where there are none kept yet."""
    kept, columns = _kept(), []
    for line in path.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[:2] == ["problem", "solver"]:
            columns = cells
        elif len(cells) == len(columns) and not cells[1].startswith("-"):
            row = dict(zip(columns, cells, strict=True))
            name, solver = row["problem"], row["solver"]
            if solver not in kept.get(_key(name, cores), {}):
                _keep(name, cores, [_result(row)])


def _result(row):
    """A line of the table as it was kept; > stands before seconds that were too few, and words are why it failed."""
    seconds = row["warm s"]
    if seconds == convex.NEVER:
        return {**_result({**row, "warm s": f"> {row['first s']}"}), "never": True}
    if not _without_mark(seconds).replace(".", "").isdigit():
        return {"solver": row["solver"], "warm": None, "gap": None, "failed": seconds, "run": row.get("run", "earlier")}
    numbers = {"first": "first s", "warm": "warm s", "gap": "certified gap", "peak_mb": "peak MB"}
    found = {key: float(_without_mark(row[column])) if row[column] else None for key, column in numbers.items()}
    if seconds != _without_mark(seconds) and found["gap"] is not None and found["gap"] <= convex.CERTIFIED:
        found["gap"] = 1.01 * convex.CERTIFIED  # as it was written it is rounded, and was not good enough
    counts = {key: int(row[key]) if row[key] else None for key in ("features", "passes")}
    return {"solver": row["solver"], **found, **counts, "run": row.get("run", "earlier")}


def _without_mark(seconds):
    return seconds.removeprefix("> ")


def _by_case(rows, kept):
    """What the table says, and the table."""
    by_name = {benchmark.name: benchmark for benchmark in problems.HARD}
    not_run = {name: _not_run(kept, by_name[name]) for name, _ in rows}

    def without(name, asked):
        if asked:
            return "none in time"
        return LARGER_ALPHA if _gave_up_all(kept, by_name[name]) else "not run"

    said = "\n".join(_counts(rows, kept))
    return f"{said}\n\n{convex.summary(rows, without, not_run)}"


def _peers(benchmark):
    from peers import offered

    return [solver for solver in offered(benchmark) if solver != "riata"]


def _not_run(kept, benchmark):
    """Peers of which nothing is known: neither measured, nor left out for what they did at a larger alpha."""
    known = _results(kept, benchmark, 1)
    return [one for one in _peers(benchmark) if one not in known and not _gave_up(kept, benchmark, one, 1)]


def _gave_up_all(kept, benchmark):
    return any(_gave_up(kept, benchmark, solver, 1) for solver in _peers(benchmark))


def _counts(rows, kept):
    """What the table says, in numbers."""
    by_name = {benchmark.name: benchmark for benchmark in problems.HARD}
    ratios, bounds, larger, nothing, late = {}, {}, [], [], []
    for name, results in rows:
        ours, best = convex.compared(results)
        asked = [convex.at_least(r) for r in convex.peers_that_ran(results)]
        if ours is None:
            late.append(name)
        elif best is not None:
            ratios[name] = best["warm"] / ours["warm"]
        elif asked:
            bounds[name] = min(asked) / ours["warm"]
        else:
            (larger if _gave_up_all(kept, by_name[name]) else nothing).append(name)
    slower = sorted((ratio, name) for name, ratio in ratios.items() if ratio < 1.0)
    least = ", ".join(f"{name} {ratios[name]:.2f}" for name in sorted(ratios, key=ratios.get)[:3])
    yield f"{len(rows)} of {len(problems.HARD)} cases have been run with riata."
    yield f"In {len(ratios)} a peer is certified, too. riata is slower in {len(slower)} of them, and 3 times as fast in"
    yield f"{_three(ratios)}. The least ratios: {least}."
    yield f"In {len(bounds)} no peer gets there in time. By what they had spent riata is 3 times as fast in"
    yield f"{_three(bounds)} of them."
    if larger:
        yield f"In {len(larger)} none was asked that had not failed at a larger alpha."
    if nothing:
        yield f"In {len(nothing)} no peer was run: {'; '.join(nothing)}."
    if late:
        yield f"riata itself is not in time in {len(late)}: {'; '.join(late)}."
    whole = sum(not _not_run(kept, by_name[name]) for name, _ in rows)
    yield f"Every peer was asked, or had not got there at a larger alpha, in {whole}."


def _three(ratios):
    return sum(ratio >= 3.0 for ratio in ratios.values())


def _by_the_clock(rows):
    """Seconds by the clock, and riata's of all cores together, beside the fastest certified peer's."""
    lines = []
    for name, results in rows:
        ours, best = convex.compared(results)
        if ours is None:
            continue
        its = [best["solver"], convex.shown(best["warm"]), f"{best['warm'] / ours['warm']:.1f}"] if best else [""] * 3
        lines.append([name, convex.shown(ours["warm"]), convex.shown(ours["processor"]), *its])
    return table(["problem", "riata s", "its processor s", "fastest peer", "its s", "ratio"], lines)


if __name__ == "__main__":
    main()
