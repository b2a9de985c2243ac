"""Progress along a path: whoever makes models one after the other reports them here, and a progress bar can listen."""

from riata.watchers import Watchers

_of_models: Watchers[[int, int]] = Watchers()  # models done, of how many
watching_models = _of_models.watching  # a context in which a watcher is called for every model of a path
model_made = _of_models.tell  # one more model of a path is there
