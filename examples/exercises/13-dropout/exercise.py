"""Exercise 13: dropout and its gradient. The page README.md tells what to do.

Check it with    minigrad exercises check 13
"""

import numpy as np  # noqa: F401


def keep_mask(shape, p, rng):
    """True where an entry is kept: where rng.random(shape) is p or more.

    p: the probability of dropping an entry, 0 ≤ p < 1. rng: the generator to draw from, as
    np.random.default_rng returns it. Returns a boolean array of that shape.
    """
    raise NotImplementedError


def dropout(x, *, p, seed, training=True):
    """x with dropped entries 0 and the others divided by 1 − p; x itself if not training.

    x: an array of any shape. seed: the mask is drawn by np.random.default_rng(seed).
    """
    raise NotImplementedError


def dropout_gradient(g, *, p, seed, training):
    """∂L/∂x, of the shape of x.

    g: the upstream gradient, of the shape of x. The others are what dropout was given.
    """
    raise NotImplementedError


# The engine takes what you wrote as it stands. Take away the # and try it:
#
# from minigrad import Tensor, gradcheck, primitive
# example = lambda rng: (rng.normal(size=(2, 3)), {"p": 0.25, "seed": 0})
# op = primitive(dropout_gradient, example=example)(dropout)
# x = Tensor([[3.0, 6.0, 9.0, 12.0]], requires_grad=True)
# print(op(x, p=0.25, seed=0))
# print(gradcheck(lambda x: op(x, p=0.25, seed=0), x))
