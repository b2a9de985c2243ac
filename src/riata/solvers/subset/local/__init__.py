"""What a loss is near a point, as a quadratic over some features, and its minimum over the ones chosen."""
