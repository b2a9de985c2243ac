"""What libraries raise over bytes that are not as they should be: the doors of all formats catch these."""

import lzma
import re
import struct
import tokenize
import zipfile
import zlib

import pyarrow as pa

# ValueError stands for much: text that is not UTF-8, numbers out of range, headers of .npy files; riata's own errors
# about data are ValueErrors, too, and have to be let through first. RuntimeError: an archive with a password.
# SystemError: NumPy, over letters that there are not. TokenError: NumPy, over a header that it takes for an old one.
DAMAGE = (
    pa.ArrowException, OSError, EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError, MemoryError,
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, SystemError, tokenize.TokenError,
)  # fmt: skip
MOST_LETTERS = 200


def validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, if it is sound: Arrow does not check offsets and letters, which a damaged file may have wrong."""
    batch.validate(full=True)
    return batch


def reason_of(error: BaseException) -> str:
    """The message of a library's error as part of a sentence: one line, not long, without a full stop."""
    words = re.sub(r"\s+", " ", str(error)).strip(" .") or type(error).__name__
    return words if len(words) <= MOST_LETTERS else f"{words[:MOST_LETTERS]}..."
