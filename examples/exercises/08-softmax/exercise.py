"""Exercise 8: the softmax and its gradient. The page README.md tells what to do.

Check it with    minigrad exercises check 8
"""

import numpy as np  # noqa: F401


def softmax(x, axis=-1):
    """Weights exp(x) / Σ exp(x) along an axis; finite for scores of any size.

    x: an array of any shape. Returns an array of that shape.
    """
    raise NotImplementedError


def softmax_gradient(g, out, *, axis):
    """∂L/∂x, of the shape of x.

    g: the upstream gradient ∂L/∂out. out: what softmax returned. axis: the axis it was given.
    """
    raise NotImplementedError


# The engine takes what you wrote as it stands. Take away the # and try it:
#
# from minigrad import Tensor, gradcheck, primitive
# op = primitive(softmax_gradient, example=lambda rng: (rng.normal(size=(2, 3)),))(softmax)
# x = Tensor([[1.0, 2.0, 4.0]], requires_grad=True)
# print(gradcheck(op, x))
