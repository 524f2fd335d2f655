"""Taking entries out by position, and adding them back: each is the other's gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.equations import opaque
from minigrad.memory import Variable
from minigrad.operand import Operand
from minigrad.primitive import primitive


def frozen(index: Any) -> Any:
    """The index with arrays of its own, so that nobody changes it before the backward."""
    if isinstance(index, tuple):
        return tuple([frozen(part) for part in index])
    if isinstance(index, Variable):
        index = index._data
    return np.array(index) if isinstance(index, (list, np.ndarray)) else index


def _names_once(index: Any) -> bool:
    """Whether no entry can be named twice: slices, numbers and boolean masks."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(np.ndim(p) == 0 or np.asarray(p).dtype == bool for p in parts)


def _integers(op: str, indices: Any) -> Any:
    found = frozen(indices)
    if np.asarray(found).dtype == bool:
        raise TypeError(f"{op}: positions are integers, not bool; a mask goes as x[mask].")
    return found if isinstance(found, Operand) else np.asarray(found)


def _called(call: Any, x: Any, index: Any) -> Any:
    return call(x, frozen(index))


@primitive(
    lambda g, x_shape, *, index: scatter_add(g, x_shape, index),
    example=lambda rng: [
        (rng.normal(size=(3, 4)), (slice(None), 1)),
        (rng.normal(size=(3, 4)), [0, 2, 0, -1]),
        (rng.normal(size=(3, 4)), (slice(None, None, -1), None, slice(1, 3))),
        (rng.normal(size=(3, 4)), rng.random((3, 4)) < 0.5),
        (rng.normal(size=(3, 4)), (..., np.array([[0, 3], [3, 3]]))),
    ],
    expects="an index as NumPy takes: integers, slices, ..., None, integer and boolean arrays",
    called=_called,
)
def getitem(x: Any, index: Any) -> Any:
    """`x[index]`, with NumPy's indexing; a repeated index adds up in the gradient.

    >>> getitem(np.array([1.0, 2.0, 3.0]), [0, 2, 0])
    array([1., 3., 1.])
    """
    return x[index]


@primitive(
    lambda g, *, index: g[index],
    example=lambda rng: [
        (rng.normal(size=4), (3,), [0, 2, 0, -1]),
        (rng.normal(size=2), (3, 2), 1),
    ],
    called=lambda call, x, shape, index: call(x, shape, frozen(index)),
)
def scatter_add(x: Any, shape: tuple[int, ...], index: Any) -> Any:
    """An array of zeros of `shape` to which x is added at `index`, as often as it is named.

    >>> scatter_add(np.array([1.0, 10.0, 100.0]), (3,), [0, 2, 0])
    array([101.,   0.,  10.])
    """
    total = np.zeros(shape, x.dtype)
    if _names_once(index):
        total[index] = x
    else:
        np.add.at(total, index, x)
    return total


@opaque
def positions(indices: Any, axis: int | None, shape: tuple[int, ...]) -> Any:
    """`take`'s indices as an index of the whole array."""
    if axis is None:
        return np.unravel_index(np.asarray(indices) % max(1, int(np.prod(shape))), shape)
    return (slice(None),) * (axis % len(shape)) + (indices,)


@primitive(
    lambda g, x_shape, *, indices, axis: scatter_add(g, x_shape, positions(indices, axis, x_shape)),
    example=lambda rng: [
        (rng.normal(size=(3, 4)), [3, 0, 3, -1]),
        (rng.normal(size=(3, 4)), np.array([[2, 0], [2, -1]]), 0),
        (rng.normal(size=(3, 4)), np.array([[3, 0], [3, -1]]), -1),
    ],
    expects="integers within the axis",
    called=lambda call, x, indices, axis=None: call(x, _integers("take", indices), axis),
)
def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """The entries at integer positions along an axis, or of all entries in a row.

    >>> take(np.array([[1.0, 2.0], [3.0, 4.0]]), [1, 1], axis=0)
    array([[3., 4.],
           [3., 4.]])
    """
    return np.take(x, indices, axis=axis)


@primitive(
    lambda g, weight_shape, *, indices: scatter_add(g, weight_shape, indices),
    example=lambda rng: (rng.normal(size=(5, 3)), np.array([[4, 0], [4, 2]])),
    expects="integers that each name a row",
    called=lambda call, weight, indices: call(weight, _integers("embedding", indices)),
)
def embedding(weight: Any, indices: Any) -> Any:
    """The rows of a table: weight (n, width) at integer indices (...) gives (..., width).

    >>> embedding(np.array([[1.0, 2.0], [3.0, 4.0]]), [1, 1])
    array([[3., 4.],
           [3., 4.]])
    """
    return np.take(weight, indices, axis=0)
