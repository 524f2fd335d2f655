"""Exercise 4, solved: a sum hands its gradient to every entry that was summed, a mean 1/n of it."""

import math

import numpy as np


def with_ones(x_shape, axis):
    """The shape of x with 1 for every axis that was summed: what keepdims=True leaves."""
    axes = range(len(x_shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    summed = [a % len(x_shape) for a in axes]
    return tuple(1 if a in summed else n for a, n in enumerate(x_shape))


def sum_over(x, axis=None, *, keepdims=False):
    return x.sum(axis=axis, keepdims=keepdims)


def sum_gradient(g, x_shape, *, axis, keepdims):
    return np.broadcast_to(np.reshape(g, with_ones(x_shape, axis)), x_shape)


def mean_over(x, axis=None, *, keepdims=False):
    return x.mean(axis=axis, keepdims=keepdims)


def mean_gradient(g, x_shape, *, axis, keepdims):
    n = math.prod(x_shape) // math.prod(with_ones(x_shape, axis))
    return np.broadcast_to(np.reshape(g / n, with_ones(x_shape, axis)), x_shape)
