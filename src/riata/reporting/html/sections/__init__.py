"""The parts of a report, a file each: facts in, a section of the page out, or None where there is nothing to tell."""
