"""The fuzzing harness: damaged and hostile files of every format that riata reads, and what must come of them."""
