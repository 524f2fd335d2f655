"""Threads over tasks, with BLAS at one thread inside them.

NumPy lets go of the interpreter while it computes, so threads over heads gain more than threads
inside each matrix product, and both together get in each other's way.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

VARIABLE = "MINIGRAD_NUM_THREADS"


def default_threads() -> int:
    """As many as the process has cores, or as MINIGRAD_NUM_THREADS says.

    Errors: `ValueError` if that is no positive number.
    """
    asked = os.environ.get(VARIABLE)
    if asked is None:
        cores = getattr(os, "sched_getaffinity", None)
        return len(cores(0)) if cores else os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) < 1:
        raise ValueError(f"{VARIABLE} is a number of threads, at least 1; it is {asked!r}.")
    return int(asked)


def in_parallel(tasks: Sequence[Callable[[], None]], threads: int) -> None:
    """Run tasks, each of which writes to places of its own. The first error is raised again."""
    left = iter(tasks)  # next() of it is one step, whichever thread takes it
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for task in left:
                if errors:
                    return
                task()
        except BaseException as error:  # the caller's, whatever it is
            errors.append(error)

    with single_threaded_blas():
        helpers = [threading.Thread(target=work) for _ in range(min(threads, len(tasks)) - 1)]
        for helper in helpers:
            helper.start()
        work()
        for helper in helpers:
            helper.join()
    if errors:
        raise errors[0]


_lock = threading.Lock()
_inside = 0
_limit: Any = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """BLAS uses one thread inside; the last one out puts back what the first one in found."""
    global _inside, _limit
    with _lock:
        if _inside == 0:
            _free()
            _limit = _controller().limit(limits=1, user_api="blas")
            _limit.__enter__()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _free()
                _limit.__exit__(None, None, None)
                _limit = None
                _free()


def _free() -> None:
    """Let this thread set the number; threadpoolctl minds only the one that set it before.

    The last one out need not be the first one in, which may live on.
    """
    blas = getattr(importlib.import_module("threadpoolctl"), "OpenBLASController", None)
    clear = getattr(blas, "clear_controlling_thread", None)  # since its version 3.8
    if clear is not None:
        clear(force=True)


@cache
def _controller() -> Any:
    """Finding the libraries takes a few milliseconds, once and not before they are needed."""
    return importlib.import_module("threadpoolctl").ThreadpoolController()
