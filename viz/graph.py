"""A recorded graph read as boxes and arrows: what a drawing, a page or a text shows of it.

Reading changes nothing and computes no gradient that backward did not compute: what was not kept
is said to be so. How boxes and arrows are drawn is told in `drawing` and `text`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from minigrad import Tensor
from minigrad.equations import Formula, Names, argument_names
from minigrad.graph import Node, history, kept_values
from minigrad.joint import JointPrimitive
from minigrad.notation import summarise, visible
from viz.folding import Group, Scope, fold, scopes_of

__all__ = ["Arrow", "Fold", "Graph", "OpBox", "TensorBox", "read_graph"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class TensorBox:
    """A tensor in the graph.

    Attributes:
        key: an opaque identifier, the same on every run.
        label: its name, or one made up for it.
        mark: tells it from others of the same name; equations have both: w, w₂, w₃.
        kind: `leaf`, `parameter`, `constant`, `intermediate` or `root`.
        shape, dtype, scope: as recorded.
        value: its entries; None if they were not kept.
        gradient: None if there is none, for the reason in `gradient_note`.
        gradient_note: empty, `constant`, `none yet`, `not kept`, or `none` if it may be either.
        norm: of the gradient, as in `Arrow`.
        order: when backward visits it, counted from 1; None if it does not, or for the result of
            an op, which is visited together with that.
    """

    key: str
    label: str
    mark: str
    kind: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    scope: Scope
    value: Array | None
    gradient: Array | None
    gradient_note: str
    norm: float | None
    order: int | None


@dataclass(frozen=True, slots=True)
class OpBox:
    """An op in the graph: its primitive's name, its equation, and when backward visits it."""

    key: str
    name: str
    formula: str
    numbers: tuple[tuple[str, float], ...]  # its arguments that are plain numbers
    scope: Scope
    line: tuple[str, int] | None
    order: int


@dataclass(frozen=True, slots=True)
class Fold:
    """A scope that is drawn as one box, or several equal ones that are drawn as one."""

    key: str
    label: str
    times: int
    ops: int
    tensors: int
    scope: Scope  # the one that the box stands in


@dataclass(frozen=True, slots=True)
class Arrow:
    """From one box to another, in the direction in which values, or gradients, flow.

    Attributes:
        tail, head: the keys of the boxes.
        label: of a value, the argument that it becomes, or the tensor that leaves a fold.
        rule: of a gradient, the formula that makes it of the upstream G; empty into an op.
        norm: of the gradient that passes there; NaN or infinite if it has such entries; None if it
            is not known.
    """

    tail: str
    head: str
    label: str = ""
    rule: str = ""
    norm: float | None = None


@dataclass(slots=True)
class Graph:
    """All that a drawing shows: boxes by key, oldest first, arrows of values and of gradients.

    `left_out` counts the ops that were too many; the box `REST` then stands for them.
    """

    root: str
    tensors: dict[str, TensorBox] = field(default_factory=dict)
    ops: dict[str, OpBox] = field(default_factory=dict)
    folds: dict[str, Fold] = field(default_factory=dict)
    values: list[Arrow] = field(default_factory=list)
    gradients: list[Arrow] = field(default_factory=list)
    left_out: int = 0


REST = "rest"
"""The key of the box that stands for what was left out."""


def read_graph(
    root: Tensor | Node,
    *,
    collapse: str | Iterable[str] = (),
    max_nodes: int = 400,
    parameters: Any = (),
    variables: Mapping[str, Any] | None = None,
    gradients: bool = True,
) -> Graph:
    """Read what lies behind a tensor, before or after backward, without changing either.

    A tensor's gradient is its `.grad` as it is now, which a leaf adds up over several passes; an
    arrow says what its op made of the gradient that it last received.

    Args:
        root: the tensor that the graph leads to, often the loss; its shape may be any.
        collapse: scopes to draw as one box each: names (`head 0`), paths (`block/head 0`) or
            patterns of them (`head *`). Equal ones in the same place become one box.
        max_nodes: how many boxes there may be; those that were computed last are kept.
        parameters: a tensor, an object with a method `parameters()`, or several of them, that are
            told apart.
        variables: such as `globals()`; tensors without a name are called as they are there.
        gradients: whether to say what passed along each arrow in the last backward.

    Raises:
        TypeError: `root` is not a tensor.
        ValueError: `max_nodes` is not positive, or nothing is called as `collapse` says.

    Example:
        >>> x = Tensor([1.0, 2.0], requires_grad=True, name="x")
        >>> graph = read_graph((x * x).sum())
        >>> [op.formula for op in graph.ops.values()]
        ['t1 = x ⊙ x', 't2 = Σ t1']
    """
    if not isinstance(root, (Tensor, Node)):
        raise TypeError(f"a graph is read from a tensor, not from a {type(root).__name__}.")
    if max_nodes < 1:
        raise ValueError(f"max_nodes is a number of boxes, at least 1; it is {max_nodes}.")
    node = root if isinstance(root, Node) else root._node
    if node is None:
        assert isinstance(root, Tensor)
        node = Node(root.shape, root.dtype, False)
    patterns = (collapse,) if isinstance(collapse, str) else tuple(collapse)
    reader = _Reader(node, patterns, {tensor._node for tensor in _flat(parameters)})
    for name, value in dict(variables or {}).items():
        if isinstance(value, Tensor) and value._node is not None and not name.startswith("_"):
            reader.variables.setdefault(value._node, name)
    if isinstance(root, Tensor):
        reader.arrays.setdefault(node, root._data)
    return reader.read(max_nodes, gradients)


def contribution(node: Node, position: int) -> Array | None:
    """What the op that made `node` passed back to its input at `position` in the last backward.

    Its rule is run again on what was kept; None if that, or the gradient at `node`, was not.
    """
    op = node.primitive
    kept = node.trace if node.kept is None else node.kept
    if op is None or node.grad is None or kept is None:
        return None
    rule = op.rules[position]
    if rule is None or not node.passes_to(position):
        return None
    again = copy.copy(node)
    again.kept = kept
    with np.errstate(all="ignore"):  # backward has said what there was to say
        if isinstance(op, JointPrimitive) and isinstance(kept, dict):
            again.kept = {place: kept[place] for place in kept if place != "gradients"}
            if "saved" not in kept:
                arrays = [kept[place] for place in range(len(node.inputs))]
                again.kept["saved"] = op.forward(*arrays, **(node.options or {}))[1]
        passed: Array = rule.pull(node.grad, again, position, None)
    return passed


def _flat(parameters: Any) -> Iterator[Tensor]:
    several = not isinstance(parameters, Tensor) and not hasattr(parameters, "parameters")
    for item in parameters if several else [parameters]:
        if isinstance(item, Tensor):
            yield item
        else:
            yield from item.parameters()


class _Reader:
    """One reading: what lies behind the root, which box stands for what, and how it is called."""

    def __init__(self, root: Node, patterns: tuple[str, ...], parameters: set[Any]) -> None:
        visited = history([root])
        self.root = root
        self.parameters = parameters
        self.order = {node: i for i, node in enumerate(visited, start=1)}
        self.made = [node for node in visited if node.primitive is not None]  # youngest first
        self.has_run = any(n.primitive is None and n.grad is not None for n in visited)
        self.arrays = kept_values(self.made)
        self.scopes = scopes_of(self.made) or {root: ()}
        self.groups = fold(self.scopes, patterns)
        self.left_out: set[Node] = set()
        self.inside: dict[Group, list[Node]] = {}
        self.variables: dict[Node, str] = {}
        self.names = Names([])
        self.keys: dict[Any, str] = {}  # of boxes: a tensor is its node, an op (its node,)
        self.entered: set[tuple[str, Node]] = set()  # boxes, by the tensors from outside
        self.passed: dict[tuple[str, str, Node], list[tuple[str, Array | None]]] = {}

    def read(self, max_nodes: int, gradients: bool) -> Graph:
        """Choose what is shown, name it, and connect it."""
        shown = self._within(max_nodes)
        self.left_out = set(self.made[len(shown) :]) - {self.root}
        self.inside = self._members(shown)
        self.names = Names(self._mentioned(shown), self.variables)
        graph = Graph("", left_out=len(self.made) - len(shown))
        for node in reversed(shown):
            self._add(graph, node, gradients)
        graph.root = self._tensor_box(graph, self.root)
        graph.gradients += self._passed_back()
        repeated = {REST} | {key for key, fold in graph.folds.items() if fold.times > 1}
        graph.values = _bundled(graph.values, repeated)
        graph.gradients = _bundled(graph.gradients, repeated)
        if not shown and graph.left_out:
            graph.values.append(Arrow(REST, graph.root))
        return graph

    def _within(self, max_nodes: int) -> list[Node]:
        """The ops that were computed last, as many as make no more than so many boxes."""
        boxes = {self.root}
        for i, node in enumerate(self.made):
            leaves = [x for x in node.inputs if isinstance(x, Node) and x.primitive is None]
            boxes |= {self._of_op(node), *map(self._of_tensor, [node, *leaves])}
            if len(boxes) > max_nodes:
                return self.made[:i]
        return self.made

    def _of_tensor(self, node: Node) -> Any:
        """What stands for a tensor: itself, or the group that it is folded into."""
        group = self.groups.get(node)
        return node if group is None or node is self.root else group

    def _of_op(self, node: Node) -> Any:
        group = self.groups.get(node)
        return (node,) if group is None else group

    def _members(self, shown: list[Node]) -> dict[Group, list[Node]]:
        """What is shown of each group: its ops, and the leaves that these use."""
        members: dict[Group, dict[Node, None]] = {}
        for node in reversed(shown):
            leaves = [x for x in node.inputs if isinstance(x, Node) and x.primitive is None]
            for x in (*leaves, node):
                if x in self.groups:
                    members.setdefault(self.groups[x], {})[x] = None
        return {group: list(nodes) for group, nodes in members.items()}

    def _mentioned(self, shown: list[Node]) -> set[Node]:
        """The tensors that a box or an equation names."""
        mentioned = {self.root}
        for node in shown:
            group = self.groups.get(node)
            mentioned |= {node} if group is None else set()
            inputs = [x for x in node.inputs if isinstance(x, Node)]
            mentioned |= {x for x in inputs if group is None or self.groups.get(x) is not group}
        return mentioned

    # -------------------------------------------------------------------------- boxes and arrows

    def _add(self, graph: Graph, node: Node, gradients: bool) -> None:
        """The op that made a tensor, with its inputs, its result, and the arrows in between."""
        group = self.groups.get(node)
        inputs = [(i, x) for i, x in enumerate(node.inputs) if isinstance(x, Node)]
        tails = [self._tensor_box(graph, x) for _, x in inputs]
        equation = self.names.equation(node) if group is None else None
        if group is None:
            head = self._op_box(graph, node, equation)
        else:
            head = self._fold_box(graph, group)
        result = self._tensor_box(graph, node)
        rules = equation.rules if equation else {}
        arguments = _arguments(node)
        for (i, parent), tail in zip(inputs, tails, strict=True):
            rule = "" if group else str(rules.get(arguments[i], ""))
            argument = arguments[i] if len(inputs) > 1 and not group else ""
            self._enter(graph, node, i, (tail, head), argument)
            if not gradients or tail == head or not node.passes_to(i):
                continue
            passed = contribution(node, i)
            if group is None and tail in graph.tensors:
                graph.gradients.append(Arrow(head, tail, "", rule, _norm(passed)))
            else:
                self.passed.setdefault((head, tail, parent), []).append((rule, passed))
        if result != head:
            graph.values.append(Arrow(head, result))
            if gradients:
                graph.gradients.append(Arrow(result, head, norm=_norm(node.grad)))

    def _enter(
        self, graph: Graph, node: Node, position: int, ends: tuple[str, str], argument: str
    ) -> None:
        """The arrow of a value into an op; into a fold there is one, whoever uses it inside."""
        tail, head = ends
        parent = node.inputs[position]
        if head in graph.folds and (head, parent) in self.entered:
            return
        self.entered.add((head, parent))
        if tail == head and self._scope_in_group(parent) == self._scope_in_group(node):
            return  # inside one scope
        label = self.names[parent] if tail in graph.folds and tail != head else argument
        graph.values.append(Arrow(tail, head, label))

    def _scope_in_group(self, node: Node) -> Scope:
        """Which of the scopes of its group a tensor stands in."""
        return self.scopes[node][: len(self.groups[node].scopes[0])]

    def _passed_back(self) -> Iterator[Arrow]:
        """What goes into folds and comes out of them, summed for each tensor."""
        for (head, tail, _), passed in self.passed.items():
            known = [x for _, x in passed if x is not None]
            total = sum(known[1:], known[0]) if len(known) == len(passed) else None
            yield Arrow(head, tail, "", passed[0][0] if len(passed) == 1 else "", _norm(total))

    def _key(self, box: Any) -> tuple[str, bool]:
        """The key of a box, and whether it is a new one."""
        new = box not in self.keys
        return self.keys.setdefault(box, f"n{len(self.keys)}"), new

    def _tensor_box(self, graph: Graph, node: Node) -> str:
        if node in self.left_out:
            return REST
        group = self.groups.get(node)
        if group is not None and node is not self.root:
            return self._fold_box(graph, group)
        key, new = self._key(node)
        if new:
            gradient = _unwritable(node.grad)
            graph.tensors[key] = TensorBox(
                key,
                self.names.label(node),
                self.names.mark(node),
                self._kind(node),
                node.shape,
                node.dtype,
                self.scopes.get(node, ()) if group is None else (),
                _unwritable(self.arrays.get(node)),
                gradient,
                self._note(node),
                _norm(gradient),
                self.order.get(node) if node.primitive is None else None,
            )
        return key

    def _kind(self, node: Node) -> str:
        if node in self.parameters:
            return "parameter"
        if not node.requires_grad:
            return "constant"
        if node.primitive is None:
            return "leaf"
        return "root" if node is self.root else "intermediate"

    def _note(self, node: Node) -> str:
        """Why there is no gradient."""
        if not node.requires_grad:
            return "constant"
        if node.grad is not None:
            return ""
        if node.primitive is None or node.retain or not self.has_run:
            return "none yet" if node.kept is not None or node.primitive is None else "not kept"
        # With the graph still alive, it may have been this backward that ran, or another.
        return "not kept" if node.kept is None else "none"

    def _op_box(self, graph: Graph, node: Node, equation: Formula | None) -> str:
        assert node.primitive is not None
        key, _ = self._key((node,))
        pairs = zip(_arguments(node), node.inputs, strict=True)
        numbers = tuple([(name, x) for name, x in pairs if not isinstance(x, Node)])
        name = visible(node.primitive.name, Names.LONGEST)
        formula = str(equation.forward) if equation else f"{name}(…)"
        if not self.names.is_expression(node):
            formula = f"{self.names[node]} = {formula}"
        graph.ops[key] = OpBox(
            key,
            name,
            formula,
            numbers,
            self.scopes[node],
            node.line,
            self.order[node],
        )
        return key

    def _fold_box(self, graph: Graph, group: Group) -> str:
        key, new = self._key(group)
        if new:
            graph.folds[key] = self._fold(key, group)
        return key

    def _fold(self, key: str, group: Group) -> Fold:
        """The box for a group, which counts what is shown of it in each of its scopes."""
        depth = len(group.scopes[0])
        inside: dict[Scope, list[Node]] = {}
        for node in self.inside[group]:
            inside.setdefault(self.scopes[node][:depth], []).append(node)
        made = [sum([node.primitive is not None for node in nodes]) for nodes in inside.values()]
        names = [scope[-1] for scope in group.scopes if scope in inside]
        label = names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"
        tensors = max([len(nodes) for nodes in inside.values()])
        return Fold(
            key, visible(label, Names.LONGEST), len(names), max(made), tensors, group.scopes[0][:-1]
        )


def _bundled(arrows: list[Arrow], repeated: set[str]) -> list[Arrow]:
    """One arrow for the many between a box that stands for several and the same other one."""
    bundles: dict[Any, list[Arrow]] = {}
    for i, arrow in enumerate(arrows):
        ends = (arrow.tail, arrow.head)
        bundles.setdefault(i if repeated.isdisjoint(ends) else ends, []).append(arrow)
    return [_bundle(arrows) for arrows in bundles.values()]


def _bundle(arrows: list[Arrow]) -> Arrow:
    first, *others = arrows
    if not others:
        return first
    norms = [arrow.norm for arrow in arrows]
    known = [norm for norm in norms if norm is not None]
    total = math.hypot(*known) if len(known) == len(norms) else None
    return replace(first, label=f"× {len(arrows)}", rule="", norm=total)


def _arguments(node: Node) -> list[str]:
    assert node.primitive is not None
    return argument_names(node.primitive, len(node.inputs))


def _unwritable(array: Any) -> Array | None:
    """What is shown to others, who must not change it."""
    if array is None:
        return None
    view: Array = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _norm(gradient: Any) -> float | None:
    """The norm of a gradient; NaN or infinite if it has such entries; None for None."""
    if gradient is None:
        return None
    summary = summarise(gradient)
    if summary.nan:
        return math.nan
    return math.inf if summary.inf else summary.norm if summary.size else 0.0
