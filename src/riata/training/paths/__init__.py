"""Paths: the models of falling alphas, or of rising numbers of features."""
