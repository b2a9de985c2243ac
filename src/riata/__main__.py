"""`python -m riata`: the command line, where its own command is not on the path."""

from riata.cli import main

main(prog_name="riata")
