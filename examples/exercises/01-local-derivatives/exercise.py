"""Exercise 1: tanh and power, a local derivative times the upstream. README.md tells what to do.

Check it with    minigrad exercises check 1
"""

import numpy as np  # noqa: F401


def tanh(x):
    """The hyperbolic tangent of every entry.

    x: an array of any shape. Returns an array of that shape.
    """
    raise NotImplementedError


def tanh_gradient(g, out):
    """∂L/∂x, of the shape of x, from the saved result alone.

    g: the upstream gradient ∂L/∂out. out: what tanh returned. Both have the shape of x.
    """
    raise NotImplementedError


def power(x, n):
    """Every entry of x to the power n.

    x: an array of any shape. n: a number, whole or not, but not 0. Returns the shape of x.
    """
    raise NotImplementedError


def power_gradient(g, x, *, n):
    """∂L/∂x, of the shape of x.

    g: the upstream gradient ∂L/∂out. x, n: what power was given.
    """
    raise NotImplementedError


# The engine takes what you wrote as it stands. Take away the # and try it:
#
# from minigrad import Tensor, gradcheck, primitive
# op = primitive(tanh_gradient, example=lambda rng: (rng.normal(size=(2, 3)),))(tanh)
# x = Tensor([[0.5, -1.0, 2.0]], requires_grad=True)
# print(gradcheck(op, x))
