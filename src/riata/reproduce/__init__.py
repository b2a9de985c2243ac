"""The experiment of *Learning Large Scale Sparse Models* (Dhingra, Shen, Kleene), done again from one command.

| file | what |
| --- | --- |
| paper | the paper's grid and its two tables |
| algorithms | its eight algorithms in two readings, and riata's own, as options of a fit |
| plan | which cells there are: fits, steps to be timed, processes to be weighed |
| rows | the data |
| fits, timing, memory | the three kinds of cells, each with how it is run |
| store, work | finished cells in a folder; the others shared by two processes |
| findings | what the cells say, averaged over seeds: where all numbers below come from |
| tables, figures, claims | Tables 1 and 2, the figures as data, the paper's sentences with verdicts |
| sheets, words | tables and sentences as people read them |
| drawing, export, page, account | PNG and SVG, CSV, the HTML page, a page of Markdown |
| experiment | all of it, in order |
"""
