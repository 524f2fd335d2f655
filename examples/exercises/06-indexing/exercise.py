"""Exercise 6: an embedding, and the gradient of taking rows. The page README.md tells what to do.

Check it with    minigrad exercises check 6
"""

import numpy as np  # noqa: F401


def embedding(weight, indices):
    """The rows of a table, one for each index.

    weight: (n, ...), mostly (n, width). indices: integers from −n to n − 1, an array of any shape.
    Returns the shape of indices, followed by that of a row.
    """
    raise NotImplementedError


def embedding_gradient(g, weight_shape, *, indices):
    """∂L/∂weight, of shape weight_shape.

    g: the upstream gradient ∂L/∂out, of the shape of what embedding returned.
    """
    raise NotImplementedError


# The engine takes what you wrote as it stands. Take away the # and try it:
#
# from minigrad import Tensor, primitive
# op = primitive(embedding_gradient)(embedding)
# words = {"猫": 0, "吃": 1, "鱼": 2}
# table = Tensor(np.eye(3), requires_grad=True)
# out = op(table, np.array([words[word] for word in "猫吃猫"]))
# out.sum().backward()
# print(table.grad)
