"""`python -m riata`: the command line, where its own command is not on the path."""

from riata.cli.leaving import run

run()
