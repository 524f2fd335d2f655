"""Scopes in a drawing: which tensors stand in which, and which of them are folded into one box."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from minigrad.graph import Node

__all__ = ["Group", "Scope", "common", "fold", "nested", "scopes_of"]

Scope = tuple[str, ...]


class Group:
    """Scopes that are drawn as one box: equally deep, and all but the last name the same."""

    def __init__(self, scopes: list[Scope]) -> None:
        self.scopes = scopes


def nested(boxes: list[tuple[Scope, str]]) -> Iterator[tuple[str, str]]:
    """Scopes opened and closed around what stands in them, step by step, in order of appearance.

    >>> [step for step, _ in nested([((), "x"), (("head 0",), "y")])]
    ['box', 'open', 'box', 'close']
    """
    prefixes = [scope[:end] for scope, _ in boxes for end in range(1, len(scope) + 1)]
    rank = {prefix: i for i, prefix in enumerate(dict.fromkeys(prefixes))}

    def place(pair: tuple[Scope, str]) -> list[int]:
        return [rank[pair[0][:end]] for end in range(1, len(pair[0]) + 1)]

    inside: Scope = ()
    for scope, box in sorted(boxes, key=place):
        shared = len(common(inside, scope))
        yield from [("close", "")] * (len(inside) - shared)
        yield from [("open", name) for name in scope[shared:]]
        yield "box", box
        inside = scope
    yield from [("close", "")] * len(inside)


def scopes_of(made: list[Node]) -> dict[Node, Scope]:
    """The scope of each tensor: of a leaf the innermost that holds all its users.

    Constants with a name are what the user put in, so they stand outside.
    """
    scopes: dict[Node, Scope] = {}
    for node in made:
        scopes[node] = node.scope
        for x in node.inputs:
            if isinstance(x, Node) and x.primitive is None:
                scopes[x] = common(scopes.get(x, node.scope), node.scope)
                if x.name and not x.requires_grad:
                    scopes[x] = ()
    return scopes


def common(one: Scope, other: Scope) -> Scope:
    """The scopes that two share, outermost first."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return one[:shared]


def fold(scopes: dict[Node, Scope], patterns: tuple[str, ...]) -> dict[Node, Group]:
    """The group that each tensor, with its op, is folded into; what these are given moves out."""
    inside: dict[Scope, list[Node]] = {}
    prefixes = {scope: _folded(scope, patterns) for scope in {*scopes.values()}}
    for node in sorted(scopes, key=lambda node: node.serial):
        if prefix := prefixes[scopes[node]]:
            inside.setdefault(prefix, []).append(node)
    _refuse_unknown(patterns, [*prefixes])
    alike: dict[Any, list[Scope]] = {}
    inputs: dict[Scope, list[Node]] = {}
    for prefix, nodes in inside.items():
        plan, inputs[prefix] = _plan(nodes)
        place = (prefix[:-1], re.sub(r"\d+", "#", prefix[-1]))
        alike.setdefault((place, plan), []).append(prefix)
    groups: dict[Node, Group] = {}
    for equal in alike.values():
        group = Group(equal)
        groups |= {node: group for prefix in equal for node in inside[prefix]}
        for given in _given([inputs[prefix] for prefix in equal]):
            if groups.pop(given, None):
                scopes[given] = equal[0][:-1]
    return groups


def _given(inputs: list[list[Node]]) -> Iterator[Node]:
    """Leaves that stand where equal scopes have others' results: what one layer is given by
    another, the first is given by the user."""
    for alternatives in zip(*inputs, strict=True):
        leaves = [x for x in alternatives if x.primitive is None]
        if len(leaves) < len(alternatives):
            yield from leaves


def _plan(nodes: list[Node]) -> tuple[tuple[Any, ...], list[Node]]:
    """What a scope computes, whatever it is called, and what comes in: leaves, others' results."""
    made = {node: i for i, node in enumerate([n for n in nodes if n.primitive is not None])}
    inputs: dict[Node, int] = {}

    def source(x: Any) -> Any:
        if not isinstance(x, Node):
            return ("number", x)
        return made[x] if x in made else ("input", inputs.setdefault(x, len(inputs)), x.shape)

    plan = [
        (node.primitive, node.shape, *map(source, node.inputs), _hashable(node.options))
        for node in made
    ]
    return tuple(plan), list(inputs)


def _hashable(value: Any) -> Any:
    """A stand-in for a value that is equal where the values are."""
    if isinstance(value, dict):
        return tuple([(name, _hashable(x)) for name, x in value.items()])
    if isinstance(value, (tuple, list)):
        return tuple(map(_hashable, value))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return repr(value)


def _folded(scope: Scope, patterns: tuple[str, ...]) -> Scope:
    """The outermost scope around this one that a pattern names; empty if there is none."""
    for end in range(1, len(scope) + 1):
        names = (scope[end - 1], "/".join(scope[:end]))
        if any(_names(pattern, name) for name in names for pattern in patterns):
            return scope[:end]
    return ()


def _names(pattern: str, name: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


def _refuse_unknown(patterns: tuple[str, ...], scopes: list[Scope]) -> None:
    known = sorted({scope[:end] for scope in scopes for end in range(1, len(scope) + 1)})
    for pattern in patterns:
        if not any(_folded(scope, (pattern,)) for scope in known):
            names = ", ".join(repr("/".join(scope)) for scope in known[:12])
            raise ValueError(
                f"collapse: no scope is called {pattern!r}; "
                + (f"there are {names}." if names else "record inside minigrad.scope(name).")
            )
