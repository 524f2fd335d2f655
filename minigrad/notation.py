"""How formulas are written: as text, in LaTeX and in MathML, from one table of notations.

An expression is anything with an op, inputs and options, or a name; see `symbol`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Notation(NamedTuple):
    """How an op is written: its layout, how tightly it binds, its sign as text and in LaTeX."""

    layout: str
    binds: int
    sign: str = ""
    latex: str = ""


_NOTATIONS = {
    "equal": Notation("infix", 0, "="),
    "less": Notation("infix", 0, "<"),
    "less_equal": Notation("infix", 0, "≤", r"\le"),
    "greater": Notation("infix", 0, ">"),
    "greater_equal": Notation("infix", 0, "≥", r"\ge"),
    "not_equal": Notation("infix", 0, "≠", r"\ne"),
    "add": Notation("infix", 1, "+"),
    "subtract": Notation("infix", 1, "−", "-"),
    "sum": Notation("prefix", 2, "Σ ", r"\sum "),
    "multiply": Notation("infix", 3, "⊙", r"\odot"),
    "times": Notation("infix", 3, "·", r"\cdot"),
    "matmul": Notation("beside", 3),
    "divide": Notation("fraction", 3),
    "negative": Notation("prefix", 4, "−", "-"),
    "power": Notation("power", 5),
    "matrix_transpose": Notation("transposed", 5),
    "getitem": Notation("index", 6),
    "sqrt": Notation("root", 6),
    "abs": Notation("bars", 6),
}
_SHAPING = ("sum", "keepdims", "axis")


def write(x: Any, style: int, outer: int = 0) -> str:
    """`x` in style 0, 1, 2 (text, LaTeX, MathML), in parentheses if it binds less than `outer`."""
    if not hasattr(x, "op"):
        return _leaf(x, style)
    if not x.op:
        return write_name(x.name, style)
    notation = _NOTATIONS.get(x.op)
    if notation is None:
        return _call(x, style)
    own = notation.binds
    inner = own + (1 if notation.layout in ("power", "transposed", "index") else 0)
    if style > 0 and notation.layout in ("fraction", "root", "bars"):
        inner = 0
    shown = x.inputs if x.op in _SHAPING else (*x.inputs, *x.options.values())
    left = write(shown[0], style, 0 if notation.layout in ("root", "bars") else inner)
    # What stands on the right of −, / or a matrix product is grouped, as in a − (b − c).
    rest = [write(y, style, inner if inner == 0 else own + 1) for y in shown[1:]]
    sign = notation.latex or notation.sign if style == 1 else _escape(notation.sign.strip())
    sign = notation.sign if style == 0 else sign
    result = _LAYOUTS[notation.layout][style].format(left, *rest, op=sign)
    fenced = own < outer
    return _LAYOUTS["parens"][style].format(result) if fenced else result


def _call(x: Any, style: int) -> str:
    given = [write(y, style) for y in x.inputs]
    for name, value in x.options.items():
        if value is not None and value is not False and not hasattr(value, "op"):
            given.append(f"{name}={value}" if style == 0 else _leaf(value, style))
    if style == 2:
        return (
            f"<mrow><mi>{_escape(x.op)}</mi><mo>(</mo>{'<mo>,</mo>'.join(given)}<mo>)</mo></mrow>"
        )
    name = x.op if style == 0 else rf"\operatorname{{{_latex_text(x.op)}}}"
    return _LAYOUTS["parens"][style].format(", ".join(given)).join([name, ""])


def _leaf(x: Any, style: int) -> str:
    if isinstance(x, (tuple, list)):
        items = [write(item, style) for item in x]
        return f"<mrow>{'<mo>,</mo>'.join(items)}</mrow>" if style == 2 else ", ".join(items)
    text = f"{x:g}" if isinstance(x, float) else str(x)
    return (
        f"<mn>{_escape(text)}</mn>" if style == 2 else text.replace("-", "−" if not style else "-")
    )


def write_name(name: str, style: int) -> str:
    """A name in style 0, 1 or 2; one letter is italic in LaTeX, more are upright."""
    if style == 0:
        return name
    if style == 2:
        return f"<mi>{_escape(name)}</mi>"
    return name if len(name) == 1 and name.isascii() else rf"\text{{{_latex_text(name)}}}"


def _latex_text(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c) or (f"\\{c}" if c in "#$%&_{}" else c) for c in text)


class Formula(NamedTuple):
    """What `formula` returns: the forward and the gradient at each input, as symbols."""

    name: str
    result: str
    forward: Any
    rules: dict[str, Any]

    def _lines(self, style: int) -> list[str]:
        left = ["∂L/∂{}", r"\frac{{\partial L}}{{\partial {}}}", ""][style]
        rows = [(write_name(self.result, style), self.forward)]
        rows += [(left.format(write_name(name, style)), rule) for name, rule in self.rules.items()]
        return [f"{head} = {write(rule, style)}" for head, rule in rows]

    def text(self) -> str:
        """One line for the forward, one for each gradient; G is the upstream gradient."""
        return "\n".join(self._lines(0))

    def latex(self) -> str:
        """The same lines, to be set in an `aligned` environment."""
        return " \\\\\n".join(self._lines(1))

    def mathml(self) -> str:
        """One `<math>` element with a row for each line."""
        head = "<mfrac><mrow><mo>∂</mo><mi>L</mi></mrow><mrow><mo>∂</mo>{}</mrow></mfrac>"
        rows = [(write_name(self.result, 2), self.forward)]
        rows += [(head.format(write_name(name, 2)), rule) for name, rule in self.rules.items()]
        cells = [f"<mtr><mtd>{a}<mo>=</mo>{write(rule, 2)}</mtd></mtr>" for a, rule in rows]
        return f"<math display='block'><mtable>{''.join(cells)}</mtable></math>"


def _escape(text: str) -> str:
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(sign, entity)
    return text
