"""Derivatives of functions: `vjp`, `jacobian`, `hessian` and `hvp` against what calculus says."""

from typing import Any

import numpy as np
import pytest

import attention
import minigrad
from minigrad import Tensor
from minigrad.functional import hessian, hvp, jacobian, vjp
from tests.helpers import assert_close, assert_same, leaf

Rng = np.random.Generator


def test_vjp_gives_the_result_and_one_product_per_input(rng: Rng) -> None:
    a, b, upstream = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    result, (to_a, to_b) = vjp(lambda x, y: x @ y, a, b, gradient=upstream)
    assert_close(result, a @ b)
    assert not result.requires_grad
    assert_close(to_a, upstream @ b.T)
    assert_close(to_b, a.T @ upstream)


def test_vjp_of_several_entries_needs_a_gradient() -> None:
    with pytest.raises(RuntimeError, match="needs a gradient to start from"):
        vjp(lambda x: x * 2, [1.0, 2.0])


def test_the_jacobian_of_a_linear_map_is_its_matrix(rng: Rng) -> None:
    A, x = rng.normal(size=(2, 3)), rng.normal(size=3)
    assert_close(jacobian(lambda t: A @ t, x), A)


def test_the_jacobian_has_the_results_axes_first(rng: Rng) -> None:
    x, w = rng.normal(size=(2, 3)), rng.normal(size=(3, 4))
    found = jacobian(lambda t: t @ w, x)
    assert_close(found, np.einsum("ab,jc->acbj", np.eye(2), w), atol=1e-15)


def test_the_jacobian_of_softmax_is_diag_p_minus_p_p(rng: Rng) -> None:
    x = rng.normal(size=5)
    p = np.exp(x) / np.exp(x).sum()
    assert_close(jacobian(minigrad.softmax, x), np.diag(p) - np.outer(p, p), atol=1e-15)


@pytest.mark.parametrize("base", [2.0, 10.0])
def test_the_jacobian_of_softmax_to_another_base_carries_its_logarithm(
    base: float, rng: Rng
) -> None:
    x = rng.normal(size=4)
    p = base**x / (base**x).sum()
    found = jacobian(lambda t: attention.softmax(t, base=base), x)
    assert_close(found, np.log(base) * (np.diag(p) - np.outer(p, p)), atol=1e-15)


def test_the_jacobian_of_a_number_is_the_gradient(rng: Rng) -> None:
    x = rng.normal(size=(2, 3))
    assert_close(jacobian(lambda t: (t**3).sum(), x), 3 * x**2)
    assert_close(jacobian(lambda t: t**3, 2.0), 12.0)


def test_the_jacobian_of_what_does_not_depend_on_the_input_is_zero() -> None:
    constant = Tensor([1.0, 2.0])
    assert_same(jacobian(lambda t: constant, [3.0, 4.0, 5.0]), np.zeros((2, 3)))
    other = leaf([1.0, 2.0])
    assert_same(jacobian(lambda t: other * 2, [3.0, 4.0, 5.0]), np.zeros((2, 3)))


def test_the_jacobian_of_an_empty_result_is_empty() -> None:
    assert jacobian(lambda t: t[:0], [3.0, 4.0]).shape == (0, 2)


def test_a_recorded_jacobian_can_be_differentiated_again() -> None:
    x = leaf([2.0, 3.0])
    found = jacobian(lambda t: t**3, x, create_graph=True)
    (again,) = minigrad.grad(found, x, np.array([[1.0, 0.0], [0.0, 10.0]]))
    assert_close(again, [12.0, 180.0])


def test_the_hessian_of_a_quadratic_form_is_its_symmetric_part(rng: Rng) -> None:
    A, x = rng.normal(size=(3, 3)), rng.normal(size=3)
    assert_close(hessian(lambda t: t @ A @ t, x), A + A.T, atol=1e-12)


def test_the_hessian_of_logsumexp_is_the_jacobian_of_softmax(rng: Rng) -> None:
    x = rng.normal(size=4)
    p = np.exp(x) / np.exp(x).sum()
    assert_close(hessian(minigrad.logsumexp, x), np.diag(p) - np.outer(p, p), atol=1e-12)


def test_the_hessian_has_the_inputs_axes_twice(rng: Rng) -> None:
    x = rng.normal(size=(2, 3))
    found = hessian(lambda t: (t**3).sum(), x)
    assert_close(found, np.diag(6 * x.ravel()).reshape(2, 3, 2, 3))


def test_the_hessian_of_a_linear_function_is_zero(rng: Rng) -> None:
    w = rng.normal(size=3)
    assert_same(hessian(lambda t: (t * w).sum(), rng.normal(size=3)), np.zeros((3, 3)))


def test_hvp_is_the_hessian_times_the_vector(rng: Rng) -> None:
    x, vector = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))

    def function(t: Any) -> Any:
        return (minigrad.sin(t) * t.sum()).sum()

    full = hessian(function, x).data
    assert_close(hvp(function, x, vector), np.tensordot(full, vector, axes=2), rtol=1e-9)
    assert_close(hvp(function, x, Tensor(vector)), np.tensordot(full, vector, axes=2), rtol=1e-9)


@pytest.mark.parametrize("shape", [(3,), (1, 3), (3, 1, 1), (4,), ()])
def test_hvp_wants_a_vector_of_the_inputs_shape(shape: tuple[int, ...], rng: Rng) -> None:
    with pytest.raises(ValueError, match="shape"):
        hvp(lambda t: (t**3).sum(), rng.normal(size=(3, 1)), rng.normal(size=shape))


def test_a_hessian_is_of_one_number(rng: Rng) -> None:
    with pytest.raises((ValueError, RuntimeError), match=r"shape \(3,\)"):
        hessian(lambda t: t**3, rng.normal(size=3))


def test_nothing_is_left_behind_on_the_inputs(rng: Rng) -> None:
    x = leaf(rng.normal(size=3))
    before = x.data.copy()
    vjp(lambda t: (t * t).sum(), x)
    jacobian(lambda t: t * t, x)
    hessian(lambda t: (t * t).sum(), x)
    hvp(lambda t: (t * t).sum(), x, np.ones(3))
    assert x.grad is None
    assert_same(x, before)


def test_the_point_may_be_a_number_a_list_an_array_or_a_tensor() -> None:
    for point in ([1.0, 2.0], np.array([1.0, 2.0]), Tensor([1.0, 2.0]), leaf([1.0, 2.0])):
        assert_same(jacobian(lambda t: t * t, point), [[2.0, 0.0], [0.0, 4.0]])


def test_derivatives_are_taken_even_inside_no_grad() -> None:
    with minigrad.no_grad():
        result, (slope,) = vjp(lambda t: t**3, 2.0)
        assert_same(jacobian(lambda t: t**3, 2.0), 12.0)
        assert_same(hessian(lambda t: t**3, 2.0), 12.0)
        assert_same(hvp(lambda t: t**3, 2.0, 10.0), 120.0)
    assert_same(slope, 12.0)
    assert not result.requires_grad


def test_float32_stays_float32() -> None:
    x = np.array([1.0, 2.0], dtype=np.float32)
    found = [
        vjp(lambda t: (t**3).sum(), x)[1][0],
        jacobian(lambda t: t**3, x),
        hessian(lambda t: (t**3).sum(), x),
        hvp(lambda t: (t**3).sum(), x, np.ones(2)),
    ]
    assert [t.dtype for t in found] == [np.float32] * 4


def test_a_function_has_to_return_a_tensor() -> None:
    with pytest.raises(TypeError, match="must return a tensor; it returned a float"):
        vjp(Tensor.__float__, 1.0)  # type: ignore[arg-type]
