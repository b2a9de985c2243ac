"""A last row that sums up the others, as spreadsheets and programs of accounting write below their tables."""

import re

import pyarrow as pa

from riata.data.formats.filesource import is_text

TOTAL = re.compile(
    r"\s*((grand|sub)?[\s-]*total(e|en|es|s)?|sums?|summe|gesamt(summe)?|somme|suma|итого|всего|合计|总计|合計|総計)\s*:?\s*",
    re.IGNORECASE,
)


def note_on_total(batch: pa.RecordBatch) -> str | None:
    """What there is to say if the last row of these is called a total."""
    for field, column in zip(batch.schema, batch.columns, strict=True):
        word = column[-1].as_py() if batch.num_rows and is_text(field.type) else None
        if word is not None and TOTAL.fullmatch(word):
            return (
                f"the last row has {word!r} in column {field.name!r}: if it sums up the others, take it out of the data"
            )
    return None
