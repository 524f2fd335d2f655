"""Exercise 12, solved: layer norm with gain γ and shift β, and its three gradients."""

import numpy as np


def normalized(x, eps):
    """Each row with mean 0 and variance 1, and its standard deviation before."""
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centered * centered).mean(axis=-1, keepdims=True) + eps)
    return centered / sigma, sigma


def layer_norm(x, gamma, beta, *, eps=1e-5):
    return normalized(x, eps)[0] * gamma + beta


def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - unit * stretch) / sigma


def gradient_gamma(g, x, *, eps):
    return (g * normalized(x, eps)[0]).sum(axis=tuple(range(g.ndim - 1)))


def gradient_beta(g):
    return g.sum(axis=tuple(range(g.ndim - 1)))
