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
from typing import Any, NamedTuple

import numpy as np

from attention.threads import in_parallel

Array = np.ndarray[Any, np.dtype[Any]]

QUERIES, KEYS = 256, 1024
"""The sides of a tile. Smaller ones lose to the interpreter, larger ones leave the cache."""

GROUP = QUERIES * KEYS // 4
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
    def leading(self) -> tuple[int, ...]:
        """The leading axes of the result."""
        arrays = (self.query, self.key, self.value)
        return np.broadcast_shapes(*[x.shape[:-2] for x in arrays])

    def over(self, x: Array) -> Array:
        """One of the inputs with all leading axes; nothing is copied."""
        return np.broadcast_to(x, (*self.leading, *x.shape[-2:]))


class Block(NamedTuple):
    """Some heads of equal sides: (heads, length, width), and where they stand in the results."""

    place: slice
    query: Array
    key: Array
    value: Array
    mask: Array | None


def blocks(problem: Problem) -> list[Block]:
    """The heads one by one, or several small ones together."""
    sides = (problem.query.shape[-2], problem.key.shape[-2])
    count = math.prod(problem.leading)
    group = max(1, GROUP // max(math.prod(sides), 1))
    query, key, value = (problem.over(x) for x in problem[:3])
    mask = problem.mask
    if mask is not None:
        mask = np.broadcast_to(mask, (*problem.leading, *sides))
    found = []
    for start in range(0, count, group):
        place = slice(start, min(start + group, count))
        heads = [np.unravel_index(i, problem.leading) for i in range(start, place.stop)]
        masks = None if mask is None else _together(mask, place, heads)
        q, k, v = (_together(x, place, heads) for x in (query, key, value))
        found.append(Block(place, q, k, v, masks))
    return found


def _together(x: Array, place: slice, heads: list[Any]) -> Array:
    """Some heads of an array one after the other, copied only where they do not lie so."""
    if x.flags.c_contiguous:
        return x.reshape(-1, *x.shape[-2:])[place]
    return np.stack([x[index] for index in heads]) if len(heads) > 1 else x[heads[0]][None]


def _reach(problem: Problem, start: int, stop: int) -> int:
    """How many keys the queries from `start` to `stop` may look at."""
    keys: int = problem.key.shape[-2]
    return min(keys, stop) if problem.is_causal else keys


def _hidden(problem: Problem, rows: slice, columns: slice) -> tuple[int, Array] | None:
    """Where a causal tile is hidden: from which column on, and which of its entries."""
    if not problem.is_causal or columns.stop <= rows.start + 1:
        return None
    first = max(columns.start, rows.start)
    row, column = np.arange(rows.start, rows.stop), np.arange(first, columns.stop)
    return first - columns.start, column > row[:, None]


# ------------------------------------------------------------------------------------------ forward


def forward(problem: Problem, threads: int) -> tuple[Array, Array]:
    """The result (..., L, d_v), and of each query the logarithm of its sum of exponentials."""
    leading, length = problem.leading, problem.query.shape[-2]
    dtype = problem.query.dtype
    out = np.empty((*leading, length, problem.value.shape[-1]), dtype)
    log_sums = np.empty((*leading, length), dtype)
    flat = out.reshape(-1, *out.shape[-2:]), log_sums.reshape(-1, length)

    def task(block: Block, start: int) -> Callable[[], None]:
        rows = slice(start, min(start + QUERIES, length))
        into = [x[block.place, rows] for x in flat]
        return lambda: _forward_tile(problem, block, rows, *into)

    tasks = [task(block, start) for block in blocks(problem) for start in range(0, length, QUERIES)]
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
    total = np.zeros(out.shape, dtype)
    space = np.empty(heads * count * min(KEYS, max(reach, 1)), dtype)
    for start in range(0, reach, KEYS):
        columns = slice(start, min(start + KEYS, reach))
        key, value = block.key[:, columns], block.value[:, columns]
        shape = (heads, count, columns.stop - columns.start)
        scores = np.matmul(
            query, key.swapaxes(-1, -2), out=space[: math.prod(shape)].reshape(shape)
        )
        _hide(problem, block, rows, columns, scores)
        higher = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        level = np.where(np.isneginf(higher), dtype.type(0), higher)  # nothing to look at so far
        scores -= level
        weights = np.exp(scores, out=scores)
        if start:
            shrink = np.exp(largest - level)
            sums *= shrink
            total *= shrink
        largest = higher
        sums += weights @ np.ones((shape[-1], 1), dtype)
        total += weights @ value
    seen = sums > 0
    np.divide(total, sums, out=out, where=seen)
    np.copyto(out, 0, where=~seen)
    with np.errstate(divide="ignore"):
        log_sums[...] = np.where(seen, largest + np.log(sums), np.inf)[..., 0]


def _hide(problem: Problem, block: Block, rows: slice, columns: slice, scores: Array) -> None:
    """−∞ where a query may not look, or the numbers of an additive mask."""
    if block.mask is not None:
        mask = block.mask[:, rows, columns]
        if mask.dtype == bool:
            np.copyto(scores, -np.inf, where=~mask)
        else:
            scores += mask
    hidden = _hidden(problem, rows, columns)
    if hidden is not None:
        np.copyto(scores[..., hidden[0] :], -np.inf, where=hidden[1])


# ----------------------------------------------------------------------------------------- backward


def backward(
    problem: Problem, upstream: Array, out: Array, log_sums: Array, threads: int
) -> tuple[Array, Array, Array]:
    """The gradients of query, key and value, each with all leading axes."""
    leading = problem.leading
    dtype = problem.query.dtype
    shapes = [(*leading, *x.shape[-2:]) for x in problem[:3]]
    found = blocks(problem)
    strips = STRIPS if len(found) == 1 and problem.query.shape[-2] > QUERIES else 1
    d_query = np.empty(shapes[0], dtype)
    parts = [[np.zeros(shape, dtype) for shape in shapes[1:]] for _ in range(strips)]
    flats = [x.reshape(-1, *x.shape[-2:]) for x in (np.broadcast_to(upstream, out.shape), out)]
    flat_sums = log_sums.reshape(-1, log_sums.shape[-1])

    shared = _wide(found[0]) if strips > 1 else None

    def task(block: Block, strip: int) -> Callable[[], None]:
        places = [d_query, *parts[strip]]
        into = [x.reshape(-1, *x.shape[-2:])[block.place] for x in places]
        given = [x[block.place] for x in (*flats, flat_sums)]
        every = slice(strip * QUERIES, None, strips * QUERIES)
        return lambda: _backward_strip(problem, block, every, shared or _wide(block), *given, *into)

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
    wide: tuple[Array, Array],
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
    keys, values = wide
    length = out.shape[-2]
    for start in range(*every.indices(length)):
        rows = slice(start, min(start + QUERIES, length))
        scaled = block.query[:, rows] * dtype.type(problem.scale)
        query = _with_column(scaled, -log_sums[:, rows, None])
        given = upstream[:, rows]
        slope = _with_column(given, -(given * out[:, rows]).sum(axis=-1, keepdims=True))
        for columns, weights, change in _tiles(problem, block, rows, query, slope, keys, values):
            d_value[:, columns] += weights @ slope[..., :-1]
            change *= weights
            d_key[:, columns] += change @ query[..., :-1]
            part = change.swapaxes(-1, -2) @ block.key[:, columns]
            if columns.start:
                d_query[:, rows] += part
            else:
                d_query[:, rows] = part
        if not _reach(problem, rows.start, rows.stop):
            d_query[:, rows] = 0
        d_query[:, rows] *= dtype.type(problem.scale)


def _tiles(
    problem: Problem,
    block: Block,
    rows: slice,
    query: Array,
    slope: Array,
    keys: Array,
    values: Array,
) -> Iterator[tuple[slice, Array, Array]]:
    """Tile by tile the weights, and ∂L/∂weights − D: both as keys × queries, which is faster."""
    heads, count = query.shape[:2]
    reach = _reach(problem, rows.start, rows.stop)
    spaces = [np.empty(heads * count * min(KEYS, max(reach, 1)), query.dtype) for _ in range(2)]
    for start in range(0, reach, KEYS):
        columns = slice(start, min(start + KEYS, reach))
        shape = (heads, columns.stop - columns.start, count)
        one, two = [space[: math.prod(shape)].reshape(shape) for space in spaces]
        np.matmul(keys[:, columns], query.swapaxes(-1, -2), out=one)
        _hide(problem, block, rows, columns, one.swapaxes(-1, -2))
        np.exp(one, out=one)
        np.matmul(values[:, columns], slope.swapaxes(-1, -2), out=two)
        yield columns, one, two


def _wide(block: Block) -> tuple[Array, Array]:
    """Keys and values with a column of ones."""
    return _with_column(block.key, 1.0), _with_column(block.value, 1.0)


def _with_column(x: Array, last: Any) -> Array:
    """An array with one more column."""
    wide = np.empty((*x.shape[:-1], x.shape[-1] + 1), x.dtype)
    wide[..., :-1] = x
    wide[..., -1:] = last
    return wide
