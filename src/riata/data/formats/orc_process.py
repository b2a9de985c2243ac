"""Reads the ORC file that is its standard input, and writes rows to its standard output as a stream of Arrow.

It is run as a script, in a process of its own, because Arrow's reader of ORC crashes over some damaged files. So it
imports nothing of riata.
"""

import json
import os
import signal
import sys
from collections.abc import Sequence

import pyarrow as pa
from pyarrow import orc


def main(columns: Sequence[str] | None, stripes: tuple[int, int] | None, rows: int) -> None:
    """These columns of the stripes from one up to another, in batches of so many rows; without columns the schema.

    Its metadata say how many stripes and rows the file has.
    """
    file = orc.ORCFile(pa.PythonFile(sys.stdin.buffer, "r"))
    sizes = {"stripes": str(file.nstripes), "rows": str(file.nrows)}
    if columns is None:
        pa.ipc.new_stream(sys.stdout.buffer, file.schema.with_metadata(sizes)).close()
        return
    schema = pa.schema([file.schema.field(name) for name in columns])
    with pa.ipc.new_stream(sys.stdout.buffer, schema) as out:
        for i in range(*(stripes or (0, file.nstripes))):
            stripe = file.read_stripe(i, columns=list(columns))
            out.write_table(pa.Table.from_batches([stripe]).cast(schema), max_chunksize=rows)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends when nobody reads what it writes
    try:
        main(*json.loads(sys.argv[1]))
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(0)  # nobody wants more; an ordinary end would try to write the rest
    except Exception as error:  # whatever it is, it is said of the file
        sys.stderr.write(str(error) or type(error).__name__)
        sys.exit(1)
