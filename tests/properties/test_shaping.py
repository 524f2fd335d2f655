"""Rearrangements move entries where NumPy moves them, and gradients back along the same way."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

import minigrad
from tests.properties.support import (
    Array,
    Draw,
    Shape,
    assert_like_numpy,
    axes_of,
    holds_for,
    normal,
    seeds,
    shapes,
)


@st.composite
def factorisations(draw: Draw, size: int) -> Shape:
    """Shapes with as many entries, one side of which may be left to be worked out."""
    sides: list[int] = []
    while size > 1 and draw(st.booleans()):
        sides.append(draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0])))
        size //= sides[-1]
    sides.append(size)
    if draw(st.booleans()):
        sides[draw(st.integers(0, len(sides) - 1))] = -1
    return tuple(sides)


@holds_for(shape=shapes(), seed=seeds, data=st.data())
def test_reshape_reads_row_by_row(shape: Shape, seed: int, data: st.DataObject) -> None:
    (x,) = normal(seed, shape)
    new = data.draw(factorisations(x.size))
    assert_like_numpy(lambda x: x.reshape(new), lambda x: np.reshape(x, new), x)
    assert_like_numpy(lambda x: x.reshape(*new), lambda x: np.reshape(x, new), x)
    assert_like_numpy(lambda x: x.T.reshape(new), lambda x: np.reshape(x.T, new), x)


@holds_for(shape=shapes(1), seed=seeds, data=st.data())
def test_a_permutation_of_axes_is_numpys(shape: Shape, seed: int, data: st.DataObject) -> None:
    (x,) = normal(seed, shape)
    order = data.draw(st.permutations(range(x.ndim)))
    axes = tuple([a - x.ndim if data.draw(st.booleans()) else a for a in order])
    assert_like_numpy(lambda x: x.transpose(axes), lambda x: np.transpose(x, axes), x)
    if len(axes) > 1:
        assert_like_numpy(lambda x: x.transpose(*axes), lambda x: np.transpose(x, axes), x)
    assert_like_numpy(lambda x: np.transpose(x, axes), lambda x: np.transpose(x, axes), x)
    assert_like_numpy(lambda x: x.T, lambda x: x.T, x)
    first, second = axes[0], axes[-1]
    assert_like_numpy(
        lambda x: x.swapaxes(first, second), lambda x: np.swapaxes(x, first, second), x
    )


def test_the_one_axis_of_a_vector_may_be_named() -> None:
    assert_like_numpy(lambda x: x.transpose(0), lambda x: x.transpose(0), *normal(0, (3,)))


@holds_for(shape=shapes(2), seed=seeds)
def test_the_matrix_transpose_swaps_the_last_two_axes(shape: Shape, seed: int) -> None:
    assert_like_numpy(lambda x: x.mT, lambda x: x.mT, *normal(seed, shape))


@st.composite
def with_ones(draw: Draw) -> tuple[Array, Any]:
    shape = list(draw(shapes(0, 2)))
    places = sorted(draw(st.lists(st.integers(0, 3), unique=True, max_size=2)))
    places = [place for place in places if place <= len(shape) + places.index(place)]
    for place in places:
        shape.insert(place, 1)
    (array,) = normal(draw(seeds), tuple(shape))
    signed = tuple([p - array.ndim if draw(st.booleans()) else p for p in places])
    return array, draw(st.sampled_from([signed, signed[0] if signed else signed]))


@holds_for(case=with_ones())
def test_axes_of_length_1_go_and_come(case: tuple[Array, Any]) -> None:
    array, axes = case
    assert_like_numpy(lambda x: x.squeeze(), lambda x: np.squeeze(x), array)
    assert_like_numpy(lambda x: x.squeeze(axes), lambda x: np.squeeze(x, axes), array)
    bare = np.squeeze(array, axes)
    assert_like_numpy(lambda x: x.expand_dims(axes), lambda x: np.expand_dims(x, axes), bare)


@st.composite
def pieces(draw: Draw) -> tuple[list[Array], int]:
    shape = draw(shapes(1, 3))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    wholes = [list(shape) for _ in lengths]
    for whole, n in zip(wholes, lengths, strict=True):
        whole[axis] = n
    return normal(draw(seeds), *[tuple(whole) for whole in wholes]), axis


@holds_for(case=pieces())
def test_pieces_of_any_length_are_joined(case: tuple[list[Array], int]) -> None:
    arrays, axis = case
    for concatenate in (minigrad.concatenate, np.concatenate):
        assert_like_numpy(
            lambda *x, join=concatenate: join(x, axis=axis),
            lambda *x: np.concatenate(x, axis),
            *arrays,
        )


@holds_for(shape=shapes(0, 2), count=st.integers(1, 3), seed=seeds, data=st.data())
def test_equal_pieces_are_stacked(shape: Shape, count: int, seed: int, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    arrays = normal(seed, *[shape] * count)
    assert_like_numpy(lambda *x: minigrad.stack(x, axis), lambda *x: np.stack(x, axis), *arrays)


@holds_for(case=pieces(), weights=seeds, data=st.data())
def test_what_split_takes_apart_keeps_its_gradients_apart(
    case: tuple[list[Array], int], weights: int, data: st.DataObject
) -> None:
    arrays, axis = case
    whole = np.concatenate(arrays, axis)
    n = whole.shape[axis]
    bounds = sorted(data.draw(st.lists(st.integers(0, n), max_size=3)))
    equal = [k for k in range(1, n + 1) if n % k == 0]
    sections: Any
    for sections in (bounds, *equal):
        parts = np.split(whole, sections, axis)
        factors = normal(weights, *[part.shape for part in parts])

        def weighted(split: Any, x: Any, sections: Any = sections, factors: Any = factors) -> Any:
            parts = split(x, sections, axis)
            assert len(parts) == len(factors)
            return sum((part * w).sum() for part, w in zip(parts, factors, strict=True))

        assert_like_numpy(
            lambda x, weighted=weighted: weighted(minigrad.split, x),
            lambda x, weighted=weighted: np.asarray(weighted(np.split, x)),
            whole,
        )


def test_an_axis_without_entries_is_split_into_parts_without_entries() -> None:
    assert [part.shape for part in minigrad.split(np.zeros((0, 3)), 2)] == [(0, 3), (0, 3)]


@holds_for(shape=shapes(), seed=seeds, data=st.data())
def test_flip_reverses_along_axes(shape: Shape, seed: int, data: st.DataObject) -> None:
    (x,) = normal(seed, shape)
    axis = data.draw(axes_of(x.ndim))
    assert_like_numpy(lambda x: minigrad.flip(x, axis), lambda x: np.flip(x, axis), x)


@holds_for(shape=shapes(1, 3), seed=seeds, data=st.data())
def test_a_margin_is_put_around(shape: Shape, seed: int, data: st.DataObject) -> None:
    (x,) = normal(seed, shape)
    width = st.integers(0, 3)
    pair = st.tuples(width, width)
    each = st.tuples(*[pair] * x.ndim)
    margin = data.draw(width | pair | each | st.tuples(pair))
    value = data.draw(st.sampled_from([0.0, -2.5]))
    assert_like_numpy(
        lambda x: minigrad.pad(x, margin, constant_values=value),
        lambda x: np.pad(x, margin, constant_values=value),
        x,
    )


@holds_for(shape=shapes(2, 4), k=st.integers(-4, 4), seed=seeds)
def test_the_lower_triangle_of_the_last_two_axes_stays(shape: Shape, k: int, seed: int) -> None:
    assert_like_numpy(lambda x: minigrad.tril(x, k), lambda x: np.tril(x, k), *normal(seed, shape))
