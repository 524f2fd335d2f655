"""Exercise 12: layer norm and its three gradients. The page README.md tells what to do.

Check it with    minigrad exercises check 12
"""

import numpy as np  # noqa: F401


def layer_norm(x, gamma, beta, *, eps=1e-5):
    """γ x̂ + β, where x̂ is x with mean 0 and variance 1 along the last axis.

    x: (..., n), with any number of axes in front, also none. gamma, beta: (n,). eps: is added to
    the variance, under the root. Returns (..., n).
    """
    raise NotImplementedError


def gradient_x(g, x, gamma, *, eps):
    """∂L/∂x, of the shape of x.

    g: the upstream gradient, of the shape of x.
    """
    raise NotImplementedError


def gradient_gamma(g, x, *, eps):
    """∂L/∂γ, (n,)."""
    raise NotImplementedError


def gradient_beta(g):
    """∂L/∂β, (n,)."""
    raise NotImplementedError


# The engine takes what you wrote as it stands, one rule for each input. Take away the # and try it:
#
# from minigrad import Tensor, gradcheck, primitive
# example = lambda rng: (rng.normal(size=(2, 3)), rng.normal(size=3), rng.normal(size=3))
# op = primitive(gradient_x, gradient_gamma, gradient_beta, example=example)(layer_norm)
# arrays = example(np.random.default_rng(0))
# print(gradcheck(op, [Tensor(x, requires_grad=True) for x in arrays]))
