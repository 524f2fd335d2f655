"""Exercise 1, solved: tanh and power, a local derivative times the upstream."""

import numpy as np


def tanh(x):
    return np.tanh(x)


def tanh_gradient(g, out):
    return g * (1 - out * out)


def power(x, n):
    return x**n


def power_gradient(g, x, *, n):
    return g * n * x ** (n - 1)
