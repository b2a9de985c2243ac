"""Compressed bytes, decompressed while they are read, by Arrow."""

import pyarrow as pa


class Decompressed(pa.CompressedInputStream):  # type: ignore[misc]
    """Arrow's `read` never gives back the memory for bytes that it then cannot decompress; `read_buffer` does.

    A process that is given damaged files for days would grow by that.
    """

    def read(self, n_bytes: int) -> bytes:
        content: bytes = self.read_buffer(n_bytes).to_pybytes()
        return content
