"""Sums, products and statistics along axes, as NumPy has them.

All take a tensor or an array of any shape; `axis` is None (all axes), a number or a tuple, counted
from the end if negative. The result lacks those axes, or has them with length 1 (`keepdims`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.equations import opaque
from minigrad.operand import Axis
from minigrad.ops.elementwise import divide_or_zero
from minigrad.primitive import primitive


def cases(rng: np.random.Generator) -> list[Any]:
    """Calls over all axes, one, several and with keepdims: an example for any reduction."""
    x = rng.normal(size=(2, 3, 4))
    axes = [{"axis": 1}, {"axis": (-3, -1)}, {"axis": (2, 0), "keepdims": True}]
    return [(x,), *[(x, options) for options in axes]]


def _axes(shape: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    """The axes as numbers from 0."""
    if axis is None:
        return tuple(range(len(shape)))
    return tuple([a % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))])


@opaque
def count(shape: tuple[int, ...], axis: Axis) -> int:
    """How many entries are reduced to one."""
    return math.prod(shape[a] for a in _axes(shape, axis))


@primitive(
    lambda g, x_shape, *, axis: g.sum(axis=axis).reshape(x_shape),
    example=lambda rng: [(rng.normal(size=s), (2, 3, 4), 1) for s in ((2, 4), (2, 1, 4))],
)
def spread(x: Any, shape: tuple[int, ...], axis: Axis) -> Any:
    """Repeats a reduced result along the axes that were reduced, so that it has `shape` again.

    >>> spread(np.array([5.0, 6.0]), (2, 3), 1)
    array([[5., 5., 5.],
           [6., 6., 6.]])
    """
    reduced = _axes(shape, axis)
    kept = [1 if a in reduced else n for a, n in enumerate(shape)]
    return np.broadcast_to(np.reshape(x, kept), shape)


@primitive(lambda g, x_shape, *, axis: spread(g, x_shape, axis), example=cases)
def sum(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The sum.

    >>> sum(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    array([4., 6.])
    """
    return x.sum(axis=axis, keepdims=keepdims)


@primitive(
    lambda g, x_shape, *, axis: spread(g / count(x_shape, axis), x_shape, axis), example=cases
)
def mean(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The arithmetic mean.

    >>> mean(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    array([2., 3.])
    """
    return x.mean(axis=axis, keepdims=keepdims)


@opaque
def product_of_others(x: Any, axis: Axis) -> Any:
    """For each entry the product of the other reduced ones: also right where entries are 0."""
    axes = _axes(x.shape, axis)
    order = [a for a in range(x.ndim) if a not in axes] + [*axes]
    moved = x.transpose(order)
    rows = moved.reshape((*moved.shape[: x.ndim - len(axes)], 1, count(x.shape, axis)))
    own = np.eye(rows.shape[-1], dtype=bool)
    others = np.where(own, 1.0, rows).prod(axis=-1)
    return others.reshape(moved.shape).transpose(tuple(np.argsort(order).tolist()))


@primitive(
    lambda g, x, *, axis: spread(g, x.shape, axis) * product_of_others(x, axis),
    example=lambda rng: [*cases(rng), (rng.normal(size=3), {"axis": ()})],
)
def prod(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The product. Its gradient takes memory in the square of the number of factors.

    >>> prod(np.array([2.0, 3.0, 4.0]))
    np.float64(24.0)
    """
    return x.prod(axis=axis, keepdims=keepdims)


@primitive(
    lambda g, x, *, axis, ddof: (
        spread(2 * g / (count(x.shape, axis) - ddof), x.shape, axis)
        * (x - x.mean(axis=axis, keepdims=True))
    ),
    example=lambda rng: [*cases(rng), (rng.normal(size=(2, 3)), {"axis": 1, "ddof": 1})],
)
def var(x: Any, axis: Axis = None, *, keepdims: bool = False, ddof: int = 0) -> Any:
    """The variance: squared distances from the mean, divided by n − ddof.

    >>> var(np.array([1.0, 3.0]))
    np.float64(1.0)
    """
    return x.var(axis=axis, keepdims=keepdims, ddof=ddof)


@primitive(
    lambda g, x, out, *, axis, ddof: (
        spread(divide_or_zero(g, out) / (count(x.shape, axis) - ddof), x.shape, axis)
        * (x - x.mean(axis=axis, keepdims=True))
    ),
    example=lambda rng: [*cases(rng), (rng.normal(size=(2, 3)), {"axis": 1, "ddof": 1})],
)
def std(x: Any, axis: Axis = None, *, keepdims: bool = False, ddof: int = 0) -> Any:
    """The standard deviation √var; the gradient is 0 where all values are equal.

    >>> std(np.array([1.0, 3.0]))
    np.float64(1.0)
    """
    return x.std(axis=axis, keepdims=keepdims, ddof=ddof)


@opaque
def ties(top: Any, axis: Axis, x: Any) -> Any:
    """How many entries share the extreme value, in the dtype of x; at least 1, if all are NaN."""
    return np.maximum(top.sum(axis=axis, keepdims=True), 1).astype(x.dtype)


def _shared_by_ties(g: Any, x: Any, out: Any, *, axis: Axis) -> Any:
    top = x == spread(out, x.shape, axis)
    return np.where(top, spread(g, x.shape, axis) / ties(top, axis, x), 0.0)


@primitive(_shared_by_ties, example=cases)
def max(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The largest value; ties share the gradient evenly.

    >>> max(np.array([[1.0, 5.0], [3.0, 4.0]]), axis=1)
    array([5., 4.])
    """
    return x.max(axis=axis, keepdims=keepdims)


@primitive(_shared_by_ties, example=cases)
def min(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The smallest value; ties share the gradient evenly.

    >>> min(np.array([[1.0, 5.0], [3.0, 4.0]]), axis=1)
    array([1., 3.])
    """
    return x.min(axis=axis, keepdims=keepdims)


@primitive(
    lambda g, x, out, *, axis: spread(divide_or_zero(g, out), x.shape, axis) * x,
    example=cases,
    composed=lambda x, ord, axis, keepdims: np.sqrt((x * x).sum(axis=axis, keepdims=keepdims)),
)
def norm(x: Any, ord: None = None, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The Euclidean length √Σx²; the gradient at 0 is 0, and there is no second derivative there.

    Only ord=None, the one norm that is the same for vectors and for matrices.

    >>> norm(np.array([3.0, 4.0]))
    np.float64(5.0)
    """
    if ord is not None:
        raise ValueError(f"norm knows only ord=None, the Euclidean length; ord={ord!r} was given.")
    return np.sqrt((x * x).sum(axis=axis, keepdims=keepdims))


@primitive(
    lambda g, x_shape, *, axis: np.flip(np.cumsum(np.flip(g, axis), axis), axis).reshape(x_shape),
    example=lambda rng: [(rng.normal(size=(2, 3)), 1), (rng.normal(size=(2, 3)),)],
)
def cumsum(x: Any, axis: int | None = None) -> Any:
    """The running sum along an axis, or of all entries in a row.

    >>> cumsum(np.array([1.0, 2.0, 3.0]))
    array([1., 3., 6.])
    """
    return x.cumsum(axis=axis)
