"""NumPy on either side: arrays as operands, NumPy's functions on tensors, and tensors read by NumPy
and by other libraries. Whatever has no gradient here says so; it never drops one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor
from tests.helpers import assert_close, assert_same, gradient_of, leaf

Rng = np.random.Generator
Function = Callable[..., Any]

OPERATORS: dict[str, Function] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
}
SLOPES: dict[str, tuple[Function, Function]] = {
    "+": (lambda a, b: 1 + 0 * b, lambda a, b: 1 + 0 * a),
    "-": (lambda a, b: 1 + 0 * b, lambda a, b: -1 + 0 * a),
    "*": (lambda a, b: b, lambda a, b: a),
    "/": (lambda a, b: 1 / b, lambda a, b: -a / b**2),
    "**": (lambda a, b: b * a ** (b - 1), lambda a, b: a**b * np.log(a)),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_takes_an_array_on_either_side(name: str, rng: Rng) -> None:
    a, b = rng.uniform(0.5, 2.0, (2, 3)), rng.uniform(0.5, 2.0, (4, 1, 3))
    upstream = rng.normal(size=(4, 2, 3))
    operator, (left_slope, right_slope) = OPERATORS[name], SLOPES[name]

    left, right = leaf(a), leaf(b)
    for result in (operator(left, b), operator(a, right)):
        assert type(result) is Tensor
        assert_close(result, operator(a, b))
        result.backward(upstream)
    assert_close(gradient_of(left), (upstream * left_slope(a, b)).sum(axis=0))
    expected = (upstream * right_slope(a, b)).sum(axis=1, keepdims=True)
    assert_close(gradient_of(right), expected)


@pytest.mark.parametrize("number", [3, 3.0, np.float64(3.0), np.int64(3), np.array(3.0)])
@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_takes_any_kind_of_number_on_either_side(name: str, number: Any) -> None:
    operator = OPERATORS[name]
    x = leaf([1.0, 2.0])
    for result, expected in (
        (operator(x, number), operator(x.data, number)),
        (operator(number, x), operator(number, x.data)),
    ):
        assert type(result) is Tensor
        assert result.requires_grad
        assert_same(result, expected)


def test_a_matrix_product_takes_an_array_on_either_side(rng: Rng) -> None:
    a, b, upstream = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    left, right = leaf(a), leaf(b)
    for result in (left @ b, a @ right):
        assert type(result) is Tensor
        result.backward(upstream)
    assert_close(gradient_of(left), upstream @ b.T)
    assert_close(gradient_of(right), a.T @ upstream)


def test_a_list_is_an_operand_like_an_array(rng: Rng) -> None:
    upstream = rng.normal(size=(2, 2))
    rows = [[1.0, 2.0], [3.0, 5.0]]
    x = leaf(rng.normal(size=(2, 2)))
    (x * rows).backward(upstream)
    (x @ rows).backward(upstream)
    assert_close(gradient_of(x), upstream * rows + upstream @ np.transpose(rows))


@pytest.mark.parametrize("of", [list, tuple, lambda rows: [rows]])
def test_a_list_of_tensors_is_no_operand_since_it_would_lose_their_gradients(of: Function) -> None:
    parts, x = of([leaf(1.0), leaf(2.0)]), leaf([3.0, 4.0])
    for operator in OPERATORS.values():
        with pytest.raises(TypeError, match="stack"):
            operator(x, parts)
        with pytest.raises(TypeError, match="stack"):
            operator(parts, x)


# ------------------------------------------------------------------------------ NumPy's functions


ELEMENTWISE: dict[str, tuple[Function, Function]] = {
    "exp": (np.exp, np.exp),
    "log": (np.log, lambda x: 1 / x),
    "log1p": (np.log1p, lambda x: 1 / (1 + x)),
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "sin": (np.sin, np.cos),
    "cos": (np.cos, lambda x: -np.sin(x)),
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "abs": (np.abs, np.sign),
    "absolute": (np.absolute, np.sign),
    "negative": (np.negative, lambda x: -1 + 0 * x),
    "power": (lambda x: np.power(x, 3.0), lambda x: 3 * x**2),
    "maximum": (lambda x: np.maximum(x, 1.0), lambda x: 1.0 * (x > 1)),
    "minimum": (lambda x: np.minimum(1.0, x), lambda x: 1.0 * (x < 1)),
    "multiply": (lambda x: np.multiply(2.0, x), lambda x: 2 + 0 * x),
    "subtract": (lambda x: np.subtract(2.0, x), lambda x: -1 + 0 * x),
    "true_divide": (lambda x: np.true_divide(2.0, x), lambda x: -2 / x**2),
    "clip": (lambda x: np.clip(x, 0.7, 1.4), lambda x: 1.0 * ((x >= 0.7) & (x <= 1.4))),
    "where": (lambda x: np.where(np.arange(3) == 1, x, 0.0), lambda x: (np.arange(3) == 1) + 0 * x),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_elementwise_function_of_numpy_is_recorded(name: str, rng: Rng) -> None:
    function, slope = ELEMENTWISE[name]
    data, upstream = rng.uniform(0.3, 2.0, (2, 3)), rng.normal(size=(2, 3))
    x = leaf(data)
    y = function(x)
    assert type(y) is Tensor
    assert_close(y, function(data))
    y.backward(upstream)
    assert_close(gradient_of(x), upstream * slope(data))


REARRANGING_OR_REDUCING: dict[str, Function] = {
    "sum": lambda x: np.sum(x, axis=0),
    "sum, keepdims": lambda x: np.sum(x, axis=(0, -1), keepdims=True),
    "mean": lambda x: np.mean(x, axis=1),
    "prod": lambda x: np.prod(x, axis=-1),
    "var": lambda x: np.var(x, axis=0, ddof=1),
    "std": lambda x: np.std(x),
    "max": lambda x: np.max(x, axis=1),
    "amin": lambda x: np.amin(x, axis=0),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "norm": lambda x: np.linalg.norm(x, axis=0),
    "reshape": lambda x: np.reshape(x, (3, -1)),
    "transpose": lambda x: np.transpose(x, (1, 0, 2)),
    "permute_dims": lambda x: np.permute_dims(x, (1, 0, 2)),
    "matrix_transpose": lambda x: np.matrix_transpose(x),
    "swapaxes": lambda x: np.swapaxes(x, 0, 2),
    "squeeze": lambda x: np.squeeze(np.expand_dims(x, 1), 1),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 2, 3, 4)),
    "flip": lambda x: np.flip(x, 1),
    "tril": lambda x: np.tril(x, 1),
    "pad": lambda x: np.pad(x, ((1, 0), (0, 0), (2, 1))),
    "take": lambda x: np.take(x, [1, 0, 1], axis=1),
    "concatenate": lambda x: np.concatenate([x, x * 2.0], axis=-1),
    "stack": lambda x: np.stack([x, x * 2.0], axis=1),
    "split": lambda x: np.split(x, 2, axis=-1)[1],
    "einsum": lambda x: np.einsum("ijk,ik->ji", x, x[:, 0]),
    "matmul": lambda x: np.matmul(x, x.mT),
}


@pytest.mark.parametrize("function", REARRANGING_OR_REDUCING.values(), ids=REARRANGING_OR_REDUCING)
def test_a_function_of_numpy_on_a_tensor_is_the_one_on_its_array_and_is_recorded(
    function: Function, rng: Rng
) -> None:
    data = rng.normal(size=(2, 3, 4))
    x = leaf(data)
    y = function(x)
    assert type(y) is Tensor
    assert_close(y, function(data))
    upstream = rng.normal(size=y.shape)
    y.backward(upstream)
    entry, step = (1, 2, 0), 1e-6
    moved = data.copy()
    moved[entry] += step
    difference = ((function(moved) - function(data)) * upstream).sum() / step
    assert_close(gradient_of(x)[entry], difference, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["stack", "concatenate"])
@pytest.mark.parametrize("function", ["minigrad", "numpy"])
def test_one_tensor_alone_is_the_sequence_of_its_rows(function: str, name: str, rng: Rng) -> None:
    data = rng.normal(size=(2, 3, 4))
    expected = getattr(np, name)(data)
    x = leaf(data)
    y = getattr(minigrad if function == "minigrad" else np, name)(x)
    assert_same(y, expected)
    upstream = rng.normal(size=expected.shape)
    y.backward(upstream)
    assert_same(gradient_of(x), upstream.reshape(2, 3, 4))
    assert_same(getattr(minigrad, name)(data), expected)


def test_concatenation_along_no_axis_joins_all_entries(rng: Rng) -> None:
    a, b, upstream = leaf(rng.normal(size=(2, 3))), leaf(rng.normal(size=4)), rng.normal(size=10)
    y = minigrad.concatenate([a, b], axis=None)
    assert_same(y, np.concatenate([a.data, b.data], axis=None))
    y.backward(upstream)
    assert_same(gradient_of(a), upstream[:6].reshape(2, 3))
    assert_same(gradient_of(b), upstream[6:])


CONSTANT_ALMOST_EVERYWHERE = {"sign", "floor", "ceil", "trunc", "rint", "signbit"}


def _all_ufuncs() -> dict[str, np.ufunc]:
    found = {name: getattr(np, name) for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
    return {name: u for name, u in found.items() if u.signature is None and u.nin <= 2}


@pytest.mark.parametrize("name", _all_ufuncs())
def test_no_ufunc_of_numpy_drops_a_gradient(name: str) -> None:
    """It is recorded, or it refuses, or its result has no gradient to drop."""
    ufunc = _all_ufuncs()[name]
    x = leaf([0.25, 0.5])
    for inputs in [(x,)] if ufunc.nin == 1 else [(x, x), (x, np.ones(2)), (np.ones(2), x)]:
        try:
            results = ufunc(*inputs)
        except TypeError:
            continue
        for result in results if isinstance(results, tuple) else (results,):
            recorded = isinstance(result, Tensor) and result.requires_grad
            assert recorded or result.dtype == bool or name in CONSTANT_ALMOST_EVERYWHERE


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "exp", "subtract", "divide"])
def test_an_option_that_is_not_supported_is_refused_not_ignored(name: str) -> None:
    ufunc = getattr(np, name)
    x = leaf([0.25, 0.5])
    inputs = (x,) * ufunc.nin
    for options in ({"dtype": np.float32}, {"where": np.array([True, True])}, {"order": "F"}):
        with pytest.raises(TypeError, match=f"np.{name}"):
            ufunc(*inputs, **options)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: np.add.reduce(x), "np.add.reduce"),
        (lambda x: np.multiply.accumulate(x), "np.multiply.accumulate"),
        (lambda x: np.multiply.outer(x, x), "np.multiply.outer"),
        (lambda x: np.maximum.reduce(x), "np.maximum.reduce"),
        (lambda x: np.square(x), "np.square"),
        (lambda x: np.arctan2(x, 1.0), "np.arctan2"),
        (lambda x: np.dot(x, x), "np.dot"),
        (lambda x: np.linalg.inv(x), "inv"),
        (lambda x: np.median(x), "np.median"),
        (lambda x: np.sort(x), "np.sort"),
        (lambda x: np.nan_to_num(x), "np.nan_to_num"),
        (lambda x: np.tile(x, 2), "np.tile"),
        (lambda x: np.cumprod(x), "np.cumprod"),
        (lambda x: np.interp(x, x, x), "np.interp"),
    ],
)
def test_a_function_without_a_gradient_here_says_so_and_what_to_do(
    call: Function, name: str
) -> None:
    with pytest.raises(
        TypeError, match=rf"{name} has no gradient here; use a function of minigrad"
    ):
        call(leaf([0.25, 0.5]))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sum(x, dtype=np.float32),
        lambda x: np.sum(x, where=np.array([True, False])),
        lambda x: np.sum(x, initial=1.0),
        lambda x: np.reshape(x, (2, 1), order="F"),
        lambda x: np.pad(x, 1, mode="edge"),
        lambda x: np.linalg.norm(x, 1),
        lambda x: np.cumsum(x, out=np.zeros(2)),
        lambda x: np.concatenate([x, x], dtype=np.float32),
    ],
)
def test_an_option_of_a_function_that_is_not_supported_is_refused(call: Function) -> None:
    with pytest.raises((TypeError, ValueError)):
        call(leaf([0.25, 0.5]))


@pytest.mark.parametrize("name", ["__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__"])
def test_an_array_cannot_take_a_tensor_in_place(name: str) -> None:
    array = np.array([1.0, 2.0])
    with pytest.raises(
        TypeError, match=r"in place.*gradient would be lost.*array = array \+ tensor"
    ):
        getattr(array, name)(leaf([3.0, 4.0]))
    assert_same(array, [1.0, 2.0])


def test_an_array_cannot_take_a_result_by_out_either() -> None:
    array = np.zeros(2)
    with pytest.raises(TypeError, match="gradient would be lost"):
        np.exp(leaf([3.0, 4.0]), out=array)
    assert_same(array, [0.0, 0.0])


def test_functions_that_only_read_give_plain_values(rng: Rng) -> None:
    data = rng.normal(size=(2, 3))
    x = leaf(data)
    assert np.argmax(x) == data.argmax()
    assert np.argsort(x, axis=1).tolist() == np.argsort(data, axis=1).tolist()
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((2, 3), 2, 6)
    assert np.isfinite(x).all()
    assert np.allclose(x, data)
    assert np.array_equal(x, data)
    assert np.all(x == data)
    assert type(np.zeros_like(x)) is np.ndarray
    np.testing.assert_allclose(x, data)
    np.testing.assert_array_equal(data, x)


def test_sums_and_extremes_of_python_work(rng: Rng) -> None:
    parts = [leaf(v) for v in rng.normal(size=3)]
    total = sum(parts)
    assert isinstance(total, Tensor)
    total.backward()
    assert [float(gradient_of(p)) for p in parts] == [1.0, 1.0, 1.0]
    assert max(parts) is max(parts, key=float)


# ------------------------------------------------------------------------- read by other libraries


def test_asarray_gives_the_data_without_a_copy() -> None:
    x = leaf([1.0, 2.0])
    array = np.asarray(x)
    assert type(array) is np.ndarray
    assert_same(array, [1.0, 2.0])
    assert np.shares_memory(array, x.data)


def test_array_gives_a_copy_of_ones_own() -> None:
    x = leaf([1.0, 2.0])
    array = np.array(x)
    array[0] = 9.0
    assert_same(x, [1.0, 2.0])


def test_asarray_converts_when_asked() -> None:
    x = leaf([1.5, 2.5])
    array = np.asarray(x, dtype=np.float32)
    assert array.dtype == np.float32
    assert_same(array, [1.5, 2.5])
    assert np.asarray(x, dtype=np.float64).dtype == np.float64


def test_asarray_refuses_to_convert_if_it_must_not_copy() -> None:
    x = leaf([1.5, 2.5])
    assert np.asarray(x, copy=False).tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype=np.float32, copy=False)


def test_dlpack_hands_the_data_to_other_libraries() -> None:
    x = leaf(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    array = np.from_dlpack(x)
    assert array.dtype == np.float32
    assert_same(array, x)
    assert np.shares_memory(array, x.data)
    assert x.__dlpack_device__() == np.zeros(1).__dlpack_device__()


def test_data_and_numpy_are_the_array_itself() -> None:
    x = leaf([1.0, 2.0])
    assert x.numpy() is x.data
    x.numpy()[0] = 9.0
    assert_same(x, [9.0, 2.0])


def test_an_array_of_tensors_is_never_made_by_accident() -> None:
    x = leaf([1.0, 2.0])
    for result in (np.array([3.0, 4.0]) + x, np.float32(2.0) * x, np.array(2.0) - x):
        assert type(result) is Tensor
        assert result.dtype != object


def test_indexing_takes_what_numpy_takes(rng: Rng) -> None:
    data = rng.normal(size=(3, 4, 5))
    indices: list[Any] = [
        1,
        -1,
        slice(1, 3),
        slice(None, None, -2),
        ...,
        None,
        (1, 2, 3),
        (slice(None), 1),
        (..., 0),
        (None, 1, ..., None),
        [2, 0, 2],
        ([0, 1], [1, 1]),
        (slice(None), [0, 3, 0], slice(1, 2)),
        np.array([[0, 1], [2, 2]]),
        data > 0,
        (slice(None), np.array([True, False, True, True])),
        Tensor(np.array([0, 2])),
        leaf(data) > 0.5,
        np.int64(1),
        (),
    ]
    for index in indices:
        plain = index.data if isinstance(index, Tensor) else index
        x = leaf(data)
        y = x[index]
        assert_same(y, data[plain])
        upstream = rng.normal(size=y.shape)
        y.backward(upstream)
        expected = np.zeros_like(data)
        np.add.at(expected, plain, upstream)
        assert_close(gradient_of(x), expected)
