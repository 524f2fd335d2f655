"""Walking back through a graph and writing down everything that happens.

The walk is the one that `backward` uses, so a log ends with the gradients that it would leave, to
the last bit; no `.grad` is touched.
"""

from __future__ import annotations

import copy
import linecache
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, Literal

import numpy as np

from minigrad import tape
from minigrad.check import GradcheckError, Report
from minigrad.equations import Names, argument_names
from minigrad.graph import Node, history, kept_values
from minigrad.memory import Array, Variable
from minigrad.modes import Watcher
from minigrad.primitive import Primitive
from minigrad.rule import broadcast_axes
from minigrad.stepper import health
from minigrad.stepper.differences import check_edge
from minigrad.stepper.events import Event, Note, Snapshot, StepNode, snapshot
from minigrad.stepper.steps import BackwardSteps
from minigrad.stepper.written import Equations

LARGEST = 2**29
"""Bytes that a log may take in memory, roughly."""

PER_EVENT = 700
"""Bytes that an event takes, its entries apart."""

CONTEXT = 4
"""Lines of the user's that are kept on either side of each line that made a tensor."""

Keep = Literal["all", "summary"]


def step_backward(
    root: Any,
    gradient: Any = None,
    *,
    check: bool = False,
    keep: Keep = "all",
    variables: Mapping[str, Any] | None = None,
) -> BackwardSteps:
    """The backward pass from `root`, event by event, without touching any `.grad`.

    What was recorded under `trace()` also shows the values and lines of intermediates. Hooks run,
    as they do in `backward`.

    Args:
        root: a tensor that was recorded, and not yet gone back through (or with retain_graph).
        gradient: of exactly its shape; may be left out for one element.
        check: hold every contribution against finite differences of its op, in float64.
        keep: "all" keeps the entries of every array, "summary" norms, ranges and counts.
        variables: such as `globals()`; tensors without a name are called as they are there.

    Errors: those of `backward()`; `MemoryError` if the log would be too large; `RuntimeError` for
    `check` of what was not recorded under `trace()`; `GradcheckError` at the first contribution
    that differences contradict, with what was logged so far as its `.steps`.

    >>> from minigrad import Tensor
    >>> x = Tensor([1.0, 2.0], requires_grad=True, name="x")
    >>> for event in step_backward((x * x).sum()):
    ...     print(event.kind, event.receiver, event.norm.__round__(3))
    seed t2 1.0
    enter t2 1.0
    rule t1 1.414
    accumulate t1 1.414
    enter t1 1.414
    rule x 2.236
    accumulate x 2.236
    rule x 2.236
    accumulate x 4.472
    done x 4.472
    """
    if keep not in ("all", "summary"):
        raise ValueError(f'keep is "all" or "summary"; it is {keep!r}.')
    seeds = tape.seeded(root, gradient, "step_backward()")
    (seed,) = seeds.values()
    recorder = _Recorder(root, seed, keep == "all", check, variables or {})
    with np.errstate(all="ignore"):  # looking at numbers shall not warn of them; notes tell
        found = tape.walk(seeds, release=False, watchers=[recorder])
    recorder.left(found)
    return recorder.steps()


class _Recorder(Watcher):
    """Writes the log while the walk goes on."""

    def __init__(
        self, root: Any, seed: Array, entries: bool, check: bool, variables: Mapping[str, Any]
    ) -> None:
        self.visited = history([root._node])  # the root, whose users are not behind it, is first
        self.entries, self.check = entries, check
        self.values = kept_values(self.visited)
        self.values.setdefault(root._node, root._data)
        self.edges = [
            (node, parent)
            for node in self.visited
            for position, parent in enumerate(node.inputs)
            if node.passes_to(position)
        ]
        self.parts = Counter([parent for _, parent in self.edges])
        if check:
            self._insist_on_traces()
        self._refuse_too_large()
        self.nodes = self._described(variables)
        self.events: list[Event] = []
        self.upstream: Snapshot = self.taken(seed)
        self.made: Any = None  # by a rule, where it has to be fitted
        # Of every tensor whose gradient is not complete: the sum so far, and the number of parts.
        self.sums: dict[Node, tuple[Array, Snapshot, int]] = {}
        self.sums[self.visited[0]] = seed.copy(), self.upstream, 0
        self.complete: dict[Node, Array] = {}  # of the leaves
        self.given = seed  # what the next rule gets
        self.faults = health.Faults(self.visited, self.values)
        notes = tuple(self.faults.backward(np.zeros(0), seed))
        self.log("seed", self.visited[0], after=self.upstream, notes=notes)

    def _insist_on_traces(self) -> None:
        for node in self.visited:
            if node.primitive is not None and node.trace is None:
                raise RuntimeError(
                    f"check=True needs the inputs of every op, and those of {node} were not kept: "
                    "record under minigrad.trace()."
                )

    def _refuse_too_large(self) -> None:
        """Stop before anything is computed, rather than when memory is full."""
        count = 1 + 2 * len(self.edges) + len(self.visited)
        sizes = [_size(parent) for _, parent in self.edges] * (2 if self.check else 1)
        sizes += [_size(parent) for _, parent in self.edges if self.parts[parent] > 1]
        # Where something was broadcast, a rule makes as much as the result has.
        sizes += [_size(node) for node, parent in self.edges if node.shape != parent.shape]
        arrays = sum(sizes) + sum([array.nbytes for array in self.values.values()])
        total = PER_EVENT * count + (arrays if self.entries else 0)
        if total > LARGEST:
            less = "" if not self.entries else 'pass keep="summary" (--keep summary), or '
            raise MemoryError(
                f"the log of this backward would take about {total / 2**20:,.0f} MB, with "
                f"{count:,} events; the limit is {LARGEST / 2**20:,.0f} MB. To see it, {less}step "
                "from a tensor nearer to the leaves, whose graph is smaller."
            )

    # ------------------------------------------------------------------------- what is looked at

    def _described(self, variables: Mapping[str, Any]) -> dict[Node, StepNode]:
        """The tensors of the graph as the log has them, oldest first."""
        named = {
            x._node: name
            for name, x in reversed(list(variables.items()))
            if isinstance(x, Variable) and x._node is not None and not name.startswith("_")
        }
        constants = [x for node in self.visited for x in node.inputs if isinstance(x, Node)]
        ordered = sorted({*self.visited, *constants}, key=attrgetter("serial"))
        bare: dict[Node, Node] = {}
        for node in ordered:
            bare[node] = _bare(node, bare)
        names = Names(bare.values(), {bare[x]: name for x, name in named.items() if x in bare})
        keys = {node: f"n{i}" for i, node in enumerate(bare.values())}
        known: dict[Primitive, Any] = {}
        nodes = {}
        for node in ordered:
            equations = Equations(bare[node], names, keys, known) if node.primitive else None
            nodes[node] = self._step_node(node, bare[node], names[bare[node]], keys, equations)
        return nodes

    def _step_node(
        self,
        node: Node,
        bare: Node,
        label: str,
        keys: dict[Node, str],
        equations: Equations | None,
    ) -> StepNode:
        op, value = bare.primitive, self.values.get(node)
        file, line = node.line or (None, None)
        return StepNode(
            keys[bare],
            node.name,
            label,
            self._kind(node),
            op.name if op else "",
            tuple([keys[x] if isinstance(x, Node) else x for x in bare.inputs]),
            tuple(argument_names(op, len(bare.inputs))) if op else (),
            node.shape,
            node.dtype,
            node.scope,
            file,
            line,
            None if value is None else self.taken(value),
            equations,
        )

    def _kind(self, node: Node) -> str:
        if not node.requires_grad:
            return "constant"
        if node.primitive is None:
            return "leaf"
        return "root" if node is self.visited[0] else "intermediate"

    def taken(self, array: Any) -> Snapshot:
        """An array as it is now."""
        return snapshot(np.asarray(array), entries=self.entries)

    def log(self, kind: str, node: Node, target: Node | None = None, **more: Any) -> None:
        """One more event."""
        receiver = None if target is None else self.nodes[target]
        self.events.append(Event(len(self.events), kind, self.nodes[node], receiver, **more))

    # ----------------------------------------------------------------------------- what happens

    def entered(self, node: Node, upstream: Array) -> None:
        """The gradient is complete: an op follows, or nothing more."""
        total, self.upstream, _ = self.sums.pop(node)
        notes = []
        if not _same(total, upstream):
            notes.append(Note("hook" if node.hooks else "changed"))
            notes += self.faults.backward(total, upstream)
            self.upstream = self.taken(upstream)
        self.given = upstream.copy()
        if node.primitive is None:
            self.complete[node] = self.given
        notes += health.of_op(node, self.values) + self.faults.forward(node)
        kind = "done" if node.primitive is None else "enter"
        shown: dict[str, Any] = {"upstream": self.upstream, "after": self.upstream}
        self.log(kind, node, **shown, notes=tuple(notes))

    def fitting(self, node: Node, position: int, made: Any) -> None:
        """Remember what the rule made, before it is fitted to the input."""
        self.made = np.asarray(made)

    def passed(self, node: Node, position: int, upstream: Array, contribution: Array) -> None:
        """A contribution: what the rule made, what is left of it, and what it is added to."""
        made, self.made = contribution if self.made is None else self.made, None
        parent, taken = node.inputs[position], self.taken(made)
        notes = health.of_rule(node, self.upstream, self.given, taken, made)
        notes += self.faults.backward(self.given, made)
        notes += self.faults.backward(self.given, contribution)  # the cast may be to blame
        verdict, problem = None, None
        if self.check:
            verdict, problem = check_edge(node, position, self.given, contribution, self.taken)
        common: dict[str, Any] = {"position": position, "upstream": self.upstream}
        if not _same(self.given, upstream):  # the next rule of this op gets it as it is now
            notes.append(Note("spoiled"))
            self.given, self.upstream = upstream.copy(), self.taken(upstream)
        fits = made.shape == contribution.shape
        more: dict[str, Any] = {"contribution": taken, "notes": tuple(notes)}
        self.log("rule", node, parent, **common, **more, verdict=verdict if fits else None)
        if not fits:
            axes = broadcast_axes(made.shape, contribution.shape) or ()
            more = {"before": taken, "contribution": self.taken(contribution), "axes": axes}
            self.log("unbroadcast", node, parent, **common, **more, verdict=verdict)
            taken = more["contribution"]
        elif made.dtype != contribution.dtype:
            taken = self.taken(contribution)
        if problem is not None:
            self._stop(problem)
        before = self._accumulated(parent, contribution, taken)
        total, after, part = self.sums[parent]
        more = {"contribution": taken, "before": before, "after": after}
        more |= {"part": part, "parts": self.parts[parent]}
        more["notes"] = tuple(self.faults.backward(contribution, total))
        self.log("accumulate", node, parent, **common, **more)

    def _accumulated(self, parent: Node, contribution: Array, taken: Snapshot) -> Snapshot | None:
        """Adds a contribution, and returns what was there before."""
        if parent not in self.sums:
            # A copy, since a faulty rule may change what it made earlier.
            self.sums[parent] = contribution.copy(), taken, 1
            return None
        total, before, part = self.sums[parent]
        total = tape.add(total, contribution)
        self.sums[parent] = total, self.taken(total), part + 1
        return before

    def left(self, found: dict[Node, Array]) -> None:
        """What the walk left at the leaves, which a faulty rule may have changed later on."""
        places = {event.node.key: event.index for event in self.events if event.kind == "done"}
        for node, total in found.items():
            place = places.get(self.nodes[node].key)
            if place is None or _same(total, self.complete[node]):
                continue
            event, taken = self.events[place], self.taken(total)
            notes = (*event.notes, Note("changed"))
            self.events[place] = replace(event, upstream=taken, after=taken, notes=notes)

    def _stop(self, problem: Report) -> None:
        """The diagnosis of a rule that is wrong, with the log that leads to it."""
        event = self.events[-1]
        where = f" ({event.node.file}, line {event.node.line})" if event.node.file else ""
        problem.problem = (
            f"event {event.index}: the rule of {event.op} for {event.receiver} is wrong{where}: "
            f"{event.equation or 'its formula cannot be written'}"
        )
        raise GradcheckError(problem, self.steps())

    def steps(self) -> BackwardSteps:
        """What was logged so far."""
        nodes = list(self.nodes.values())
        root = self.nodes[self.visited[0]]
        serials = {node.serial: step.label for node, step in self.nodes.items()}
        return BackwardSteps(nodes, self.events, root=root, sources=_sources(nodes), labels=serials)


def _bare(node: Node, bare: Mapping[Node, Node]) -> Node:
    """The same place in the graph, from which no array and no other tensor's node is reached."""
    again = copy.copy(node)
    again.kept = None
    for name in ("trace", "grad", "hooks", "thawed"):
        vars(again).pop(name, None)
    again.inputs = [bare[x] if isinstance(x, Node) else x for x in node.inputs]
    return again


def _size(node: Node) -> int:
    return math.prod(node.shape) * node.dtype.itemsize


def _same(one: Array, other: Array) -> bool:
    """Whether two arrays are equal to the last bit, NaN included."""
    return one.dtype == other.dtype and one.tobytes() == other.tobytes()


def _sources(nodes: Iterable[StepNode]) -> dict[str, dict[int, str]]:
    """The user's lines around those that made a tensor, by file and number."""
    sources: dict[str, dict[int, str]] = {}
    for node in nodes:
        if node.file is None or node.line is None:
            continue
        lines = sources.setdefault(node.file, {})
        for number in range(max(1, node.line - CONTEXT), node.line + CONTEXT + 1):
            if number not in lines and (text := linecache.getline(node.file, number)):
                lines[number] = text.rstrip("\n")
    return {file: dict(sorted(lines.items())) for file, lines in sources.items() if lines}
