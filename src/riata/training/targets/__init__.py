"""What is predicted: classes, several targets, quantiles, times to events, and the loss that goes with each."""
