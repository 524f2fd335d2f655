"""Elementwise functions, with NumPy's broadcasting: arithmetic, exponentials, activations, choice.

All take tensors, arrays and numbers of any real dtype and of shapes that broadcast; the result
has the dtype that NumPy promotes to (functions such as `exp` make floats of integers). Each
gradient has the shape and dtype of its input: broadcasting is undone by the engine.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.memory import Variable
from minigrad.operand import Operand
from minigrad.primitive import primitive

_BROADCAST = "shapes that are equal or 1 when read from the right; see reshape and expand_dims"


def _two(rng: np.random.Generator) -> list[Any]:
    return [
        (rng.normal(size=(2, 3)), rng.uniform(0.5, 2.0, (2, 3))),
        (rng.normal(size=(4, 1, 3)), rng.uniform(0.5, 2.0, (2, 1))),
    ]


def _one(rng: np.random.Generator) -> Any:
    return (rng.normal(size=(2, 3)),)


def _positive(rng: np.random.Generator) -> Any:
    return (rng.uniform(0.5, 2.0, (2, 3)),)


@primitive(lambda g: g, lambda g: g, example=_two, expects=_BROADCAST)
def add(a: Any, b: Any) -> Any:
    """The sum.

    >>> add([1.0, 2.0], 10.0)
    array([11., 12.])
    """
    return a + b


@primitive(lambda g: g, lambda g: -g, example=_two, expects=_BROADCAST)
def subtract(a: Any, b: Any) -> Any:
    """The difference.

    >>> subtract(5.0, [1.0, 2.0])
    array([4., 3.])
    """
    return a - b


@primitive(lambda g, b: g * b, lambda g, a: g * a, example=_two, expects=_BROADCAST)
def multiply(a: Any, b: Any) -> Any:
    """The product, entry by entry (⊙).

    >>> multiply([1.0, 2.0], [3.0, 4.0])
    array([3., 8.])
    """
    return a * b


@primitive(lambda g, b: g / b, lambda g, b, out: -g * out / b, example=_two, expects=_BROADCAST)
def divide(a: Any, b: Any) -> Any:
    """The quotient.

    >>> divide(6.0, [2.0, 4.0])
    array([3. , 1.5])
    """
    return a / b


@primitive(lambda g: -g, example=_one)
def negative(x: Any) -> Any:
    """The value with the other sign.

    >>> negative([1.0, -2.0])
    array([-1.,  2.])
    """
    return -x


@primitive(
    lambda g, a, b: g * b * a ** (1 * b - (b != 0)),  # 1 * b makes a number of a bool
    lambda g, a, out: np.where(out == 0, 0.0, g * out * np.log(np.where(a > 0, a, np.nan))),
    example=lambda rng: [
        (rng.uniform(0.5, 2, (2, 3)), rng.normal(size=(2, 3))),
        (rng.uniform(0.5, 2, 3), 3.0),
    ],
    expects=_BROADCAST,
)
def power(a: Any, b: Any) -> Any:
    """The power aᵇ.

    At b = 0 the gradient at a is 0, also where a is 0. The gradient at the exponent is NaN for a
    negative base (it does not exist), and 0 for a base of 0 with a positive exponent.

    >>> power([2.0, 3.0], 2)
    array([4., 9.])
    """
    return np.power(a, b)


def _by_number(call: Any, x: Any, factor: Any) -> Any:
    if type(factor) is float:
        return call(x, factor)
    if isinstance(factor, Variable) or np.ndim(factor) != 0:
        raise TypeError("scale takes a number; write x * factor for a factor with a gradient.")
    return call(x, float(factor))


@primitive(
    lambda g, factor: g * factor,
    None,
    example=lambda rng: (rng.normal(size=(2, 3)), 0.5),
    called=_by_number,
)
def scale(x: Any, factor: float) -> Any:
    """A number times a tensor. It keeps the dtype, and nothing for the backward.

    >>> scale(np.ones(2, np.float32), np.float64(0.5))
    array([0.5, 0.5], dtype=float32)
    """
    return x * factor


@primitive(
    lambda g, b: divide_or_zero(g, b),
    lambda g, b, out: -divide_or_zero(g * out, b),
    example=_two,
    expects=_BROADCAST,
)
def divide_or_zero(a: Any, b: Any) -> Any:
    """The quotient, and 0 where b is 0: the subgradient of a norm or a deviation at 0.

    >>> divide_or_zero(np.array([1.0, 2.0]), np.array([0.0, 4.0]))
    array([0. , 0.5])
    """
    return np.where(b == 0, 0.0, a / np.where(b == 0, 1.0, b))


@primitive(lambda g, x: g * np.sign(x), example=_one)
def abs(x: Any) -> Any:
    """The absolute value; its gradient at 0 is 0.

    >>> abs([1.0, -2.0])
    array([1., 2.])
    """
    return np.abs(x)


@primitive(lambda g, out: g * out, example=_one)
def exp(x: Any) -> Any:
    """The exponential eˣ.

    >>> exp([0.0, 1.0])
    array([1.        , 2.71828183])
    """
    return np.exp(x)


@primitive(lambda g, x: g / x, example=_positive)
def log(x: Any) -> Any:
    """The natural logarithm.

    >>> log([1.0, np.e])
    array([0., 1.])
    """
    return np.log(x)


@primitive(lambda g, x: g / (1 + x), example=_positive)
def log1p(x: Any) -> Any:
    """The natural logarithm of 1 + x, accurate for small x.

    >>> log1p(1e-20)
    np.float64(1e-20)
    """
    return np.log1p(x)


@primitive(lambda g, out: g / (2 * out), example=_positive)
def sqrt(x: Any) -> Any:
    """The square root; its slope at 0 is infinite.

    >>> sqrt([4.0, 9.0])
    array([2., 3.])
    """
    return np.sqrt(x)


@primitive(lambda g, x: g * np.cos(x), example=_one)
def sin(x: Any) -> Any:
    """The sine of an angle in radians.

    >>> sin([0.0, np.pi / 2])
    array([0., 1.])
    """
    return np.sin(x)


@primitive(lambda g, x: -g * np.sin(x), example=_one)
def cos(x: Any) -> Any:
    """The cosine of an angle in radians.

    >>> cos([0.0])
    array([1.])
    """
    return np.cos(x)


@primitive(lambda g, out: g * (1 - out * out), example=_one)
def tanh(x: Any) -> Any:
    """The hyperbolic tangent.

    >>> tanh([0.0, 1000.0])
    array([0., 1.])
    """
    return np.tanh(x)


_GELU: float = math.sqrt(2 / math.pi)


@primitive(
    lambda g, out: g * out * (1 - out), example=_one, composed=lambda x: 1 / (1 + np.exp(-x))
)
def sigmoid(x: Any) -> Any:
    """The logistic function 1 / (1 + e⁻ˣ), without overflow.

    >>> sigmoid([-800.0, 0.0, 800.0])
    array([0. , 0.5, 1. ])
    """
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


@primitive(
    lambda g, out: np.where(out > 0, g, 0.0), example=_one, composed=lambda x: np.maximum(x, 0)
)
def relu(x: Any) -> Any:
    """The rectifier max(x, 0); its gradient at 0 is 0. NaN stays NaN.

    >>> relu([-1.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    return np.maximum(x, 0)


def _gelu_rule(g: Any, x: Any) -> Any:
    z = np.clip(x, -10.0, 10.0)
    t = np.tanh(_GELU * (z + 0.044715 * z**3))
    return g * ((1 + t) / 2 + x * (1 - t * t) / 2 * _GELU * (1 + 0.134145 * z**2))


@primitive(_gelu_rule, example=_one)
def gelu(x: Any) -> Any:
    """The Gaussian error linear unit in its tanh form, since NumPy has no erf.

    Source: Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016), section 2.

    >>> gelu([0.0, 100.0])
    array([  0., 100.])
    """
    z = np.clip(x, -10.0, 10.0)  # beyond, tanh is ±1 to the last bit, and z³ may overflow
    return x * (1 + np.tanh(_GELU * (z + 0.044715 * z**3))) / 2


@primitive(lambda g, x: g * (s := sigmoid(x)) * (1 + x * (1 - s)), example=_one)
def silu(x: Any) -> Any:
    """The sigmoid-weighted linear unit x · sigmoid(x), also called swish.

    Source: Elfwing, Uchibe and Doya, "Sigmoid-weighted linear units" (2018), equation 1.

    >>> silu([0.0, 100.0])
    array([  0., 100.])
    """
    return x * sigmoid(x)


def _if_larger(g: Any, a: Any, b: Any) -> Any:
    return np.where(a > b, g, np.where(a == b, g / 2, 0.0))


def _if_smaller(g: Any, a: Any, b: Any) -> Any:
    return np.where(a < b, g, np.where(a == b, g / 2, 0.0))


@primitive(_if_larger, _if_smaller, example=_two, expects=_BROADCAST)
def maximum(a: Any, b: Any) -> Any:
    """The larger of two values; ties share the gradient evenly.

    >>> maximum([1.0, 5.0], 2.0)
    array([2., 5.])
    """
    return np.maximum(a, b)


@primitive(_if_smaller, _if_larger, example=_two, expects=_BROADCAST)
def minimum(a: Any, b: Any) -> Any:
    """The smaller of two values; ties share the gradient evenly.

    >>> minimum([1.0, 5.0], 2.0)
    array([1., 2.])
    """
    return np.minimum(a, b)


@primitive(
    lambda g, x, out: np.where(x == out, g, 0.0),
    example=lambda rng: [(rng.uniform(-3, 3, 6), -1.0, 1.0), (rng.uniform(-3, 3, 6), 0.5)],
)
def clip(x: Any, min: float | None = None, max: float | None = None) -> Any:
    """Limited to [min, max]; the gradient passes where nothing is cut, the bounds included.

    >>> clip(np.array([-1.0, 0.5, 2.0]), 0.0, 1.0)
    array([0. , 0.5, 1. ])
    """
    return np.clip(x, min, max)


@primitive(
    None,
    lambda g, condition: np.where(condition, g, 0.0),
    lambda g, condition: np.where(condition, 0.0, g),
    example=lambda rng: [
        (rng.random((2, 3)) < 0.5, rng.normal(size=(2, 3)), rng.normal(size=3)),
        (rng.random(3) < 0.5, 1.0, rng.normal(size=(2, 3))),
    ],
    expects=_BROADCAST,
)
def where(condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds, `y` elsewhere. What is not chosen gets gradient 0, even if
    its slope is infinite.

    >>> where(np.array([True, False]), 1.0, np.array([5.0, 6.0]))
    array([1., 6.])
    """
    return np.where(condition, x, y)


@primitive(
    lambda g, mask: np.where(mask, 0.0, g),
    None,
    example=lambda rng: (rng.normal(size=(2, 3)), rng.random((2, 3)) < 0.5, 7.0),
    expects="a boolean mask that broadcasts to x",
)
def masked_fill(x: Any, mask: Any, value: float) -> Any:
    """`value` wherever the boolean mask is True, `x` elsewhere.

    >>> masked_fill(np.array([1.0, 2.0]), np.array([False, True]), -np.inf)
    array([  1., -inf])
    """
    return np.where(mask, float(value), x)


def _as_float(call: Any, x: Any, dtype: Any) -> Any:
    recorded = isinstance(x, Variable) and x._node is not None and x._node.requires_grad
    if recorded and np.dtype(dtype).kind != "f":
        raise TypeError(f"astype: {dtype} has no gradient; detach() the tensor first.")
    return call(x, dtype)


@primitive(lambda g: g, example=lambda rng: (rng.normal(size=(2, 3)), np.float64), called=_as_float)
def astype(x: Any, dtype: Any) -> Any:
    """The same values in another floating-point dtype; the gradient comes back in the first.

    >>> astype(np.ones(2), np.float32)
    array([1., 1.], dtype=float32)
    """
    return x.astype(dtype)


# What a + b calls from here on, without the detour by name.
Operand.__add__, Operand.__sub__, Operand.__mul__ = add, subtract, multiply
Operand.__truediv__, Operand.__pow__ = divide, power
