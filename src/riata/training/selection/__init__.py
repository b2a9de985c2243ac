"""How sparse should a model be? Paths of models, ways to score them, and rules that choose one."""
