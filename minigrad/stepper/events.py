"""What a log of a backward pass is made of: tensors, events, and arrays as they were at the time.

Nothing here changes once it is made, and nothing leads back to the graph that was walked. How a
log comes about is told in `recording`, how one goes through it in `steps`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from minigrad.equations import Names, argument_names, equations, formula
from minigrad.graph import Node
from minigrad.memory import Array
from minigrad.notation import Summary, summarise, visible, write_name, write_number
from minigrad.primitive import Primitive
from minigrad.symbol import KnownShape, Symbol

KINDS = ("seed", "enter", "rule", "unbroadcast", "accumulate", "done")
"""Of events, in the order in which a tensor goes through them."""

NODE_KINDS = ("leaf", "constant", "intermediate", "root")

NOTES = {
    "saturated": 2,  # rows, of how many
    "dead": 2,  # units, of how many
    "zeros": 2,  # entries, of how many
    "shrunk": 1,  # factor
    "grown": 1,
    "nan": 0,  # the first on the way back
    "inf": 0,
    "-inf": 0,
    "made nan": 0,  # the first of the forward
    "made inf": 0,
    "made -inf": 0,
    "sums to 0": 1,  # the largest sum of a row
    "does not sum to 0": 1,
    "hook": 0,  # one replaced the gradient
    "changed": 0,  # a rule changed the gradient in place after it was added up
    "spoiled": 0,  # the rule changed its own upstream
}
"""The kinds of notes, and how many numbers belong to each."""


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """An array at one moment; NumPy reads it as the array that it was.

    Attributes:
        shape, dtype: of the array.
        summary: its statistics.
        typical_row: the median norm of a row, which no few rows can carry; of fewer than two axes,
            the norm.
        values: its entries, which nobody can change; None in a log that keeps summaries only.

    >>> float(snapshot(np.array([3.0, 4.0])).norm)
    5.0
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    summary: Summary
    typical_row: float
    values: Array | None

    @property
    def norm(self) -> float:
        """The root of the sum of squares; NaN or infinite if there are such entries."""
        return _norm(self.summary)

    @property
    def nbytes(self) -> int:
        """What the entries take in memory."""
        return 0 if self.values is None else self.values.nbytes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self.values is None:
            raise ValueError(
                f"the entries of this {self.shape} array were not kept, only its summary: step "
                'again with keep="all", or read .summary.'
            )
        return np.array(self.values, dtype=dtype, copy=copy)

    def __float__(self) -> float:
        return float(np.asarray(self).item())


def snapshot(array: Array, *, entries: bool = True) -> Snapshot:
    """The array as it is now; without `entries`, its summary alone."""
    values = None
    if entries:  # on bytes, so that it cannot be made writeable again
        values = np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)
    summary = summarise(array)
    row = _typical_row(array) if array.ndim > 1 and array.size else _norm(summary)
    return Snapshot(array.shape, array.dtype, summary, row, values)


def _norm(summary: Summary) -> float:
    if summary.nan:
        return math.nan
    return math.inf if summary.inf else summary.norm if summary.size else 0.0


def _typical_row(array: Array) -> float:
    with np.errstate(all="ignore"):  # looking at numbers shall not warn of them
        values = np.abs(array.astype(np.float64))
        # Divided by the largest, no square overflows or vanishes.
        largest = values.max(initial=0.0, where=np.isfinite(values)) or 1.0
        return float(np.median(np.linalg.norm(values / largest, axis=-1))) * float(largest)


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


@dataclass(frozen=True, slots=True, eq=False)
class StepNode:
    """A tensor of the graph that was walked, and the op that made it.

    Attributes:
        key: an identifier, the same on every run; the oldest is `n0`.
        name: the user's, or None.
        label: what texts and pictures call it: no other tensor of the graph is called so.
        kind: `leaf`, `constant`, `intermediate` or `root`.
        op: the primitive that made it; empty for leaves and constants.
        inputs: what that was made of: the keys of tensors, and numbers as they are.
        arguments: what the op calls its inputs.
        shape, dtype, scope: as recorded.
        file, line: where the user made it; None outside `trace()`.
        value: its entries; None if they were not kept.
        equations: of the op; None if there is none.
    """

    key: str
    name: str | None
    label: str
    kind: str
    op: str
    inputs: tuple[str | float, ...]
    arguments: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    scope: tuple[str, ...]
    file: str | None
    line: int | None
    value: Snapshot | None
    equations: Equations | None

    def __str__(self) -> str:
        return self.label


class Note(NamedTuple):
    """Something worth noticing: a kind of `NOTES`, and the numbers that belong to it."""

    kind: str
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What finite differences say of one contribution.

    Attributes:
        numeric: the slope of L at each entry that was looked at, NaN at the others.
        step: of the differences, relative to entries above 1.
        checked, size: how many entries were looked at, and how many there are.
        worst: the index of the entry with the largest relative error that stands out of the noise.
        absolute, relative: the error there; 0 if none stands out.
        wrong: how many entries differences contradict; the log then ends there.
        noisy: entries whose slope drowns in rounding, or does not exist.
        kinks: entries where the function has a kink.
    """

    numeric: Snapshot
    step: float
    checked: int
    size: int
    worst: tuple[int, ...]
    absolute: float
    relative: float
    wrong: int
    noisy: int
    kinks: int


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One thing that happens in a backward pass.

    Attributes:
        index: its place in the log.
        kind: `seed`: the root gets its gradient; `enter`: the gradient of a tensor is complete, and
            the walk enters the op that made it; `rule`: the op's rule makes a contribution;
            `unbroadcast`: the contribution is summed over the axes that broadcasting added;
            `accumulate`: it is added to what is there; `done`: the gradient of a leaf is complete.
        node: the tensor whose op is applied; in `seed` and `done`, the tensor itself.
        target: the input that a contribution goes to, else None.
        position: of that input.
        upstream: the gradient of `node`, as the rule gets it.
        contribution: what the rule made, or what is left of that.
        before, after: the gradient of the tensor that it goes to, before and after this event.
        axes: those that are summed.
        part, parts: in `accumulate`, that it is the k-th contribution of m.
        notes: what is worth noticing.
        verdict: of finite differences, in a `rule` that was checked.
    """

    index: int
    kind: str
    node: StepNode
    target: StepNode | None = None
    position: int = -1
    upstream: Snapshot | None = None
    contribution: Snapshot | None = None
    before: Snapshot | None = None
    after: Snapshot | None = None
    axes: tuple[int, ...] = ()
    part: int = 0
    parts: int = 0
    notes: tuple[Note, ...] = ()
    verdict: Verdict | None = None

    def __repr__(self) -> str:
        what = self.equation if self.kind == "rule" else ""
        what = what or f"∂L/∂{self.receiver}"
        what += f", {self.part} of {self.parts}" if self.parts else ""
        return f"<Event {self.index}, {self.kind}: {what}, norm {write_number(self.norm)}>"

    @property
    def op(self) -> str:
        """The primitive that is walked back through."""
        return self.node.op

    @property
    def receiver(self) -> StepNode:
        """The tensor whose gradient this event is about: the target if there is one."""
        return self.target or self.node

    @property
    def gradient(self) -> Snapshot:
        """What this event shows of that gradient: the sum so far, the contribution, or all."""
        shown = self.after or self.contribution or self.upstream
        assert shown is not None
        return shown

    @property
    def norm(self) -> float:
        """Of `gradient`."""
        return self.gradient.norm

    @property
    def written(self) -> Written | None:
        """The equation of the contribution; None if there is none, or it cannot be written."""
        if self.node.equations is None or self.position < 0:
            return None
        return self.node.equations.rules.get(self.position)

    @property
    def formula(self) -> str:
        """The rule, with the names of the op's definition."""
        return self.written.general if self.written else ""

    @property
    def equation(self) -> str:
        """The rule, with the names of this call."""
        return self.written.named if self.written else ""
