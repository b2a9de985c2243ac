"""Words that stand for a missing value."""

MISSING_WORDS = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "#N/A", "#NA", "<NA>", "-", "--", "?",
    "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#NV", "#WERT!", "#BEZUG!", "#ZAHL!",
    ".", "k.A.", "k. A.", "k.a.", "k. a.",
)  # fmt: skip
