"""The textbook greedy and thresholding methods for k features."""
