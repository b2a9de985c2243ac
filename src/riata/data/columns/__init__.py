"""Columns of a table as numeric features: one file per kind of column.

A learner sees a column once, batch by batch, and makes an encoder; an encoder turns the column of any later batch into
features with names, and consists of plain values that can be saved in a model file.
"""
