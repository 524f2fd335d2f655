"""The tape: what was computed, from what, and the walk back through it.

`record` notes how a result was made, one `Node` per result; `walk` goes back from the youngest
node to the oldest, so that a gradient is complete before it is passed on. Which primitives exist,
and what a tensor can do, is not known here.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from minigrad import modes
from minigrad.graph import Node, history, leading_to
from minigrad.memory import Array, Variable, as_result, keep, owned

if TYPE_CHECKING:
    from minigrad.primitive import Primitive


_mode, _PLAIN = modes.current.get, modes.PLAIN
_new: Any = object.__new__


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
    `like` is one of the inputs, whose kind of tensor the result is.
    """
    if type(out) is not ndarray:
        out = as_result(out, op)
    result = _new(type(like))  # as `_wrap` does, which would be one call more
    result._data, result._node, result._token = out, None, None
    if out.base is not None:
        result._share(inputs)
    mode = _mode()
    if places is not None and (mode is _PLAIN or mode.recording):
        kept = keep(places, inputs, result) if places else nodes  # numbers stand there
        result._node = Node(out.shape, out.dtype, True, op, nodes, kept, options)
    if mode is not _PLAIN:
        if mode.scope and result._node is not None:
            result._node.scope = mode.scope
        for watcher in mode.watchers:
            watcher.recorded(op, inputs, options, result)
    return result


# ------------------------------------------------------------------------------ the walk backwards


def walk(  # noqa: C901 - one loop, told in one piece
    seeds: dict[Node, Any],
    *,
    release: bool,
    targets: set[Node] | None = None,
    like: Variable | None = None,
    watchers: Sequence[modes.Watcher] | None = None,
) -> dict[Node, Any]:
    """Goes back from the seeds, always on to the youngest node, and returns gradients.

    A node is older than all its users, so its gradient is complete when its turn comes.
    Returned are the gradients of the targets, or of all leaves and whatever else is retained.
    They are arrays; with `like` they are tensors, and the walk itself is recorded. With
    `release`, what was kept is let go on the way. The mode's watchers watch, if no others are
    given.
    """
    wanted = None if targets is None else leading_to(targets, history(seeds))
    pending = {-node.serial: (node, seed) for node, seed in seeds.items()}
    youngest = sorted(pending)  # a heap
    watchers = _mode().watchers if watchers is None else watchers
    found: dict[Node, Any] = {}
    while youngest:
        node, upstream = pending.pop(heappop(youngest))
        op = node.primitive
        if node.hooks:
            upstream = node.hooked(upstream)
        for watcher in watchers:
            watcher.entered(node, upstream)
        if node in targets if targets is not None else op is None or node.retain:
            found[node] = upstream
        if op is None or (wanted is not None and wanted.isdisjoint(node.inputs)):
            continue  # a leaf, or a target whose own record is not used
        if node.kept is None:
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
            contribution = rule.pull(upstream, node, position, like, watchers)
            for watcher in watchers:
                watcher.passed(node, position, upstream, contribution)
            place = -parent.serial
            if place in pending:
                contribution = add(pending[place][1], contribution)
            else:
                heappush(youngest, place)
            pending[place] = parent, contribution
        if release:
            node.kept = None
        elif isinstance(node.kept, dict):
            node.kept.pop("gradients", None)  # of a joint rule, for this walk only
    return found


def add(before: Any, contribution: Any) -> Any:
    """The sum of two gradients of one tensor; an array, where they have no axes too."""
    total = before + contribution
    if isinstance(total, np.generic):  # 0-d sums are scalars
        total = np.asarray(total)
    return total if total.dtype is before.dtype else total.astype(before.dtype)


_delivery = threading.Lock()  # two threads may deliver to the same leaf


def backward(root: Variable, gradient: Any = None, *, retain_graph: bool = False) -> None:
    """Adds the derivative of (root · gradient).sum() to `.grad` of every leaf behind `root`."""
    seeds = seeded(root, gradient, "backward()")
    watchers = _mode().watchers
    for watcher in watchers:
        watcher.began(root, *seeds.values())
    found = walk(seeds, release=not retain_graph)
    del seeds
    with _delivery:
        while found:
            node, total = found.popitem()
            if node.primitive is not None or node.grad is None:
                node.grad = owned(total)
            else:
                node.grad = np.asarray(node.grad + total)
    for watcher in watchers:
        watcher.finished(root)


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
        if allow_unused and not getattr(root, "requires_grad", True):
            continue
        node = _recorded(root, "grad()")
        seed: Any = _seed(root, weight)
        if like is not None:
            seed = weight if isinstance(weight, Variable) else root._wrap(seed.copy())
        seeds[node] = add(seeds[node], seed) if node in seeds else seed
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
    if isinstance(total, Variable):
        return total._twin()
    return None if total is None else x._wrap(total.copy())


def seeded(root: Variable, gradient: Any, call: str) -> dict[Node, Array]:
    """Where a walk from `root` starts, and with what; `call` names itself in its errors."""
    return {_recorded(root, call): _seed(root, gradient)}


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
        return seed.copy()  # a rule may change what it is given; the user's array stays as it is
    if seed.shape != shape or seed.dtype.kind not in "biuf":
        raise ValueError(
            f"gradient has shape {seed.shape} and dtype {seed.dtype}; the tensor has {shape} and "
            f"{dtype}. Pass real numbers of exactly the tensor's shape."
        )
    return seed.astype(dtype, copy=False)
