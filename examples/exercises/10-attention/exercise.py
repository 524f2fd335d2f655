"""Exercise 10: scaled dot-product attention and its rules. The page README.md tells what to do.

Check it with    minigrad exercises check 10
"""

from minigrad import softmax


def softmax_gradient(g, weights):
    """∂L/∂x of weights = softmax(x) along the last axis: exercise 8, given."""
    return softmax.primitive.rules[0].function(g, weights, axis=-1)


def scaled_scores(query, key, scale=None):
    """S, of shape (..., L, S): dot products of queries and keys, times the scale.

    query (..., L, d_k), key (..., S, d_k). scale: a number, also 0; None means 1/√d_k.
    """
    raise NotImplementedError


def attention(query, key, value, scale=None):
    """Each query's weighted mean of the values, (..., L, d_v).

    query (..., L, d_k), key (..., S, d_k), value (..., S, d_v). scale as in scaled_scores.
    """
    raise NotImplementedError


def scaled_scores_gradient(g, query, key, value, *, scale):
    """∂L/∂S at the input of the softmax, that is behind the scale: (..., L, S).

    g: the upstream gradient ∂L/∂out, (..., L, d_v). scale: as attention got it.
    """
    raise NotImplementedError


def query_gradient(g, query, key, value, *, scale):
    """∂L/∂query, (..., L, d_k)."""
    raise NotImplementedError


def key_gradient(g, query, key, value, *, scale):
    """∂L/∂key, (..., S, d_k)."""
    raise NotImplementedError


def value_gradient(g, query, key, *, scale):
    """∂L/∂value, (..., S, d_v)."""
    raise NotImplementedError


# The engine takes what you wrote as it stands. Take away the # and try it:
#
# import numpy as np
# from minigrad import Tensor, gradcheck, primitive
#
# rng = np.random.default_rng(0)
# sizes = (3, 2), (5, 2), (5, 7)
# example = lambda rng: tuple(rng.normal(size=size) for size in sizes)
# op = primitive(query_gradient, key_gradient, value_gradient, example=example)(attention)
# print(gradcheck(op, [Tensor(x, requires_grad=True) for x in example(rng)]))
#
# The lesson of √d_k: 500 heads with one query and 8 keys each.
#
# for d_k in (16, 256, 1024):
#     for scale in (None, 1.0):
#         q, k = rng.normal(size=(500, 1, d_k)), rng.normal(size=(500, 8, d_k))
#         v, g = rng.normal(size=(500, 8, 16)), rng.normal(size=(500, 1, 16))
#         at_s = np.linalg.norm(scaled_scores_gradient(g, q, k, v, scale=scale), axis=-1)
#         at_q = np.linalg.norm(query_gradient(g, q, k, v, scale=scale), axis=-1)
#         spread, rms = scaled_scores(q, k, scale).std(), (at_q**2).mean() ** 0.5
#         print(f"d_k {d_k:4}  scale {scale}  spread {spread:5.2f}  ∂L/∂S {np.median(at_s):.2g}")
#         print(f"    ∂L/∂Q: median {np.median(at_q):.2g}, root mean square {rms:.2g}")
