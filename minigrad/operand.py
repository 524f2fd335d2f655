"""What a primitive can be applied to besides arrays: the operators, methods and NumPy functions
that tensors and symbols share, each handed over to the primitive of its name. So one and the same
rule can be run on either; what a primitive then does with them is told in `primitive`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

Axis = int | tuple[int, ...] | None

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""How each primitive is called, by name: `minigrad.<name>`."""


def as_primitive(op: Any) -> Any:
    """The primitive of that name, or the one that a function calls.

    Errors: `KeyError` if there is none of that name, `TypeError` for anything else.
    """
    found = FUNCTIONS.get(op) if isinstance(op, str) else op
    found = getattr(found, "primitive", found)
    if hasattr(found, "rules"):
        return found
    names = sorted(name for name, function in FUNCTIONS.items() if hasattr(function, "primitive"))
    error = KeyError if isinstance(op, str) else TypeError
    raise error(f"no primitive is called {op!r}; there are {names}.")


# NumPy's names for what is called otherwise here.
_ALIASES = {"absolute": "abs", "amax": "max", "amin": "min", "permute_dims": "transpose"}


# NumPy's functions that only read values, so that no gradient can be lost in them.
_READERS = frozenset(
    "allclose all any argmax argmin argsort array2string array_equal array_repr array_str "
    "count_nonzero empty_like full_like isclose ndim ones_like shape size zeros_like "
    "equal not_equal less less_equal greater greater_equal isfinite isinf isnan sign signbit "
    "logical_and logical_not logical_or logical_xor".split()
)


def _operator(name: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: FUNCTIONS[name](self, other)


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: FUNCTIONS[name](other, self)


def _no_gradient(call: str) -> TypeError:
    return TypeError(f"np.{call} has no gradient here; use a function of minigrad, or .data.")


class Operand:
    """Operators, methods and NumPy's functions on tensors and symbols, all by primitives."""

    __slots__ = ()

    def _apply(self, op: Any, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _op(self, name: str, *args: Any, **options: Any) -> Self:
        result: Self = FUNCTIONS[name](self, *args, **options)
        return result

    def _read(self, function: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
        """Runs a function that has no gradient, such as a comparison or `np.sign`."""
        raise NotImplementedError

    # ----------------------------------------------------------------------------------- operators

    __add__, __radd__ = _operator("add"), _reflected("add")
    __sub__, __rsub__ = _operator("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _operator("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _operator("divide"), _reflected("divide")
    __pow__, __rpow__ = _operator("power"), _reflected("power")
    __matmul__, __rmatmul__ = _operator("matmul"), _reflected("matmul")

    def __neg__(self) -> Self:
        return self._op("negative")

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self._op("abs")

    def __getitem__(self, index: Any) -> Self:
        return self._op("getitem", index)

    # Comparisons give boolean arrays; an operand itself is known by its identity.
    def __eq__(self, other: object) -> Any:
        return self._read(np.equal, self, other)

    def __ne__(self, other: object) -> Any:
        return self._read(np.not_equal, self, other)

    def __lt__(self, other: Any) -> Any:
        return self._read(np.less, self, other)

    def __le__(self, other: Any) -> Any:
        return self._read(np.less_equal, self, other)

    def __gt__(self, other: Any) -> Any:
        return self._read(np.greater, self, other)

    def __ge__(self, other: Any) -> Any:
        return self._read(np.greater_equal, self, other)

    __hash__ = object.__hash__

    # ---------------------------------------------------------------------------- NumPy's functions

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        name = _ALIASES.get(ufunc.__name__, ufunc.__name__)
        if options.get("out") is not None:
            raise TypeError(
                f"an array cannot take a tensor's values in place ({name}): the gradient would be "
                "lost. Write array = array + tensor, or use tensor.data."
            )
        if method == "__call__" and name in FUNCTIONS and not options:
            return FUNCTIONS[name](*inputs)
        if method == "__call__" and name in _READERS:
            return self._read(ufunc, *inputs, **options)
        call = name if method == "__call__" else f"{name}.{method}"
        raise _no_gradient(", ".join([call, *options]))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = _ALIASES.get(func.__name__, func.__name__)
        if name in FUNCTIONS:
            return FUNCTIONS[name](*args, **kwargs)
        if name in _READERS:
            return self._read(func, *args, **kwargs)
        raise _no_gradient(name)

    # ------------------------------------------------------------ primitives that are also methods

    @property
    def T(self) -> Self:  # noqa: N802 - NumPy's name
        """All axes in reverse order."""
        return self._op("transpose")

    @property
    def mT(self) -> Self:  # noqa: N802 - NumPy's name
        """The last two axes swapped."""
        return self._op("matrix_transpose")

    def transpose(self, *axes: Any) -> Self:
        """The axes in the order given (a tuple or several numbers), reversed by default."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return self._op("transpose", order)

    def permute(self, *axes: Any) -> Self:
        """The same as `transpose`."""
        return self.transpose(*axes)

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Two axes swapped."""
        return self._op("swapaxes", axis1, axis2)

    def reshape(self, *shape: Any) -> Self:
        """The same entries in another shape (a tuple or several numbers); one may be −1."""
        return self._op("reshape", shape[0] if len(shape) == 1 else shape)

    def flatten(self) -> Self:
        """All entries along one axis."""
        return self._op("reshape", -1)

    def broadcast_to(self, shape: tuple[int, ...]) -> Self:
        """Repeated along axes of length 1 and new leading axes."""
        return self._op("broadcast_to", shape)

    def squeeze(self, axis: Axis = None) -> Self:
        """Without its axes of length 1."""
        return self._op("squeeze", axis)

    def expand_dims(self, axis: int | tuple[int, ...]) -> Self:
        """With a new axis of length 1."""
        return self._op("expand_dims", axis)

    def flip(self, axis: Axis = None) -> Self:
        """The entries in reverse order along axes."""
        return self._op("flip", axis)

    def tril(self, k: int = 0) -> Self:
        """The lower triangle of the last two axes."""
        return self._op("tril", k)

    def take(self, indices: Any, axis: int | None = None) -> Self:
        """The entries or slices at integer positions along an axis."""
        return self._op("take", indices, axis)

    def split(self, sections: int | Sequence[int], axis: int = 0) -> list[Self]:
        """Equal parts, or the parts between the given positions, along an axis."""
        parts: list[Self] = FUNCTIONS["split"](self, sections, axis)
        return parts

    def astype(self, dtype: Any) -> Self:
        """The same values in another floating-point dtype."""
        return self._op("astype", dtype)

    def add(self, other: Any) -> Self:
        """self + other."""
        return self._op("add", other)

    def subtract(self, other: Any) -> Self:
        """self − other."""
        return self._op("subtract", other)

    def multiply(self, other: Any) -> Self:
        """self · other, elementwise."""
        return self._op("multiply", other)

    def divide(self, other: Any) -> Self:
        """self / other."""
        return self._op("divide", other)

    def maximum(self, other: Any) -> Self:
        """The larger of two values, elementwise."""
        return self._op("maximum", other)

    def minimum(self, other: Any) -> Self:
        """The smaller of two values, elementwise."""
        return self._op("minimum", other)

    def matmul(self, other: Any) -> Self:
        """self @ other."""
        return self._op("matmul", other)

    def negative(self) -> Self:
        """−x, elementwise."""
        return self._op("negative")

    def abs(self) -> Self:
        """The absolute value, elementwise."""
        return self._op("abs")

    def exp(self) -> Self:
        """eˣ, elementwise."""
        return self._op("exp")

    def log(self) -> Self:
        """The natural logarithm, elementwise."""
        return self._op("log")

    def log1p(self) -> Self:
        """log(1 + x), elementwise."""
        return self._op("log1p")

    def sqrt(self) -> Self:
        """The square root, elementwise."""
        return self._op("sqrt")

    def sin(self) -> Self:
        """The sine, elementwise."""
        return self._op("sin")

    def cos(self) -> Self:
        """The cosine, elementwise."""
        return self._op("cos")

    def tanh(self) -> Self:
        """The hyperbolic tangent, elementwise."""
        return self._op("tanh")

    def sigmoid(self) -> Self:
        """1 / (1 + e⁻ˣ), elementwise."""
        return self._op("sigmoid")

    def relu(self) -> Self:
        """max(x, 0), elementwise."""
        return self._op("relu")

    def clip(self, min: Any = None, max: Any = None) -> Self:
        """Limited to [min, max]."""
        return self._op("clip", min, max)

    def masked_fill(self, mask: Any, value: float) -> Self:
        """`value` wherever the boolean mask is True."""
        return self._op("masked_fill", mask, value)

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """The sum of the entries, or along axes."""
        return self._op("sum", axis, keepdims=keepdims)

    def prod(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """The product of the entries, or along axes."""
        return self._op("prod", axis, keepdims=keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """The arithmetic mean of the entries, or along axes."""
        return self._op("mean", axis, keepdims=keepdims)

    def var(self, axis: Axis = None, keepdims: bool = False, ddof: int = 0) -> Self:
        """The variance, divided by n − ddof."""
        return self._op("var", axis, keepdims=keepdims, ddof=ddof)

    def std(self, axis: Axis = None, keepdims: bool = False, ddof: int = 0) -> Self:
        """The standard deviation, divided by n − ddof before the root."""
        return self._op("std", axis, keepdims=keepdims, ddof=ddof)

    def max(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """The largest entry, or along axes; ties share the gradient evenly."""
        return self._op("max", axis, keepdims=keepdims)

    def min(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """The smallest entry, or along axes; ties share the gradient evenly."""
        return self._op("min", axis, keepdims=keepdims)

    def norm(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """The Euclidean length √Σx²."""
        return self._op("norm", axis=axis, keepdims=keepdims)

    def logsumexp(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """log Σ eˣ, without overflow."""
        return self._op("logsumexp", axis, keepdims=keepdims)

    def cumsum(self, axis: int | None = None) -> Self:
        """The running sum along an axis."""
        return self._op("cumsum", axis)

    def softmax(self, axis: int = -1) -> Self:
        """Positive weights eˣ / Σ eˣ that sum to 1 along an axis."""
        return self._op("softmax", axis)

    def log_softmax(self, axis: int = -1) -> Self:
        """The logarithm of `softmax`, without overflow."""
        return self._op("log_softmax", axis)
