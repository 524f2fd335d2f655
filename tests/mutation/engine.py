"""Mistakes in the walk itself, which every primitive goes through: each breaks one thing that the
engine does for all rules, for as long as a `with` block lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from minigrad import Tensor, rule, tape
from minigrad.check import check_primitives
from minigrad.rule import Rule

Broken = Callable[[], Any]


def _fit(reduce: Callable[[Any, tuple[int, ...]], Any]) -> Broken:
    """Broadcasting undone by something else than a sum."""
    right = Rule.fit

    def fit(self: Rule, contribution: Any, node: Any, position: int) -> Any:
        shape = node.inputs[position].shape
        axes = rule.broadcast_axes(np.shape(contribution), shape)
        if axes:
            contribution = reduce(contribution, axes).reshape(shape)
        return right(self, contribution, node, position)

    return lambda: patch.object(Rule, "fit", fit)


def _first(x: Any, axes: tuple[int, ...]) -> Any:
    return x[tuple([0 if axis in axes else slice(None) for axis in range(x.ndim)])]


def _upstream(change: Callable[[Any], Any]) -> Broken:
    right = Rule.pull

    def pull(self: Rule, upstream: Any, *more: Any) -> Any:
        return right(self, change(upstream), *more)

    return lambda: patch.object(Rule, "pull", pull)


def _added(add: Callable[[Any, Any], Any]) -> Broken:
    return lambda: patch.object(tape, "add", add)


def _without_history() -> Any:
    right = Rule._lifted

    def lifted(place: int, node: Any, like: Any) -> Any:
        found = right(place, node, like)
        return found.detach() if isinstance(found, Tensor) else found

    return patch.object(Rule, "_lifted", staticmethod(lifted))


def _oldest_first() -> Any:
    def pop(heap: list[int]) -> int:
        heap.sort()
        return heap.pop()

    return patch.object(tape, "heappop", pop)


def _seed_of_ones() -> Any:
    return patch.object(tape, "_seed", lambda root, gradient: np.ones(root.shape, root.dtype))


BROKEN: dict[str, Broken] = {
    "a broadcast axis is averaged": _fit(lambda x, axes: x.mean(axis=axes)),
    "of a broadcast axis only the first entry counts": _fit(_first),
    "the last contribution replaces those before": _added(lambda before, new: new),
    "only the first contribution counts": _added(lambda before, new: before),
    "contributions are subtracted": _added(lambda before, new: before - new),
    "the upstream of a rule is ones": _upstream(lambda g: g * 0 + 1),
    "the upstream of a rule has the other sign": _upstream(lambda g: -g),
    "the gradient that is given is taken for ones": _seed_of_ones,
    "a node is left before all its users are done": _oldest_first,
    "what was kept is a constant in the second derivative": _without_history,
}
"""By what is wrong: a function that makes the context in which it is."""


@contextmanager
def broken(what: str) -> Iterator[None]:
    """The engine with this mistake in it."""
    with BROKEN[what]():
        yield


def noticed_by(what: str) -> str:
    """The first primitive whose check fails with this mistake; "" if none does."""
    with broken(what), np.errstate(all="ignore"):
        return next((result.name for result in check_primitives() if not result.ok), "")
