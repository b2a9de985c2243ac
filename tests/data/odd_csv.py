"""A catalogue of CSV files as the world writes them, each with what should be made of it.

All have the rows of one clean table: a number `a`, a number `b`, some columns of their own, and y = 2 a - 3 b + 1, so
that a model fitted to any of them must have the coefficients of the clean file.
"""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np

N_ROWS = 60
_rng = np.random.default_rng(7)
A = (100 * _rng.normal(size=N_ROWS)).round(2)
B = (100 * _rng.normal(size=N_ROWS)).round(2)
A[:3], B[:3] = (0.69, -12.5, 7.25), (1391.0, 2101.33, -1234567.25)
Y = (2 * A - 3 * B + 1).round(2)
DAYS = [datetime(2013, 1, 5) + timedelta(days=7 * i, hours=i % 24, minutes=i % 60) for i in range(N_ROWS)]
EARLY = [datetime(2013, 1 + i % 12, 1 + i % 12) for i in range(N_ROWS)]  # may be read day first or month first


@dataclass(frozen=True)
class Odd:
    """A file, and the answer it should give."""

    content: bytes
    features: Sequence[str] = ("a", "b")  # that must be there; coefficients are compared for a and b
    notes: Sequence[str] = ()  # parts of the notes, in any order
    csv: dict[str, Any] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)  # of columns in the profile
    name: str = "rows.csv"
    drop: Sequence[str] = ()
    missing: dict[str, int] = field(default_factory=dict)
    coefficients: bool = True
    exactly: bool = True  # whether there are no other features


def point(x: float) -> str:
    return f"{x:.2f}"


def comma(x: float) -> str:
    return point(x).replace(".", ",")


def thousands(x: float) -> str:
    return f"{x:,.2f}"


def continental(x: float) -> str:
    return thousands(x).translate(str.maketrans(",.", ".,"))


def text(
    number: Callable[[float], str] = point,
    *,
    sep: str = ",",
    header: Sequence[str] | None = ("a", "b", "y"),
    more: dict[str, Sequence[str]] | None = None,
    end: str = "\n",
    after: str = "",
    quoting: int = csv.QUOTE_MINIMAL,
    index: Sequence[str] = (),
) -> str:
    """The table as text."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sep, lineterminator=after + end, quoting=quoting)
    more = more or {}
    columns = [*([index] if index else []), *([number(x) for x in column] for column in (A, B)), *more.values(),
               [number(x) for x in Y]]  # fmt: skip
    if header is not None:
        writer.writerow([*header[: -1 if more else None], *more, *([header[-1]] if more else [])])
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue()


def odd(content: str, encoding: str = "utf-8", **answer: Any) -> Odd:
    return Odd(content.encode(encoding), **answer)


NEWLINES = [f'line {i}\nand, "another"\n' for i in range(N_ROWS)]
CITIES = ["Zürich", "Genève", "Köln"] * (N_ROWS // 3)
SMOKES = ["yes", "No"] * (N_ROWS // 2)
CLEAN = odd(text())

FILES: dict[str, Odd] = {
    "clean": CLEAN,
    "tabs": odd(text(sep="\t"), name="rows.tsv"),
    "tabs in a .csv": odd(text(sep="\t"), notes=["tabs between cells"]),
    "bars": odd(text(sep="|"), notes=["'|' between cells"]),
    "semicolons": odd(text(sep=";"), notes=["';' between cells"]),
    "decimal commas": odd(text(comma, sep=";"), notes=["';' between cells", "decimal commas ('a', 'b', 'y')"]),
    "decimal commas in quotes": odd(text(comma), notes=["decimal commas"]),
    "decimal commas between tabs": odd(text(comma, sep="\t"), name="rows.tsv", notes=["decimal commas"]),
    "thousands": odd(text(thousands), notes=["thousands divided by ',' ('b', 'y')"]),
    "thousands, said": odd(text(thousands), csv={"thousands": ","}, notes=["thousands divided by ','"]),
    "continental": odd(text(continental, sep=";"), notes=["decimal commas and thousands divided by '.'"]),
    "spaces in thousands": odd(
        text(lambda x: thousands(x).replace(",", " ").replace(".", ","), sep=";"),
        notes=["decimal commas and thousands divided by ' '"],
    ),
    "swiss": odd(text(lambda x: thousands(x).replace(",", "'")), notes=['thousands divided by "\'"']),
    "dollars": odd(text(lambda x: f"${thousands(x)}".replace("$-", "-$")), notes=["amounts in $"]),
    "accountants' dollars": odd(text(lambda x: f"(${-x:,.2f})" if x < 0 else f"${x:,.2f}"),
                                notes=["thousands divided by ',' and amounts in $ and (5) for -5"]),
    "accountants' numbers": odd(text(lambda x: f"({-x:.2f})" if x < 0 else point(x)), notes=["(5) for -5"]),
    "minus behind": odd(text(lambda x: comma(abs(x)) + ("-" if x < 0 else ""), sep=";"),
                        notes=["decimal commas and 5- for -5"]),
    "minus and euros behind": odd(text(lambda x: continental(abs(x)) + ("-" if x < 0 else "") + " €", sep=";"),
                                  notes=["amounts in € and 5- for -5"]),
    "minus of typesetters": odd(text(lambda x: point(x).replace("-", "\u2212")), notes=["\u22125 for -5"]),
    "dash of word processors": odd(text(lambda x: point(x).replace("-", "\u2013")), notes=["\u22125 for -5"]),
    "a separator line for Excel": odd("sep=;\r\n" + text(sep=";", end="\r\n"), notes=["';' between cells"]),
    "errors of Excel": odd(text(more={"c": ["1", "#DIV/0!", "2", "#REF!"] * (N_ROWS // 4)}), exactly=False,
                           kinds={"c": "number"}),
    "codes in brackets": odd(text(more={"area": ["(212)", "(415)", "(617)"] * (N_ROWS // 3)}), exactly=False,
                             kinds={"area": "category"}),
    "euros behind": odd(text(lambda x: continental(x) + " €", sep=";"), notes=["amounts in €"]),
    "euros in windows-1252": odd(
        text(lambda x: continental(x) + " €", sep=";"), "windows-1252", notes=["windows-1252 letters", "amounts in €"]
    ),
    "percentages": odd(text(lambda x: f"{x:.2f}%"), notes=["percentages, 34% as 34"]),
    "quoted newlines": odd(text(more={"t": NEWLINES}), drop=["t"]),
    "all quoted": odd(text(quoting=csv.QUOTE_ALL)),
    "byte-order mark": odd(text(), "utf-8-sig"),
    "latin-1": odd(text(more={"city": CITIES}), "latin-1", notes=["latin-1 letters"], exactly=False,
                   features=["a", "b", "city=Genève", "city=Köln", "city=Zürich"]),
    "utf-16": odd(text(more={"city": CITIES}), "utf-16", notes=["utf-16 letters"], exactly=False,
                  features=["a", "b", "city=Köln"]),
    "utf-16 with a mark and the order of its bytes": odd("\ufeff" + text(), "utf-16-le",
                                                         csv={"encoding": "utf-16-le"}),
    "utf-16 without a mark": odd(text(), "utf-16-le", notes=["utf-16-le letters"]),
    "latin-1, said": odd(text(more={"city": CITIES}), "latin-1", csv={"encoding": "latin-1"}, exactly=False,
                         features=["a", "b", "city=Genève"]),
    "windows line ends": odd(text(end="\r\n")),
    "old line ends": odd(text(end="\r")),
    "empty lines": odd("\n\n" + text(end="\n\n")),
    "missing words": odd(
        text(more={"c": ["1", "-", "?", "NA", "N/A", "null", "", "2", "k.A.", "<NA>"] * (N_ROWS // 10)}),
        features=["a", "b", "c", "c=(missing)"], kinds={"c": "number"}, missing={"c": 48},
    ),
    "words said to be missing": odd(
        text(more={"c": ["1", "on request", "2", "3"] * (N_ROWS // 4)}), csv={"missing": ["on request"]},
        features=["a", "b", "c", "c=(missing)"], kinds={"c": "number"}, missing={"c": 15},
    ),
    "yes and no": odd(text(more={"smokes": SMOKES}), features=["a", "b", "smokes"], kinds={"smokes": "number"},
                      notes=["yes or no, as 1 and 0 ('smokes')"]),
    "dates day first": odd(text(more={"d": [f"{d:%d/%m/%Y}" for d in DAYS]}), kinds={"d": "date"}, exactly=False,
                           notes=["dates day first ('d')"], features=["a", "b", "d.days"]),
    "dates month first": odd(text(more={"d": [f"{d:%m/%d/%Y}" for d in DAYS]}), kinds={"d": "date"}, exactly=False,
                             notes=["dates month first ('d')"], features=["a", "b", "d.days"]),
    "dates with dots": odd(text(more={"d": [f"{d:%d.%m.%y}" for d in EARLY]}), kinds={"d": "date"}, exactly=False,
                           notes=["dates day first ('d')"]),
    "dates and times": odd(text(more={"d": [f"{d:%d/%m/%Y %H:%M}" for d in DAYS]}), kinds={"d": "date"}, exactly=False,
                           notes=["dates day first"], features=["a", "b", "d.days", "d.hour=3"]),
    "american times": odd(text(more={"d": [f"{d:%m/%d/%Y %I:%M %p}" for d in DAYS]}), kinds={"d": "date"},
                          exactly=False, notes=["dates month first"], features=["a", "b", "d.days", "d.hour=15"]),
    "names of months": odd(text(more={"d": [f"{d:%d-%b-%Y}" for d in DAYS]}), kinds={"d": "date"}, exactly=False,
                           notes=["dates day first"]),
    "either date, said": odd(text(more={"d": [f"{d:%d/%m/%Y}" for d in EARLY]}), kinds={"d": "date"}, exactly=False,
                             csv={"dates": "month first"}, notes=["dates month first"]),
    "either date, settled by another column": odd(
        text(more={"d": [f"{d:%d/%m/%Y}" for d in EARLY], "e": [f"{d:%d/%m/%Y}" for d in DAYS]}),
        kinds={"d": "date", "e": "date"}, notes=["dates day first ('d', 'e')"], exactly=False,
    ),
    "seconds since 1970": odd(text(more={"created_at": [str(int(d.timestamp())) for d in DAYS]}), exactly=False,
                              kinds={"created_at": "date"}, notes=["seconds since 1970, as dates ('created_at')"]),
    "days as whole numbers": odd(text(more={"date": [f"{d:%Y%m%d}" for d in DAYS]}), exactly=False,
                                 kinds={"date": "date"}, notes=["dates year first ('date')"],
                                 features=["a", "b", "date.days"]),
    "numbers that are no days": odd(text(more={"date": [str(20130100 + i) for i in range(N_ROWS)]}),
                                    features=["a", "b", "date"], kinds={"date": "number"}),
    "seconds, said": odd(text(more={"t": [str(int(d.timestamp())) for d in DAYS]}), csv={"epoch": ["t"]},
                         kinds={"t": "date"}, exactly=False),
    "index of pandas": odd(text(header=("", "a", "b", "y"), index=[str(i) for i in range(N_ROWS)]),
                           notes=["the first column has no name and numbers the rows: left out"]),
    "row names of R": odd(text(index=[str(i + 1) for i in range(N_ROWS)], quoting=csv.QUOTE_ALL),
                          notes=["numbers the rows: left out"]),
    "the same name twice": odd(text(more={"a": ["1", "2", "4"] * (N_ROWS // 3)}), features=["a", "b", "a.1"],
                               notes=["a number behind them: 'a.1'"]),
    "a separator at the end": odd(text(after=","), notes=["rows end with a separator"]),
    "a separator at the end of rows only": odd(text(after=",").replace("a,b,y,", "a,b,y", 1),
                                               notes=["rows end with a separator"]),
    "comments": odd("# made by a machine\n# in 2013\n" + text(), notes=["comments after '#'"]),
    "header in a comment": odd("# by a machine\n# " + text(), notes=["those of the comment before the rows"]),
    "comments that are no header": odd("# made, in, 2013\n" + text(), notes=["comments after '#'"]),
    "comments among rows": odd("# made by a machine\n" + text().replace("\n", "\n# a remark\n", 9),
                               notes=["comments after '#'"]),
    "comments as wide as rows": odd("# by a machine\n" + text().replace("\n", "\n # 1,2,3\n#a,b,c\n", 9),
                                    notes=["comments after '#'"]),
    "remarks among rows": odd(text().replace("\n", "\n# a remark\n", 9), notes=["comments after '#'"]),
    "hexadecimal codes": odd(text(more={"h": [hex(10 + i % 3) for i in range(N_ROWS)]}), exactly=False,
                             features=["a", "b", "h=0xa"], kinds={"h": "category"},
                             notes=["as codes and not as numbers"]),
    "lines to skip": odd("made by a machine\n\nin 2013, on a Monday\n" + text(), csv={"skip": 3}),
    "units under the names": odd(text().replace("\n", "\nm,kg,EUR\n", 1),
                                 notes=["line 2 looks like units (m, kg, EUR): left out"]),
    "units of percentages": odd(text(lambda x: f"{x:.2f}%", more={"c": ["u", "v"] * 30}).replace("\n", "\nm,,,kg\n", 1),
                                exactly=False, notes=["line 2 looks like units (m, kg): left out"]),
    "units, said": odd(text(more={"c": ["u", "v"] * (N_ROWS // 2)}).replace("\n", "\n1,2,w,3\n", 1), exactly=False,
                       csv={"units": "yes"}, features=["a", "b", "c=v"]),
    "no header": odd(text(header=None), notes=["no names: the columns are called x0 to x2"], features=["x0", "x1"],
                     coefficients=False),
    "no header, said": odd(text(header=None), csv={"header": False}, features=["x0", "x1"], coefficients=False),
    "numbers as names": odd(text(header=("2013", "2014", "y")), features=["2013", "2014"], coefficients=False),
    "names with spaces": odd(text(header=("a", " b", " y"))),
    "codes with zeros": odd(text(more={"zip": [f"{2134 + i % 3:05d}" for i in range(N_ROWS)]}), exactly=False,
                            features=["a", "b", "zip=02134"], kinds={"zip": "category"},
                            notes=["digits with zeros in front, as codes and not as numbers ('zip')"]),
    "words among numbers": odd(text(more={"c": [str(i) if i % 20 else "unknown" for i in range(N_ROWS)]}),
                               exactly=False, notes=["'c' looks like numbers but for 'unknown' (3) of 60 values"],
                               coefficients=False),
    **{
        f"a word among {what}": odd(
            text(sep=sep, number=number, more={"c": [number(a) for a in A[1:]] + ["pending"]}), exactly=False,
            notes=["'c' looks like numbers but for 'pending' (1) of 60 values"],
        )
        for what, sep, number in (
            ("dollars", ",", lambda x: f"-${thousands(-x)}" if x < 0 else f"${thousands(x)}"),
            ("accountants' dollars", ",", lambda x: f"(${thousands(-x)})" if x < 0 else f"${thousands(x)}"),
            ("percentages", ",", lambda x: f"{x:.2f}%"), ("euros", ";", lambda x: continental(x) + " €"),
            ("decimal commas", ";", comma), ("swiss numbers", ",", lambda x: thousands(x).replace(",", "'")),
        )
    },
    "a day that is none": odd(text(more={"d": [f"{d:%d/%m/%Y}" for d in DAYS[1:]] + ["31/02/2014"]}), exactly=False,
                              notes=["'d' looks like dates but for '31/02/2014' (1) of 60 values"], coefficients=False),
}  # fmt: skip
