"""Exercise 6, solved: an embedding, and the gradient of taking rows."""

import numpy as np


def embedding(weight, indices):
    return weight[indices]


def embedding_gradient(g, weight_shape, *, indices):
    total = np.zeros(weight_shape, g.dtype)
    np.add.at(total, indices, g)  # unlike total[indices] += g, it adds as often as a row is named
    return total
