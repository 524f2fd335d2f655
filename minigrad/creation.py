"""Tensors from nothing: constants, ranges and random numbers, with NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.tensor import Tensor

Shape = int | tuple[int, ...]


def _filled(make: Callable[..., Any], what: str) -> Callable[..., Tensor]:
    def constant(
        shape: Shape, *, dtype: Any = None, requires_grad: bool = False, name: str | None = None
    ) -> Tensor:
        return Tensor(make(shape, dtype or np.float64), requires_grad, name=name)

    constant.__name__ = constant.__qualname__ = what
    constant.__doc__ = f"A tensor of {what}, float64 unless told otherwise."
    return constant


zeros = _filled(np.zeros, "zeros")
ones = _filled(np.ones, "ones")


def full(
    shape: Shape,
    value: float,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
) -> Tensor:
    """A tensor with the same number everywhere, float64 unless told otherwise.

    >>> full((2,), 7.0).tolist()
    [7.0, 7.0]
    """
    return Tensor(np.full(shape, value, dtype or np.float64), requires_grad, name=name)


def arange(
    *bounds: float, dtype: Any = None, requires_grad: bool = False, name: str | None = None
) -> Tensor:
    """Evenly spaced numbers: arange(stop), (start, stop) or (start, stop, step); float64.

    >>> arange(3).tolist()
    [0.0, 1.0, 2.0]
    """
    return Tensor(np.arange(*bounds, dtype=dtype or np.float64), requires_grad, name=name)


def eye(n: int, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """The n × n identity matrix, float64 unless told otherwise."""
    return Tensor(np.eye(n, dtype=dtype or np.float64), requires_grad)


def _drawn(draw: Callable[..., Any], name: str, distribution: str) -> Callable[..., Tensor]:
    def random(
        rng: np.random.Generator,
        *shape: int,
        dtype: Any = None,
        requires_grad: bool = False,
        name: str | None = None,
    ) -> Tensor:
        return Tensor(draw(rng, shape), requires_grad, dtype=dtype, name=name)

    random.__name__ = random.__qualname__ = name
    random.__doc__ = f"""Independent draws from {distribution}, by a generator that you pass.

    >>> import numpy as np
    >>> {name}(np.random.default_rng(0), 2, 3).shape
    (2, 3)
    """
    return random


randn = _drawn(lambda rng, shape: rng.standard_normal(shape), "randn", "N(0, 1)")
rand = _drawn(lambda rng, shape: rng.random(shape), "rand", "the uniform distribution on [0, 1)")


def zeros_like(x: Tensor, *, requires_grad: bool = False) -> Tensor:
    """Zeros of x's shape and dtype."""
    return Tensor(np.zeros(x.shape, x.dtype), requires_grad)


def ones_like(x: Tensor, *, requires_grad: bool = False) -> Tensor:
    """Ones of x's shape and dtype."""
    return Tensor(np.ones(x.shape, x.dtype), requires_grad)
