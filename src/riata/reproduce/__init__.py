"""The experiment of *Learning Large Scale Sparse Models* (Dhingra, Shen, Kleene), done again from one command.

plan.py       which cells there are: fits, steps to be timed, processes to be weighed
fits.py       one fit: an algorithm in one reading, at one penalty or k, with one seed
timing.py     seconds of one step on rows made up for it
memory.py     peak memory of one algorithm in a process of its own
store.py      finished cells in a folder, so that a killed run goes on
work.py       cells shared by two processes
findings.py   what the cells say, averaged over seeds
tables.py     Tables 1 and 2 beside the paper's
figures.py    Figures 1 to 7 of the paper, and three that it lacks
claims.py     the paper's sentences, each with a verdict that follows from the numbers
page.py       all of it on one page
"""
