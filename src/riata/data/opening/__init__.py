"""From a path, a frame or a stream to a dataset."""
