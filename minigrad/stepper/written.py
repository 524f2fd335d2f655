"""The equations of an op in a log: as text, and as nested lists that a page can compute with.

They are read off the code that ran, when they are first asked for, from nodes that hold no arrays.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from minigrad.equations import Names, argument_names, equations, formula
from minigrad.graph import Node
from minigrad.notation import visible, write_name
from minigrad.primitive import Primitive
from minigrad.symbol import KnownShape, Symbol


class Written(NamedTuple):
    """The gradient at one input, written out.

    Attributes:
        general: with the names of the op's definition: `∂L/∂x = y ⊙ (G − Σ G ⊙ y)`.
        named: with the names of this call: `∂L/∂scores = weights ⊙ (G − Σ G ⊙ weights)`.
        tree: the right-hand side as nested lists `[op, options, *inputs]`; a text in it is the
            key of a tensor, or G, the upstream gradient. None if the rule does not run on symbols.
    """

    general: str
    named: str
    tree: Any


class Equations:
    """The equations of one op, which are written when they are first asked for."""

    def __init__(
        self, node: Node, names: Names, keys: dict[Node, str], known: dict[Primitive, Any]
    ) -> None:
        """`known` collects the rules as their ops define them, for all nodes of a log."""
        self._given = node, names, keys
        self._known = known

    @cached_property
    def forward(self) -> str:
        """How the result was made: `softmax(scaled, axis=−1)`."""
        node, names, _ = self._given
        written = names.equation(node)
        return str(written.forward) if written else f"{visible(str(node.primitive))}(…)"

    @cached_property
    def rules(self) -> dict[int, Written]:
        """What each input gets, by its position."""
        node, names, keys = self._given
        named, op = names.equation(node), node.primitive
        if named is None or op is None:
            return {}
        if op not in self._known:
            self._known[op] = _general(op)
        general, trees = self._known[op], _trees(node, keys)
        rules = {}
        for position, argument in enumerate(argument_names(op, len(node.inputs))):
            if argument in named.rules:
                rules[position] = Written(
                    general.get(0 if op.many else position, ""),
                    f"∂L/∂{write_name(named.names[argument], 0)} = {named.rules[argument]}",
                    trees.get(argument),
                )
        return rules


class Recalled(Equations):
    """Equations that were read from a file."""

    def __init__(self, forward: str, rules: dict[int, Written]) -> None:
        self.__dict__.update(forward=forward, rules=rules)


def _general(op: Primitive) -> dict[int, str]:
    """The rules as they are defined, whatever they are called with here."""
    try:
        written = formula(op)
    except Exception:  # it is code of the user's, and may raise anything
        return {}
    places = {name: i for i, name in enumerate(op.input_names)}
    return {
        places[name]: f"∂L/∂{write_name(written.names[name], 0)} = {rule}"
        for name, rule in written.rules.items()
    }


def _trees(node: Node, keys: dict[Node, str]) -> dict[str, Any]:
    """The rules as nested lists, by argument, in which every tensor is its key."""
    symbols = [Symbol(keys[x]) if isinstance(x, Node) else "" for x in node.inputs]
    try:
        written = equations(node, symbols, keys[node])
        return {name: _listed(rule) for name, rule in written.rules.items()}
    except Exception:  # as above
        return {}


def _listed(x: Any) -> Any:
    """A formula as nested lists, each of which begins with what it is."""
    if isinstance(x, KnownShape):
        return ["shape", {}, list(x.value)]
    if isinstance(x, Symbol):
        if not x.op:
            return x.name
        options = {name: _listed(value) for name, value in x.options.items()}
        return [x.op, options, *[_listed(part) for part in x.inputs]]
    if isinstance(x, (tuple, list)):
        return ["tuple", {}, *[_listed(part) for part in x]]
    if isinstance(x, slice):
        return ["slice", {}, x.start, x.stop, x.step]
    return ["ellipsis", {}] if x is Ellipsis else _plain(x)


def _plain(x: Any) -> Any:
    """A number or None as it is, anything else as the text that a formula has."""
    if isinstance(x, np.generic):
        x = x.item()
    is_number = isinstance(x, (bool, int)) or (isinstance(x, float) and math.isfinite(x))
    if is_number or x is None:
        return x
    # A formula has to say None where another value would be usual.
    return None if isinstance(x, str) and x == "None" else ["opaque", {"text": str(x)}]
