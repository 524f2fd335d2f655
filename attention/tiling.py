"""Attention tile by tile: softmax(QKᵀ · scale) V and its gradients in linear memory, on arrays.

Forward goes through the keys tile by tile with a running maximum and keeps, of each query, only the
logarithm of its sum of exponentials. Backward computes each tile of weights again from that. Tiles
belong to tasks that write to places of their own, so that threads can share them out; which tasks
there are depends on the shapes alone, and so do the results, to the last bit.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); Dao et al.,
"FlashAttention" (2022), for the recomputation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from attention.threads import in_parallel

Array = np.ndarray[Any, np.dtype[Any]]

QUERIES, KEYS = 512, 512
"""The sides of a tile. Smaller ones lose to the interpreter, larger ones leave the cache."""

GROUP = QUERIES * KEYS // 2
"""Entries of the weights of small heads that are computed together."""

STRIPS = 2
"""Of the queries of a single head, so that two threads can share its backward."""


class Problem(NamedTuple):
    """What is to be computed: inputs (..., length, width) whose leading axes broadcast."""

    query: Array
    key: Array
    value: Array
    mask: Array | None
    is_causal: bool
    scale: float

    @property
    def rows(self) -> int:
        """How many queries a tile has; fewer ones keep closer to the diagonal."""
        return max(QUERIES // 2, 1) if self.is_causal else QUERIES

    @property
    def leading(self) -> tuple[int, ...]:
        """The leading axes of the result."""
        shapes = {x.shape[:-2] for x in (self.query, self.key, self.value)}
        return shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)


class Block(NamedTuple):
    """Some heads of equal sides: (heads, length, width), and where they stand in the results."""

    place: slice
    query: Array
    key: Array
    value: Array
    mask: Array | None


def blocks(problem: Problem) -> list[Block]:
    """The heads one by one, or several small ones together."""
    leading = problem.leading
    sides = (problem.query.shape[-2], problem.key.shape[-2])
    count = math.prod(leading)
    group = max(1, GROUP // max(math.prod(sides), 1))
    mask = problem.mask
    if mask is not None:
        mask = np.broadcast_to(mask, (*leading, *sides))
    found = []
    for start in range(0, count, group):
        place = slice(start, min(start + group, count))
        masks = None if mask is None else _together(mask, leading, place)
        q, k, v = (_together(x, leading, place) for x in problem[:3])
        found.append(Block(place, q, k, v, masks))
    return found


def _together(x: Array, leading: tuple[int, ...], place: slice) -> Array:
    """Some heads of an array one after the other, copied only where they do not lie so."""
    if x.shape[:-2] != leading:
        x = np.broadcast_to(x, (*leading, *x.shape[-2:]))
    if x.flags.c_contiguous:
        return x.reshape(-1, *x.shape[-2:])[place]
    heads = [x[np.unravel_index(i, leading)] for i in range(place.start, place.stop)]
    return np.stack(heads) if len(heads) > 1 else heads[0][None]


def _reach(problem: Problem, start: int, stop: int) -> int:
    """How many keys the queries from `start` to `stop` may look at."""
    keys: int = problem.key.shape[-2]
    return min(keys, stop) if problem.is_causal else keys


@lru_cache(maxsize=8)
def _limits(queries: int, keys: int, offset: int, dtype: np.dtype[Any], tall: bool) -> Array:
    """The largest number that a causal score may be: −∞ where key j comes after query i + offset.

    (queries, keys), in the order of memory that tiles have, keys × queries if they are `tall`.
    """
    late = np.tri(queries, keys, offset) == 0
    limits: Array = np.where(late, -np.inf, np.inf).astype(dtype, order="F" if tall else "C")
    return limits


SPARE = 8 << 20
"""Bytes of scratch memory that a task leaves for the next one, at most."""

_spare: list[Array] = []


@contextmanager
def scratch(dtype: np.dtype[Any], *sizes: int) -> Iterator[list[Array]]:
    """Flat arrays to compute in, of memory that the next task uses again: fresh memory costs more
    than what is computed in it. As much is kept as tasks ever needed at the same time.
    """
    count = sum(sizes) * dtype.itemsize
    try:
        buffer = _spare.pop()  # one step, whichever thread takes it
    except IndexError:
        buffer = np.empty(count, np.uint8)
    if buffer.nbytes < count:
        buffer = np.empty(count, np.uint8)
    flat = buffer[:count].view(dtype)
    ends = [*accumulate(sizes)]
    try:
        yield [flat[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    finally:
        if buffer.nbytes <= SPARE:
            _spare.append(buffer)


def _shaped(space: Array, *shape: int) -> Array:
    """The first entries of a flat array, in this shape."""
    return space[: math.prod(shape)].reshape(shape)


def _collect(total: Array, a: Array, b: Array, space: Array, first: bool) -> None:
    """Makes `total` the matrix products of two stacks, or adds them to it."""
    if first:
        np.matmul(a, b, out=total)
    else:
        total += np.matmul(a, b, out=_shaped(space, *total.shape))


# ------------------------------------------------------------------------------------------ forward


def forward(problem: Problem, threads: int) -> tuple[Array, Array]:
    """The result (..., L, d_v), and of each query the logarithm of its sum of exponentials."""
    leading, length = problem.leading, problem.query.shape[-2]
    dtype = problem.query.dtype
    out = np.empty((*leading, length, problem.value.shape[-1]), dtype)
    log_sums = np.empty((*leading, length), dtype)
    flat = out.reshape(-1, *out.shape[-2:]), log_sums.reshape(-1, length)

    def task(block: Block, start: int) -> Callable[[], None]:
        rows = slice(start, min(start + problem.rows, length))
        into = [x[block.place, rows] for x in flat]
        return lambda: _forward_tile(problem, block, rows, *into)

    starts = range(0, length, problem.rows)[::-1]  # causal ones that take longest come first
    tasks = [task(block, start) for block in blocks(problem) for start in starts]
    in_parallel(tasks, threads)
    return out, log_sums


def _forward_tile(problem: Problem, block: Block, rows: slice, out: Array, log_sums: Array) -> None:
    """The result of some queries, keys tile by tile."""
    dtype = out.dtype
    query = block.query[:, rows] * dtype.type(problem.scale)
    heads, count = query.shape[:2]
    reach = _reach(problem, rows.start, rows.stop)
    largest = np.full((heads, count, 1), -np.inf, dtype)
    sums = np.zeros((heads, count, 1), dtype)
    if not reach:
        out[...] = 0
    with scratch(dtype, heads * count * min(KEYS, reach), out.size) as (space, more):
        for start in range(0, reach, KEYS):
            columns = slice(start, min(start + KEYS, reach))
            key, value = block.key[:, columns], block.value[:, columns]
            scores = _shaped(space, heads, count, columns.stop - start)
            np.matmul(query, key.swapaxes(-1, -2), out=scores)
            _hide(problem, block, rows, columns, scores)
            higher = np.maximum(largest, scores.max(axis=-1, keepdims=True))
            level = np.where(np.isneginf(higher), dtype.type(0), higher)  # nothing seen so far
            scores -= level
            weights = np.exp(scores, out=scores)
            if start:
                shrink = np.exp(largest - level)
                sums *= shrink
                out *= shrink
            largest = higher
            sums += weights @ np.ones((weights.shape[-1], 1), dtype)
            _collect(out, weights, value, more, first=start == 0)
    blind = sums == 0
    out /= np.where(blind, dtype.type(1), sums)
    with np.errstate(divide="ignore"):
        log_sums[...] = np.where(blind, np.inf, largest + np.log(sums))[..., 0]


def _hide(
    problem: Problem, block: Block, rows: slice, columns: slice, scores: Array, tall: bool = False
) -> None:
    """−∞ where a query may not look, or the numbers of an additive mask."""
    if block.mask is not None:
        mask = block.mask[:, rows, columns]
        if mask.dtype == bool:
            np.copyto(scores, -np.inf, where=~mask)
        else:
            scores += mask
    if problem.is_causal and columns.stop > rows.start + 1:
        first = max(columns.start, rows.start)
        late = scores[..., first - columns.start :]
        limits = _limits(*late.shape[1:], rows.start - first, scores.dtype, tall)
        np.fmin(late, limits, out=late)  # fmin, so that what is hidden may be NaN


# ----------------------------------------------------------------------------------------- backward


def backward(
    problem: Problem, upstream: Array, out: Array, log_sums: Array, threads: int
) -> tuple[Array, Array, Array]:
    """The gradients of query, key and value, each with all leading axes."""
    leading = problem.leading
    dtype = problem.query.dtype
    shapes = [(*leading, *x.shape[-2:]) for x in problem[:3]]
    found = blocks(problem)
    strips = STRIPS if len(found) == 1 and problem.query.shape[-2] > problem.rows else 1
    d_query = np.empty(shapes[0], dtype)
    # Where not every key is seen by the first queries, all of them only add.
    made = np.zeros if problem.is_causal or not problem.query.shape[-2] else np.empty
    parts = [[made(shape, dtype) for shape in shapes[1:]] for _ in range(strips)]
    flats = [x.reshape(-1, *x.shape[-2:]) for x in (np.broadcast_to(upstream, out.shape), out)]
    flat_sums = log_sums.reshape(-1, log_sums.shape[-1])

    wide = _wide(found[0]) if strips > 1 else None

    def task(block: Block, strip: int) -> Callable[[], None]:
        places = [d_query, *parts[strip]]
        into = [x.reshape(-1, *x.shape[-2:])[block.place] for x in places]
        given = [x[block.place] for x in (*flats, flat_sums)]
        every = slice(strip * problem.rows, None, strips * problem.rows)
        return lambda: _backward_strip(problem, block, every, wide, *given, *into)

    in_parallel([task(block, strip) for block in found for strip in range(strips)], threads)
    (d_key, d_value), *others = parts
    for more_key, more_value in others:
        d_key += more_key
        d_value += more_value
    return d_query, d_key, d_value


def _backward_strip(
    problem: Problem,
    block: Block,
    every: slice,
    wide: tuple[Array, Array] | None,
    upstream: Array,
    out: Array,
    log_sums: Array,
    d_query: Array,
    d_key: Array,
    d_value: Array,
) -> None:
    """Some tiles of queries: their gradients, and what they add to those of the keys.

    One more column on each operand makes the products Q·K − lse and dO·V − D in one step, with D
    the sum of dO ⊙ O in a row.
    """
    dtype = out.dtype
    heads, length = out.shape[:2]
    count, width = min(problem.rows, length), min(KEYS, block.key.shape[-2])
    sides = [x.shape[-1] for x in (block.query, block.value)]
    sizes = [count * width, count * width, max(count, width) * max(sides)]
    sizes += [count * (side + 1) for side in sides]
    if wide is None:
        sizes += [block.key.shape[-2] * (side + 1) for side in sides]
    starts = range(*every.indices(length))
    with scratch(dtype, *[heads * size for size in sizes]) as spaces:
        wide = wide or _wide(block, *spaces[5:])
        for start in starts:
            rows = slice(start, min(start + problem.rows, length))
            scaled = block.query[:, rows] * dtype.type(problem.scale)
            query = _with_column(scaled, -log_sums[:, rows, None], spaces[3])
            given = upstream[:, rows]
            turn = -(given * out[:, rows]).sum(axis=-1, keepdims=True)
            slope = _with_column(given, turn, spaces[4])
            first = start == starts[0] and not problem.is_causal
            for columns, weights, change in _tiles(
                problem, block, rows, query, slope, wide, spaces
            ):
                _collect(d_value[:, columns], weights, slope[..., :-1], spaces[2], first)
                change *= weights
                _collect(d_key[:, columns], change, query[..., :-1], spaces[2], first)
                key = block.key[:, columns]
                _collect(
                    d_query[:, rows], change.swapaxes(-1, -2), key, spaces[2], columns.start == 0
                )
            if not _reach(problem, rows.start, rows.stop):
                d_query[:, rows] = 0
            d_query[:, rows] *= dtype.type(problem.scale)


def _tiles(
    problem: Problem,
    block: Block,
    rows: slice,
    query: Array,
    slope: Array,
    wide: tuple[Array, Array],
    spaces: list[Array],
) -> Iterator[tuple[slice, Array, Array]]:
    """Tile by tile the weights, and ∂L/∂weights − D: both as keys × queries, which is faster."""
    heads, count = query.shape[:2]
    reach = _reach(problem, rows.start, rows.stop)
    keys, values = wide
    for start in range(0, reach, KEYS):
        columns = slice(start, min(start + KEYS, reach))
        one, two = (_shaped(space, heads, columns.stop - start, count) for space in spaces[:2])
        np.matmul(keys[:, columns], query.swapaxes(-1, -2), out=one)
        _hide(problem, block, rows, columns, one.swapaxes(-1, -2), tall=True)
        np.exp(one, out=one)
        np.matmul(values[:, columns], slope.swapaxes(-1, -2), out=two)
        yield columns, one, two


def _wide(block: Block, *spaces: Array) -> tuple[Array, Array]:
    """Keys and values with a column of ones."""
    key, value = spaces or (None, None)
    return _with_column(block.key, 1.0, key), _with_column(block.value, 1.0, value)


def _with_column(x: Array, last: Any, space: Array | None) -> Array:
    """An array with one more column, in the space given or one of its own."""
    shape = (*x.shape[:-1], x.shape[-1] + 1)
    wide = np.empty(shape, x.dtype) if space is None else _shaped(space, *shape)
    wide[..., :-1] = x
    wide[..., -1:] = last
    return wide
