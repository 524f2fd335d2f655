"""A gradient rule: what it asks for, read off its parameters, and what it passes on.

Broadcasting and casting are undone here, once for all ops, so that no rule has to.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from minigrad.graph import Node
from minigrad.memory import Variable
from minigrad.modes import Watcher

if TYPE_CHECKING:
    from minigrad.primitive import Primitive

Function = Callable[..., Any]


class Rule:
    """A gradient rule and what it asks for, read off its parameters.

    After the upstream: an input's name asks for its array, `out` for the result, `x_shape` for
    the shape of input `x`; in an op of many inputs these are tuples, and `index` asks for the
    position of the input. Names after `*` are the op's own options.
    """

    def __init__(self, function: Function, op: Primitive) -> None:
        if not isinstance(function, FunctionType):
            raise TypeError(f"{op}: a rule is a function, not a {type(function).__name__}.")
        code = inspect.unwrap(function).__code__
        count = code.co_argcount
        if count == 0:
            raise TypeError(f"{op}: a rule's first parameter is the upstream gradient.")
        self.function: Function = function
        self.many = op.many
        self.asks = code.co_varnames[1:count]
        self.options = code.co_varnames[count : count + code.co_kwonlyargcount]
        self.sources = [self._source(name, op, code) for name in self.asks]
        for name in self.options:
            if name not in op.defaults:
                raise TypeError(
                    f"{op}: {_called(code)} asks for {name!r}; options are {[*op.defaults]}."
                )
        self.places = [place for kind, place in self.sources if kind == "array"]
        # The two kinds of rule that most ops have are called without any detour.
        self.bare = not self.sources and not self.options
        one = len(self.sources) == len(self.places) == 1 and not op.many
        self.only = self.places[0] if one and len(self.options) in (0, len(op.defaults)) else -1

    @staticmethod
    def _source(name: str, op: Primitive, code: CodeType) -> tuple[str, int]:
        """What a parameter asks for, and where that is kept: inputs first, then the result."""
        if name in op.input_names:
            return "array", op.input_names.index(name)
        if name == "out" and not op.many:
            return "array", len(op.input_names)
        if name.endswith("_shape") and name[:-6] in op.input_names:
            return "shape", op.input_names.index(name[:-6])
        if name == "index" and op.many:
            return "index", -1
        raise TypeError(
            f"{op}: {_called(code)} asks for {name!r}. After the upstream it can ask for an input "
            f"({', '.join(op.input_names)}), its shape ({op.input_names[0]}_shape) or the result "
            "(out); the op's own options stand after a *."
        )

    def pull(
        self,
        upstream: Any,
        node: Node,
        position: int,
        like: Variable | None,
        watchers: Sequence[Watcher] = (),
    ) -> Any:
        """What the rule passes on to the input at `position`; with `like`, run on tensors."""
        kept: Any = node.kept
        if self.bare:
            contribution = self.function(upstream)
        elif like is None and self.only >= 0:  # the one array that it asks for
            x = kept[self.only]
            options = node.options if self.options else None
            contribution = (
                self.function(upstream, x, **options) if options else self.function(upstream, x)
            )
        else:
            contribution = self._run(upstream, node, position, like)
        parent = node.inputs[position]
        if (
            type(contribution) is ndarray
            and contribution.shape == parent.shape
            and contribution.dtype is parent.dtype
        ):
            return contribution
        for watcher in watchers:
            watcher.fitting(node, position, contribution)
        return self.fit(contribution, node, position)

    def _run(self, upstream: Any, node: Node, position: int, like: Variable | None) -> Any:
        kept: Any = node.kept
        if like is not None:
            places = range(len(node.inputs)) if self.many and self.places else self.places
            kept = {place: self._lifted(place, node, like) for place in places}
        if len(self.places) == len(self.sources) and not self.many:
            arguments = [kept[place] for place in self.places]
        else:
            arguments = [self._argument(*source, kept, node, position) for source in self.sources]
        options = node.options or {}
        if len(options) != len(self.options):
            options = {name: options[name] for name in self.options}
        return self.function(upstream, *arguments, **options)

    def _argument(self, kind: str, place: int, kept: Any, node: Node, position: int) -> Any:
        if kind == "index":
            return position
        if kind == "shape":
            shapes = [x.shape if isinstance(x, Node) else () for x in node.inputs]
            return tuple(shapes) if self.many else shapes[place]
        return tuple([kept[i] for i in range(len(node.inputs))]) if self.many else kept[place]

    @staticmethod
    def _lifted(place: int, node: Node, like: Variable) -> Any:
        """What was kept at `place`, as the tensor that it was."""
        assert node.kept is not None
        value = node.kept[place]
        origin = node.inputs[place] if place < len(node.inputs) else node
        if not isinstance(origin, Node):
            return value
        tensor = like._wrap(value, origin)
        tensor._token = node.kept.get(~place) if isinstance(node.kept, dict) else None
        return tensor

    def fit(self, contribution: Any, node: Node, position: int) -> Any:
        """Undoes broadcasting and casting, once for all ops: a gradient looks like its tensor."""
        parent = node.inputs[position]
        if not isinstance(contribution, (ndarray, Variable)):
            contribution = np.asarray(contribution)
        if contribution.dtype.kind not in "biuf":
            raise TypeError(
                f"{node.primitive}: the rule for input {position} must return the gradient, real "
                f"numbers of shape {parent.shape}; it returned {contribution!r:.60}."
            )
        if contribution.shape != parent.shape:
            axes = broadcast_axes(contribution.shape, parent.shape)
            if axes is None:
                raise ValueError(
                    f"{node.primitive}: the rule for input {position} made a gradient of shape "
                    f"{contribution.shape}; {parent} needs its own shape, or one it broadcasts to."
                )
            contribution = contribution.sum(axis=axes)
            if contribution.shape != parent.shape:
                contribution = contribution.reshape(parent.shape)
        if contribution.dtype is not parent.dtype:
            contribution = contribution.astype(parent.dtype)
        return contribution if isinstance(contribution, Variable) else np.asarray(contribution)


def broadcast_axes(large: Sequence[int], small: Sequence[int]) -> tuple[int, ...] | None:
    """The axes to sum so that shape `large` fits `small`; None if `small` never broadcast to it.

    >>> broadcast_axes((4, 2, 3), (2, 1))
    (0, 2)
    """
    extra = len(large) - len(small)
    if large[extra:] == small:
        return (*range(extra),)
    if extra < 0 or any(s not in (1, n) for n, s in zip(large[extra:], small, strict=True)):
        return None
    stretched = [extra + i for i, s in enumerate(small) if s == 1 and large[extra + i] != 1]
    return (*range(extra), *stretched)


def _called(code: CodeType) -> str:
    """How a message calls a rule, so that it is found."""
    name = "a rule" if code.co_name == "<lambda>" else f"the rule {code.co_name}"
    return f"{name} (line {code.co_firstlineno})"
