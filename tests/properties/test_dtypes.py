"""Every result has the dtype that NumPy promotes to, every gradient the dtype of its tensor; and
a narrow gradient is the wide one, rounded."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import minigrad
from minigrad import Tensor
from tests.properties.support import Draw, Function, assert_near, holds_for, normal, seeds

FLOATS = [np.float16, np.float32, np.float64]
CONSTANTS = [*FLOATS, np.int8, np.uint16, np.int64, np.bool_]
OPERATIONS = ["add", "subtract", "multiply", "divide", "power", "maximum", "minimum"]

floats = st.sampled_from(FLOATS)


@st.composite
def constants(draw: Draw) -> Any:
    """A Python number, a NumPy scalar or an array, of any real dtype, and never 0."""
    number = draw(st.sampled_from([1, 2, 3, True, 0.5, 1.25, 2.0]))
    kind = draw(st.sampled_from([None, *CONSTANTS]))
    if kind is None:
        return number
    scalar = kind(max(number, 1) if kind not in FLOATS else number)
    shape = draw(st.sampled_from([None, (), (3,), (2, 1)]))
    return scalar if shape is None else np.full(shape, scalar)


def rounding(dtype: Any) -> float:
    return 16 * float(np.finfo(dtype).eps)


@pytest.mark.parametrize("name", OPERATIONS)
@holds_for(dtype=floats, constant=constants(), constant_first=st.booleans(), seed=seeds)
def test_a_constant_of_any_dtype_promotes_as_in_numpy(
    name: str, dtype: Any, constant: Any, constant_first: bool, seed: int
) -> None:
    array = (0.5 + np.abs(normal(seed, (2, 3))[0])).astype(dtype)
    x = Tensor(array, requires_grad=True)

    def compute(function: Function, x: Any) -> Any:
        return function(constant, x) if constant_first else function(x, constant)

    out, expected = compute(getattr(minigrad, name), x), compute(getattr(np, name), array)
    np.testing.assert_array_equal(out.numpy(), expected, strict=True)
    if name == "power" and not constant_first and np.asarray(constant).dtype == bool:
        return  # see the statement after the next one
    upstream = np.random.default_rng(seed).standard_normal(out.shape)
    out.backward(upstream)
    wide = Tensor(array, requires_grad=True, dtype=np.float64)
    compute(getattr(minigrad, name), wide).backward(upstream)
    assert x.grad is not None
    assert x.grad.dtype == dtype
    assert_near(x.grad, wide.grad, rounding(dtype))


@holds_for(left=floats, right=floats, seed=seeds)
def test_each_operand_gets_its_gradient_in_its_own_dtype(left: Any, right: Any, seed: int) -> None:
    a, b = normal(seed, (2, 3), (3, 4))
    x, y = Tensor(a.astype(left), requires_grad=True), Tensor(b.astype(right), requires_grad=True)
    out = x @ y
    assert out.dtype == np.result_type(left, right)
    upstream = np.random.default_rng(seed).standard_normal(out.shape)
    out.backward(upstream)
    assert x.grad is not None
    assert y.grad is not None
    assert (x.grad.dtype, y.grad.dtype) == (left, right)
    tolerance = max(rounding(left), rounding(right))
    assert_near(x.grad, upstream @ b.T, tolerance)
    assert_near(y.grad, a.T @ upstream, tolerance)


def test_a_boolean_exponent_keeps_or_drops_the_base() -> None:
    x = Tensor([3.0, 5.0], requires_grad=True)
    out = x ** np.array([True, False])
    assert out.tolist() == [3.0, 1.0]
    out.backward(np.array([2.0, 7.0]))
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 0.0]


UNARY: dict[str, Function] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sum": np.sum,
    "mean": np.mean,
    "prod": np.prod,
    "var": np.var,
    "std": np.std,
    "max": np.max,
    "cumsum": np.cumsum,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softmax": lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    "log_softmax": lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True)),
    "logsumexp": lambda x: np.log(np.exp(x).sum()),
    "norm": lambda x: np.sqrt((x * x).sum()),
}


@pytest.mark.parametrize("name", UNARY)
@holds_for(dtype=floats, seed=seeds)
def test_a_float_stays_as_wide_as_it_is(name: str, dtype: Any, seed: int) -> None:
    array = (0.5 + np.abs(normal(seed, (2, 3))[0])).astype(dtype)
    x = Tensor(array, requires_grad=True)
    out = getattr(minigrad, name)(x)
    assert out.dtype == dtype
    assert_near(out, UNARY[name](array.astype(np.float64)), rounding(dtype))
    upstream = np.random.default_rng(seed).standard_normal(out.shape)
    out.backward(upstream)
    wide = Tensor(array, requires_grad=True, dtype=np.float64)
    getattr(minigrad, name)(wide).backward(upstream.astype(dtype))
    assert x.grad is not None
    assert x.grad.dtype == dtype
    assert_near(x.grad, wide.grad, 4 * rounding(dtype))


@pytest.mark.parametrize(("dtype", "far"), [(np.float16, 3e2), (np.float32, 1e20), (float, 1e160)])
def test_far_out_gelu_is_straight(dtype: Any, far: float) -> None:
    x = Tensor(np.array([-far, far], dtype), requires_grad=True)
    out = minigrad.gelu(x)
    out.backward(np.array([2.0, 3.0]))
    np.testing.assert_array_equal(out.numpy(), np.array([0.0, far], dtype))
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 3.0]


@holds_for(source=floats, target=floats, seed=seeds)
def test_a_cast_gives_its_gradient_back_in_the_first_dtype(
    source: Any, target: Any, seed: int
) -> None:
    array, upstream = normal(seed, (2, 3), (2, 3))
    x = Tensor(array.astype(source), requires_grad=True)
    out = x.astype(target)
    assert out.dtype == target
    out.backward(upstream)
    assert x.grad is not None
    assert x.grad.dtype == source
    assert_near(x.grad, upstream, max(rounding(source), rounding(target)))


def test_a_cast_to_integers_has_no_gradient() -> None:
    x = Tensor([1.5, 2.5], requires_grad=True)
    with pytest.raises(TypeError, match="no gradient"):
        x.astype(np.int64)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.bool_])
def test_numbers_that_are_not_floating_point_are_constants(dtype: Any) -> None:
    counts = Tensor(np.array([1, 0, 1], dtype))
    x = Tensor([0.5, 1.5, 2.5], requires_grad=True)
    (x * counts).backward(np.array([2.0, 3.0, 5.0]))
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 0.0, 5.0]
    assert counts.grad is None
    with pytest.raises(TypeError, match="only floating point"):
        counts.requires_grad = True
