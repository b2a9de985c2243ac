"""Where rows come from: one file per kind of source, all of which give Arrow record batches."""
