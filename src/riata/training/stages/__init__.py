"""What comes before a fit, such as the one that weighs an adaptive Lasso, or after it: relaxing, polishing."""
