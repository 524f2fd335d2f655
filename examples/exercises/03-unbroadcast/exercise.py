"""Exercise 3: undo broadcasting. The page README.md tells what to do.

Check it with    minigrad exercises check 3
"""

import numpy as np  # noqa: F401


def unbroadcast(gradient, shape):
    """The gradient of an array of the given shape, from that of its broadcast copy.

    gradient: ∂L/∂(the copy), an array of the shape that came of broadcasting.
    shape: a tuple, the shape before, such as (3,), (1, 3), (3, 1) or ().
    Returns an array of that shape.
    """
    raise NotImplementedError


def multiply_gradients(g, a, b):
    """∂L/∂a and ∂L/∂b of out = a * b, as a tuple of two arrays of the shapes of a and b.

    a, b: arrays whose shapes broadcast. g: the upstream gradient ∂L/∂out, of the shape of a * b.
    """
    raise NotImplementedError


# The engine undoes broadcasting by itself, so it is a judge of yours. Take away the # and try it:
#
# from minigrad import Tensor
# a = Tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
# b = Tensor([[10.0], [20.0]], requires_grad=True)
# out = a * b
# g = np.ones(out.shape)
# out.backward(g)
# print(multiply_gradients(g, a.numpy(), b.numpy()), a.grad, b.grad)
