"""What is agreed where mathematics leaves a choice (ties, kinks, bounds, nothing to choose from),
and second derivatives against the ones from the textbook."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, functional, grad
from tests.helpers import Array, assert_close, assert_same, gradient_of, leaf

Rng = np.random.Generator
INF = float("inf")


# ---------------------------------------------------------------------------------- ties and kinks


@pytest.mark.parametrize("name", ["max", "min"])
def test_tied_extremes_share_the_gradient_evenly_row_by_row(name: str) -> None:
    sign = 1.0 if name == "max" else -1.0
    x = leaf(sign * np.array([[1.0, 3.0, 3.0, 2.0], [5.0, 5.0, 5.0, 5.0], [9.0, 1.0, 2.0, 3.0]]))
    getattr(minigrad, name)(x, axis=1).backward(np.array([6.0, 8.0, -2.0]))
    assert_same(gradient_of(x), [[0.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0], [-2.0, 0.0, 0.0, 0.0]])


def test_ties_over_all_axes_are_counted_over_all_axes() -> None:
    x = leaf([[7.0, 1.0, 7.0], [2.0, 7.0, 7.0]])
    x.max().backward(np.array(8.0))
    assert_same(gradient_of(x), [[2.0, 0.0, 2.0], [0.0, 2.0, 2.0]])


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_two_equal_operands_each_get_half(name: str) -> None:
    a, b = leaf([1.0, 2.0, 3.0]), leaf([3.0, 2.0, 1.0])
    getattr(minigrad, name)(a, b).backward(np.array([10.0, 100.0, 1000.0]))
    low, high = [10.0, 50.0, 0.0], [0.0, 50.0, 1000.0]
    assert_same(gradient_of(a), high if name == "maximum" else low)
    assert_same(gradient_of(b), [10.0, 50.0, 0.0] if name == "maximum" else [0.0, 50.0, 1000.0])


def test_one_tensor_on_both_sides_gets_all_of_it() -> None:
    x = leaf([1.0, -2.0])
    minigrad.maximum(x, x).backward(np.array([10.0, 100.0]))
    assert_same(gradient_of(x), [10.0, 100.0])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (minigrad.relu, [0.0, 0.0, 0.0, 1000.0]),
        (minigrad.abs, [-1.0, 0.0, 0.0, 1000.0]),
        (lambda x: minigrad.maximum(x, 0.0), [0.0, 5.0, 50.0, 1000.0]),
        (lambda x: minigrad.clip(x, 0.0, 2.0), [0.0, 10.0, 100.0, 1000.0]),
        (lambda x: minigrad.clip(x, None, 0.0), [1.0, 10.0, 100.0, 0.0]),
        (lambda x: minigrad.clip(x, -1.0), [1.0, 10.0, 100.0, 1000.0]),
    ],
    ids=["relu", "abs", "maximum", "clip", "clip above", "clip below"],
)
def test_what_happens_at_0_and_at_bounds(
    function: Callable[[Tensor], Tensor], expected: list[float]
) -> None:
    """The entries are −1, −0, 0 and 2; the last is also a bound of one of the clips."""
    x = leaf([-1.0, -0.0, 0.0, 2.0])
    function(x).backward(np.array([1.0, 10.0, 100.0, 1000.0]))
    assert_same(gradient_of(x), expected)


def test_the_conventions_stand_in_the_docstrings() -> None:
    for function, words in (
        (minigrad.max, "ties share the gradient evenly"),
        (minigrad.min, "ties share the gradient evenly"),
        (minigrad.maximum, "ties share the gradient evenly"),
        (minigrad.relu, "gradient at 0 is 0"),
        (minigrad.abs, "gradient at 0 is 0"),
        (minigrad.clip, "the bounds included"),
        (minigrad.norm, "gradient at 0 is 0"),
        (minigrad.std, "gradient is 0 where all values are equal"),
        (minigrad.gelu, "tanh form"),
        (minigrad.softmax, "weights are 0"),
    ):
        assert words in " ".join((function.__doc__ or "").split())


# -------------------------------------------------------------------------- nothing to choose from


def test_a_row_of_minus_infinity_has_weights_0_and_gradient_0(rng: Rng) -> None:
    x = leaf([[1.0, -INF, 2.0], [-INF, -INF, -INF]])
    y = minigrad.softmax(x, axis=-1)
    p = 1 / (1 + np.exp(1.0))
    assert_close(y, [[p, 0.0, 1 - p], [0.0, 0.0, 0.0]])
    upstream = rng.normal(size=(2, 3))
    y.backward(upstream)
    slope = p * (1 - p) * (upstream[0, 0] - upstream[0, 2])
    assert_close(gradient_of(x), [[slope, 0.0, -slope], [0.0, 0.0, 0.0]], atol=1e-15)


def test_logsumexp_of_nothing_is_minus_infinity() -> None:
    assert_same(minigrad.logsumexp(Tensor([[-INF, -INF], [0.0, -INF]]), axis=1), [-INF, 0.0])


def test_cross_entropy_with_every_target_ignored_is_0_in_value_and_gradient() -> None:
    for reduction in ("mean", "sum"):
        logits = leaf([[1.0, 2.0], [3.0, 4.0]])
        loss = minigrad.cross_entropy(logits, np.array([-100, -100]), reduction=reduction)
        loss.backward()
        assert_same(loss, 0.0)
        assert_same(gradient_of(logits), np.zeros((2, 2)))


def _log_softmax(x: Array) -> Array:
    result: Array = x - np.log(np.exp(x).sum(axis=-1, keepdims=True))
    return result


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_leaves_ignored_targets_out_of_sum_and_count(
    reduction: str, rng: Rng
) -> None:
    logits, targets = rng.normal(size=(2, 3, 4)), np.array([[0, -100, 3], [-100, 2, 1]])
    counted = targets != -100
    losses = np.zeros((2, 3))
    for i, j in np.argwhere(counted):
        losses[i, j] = -_log_softmax(logits)[i, j, targets[i, j]]
    expected = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / 4}[reduction]
    x = leaf(logits)
    loss = minigrad.cross_entropy(x, targets, reduction=reduction)
    assert_close(loss, expected)
    upstream = np.asarray(rng.normal(size=np.shape(expected)))
    loss.backward(upstream)
    one_hot = np.eye(4)[np.where(counted, targets, 0)]
    weight = (upstream / (4 if reduction == "mean" else 1)) * counted
    slope = (np.exp(_log_softmax(logits)) - one_hot) * weight[..., None]
    assert_close(gradient_of(x), slope, atol=1e-15)


def test_cross_entropy_is_minus_the_log_softmax_at_the_target_also_at_minus_infinity() -> None:
    logits = np.array([[0.0, -INF, 1.0], [-INF, -INF, 2.0], [-INF, -INF, -INF]])
    for targets in ([0, 2, 0], [1, 0, 2]):
        expected = -minigrad.log_softmax(logits)[np.arange(3), targets]
        found = minigrad.cross_entropy(logits, np.array(targets), reduction="none")
        assert_close(found, expected)


def test_softmax_does_not_change_when_a_constant_is_added(rng: Rng) -> None:
    x = rng.normal(size=(2, 5))
    assert_close(minigrad.softmax(x + 1000.0), minigrad.softmax(x), rtol=1e-9)


def test_numpys_conventions_win_where_pytorch_has_others(rng: Rng) -> None:
    data = rng.normal(size=(2, 6))
    x = Tensor(data)
    assert_close(x.var(axis=1), data.var(axis=1, ddof=0))
    assert_close(x.std(axis=1, ddof=1), data.std(axis=1, ddof=1))
    assert type(x.max(axis=1)) is Tensor
    assert [part.shape for part in x.split(3, axis=1)] == [(2, 2)] * 3
    assert [part.shape for part in x.split([1, 2], axis=1)] == [(2, 1), (2, 1), (2, 4)]
    assert minigrad.pad(x, ((1, 0), (0, 2))).shape == (3, 8)
    assert x.transpose().shape == (6, 2)


# ------------------------------------------------------------------------------ second derivatives


def second(function: Callable[[Any], Any], at: Any) -> Any:
    """d²f/dx² of an elementwise function, by recording its gradient; 0 if that is a constant."""
    x = leaf(at)
    (first,) = grad(function(x), x, np.ones(x.shape), create_graph=True)
    if not first.requires_grad:
        return np.zeros(x.shape)
    (found,) = grad(first, x, np.ones(x.shape))
    return found


def _bend(x: Array) -> Array:
    """The tanh inside of gelu."""
    return np.asarray(np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _logistic(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


SECOND: dict[str, tuple[Callable[[Any], Any], Callable[[Array], Any]]] = {
    "exp": (minigrad.exp, np.exp),
    "log": (minigrad.log, lambda x: -1 / x**2),
    "log1p": (minigrad.log1p, lambda x: -1 / (1 + x) ** 2),
    "sqrt": (minigrad.sqrt, lambda x: -0.25 * x**-1.5),
    "sin": (minigrad.sin, lambda x: -np.sin(x)),
    "cos": (minigrad.cos, lambda x: -np.cos(x)),
    "tanh": (minigrad.tanh, lambda x: -2 * np.tanh(x) * (1 - np.tanh(x) ** 2)),
    "sigmoid": (
        minigrad.sigmoid,
        lambda x: _logistic(x) * (1 - _logistic(x)) * (1 - 2 * _logistic(x)),
    ),
    "relu": (minigrad.relu, lambda x: 0 * x),
    "abs": (minigrad.abs, lambda x: 0 * x),
    "negative": (minigrad.negative, lambda x: 0 * x),
    "scale": (lambda x: minigrad.scale(x, 3.0), lambda x: 0 * x),
    "a square": (lambda x: x * x, lambda x: 2 + 0 * x),
    "a cube": (lambda x: x**3, lambda x: 6 * x),
    "a power below 1": (lambda x: x**0.5, lambda x: -0.25 * x**-1.5),
    "a reciprocal": (lambda x: 1 / x, lambda x: 2 / x**3),
    "2 to the x": (lambda x: 2**x, lambda x: np.log(2) ** 2 * 2**x),
    "x to the x": (lambda x: x**x, lambda x: x**x * ((np.log(x) + 1) ** 2 + 1 / x)),
    "silu": (
        minigrad.silu,
        lambda x: (s := _logistic(x)) * (1 - s) * (2 + x * (1 - 2 * s)),
    ),
}


@pytest.mark.parametrize("name", SECOND)
def test_the_second_derivative_is_the_textbooks(name: str, rng: Rng) -> None:
    function, expected = SECOND[name]
    x = rng.uniform(0.4, 2.5, (2, 3))
    assert_close(second(function, x), expected(x), rtol=1e-10, atol=1e-14)


def test_the_second_derivative_of_gelu_is_its_rules_slope(rng: Rng) -> None:
    x, h = rng.normal(size=(2, 3)), 1e-5
    k = np.sqrt(2 / np.pi)

    def first(x: Array) -> Array:
        t = _bend(x)
        return np.asarray((1 + t) / 2 + x / 2 * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x))

    assert_close(second(minigrad.gelu, x), (first(x + h) - first(x - h)) / (2 * h), rtol=1e-7)


def test_the_mixed_second_derivative_of_a_product_is_the_upstream(rng: Rng) -> None:
    a, b, upstream = leaf(rng.normal(size=3)), leaf(rng.normal(size=3)), rng.normal(size=3)
    (to_a,) = grad(a * b, a, upstream, create_graph=True)
    (mixed,) = grad(to_a, b, np.ones(3))
    assert_close(mixed, upstream)


def test_the_mixed_second_derivative_of_a_quotient(rng: Rng) -> None:
    a, b = leaf(rng.normal(size=3)), leaf(rng.uniform(0.5, 2.0, 3))
    upstream = rng.normal(size=3)
    (to_b,) = grad(a / b, b, upstream, create_graph=True)
    twice, mixed = grad(to_b, [b, a], np.ones(3))
    assert_close(twice, upstream * 2 * a.data / b.data**3)
    assert_close(mixed, -upstream / b.data**2)


def test_the_second_derivative_of_softmax(rng: Rng) -> None:
    """The change along v of the gradient p ⊙ (u − p·u), where p itself changes by p ⊙ (v − p·v)."""
    x, u, v = rng.normal(size=5), rng.normal(size=5), rng.normal(size=5)
    p = np.exp(x) / np.exp(x).sum()
    change = p * (v - p @ v)
    found = functional.hvp(lambda t: (minigrad.softmax(t) * u).sum(), x, v)
    assert_close(found, change * (u - p @ u) - p * (change @ u), atol=1e-15)


def test_a_power_at_base_0_has_finite_derivatives() -> None:
    x = leaf([0.0, 2.0])
    (first,) = grad(x**2, x, np.ones(2), create_graph=True)
    assert_same(first, [0.0, 4.0])
    (again,) = grad(first, x, np.ones(2))
    assert_same(again, [2.0, 2.0])
    assert_same(second(lambda t: t**1, [0.0, 2.0]), [0.0, 0.0])
    assert_same(second(lambda t: t**0, [0.0, 2.0]), [0.0, 0.0])


def test_a_product_with_zeros_has_mixed_second_derivatives() -> None:
    found = functional.hessian(minigrad.prod, [0.0, 0.0, 5.0])
    assert_same(found, [[0.0, 5.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = functional.hessian(minigrad.prod, [2.0, 3.0, 5.0])
    assert_same(found, [[0.0, 5.0, 3.0], [5.0, 0.0, 2.0], [3.0, 2.0, 0.0]])


def test_a_variance_has_a_constant_second_derivative(rng: Rng) -> None:
    n = 4
    found = functional.hessian(minigrad.var, rng.normal(size=n))
    assert_close(found, 2 / n * (np.eye(n) - 1 / n), atol=1e-15)


def test_the_second_derivative_of_a_norm(rng: Rng) -> None:
    x = rng.normal(size=3)
    r = np.sqrt(x @ x)
    assert_close(
        functional.hessian(minigrad.norm, x), np.eye(3) / r - np.outer(x, x) / r**3, atol=1e-14
    )


def test_a_repeated_index_has_a_second_derivative(rng: Rng) -> None:
    x = rng.normal(size=3)
    found = functional.hessian(lambda t: (t[[0, 2, 0]] ** 3).sum(), x)
    assert_close(found, np.diag([12 * x[0], 0.0, 6 * x[2]]))


def test_a_third_derivative_takes_no_more_than_asking_again(rng: Rng) -> None:
    x = leaf(rng.normal(size=3))
    y = minigrad.sin(x)
    for expected in (np.cos(x.data), -np.sin(x.data), -np.cos(x.data), np.sin(x.data)):
        (y,) = grad(y, x, np.ones(3), create_graph=True)
        assert_close(y, expected)
