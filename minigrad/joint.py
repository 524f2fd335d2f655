"""Ops whose backward is an algorithm and no formula: one joint rule returns all gradients at once.

Tiled attention is such an op. Its forward returns, along with the result, what the rule needs. For
tensors (second derivatives) and symbols (formulas) an equal composition of primitives stands in,
and the checks hold both equal.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from minigrad.graph import Node
from minigrad.memory import Variable
from minigrad.modes import enable_grad
from minigrad.primitive import Primitive, function_of
from minigrad.rule import Function, Rule
from minigrad.symbol import Symbol
from minigrad.tape import grad


class _Share(Rule):
    """One input's share of a joint rule: its gradient among those that the rule returns."""

    def __init__(self, op: JointPrimitive, position: int) -> None:
        count = len(op.input_names)
        self.many, self.bare, self.only, self.options = False, False, -1, ()
        self.asks = op.input_names
        self.places = list(range(count))  # the rule is given every input
        self.sources = [("array", place) for place in self.places]
        self.function = lambda g, *inputs: Symbol("", op.joint.__name__, (g, *inputs))[position]

    def _run(self, upstream: Any, node: Node, position: int, like: Variable | None) -> Any:
        op, kept, options = node.primitive, node.kept, node.options or {}
        assert isinstance(op, JointPrimitive)
        assert isinstance(kept, dict)
        if like is not None:
            lifted = [self._lifted(place, node, like) for place in self.places]
            # A node of its own each, so that what is differentiated is this op and nothing before.
            inputs = [x._op("astype", x.dtype) if isinstance(x, Variable) else x for x in lifted]
            with enable_grad():
                out = op.composed(*inputs, **options)
            return grad(out, inputs[position], upstream, create_graph=True)[0]
        # Of this upstream: another thread may be going through the same node with its own.
        made = kept.get("gradients")
        if made is None or made[0] is not upstream:
            arrays = [kept[place] for place in self.places]
            made = upstream, op.joint(upstream, kept["saved"], *arrays, **options)
            kept["gradients"] = made
        return made[1][position]


class JointPrimitive(Primitive):
    """A primitive with one rule for all its inputs; `joint_primitive` explains it."""

    def __init__(
        self, forward: Function, joint: Function, composed: Function, **traits: Any
    ) -> None:
        count = forward.__code__.co_argcount
        super().__init__(forward, [None] * count, composed=composed, **traits)
        self.joint = joint
        self.rules = tuple([_Share(self, i) for i in range(len(self.input_names))])

    def way_in(self) -> Function:
        """The function that is called."""
        signature = inspect.signature(self.forward)

        def call(*args: Any, **options: Any) -> Any:
            try:
                given = signature.bind(*args, **options).arguments
            except TypeError as error:
                raise TypeError(f"{self}: {error}") from error
            inputs = [given.pop(name) for name in self.input_names]
            return self.apply(inputs, self.bind((), given))

        return call

    def apply(self, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
        """As for any primitive; what the forward returns beside the result is kept as well."""
        saved: list[Any] = []

        def forward(*arrays: Any, **given: Any) -> Any:
            out, more = self.forward(*arrays, **given)
            saved.append(more)
            return out

        once = copy.copy(self)
        once.forward = forward
        result = super(JointPrimitive, once).apply(inputs, options)
        node = result._node if isinstance(result, Variable) else None
        if node is not None and node.primitive is once and isinstance(node.kept, dict):
            node.primitive = self
            node.kept["saved"] = saved[0]
            # The result may be among what is saved, so nobody shall write to it meanwhile.
            place = len(node.inputs)
            node.kept[place], node.kept[~place] = result._hold(), result._token
        return result


def joint_primitive(
    joint: Function, *, composed: Function, **traits: Any
) -> Callable[[Function], Function]:
    """Defines an op by a forward that returns (result, saved), and one rule for all its inputs.

    Args:
        joint: `joint(g, saved, *inputs, **options)` returns a gradient for each input.
        composed: the same result by primitives, `composed(*inputs, **options)`.
        traits: example, expects and so on, as for `primitive`. Options stand after a `*`.

    >>> import numpy as np
    >>> from minigrad import Tensor
    >>> def both(g, saved, a, b):
    ...     return g * saved / a, g * saved / b
    >>> @joint_primitive(both, composed=lambda a, b: a * b)
    ... def product(a, b):
    ...     return a * b, a * b
    >>> a, b = Tensor(2.0, requires_grad=True), Tensor(3.0, requires_grad=True)
    >>> product(a, b).backward()
    >>> float(a.grad), float(b.grad)
    (3.0, 2.0)
    """

    def define(forward: Function) -> Function:
        return function_of(JointPrimitive(forward, joint, composed, **traits))

    return define
