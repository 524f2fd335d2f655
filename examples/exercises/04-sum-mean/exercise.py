"""Exercise 4: sum and mean over axes. The page README.md tells what to do.

Check it with    minigrad exercises check 4
"""

import numpy as np  # noqa: F401


def sum_over(x, axis=None, *, keepdims=False):
    """The sum over axes.

    x: an array. axis: None (all axes), a number, or a tuple of numbers; negative ones count from
    the end. keepdims: whether the summed axes stay, with length 1. Returns what NumPy's sum does.
    """
    raise NotImplementedError


def sum_gradient(g, x_shape, *, axis, keepdims):
    """∂L/∂x, an array of shape x_shape.

    g: the upstream gradient ∂L/∂out, of the shape of out. x_shape: the shape of x, a tuple.
    axis, keepdims: what sum_over was given.
    """
    raise NotImplementedError


def mean_over(x, axis=None, *, keepdims=False):
    """The arithmetic mean over axes; x, axis and keepdims are as in sum_over."""
    raise NotImplementedError


def mean_gradient(g, x_shape, *, axis, keepdims):
    """∂L/∂x, an array of shape x_shape; everything is as in sum_gradient."""
    raise NotImplementedError


# The engine takes what you wrote as it stands. Take away the # and try it:
#
# from minigrad import Tensor, gradcheck, primitive
# op = primitive(mean_gradient, example=lambda rng: (rng.normal(size=(2, 3)),))(mean_over)
# x = Tensor([[1.0, 2.0, 6.0], [3.0, 4.0, 5.0]], requires_grad=True)
# print(gradcheck(lambda x: op(x, axis=1), x))
