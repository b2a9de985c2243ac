"""What the columns of a text file mean, decided for all of them together: a file is written in one way."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from riata.data.cells.cell_format import CellFormat
from riata.data.cells.column_look import ColumnLook
from riata.data.cells.dates import DAY_FIRST, YEAR_FIRST, DateFormat
from riata.data.cells.numbers import PERCENT, PLAIN, NumberFormat

WHICH_FIRST = "csv={'dates': 'day first'} or csv={'dates': 'month first'}"


@dataclass
class Meaning:
    """What was decided."""

    formats: dict[str, CellFormat] = field(default_factory=dict)  # of columns that are not read as they stand
    codes: list[str] = field(default_factory=list)  # columns of digits that are names, not numbers
    refused: dict[str, str] = field(default_factory=dict)  # why a column cannot be read, before it is settled
    strays: dict[str, str] = field(default_factory=dict)  # a sentence about columns of numbers with words among them

    def notes(self, but: Collection[str] = ()) -> list[str]:
        """What a user should know of what was assumed, but of these columns."""
        said: dict[str, list[str]] = {}
        for name, one in self.formats.items():
            if one != PLAIN and name not in but:
                said.setdefault(one.said(), []).append(name)
        if self.codes:
            said["digits with zeros in front, as codes and not as numbers"] = self.codes
        return [f"{what} ({some(names)})" for what, names in said.items()]


def decide(looks: Mapping[str, ColumnLook], separator: str = ",") -> Meaning:
    """What these columns mean. What one of them leaves open, such as 1,391 or 01/02/2013, another may settle.

    What none settles means what it meant in the files of the model, if there is one. What the model and the file tell
    differently is refused.
    """
    found = Meaning()
    decimals = {one.decimal for look in looks.values() for one in _settled_numbers(look)}
    orders = {one.order for look in looks.values() for one in _settled_dates(look)} - {
        YEAR_FIRST
    }  # others tell nothing
    against = {look.name: why for look in looks.values() if (why := _contradicted(look, decimals, orders)) is not None}
    decimals = decimals or {one.decimal for look in looks.values() if isinstance(one := look.as_known(), NumberFormat)}
    usual = {"."} if separator == "," else set()  # who writes decimal commas divides columns by something else
    decimals = decimals or usual
    decimal = next(iter(decimals)) if len(decimals) == 1 else None
    order = orders.pop() if len(orders) == 1 else DAY_FIRST if decimal == "," and not orders else None
    for name, look in looks.items():
        if (pattern := look.as_asked()) is not None:
            found.formats[name] = pattern
        elif look.codes and look.numbers():
            found.codes.append(name)
        elif look.formats is None and look.known is not None:  # nothing was seen yet
            found.formats[name] = look.known
        elif name in against:
            found.refused[name] = against[name]
        elif (known := look.as_known()) is not None:
            found.formats[name] = known
        elif numbers := look.numbers():
            _decide_number(found, look, numbers, decimal)
        elif look.formats:
            _decide_other(found, look, look.formats, order)
        elif look.mixed_marks:
            found.refused[name] = (
                f"column {name!r} has numbers with different signs, or with and without % (such as {look.example!r}): "
                f"write them alike, declare it categorical, or drop it"
            )
        elif look.dates_apart:
            found.strays[name] = (
                f"column {name!r} has dates that are written in several ways, such as "
                f"{' and '.join(map(repr, look.dates_apart[:3]))}, which makes it one of levels: write them alike"
            )
        elif look.looks_like is not None:
            found.strays[name] = _about_strays(look)
    return found


def ambiguous(looks: Mapping[str, ColumnLook]) -> bool:
    """Whether numbers of some column may have a decimal comma: then those with a point are to be looked at, too."""
    return any(one.decimal == "," for look in looks.values() for one in look.numbers())


def note_of(how: Collection[str]) -> list[str]:
    """One note about how cells were read, if there is anything to say."""
    return [f"read with {'; '.join(how)} (csv={{...}} says otherwise)"] if how else []


def some(names: Collection[str], most: int = 4) -> str:
    """'a', 'b' and 3 more."""
    shown = [repr(name) for name in list(names)[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def _settled_numbers(look: ColumnLook) -> list[NumberFormat]:
    """The first format of a column whose decimal mark is certain: there is one, or numbers that exclude the other."""
    numbers = look.numbers()
    certain = len({one.decimal for one in numbers}) == 1
    return numbers[:1] if certain else []


def _settled_dates(look: ColumnLook) -> list[DateFormat]:
    dates = [one for one in look.formats or () if isinstance(one, DateFormat)]
    return dates[:1] if len({one.order for one in dates}) == 1 else []


def _contradicted(look: ColumnLook, decimals: Collection[str], orders: Collection[str]) -> str | None:
    """Why a column that may be read in two ways is not read as in the model's files: others of this file deny it."""
    if (why := _written_otherwise(look)) is not None:
        return why
    known = look.as_known()
    several = "which other columns of this file deny: say which"
    if isinstance(known, NumberFormat) and look.divided and decimals and known.decimal not in decimals:
        other = next(iter(decimals))
        return (
            f"column {look.name!r} has numbers such as {look.divided!r}, in which {known.decimal!r} was the decimal "
            f"mark when the model was made, {several} (csv={{'decimal': {known.decimal!r}}} or "
            f"csv={{'decimal': {other!r}}})"
        )
    if isinstance(known, DateFormat) and orders and known.order not in orders and not _settled_dates(look):
        return (
            f"column {look.name!r} has dates such as {look.example!r}, which were {known.order} when the model was "
            f"made, {several} ({WHICH_FIRST})"
        )
    return None


def _written_otherwise(look: ColumnLook) -> str | None:
    """Why a column cannot mean what it meant in the model's files: it is written so that it would be another thing."""
    numbers, dates = look.numbers(), [one for one in look.formats or () if isinstance(one, DateFormat)]
    if isinstance(look.known, NumberFormat) and numbers:
        then, now = look.known.unit, numbers[0].unit
        if then != now:
            return (
                f"column {look.name!r} has numbers such as {look.example!r}, {_with_unit(now, then)} where the "
                f"model learnt from numbers {_with_unit(then, now)}: write them as they were then"
            )
    orders = {one.order for one in dates}
    if isinstance(look.known, DateFormat) and orders and look.asked.dates is None and look.known.order not in orders:
        return (
            f"column {look.name!r} has dates that cannot be {look.known.order}, as they were when the model was made, "
            f"beside {look.example!r}: write them as they were then, or say how these are written "
            f"(csv={{'dates': '{dates[0].order}'}})"
        )
    return None


def _with_unit(unit: str, other: str) -> str:
    """The unit of a column in words; where it has none, that it is without the unit of the other."""
    called = {PERCENT: "a %"}
    return f"with {called.get(unit, unit)}" if unit else f"without {called.get(other, other)}"


def _decide_number(found: Meaning, look: ColumnLook, numbers: list[NumberFormat], decimal: str | None) -> None:
    both = len({one.decimal for one in numbers}) > 1
    plain = any((one.decimal, one.thousands) == (".", "") for one in numbers)
    if both and not plain and decimal is None:
        value = look.example
        found.refused[look.name] = (
            f"column {look.name!r} has numbers such as {value!r}, in which the comma may divide thousands or be a "
            f"decimal comma: say which (csv={{'decimal': ','}} or csv={{'thousands': ','}})"
        )
        return
    wanted = [one for one in numbers if one.decimal == (decimal or ".")]
    found.formats[look.name] = (wanted or numbers)[0]


def _decide_other(found: Meaning, look: ColumnLook, formats: list[CellFormat], order: str | None) -> None:
    dates = [one for one in formats if isinstance(one, DateFormat)]
    if len({one.order for one in dates}) < 2:
        found.formats[look.name] = formats[0]
        return
    order = DAY_FIRST if "." in look.example else order  # dots are written between day, month and year in that order
    if order is None:
        found.refused[look.name] = (
            f"column {look.name!r} has dates such as {look.example!r}, which may have the day or the month first: say "
            f"which ({WHICH_FIRST}), or drop the column"
        )
        return
    found.formats[look.name] = next(one for one in dates if one.order == order)


def _about_strays(look: ColumnLook) -> str:
    first = look.strays.most_common(1)[0][0]
    words = ", ".join(f"{word!r} ({count})" for word, count in look.strays.most_common())
    return (
        f"column {look.name!r} looks like {look.looks_like} but for {words} "
        f"of {look.n_values} values, which makes it one of levels: let such words count as missing "
        f"(csv={{'missing': [{first!r}]}})"
    )
