"""Exercise 8, solved: the softmax and its gradient."""

import numpy as np


def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def softmax_gradient(g, out, *, axis):
    return out * (g - (g * out).sum(axis=axis, keepdims=True))
