"""A rule read as a formula: the code that computes a gradient, run on symbols, prints itself.

A `Symbol` is an expression tree that any rule can be run on, since it has the same operators and
NumPy functions as a tensor. It prints as text, LaTeX and MathML. It computes nothing.
"""

from __future__ import annotations

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

    __slots__ = ("inputs", "known", "name", "op", "options")

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
        self.known: tuple[int, ...] | None = None  # its shape, in one call of an op

    def _apply(self, op: Primitive, inputs: Sequence[Any], options: dict[str, Any]) -> Symbol:
        # Where a number would be the default, that it is None has to be written.
        usual = {name for name, x in op.defaults.items() if isinstance(x, (int, float))}
        shown = {n: "None" if x is None and n in usual else x for n, x in options.items()}
        return applied(op.name, inputs, shown)

    def _read(self, function: Function, *inputs: Any, **options: Any) -> Symbol:
        return applied(function.__name__, inputs, options)

    @property
    def shape(self) -> Symbol:
        """The shape, itself a symbol."""
        if self.known is not None:
            return KnownShape(self, self.known)
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
    if op == "power" and isinstance(first, Symbol) and str(inputs[1]) in ("1", "1.0"):
        return first
    return Symbol("", op, inputs, options)


def _is_factor(x: Any) -> bool:
    return isinstance(x, (int, float, Number))


class Number(Symbol):
    """The name of a number."""

    __slots__ = ()


class KnownShape(Symbol):
    """The shape of a symbol in one call of an op, where it is known."""

    __slots__ = ("value",)

    def __init__(self, of: Any, value: tuple[int, ...]) -> None:
        super().__init__("", "shape", [of])
        self.value = value
