"""How much memory a search for the best features may take where nobody gave a budget.

That is a fixed amount, so that a search has the same candidates on every machine; more than that only where a problem
cannot be solved with it, and half of what is free has room for it.
"""

from riata.machine import free_memory

MEMORY_UNTOLD = 1 << 30  # bytes of columns and products


def budget_for(need: int, told: int | None) -> int:
    """The budget in bytes, as it was told, or what is needed if that is free."""
    if told is not None:
        return told
    free = free_memory() or 0
    return max(MEMORY_UNTOLD, min(need, free // 2))
