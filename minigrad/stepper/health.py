"""What is worth noticing in a backward pass, beside its numbers.

Rows that are saturated, units that are dead, gradients that vanish, grow or stop being numbers: how
a note says so in words stands in `wording`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.check.anomaly import new_fault
from minigrad.graph import Node
from minigrad.memory import Array
from minigrad.stepper.events import Note, Snapshot

SATURATED = 0.99
"""A row of a softmax whose largest weight is above this passes almost no gradient."""

TENFOLD = 10.0

_KINDS = {"NaN": "nan", "infinity": "inf", "-infinity": "-inf"}


class Faults:
    """Where NaN or infinity begins: forward, and on the way back."""

    def __init__(self, visited: Sequence[Node], values: Mapping[Node, Array]) -> None:
        """`visited` are the nodes of a graph, youngest first."""
        self._maker, self._made = _first_maker(visited, values)
        self._passed = False

    def forward(self, node: Node) -> list[Note]:
        """A note on the first op whose result is not finite though all that went in was."""
        return [Note(f"made {self._made}")] if node is self._maker else []

    def backward(self, upstream: Array, contribution: Array) -> list[Note]:
        """A note on the first gradient that is not finite though what it is made of was."""
        fault = None if self._passed else new_fault([upstream], contribution)
        self._passed = self._passed or fault is not None
        return [Note(_KINDS[fault])] if fault else []


def _first_maker(visited: Sequence[Node], values: Mapping[Node, Array]) -> tuple[Node | None, str]:
    for node in reversed(visited):
        known = [x in values for x in node.inputs if isinstance(x, Node)]
        if node.primitive is None or node not in values or not all(known):
            continue
        given = [values[x] if isinstance(x, Node) else x for x in node.inputs]
        fault = new_fault([*given, *(node.options or {}).values()], values[node])
        if fault:
            return node, _KINDS[fault]
    return None, ""


def of_op(node: Node, values: Mapping[Node, Array]) -> list[Note]:
    """Notes on the result of an op, if it was kept: saturated rows, dead units."""
    value = values.get(node)
    if value is None or not value.size:
        return []
    name, axis = node.primitive.name if node.primitive else "", _axis_of(node, value)
    if name == "softmax" and axis != ():
        rows = np.max(value, axis=axis)
        saturated = int((rows > SATURATED).sum())
        return [Note("saturated", (saturated, rows.size))] if saturated else []
    if name == "relu":
        dead = _dead(value)
        return [Note("dead", (int(dead.sum()), dead.size))] if dead.any() else []
    return []


def _dead(value: Array) -> Array:
    """Which units of a layer are 0 for every example; the last axis counts the units."""
    off = value == 0
    return np.asarray(off.reshape(-1, off.shape[-1]).all(axis=0) if off.ndim > 1 else off)


def of_rule(
    node: Node, upstream: Snapshot, given: Array, taken: Snapshot, made: Array
) -> list[Note]:
    """Notes on a contribution: what became of the norm, exact zeros, rows that cancel.

    `upstream` and `taken` are of what the rule was `given`, and of what it `made`.
    """
    notes = []
    before, after = upstream.norm, taken.norm
    if 0 < before < math.inf and 0 < after < math.inf:
        if after * TENFOLD <= before:
            notes.append(Note("shrunk", (before / after,)))
        elif after >= TENFOLD * before:
            notes.append(Note("grown", (after / before,)))
    if taken.summary.zeros:
        notes.append(Note("zeros", (taken.summary.zeros, taken.summary.size)))
    axis = _axis_of(node, made)
    balances = node.primitive is not None and node.primitive.name in ("softmax", "log_softmax")
    if balances and axis != () and made.size and made.shape == given.shape:
        notes.append(_balance(made, given, axis))
    return notes


def _axis_of(node: Node, array: Array) -> Any:
    """The axis or axes of an op, which may be a student's; none if they are not of this array."""
    axis = (node.options or {}).get("axis", -1)
    axes = range(-array.ndim, array.ndim)
    if axis is None or (isinstance(axis, int) and axis in axes):
        return axis
    return axis if isinstance(axis, tuple) and all(a in axes for a in axis) else ()


def _balance(made: Array, upstream: Array, axis: Any) -> Note:
    """A note on what the rows of a softmax's gradient sum to, which is 0 but for rounding."""
    largest = float(np.abs(np.sum(made, axis=axis, dtype=np.float64)).max())
    terms = float(np.abs(upstream).sum(axis=axis, dtype=np.float64).max())
    precision = np.finfo(made.dtype if made.dtype.kind == "f" else np.float64).eps
    bound = 4 * float(precision) * made.size * terms
    return Note("sums to 0" if not largest > bound else "does not sum to 0", (largest,))
