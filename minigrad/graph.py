"""The graph: a node for every recorded tensor, and the ways to go through what lies behind one.

Nodes hold no data but what gradient rules ask for. How they come about is told in `tape`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

if TYPE_CHECKING:
    from minigrad.primitive import Primitive


class Node:
    """A tensor's place in the graph: how it was made, from what, and what the rules will need.

    It holds no data but that; shape, name and links stay when the rest is let go.
    """

    # "__dict__" is for what few nodes need, and is made when the first of that is set.
    __slots__ = tuple(
        "__dict__ dtype inputs kept options primitive requires_grad serial shape".split()
    )

    name: str | None = None
    scope: tuple[str, ...] = ()
    grad: Any = None
    retain: bool = False
    thawed: Node | None = None  # of a leaf that is frozen: what it was before
    hooks: dict[object, Callable[[Any], Any]] = {}  # noqa: RUF012 - replaced, never changed
    trace: dict[int, Any] | None = None  # as `kept`, but everything
    line: tuple[str, int] | None = None

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        requires_grad: bool,
        primitive: Primitive | None = None,
        inputs: Sequence[Any] = (),  # a Node per tensor or array; Python numbers as they are
        kept: dict[Any, Any] | Sequence[Any] | None = None,  # what the rules ask for; see `keep`
        options: dict[str, Any] | None = None,
    ) -> None:
        self.serial = next(_serial)
        self.shape = shape
        self.dtype = dtype
        self.requires_grad = requires_grad
        self.primitive = primitive
        self.inputs = inputs
        self.kept = kept  # None once it was let go, and for leaves
        self.options = options

    def __str__(self) -> str:
        what = f"the result of {self.primitive.name}" if self.primitive else "the tensor"
        name = f" {self.name!r}" if self.name else ""
        line = f", made in {self.line[0]}, line {self.line[1]}" if self.line else ""
        return f"{what}{name} of shape {self.shape}{line}"

    def passes_to(self, position: int) -> bool:
        """Whether backward passes a gradient on to the input at `position`."""
        parent = self.inputs[position]
        if self.primitive is None or self.primitive.rules[position] is None:
            return False
        return isinstance(parent, Node) and parent.requires_grad

    def switched(self, requires_grad: bool) -> Node:
        """The node of the same leaf from now on; what was recorded with this one stays as it was.

        A leaf that was frozen for a while gets its old node back.
        """
        if requires_grad == self.requires_grad:
            return self
        node = self.thawed or Node(self.shape, self.dtype, requires_grad)
        node.name, node.grad = self.name, self.grad
        if not requires_grad:
            node.thawed = self
        return node

    def hooked(self, upstream: Any) -> Any:
        """The gradient after the hooks, each of which may replace it."""
        for hook in self.hooks.values():
            answer = hook(upstream.copy() if isinstance(upstream, ndarray) else upstream)
            if answer is None:
                continue
            if isinstance(upstream, ndarray):
                answer = np.asarray(answer, dtype=self.dtype)
            if answer.shape != self.shape:
                raise ValueError(
                    f"a hook on {self} returned shape {answer.shape}; return a gradient of shape "
                    f"{self.shape}, or None to leave it as it is."
                )
            upstream = answer
        return upstream


_serial = count()


def history(roots: Iterable[Node]) -> list[Node]:
    """Every recorded node behind the roots, youngest first, so each one after all its users."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        for parent in stack.pop().inputs:
            if type(parent) is Node and parent.requires_grad and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return sorted(seen, key=attrgetter("serial"), reverse=True)


def leading_to(targets: set[Node], behind: list[Node]) -> set[Node]:
    """Those of `behind` (see `history`) that the targets' gradients come through, with them."""
    wanted = set(targets)
    for node in reversed(behind):
        if any(type(parent) is Node and parent in wanted for parent in node.inputs):
            wanted.add(node)
    return wanted


def kept_values(nodes: Iterable[Node]) -> dict[Node, ndarray]:
    """The entries of the tensors that the records of these nodes kept: inputs and results."""
    values: dict[Node, ndarray] = {}
    for node in nodes:
        for kept in (node.kept, node.trace):
            for place, array in kept.items() if isinstance(kept, dict) else ():
                if isinstance(array, ndarray) and isinstance(place, int) and place >= 0:
                    origin = node.inputs[place] if place < len(node.inputs) else node
                    values[origin] = array
    return values
