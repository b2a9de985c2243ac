# One fit of R's glmnet for peers.py: Rscript glmnet.R FOLDER FAMILY INTERCEPT THRESH, with what peers.glmnet wrote there.
suppressMessages(library(glmnet))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
numbers <- function(name, what = "double") {
  path <- file.path(folder, name)
  readBin(path, what, file.size(path) / if (what == "double") 8 else 4)
}
shape <- numbers("shape", "integer")
X <- if (file.exists(file.path(folder, "indices"))) {
  Matrix::sparseMatrix(i = numbers("indices", "integer"), p = numbers("indptr", "integer"), x = numbers("data"),
                       dims = shape, index1 = FALSE)
} else {
  matrix(numbers("data"), shape[1], shape[2])
}
y <- numbers("y")
seconds <- system.time(
  fit <- glmnet(X, if (arguments[2] == "binomial") factor(y) else y, family = arguments[2],
                lambda = numbers("alphas"), standardize = FALSE, intercept = arguments[3] == "1",
                thresh = as.numeric(arguments[4]), maxit = 1e7)
)[["elapsed"]]
writeBin(c(seconds, as.numeric(fit$a0), as.numeric(as.matrix(fit$beta))), file.path(folder, "found"))
