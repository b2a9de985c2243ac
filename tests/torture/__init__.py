"""Commands that are killed, asked to end, or run on full disks, at random moments: `python -m torture`."""
