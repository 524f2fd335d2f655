"""Exercise 7: relu, max and clip, functions with kinks and ties. README.md tells what to do.

Check it with    minigrad exercises check 7
"""

import numpy as np  # noqa: F401


def relu(x):
    """x where it is positive, 0 elsewhere.

    x: an array of any shape. Returns an array of that shape.
    """
    raise NotImplementedError


def relu_gradient(g, x):
    """∂L/∂x, of the shape of x. At x = 0 any slope between 0 and 1 is right.

    g: the upstream gradient ∂L/∂out, of the shape of x.
    """
    raise NotImplementedError


def max_over(x, axis=-1):
    """The largest entry along an axis.

    x: an array. axis: a number, negative ones count from the end. Returns x without that axis.
    """
    raise NotImplementedError


def max_gradient(g, x, out, *, axis):
    """∂L/∂x, of the shape of x. Entries that tie share the gradient: their parts add up to g.

    g: the upstream gradient ∂L/∂out. out: what max_over returned. Both lack the axis.
    """
    raise NotImplementedError


def clip(x, low, high):
    """x limited to the interval from low to high, two numbers.

    x: an array of any shape. Returns an array of that shape.
    """
    raise NotImplementedError


def clip_gradient(g, x, *, low, high):
    """∂L/∂x, of the shape of x. At x = low and x = high any slope between 0 and 1 is right.

    g: the upstream gradient ∂L/∂out, of the shape of x.
    """
    raise NotImplementedError


# The engine takes what you wrote as it stands. Take away the # and try it:
#
# from minigrad import Tensor, gradcheck, primitive
# op = primitive(max_gradient, example=lambda rng: (rng.normal(size=(2, 3)),))(max_over)
# x = Tensor([[1.0, 5.0, 2.0], [7.0, 3.0, 4.0]], requires_grad=True)
# print(gradcheck(op, x))
