"""What is being noted just now: whether results are recorded, in which scope, and who watches.

One context variable holds it, so that threads and async tasks do not disturb each other, and the
plain path reads it once per op. What recording does is told in `tape`.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

from minigrad.memory import keep

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Watcher:
    """Is told of every op recorded, and of what backward does; here, it ignores all of it."""

    def recorded(self, op: Any, inputs: Any, options: dict[str, Any], result: Any) -> None:
        """`op` has just made `result` of `inputs`."""

    def entered(self, node: Any, upstream: Any) -> None:
        """The gradient of `node` is complete, and the walk goes on from there."""

    def fitting(self, node: Any, position: int, made: Any) -> None:
        """What the rule of `node` for its input at `position` made has another shape or dtype."""

    def passed(self, node: Any, position: int, upstream: Any, contribution: Any) -> None:
        """The rule of `node` for its input at `position` made `contribution` of `upstream`."""

    def began(self, root: Any, gradient: Any) -> None:
        """`root.backward` is about to start from this gradient."""

    def finished(self, root: Any) -> None:
        """`root.backward` has left a gradient wherever one belongs."""


class Mode(NamedTuple):
    """What is being noted just now; never changed, only replaced."""

    recording: bool = True
    scope: tuple[str, ...] = ()
    watchers: tuple[Watcher, ...] = ()
    outer: Mode | None = None  # what comes back at the end of the with block


PLAIN = Mode()
current: ContextVar[Mode] = ContextVar("minigrad.mode", default=PLAIN)


class Switch(ContextDecorator):
    """Replaces the mode inside a `with` block or a decorated function; nests."""

    def __init__(self, changes: Callable[[Mode], dict[str, Any]]) -> None:
        self._changes = changes

    def __call__(self, func: _Function) -> _Function:
        """The function with the mode switched while it runs; not for coroutines, generators."""
        kinds = (
            inspect.iscoroutinefunction,
            inspect.isgeneratorfunction,
            inspect.isasyncgenfunction,
        )
        if any(is_kind(func) for is_kind in kinds):
            raise TypeError(
                f"{func.__name__} runs after it has returned, so a decorator cannot switch the "
                "mode for it. Put a with statement inside the function."
            )
        return super().__call__(func)

    def __enter__(self) -> None:
        mode = current.get()
        current.set(mode._replace(outer=mode, **self._changes(mode)))

    def __exit__(self, *exception: object) -> None:
        current.set(current.get().outer or PLAIN)


def no_grad() -> Switch:
    """Nothing is recorded inside: a context manager and a decorator.

    >>> import minigrad
    >>> x = minigrad.Tensor(3.0, requires_grad=True)
    >>> with minigrad.no_grad():
    ...     y = x * x
    >>> y.requires_grad
    False
    """
    return Switch(lambda mode: {"recording": False})


def enable_grad() -> Switch:
    """Results are recorded inside, even within `no_grad()`."""
    return Switch(lambda mode: {"recording": True})


def scope(name: str) -> Switch:
    """What is recorded inside belongs to `name`, for drawings and messages; scopes nest."""
    return Switch(lambda mode: {"scope": (*mode.scope, str(name))})


def watch(watcher: Watcher) -> Switch:
    """`watcher` is told of what is recorded and passed back inside."""
    return Switch(lambda mode: {"watchers": (*mode.watchers, watcher)})


class Tracer(Watcher):
    """What `trace()` does; it can be taught more."""

    def recorded(self, op: Any, inputs: Any, options: dict[str, Any], result: Any) -> None:
        """Keep what the op used and made, its line, and its gradient when there is one."""
        node = result._node
        if node is not None:
            node.trace = keep(range(len(inputs) + 1), inputs, result)
            node.line = user_line()
            node.retain = True


def trace() -> Switch:
    """Each op inside also keeps its inputs, its output, its gradient and the user's line.

    Drawing with values, stepping and looking at the gradients of intermediates need this.

    >>> import minigrad
    >>> x = minigrad.Tensor(3.0, requires_grad=True)
    >>> with minigrad.trace():
    ...     y = x * x
    >>> (y * 2).backward()
    >>> float(y.grad)
    2.0
    """
    return watch(Tracer())


_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_INSIDE = (_HERE, os.path.join(os.path.dirname(_HERE[:-1]), "attention") + os.sep)


def is_own(file: str) -> bool:
    """Whether a source file belongs to the package; its lessons do not."""
    return file.startswith(_INSIDE) and not file.startswith(_HERE + "_examples")


def user_line() -> tuple[str, int]:
    """File and line of the innermost frame that does not belong to the package itself."""
    frame = sys._getframe(1)
    while is_own(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
