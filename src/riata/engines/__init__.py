"""Where passes run, if not on the threads of this process."""
