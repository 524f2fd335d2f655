"""The equations of an op, its forward and the gradient at each input, read off the code that ran.

`formula` writes them for the op in general, `equations` for one call of it in a graph, with the
names and options of that call. Helpers of rules that compute with shapes are made `opaque`. What
symbols are is told in `symbol`, how they are written in `notation`.
"""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from operator import attrgetter
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np

from minigrad.calls import REQUIRED
from minigrad.graph import Node
from minigrad.notation import visible, write, write_name
from minigrad.operand import as_primitive
from minigrad.primitive import Primitive
from minigrad.rule import Function
from minigrad.symbol import KnownShape, Number, Symbol, applied


class Formula(NamedTuple):
    """The forward of an op and the gradient at each input, as symbols; G is the upstream."""

    name: str
    result: str
    forward: Any
    rules: dict[str, Any]  # by the parameter of the forward
    names: dict[str, str]  # what that is called

    def _rows(self, style: int) -> list[tuple[str, str]]:
        """What stands on the left and on the right of each equation."""
        rows = [(write_name(self.result, style), write(self.forward, style))]
        for name, rule in self.rules.items():
            slope = _SLOPES[style].format(write_name(self.names[name], style))
            rows.append((slope, write(rule, style)))
        return rows

    def text(self) -> str:
        """One line for the forward, one for each gradient; G is the upstream gradient."""
        return "\n".join([f"{left} = {right}" for left, right in self._rows(0)])

    def latex(self) -> str:
        """The same lines, to be set in an `aligned` environment."""
        return " \\\\\n".join([f"{left} = {right}" for left, right in self._rows(1)])

    def mathml(self) -> str:
        """One `<math>` element with a row for each line."""
        rows = [f"<mtr><mtd>{left}<mo>=</mo>{right}</mtd></mtr>" for left, right in self._rows(2)]
        return f"<math display='block'><mtable>{''.join(rows)}</mtable></math>"


# ∂L by ∂ of a name, in each style.
_SLOPES = (
    "∂L/∂{}",
    r"\frac{{\partial L}}{{\partial {}}}",
    "<mfrac><mrow><mo>∂</mo><mi>L</mi></mrow><mrow><mo>∂</mo>{}</mrow></mfrac>",
)


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
    inputs = [_parameter(found, name)(called[name]) for name in found.input_names]
    options = {n: Symbol(n) if v is REQUIRED else v for n, v in found.defaults.items()}
    shapes = [applied("shape", [x], {}) for x in inputs]
    names = {name: called[name] for name in found.input_names}
    one = Symbol("k") if found.many else None
    return _formula(found, inputs, shapes, names, called["out"], options, one)


def _parameter(op: Primitive, name: str) -> type[Symbol]:
    """What a parameter stands for: the factor of `scale` is declared as a number."""
    return Number if op.forward.__annotations__.get(name) in (float, "float") else Symbol


def equations(node: Node, names: Sequence[str | Symbol], result: str) -> Formula:
    """The same of one call: the op that made `node`, with the options that it was called with.

    Args: `names`, what to call each input, or the expression that it is; `result`, what to call
    the node itself. Options that are arrays keep their parameter names; inputs that are Python
    numbers stand as they are. The rules are found by `argument_names`.
    Errors: `ValueError` for a leaf, which no op made, or if names are missing.

    >>> from minigrad import Tensor
    >>> y = Tensor(3.0, requires_grad=True) * 2
    >>> print(equations(y._node, ["x", ""], "y").text())
    y = 2 · x
    ∂L/∂x = 2 · G
    """
    op = node.primitive
    if op is None:
        raise ValueError(f"{node} is a leaf: no op made it, so it has no equations.")
    if len(names) != len(node.inputs):
        raise ValueError(f"{op} has {len(node.inputs)} inputs here; {len(names)} names came.")
    pairs = zip(node.inputs, names, strict=True)
    inputs = [_as_symbol(name, x.shape) if isinstance(x, Node) else x for x, name in pairs]
    reached = [isinstance(x, Node) and x.requires_grad for x in node.inputs]
    known = zip(inputs, node.inputs, strict=True)
    shapes = [KnownShape(x, n.shape if isinstance(n, Node) else ()) for x, n in known]
    arguments = argument_names(op, len(inputs))
    called = {name: str(x) for name, x in zip(arguments, inputs, strict=True)}
    options = {name: _constant(name, value) for name, value in (node.options or {}).items()}
    return _formula(op, inputs, shapes, called, result, options, None, reached)


_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class Names:
    """What the tensors of a graph are called, those without a name too; the same on every run.

    A name is a tensor's own if it has one; where several have the same, the younger ones are
    marked. Otherwise it is `Kᵀ` or `x[0]` where that says it all, or else a number that no other
    tensor has.

    >>> from minigrad import Tensor
    >>> x, w = Tensor([1.0, 2.0], requires_grad=True, name="x"), Tensor([3.0, 4.0], name="x")
    >>> y = x * w
    >>> names = Names([x._node, w._node, y._node])
    >>> names[y._node], str(names.equation(y._node).forward)
    ('t1', 'x ⊙ x₂')
    """

    LONGEST = 48
    LONGEST_EXPRESSION = 12

    def __init__(self, nodes: Iterable[Node], variables: Mapping[Node, str] | None = None) -> None:
        """`variables` are what a script calls tensors that have no name of their own."""
        self._variables = variables or {}
        ordered = sorted(set(nodes), key=attrgetter("serial"))
        self._labels: dict[Node, str] = {}
        self._marks: dict[Node, str] = {}
        self._expressions: dict[Node, Symbol] = {}  # of those that are called by one
        taken = Counter([self._own(node) for node in ordered])
        numbers = count(1)
        uses = Counter(["G"])  # which is the upstream in every equation
        for node in ordered:
            label = self._own(node) or self._expression(node, taken)
            while not label:
                made_up = f"t{next(numbers)}"
                label = made_up if not taken[made_up] else ""
            uses[label] += 1
            mark = f"{uses[label]}".translate(_LOW) if uses[label] > 1 else ""
            while mark and taken[label + mark]:
                uses[label] += 1
                mark = f"{uses[label]}".translate(_LOW)
            taken[label + mark] += 1
            self._labels[node], self._marks[node] = label, mark

    def __getitem__(self, node: Node) -> str:
        return self._labels[node] + self._marks[node]

    def label(self, node: Node) -> str:
        """The name alone, which others may have too."""
        return self._labels[node]

    def mark(self, node: Node) -> str:
        """What tells a tensor from an older one of the same name; empty if there is none."""
        return self._marks[node]

    def is_expression(self, node: Node) -> bool:
        """Whether a tensor is called by the expression that it is."""
        return node in self._expressions

    def equation(self, node: Node) -> Formula | None:
        """The equations of the op that made `node`; None if it cannot be run on symbols."""
        symbols = [self._symbol(x) if isinstance(x, Node) else "" for x in node.inputs]
        try:
            return equations(node, symbols, self[node] if node in self._labels else "y")
        except Exception:  # it is code of the user's, and may raise anything
            return None

    def _symbol(self, node: Node) -> Symbol:
        if node in self._expressions:
            return self._expressions[node]
        return Symbol(self[node] if node in self._labels else "")

    def _own(self, node: Node) -> str:
        """The name in one line and of bounded length."""
        return visible(node.name or self._variables.get(node, ""), self.LONGEST)

    def _expression(self, node: Node, taken: Counter[str]) -> str:
        if node.primitive is None or node.primitive.name not in ("matrix_transpose", "getitem"):
            return ""
        equation = self.equation(node) if node.inputs[0] in self._labels else None
        text = str(equation.forward) if equation else ""
        if equation is None or len(text) > self.LONGEST_EXPRESSION or taken[text]:
            return ""
        self._expressions[node] = equation.forward
        return text


def _as_symbol(name: str | Symbol, shape: tuple[int, ...]) -> Symbol:
    symbol = Symbol(name) if isinstance(name, str) else copy.copy(name)
    symbol.known = shape
    return symbol


def argument_names(op: Primitive, count: int) -> list[str]:
    """What the inputs are called where the op is defined: the edges of a graph say so.

    >>> from minigrad import PRIMITIVES
    >>> argument_names(PRIMITIVES["matmul"], 2), argument_names(PRIMITIVES["stack"], 2)
    (['a', 'b'], ['arrays[0]', 'arrays[1]'])
    """
    if op.many:
        return [f"{op.input_names[0]}[{i}]" for i in range(count)]
    return list(op.input_names)


def _constant(name: str, value: Any) -> Any:
    """A number, a text or a few of them as they are; the name of anything larger."""
    if isinstance(value, tuple):
        items = tuple([_constant("", x) for x in value])
        return Symbol(name) if any(isinstance(x, Symbol) for x in items) else items
    if isinstance(value, np.generic):
        return value.item()
    plain = value is None or isinstance(value, (int, float, str, slice, EllipsisType))
    return value if plain else Symbol(name)


def _formula(
    op: Primitive,
    inputs: list[Any],
    shapes: Sequence[Symbol],
    called: dict[str, str],
    result: str,
    options: dict[str, Any],
    index: Symbol | None,
    reached: list[bool] | None = None,
) -> Formula:
    """The forward and the rules run on symbols; `reached` are the inputs that have a gradient.

    `index` stands for the position of any of many inputs, where it is one rule for all of them.
    """
    try:
        forward = (op.composed or op.forward)(*inputs, **options)
    except Exception:  # it may be a student's, and stop on symbols in its own way
        forward = applied(op.name, inputs, options)
    values: dict[str, Any] = {"out": Symbol(result), "index": index}
    if op.many and index is None:
        (name,) = op.input_names
        values |= {name: tuple(inputs), f"{name}_shape": tuple(shapes)}
    else:
        values |= dict(zip(op.input_names, inputs, strict=True))
        values |= {f"{n}_shape": shape for n, shape in zip(op.input_names, shapes, strict=True)}
    rules = {}
    for position, name in enumerate(called):
        rule = op.rules[position]
        if rule is not None and (reached is None or reached[position]):
            if op.many and index is None:
                values["index"] = position
            chosen = {n: options[n] for n in rule.options}
            rules[name] = rule.function(Symbol("G"), *[values[a] for a in rule.asks], **chosen)
    return Formula(op.name, result, forward, rules, called)


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
