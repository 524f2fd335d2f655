"""Exercise 16, solved: rules that can be differentiated again."""

import numpy as np


def tanh(x):
    return np.tanh(x)


def tanh_gradient(g, out):
    return g * (1 - out * out)


def logsumexp(x, axis=-1):
    top = x.max(axis=axis, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=axis)) + top.squeeze(axis)


def logsumexp_gradient(g, x, out, *, axis):
    # The softmax of x, by operators and functions that tensors have too.
    return np.expand_dims(g, axis) * np.exp(x - np.expand_dims(out, axis))
