"""Exercise 5: the matrix product and its gradients. The page README.md tells what to do.

Check it with    minigrad exercises check 5
"""

import numpy as np  # noqa: F401


def matmul(a, b):
    """The matrix product as NumPy has it, over batch axes that broadcast.

    a: (..., n, k) or (k,). b: (..., k, m) or (k,). Returns (..., n, m), without a vector's axis.
    """
    raise NotImplementedError


def matmul_gradient_a(g, a, b):
    """∂L/∂a, of exactly the shape of a.

    g: the upstream gradient ∂L/∂(a @ b). a, b: the factors.
    """
    raise NotImplementedError


def matmul_gradient_b(g, a, b):
    """∂L/∂b, of exactly the shape of b.

    g: the upstream gradient ∂L/∂(a @ b). a, b: the factors.
    """
    raise NotImplementedError


# The engine takes what you wrote as it stands. Take away the # and try it:
#
# from minigrad import Tensor, gradcheck, primitive
# op = primitive(matmul_gradient_a, matmul_gradient_b)(matmul)
# rng = np.random.default_rng(0)
# a = Tensor(rng.normal(size=(2, 3)), requires_grad=True)
# b = Tensor(rng.normal(size=(3, 5)), requires_grad=True)
# print(gradcheck(op, (a, b)))
