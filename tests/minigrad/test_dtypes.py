"""Which dtype results and gradients have: NumPy 2's promotion, Python numbers weak, and float32
that stays float32 all the way."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import PRIMITIVES, Primitive, Tensor, grad, modes, trace
from minigrad.check.registry import Case, cases_of
from minigrad.joint import JointPrimitive
from tests.helpers import assert_close, gradient_of, leaf

Rng = np.random.Generator


class Dtypes(modes.Watcher):
    """Notes the dtype of every result and every contribution."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, np.dtype[Any]]] = set()

    def recorded(self, op: Any, inputs: Any, options: Any, result: Any) -> None:
        self.seen.add((str(op), result.dtype))

    def passed(self, node: Any, position: int, upstream: Any, contribution: Any) -> None:
        self.seen |= {(f"∂{node.primitive}", x.dtype) for x in (upstream, contribution)}


def in_float32(case: Case) -> Case:
    """The same call with all its floating-point arrays in float32."""
    small = [
        x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
        for x in case.args
    ]
    return Case(case.call, small, case.options, case.places)


FLOAT32 = [op for name, op in PRIMITIVES.items() if name != "astype"]


@pytest.mark.parametrize("op", FLOAT32, ids=str)
def test_float32_stays_float32_forward_backward_and_in_a_recorded_gradient(
    op: Primitive, rng: Rng
) -> None:
    for case in map(in_float32, cases_of(op, rng)):
        leaves = [leaf(x) for x in case.arrays()]
        watcher = Dtypes()
        with modes.watch(watcher):
            out = case(*leaves)
            upstream = rng.normal(size=out.shape).astype(np.float32)
            out.backward(upstream, retain_graph=True)
            slopes = grad(out, leaves, upstream, create_graph=True)
        wide = [op for op, dtype in watcher.seen if dtype == np.float64]
        assert not wide
        for x, slope in zip(leaves, slopes, strict=True):
            assert gradient_of(x).dtype == slope.dtype == np.float32


@pytest.mark.parametrize("op", FLOAT32, ids=str)
def test_a_rule_itself_computes_in_float32(
    op: Primitive, rng: Rng, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine fits a gradient's dtype in the end; a rule that made float64 would be slow."""
    made: set[np.dtype[Any]] = set()
    if isinstance(op, JointPrimitive):
        monkeypatch.setattr(op, "joint", _noting(op.joint, made))
    for rule in {id(rule): rule for rule in op.rules if rule is not None}.values():
        monkeypatch.setattr(rule, "function", _noting(rule.function, made))
    for case in map(in_float32, cases_of(op, rng)):
        out = case(*[leaf(x) for x in case.arrays()])
        out.backward(rng.normal(size=out.shape).astype(np.float32))
    assert made == {np.dtype(np.float32)}


def _noting(function: Callable[..., Any], made: set[np.dtype[Any]]) -> Callable[..., Any]:
    def rule(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        made.update(np.asarray(x).dtype for x in (result if type(result) is tuple else [result]))
        return result

    return rule


@pytest.mark.parametrize("op", FLOAT32, ids=str)
def test_float16_gradients_are_float16(op: Primitive, rng: Rng) -> None:
    for case in cases_of(op, rng):
        leaves = [leaf(x.astype(np.float16)) for x in case.arrays()]
        out = case(*leaves)
        out.backward(rng.normal(size=out.shape))
        assert {gradient_of(x).dtype for x in leaves} == {np.dtype(np.float16)}


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "maximum": np.maximum,
    "where": lambda a, b: np.where(np.array([True, False]), a, b),
}
KINDS = ["?", "u1", "i4", "i8", "f2", "f4", "f8"]


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_two_dtypes_meet_as_numpy_2_says(name: str, first: str, second: str) -> None:
    a, b = np.array([1, 1]).astype(first), np.array([1, 1]).astype(second)
    operator = OPERATORS[name]
    try:
        expected = operator(a, b)
    except TypeError:  # NumPy does not subtract bools, and neither do we
        with pytest.raises(TypeError, match="subtract"):
            operator(Tensor(a), Tensor(b))
        return
    for left, right in ((Tensor(a), Tensor(b)), (Tensor(a), b), (a, Tensor(b))):
        result = operator(left, right)
        assert type(result) is Tensor
        assert result.dtype == expected.dtype


@pytest.mark.parametrize("number", [2, 2.0, True])
@pytest.mark.parametrize("name", [name for name in OPERATORS if name != "maximum"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_a_python_number_takes_the_other_sides_dtype(dtype: str, name: str, number: Any) -> None:
    x, operator = leaf(np.array([1.5, 2.5]).astype(dtype)), OPERATORS[name]
    for result in (operator(x, number), operator(number, x)):
        assert result.dtype == np.dtype(dtype)
        result.backward(np.ones(2))
    assert gradient_of(x).dtype == np.dtype(dtype)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_number_in_numpys_dtype_counts_as_numpy_has_it(shape: tuple[int, ...]) -> None:
    x = leaf(np.ones(shape, np.float32))
    for number in (np.float64(2.0), np.array(2.0)):
        assert (x * number).dtype == np.float64
        assert (number * x).dtype == np.float64
    assert (x * np.float32(2.0)).dtype == np.float32
    assert (x * 2.0).dtype == np.float32
    assert (x * Tensor(2.0)).dtype == np.float64


def test_each_leaf_gets_its_gradient_in_its_own_dtype(rng: Rng) -> None:
    half, single, double = (leaf(np.ones(3, dtype)) for dtype in ("f2", "f4", "f8"))
    y = half * single * double
    assert y.dtype == np.float64
    y.backward(rng.normal(size=3))
    assert [gradient_of(x).dtype for x in (half, single, double)] == ["f2", "f4", "f8"]


def test_contributions_add_up_in_the_dtype_of_their_tensor() -> None:
    """One in float64 and one in float32 meet at a float32 leaf."""
    x = leaf(np.array([1.0, 2.0], dtype=np.float32))
    (x * np.array([0.1, 0.2]) + x).backward(np.array([1.0, 10.0]))
    assert_close(gradient_of(x), np.array([1.1, 12.0], dtype=np.float32), rtol=1e-6)


def test_a_byte_order_of_ones_own_is_kept() -> None:
    x = leaf(np.array([1.0, 2.0], dtype=">f8"))
    (x * 3.0).backward(np.array([1.0, 10.0]))
    assert gradient_of(x).dtype == np.dtype(">f8")
    assert_close(gradient_of(x), [3.0, 30.0])


def test_functions_make_floats_of_integers_and_bools() -> None:
    integers = Tensor(np.array([0, 1, 4]))
    for function in (minigrad.exp, minigrad.sqrt, minigrad.tanh, minigrad.sigmoid, minigrad.mean):
        assert function(integers).dtype == np.float64
    assert minigrad.softmax(integers).dtype == np.float64
    assert integers.sum().dtype == np.int64
    assert (integers * integers).dtype == np.int64
    flags = Tensor([True, False, True])
    assert flags.sum().item() == 2
    assert flags.mean().item() == 2 / 3
    assert (leaf([1.0, 2.0, 3.0]) * flags).tolist() == [1.0, 0.0, 3.0]


def test_a_recorded_tensor_cannot_become_an_integer() -> None:
    """The gradient of a cut is 0, so it would be lost; `.data.astype` says that it is meant."""
    x = leaf([1.5, 2.5])
    assert x.astype(np.float32).dtype == np.float32
    for dtype in (int, np.int32, bool):
        with pytest.raises(TypeError, match="astype"):
            x.astype(dtype)


def test_an_integer_tensor_can_become_floating_point_and_back() -> None:
    numbers = Tensor(np.array([1, 2]))
    assert numbers.astype(np.float32).dtype == np.float32
    assert Tensor([1.5, 2.5]).astype(int).tolist() == [1, 2]


def test_a_change_of_dtype_is_undone_in_the_gradient(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    with trace():
        y = x.astype(np.float32)
    y.backward(upstream)
    assert gradient_of(y).dtype == np.float32
    assert gradient_of(x).dtype == np.float64
    assert_close(gradient_of(x), upstream, rtol=1e-6)


def test_the_upstream_is_taken_in_the_results_dtype() -> None:
    x = leaf(np.ones(2, np.float32))
    (x * 2.0).backward(np.array([1, 2]))
    assert_close(gradient_of(x), [2.0, 4.0])
