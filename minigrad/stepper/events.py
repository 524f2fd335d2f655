"""What a log of a backward pass is made of: tensors, events, and arrays as they were at the time.

Nothing here changes once it is made, and nothing leads back to the graph that was walked. How a
log comes about is told in `recording`, how one goes through it in `steps`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from minigrad.memory import Array
from minigrad.notation import Summary, summarise, write_number
from minigrad.stepper.written import Equations, Written

KINDS = ("seed", "enter", "rule", "unbroadcast", "accumulate", "done")
"""Of events, in the order in which a tensor goes through them."""

COMPLETE = ("enter", "done")
"""Those at which the gradient of a tensor is complete."""

STOPS = ("seed", *COMPLETE)
"""Those between which lie the pieces of one op."""

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

    def __repr__(self) -> str:
        return f"<Snapshot {self.shape} {self.dtype}, norm {write_number(self.norm)}>"

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
        verdict: of finite differences, if it was checked, in the `rule`; where broadcasting is
            undone, there.
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
