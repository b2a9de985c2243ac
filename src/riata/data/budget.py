"""How the memory budget is divided.

A chunk takes at most 1/32 of the budget. At any moment there are about a dozen arrays of that size: the chunks in use
on each core and the results of a pass over them, the chunk read ahead, the batch it is encoded from, and the batch
being decoded. Data that needs less than a quarter of the budget once encoded is loaded into memory.
"""

import math

import pyarrow as pa

from riata.errors import DataError, OptionError
from riata.machine import forget_code_of, free_arrays_at_once, resident_file_bytes, return_freed_memory
from riata.units import parse_bytes

DEFAULT_MEMORY = "512MB"
SMALLEST = 10**6
LARGE_ARRAY = 4 << 20  # bytes: the memory of larger ones is returned when they are freed
SMALL = 256 * 10**6  # bytes: of a smaller budget, nothing that was freed is kept
MOMENT = 1000  # milliseconds: as long as a few batches take, also on a busy machine
LARGEST_CHUNK = 64 << 20  # larger chunks save nothing
LARGEST_BLOCK = 4 << 20  # of a file read at once
BLOCKS_TOGETHER = 4  # in which Arrow parses that much; their rows are joined, as a batch of few costs as much
LOOK_COLUMN, TEXT_COLUMN = 7_500, 40_000  # bytes of a column of a text file: for a first look at it, and to read it
MOMENTS = 14  # vectors of a number for each feature, while the moments of two chunks are made and added to the others
SHARE_OF_VECTORS = 0.75  # for numbers of features; the rest is for rows, and for what is made of them
COMPILER = "llvmlite"  # of which a process that loads compiled code has read some 50 MB
LOADED = 10 << 20  # bytes of code that are worth to be forgotten
_early = False  # whether memory is returned early
_kept_of_files = 0  # bytes of files in memory when code was forgotten last
BUCKET_BYTES = 128  # of a hash bucket: what is learnt of it, and its name
MOST_WORDS_COUNTED, WORD_BYTES = 800_000, 128  # of a column of text, at a time; what one takes while it is counted


def parse_memory(memory: int | str | None) -> int:
    """The budget in bytes."""
    n_bytes = parse_bytes(DEFAULT_MEMORY if memory is None else memory) or 0
    if n_bytes < SMALLEST:
        raise OptionError(f"memory must be at least 1MB, not {memory}")
    return n_bytes


def return_memory_early(memory: int | str | None = None) -> None:
    """Let Arrow and NumPy return memory to the system at once: for riata's own processes (the command line).

    With a small budget that goes for smaller arrays, too: what malloc keeps of those that are freed, for others of
    their size, would be a share of it that counts. It costs time, since the system clears memory first: with a larger
    one, Arrow may use what it has freed for the next batch, a moment later.
    """
    if "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())
        pa.jemalloc_set_decay_ms(MOMENT if parse_memory(memory) >= SMALL else 0)
    else:
        pa.set_memory_pool(pa.system_memory_pool())
    free_arrays_at_once(min(parse_memory(memory) // 128, LARGE_ARRAY))
    global _early
    _early = True


def return_what_loading_took() -> None:
    """Return the memory that loading code has left behind since the last call, where `return_memory_early` was called.

    Much code is loaded for the first rows, and some when there are enough of them to sample, or the fit goes on.
    """
    global _kept_of_files
    if _early and resident_file_bytes() > _kept_of_files + LOADED:
        return_freed_memory()
        forget_code_of(COMPILER)
        _kept_of_files = resident_file_bytes()


def chunk_bytes(memory: int) -> int:
    """The largest size of the encoded rows of a chunk."""
    return min(memory // 32, LARGEST_CHUNK)


def wide_chunk_bytes(memory: int, n_features: int) -> int:
    """The largest size of a chunk that is a part of a file as it lies there: nothing is decoded and copied.

    Sums over rows so wide that a chunk has few of them are as large as it, and to make and add them would take longer
    than to read the rows.
    """
    return min(memory // 16, 4 * 8 * n_features)


def in_memory_bytes(memory: int) -> int:
    """The largest size of data that is loaded into memory as a whole."""
    return memory // 4


def block_bytes(memory: int) -> int:
    """How many bytes of a text file are parsed at once."""
    return min(max(memory // 64, 1 << 16), LARGEST_BLOCK if memory > SMALL else LARGEST_BLOCK // 2)


def parsed_bytes(block: int) -> int:
    """How many bytes Arrow parses at once; it has up to 32 such blocks at hand before they are parsed.

    A block that is too short for a row is followed by longer ones.
    """
    together = BLOCKS_TOGETHER if block > LARGEST_BLOCK // 2 else 4 * BLOCKS_TOGETHER
    return max(block // together, 1 << 16)


def check_text_columns(n_columns: int, each: int, memory: int, what: str) -> None:
    """Refuse more columns of text than there is memory for, before any of it is taken.

    Whatever they hold, Arrow's reader and the learners keep something for each column of each block at hand: with
    10,000 of them 195 to 360 MB were measured with a budget of 256 MB, the most beside other work, when blocks wait.
    """
    check_width(f"{what} {n_columns:,} columns of text", n_columns * each, memory, "write them as Parquet or .npy")


def check_width(what: str, need: float, memory: int, otherwise: str) -> None:
    """Refuse so many columns that to read them takes more than the memory, whatever they hold."""
    if need > memory:
        raise DataError(
            f"{what} takes about {in_words(need)}, more than the budget of {in_words(memory)}: give it more memory, "
            f"name fewer columns, or {otherwise}"
        )


def room_for_moments(n_features: int, memory: int | None) -> bool:
    """Whether the moments of so many columns can be found within the memory, where there is a limit."""
    return memory is None or least_for_vectors(n_features, MOMENTS) <= memory


def left_for_rows(memory: int, n_features: int, names: int) -> int:
    """The budget of rows, beside the names of features and the vectors of a number for each; a quarter at the least."""
    return max(memory - names - 8 * MOMENTS * n_features, memory // 4)


def least_for_vectors(n_features: int, vectors: float) -> float:
    """The least budget that has room for so many vectors of a number for each feature."""
    return 8 * n_features * vectors / SHARE_OF_VECTORS


def words_counted(memory: int) -> int:
    """How many words of a column of text are counted at a time."""
    return min(memory // 4 // WORD_BYTES, MOST_WORDS_COUNTED)


def buckets_of_crosses(memory: int) -> int:
    """How many hash buckets all crosses together may have; all pairs of some dozen columns are hundreds of crosses."""
    return memory // 4 // BUCKET_BYTES


def in_words(n_bytes: float) -> str:
    """1234567 -> '1.2 MB'."""
    units = ("bytes", "kB", "MB", "GB", "TB")
    power = min(int(math.log(max(n_bytes, 1.0), 1000)), len(units) - 1)
    return f"{n_bytes / 1000**power:.{min(power, 1)}f} {units[power]}"
