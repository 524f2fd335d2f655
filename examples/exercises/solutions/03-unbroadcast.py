"""Exercise 3, solved: what was repeated on the way forward is summed on the way back."""


def unbroadcast(gradient, shape):
    extra = gradient.ndim - len(shape)
    aligned = (1,) * extra + tuple(shape)
    axes = tuple(i for i, n in enumerate(aligned) if n == 1)
    return gradient.sum(axis=axes).reshape(shape)


def multiply_gradients(g, a, b):
    return unbroadcast(g * b, a.shape), unbroadcast(g * a, b.shape)
