"""One level of threads at a time: where riata's own threads share the rows, BLAS must not start more of its own."""

from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Finding the libraries takes milliseconds, so it is done once."""
    return ThreadpoolController()


def one_blas_thread():
    """A context in which BLAS calls stay on the thread that makes them."""
    return _controller().limit(limits=1, user_api="blas")
