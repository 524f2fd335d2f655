"""The tensor: an array, its gradient and its name, and how operators and NumPy reach primitives.

Operators, and the methods that are primitives, come from `operand`; how values are shared and
read, from `memory`. What the primitives compute is told in `ops`, how they are recorded in `tape`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minigrad import modes, tape
from minigrad.graph import Node
from minigrad.memory import Array, Variable, as_array, values_of
from minigrad.notation import write_tensor


def _in_place(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    """`t += v`: in place where nothing is recorded, otherwise a new tensor."""

    def method(self: Tensor, other: Any) -> Tensor:
        if not modes.current.get().recording:
            ufunc(self._lend(), values_of(other), out=self._data, casting="same_kind")
            return self
        if self.is_leaf and self.requires_grad:
            raise RuntimeError(
                "a leaf that requires a gradient cannot be changed in place while results are "
                "recorded. Update it inside no_grad(), or write a = a + b for a new tensor."
            )
        return self._op(ufunc.__name__, other)

    return method


class Tensor(Variable):
    """An array that remembers how it was computed.

    Args:
        data: numbers, nested lists, an array or a tensor; copied. Python numbers and lists become
            float64 (bools stay bool), arrays keep their dtype.
        requires_grad: whether `backward` shall leave a gradient here. Floating point only.
        dtype: a NumPy dtype to convert to.
        name: any text; shown in drawings, steps and messages.

    Errors: `TypeError` for anything but real numbers, and for an integer tensor that requires a
    gradient; `ValueError` for rows of unequal length.

    >>> x = Tensor([1.0, 2.0], requires_grad=True, name="x")
    >>> (x * x).sum().backward()
    >>> x.grad
    array([2., 4.])
    """

    __slots__ = ()

    def __init__(
        self, data: Any, requires_grad: bool = False, *, dtype: Any = None, name: str | None = None
    ) -> None:
        self._data = as_array(data, dtype)
        self._node = None
        self._token = None
        if requires_grad:
            self.requires_grad = True
        if name is not None:
            self.name = name

    @staticmethod
    def _wrap(data: Array, node: Node | None = None) -> Tensor:
        tensor = _new(Tensor)
        tensor._data = data
        tensor._node = node
        tensor._token = None
        return tensor

    @property
    def grad(self) -> Array | None:
        """The gradient, an array of this shape and dtype; None where none was computed.

        Leaves add up over several backward passes: set it to None in between. Of intermediates
        it is kept only under `trace()` or after `retain_grad()`.
        """
        node = self._node
        if node is None:
            return None
        if not (node.primitive is None or node.retain):
            warnings.warn(
                f"the gradient of {node} is not kept, since it is no leaf. Call "
                "retain_grad() on it before backward, or compute it under minigrad.trace().",
                stacklevel=2,
            )
        gradient: Array | None = node.grad
        return gradient

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            value = as_array(value, self.dtype)
            if value.shape != self.shape:
                raise ValueError(f"a gradient of shape {value.shape} cannot be {self._place()}'s.")
        self._place().grad = value

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient can reach this tensor."""
        return self._node is not None and self._node.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not self.is_leaf:
            raise RuntimeError("only a leaf can be set to require a gradient; see detach().")
        if value and self.dtype.kind != "f":
            raise TypeError(
                f"only floating point can require a gradient, and this is {self.dtype}. "
                "Write Tensor(data, requires_grad=True, dtype=float), or 1.0 for 1."
            )
        self._node = self._place().switched(bool(value))

    @property
    def name(self) -> str | None:
        """The name shown in drawings, steps and messages; any text."""
        return None if self._node is None else self._node.name

    @name.setter
    def name(self, value: str | None) -> None:
        self._place().name = value

    @property
    def is_leaf(self) -> bool:
        """Whether the user made it, rather than a recorded op."""
        return self._node is None or self._node.primitive is None

    def _place(self) -> Node:
        if self._node is None:
            self._node = Node(self._data.shape, self._data.dtype, False)
        return self._node

    def backward(self, gradient: Any = None, *, retain_graph: bool = False) -> None:
        """Adds the derivative of (self · gradient).sum() to `.grad` of every leaf behind this.

        Args: `gradient`, of exactly this shape, may be left out for one element; with
        `retain_graph` the same graph can be gone through again.
        Errors: `RuntimeError` if nothing behind this requires a gradient, if `gradient` is
        needed, or if an earlier backward let go what is needed; `ValueError` for its shape.
        """
        tape.backward(self, gradient, retain_graph=retain_graph)

    def retain_grad(self) -> Tensor:
        """Keeps the gradient of this intermediate too; returns the tensor."""
        self._place().retain = True
        return self

    def register_hook(self, hook: Callable[[Any], Any]) -> Callable[[], None]:
        """Calls `hook(gradient)` whenever the complete gradient of this tensor is known.

        What it returns, if not None, goes on in the gradient's place. Returns a function that
        takes the hook off again.

        >>> x = Tensor(2.0, requires_grad=True)
        >>> remove = x.register_hook(lambda gradient: 10 * gradient)
        >>> (3 * x).backward()
        >>> float(x.grad)
        30.0
        """
        if not self.requires_grad:
            raise RuntimeError("no gradient reaches this tensor, so its hook would never be run.")
        node = self._place()
        ticket = object()
        node.hooks = {**node.hooks, ticket: hook}

        def remove() -> None:
            node.hooks = {key: hook for key, hook in node.hooks.items() if key is not ticket}

        return remove

    def detach(self) -> Tensor:
        """The same values without history; writing to either leaves the other alone."""
        result = self._wrap(self._data.view())
        result._share([self])
        return result

    def copy(self) -> Tensor:
        """A new tensor with the same history: a recorded copy."""
        return self._op("astype", self.dtype)

    def __reduce__(self) -> Any:  # pickle and deepcopy: a recorded graph does not travel
        wants = self.requires_grad and self.is_leaf
        gradient = self._node.grad if self._node is not None and wants else None
        return _rebuild, (type(self), self._data, wants, self.name, gradient)

    def __iter__(self) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise TypeError("a 0-d tensor has no rows to go through; item() gives its number.")
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return write_tensor(self)

    def _repr_html_(self) -> str | None:
        try:
            from viz.heatmap import heatmap_html

            return heatmap_html(self)
        except Exception:  # viz may be missing, a tensor broken: the notebook then shows the repr
            return None

    def __str__(self) -> str:
        return str(self._data)

    def __format__(self, spec: str) -> str:
        return format(self.item() if spec and self.size == 1 else str(self), spec)

    # ------------------------------------------------------------------------ primitives and NumPy

    __iadd__, __isub__, __ipow__ = _in_place(np.add), _in_place(np.subtract), _in_place(np.power)
    __imul__, __itruediv__ = _in_place(np.multiply), _in_place(np.divide)

    def __setitem__(self, index: Any, value: Any) -> None:
        if modes.current.get().recording:
            raise RuntimeError(
                "a tensor cannot be written to while results are recorded: its gradient would be "
                "another's. Use minigrad.where or masked_fill, or write inside no_grad()."
            )
        self._lend()[values_of(index)] = values_of(value)


_new: Callable[[type[Tensor]], Tensor] = object.__new__


def _rebuild(kind: type[Tensor], data: Array, wants: bool, name: str | None, grad: Any) -> Tensor:
    tensor = kind(data, requires_grad=wants, name=name)
    if grad is not None:
        tensor.grad = grad
    return tensor
