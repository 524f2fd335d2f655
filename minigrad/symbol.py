"""A rule read as a formula: the code that computes a gradient, run on symbols, prints itself.

A `Symbol` is an expression tree that any rule can be run on, since it has the same operators and
NumPy functions as a tensor. It prints as text, LaTeX and MathML. It computes nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, NamedTuple

from minigrad.operand import FUNCTIONS, Operand
from minigrad.primitive import PRIMITIVES, Primitive

# Layouts as text, LaTeX and MathML. Arguments come as {0}, {1}; {op} is the sign in between.
_LAYOUTS = {
    "infix": ("{0} {op} {1}", "{0} {op} {1}", "<mrow>{0}<mo>{op}</mo>{1}</mrow>"),
    "prefix": ("{op}{0}", "{op}{0}", "<mrow><mo>{op}</mo>{0}</mrow>"),
    "beside": ("{0} {1}", r"{0}\, {1}", "<mrow>{0}<mspace width='.2em'/>{1}</mrow>"),
    "fraction": ("{0} / {1}", r"\frac{{{0}}}{{{1}}}", "<mfrac>{0}{1}</mfrac>"),
    "power": ("{0}^{1}", "{{{0}}}^{{{1}}}", "<msup>{0}{1}</msup>"),
    "transposed": ("{0}ᵀ", r"{{{0}}}^{{\top}}", "<msup>{0}<mo>⊤</mo></msup>"),
    "root": ("√({0})", r"\sqrt{{{0}}}", "<msqrt>{0}</msqrt>"),
    "bars": ("|{0}|", r"\left|{0}\right|", "<mrow><mo>|</mo>{0}<mo>|</mo></mrow>"),
    "index": ("{0}[{1}]", r"{0}\left[{1}\right]", "<mrow>{0}<mo>[</mo>{1}<mo>]</mo></mrow>"),
    "parens": ("({0})", r"\left({0}\right)", "<mrow><mo>(</mo>{0}<mo>)</mo></mrow>"),
}


class _Notation(NamedTuple):
    """How an op is written: its layout, how tightly it binds, its sign as text and in LaTeX."""

    layout: str
    binds: int
    sign: str = ""
    latex: str = ""


_NOTATIONS = {
    "equal": _Notation("infix", 0, "="),
    "less": _Notation("infix", 0, "<"),
    "less_equal": _Notation("infix", 0, "≤", r"\le"),
    "greater": _Notation("infix", 0, ">"),
    "greater_equal": _Notation("infix", 0, "≥", r"\ge"),
    "not_equal": _Notation("infix", 0, "≠", r"\ne"),
    "add": _Notation("infix", 1, "+"),
    "subtract": _Notation("infix", 1, "−", "-"),
    "sum": _Notation("prefix", 2, "Σ ", r"\sum "),
    "multiply": _Notation("infix", 3, "⊙", r"\odot"),
    "times": _Notation("infix", 3, "·", r"\cdot"),
    "matmul": _Notation("beside", 3),
    "divide": _Notation("fraction", 3),
    "negative": _Notation("prefix", 4, "−", "-"),
    "power": _Notation("power", 5),
    "matrix_transpose": _Notation("transposed", 5),
    "getitem": _Notation("index", 6),
    "sqrt": _Notation("root", 6),
    "abs": _Notation("bars", 6),
}
_SHAPING = ("sum", "keepdims", "axis")


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

    def _read(self, function: Callable[..., Any], *inputs: Any, **options: Any) -> Symbol:
        return _applied(function.__name__, inputs, options)

    @property
    def shape(self) -> Symbol:
        """The shape, itself a symbol."""
        return _applied("shape", [self], {})

    @property
    def ndim(self) -> int:
        """Symbols stand for matrices where an op tells vectors from matrices."""
        return 2

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Symbol {self.text()}>"

    def text(self) -> str:
        """Plain Unicode text."""
        return _print(self, 0)

    def latex(self) -> str:
        """LaTeX, to be set in math mode."""
        return _print(self, 1)

    def mathml(self) -> str:
        """One MathML `<math>` element."""
        return f"<math>{_print(self, 2)}</math>"


def _applied(op: str, inputs: Sequence[Any], options: dict[str, Any]) -> Symbol:
    if op in ("multiply", "scale") and any(_is_factor(x) for x in (*inputs, *options.values())):
        number, other = sorted((*inputs, *options.values()), key=lambda x: not _is_factor(x))
        return Symbol("", "times", (number, other))
    return Symbol("", op, inputs, options)


def _is_factor(x: Any) -> bool:
    return isinstance(x, (int, float)) or (isinstance(x, Symbol) and x.name == "factor")


def opaque(function: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a helper that computes with shapes stand in a rule: on symbols it prints its name."""

    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        if any(isinstance(x, Symbol) for x in args):
            return Symbol("", function.__name__, args)
        return function(*args)

    return wrapper


def _print(x: Any, style: int, outer: int = 0) -> str:
    """`x` in style 0, 1, 2 (text, LaTeX, MathML), in parentheses if it binds less than `outer`."""
    if not isinstance(x, Symbol):
        return _leaf(x, style)
    if not x.op:
        return _named(x.name, style)
    notation = _NOTATIONS.get(x.op)
    if notation is None:
        return _call(x, style)
    own = notation.binds
    inner = own + (1 if notation.layout in ("power", "transposed", "index") else 0)
    if style > 0 and notation.layout in ("fraction", "root", "bars"):
        inner = 0
    shown = x.inputs if x.op in _SHAPING else (*x.inputs, *x.options.values())
    left = _print(shown[0], style, 0 if notation.layout in ("root", "bars") else inner)
    # What stands on the right of −, / or a matrix product is grouped, as in a − (b − c).
    rest = [_print(y, style, inner if inner == 0 else own + 1) for y in shown[1:]]
    sign = notation.latex or notation.sign if style == 1 else escape(notation.sign.strip())
    sign = notation.sign if style == 0 else sign
    result = _LAYOUTS[notation.layout][style].format(left, *rest, op=sign)
    fenced = own < outer
    return _LAYOUTS["parens"][style].format(result) if fenced else result


def _call(x: Symbol, style: int) -> str:
    given = [_print(y, style) for y in x.inputs]
    for name, value in x.options.items():
        if value is not None and value is not False and not isinstance(value, Symbol):
            given.append(f"{name}={value}" if style == 0 else _leaf(value, style))
    if style == 2:
        return f"<mrow><mi>{escape(x.op)}</mi><mo>(</mo>{'<mo>,</mo>'.join(given)}<mo>)</mo></mrow>"
    name = x.op if style == 0 else rf"\operatorname{{{_latex_text(x.op)}}}"
    return _LAYOUTS["parens"][style].format(", ".join(given)).join([name, ""])


def _leaf(x: Any, style: int) -> str:
    if isinstance(x, (tuple, list)):
        items = [_print(item, style) for item in x]
        return f"<mrow>{'<mo>,</mo>'.join(items)}</mrow>" if style == 2 else ", ".join(items)
    text = f"{x:g}" if isinstance(x, float) else str(x)
    return f"<mn>{escape(text)}</mn>" if style == 2 else text.replace("-", "−" if not style else "-")


def _named(name: str, style: int) -> str:
    if style == 0:
        return name
    if style == 2:
        return f"<mi>{escape(name)}</mi>"
    return name if len(name) == 1 and name.isascii() else rf"\text{{{_latex_text(name)}}}"


def _latex_text(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c) or (f"\\{c}" if c in "#$%&_{}" else c) for c in text)


class Formula(NamedTuple):
    """What `formula` returns: the forward and the gradient at each input, as symbols."""

    name: str
    result: str
    forward: Symbol
    rules: dict[str, Symbol]

    def _lines(self, style: int) -> list[str]:
        left = ["∂L/∂{}", r"\frac{{\partial L}}{{\partial {}}}", ""][style]
        rows = [(_named(self.result, style), self.forward)]
        rows += [(left.format(_named(name, style)), rule) for name, rule in self.rules.items()]
        return [f"{head} = {_print(rule, style)}" for head, rule in rows]

    def text(self) -> str:
        """One line for the forward, one for each gradient; G is the upstream gradient."""
        return "\n".join(self._lines(0))

    def latex(self) -> str:
        """The same lines, to be set in an `aligned` environment."""
        return " \\\\\n".join(self._lines(1))

    def mathml(self) -> str:
        """One `<math>` element with a row for each line."""
        head = "<mfrac><mrow><mo>∂</mo><mi>L</mi></mrow><mrow><mo>∂</mo>{}</mrow></mfrac>"
        rows = [(_named(self.result, 2), self.forward)]
        rows += [(head.format(_named(name, 2)), rule) for name, rule in self.rules.items()]
        cells = [f"<mtr><mtd>{a}<mo>=</mo>{_print(rule, 2)}</mtd></mtr>" for a, rule in rows]
        return f"<math display='block'><mtable>{''.join(cells)}</mtable></math>"


def formula(op: str | Primitive | Callable[..., Any], names: dict[str, str] | None = None) -> Formula:
    """How an op computes its result and its gradients, read off the code that does so.

    Args: `op`, a primitive or its name; `names`, what to call its inputs and its result (`out`)
    instead of their parameter names.
    Errors: `KeyError` if there is no such primitive.

    >>> print(formula("matmul", {"a": "Q", "out": "scores"}).text())
    scores = Q b
    ∂L/∂Q = G bᵀ
    ∂L/∂b = Qᵀ G
    """
    if isinstance(op, str):
        if op not in PRIMITIVES:
            raise KeyError(f"there is no primitive {op!r}; there are {', '.join(sorted(PRIMITIVES))}.")
        op = PRIMITIVES[op]
    op = getattr(op, "primitive", op)
    assert isinstance(op, Primitive)
    called = {name: name for name in op.input_names}
    called["out"] = "y" if "y" not in called else "out"
    called |= names or {}
    values: dict[str, Any] = {name: Symbol(text) for name, text in called.items()}
    inputs = [values[name] for name in op.input_names]
    options = {n: Symbol(n) if type(v) is object else v for n, v in op.defaults.items()}
    try:
        forward = (op.composed or op.forward)(*inputs, **options)
    except (TypeError, AttributeError, ValueError):
        forward = _applied(op.name, inputs, options)
    values |= {f"{n}_shape": _applied("shape", [values[n]], {}) for n in op.input_names}
    values["index"] = Symbol("k")
    rules = {}
    for name, rule in zip(op.input_names, op.rules, strict=True):
        if rule is not None:
            asked = [values[a] for a in rule.asks]
            chosen = {n: options[n] for n in rule.options}
            rules[called[name]] = rule.function(Symbol("G"), *asked, **chosen)
    return Formula(op.name, called["out"], forward, rules)
