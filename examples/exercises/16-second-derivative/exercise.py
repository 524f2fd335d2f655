"""Exercise 16: rules that can be differentiated again. The page README.md tells what to do.

Check it with    minigrad exercises check 16
"""

import numpy as np  # noqa: F401


def tanh(x):
    """The hyperbolic tangent of each entry. x: an array of any shape."""
    raise NotImplementedError


def tanh_gradient(g, out):
    """∂L/∂x, of the shape of x; of arrays and of tensors.

    g: the upstream gradient ∂L/∂out. out: what tanh returned.
    """
    raise NotImplementedError


def logsumexp(x, axis=-1):
    """log Σ exp(x) along one axis, which goes; finite for entries of any size.

    x: an array of any shape, such as (n, m). Returns (n,) for the last axis.
    """
    raise NotImplementedError


def logsumexp_gradient(g, x, out, *, axis):
    """∂L/∂x, of the shape of x; of arrays and of tensors; finite for entries of any size.

    g: the upstream gradient ∂L/∂out. out: what logsumexp returned. Both lack the axis.
    """
    raise NotImplementedError


# The engine takes what you wrote as it stands. Take away the # and try it:
#
# from minigrad import gradgradcheck, grad, primitive, Tensor
# op = primitive(tanh_gradient)(tanh)
# x = Tensor([0.5, -1.0], requires_grad=True)
# (slope,) = grad(op(x), x, np.ones(2), create_graph=True)
# print(slope, *grad(slope, x, np.ones(2)))
# print(gradgradcheck(op, x))
