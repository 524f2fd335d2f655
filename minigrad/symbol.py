"""A rule read as a formula: the code that computes a gradient, run on symbols, prints itself.

A `Symbol` is an expression tree that any rule can be run on, since it has the same operators and
NumPy functions as a tensor. It prints as text, LaTeX and MathML. It computes nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from minigrad.calls import REQUIRED
from minigrad.notation import Formula, write
from minigrad.operand import Operand, as_primitive
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
        return _applied(op.name, inputs, options)

    def _read(self, function: Function, *inputs: Any, **options: Any) -> Symbol:
        return _applied(function.__name__, inputs, options)

    @property
    def shape(self) -> Symbol:
        """The shape, itself a symbol."""
        return _applied("shape", [self], {})

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


def _applied(op: str, inputs: Sequence[Any], options: dict[str, Any]) -> Symbol:
    if op in ("multiply", "scale") and any(_is_factor(x) for x in (*inputs, *options.values())):
        number, other = sorted((*inputs, *options.values()), key=lambda x: not _is_factor(x))
        return other if str(number) == "1" else Symbol("", "times", (number, other))
    return Symbol("", op, inputs, options)


def _is_factor(x: Any) -> bool:
    return isinstance(x, (int, float)) or (isinstance(x, Symbol) and x.name == "factor")


def opaque(function: Function) -> Function:
    """Lets a helper that computes with shapes stand in a rule: on symbols it prints its name."""

    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        if any(isinstance(x, Symbol) for x in args):
            return Symbol("", function.__name__, args)
        return function(*args)

    return wrapper


def formula(op: str | Primitive | Function, names: dict[str, str] | None = None) -> Formula:
    """How an op computes its result and its gradients, read off the code that does so.

    Args: `op`, a primitive or its name; `names`, what to call its inputs and its result (`out`)
    instead of their parameter names.
    Errors: `KeyError` if there is no such primitive.

    >>> print(formula("matmul", {"a": "Q", "out": "scores"}).text())
    scores = Q b
    ∂L/∂Q = G bᵀ
    ∂L/∂b = Qᵀ G
    """
    found: Primitive = as_primitive(op)
    called = {name: name for name in found.input_names}
    called["out"] = "y" if "y" not in called else "out"
    called |= names or {}
    values: dict[str, Any] = {name: Symbol(text) for name, text in called.items()}
    inputs = [values[name] for name in found.input_names]
    options = {n: Symbol(n) if v is REQUIRED else v for n, v in found.defaults.items()}
    try:
        forward = (found.composed or found.forward)(*inputs, **options)
    except (TypeError, AttributeError, ValueError):
        forward = _applied(found.name, inputs, options)
    values |= {f"{n}_shape": _applied("shape", [values[n]], {}) for n in found.input_names}
    values["index"] = Symbol("k")
    rules = {}
    for name, rule in zip(found.input_names, found.rules, strict=True):
        if rule is not None:
            asked = [values[a] for a in rule.asks]
            chosen = {n: options[n] for n in rule.options}
            rules[name] = rule.function(Symbol("G"), *asked, **chosen)
    return Formula(found.name, called["out"], forward, rules, called)
