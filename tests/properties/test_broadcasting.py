"""Operands of any shapes that broadcast give NumPy's values, and gradients of their own shapes."""

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import minigrad
from minigrad import Tensor
from tests.properties.support import (
    Function,
    Shape,
    assert_like_numpy,
    assert_near,
    broadcastable,
    holds_for,
    leaves,
    normal,
    seeds,
    shapes,
)

OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
}
FUNCTIONS = ["maximum", "minimum"]


def positive(seed: int, *of: Shape) -> list[Any]:
    return [0.5 + np.abs(x) for x in normal(seed, *of)]


@pytest.mark.parametrize("apply", OPERATORS.values(), ids=OPERATORS.keys())
@holds_for(two=broadcastable(), seed=seeds)
def test_an_operator_broadcasts(apply: Function, two: tuple[Shape, ...], seed: int) -> None:
    assert_like_numpy(apply, apply, *positive(seed, *two), seed=seed)


@pytest.mark.parametrize("name", [*OPERATORS, *FUNCTIONS])
@holds_for(two=broadcastable(), seed=seeds)
def test_a_function_of_two_broadcasts(name: str, two: tuple[Shape, ...], seed: int) -> None:
    arrays = positive(seed, *two)
    assert_like_numpy(getattr(minigrad, name), getattr(np, name), *arrays, seed=seed)


@pytest.mark.parametrize("apply", OPERATORS.values(), ids=OPERATORS.keys())
@holds_for(two=broadcastable(), seed=seeds, array_first=st.booleans())
def test_an_array_may_stand_on_either_side(
    apply: Function, two: tuple[Shape, ...], seed: int, array_first: bool
) -> None:
    constant, x = positive(seed, *two)

    def either(x: Any) -> Any:
        return apply(constant, x) if array_first else apply(x, constant)

    assert_like_numpy(either, either, x, seed=seed)


@holds_for(three=broadcastable(3), seed=seeds)
def test_where_broadcasts_its_condition_and_both_choices(
    three: tuple[Shape, ...], seed: int
) -> None:
    draws, x, y = normal(seed, *three)
    assert_like_numpy(
        lambda x, y: minigrad.where(draws > 0, x, y), lambda x, y: np.where(draws > 0, x, y), x, y
    )


@holds_for(two=broadcastable(), seed=seeds)
def test_a_mask_that_broadcasts_fills(two: tuple[Shape, ...], seed: int) -> None:
    draws, x = normal(seed, *two)
    mask = draws > 0
    assert_like_numpy(lambda x: x.masked_fill(mask, 7.0), lambda x: np.where(mask, 7.0, x), x)


@holds_for(two=broadcastable(), seed=seeds)
def test_broadcast_to_repeats(two: tuple[Shape, ...], seed: int) -> None:
    whole = np.broadcast_shapes(*two)
    (x,) = normal(seed, two[0])
    assert_like_numpy(lambda x: x.broadcast_to(whole), lambda x: np.broadcast_to(x, whole), x)


@holds_for(two=broadcastable(), seed=seeds)
def test_a_repeated_operand_gets_the_sum_of_what_its_copies_get(
    two: tuple[Shape, ...], seed: int
) -> None:
    whole = np.broadcast_shapes(*two)
    array, other, upstream = normal(seed, *two, whole)
    x, copies = leaves([array, np.broadcast_to(array, whole)])
    (x * other).backward(upstream)
    (copies * other).backward(upstream)
    assert copies.grad is not None
    original = np.broadcast_to(np.arange(x.size).reshape(x.shape), whole)  # of which each is a copy
    total = np.bincount(original.ravel(), copies.grad.ravel(), x.size)
    assert_near(x.grad, total.reshape(x.shape), 1e-12)


def test_a_broadcast_number_gets_an_array_as_its_gradient() -> None:
    x, y = leaves([np.array(2.0), np.array([1.0, 3.0])])
    (found,) = minigrad.grad(x * y, x, np.array([5.0, 7.0]))
    assert isinstance(found, Tensor)
    (x * y).backward(np.array([5.0, 7.0]))
    assert isinstance(x.grad, np.ndarray)
    assert x.grad == 26.0


ONE_INPUT = "negative abs exp sin cos tanh".split()
POSITIVE_INPUT = "log log1p sqrt".split()


@pytest.mark.parametrize("name", [*ONE_INPUT, *POSITIVE_INPUT])
@holds_for(shape=shapes(), seed=seeds)
def test_a_function_of_one_keeps_the_shape(name: str, shape: Shape, seed: int) -> None:
    (x,) = positive(seed, shape) if name in POSITIVE_INPUT else normal(seed, shape)
    for ours in (getattr(minigrad, name), getattr(np, name)):  # NumPy's functions take tensors too
        assert_like_numpy(ours, getattr(np, name), x, seed=seed)


@pytest.mark.parametrize("name", [*OPERATORS, *FUNCTIONS])
def test_operands_without_entries_have_gradients_without_entries(name: str) -> None:
    x = Tensor(np.ones((0, 3)), requires_grad=True)
    y = Tensor(np.ones(3), requires_grad=True)
    getattr(minigrad, name)(x, y).backward(np.ones((0, 3)))
    assert x.grad is not None
    assert y.grad is not None
    assert x.grad.shape == (0, 3)
    assert y.grad.tolist() == [0.0, 0.0, 0.0]
