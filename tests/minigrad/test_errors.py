"""Every error from an op names the op, the shapes it got, what it expects and how to put it right;
under `trace()` also the user's line that made the tensor."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, trace
from tests.helpers import leaf, next_line

X = leaf(np.ones((2, 3)), name="Q")
V = leaf(np.ones(3), name="v")
Call = Callable[[], Any]

SHAPES: dict[str, tuple[Call, list[str]]] = {
    "add": (
        lambda: X + np.ones(4),
        ["(2, 3) float64 'Q'", "(4,)", "read from the right", "reshape"],
    ),
    "subtract": (lambda: np.ones(4) - X, ["(4,)", "(2, 3) float64 'Q'", "read from the right"]),
    "multiply": (lambda: X * Tensor(np.ones((3, 2))), ["(2, 3)", "(3, 2)", "read from the right"]),
    "divide": (lambda: X / np.ones((5, 3)), ["(2, 3)", "(5, 3)", "read from the right"]),
    "power": (lambda: X ** np.ones(4), ["(2, 3)", "(4,)", "read from the right"]),
    "maximum": (lambda: np.maximum(X, np.ones(4)), ["(2, 3)", "(4,)", "read from the right"]),
    "where": (
        lambda: minigrad.where(np.ones(4, bool), X, 0.0),
        ["condition (4,) bool", "x (2, 3) float64 'Q'", "read from the right"],
    ),
    "masked_fill": (
        lambda: minigrad.masked_fill(X, np.ones(4, bool), 0.0),
        ["x (2, 3) float64 'Q'", "mask (4,) bool", "broadcasts to x"],
    ),
    "matmul": (
        lambda: X @ X,
        ["a (2, 3) float64 'Q'", "b (2, 3) float64 'Q'", "(..., n, k)", ".mT swaps"],
    ),
    "matmul, vector": (lambda: V @ X, ["(3,) float64 'v'", "(2, 3) float64 'Q'", ".mT swaps"]),
    "matmul, vectors": (lambda: V @ np.ones(4), ["(3,) float64 'v'", "(4,)"]),
    "matmul, number": (lambda: X @ 2.0, ["number", "*"]),
    "matrix_transpose": (lambda: V.mT, ["(3,) float64 'v'", "two axes"]),
    "einsum": (
        lambda: minigrad.einsum("ij,jk->ik", X, np.ones((4, 5))),
        ["(2, 3) float64 'Q'", "(4, 5)", "one letter for each of its axes"],
    ),
    "einsum, operands": (
        lambda: minigrad.einsum("ij,jk->ik", X),
        ["'ij,jk->ik'", "operands"],
    ),
    "reshape": (lambda: X.reshape(4, 2), ["(2, 3) float64 'Q'", "(4,2)", "as many entries"]),
    "transpose": (lambda: X.transpose(0, 0), ["(2, 3) float64 'Q'", "every axis exactly once"]),
    "swapaxes": (
        lambda: X.swapaxes(0, 5),
        ["(2, 3) float64 'Q'", "axis2: axis 5 is out of bounds"],
    ),
    "squeeze": (lambda: X.squeeze(0), ["(2, 3) float64 'Q'", "axes of length 1"]),
    "expand_dims": (lambda: X.expand_dims(7), ["(2, 3) float64 'Q'", "axis 7 is out of bounds"]),
    "broadcast_to": (lambda: X.broadcast_to((2, 4)), ["(2, 3) float64 'Q'", "(2,4)", "or 1"]),
    "concatenate": (
        lambda: minigrad.concatenate([X, np.ones((3, 4))]),
        ["(2, 3) float64 'Q'", "(3, 4)", "equal but along the axis"],
    ),
    "stack": (lambda: minigrad.stack([X, V]), ["(2, 3) float64 'Q'", "(3,)", "equal shapes"]),
    "split": (lambda: X.split(2, axis=1), ["3 entries along axis 1", "2 parts"]),
    "flip": (lambda: minigrad.flip(X, 5), ["(2, 3) float64 'Q'", "axis 5 is out of bounds"]),
    "pad": (lambda: minigrad.pad(X, (1, 2, 3)), ["(2, 3) float64 'Q'", "(before, after)"]),
    "sum": (lambda: X.sum(axis=5), ["(2, 3) float64 'Q'", "axis 5 is out of bounds"]),
    "mean": (lambda: X.mean(axis=(0, 3)), ["(2, 3) float64 'Q'", "axis 3 is out of bounds"]),
    "max": (lambda: X.max(axis=-3), ["(2, 3) float64 'Q'", "axis -3 is out of bounds"]),
    "cumsum": (lambda: X.cumsum(2), ["(2, 3) float64 'Q'", "axis 2 is out of bounds"]),
    "softmax": (lambda: X.softmax(axis=2), ["(2, 3) float64 'Q'", "axis 2 is out of bounds"]),
    "log_softmax": (lambda: X.log_softmax(2), ["(2, 3) float64 'Q'", "axis 2 is out of bounds"]),
    "logsumexp": (lambda: X.logsumexp(2), ["(2, 3) float64 'Q'", "axis 2 is out of bounds"]),
    "cross_entropy": (
        lambda: minigrad.cross_entropy(X, np.array([1, 0, 1])),
        ["logits (2, 3) float64 'Q'", "targets (3,) int64", "one integer target"],
    ),
    "cross_entropy, dtype": (
        lambda: minigrad.cross_entropy(X, np.array([1.0, 0.0])),
        ["targets (2,) float64", "one integer target"],
    ),
    "norm": (lambda: minigrad.norm(X, ord=1), ["ord=None", "ord=1"]),
    "getitem": (lambda: X[5], ["index 5 is out of bounds", "(2, 3) float64 'Q'", "as NumPy takes"]),
    "getitem, axes": (lambda: X[0, 0, 0], ["too many indices", "(2, 3) float64 'Q'"]),
    "getitem, mask": (lambda: X[np.ones(3, bool)], ["boolean index", "(2, 3) float64 'Q'"]),
    "getitem, float": (lambda: X[0.5], ["(2, 3) float64 'Q'", "integers, slices"]),
    "take": (lambda: X.take([7], 1), ["index 7 is out of bounds", "(2, 3) float64 'Q'"]),
    "embedding": (
        lambda: minigrad.embedding(X, [2]),
        ["index 2 is out of bounds", "weight (2, 3)"],
    ),
    "embedding, float": (
        lambda: minigrad.embedding(X, np.array([0.5])),
        ["weight (2, 3) float64 'Q'", "integers that each name a row"],
    ),
    "cross_entropy, class": (
        lambda: minigrad.cross_entropy(X, np.array([1, 5])),
        ["target 5 is none of 3 classes", "logits (2, 3)"],
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_an_error_names_the_op_what_it_got_and_what_it_expects(name: str) -> None:
    call, parts = SHAPES[name]
    with pytest.raises((ValueError, TypeError, IndexError)) as caught:
        call()
    message = str(caught.value)
    assert message.startswith(name.split(",")[0])
    missing = [part for part in parts if part not in message]
    assert not missing, message


@pytest.mark.parametrize("name", ["sum", "mean", "max", "cumsum", "softmax", "logsumexp", "flip"])
def test_an_axis_that_there_is_not_comes_with_what_was_expected(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: ") as caught:
        getattr(minigrad, name)(X, axis=5)
    assert "expected: " in str(caught.value)


WRONG: dict[str, tuple[Call, type[Exception], str]] = {
    "text": (lambda: X + "a", TypeError, "add takes tensors, arrays and numbers, not str"),
    "None": (
        lambda: None * X,
        TypeError,
        "multiply takes tensors, arrays and numbers, not NoneType",
    ),
    "complex": (
        lambda: X * 1j,
        TypeError,
        "multiply takes tensors, arrays and numbers, not complex",
    ),
    "an object": (lambda: X @ object(), TypeError, "matmul takes tensors, arrays and numbers"),
    "an unknown option": (
        lambda: minigrad.sum(X, axs=1),
        TypeError,
        r"sum has no option 'axs'; there are \['axis', 'keepdims'\]",
    ),
    "a missing option": (lambda: minigrad.reshape(X), TypeError, "reshape needs shape="),
    "a missing input": (lambda: minigrad.multiply(X), TypeError, "multiply|missing"),
    "no input": (lambda: minigrad.exp(), TypeError, "exp"),
    "too many arguments": (
        lambda: minigrad.sum(X, 0, True, 3),
        TypeError,
        "sum takes x, axis by position",
    ),
    "an unknown reduction": (
        lambda: minigrad.cross_entropy(X, np.array([0, 1]), reduction="median"),
        ValueError,
        'cross_entropy: reduction=.median.; it is "mean", "sum" or "none"',
    ),
    "another padding": (lambda: minigrad.pad(X, 1, mode="edge"), ValueError, "only 'constant'"),
    "booleans for rows": (
        lambda: minigrad.embedding(X, np.array([True, False])),
        TypeError,
        "embedding.*bool",
    ),
    "booleans for positions": (
        lambda: X.take(np.array([True, False]), 0),
        TypeError,
        "take.*bool",
    ),
    "einsum without subscripts": (
        lambda: minigrad.einsum(X, [0, 1], [1]),
        TypeError,
        "einsum.*subscripts",
    ),
    "no arrays": (lambda: minigrad.concatenate([]), ValueError, "concatenate: need at least one"),
    "integers to a negative power": (
        lambda: Tensor(np.array([1, 2])) ** -1,
        ValueError,
        "power: Integers to negative integer powers",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_named(name: str) -> None:
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call()


RECORDED = leaf(1.0)
TENSOR_OPTIONS: dict[str, Call] = {
    "scale": lambda: minigrad.scale(X, RECORDED),
    "clip": lambda: minigrad.clip(X, RECORDED, 2.0),
    "np.clip": lambda: np.clip(np.ones(2), RECORDED, 2.0),
    "masked_fill": lambda: minigrad.masked_fill(X, np.ones(3, bool), RECORDED),
    "pad": lambda: minigrad.pad(X, 1, constant_values=RECORDED),
    "pad, in a tuple": lambda: minigrad.pad(X, 1, constant_values=(RECORDED, 0.0)),
}


@pytest.mark.parametrize("name", TENSOR_OPTIONS)
def test_a_recorded_tensor_as_an_option_is_refused_since_its_gradient_would_be_lost(
    name: str,
) -> None:
    with pytest.raises(TypeError):
        TENSOR_OPTIONS[name]()


def test_under_trace_an_error_names_the_line_that_made_the_tensor() -> None:
    with trace():
        here = next_line()
        h = X * 2.0
        h.name = "hidden"
        with pytest.raises(ValueError, match=r"^matmul") as caught:
            _ = h @ h
    assert f"'hidden' (made in {__file__}, line {here})" in str(caught.value)


def test_without_trace_no_line_is_looked_up() -> None:
    h = X * 2.0
    with pytest.raises(ValueError, match=r"^matmul") as caught:
        _ = h @ h
    assert "made in" not in str(caught.value)


def test_numpys_own_error_is_the_cause() -> None:
    with pytest.raises(ValueError, match=r"^add") as caught:
        _ = X + np.ones(4)
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_op_that_failed_left_nothing_recorded() -> None:
    x = leaf(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"^matmul"):
        _ = x @ x
    y = x * 2.0
    y.backward(np.full((2, 3), 3.0))
    assert x.grad is not None
    assert x.grad.tolist() == [[6.0] * 3] * 2
