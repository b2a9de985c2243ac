"""Columns of a table as numeric features: one file per kind of column.

A learner sees a column once, batch by batch, and makes an encoder; an encoder turns the column of any later batch into
features with names, and consists of plain values that can be saved in a model file.

- The interfaces of both are in `column`. Kinds: `numbers`, `categories`, `dates`, `texts` (by `words`), `lists` of
  numbers and `maps` from names to numbers; of several columns, `crosses` and `products`.
- Hashes in place of lists of names: `hashed` for any column, `hashed_names` for buckets, `strings` makes them.
- Names of features, of which there may be millions: `names`, `kept_names`, `packed_names`.
- What the first pass notices: `column_profile`, `unfit`, `explained` (by `histogram`), `distinct`, `row_order`; and
  what predictions notice: `gaps`.
"""
