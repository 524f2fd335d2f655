"""Values: arrays that tensors, views, records and users share, copied on write.

A recorded backward must never see data that was changed after it was recorded, and nobody shall
pay for that otherwise. What is recorded, and what a tensor can do, is not known here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy import ndarray

from minigrad.operand import Operand

if TYPE_CHECKING:
    from minigrad.graph import Node

Array = np.ndarray[Any, np.dtype[Any]]


def refuse_lists_of_tensors(data: Any) -> None:
    """NumPy would make an array of them, and their gradients would be lost."""
    if isinstance(data, (list, tuple)):
        for item in data:
            if isinstance(item, Variable):
                raise TypeError("a list of tensors would lose their gradients; use minigrad.stack.")
            refuse_lists_of_tensors(item)


def as_array(data: Any, dtype: Any = None) -> Array:
    """A fresh array of real numbers; Python's own become float64, bools stay what they are.

    >>> as_array([1, 2]).dtype
    dtype('float64')
    """
    refuse_lists_of_tensors(data)
    if isinstance(data, Variable):
        data = data._data
    try:
        array = np.array(data, dtype=dtype)
    except ValueError as error:
        raise ValueError(f"a tensor needs rows of equal length: {error}") from error
    if array.dtype.kind not in "biuf":
        raise TypeError(f"a tensor holds real numbers; {data!r:.60} has dtype {array.dtype}.")
    own = isinstance(data, (np.ndarray, np.generic)) or dtype is not None
    return array.astype(np.float64) if array.dtype.kind in "iu" and not own else array


def as_result(out: Any, op: Any) -> Array:
    """What a forward returned, as an array. Errors: `TypeError` for anything but real numbers."""
    array = np.asarray(out)
    if isinstance(out, (tuple, list)) or array.dtype.kind not in "biuf":
        kind = type(out).__name__
        raise TypeError(f"{op}: a forward must return an array of real numbers, not a {kind}.")
    return array


class Variable(Operand):
    """An array, how it is read and written; `Tensor` adds the gradient and the graph.

    The array is copied on write, so that a record never sees a change. `_token` says who relies
    on it: None while nobody does; an object of its own that views and records hold, so that its
    reference count tells whether they still live; `_LENT` while a user may have the array.
    """

    __slots__ = ("__weakref__", "_data", "_node", "_token")

    _data: Array
    _node: Node | None
    _token: object | None

    def _lend(self) -> Array:
        """The array, to be written to: copied first if a record or a view relies on it."""
        if self._token is not _LENT:
            shared = self._token is not None and sys.getrefcount(self._token) > _SOLE
            if shared or self._data.base is not None or not self._data.flags.writeable:
                self._data = self._data.copy()
            self._token = _LENT
        return self._data

    def _hold(self) -> Array:
        """The array for a record to keep; it must keep `_token` as well, as its protection."""
        if self._token is None:
            self._token = object()
        elif self._token is _LENT:
            # Beyond our own reference there is that of the op that is being recorded.
            if sys.getrefcount(self._data) > _SOLE + 1:
                return self._data.copy()
            self._token = object()
        return self._data

    def _share(self, inputs: Sequence[Any]) -> None:
        """Notes of which inputs this result, which has a base, is a view."""
        for x in inputs:
            array = x._data if isinstance(x, Variable) else x
            if array is not self._data.base and not (
                isinstance(array, ndarray) and np.may_share_memory(array, self._data)
            ):
                continue
            if not isinstance(x, Variable) or x._token is _LENT:
                self._data = self._data.copy()
            else:
                x._token = x._token or object()
                self._token = x._token

    def _twin(self) -> Any:
        """A tensor of its own for the same value and the same place in the graph."""
        twin = self._wrap(self._data, self._node)
        if self._token is _LENT:
            twin._data = self._data.copy()
        else:
            self._token = self._token or object()
            twin._token = self._token
        return twin

    def _wrap(self, data: Array, node: Node | None = None) -> Any:
        """A new tensor around `data`, which is not copied."""
        raise NotImplementedError

    # ----------------------------------------------------------------------------- reading values

    shape = property(lambda self: self._data.shape, doc="The lengths of the axes.")
    ndim = property(lambda self: self._data.ndim, doc="The number of axes.")
    size = property(lambda self: self._data.size, doc="The number of entries.")
    dtype = property(lambda self: self._data.dtype, doc="The NumPy dtype.")

    @property
    def data(self) -> Array:
        """The array. Writing to it changes this tensor and nothing else: what a recorded
        backward or a view still needs is copied first."""
        return self._lend()

    @data.setter
    def data(self, value: Any) -> None:
        if value is self._data:  # `t.data -= step` ends here
            return
        array = as_array(value, self.dtype)
        if array.shape != self.shape:
            raise ValueError(f"data of shape {array.shape} cannot replace {self.shape}.")
        self._data, self._token = array, None

    def item(self) -> Any:
        """The one number in it, as a Python number."""
        return self._data.item()

    def tolist(self) -> Any:
        """The values as (nested lists of) Python numbers."""
        return self._data.tolist()

    def numpy(self) -> Array:
        """The array, as `data`."""
        return self._lend()

    def argmax(self, axis: SupportsIndex | None = None) -> Any:
        """The index of the largest entry (along an axis), an integer or an integer array."""
        return self._data.argmax(axis)

    def argmin(self, axis: SupportsIndex | None = None) -> Any:
        """The index of the smallest entry (along an axis), an integer or an integer array."""
        return self._data.argmin(axis)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy or (dtype is not None and dtype != self.dtype):
            if copy is False:
                raise ValueError(f"a tensor of {self.dtype} cannot become {dtype} without a copy.")
            return self._data.astype(dtype or self.dtype)
        view = self._data.view()
        view.flags.writeable = False  # what NumPy reads here may be needed by a backward
        return view

    def __dlpack__(self, **options: Any) -> Any:
        return self._lend().__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._data.__dlpack_device__()

    def __float__(self) -> float:
        return float(self._data.item())

    def __int__(self) -> int:
        return int(self._data.item())

    def __bool__(self) -> bool:
        return bool(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def _read(self, function: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
        values = {name: values_of(x) for name, x in options.items()}
        return function(*[values_of(x) for x in inputs], **values)


_LENT = object()


def _count_of_a_sole_reference() -> int:
    variable = Variable()
    variable._token = object()
    return sys.getrefcount(variable._token)


_SOLE = _count_of_a_sole_reference()  # it depends on the version of Python


def values_of(x: Any) -> Any:
    """Arrays in the place of tensors, also inside a tuple or list."""
    if isinstance(x, (tuple, list)):
        return type(x)([values_of(item) for item in x])
    return x._data if isinstance(x, Variable) else x


def keep(places: Iterable[int], inputs: Sequence[Any], result: Variable) -> dict[Any, Any]:
    """The arrays at these places, the result's coming after the inputs'; at ~place its token."""
    kept: dict[Any, Any] = {}
    for place in places:
        x = inputs[place] if place < len(inputs) else result
        if isinstance(x, Variable):
            kept[place] = x._hold()
            kept[~place] = x._token
        else:
            kept[place] = x.copy() if isinstance(x, ndarray) else x
    return kept


def owned(array: Array) -> Array:
    """The array itself if only the caller has it, otherwise a copy."""
    alone = array.base is None and sys.getrefcount(array) <= _SOLE_LOCAL
    return array if alone else array.copy()


def _count_of_a_sole_local() -> int:
    def references(array: Array) -> int:
        return sys.getrefcount(array)

    array = np.empty(1)
    return references(array)


_SOLE_LOCAL = _count_of_a_sole_local()
