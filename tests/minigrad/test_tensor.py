"""What a tensor is to its user: how it is made, what it says of itself, how it compares, converts,
travels and is written to. Operators with NumPy are in `test_numpy.py`, dtypes of results in
`test_dtypes.py`, protection of what was recorded in `test_protection.py`."""

import copy
import math
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, no_grad
from minigrad.notation import summarise
from tests.helpers import assert_close, assert_same, gradient_of, leaf

Rng = np.random.Generator

# ------------------------------------------------------------------------------------- making one


@pytest.mark.parametrize("data", [1, 1.0, [1, 2], [1.0, 2], [[1, 2], [3, 4]], (), [], [[]]])
def test_python_numbers_and_lists_become_float64(data: Any) -> None:
    assert Tensor(data).dtype == np.float64
    assert_same(Tensor(data), np.array(data, dtype=float))


@pytest.mark.parametrize("data", [True, [True, False], [[False]]])
def test_bools_stay_bool(data: Any) -> None:
    assert Tensor(data).dtype == np.bool_


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", "i1", "i4", "i8", "u1", "u8", "?", ">f8", "<f4"]
)
def test_arrays_and_numpy_numbers_keep_their_dtype(dtype: str) -> None:
    array = np.array([[1, 0, 1]]).astype(dtype)
    assert Tensor(array).dtype == np.dtype(dtype)
    assert Tensor(array[0, 0]).dtype.newbyteorder("=") == np.dtype(dtype).newbyteorder("=")


def test_a_dtype_may_be_asked_for() -> None:
    assert Tensor([1, 2], dtype=np.float32).dtype == np.float32
    assert Tensor([1, 2], dtype=int).dtype == np.int64
    assert Tensor(np.ones(2), dtype="f2").dtype == np.float16
    assert Tensor(np.array([1, 2]), requires_grad=True, dtype=float).dtype == np.float64


def test_the_data_is_copied() -> None:
    array = np.array([[1.0, 2.0]])
    tensor = Tensor(array)
    twin = Tensor(tensor)
    array[:] = 9.0
    assert_same(tensor, [[1.0, 2.0]])
    tensor.data[:] = 7.0
    assert_same(twin, [[1.0, 2.0]])


def test_a_read_only_or_strided_array_is_taken_as_it_reads() -> None:
    base = np.arange(12.0).reshape(3, 4)
    for array in (np.broadcast_to(base[0], (2, 4)), base[::-1, ::2], base.T):
        tensor = Tensor(array)
        assert_same(tensor, array)
        tensor.data[...] = 0.0
        assert array.any()


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_])
def test_only_floating_point_can_require_a_gradient_and_the_message_has_the_fix(
    dtype: Any,
) -> None:
    array = np.array([1, 0], dtype=dtype)
    message = rf"only floating point.*{np.dtype(dtype)}.*dtype=float"
    with pytest.raises(TypeError, match=message):
        Tensor(array, requires_grad=True)
    tensor = Tensor(array)
    with pytest.raises(TypeError, match=message):
        tensor.requires_grad = True


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("text", "real numbers.*text"),
        (None, "real numbers.*None"),
        ([1.0, None], "real numbers"),
        (1 + 2j, "real numbers.*complex128"),
        (np.array(["2024-01-01"], dtype="M8[D]"), r"real numbers.*datetime64"),
        (object(), "real numbers"),
        ({"a": 1}, "real numbers"),
    ],
)
def test_what_is_no_real_number_is_refused(data: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Tensor(data)


def test_rows_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="rows of equal length"):
        Tensor([[1.0, 2.0], [3.0]])


@pytest.mark.parametrize("of", [list, tuple])
def test_a_list_of_tensors_is_refused_since_it_would_lose_their_gradients(
    of: Callable[..., Any],
) -> None:
    with pytest.raises(TypeError, match=r"lose their gradients.*minigrad\.stack"):
        Tensor(of([leaf(1.0), leaf(2.0)]))
    with pytest.raises(TypeError, match=r"lose their gradients.*minigrad\.stack"):
        Tensor([of([leaf(1.0)]), of([leaf(2.0)])])


# --------------------------------------------------------------------------- what it says of itself


def test_a_tensor_tells_its_shape_size_dtype_and_place(rng: Rng) -> None:
    x = Tensor(rng.normal(size=(2, 3, 4)), requires_grad=True, name="x")
    assert (x.shape, x.ndim, x.size, len(x)) == ((2, 3, 4), 3, 24, 2)
    assert (x.name, x.requires_grad, x.is_leaf, x.grad) == ("x", True, True, None)
    y = x * 2
    assert (y.name, y.requires_grad, y.is_leaf) == (None, True, False)
    z = Tensor(1.0)
    assert (z.name, z.requires_grad, z.is_leaf, z.grad) == (None, False, True, None)


def test_t_reverses_all_axes_and_mt_swaps_the_last_two(rng: Rng) -> None:
    data = rng.normal(size=(2, 3, 4))
    assert_same(Tensor(data).T, data.transpose(2, 1, 0))
    assert_same(Tensor(data).mT, data.transpose(0, 2, 1))


def test_a_name_is_any_text_and_can_be_given_later() -> None:
    x = leaf(1.0, name="权重 <λ>")
    y = x * 2
    y.name = "twice"
    assert (x.name, y.name) == ("权重 <λ>", "twice")
    x.name = None
    assert x.name is None


def test_numbers_come_out_as_pythons_own() -> None:
    x = Tensor([[2.5]])
    assert (type(x.item()), x.item()) == (float, 2.5)
    assert (float(x), int(x), bool(x)) == (2.5, 2, True)
    assert Tensor([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert Tensor([True, False]).tolist() == [True, False]
    assert type(Tensor(np.array([7])).item()) is int


@pytest.mark.parametrize("convert", [float, int, Tensor.item, bool])
def test_several_entries_are_not_one_number(convert: Callable[[Tensor], Any]) -> None:
    with pytest.raises(ValueError, match=r"size 1|more than one"):
        convert(Tensor([1.0, 2.0]))


def test_going_through_the_rows_keeps_their_gradients(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=(3, 2))), rng.normal(size=2)
    first, _, third = x
    (first * 2 + third * 3).backward(upstream)
    assert_close(gradient_of(x), np.array([2 * upstream, 0 * upstream, 3 * upstream]))


def test_a_number_has_no_rows() -> None:
    with pytest.raises(TypeError, match=r"0-d tensor has no rows.*item\(\)"):
        iter(Tensor(1.0))
    with pytest.raises(TypeError):
        len(Tensor(1.0))


def test_argmax_and_argmin_are_integers(rng: Rng) -> None:
    data = rng.normal(size=(3, 4))
    x = leaf(data)
    assert x.argmax() == data.argmax()
    assert x.argmin() == data.argmin()
    assert x.argmax(axis=0).tolist() == data.argmax(axis=0).tolist()
    assert x.argmin(1).tolist() == data.argmin(1).tolist()


def test_repr_shows_name_shape_dtype_values_norm_and_origin() -> None:
    x = leaf(np.array([1.5, -2.0], dtype=np.float32), name="x")
    assert repr(x) == "<Tensor 'x' (2,) float32: [ 1.5, -2. ], norm 2.5, requires_grad>"
    assert repr(x * 2) == "<Tensor (2,) float32: [ 3., -4.], norm 5, from multiply>"
    assert repr(leaf(3.0)) == "<Tensor () float64: 3., requires_grad>"
    assert "\n" not in repr(leaf(np.eye(2), name="two\nlines"))


def test_repr_of_many_values_shows_their_range_and_norm() -> None:
    assert repr(Tensor(np.arange(100.0))) == "<Tensor (100,) float64: 0 … 99, norm 573>"
    values = np.array([3.0, -4.0, 0, 0, 0, 0, np.nan, np.nan, -np.inf])
    assert repr(Tensor(values)) == "<Tensor (9,) float64: -4 … 3, norm 5, 2 nan, 1 inf>"
    assert repr(Tensor(np.full(9, np.nan))) == "<Tensor (9,) float64: 9 nan>"


@pytest.mark.parametrize("large", [1e300, 1e-300])
def test_a_summary_neither_overflows_nor_vanishes(large: float) -> None:
    low, high, mean, norm = summarise(np.array([3.0, -4.0, 0.0]) * large)[1:5]
    assert_close([low, high, mean, norm], np.array([-4, 3, -1 / 3, 5]) * large)


def test_a_summary_warns_of_nothing_and_raises_nothing() -> None:
    with np.errstate(all="raise"):
        assert summarise([5e-324, 1e300, 0.0]).high == 1e300
    assert summarise(np.longdouble("1e4000") * np.ones(3)).inf == 3


def test_a_summary_counts_zeros_and_what_is_not_finite() -> None:
    summary = summarise(np.array([[0.0, -0.0, 1e-320], [np.inf, -np.inf, np.nan]]))
    assert (summary.size, summary.zeros, summary.nan, summary.inf) == (6, 2, 1, 2)
    assert math.isnan(summarise(np.array([])).mean)


@pytest.mark.parametrize("dtype", ["?", "i8", "u1", "f2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (3,), (4, 5)])
def test_repr_and_str_work_for_every_dtype_and_shape(dtype: str, shape: tuple[int, ...]) -> None:
    x = Tensor(np.zeros(shape, dtype))
    assert repr(x).startswith(f"<Tensor {shape} {np.dtype(dtype)}: ")
    assert str(x) == str(np.zeros(shape, dtype))


def test_one_number_takes_a_format() -> None:
    assert f"{leaf(2.0) / 3:.3f}" == "0.667"
    assert f"{Tensor([1.0, 2.0])}" == "[1. 2.]"


METHODS = {
    "sum": (),
    "prod": (),
    "mean": (),
    "var": (),
    "std": (),
    "max": (),
    "min": (),
    "cumsum": (),
    "logsumexp": (0,),
    "norm": (),
    "softmax": (0,),
    "log_softmax": (0,),
    "reshape": (3, 2),
    "transpose": (),
    "permute": (1, 0),
    "swapaxes": (0, 1),
    "squeeze": (),
    "expand_dims": (0,),
    "broadcast_to": ((4, 2, 3),),
    "flip": (1,),
    "tril": (),
    "take": ([1, 0], 0),
    "split": (2,),
    "clip": (0.5, 1.0),
    "masked_fill": (np.array([True, False, True]), 0.0),
    "exp": (),
    "log": (),
    "log1p": (),
    "sqrt": (),
    "abs": (),
    "sin": (),
    "cos": (),
    "tanh": (),
    "sigmoid": (),
    "relu": (),
    "negative": (),
    "add": (2.0,),
    "subtract": (2.0,),
    "multiply": (2.0,),
    "divide": (2.0,),
    "maximum": (1.0,),
    "minimum": (1.0,),
    "matmul": (np.eye(3),),
    "astype": (np.float32,),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_primitive_is_a_method_where_numpy_or_pytorch_has_one(name: str, rng: Rng) -> None:
    x, arguments = leaf(rng.uniform(0.3, 2.0, (2, 3))), METHODS[name]
    by_method = getattr(x, name)(*arguments)
    rest = (arguments,) if name in ("reshape", "permute") else arguments
    by_function = getattr(minigrad, name)(x, *rest)
    pairs = (
        zip(by_method, by_function, strict=True) if name == "split" else [(by_method, by_function)]
    )
    for one, other in pairs:
        assert one.requires_grad
        assert_same(one, other)


# ------------------------------------------------------------------------------------ comparisons


COMPARISONS = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_give_boolean_arrays(name: str) -> None:
    a, b = np.array([[1.0, 2.0, 3.0]]), np.array([[3.0], [2.0]])
    expected = getattr(a, name)(b)
    for left, right in ((leaf(a), leaf(b)), (leaf(a), b)):
        result = getattr(left, name)(right)
        assert type(result) is np.ndarray
        assert result.dtype == np.bool_
        assert_same(result, expected)


def test_an_array_or_a_number_on_the_left_compares_too() -> None:
    x = leaf([1.0, 2.0, 3.0])
    results: list[Any] = [np.array([2.0, 2.0, 2.0]) < x, 2 == x, np.float64(2.0) >= x]  # noqa: SIM300
    assert [type(result) for result in results] == [np.ndarray] * 3
    assert_same(results, [[False, False, True], [False, True, False], [True, True, False]])


def test_a_tensor_is_known_by_its_identity() -> None:
    a, b = leaf([1.0]), leaf([1.0])
    names = {a: "a", b: "b"}
    assert len({a, b, a}) == 2
    assert (names[a], names[b]) == ("a", "b")
    assert hash(a) != hash(b)


# -------------------------------------------------------------------------------------------- grad


def test_a_gradient_can_be_set_and_taken_away() -> None:
    x, array = leaf(np.zeros((2, 3), np.float32)), np.ones((2, 3))
    x.grad = array
    assert gradient_of(x).dtype == np.float32
    array[:] = 9.0
    assert_same(gradient_of(x), np.ones((2, 3)))
    (x * 2.0).backward(np.ones((2, 3)))
    assert_same(gradient_of(x), np.full((2, 3), 3.0))
    x.grad = None
    assert x.grad is None


def test_a_gradient_handed_from_one_tensor_to_another_is_copied() -> None:
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (a * 2).backward(np.ones(2))
    b.grad = a.grad
    gradient_of(b)[:] = 9.0
    assert_same(gradient_of(a), [2.0, 2.0])


def test_a_gradient_of_another_shape_is_refused() -> None:
    x = leaf([[1.0, 2.0, 3.0]], name="theta")
    with pytest.raises(ValueError, match=r"\(3,\).*'theta' of shape \(1, 3\)"):
        x.grad = np.ones(3)


def test_zeroing_a_gradient_in_place_works() -> None:
    x = leaf([1.0, 2.0])
    (x * 2).backward(np.ones(2))
    gradient_of(x)[:] = 0.0
    (x * 3).backward(np.ones(2))
    assert_same(gradient_of(x), [3.0, 3.0])


# ------------------------------------------------------------------------------------ writing to it


def test_data_can_be_replaced_by_data_of_the_same_shape() -> None:
    x = leaf(np.array([1.0, 2.0], dtype=np.float32))
    x.data = [3, 4]
    assert x.dtype == np.float32
    assert_same(x, [3.0, 4.0])
    with pytest.raises(ValueError, match=r"shape \(3,\) cannot replace.*\(2,\)"):
        x.data = [1.0, 2.0, 3.0]


def test_data_given_is_copied() -> None:
    a, b, array = leaf([1.0, 2.0]), leaf([3.0, 4.0]), np.array([5.0, 6.0])
    a.data = b.data
    b.data = array
    b.data[0] = 9.0
    assert_same(a, [3.0, 4.0])
    assert_same(array, [5.0, 6.0])


UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "+=": lambda t, v: t.__iadd__(v),
    "-=": lambda t, v: t.__isub__(v),
    "*=": lambda t, v: t.__imul__(v),
    "/=": lambda t, v: t.__itruediv__(v),
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_under_no_grad_an_update_is_in_place(update: Callable[[Any, Any], Any], rng: Rng) -> None:
    data, value = rng.normal(size=(2, 3)), rng.normal(size=3)
    w, expected = leaf(data), update(data.copy(), value)
    with no_grad():
        for given in (value, Tensor(value)):
            w.data = data
            result = update(w, given)
            assert result is w
            assert_same(w, expected)
    assert w.is_leaf
    assert w.requires_grad


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_a_leaf_that_records_cannot_be_updated_in_place(
    update: Callable[[Any, Any], Any],
) -> None:
    w = leaf([1.0, 2.0])
    with pytest.raises(
        RuntimeError, match=r"leaf that requires a gradient.*no_grad\(\).*a = a \+ b"
    ):
        update(w, 1.0)
    assert_same(w, [1.0, 2.0])


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_elsewhere_an_update_makes_a_new_tensor(
    update: Callable[[Any, Any], Any], rng: Rng
) -> None:
    data, value = rng.normal(size=3), rng.normal(size=3)
    upstream = rng.normal(size=3)
    x = leaf(data)
    y = alias = x * 1.0
    y = update(y, value)
    assert y is not alias
    assert_same(alias, data)
    assert_close(y, update(data.copy(), value))
    y.backward(upstream)
    slope: dict[str, Any] = {"+=": 1.0, "-=": 1.0, "*=": value, "/=": 1 / value}
    name = next(name for name, function in UPDATES.items() if function is update)
    assert_close(gradient_of(x), upstream * slope[name])

    constant = other = Tensor(data)
    constant = update(constant, x)
    assert constant.requires_grad
    assert_same(other, data)


def test_an_update_keeps_the_dtype_in_place() -> None:
    w = leaf(np.array([1.0, 2.0], dtype=np.float32))
    with no_grad():
        w += np.array([0.5, 0.5])
    assert w.dtype == np.float32
    assert_same(w, [1.5, 2.5])


def test_an_update_by_a_view_of_itself_reads_before_it_writes() -> None:
    w = leaf([1.0, 2.0, 3.0])
    with no_grad():
        w += w[::-1]
    assert_same(w, [4.0, 4.0, 4.0])


def test_assigning_to_entries_works_under_no_grad_only() -> None:
    w = leaf([[1.0, 2.0], [3.0, 4.0]])
    with no_grad():
        w[0] = 9.0
        w[:, 1] = Tensor([7.0, 8.0])
        w[Tensor(np.array([1])), 0] = 5.0
    assert_same(w, [[9.0, 7.0], [5.0, 8.0]])
    for tensor in (w, w * 2, Tensor([[1.0, 2.0]])):
        with pytest.raises(RuntimeError, match=r"where or masked_fill, or write inside no_grad"):
            tensor[0] = 1.0


# -------------------------------------------------------------------------------- copies and travel


def test_a_copy_is_recorded_and_detach_is_not(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3), name="x"), rng.normal(size=3)
    copied, detached = x.copy(), x.detach()
    copied.backward(upstream)
    assert_same(gradient_of(x), upstream)
    assert not detached.requires_grad
    assert detached.is_leaf
    copied.data[:] = 9.0
    assert not (x == 9.0).any()


def roundtrip(tensor: Tensor) -> Tensor:
    result: Tensor = pickle.loads(pickle.dumps(tensor))
    return result


@pytest.mark.parametrize("travel", [copy.deepcopy, roundtrip, copy.copy])
def test_a_leaf_travels_with_its_values_name_and_gradient(
    travel: Callable[[Tensor], Tensor], rng: Rng
) -> None:
    x = leaf(rng.normal(size=(2, 3)).astype(np.float32), name="权重")
    (x * 2.0).backward(rng.normal(size=(2, 3)))
    other = travel(x)
    assert (other.name, other.requires_grad, other.is_leaf, other.dtype) == (
        "权重",
        True,
        True,
        np.float32,
    )
    assert_same(other, x)
    assert_same(gradient_of(other), gradient_of(x))
    gradient_of(other)[:] = 0.0
    other.data[:] = 0.0
    assert x.data.all()
    assert gradient_of(x).all()


@pytest.mark.parametrize("travel", [copy.deepcopy, roundtrip])
def test_a_recorded_graph_does_not_travel(travel: Callable[[Tensor], Tensor]) -> None:
    x = leaf([1.0, 2.0])
    y = x * 2
    y.name = "y"
    other = travel(y)
    assert not other.requires_grad
    assert other.is_leaf
    assert other.name == "y"
    assert_same(other, [2.0, 4.0])
    y.backward(np.ones(2))
    assert_same(gradient_of(x), [2.0, 2.0])


def test_a_shared_tensor_is_still_shared_in_a_deep_copy() -> None:
    x = leaf([1.0])
    first, second = copy.deepcopy([x, x])
    assert first is second


def test_a_tensor_at_the_end_of_a_long_chain_travels_too() -> None:
    y = leaf(1.0)
    for _ in range(20_000):
        y = y + 1.0
    assert_same(roundtrip(y), 20_001.0)
    assert_same(copy.deepcopy(y), 20_001.0)


@pytest.mark.slow
def test_tensors_travel_to_other_processes_and_back() -> None:
    x = leaf([1.0, 2.0], name="x")
    (x * 3).backward(np.ones(2))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        other = pool.submit(copy.deepcopy, x).result()
    assert (other.name, other.requires_grad) == ("x", True)
    assert_same(other, x)
    assert_same(gradient_of(other), [3.0, 3.0])


# ------------------------------------------------------------------------------------ constructors


def test_constants_are_float64_and_take_a_dtype_a_name_and_a_gradient() -> None:
    for made, value in (
        (minigrad.zeros((2, 3)), 0.0),
        (minigrad.ones((2, 3)), 1.0),
        (minigrad.full((2, 3), 7), 7.0),
    ):
        assert made.dtype == np.float64
        assert_same(made, np.full((2, 3), value))
    options: dict[str, Any] = {"dtype": np.float32, "requires_grad": True, "name": "w"}
    for w in (
        minigrad.zeros((2,), **options),
        minigrad.ones((2,), **options),
        minigrad.full((2,), 2.0, **options),
    ):
        assert (w.dtype, w.requires_grad, w.name) == (np.float32, True, "w")
    assert minigrad.zeros(3).shape == (3,)


def test_arange_and_eye_are_numpys_in_float64() -> None:
    assert_same(minigrad.arange(4), [0.0, 1.0, 2.0, 3.0])
    assert_same(minigrad.arange(1, 4), [1.0, 2.0, 3.0])
    assert_same(minigrad.arange(1, 2, 0.5), [1.0, 1.5])
    assert minigrad.arange(3).dtype == np.float64
    assert minigrad.arange(3, requires_grad=True, name="n").requires_grad
    assert_same(minigrad.eye(2), [[1.0, 0.0], [0.0, 1.0]])


def test_random_tensors_are_drawn_from_the_generator_that_is_passed() -> None:
    for make, expected in (
        (minigrad.randn, np.random.default_rng(5).standard_normal((2, 3))),
        (minigrad.rand, np.random.default_rng(5).random((2, 3))),
    ):
        drawn = make(np.random.default_rng(5), 2, 3, requires_grad=True, name="w")
        assert_same(drawn, expected)
        assert (drawn.dtype, drawn.requires_grad, drawn.name) == (np.float64, True, "w")
        assert make(np.random.default_rng(5), 2, dtype=np.float32).dtype == np.float32


def test_zeros_and_ones_like_take_shape_and_dtype() -> None:
    x = leaf(np.full((2, 3), 5.0, np.float32))
    for like, value in ((minigrad.zeros_like(x), 0.0), (minigrad.ones_like(x), 1.0)):
        assert like.dtype == np.float32
        assert not like.requires_grad
        assert_same(like, np.full((2, 3), value))
    assert minigrad.ones_like(x, requires_grad=True).requires_grad


def test_the_version_is_text() -> None:
    assert minigrad.__version__.count(".") == 2


def test_a_power_is_taken_in_place_too_where_nothing_is_recorded() -> None:
    w = leaf([2.0, 3.0])
    same = w
    with no_grad():
        w **= 2
    assert w is same
    assert_same(w, [4.0, 9.0])
    assert w.is_leaf
