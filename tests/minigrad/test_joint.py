"""An op whose backward is an algorithm: one rule for all inputs, and a composition beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, check_primitive, grad, joint_primitive
from tests.helpers import assert_close, gradient_of

calls: list[str] = []


def _gradients(g: Any, weights: Any, q: Any, k: Any, v: Any, *, factor: float) -> tuple[Any, ...]:
    calls.append("joint")
    inner = g @ v.mT
    scores = weights * (inner - (inner * weights).sum(axis=-1, keepdims=True)) * factor
    return scores @ k, scores.mT @ q, weights.mT @ g


def _composed(q: Any, k: Any, v: Any, *, factor: float) -> Any:
    return minigrad.softmax(q @ k.mT * factor, -1) @ v


@joint_primitive(
    _gradients,
    composed=_composed,
    example=lambda rng: [
        (rng.normal(size=(2, 4)), rng.normal(size=(3, 4)), rng.normal(size=(3, 5)), {"factor": 0.5})
    ],
)
def attend(q: Any, k: Any, v: Any, *, factor: float = 1.0) -> Any:
    """Attention as one op, which keeps its weights."""
    weights = minigrad.softmax(q @ k.mT * factor, -1)
    return weights @ v, weights


@pytest.fixture
def leaves() -> list[Tensor]:
    rng = np.random.default_rng(0)
    return [Tensor(rng.normal(size=s), requires_grad=True) for s in ((2, 4), (3, 4), (3, 5))]


def test_all_that_is_promised_of_a_primitive_holds() -> None:
    result = check_primitive(attend)
    assert result.ok, result.problem
    assert result.second is not None


def test_the_joint_rule_runs_once_for_all_inputs(leaves: list[Tensor]) -> None:
    calls.clear()
    attend(*leaves, factor=0.5).backward(np.ones((2, 5)))
    assert calls == ["joint"]
    assert all(gradient_of(x).shape == x.shape for x in leaves)


def test_its_gradients_are_those_of_the_composition(leaves: list[Tensor]) -> None:
    upstream = np.random.default_rng(1).normal(size=(2, 5))
    fused = grad(attend(*leaves, factor=0.5), leaves, upstream)
    plain = grad(_composed(*leaves, factor=0.5), leaves, upstream)
    for one, other in zip(fused, plain, strict=True):
        assert_close(one, other, rtol=1e-12)


def test_a_wrong_joint_rule_is_caught() -> None:
    def wrong(g: Any, saved: Any, a: Any, b: Any) -> tuple[Any, Any]:
        return g * b, g * b

    @joint_primitive(
        wrong, composed=lambda a, b: a * b, example=lambda rng: tuple(rng.random((2, 3)))
    )
    def product(a: Any, b: Any) -> Any:
        return a * b, None

    assert "gradient wrong" in check_primitive(product).problem


def test_a_composition_that_differs_is_caught() -> None:
    def right(g: Any, saved: Any, a: Any, b: Any) -> tuple[Any, Any]:
        return g * b, g * a

    @joint_primitive(
        right, composed=lambda a, b: a + b, example=lambda rng: tuple(rng.random((2, 3)))
    )
    def product(a: Any, b: Any) -> Any:
        return a * b, None

    assert "composed" in check_primitive(product).problem


@joint_primitive(lambda g, saved, a, b: (g * saved / a, g * saved / b), composed=lambda a, b: a * b)
def product(a: Any, b: Any) -> Any:
    """A product that divides on the way back."""
    return a * b, a * b


def test_its_recorded_gradients_are_partial_also_where_inputs_depend_on_each_other() -> None:
    x = Tensor(3.0, requires_grad=True)
    (alone,) = grad(product(x, x), x, create_graph=True)
    assert float(alone) == 6.0
    (behind,) = grad(product(x, 2 * x), x, create_graph=True)
    assert float(behind) == 12.0


def test_a_second_walk_over_a_retained_graph_computes_anew() -> None:
    a, b = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)
    out, upstream = product(a, b), np.ones(2)
    out.backward(upstream, retain_graph=True)
    a.grad = None
    upstream[:] = 10.0
    out.backward(upstream, retain_graph=True)
    assert gradient_of(a).tolist() == [30.0, 40.0]
    assert "gradients" not in out._node.kept


def test_what_was_saved_goes_when_the_walk_is_done(leaves: list[Tensor]) -> None:
    out = attend(*leaves)
    node = out._node
    assert "saved" in node.kept
    out.backward(np.ones((2, 5)))
    assert node.kept is None


def test_it_takes_arrays_and_prints_its_composition() -> None:
    arrays = [np.ones((2, 4)), np.ones((3, 4)), np.ones((3, 5))]
    assert attend(*arrays).shape == (2, 5)
    text = minigrad.formula(attend).text()
    assert text.splitlines()[0] == "y = softmax(1 · (q kᵀ), axis=-1) v"
