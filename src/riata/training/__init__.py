"""From a dataset and plain options to a fitted model.

Read `train` first, and then what it calls:

- `spec` is what was asked, `parameters` declares every option once, `checks` refuses what makes no sense.
- `task_fits` goes by the task (`targets`) to `one_margin` and `fitting`, where a solver meets a problem; `driver` runs
  it and `checkpoint` saves it. What comes of it is `trained`.
- `streaming` learns from rows as they come; `paths` makes many models; `selection` chooses one of them; `stages` are
  fits before or after the fit.
- `origin`, `recoding`, `offsets` and `preparing` put rows and features into the form that fits want, and back.
"""
