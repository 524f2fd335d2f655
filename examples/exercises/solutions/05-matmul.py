"""Exercise 5, solved: the matrix product and its gradients."""


def matmul(a, b):
    return a @ b


def matmul_gradient_a(g, a, b):
    g, rows, columns = as_matrices(g, a, b)
    return summed(g @ columns.mT, rows.shape).reshape(a.shape)


def matmul_gradient_b(g, a, b):
    g, rows, columns = as_matrices(g, a, b)
    return summed(rows.mT @ g, columns.shape).reshape(b.shape)


def as_matrices(g, a, b):
    """A vector stands as a row on the left and as a column on the right; g gets the same axes."""
    if b.ndim == 1:
        b, g = b[:, None], g[..., None]
    if a.ndim == 1:
        a, g = a[None, :], g[..., None, :]
    return g, a, b


def summed(gradient, shape):
    """Over the batch axes that were broadcast: new ones in front, and those of length 1."""
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    ones = [i for i, n in enumerate(shape[:-2]) if n == 1]
    return gradient.sum(axis=tuple(ones), keepdims=True)
