"""Derivatives of functions: vector-Jacobian products, Jacobians, Hessians and their products.

Each takes a function of tensors that returns a tensor, and the point to differentiate at; nothing
is left behind on the inputs. Shapes follow PyTorch: the result's axes first, then the input's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.modes import enable_grad
from minigrad.operand import FUNCTIONS
from minigrad.tape import grad
from minigrad.tensor import Tensor

Function = Callable[..., Tensor]


def _at(function: Function, inputs: tuple[Any, ...]) -> tuple[Tensor, list[Tensor]]:
    """The result at the inputs, and these as leaves; a tensor that is recorded stays itself."""
    points = [
        x if isinstance(x, Tensor) and x.requires_grad else Tensor(x, requires_grad=True)
        for x in inputs
    ]
    with enable_grad():
        out = function(*points)
    if not isinstance(out, Tensor):
        raise TypeError(f"the function must return a tensor; it returned a {type(out).__name__}.")
    return out, points


def vjp(
    function: Function, *inputs: Any, gradient: Any = None
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The result, and for each input the vector-Jacobian product gradient · ∂result/∂input.

    Args: `gradient` has the result's shape; it may be left out for one element.
    Errors: as `minigrad.grad`.

    >>> result, (slope,) = vjp(lambda x: x * x, 3.0)
    >>> float(result), float(slope)
    (9.0, 6.0)
    """
    out, points = _at(function, inputs)
    return out.detach(), grad(out, points, gradient)


def jacobian(function: Function, x: Any, *, create_graph: bool = False) -> Tensor:
    """∂result/∂x, of shape (*result.shape, *x.shape): one backward for each entry of the result.

    >>> jacobian(lambda x: x * x, [1.0, 2.0]).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    out, (point,) = _at(function, (x,))
    rows = [_gradient(out, point, unit, create_graph) for unit in np.eye(out.size)]
    shape = (*out.shape, *point.shape)
    result: Tensor = FUNCTIONS["stack"](rows).reshape(shape) if rows else Tensor(np.zeros(shape))
    return result


def hessian(function: Function, x: Any) -> Tensor:
    """∂²result/∂x∂x of a function with one number as its result, of shape (*x.shape, *x.shape).

    >>> hessian(lambda x: (x**3).sum(), [1.0, 2.0]).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    return jacobian(lambda point: _slope(function, point), x)


def hvp(function: Function, x: Any, vector: Any) -> Tensor:
    """The product of the Hessian at x with a vector of x's shape, without building the Hessian.

    >>> hvp(lambda x: (x**3).sum(), [1.0, 2.0], [1.0, 10.0]).tolist()
    [6.0, 120.0]
    """
    out, (point,) = _at(lambda point: _slope(function, point), (x,))
    weight = np.asarray(vector, dtype=out.dtype)
    if weight.shape != point.shape:
        raise ValueError(f"hvp: a vector of shape {weight.shape} for x of shape {point.shape}.")
    return _gradient(out, point, weight, False)


def _slope(function: Function, point: Tensor) -> Tensor:
    """The gradient, recorded so that it can be differentiated again."""
    out, _ = _at(function, (point,))
    return _gradient(out, point, np.ones(1), True)


def _gradient(out: Tensor, point: Tensor, weight: Any, create_graph: bool) -> Tensor:
    """What reaches the point; zeros where the result does not depend on it."""
    if not out.requires_grad:
        return Tensor(np.zeros(point.shape, point.dtype))
    if weight.size != out.size:
        raise ValueError(f"the function must return one number, not shape {out.shape}.")
    weight = weight.reshape(out.shape).astype(out.dtype)
    options = {"create_graph": create_graph, "retain_graph": True, "allow_unused": True}
    found: Tensor | None = grad(out, point, weight, **options)[0]
    return Tensor(np.zeros(point.shape, point.dtype)) if found is None else found
