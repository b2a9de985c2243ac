"""From a path, a frame or a stream to a dataset.

`open` is `riata.open`: it puts its arguments into one object (`asked`) and goes by the source, to `arrays` for what is
in memory as numbers, to `growing` for folders that files are added to, and to `rows` for all else. For these,

- `sources` makes a source of Arrow batches of it (`riata.data.formats`), target and weights among its columns;
- `column_options` says which columns become features;
- `first_pass` looks at all rows, with a learner for each column (`column_learners`), and what it finds is the
  `profile`, with the encoding. `profile_cache` keeps it between runs, `stream_profile` is for rows that are read only
  once, and nothing is to be found where a model brings its encoding;
- the dataset is then out of core, or loaded at once where it fits (`decoded_batches`).

`checks` refuses options that would do nothing, `footer` and `target_notes` are remarks of the first pass, and
`convert` writes and reads rows that are encoded already.
"""
