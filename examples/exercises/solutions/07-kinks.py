"""Exercise 7, solved: gradients of relu, max and clip, which choose and do not mix."""

import numpy as np


def relu(x):
    return np.maximum(x, 0.0)


def relu_gradient(g, x):
    return np.where(x > 0, g, 0.0)


def max_over(x, axis=-1):
    return x.max(axis=axis)


def max_gradient(g, x, out, *, axis):
    top = x == np.expand_dims(out, axis)
    ties = top.sum(axis=axis, keepdims=True)
    return np.where(top, np.expand_dims(g, axis) / ties, 0.0)


def clip(x, low, high):
    return np.clip(x, low, high)


def clip_gradient(g, x, *, low, high):
    return np.where((x >= low) & (x <= high), g, 0.0)
