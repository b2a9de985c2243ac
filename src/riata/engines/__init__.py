"""Engines: datasets whose passes run in other processes or on a GPU, with the interface of any other dataset."""
