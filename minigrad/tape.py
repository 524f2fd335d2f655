"""The tape: what was computed, from what, and the walk back through it.

`record` notes how a result was made, one `Node` per result; `walk` goes back from the youngest
node to the oldest, so that a gradient is complete before it is passed on. Which primitives exist,
and what a tensor can do, is not known here.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from minigrad import modes
from minigrad.operand import Operand

if TYPE_CHECKING:
    from minigrad.primitive import Primitive

Array = np.ndarray[Any, np.dtype[Any]]


# ------------------------------------------------------------------------------ values and records


class Variable(Operand):
    """An array and its place in the graph; `Tensor` adds what a user sees.

    The array is copied on write, so that a record never sees a change. `_token` says who relies
    on it: None while nobody does; an object of its own that views and records hold, so that its
    reference count tells whether they still live; `_LENT` while a user may have the array.
    """

    __slots__ = ("__weakref__", "_data", "_node", "_token")

    _data: Array
    _node: Node | None
    _token: object | None

    def _lend(self) -> Array:
        """The array, to be written to: copied first if a record or a view relies on it."""
        if self._token is not _LENT:
            shared = self._token is not None and sys.getrefcount(self._token) > _SOLE
            if shared or self._data.base is not None or not self._data.flags.writeable:
                self._data = self._data.copy()
            self._token = _LENT
        return self._data

    def _hold(self) -> Array:
        """The array for a record to keep; it must keep `_token` as well, as its protection."""
        if self._token is None:
            self._token = object()
        elif self._token is _LENT:
            # Beyond our own reference there is that of the op that is being recorded.
            if sys.getrefcount(self._data) > _SOLE + 1:
                return self._data.copy()
            self._token = object()
        return self._data

    def _share(self, inputs: Sequence[Any]) -> None:
        """Notes that this result, which has a base, may be a view of one of its inputs."""
        memory = self._data.base
        for x in inputs:
            array = x._data if isinstance(x, Variable) else x
            if array is not memory and getattr(array, "base", None) is not memory:
                continue
            if not isinstance(x, Variable) or x._token is _LENT:
                self._data = self._data.copy()
            else:
                x._token = x._token or object()
                self._token = x._token

    def _wrap(self, data: Array, node: Node | None = None) -> Any:
        """A new tensor around `data`, which is not copied."""
        raise NotImplementedError


_LENT = object()


def _count_of_a_sole_reference() -> int:
    variable = Variable()
    variable._token = object()
    return sys.getrefcount(variable._token)


_SOLE = _count_of_a_sole_reference()  # it depends on the version of Python


class Node:
    """A tensor's place in the graph: how it was made, from what, and what the rules will need.

    It holds no data but that; shape, name and links stay when the rest is let go.
    """

    __slots__ = (
        "__dict__",  # what few nodes need; made when the first of these is set
        "dtype",
        "inputs",
        "kept",
        "options",
        "primitive",
        "requires_grad",
        "serial",
        "shape",
    )

    name: str | None = None
    scope: tuple[str, ...] = ()
    grad: Any = None
    retain: bool = False
    hooks: tuple[Callable[[Any], Any], ...] = ()
    trace: dict[int, Any] | None = None  # as `kept`, but everything
    line: tuple[str, int] | None = None

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        requires_grad: bool,
        primitive: Primitive | None = None,
        inputs: Sequence[Any] = (),  # a Node per tensor or array; Python numbers as they are
        kept: dict[int, Any] | Sequence[Any] | None = None,  # what the rules ask for; see `keep`
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


_serial = count()


def record(
    op: Primitive,
    inputs: Sequence[Any],
    nodes: Sequence[Any],
    places: Sequence[int] | None,
    options: dict[str, Any],
    out: Any,
    like: Variable,
) -> Any:
    """Wraps `out`, the result of `op`, and notes how it was made if a gradient can reach it.

    `places` says what to keep, as `Primitive.places` has it; None if no input has a gradient.
    """
    if type(out) is not ndarray:
        out = np.asarray(out)
    result = like._wrap(out)
    if out.base is not None:
        result._share(inputs)
    mode = modes.current.get()
    if places is not None and mode.recording:
        kept = keep(places, inputs, result) if places else nodes  # numbers stand there
        result._node = Node(out.shape, out.dtype, True, op, nodes, kept, options)
    if mode is not modes.PLAIN:
        if mode.scope and result._node is not None:
            result._node.scope = mode.scope
        for watcher in mode.watchers:
            watcher.recorded(op, inputs, options, result)
    return result


def keep(places: Iterable[int], inputs: Sequence[Any], result: Variable) -> dict[int, Any]:
    """The arrays at these places, the result's coming after the inputs'; at ~place its token."""
    kept: dict[int, Any] = {}
    for place in places:
        x = inputs[place] if place < len(inputs) else result
        if isinstance(x, Variable):
            kept[place] = x._hold()
            kept[~place] = x._token
        else:
            kept[place] = x.copy() if isinstance(x, ndarray) else x
    return kept


class _Tracer(modes.Watcher):
    def recorded(self, op: Any, inputs: Any, options: dict[str, Any], result: Any) -> None:
        node = result._node
        if node is not None:
            node.trace = keep(range(len(inputs) + 1), inputs, result)
            node.line = modes.user_line()
            node.retain = True


def trace() -> modes.Switch:
    """Each op inside also keeps its inputs, its output, its gradient and the user's line.

    Drawing with values, stepping and looking at the gradients of intermediates need this.

    >>> import minigrad
    >>> x = minigrad.Tensor(3.0, requires_grad=True)
    >>> with minigrad.trace():
    ...     y = x * x
    >>> (y * 2).backward()
    >>> float(y.grad)
    2.0
    """
    return modes.watch(_Tracer())


# ------------------------------------------------------------------------------ the walk backwards


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


def walk(
    seeds: dict[Node, Any],
    *,
    release: bool,
    targets: set[Node] | None = None,
    like: Variable | None = None,
) -> dict[Node, Any]:
    """Goes back from the seeds, always on to the youngest node, and returns gradients.

    A node is older than all its users, so its gradient is complete when its turn comes.
    Returned are the gradients of the targets, or of all leaves and whatever else is retained.
    They are arrays; with `like` they are tensors, and the walk itself is recorded. With
    `release`, what was kept is let go on the way.
    """
    wanted = None if targets is None else leading_to(targets, history(seeds))
    pending = {node.serial: (node, seed) for node, seed in seeds.items()}
    youngest = sorted(-serial for serial in pending)  # a heap
    watchers = modes.current.get().watchers
    found: dict[Node, Any] = {}
    while youngest:
        node, upstream = pending.pop(-heappop(youngest))
        op = node.primitive
        if node.hooks:
            upstream = _hooked(upstream, node)
        if op is None or node.retain or targets is not None:
            found[node] = upstream
        kept = node.kept
        if kept is None and op is not None:
            raise RuntimeError(
                f"backward went through {node} before and let go what its rules need. Pass "
                "retain_graph=True to the first backward, or compute the result again."
            )
        for position, parent in enumerate(node.inputs):
            if type(parent) is not Node or not parent.requires_grad:
                continue
            rule = op.rules[position]
            if rule is None or (wanted is not None and parent not in wanted):
                continue
            if like is None and rule.only >= 0:  # the one array it asks for
                contribution = rule.function(upstream, kept[rule.only])
            elif rule.bare:
                contribution = rule.function(upstream)
            else:
                contribution = rule.run(upstream, node, position, like)
            if (
                type(contribution) is not ndarray
                or contribution.shape != parent.shape
                or contribution.dtype is not parent.dtype
            ):
                contribution = fit(contribution, parent, node, position)
            for watcher in watchers:
                watcher.passed(node, position, upstream, contribution)
            serial = parent.serial
            if serial in pending:
                contribution = _add(pending[serial][1], contribution)
            else:
                heappush(youngest, -serial)
            pending[serial] = parent, contribution
        if release:
            node.kept = None
    return found


def fit(contribution: Any, parent: Node, node: Node, position: int) -> Any:
    """Undoes broadcasting and casting, once for all ops: a gradient looks like its tensor."""
    if not isinstance(contribution, (ndarray, Variable)):
        contribution = np.asarray(contribution)
    if contribution.shape != parent.shape:
        axes = broadcast_axes(contribution.shape, parent.shape)
        if axes is None:
            raise ValueError(
                f"{node.primitive}: the rule for input {position} made a gradient of shape "
                f"{contribution.shape}; {parent} needs its own shape, or one it broadcasts to."
            )
        contribution = contribution.sum(axis=axes).reshape(parent.shape)
    if contribution.dtype is not parent.dtype:
        contribution = contribution.astype(parent.dtype)
    return contribution


def broadcast_axes(large: Sequence[int], small: Sequence[int]) -> tuple[int, ...] | None:
    """The axes to sum so that shape `large` fits `small`; None if `small` never broadcast to it.

    >>> broadcast_axes((4, 2, 3), (2, 1))
    (0, 2)
    """
    extra = len(large) - len(small)
    if extra < 0 or any(s not in (1, n) for n, s in zip(large[extra:], small, strict=True)):
        return None
    stretched = [extra + i for i, s in enumerate(small) if s == 1 and large[extra + i] != 1]
    return (*range(extra), *stretched)


def _add(before: Any, contribution: Any) -> Any:
    total = before + contribution
    return np.asarray(total) if isinstance(total, np.generic) else total  # 0-d sums are scalars


def _hooked(upstream: Any, node: Node) -> Any:
    """The gradient after the node's hooks, each of which may replace it."""
    for hook in node.hooks:
        answer = hook(upstream.copy() if isinstance(upstream, ndarray) else upstream)
        if answer is None:
            continue
        if isinstance(upstream, ndarray):
            answer = np.asarray(answer, dtype=node.dtype)
        if answer.shape != node.shape:
            raise ValueError(
                f"a hook on {node} returned shape {answer.shape}; return a gradient of shape "
                f"{node.shape}, or None to leave it as it is."
            )
        upstream = answer
    return upstream


# ------------------------------------------------------------------------------ backward and grad

_delivery = threading.Lock()  # two threads may deliver to the same leaf


def backward(root: Variable, gradient: Any = None, *, retain_graph: bool = False) -> None:
    """Adds the derivative of (root · gradient).sum() to `.grad` of every leaf behind `root`."""
    seeds = {_recorded(root, "backward()"): _seed(root, gradient)}
    found = walk(seeds, release=not retain_graph)
    del seeds
    while found:
        node, total = found.popitem()
        with _delivery:
            if node.primitive is not None or node.grad is None:
                node.grad = _owned(total)
            else:
                node.grad = np.asarray(node.grad + total)


def grad(
    outputs: Any,
    inputs: Any,
    gradient: Any = None,
    *,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    allow_unused: bool = False,
) -> tuple[Any, ...]:
    """The gradients at `inputs` of the sum of `outputs`, each weighted by its `gradient`.

    Args: `outputs` and `inputs` are a tensor or several; `gradient` is one array or tensor of an
    output's shape, or one per output, and may be left out for outputs of one element.
    Returns a tuple of tensors, one per input, of its shape and dtype; `.grad` is left alone. With
    `create_graph` they are recorded and can be differentiated again; `retain_graph` defaults to
    that.
    Errors: `RuntimeError` if an output is not recorded, or an input does not lead to the outputs
    (None in its place with `allow_unused`); `ValueError` for the shape of a gradient.

    >>> import minigrad
    >>> x = minigrad.Tensor(3.0, requires_grad=True)
    >>> (slope,) = minigrad.grad(x**3, x, create_graph=True)
    >>> (curvature,) = minigrad.grad(slope, x)
    >>> float(slope), float(curvature)
    (27.0, 18.0)
    """
    roots = [outputs] if isinstance(outputs, Variable) else list(outputs)
    wanted = [inputs] if isinstance(inputs, Variable) else list(inputs)
    several = gradient is not None and not isinstance(outputs, Variable)
    weights = list(gradient) if several else [gradient] * len(roots)
    if len(weights) != len(roots):
        raise ValueError(f"{len(roots)} outputs need as many gradients; {len(weights)} were given.")
    like = roots[0] if create_graph else None
    seeds: dict[Node, Any] = {}
    for root, weight in zip(roots, weights, strict=True):
        node, seed = _recorded(root, "grad()"), _seed(root, weight)
        if like is not None:
            seed = weight if isinstance(weight, Variable) else root._wrap(seed)
        seeds[node] = _add(seeds[node], seed) if node in seeds else seed
    release = not (create_graph if retain_graph is None else retain_graph)
    targets = {x._node for x in wanted if x._node is not None}
    with modes.enable_grad() if create_graph else modes.no_grad():
        found = walk(seeds, release=release, targets=targets, like=like)
    return tuple([_answer(x, found, i, allow_unused) for i, x in enumerate(wanted)])


def _answer(x: Variable, found: dict[Node, Any], position: int, allow_unused: bool) -> Any:
    total = None if x._node is None else found.get(x._node)
    if total is None and not allow_unused:
        raise RuntimeError(
            f"input {position} ({x._node or 'never recorded'}) does not lead to the outputs. "
            "Set requires_grad=True before using it, or pass allow_unused=True to get None."
        )
    return x._wrap(total.copy()) if isinstance(total, ndarray) else total


def _recorded(root: Variable, call: str) -> Node:
    if not isinstance(root, Variable):
        raise TypeError(f"{call} starts from a tensor, not from a {type(root).__name__}.")
    if root._node is None or not root._node.requires_grad:
        raise RuntimeError(
            f"{call} needs a recorded tensor, and nothing behind this one requires a gradient. "
            "Make a leaf with Tensor(..., requires_grad=True) and compute outside no_grad()."
        )
    return root._node


def _seed(root: Variable, gradient: Any) -> Array:
    shape, dtype = root._data.shape, root._data.dtype
    if gradient is None:
        if root._data.size != 1:
            raise RuntimeError(
                f"a tensor of shape {shape} needs a gradient to start from: pass gradient= of "
                "that shape, or reduce the tensor to one number, for example with .sum()."
            )
        return np.ones(shape, dtype)
    seed = gradient._data if isinstance(gradient, Variable) else np.asarray(gradient)
    if seed.shape == shape and seed.dtype == dtype:
        return seed
    if seed.shape != shape or seed.dtype.kind not in "biuf":
        raise ValueError(
            f"gradient has shape {seed.shape} and dtype {seed.dtype}; the tensor has {shape} and "
            f"{dtype}. Pass real numbers of exactly the tensor's shape."
        )
    return seed.astype(dtype, copy=False)


def _owned(array: Array) -> Array:
    """The array itself if only the caller has it, otherwise a copy."""
    alone = array.base is None and sys.getrefcount(array) <= _SOLE_LOCAL
    return array if alone else array.copy()


def _count_of_a_sole_local() -> int:
    def references(array: Array) -> int:
        return sys.getrefcount(array)

    array = np.empty(1)
    return references(array)


_SOLE_LOCAL = _count_of_a_sole_local()
