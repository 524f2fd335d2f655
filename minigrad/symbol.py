"""A rule read as a formula: the code that computes a gradient, run on symbols, prints itself.

A `Symbol` is an expression tree that any rule can be run on, since it has the same operators and
NumPy functions as a tensor. It prints as text, LaTeX and MathML. It computes nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from minigrad.notation import write
from minigrad.operand import Operand
from minigrad.primitive import Primitive
from minigrad.rule import Function


class Symbol(Operand):
    """A name, or a primitive applied to symbols and numbers.

    >>> g, y = Symbol("G"), Symbol("y")
    >>> print(y * (g - (g * y).sum(axis=-1, keepdims=True)))
    y ⊙ (G − Σ G ⊙ y)
    """

    __slots__ = ("inputs", "name", "op", "options")

    def __init__(
        self,
        name: str,
        op: str = "",
        inputs: Sequence[Any] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.op = op
        self.inputs = inputs
        self.options = options or {}

    def _apply(self, op: Primitive, inputs: Sequence[Any], options: dict[str, Any]) -> Symbol:
        return applied(op.name, inputs, options)

    def _read(self, function: Function, *inputs: Any, **options: Any) -> Symbol:
        return applied(function.__name__, inputs, options)

    @property
    def shape(self) -> Symbol:
        """The shape, itself a symbol."""
        return applied("shape", [self], {})

    # A rule must not go through a symbol's entries or ask whether it is true: it stands for all.
    __iter__ = None

    def __bool__(self) -> bool:
        raise TypeError("a formula must not depend on values; write where(condition, a, b).")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Symbol {self.text()}>"

    def text(self) -> str:
        """Plain Unicode text."""
        return write(self, 0)

    def latex(self) -> str:
        """LaTeX, to be set in math mode."""
        return write(self, 1)

    def mathml(self) -> str:
        """One MathML `<math>` element."""
        return f"<math>{write(self, 2)}</math>"


def applied(op: str, inputs: Sequence[Any], options: dict[str, Any]) -> Symbol:
    """A primitive or function of that name, applied; products by a number, (Aᵀ)ᵀ made simple."""
    first = inputs[0] if inputs else None
    if op == "matrix_transpose" and isinstance(first, Symbol) and first.op == op:
        inner: Symbol = first.inputs[0]
        return inner
    if op in ("multiply", "scale") and any(_is_factor(x) for x in (*inputs, *options.values())):
        number, other = sorted((*inputs, *options.values()), key=lambda x: not _is_factor(x))
        return other if str(number) == "1" else Symbol("", "times", (number, other))
    return Symbol("", op, inputs, options)


def _is_factor(x: Any) -> bool:
    return isinstance(x, (int, float)) or (isinstance(x, Symbol) and x.name == "factor")


class KnownShape(Symbol):
    """The shape of a symbol in one call of an op, where it is known."""

    __slots__ = ("value",)

    def __init__(self, of: Any, value: tuple[int, ...]) -> None:
        super().__init__("", "shape", [of])
        self.value = value


def opaque(function: Function) -> Function:
    """Lets a helper that computes with shapes stand in a rule: on symbols it prints its name."""

    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        known = [_known(x) for x in args]
        if any(_has_symbols(x) for x in known):
            return Symbol("", function.__name__, args)
        return function(*known)

    return wrapper


def _known(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple([_known(item) for item in x])
    return x.value if isinstance(x, KnownShape) else x


def _has_symbols(x: Any) -> bool:
    return isinstance(x, Symbol) or (isinstance(x, tuple) and any(map(_has_symbols, x)))
