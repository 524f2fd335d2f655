"""Rearranging entries: reshaping, permuting, joining, padding. No arithmetic, so no dtype changes.

Every gradient here is a rearrangement too, most often the inverse one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.equations import opaque
from minigrad.operand import FUNCTIONS, Axis, Operand
from minigrad.primitive import primitive


def _cube(rng: np.random.Generator) -> Any:
    return rng.normal(size=(2, 3, 4))


@primitive(
    lambda g, x_shape: g.reshape(x_shape),
    example=lambda rng: [(_cube(rng), (4, 6)), (_cube(rng), -1)],
    expects="a shape with as many entries; one length may be -1",
)
def reshape(x: Any, shape: int | tuple[int, ...]) -> Any:
    """The same entries, read row by row, in another shape.

    >>> reshape(np.arange(6.0), (2, 3))
    array([[0., 1., 2.],
           [3., 4., 5.]])
    """
    return np.reshape(x, shape)


@opaque
def inverse(axes: Sequence[int] | None) -> tuple[int, ...] | None:
    """The permutation that undoes `axes`."""
    return None if axes is None else tuple(np.argsort([a % len(axes) for a in axes]).tolist())


@primitive(
    lambda g, *, axes: np.transpose(g, inverse(axes)),
    example=lambda rng: [(_cube(rng),), (_cube(rng), (1, -1, 0))],
    expects="every axis exactly once",
)
def transpose(x: Any, axes: tuple[int, ...] | None = None) -> Any:
    """The axes in another order, reversed by default.

    >>> transpose(np.ones((2, 3, 4)), (1, 2, 0)).shape
    (3, 4, 2)
    """
    return np.transpose(x, axes)


FUNCTIONS["permute"] = permute = transpose


@primitive(
    lambda g, *, axis1, axis2: np.swapaxes(g, axis1, axis2),
    example=lambda rng: (_cube(rng), 0, -1),
)
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Two axes swapped.

    >>> swapaxes(np.ones((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    """
    return np.swapaxes(x, axis1, axis2)


@primitive(
    lambda g: g,  # the engine undoes broadcasting for every op
    example=lambda rng: [(rng.normal(size=s), (2, 3, 4)) for s in ((3, 1), (1, 4))],
    expects="lengths that are equal or 1 when read from the right",
)
def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Repeated along axes of length 1 and along new leading axes.

    >>> broadcast_to(np.array([1.0, 2.0]), (2, 2))
    array([[1., 2.],
           [1., 2.]])
    """
    return np.broadcast_to(x, shape)


@primitive(
    lambda g, x_shape: g.reshape(x_shape),
    example=lambda rng: [(rng.normal(size=(2, 1, 3)), 1), (rng.normal(size=(2, 1, 3)),)],
    expects="axes of length 1",
)
def squeeze(x: Any, axis: Axis = None) -> Any:
    """Without its axes of length 1, or without the ones named.

    >>> squeeze(np.ones((2, 1, 3))).shape
    (2, 3)
    """
    return np.squeeze(x, axis)


@primitive(
    lambda g, x_shape: g.reshape(x_shape),
    example=lambda rng: [(_cube(rng), 1), (_cube(rng), (0, -1))],
)
def expand_dims(x: Any, axis: int | tuple[int, ...]) -> Any:
    """With new axes of length 1 at the given places of the result.

    >>> expand_dims(np.ones((2, 3)), 0).shape
    (1, 2, 3)
    """
    return np.expand_dims(x, axis)


@opaque
def piece(position: int, shapes: Sequence[Any], axis: int | None) -> tuple[slice, ...]:
    """Where the array at `position` ended up in the concatenation."""
    sizes = [math.prod(shape) if axis is None else shape[axis] for shape in shapes]
    part = slice(sum(sizes[:position]), sum(sizes[: position + 1]))
    return (part,) if axis is None else (*[slice(None)] * (axis % len(shapes[0])), part)


@primitive(
    lambda g, index, arrays_shape, *, axis: g[piece(index, arrays_shape, axis)].reshape(
        arrays_shape[index]
    ),
    example=lambda rng: [
        (_cube(rng), _cube(rng)[1:]),
        (_cube(rng)[..., :1], _cube(rng), {"axis": -1}),
        (_cube(rng), _cube(rng)[0], {"axis": None}),
    ],
    expects="shapes that are equal but along the axis",
)
def concatenate(*arrays: Any, axis: int | None = 0) -> Any:
    """Joined along an axis: `concatenate([a, b], axis)`; all entries in a row for axis=None.

    >>> concatenate([np.array([1.0]), np.array([2.0, 3.0])])
    array([1., 2., 3.])
    """
    return np.concatenate(arrays, axis)


@primitive(
    lambda g, index, *, axis: np.take(g, index, axis=axis),
    example=lambda rng: [(_cube(rng), _cube(rng)), (_cube(rng), _cube(rng), {"axis": -1})],
    expects="equal shapes",
)
def stack(*arrays: Any, axis: int = 0) -> Any:
    """Joined along a new axis: `stack([a, b], axis)`.

    >>> stack([np.array([1.0, 2.0]), np.array([3.0, 4.0])], axis=1)
    array([[1., 3.],
           [2., 4.]])
    """
    return np.stack(arrays, axis)


def split(x: Any, sections: int | Sequence[int], axis: int = 0) -> list[Any]:
    """Equal parts (a number of them), or the parts between positions, along an axis.

    Errors: `ValueError` if equal parts are not possible.

    >>> [part.tolist() for part in split(np.arange(5.0), [2, 3])]
    [[0.0, 1.0], [2.0], [3.0, 4.0]]
    """
    x = x if isinstance(x, Operand) else np.asarray(x)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"split: axis {axis} is out of bounds for shape {x.shape}.")
    n = x.shape[axis]
    if isinstance(sections, (int, np.integer)):
        if sections < 1 or n % sections:
            raise ValueError(f"split: {n} entries along axis {axis} do not make {sections} parts.")
        sections = [n // sections * k for k in range(1, sections)]
    before = (slice(None),) * (axis % x.ndim)
    bounds = zip((0, *sections), (*sections, n), strict=True)
    return [x[(*before, slice(start, stop))] for start, stop in bounds]


FUNCTIONS["split"] = split


@primitive(
    lambda g, *, axis: np.flip(g, axis),
    example=lambda rng: [(_cube(rng), 1), (_cube(rng),), (_cube(rng), (0, -1))],
)
def flip(x: Any, axis: Axis = None) -> Any:
    """The entries in reverse order along axes.

    >>> flip(np.array([1.0, 2.0, 3.0]))
    array([3., 2., 1.])
    """
    return np.flip(x, axis)


@opaque
def inner(pad_width: Any, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Where the array lies within its padding."""
    widths = np.broadcast_to(np.asarray(pad_width, dtype=int), (len(shape), 2))
    return tuple([slice(int(w[0]), int(w[0]) + n) for w, n in zip(widths, shape, strict=True)])


@primitive(
    lambda g, x_shape, *, pad_width: g[inner(pad_width, x_shape)],
    example=lambda rng: [(rng.normal(size=(2, 3)), ((1, 0), (2, 3))), (rng.normal(size=(2, 3)), 1)],
    expects="one width, or (before, after) for all axes or for each",
)
def pad(x: Any, pad_width: Any, *, mode: str = "constant", constant_values: float = 0.0) -> Any:
    """With a constant margin.

    >>> pad(np.array([1.0, 2.0]), (1, 2))
    array([0., 1., 2., 0., 0.])
    """
    if mode != "constant":
        raise ValueError(f"pad: mode={mode!r}; only 'constant' has a gradient here.")
    return np.pad(x, pad_width, constant_values=constant_values)


@primitive(
    lambda g, *, k: np.tril(g, k),
    example=lambda rng: [(rng.normal(size=(2, 3, 4)),), (rng.normal(size=(3, 4)), 1)],
    expects="at least two axes",
)
def tril(x: Any, k: int = 0) -> Any:
    """The lower triangle of the last two axes, up to the k-th diagonal; 0 above it.

    >>> tril(np.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    return np.tril(x, k)
