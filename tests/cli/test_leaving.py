"""The process of a command ends with its exit code, whatever Arrow's threads are about."""

import subprocess
import sys

READING = """
import io, sys, threading, time
import pyarrow as pa
import pyarrow.csv as pacsv
from riata.cli.leaving import leave

class Slow(io.RawIOBase):
    def readable(self):
        return True
    def read(self, n=-1):
        reading.set()
        time.sleep(0.05)
        return b"1,2\\n" * 1000

reading = threading.Event()
threading.Thread(target=lambda: list(pacsv.open_csv(pa.PythonFile(Slow(), "r"))), daemon=True).start()
reading.wait(60)
print("a last word")
leave(2)
"""


def test_threads_that_still_read_do_not_abort_the_process():
    """Where Python ends by itself, this is exit code 134 in most runs."""
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", READING], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (2, "a last word\n", "")
