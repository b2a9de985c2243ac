"""Cells of text as values: numbers, dates and truths in the ways in which the world writes them.

One place for all files whose cells are text: CSV, TSV, and text cells of spreadsheets. `meaning.py` looks at some
values of each column and finds the format in which all of them are written, or says why it cannot; `converted.py` turns
batches of strings into values, by Arrow's kernels. The formats belong to the encoding of a model, so that a later file
is read as the one that was learnt from.
"""
