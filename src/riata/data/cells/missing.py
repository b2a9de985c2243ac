"""Words that stand for a missing value."""

MISSING_WORDS = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "#N/A", "#NA", "<NA>", "-", "--", "?",
    ".",
)  # fmt: skip
