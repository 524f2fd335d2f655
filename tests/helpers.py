"""What most tests of the engine need: leaves, their gradients, and a comparison that also compares
shapes."""

import sys
from typing import Any

import numpy as np

from minigrad import Tensor
from minigrad.graph import Node

Array = np.ndarray[Any, np.dtype[Any]]


def leaf(data: Any, **options: Any) -> Tensor:
    """A tensor that requires a gradient."""
    return Tensor(data, requires_grad=True, **options)


def gradient_of(tensor: Tensor) -> Array:
    """The gradient that a backward left, which has to be there and to look like its tensor."""
    gradient = tensor.grad
    assert type(gradient) is np.ndarray
    assert (gradient.shape, gradient.dtype) == (tensor.shape, tensor.dtype)
    return gradient


def assert_close(actual: Any, expected: Any, rtol: float = 1e-12, atol: float = 0.0) -> None:
    """Equal shapes, and equal values up to rounding; NaN equals NaN."""
    assert np.shape(actual) == np.shape(expected)
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=rtol, atol=atol)


def assert_same(actual: Any, expected: Any) -> None:
    """Equal shapes and values, to the last bit."""
    assert_close(actual, expected, rtol=0.0)


def node_of(tensor: Tensor) -> Node:
    """The tensor's place in the graph, which has to be there."""
    assert tensor._node is not None
    return tensor._node


def traced(tensor: Tensor) -> list[Any]:
    """What `trace()` kept of the op that made the tensor: its inputs, then its result."""
    node = node_of(tensor)
    assert node.trace is not None
    return [node.trace[place] for place in range(len(node.inputs) + 1)]


def next_line() -> int:
    """The number of the line after the one that this is called from."""
    return sys._getframe(1).f_lineno + 1
