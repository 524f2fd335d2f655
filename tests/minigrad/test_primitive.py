"""How an op is defined, and what is refused at once: a rule that asks for what there is not. That
an op needs nothing more than its definition is tested by `tests/test_contributing.py`."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import PRIMITIVES, Primitive, Tensor, grad, primitive
from tests.helpers import assert_close, assert_same, gradient_of, leaf

Rng = np.random.Generator


def test_a_rule_is_given_what_its_parameters_name(rng: Rng) -> None:
    seen: dict[str, Any] = {}

    def rule(g: Any, x: Any, y: Any, out: Any, x_shape: Any, *, factor: Any) -> Any:
        seen.update(g=g, x=x, y=y, out=out, x_shape=x_shape, factor=factor)
        return g * y * factor

    @primitive(rule, None)
    def product(x: Any, y: Any, factor: float = 3.0) -> Any:
        return x * y * factor

    x, y, upstream = leaf(rng.normal(size=(2, 3))), rng.normal(size=3), rng.normal(size=(2, 3))
    out = product(x, y, factor=5.0)
    out.backward(upstream)
    assert_same(seen["g"], upstream)
    assert_same(seen["x"], x)
    assert_same(seen["y"], y)
    assert_same(seen["out"], out)
    assert (seen["x_shape"], seen["factor"]) == ((2, 3), 5.0)
    assert all(type(seen[name]) is np.ndarray for name in ("g", "x", "y", "out"))
    assert_close(gradient_of(x), upstream * y * 5.0)


def test_a_rule_for_many_inputs_is_given_the_position_and_all_of_them(rng: Rng) -> None:
    seen: list[Any] = []

    def rule(g: Any, index: Any, parts: Any, parts_shape: Any, *, weight: Any) -> Any:
        seen.append((index, [p.shape for p in parts], parts_shape, weight))
        return g * weight * (index + 1)

    @primitive(rule)
    def weighed_sum(*parts: Any, weight: float = 2.0) -> Any:
        return weight * sum((i + 1) * part for i, part in enumerate(parts))

    a, b, upstream = (
        leaf(rng.normal(size=(2, 3))),
        leaf(rng.normal(size=3)),
        rng.normal(size=(2, 3)),
    )
    weighed_sum(a, b).backward(upstream)
    assert seen == [
        (0, [(2, 3), (3,)], ((2, 3), (3,)), 2.0),
        (1, [(2, 3), (3,)], ((2, 3), (3,)), 2.0),
    ]
    assert_close(gradient_of(a), 2 * upstream)
    assert_close(gradient_of(b), 4 * upstream.sum(axis=0))


def test_a_rule_need_not_undo_broadcasting_nor_casting(rng: Rng) -> None:
    @primitive(lambda g, b: g * b.astype(np.float64), lambda g, a: g * a)
    def product(a: Any, b: Any) -> Any:
        return a * b

    a, b = leaf(rng.normal(size=(2, 1)).astype(np.float32)), leaf(rng.normal(size=(4, 1, 3)))
    upstream = rng.normal(size=(4, 2, 3))
    product(a, b).backward(upstream)
    assert gradient_of(a).dtype == np.float32
    assert_close(gradient_of(a), (upstream * b.data).sum(axis=(0, 2))[:, None], rtol=1e-5)
    assert_close(gradient_of(b), (upstream * a.data).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (5, 2, 2), (2,)])
def test_a_rule_that_makes_another_shape_is_told_which_it_should_be(shape: tuple[int, ...]) -> None:
    @primitive(lambda g: np.ones(shape))
    def broken(x: Any) -> Any:
        return x * 1.0

    x = leaf(np.ones((2, 3, 2)), name="theta")
    with pytest.raises(
        ValueError, match=r"broken: the rule for input 0.*'theta' of shape \(2, 3, 2\)"
    ):
        broken(x).backward(np.ones((2, 3, 2)))
    assert x.grad is None


def _op(rule: Callable[..., Any], *others: Any) -> Any:
    def op(x: Any, *, axis: int = 0) -> Any:
        return x

    return primitive(rule, *others)(op)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            lambda g, z: g,
            r"op: a rule \(line \d+\) asks for 'z'.*\(x\).*x_shape.*\(out\).*stand after a \*",
        ),
        (lambda g, z_shape: g, "asks for 'z_shape'"),
        (lambda g, axis: g, "asks for 'axis'"),
        (lambda g, index: g, "asks for 'index'"),
        (lambda g, *, dim: g, r"asks for 'dim'; options are \['axis'\]"),
        (lambda: 0.0, "a rule's first parameter is the upstream gradient"),
        (np.negative, "a rule is a function, not a ufunc"),
        ("g", "a rule is a function, not a str"),
    ],
)
def test_a_rule_that_asks_for_what_there_is_not_is_refused_at_once(rule: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        _op(rule)


def test_ones_own_op_takes_arrays_numbers_and_tensors(rng: Rng) -> None:
    @primitive(lambda g, x: 2 * g * x)
    def square(x: Any) -> Any:
        """The square."""
        return x * x

    data = rng.normal(size=(2, 3))
    assert type(square(data)) is np.ndarray
    assert_same(square(data), data**2)
    assert square(3.0) == 9.0
    assert not square(Tensor(data)).requires_grad
    assert square(leaf(data)).requires_grad
    assert (square.__name__, square.__doc__) == ("square", "The square.")
    assert isinstance(getattr(square, "primitive", None), Primitive)


def test_ones_own_op_is_differentiated_twice_from_its_one_rule() -> None:
    @primitive(lambda g, x: 3 * g * x**2)
    def cube(x: Any) -> Any:
        return x**3

    x = leaf(2.0)
    (first,) = grad(cube(x), x, create_graph=True)
    (second,) = grad(first, x)
    assert (first.item(), second.item()) == (12.0, 12.0)


def test_an_input_without_a_rule_gets_no_gradient() -> None:
    @primitive(lambda g, y: g * y, None)
    def product(x: Any, y: Any) -> Any:
        return x * y

    x, y = leaf(2.0), leaf(3.0)
    product(x, y).backward()
    assert_same(gradient_of(x), 3.0)
    assert y.grad is None
    assert not product(2.0, y).requires_grad


def test_ones_own_op_stays_out_of_the_registry() -> None:
    @primitive(lambda g: g)
    def softmax(x: Any) -> Any:
        return x

    assert PRIMITIVES["softmax"].forward is not getattr(softmax, "__wrapped__", softmax)
    assert_close(minigrad.softmax(Tensor([0.0, 0.0])), [0.5, 0.5])


def test_a_result_that_is_a_number_of_numpys_becomes_a_0d_tensor() -> None:
    @primitive(lambda g, x: g * np.ones(x.shape))
    def total(x: Any) -> Any:
        return x.sum()

    x = leaf([1.0, 2.0])
    y = total(x)
    assert y.shape == ()
    y.backward()
    assert_same(gradient_of(x), [1.0, 1.0])


def test_every_primitive_has_a_docstring_of_one_sentence_an_example_and_what_it_can_be_checked_on(
    rng: Rng,
) -> None:
    for name, op in PRIMITIVES.items():
        function = getattr(home_of(op), name)
        first = function.__doc__.strip().split("\n\n")[0]
        assert first.rstrip().endswith((".", ":")), name
        assert ">>> " in function.__doc__, name
        assert op.example is not None, name
        assert op.example(rng)


@pytest.mark.parametrize(
    "name",
    (
        "add subtract multiply divide negative power scale exp log log1p sqrt abs sin cos tanh "
        "sigmoid relu gelu silu maximum minimum clip where masked_fill matmul transpose "
        "matrix_transpose swapaxes einsum sum prod mean var std max min logsumexp norm cumsum "
        "softmax log_softmax cross_entropy reshape broadcast_to squeeze expand_dims getitem take "
        "embedding concatenate stack flip pad tril"
    ).split(),
)
def test_the_registry_has_it(name: str) -> None:
    assert name in PRIMITIVES


def test_every_primitive_is_a_function_of_the_package() -> None:
    for name, op in PRIMITIVES.items():
        assert getattr(home_of(op), name).primitive is op
        assert name in home_of(op).__all__


def home_of(op: Primitive) -> Any:
    """The package that an op belongs to: minigrad or attention."""
    return importlib.import_module(op.forward.__module__.partition(".")[0])
