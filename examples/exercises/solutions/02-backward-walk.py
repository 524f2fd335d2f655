"""Exercise 2, solved: the walk back through a graph."""


class Node:
    """A value, the nodes it was made from, and the rule that leads back to them."""

    def __init__(self, value, parents=(), rule=None):
        self.value = value
        self.parents = parents
        self.rule = rule
        self.grad = None


def topological_order(root):
    order, seen = [], set()
    waiting = [(root, False)]  # a stack of our own: a chain may be longer than Python recurses
    while waiting:
        node, finished = waiting.pop()
        if finished:
            order.append(node)  # all that it was made from is in the list by now
        elif node not in seen:
            seen.add(node)
            waiting.append((node, True))
            waiting.extend((parent, False) for parent in node.parents)
    return order[::-1]


def backward(root, upstream):
    order = topological_order(root)
    for node in order:
        if node.parents:
            node.grad = None
    receive(root, upstream)
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad), strict=True):
                receive(parent, contribution)


def receive(node, contribution):
    # A sum of two is a new array; the first one is copied, as somebody else may hold it.
    node.grad = contribution.copy() if node.grad is None else node.grad + contribution
