"""Models of small data, one or a whole path of them, in one compiled loop that a pass then certifies."""
