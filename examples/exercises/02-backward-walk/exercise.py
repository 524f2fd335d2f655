"""Exercise 2: the walk back through a graph. The page README.md tells what to do.

Check it with    minigrad exercises check 2
"""


class Node:
    """A value, the nodes it was made from, and the rule that leads back to them.

    value: an array. parents: the nodes it was made from, () for a leaf; one may stand there twice.
    rule: rule(g) returns one contribution for each parent, in their order; None for a leaf.
    grad: None, until backward sets it.
    """

    def __init__(self, value, parents=(), rule=None):
        self.value = value
        self.parents = parents
        self.rule = rule
        self.grad = None


def topological_order(root):
    """A list of the root and all nodes it was made from, however indirectly.

    Each stands there once, and before every node that it was made from. So the root comes first.
    """
    raise NotImplementedError


def backward(root, upstream):
    """Sets grad of every node of topological_order(root) to ∂L/∂node. Returns nothing.

    upstream: ∂L/∂root, an array of the root's shape; it is not changed.
    A leaf adds to the grad it has from before. The grad of any other node starts afresh.
    """
    raise NotImplementedError


# The engine does the same with its own nodes. Take away the # and compare:
#
# import numpy as np
# from minigrad import Tensor
# x = Node(np.array(3.0))
# y = Node(x.value * x.value, (x, x), lambda g: (g * x.value, g * x.value))
# z = Node(y.value + x.value, (y, x), lambda g: (g, g))
# backward(z, np.array(1.0))
# t = Tensor(3.0, requires_grad=True)
# (t * t + t).backward()
# print(x.grad, t.grad)
