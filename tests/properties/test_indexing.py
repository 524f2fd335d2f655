"""Taking entries out takes what NumPy takes, and an entry that is named often adds up."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import minigrad
from minigrad import Tensor
from tests.properties.support import (
    Array,
    Draw,
    Shape,
    assert_like_numpy,
    assert_near,
    holds_for,
    leaves,
    normal,
    seeds,
    shapes,
)


@st.composite
def integers(draw: Draw, n: int, shape: Shape) -> Array:
    """Positions within an axis, repeated at times, counted from either end."""
    count = int(np.prod(shape))
    numbers = draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count))
    return np.array(numbers, int).reshape(shape)


@st.composite
def slices(draw: Draw, n: int) -> slice:
    bounds = st.none() | st.integers(-n - 1, n + 1)
    return slice(draw(bounds), draw(bounds), draw(st.sampled_from([None, 1, 2, -1, -2])))


@st.composite
def parts(draw: Draw, n: int, common: Shape) -> Any:
    """What may stand for one axis; the arrays of one index broadcast to `common`."""
    count = common[-1] if common else 1
    kinds = ["slice", "int", "numpy int", "integers", "list", *(["booleans"] * (n >= count))]
    kind = draw(st.sampled_from(kinds))
    if kind == "slice":
        return draw(slices(n))
    if kind in ("int", "numpy int"):
        number = draw(st.integers(-n, n - 1))
        return number if kind == "int" else np.int64(number)
    if kind == "booleans":  # as many True as the other arrays have entries
        return np.array(draw(st.permutations([True] * count + [False] * (n - count))))
    array = draw(integers(n, common[-1:] if kind == "list" else common))
    return array.tolist() if kind == "list" else array


@st.composite
def indices(draw: Draw, shape: Shape) -> Any:
    """Any mixture that NumPy takes: ints, slices, None, "...", integer and boolean arrays."""
    common = draw(st.sampled_from([(), (2,), (3, 2)]))
    back = draw(st.integers(0, len(shape)))
    rest = len(shape) - back
    front = rest if draw(st.booleans()) else draw(st.integers(0, rest))
    before = [draw(parts(n, common)) for n in shape[:front]]
    after = [draw(parts(n, common)) for n in shape[len(shape) - back :]]
    elided = draw(st.booleans()) or (back > 0 and front + back < len(shape))
    index = [*before, *([...] if elided else []), *after]
    for _ in range(draw(st.integers(0, 2))):
        index.insert(draw(st.integers(0, len(index))), None)
    return index[0] if len(index) == 1 else tuple(index)


@st.composite
def arrays_and_indices(draw: Draw) -> tuple[Array, Any]:
    shape = draw(shapes(1, 3))
    (array,) = normal(draw(seeds), shape)
    return array, draw(indices(shape))


@holds_for(case=arrays_and_indices())
def test_an_index_means_what_it_means_in_numpy(case: tuple[Array, Any]) -> None:
    array, index = case
    assert_like_numpy(lambda x: x[index], lambda x: x[index], array)


@holds_for(case=arrays_and_indices())
def test_scatter_add_is_what_taking_out_undoes(case: tuple[Array, Any]) -> None:
    array, index = case
    (x,) = normal(1, array[index].shape)

    def add_at(x: Any) -> Any:
        total = np.zeros(array.shape)
        np.add.at(total, index, x)
        return total

    assert_like_numpy(lambda x: minigrad.scatter_add(x, array.shape, index), add_at, x)


@holds_for(shape=shapes(1, 3), depth=st.integers(1, 3), seed=seeds)
def test_a_mask_takes_the_entries_where_it_is_true(shape: Shape, depth: int, seed: int) -> None:
    array, draws = normal(seed, shape, shape[:depth])
    mask = draws > 0
    assert_like_numpy(lambda x: x[mask], lambda x: x[mask], array)
    assert_like_numpy(lambda x: x[Tensor(mask)], lambda x: x[mask], array)


@st.composite
def positions(draw: Draw) -> tuple[Array, Any, int | None]:
    shape = draw(shapes(1, 3))
    (array,) = normal(draw(seeds), shape)
    axis = draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    n = array.size if axis is None else shape[axis]
    found = draw(integers(n, draw(st.sampled_from([(), (4,), (3, 2)]))))
    return array, draw(st.sampled_from([found, found.tolist()])), axis


@holds_for(case=positions())
def test_take_takes_positions_along_an_axis_or_of_all(
    case: tuple[Array, Any, int | None],
) -> None:
    array, found, axis = case
    assert_like_numpy(lambda x: x.take(found, axis), lambda x: np.take(x, found, axis), array)
    assert_like_numpy(lambda x: np.take(x, found, axis), lambda x: np.take(x, found, axis), array)


@holds_for(rows=integers(5, (3, 4)), seed=seeds)
def test_each_row_of_an_embedding_gets_the_sum_of_its_uses(rows: Array, seed: int) -> None:
    table, upstream = normal(seed, (5, 2), (3, 4, 2))
    (weight,) = leaves([table])
    out = minigrad.embedding(weight, rows)
    np.testing.assert_array_equal(out.numpy(), table[rows])
    out.backward(upstream)
    expected = [upstream[rows % 5 == row].sum(axis=0) for row in range(5)]
    assert_near(weight.grad, np.array(expected), 1e-12)


@pytest.mark.parametrize("kind", [np.array, list], ids=["array", "list"])
def test_an_index_that_is_changed_afterwards_is_the_one_that_was_used(kind: Any) -> None:
    table, upstream = normal(0, (4, 3), (3, 3))
    index = kind([0, 2, 0])
    (x,) = leaves([table])
    outs = [x[index], x.take(index, 0), minigrad.embedding(x, index)]
    index[0] = 3
    for out in outs:
        x.grad = None
        out.backward(upstream)
        expected = np.array([upstream[0] + upstream[2], np.zeros(3), upstream[1], np.zeros(3)])
        assert_near(x.grad, expected, 1e-12)
