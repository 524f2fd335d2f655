"""How things are written: formulas as text, LaTeX and MathML, a tensor in one line, subscripts.

An expression is anything with an op, inputs and options, or a name; see `symbol`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from string import ascii_letters
from typing import Any, NamedTuple
from unicodedata import combining, east_asian_width

import numpy as np

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


LONGEST = 90_000
"""Characters of a formula; of what would be longer, three dots remain."""


def write(expression: Any, style: int) -> str:
    """An expression in style 0, 1, 2 (text, LaTeX, MathML); of any depth, without recursion."""
    done: dict[int, tuple[str, int]] = {}  # by identity: what it reads, and how tightly it binds
    stack = [expression]
    while stack:
        x = stack[-1]
        missing = [y for y in _parts(x) if id(y) not in done]
        if missing:
            stack += missing
            continue
        stack.pop()
        text, binds = _combined(x, [done[id(y)] for y in _parts(x)], style)
        # What repeats itself, as steps of Newton's method do, may be longer than any memory.
        done[id(x)] = ("…", _TIGHTEST) if len(text) > LONGEST else (text, binds)
    return done[id(expression)][0]


def _parts(x: Any) -> Sequence[Any]:
    """What is written inside x."""
    if isinstance(x, (tuple, list)):
        return x
    if not getattr(x, "op", ""):
        return ()
    if x.op in _SHAPING:
        return tuple(x.inputs)
    if x.op in _NOTATIONS:
        return (*x.inputs, *x.options.values())
    # Options that are symbols are written as arguments; of shapes it is enough that they fit.
    symbols = [o for o in x.options.values() if getattr(o, "op", "shape") != "shape"]
    return (*x.inputs, *symbols)


def _combined(x: Any, parts: list[tuple[str, int]], style: int) -> tuple[str, int]:
    """What x reads, made of what its parts read, and how tightly that binds."""
    if isinstance(x, (tuple, list)):
        comma = "<mo>,</mo>" if style == 2 else ", "
        return _row(comma.join([text for text, _ in parts]), style), _TIGHTEST
    if not hasattr(x, "op"):
        negative = isinstance(x, (int, float)) and x < 0
        return _number(x, style), _NOTATIONS["negative"].binds if negative else _TIGHTEST
    if not x.op:
        # A name of several words is kept together: data X times W is not data times X W.
        is_word = not re.search(r"[\s+\-−*/=⊙·^(),]", x.name)
        return write_name(x.name, style), _TIGHTEST if is_word else 0
    notation = _NOTATIONS.get(x.op)
    if notation is None:
        pairs = zip(_parts(x), parts, strict=True)
        given = [_fenced(text, _is_plain_tuple(part), style) for part, (text, _) in pairs]
        return _call(x, given, style), _TIGHTEST
    own = notation.binds
    # What stands on the right of −, / or a matrix product is grouped, as in a − (b − c).
    needs = [own, *[own + 1] * (len(parts) - 1)]
    if notation.layout in ("power", "transposed", "index"):
        needs[0] = own + 1
    if notation.layout == "index":
        needs[1] = 0
    if notation.layout in ("root", "bars") or (style > 0 and notation.layout == "fraction"):
        needs = [0] * len(parts)
    shown = [
        _fenced(text, binds < need, style) for (text, binds), need in zip(parts, needs, strict=True)
    ]
    sign = (notation.sign, notation.latex or notation.sign, _escape(notation.sign.strip()))[style]
    return _LAYOUTS[notation.layout][style].format(*shown, op=sign), own


_TIGHTEST = 9


def _is_plain_tuple(x: Any) -> bool:
    """A shape or some axes, which keep their parentheses; many inputs are written one by one."""
    return isinstance(x, tuple) and not any(hasattr(item, "op") for item in x)


def _fenced(text: str, fence: bool, style: int) -> str:
    return _LAYOUTS["parens"][style].format(text) if fence else text


def _row(text: str, style: int) -> str:
    return f"<mrow>{text}</mrow>" if style == 2 else text


def _call(x: Any, given: list[str], style: int) -> str:
    called = visible(x.op)
    for name, value in x.options.items():
        if value is not None and value is not False and not hasattr(value, "op"):
            text = visible(_plain(value))
            given.append(f"{name}={text}" if style == 0 else _number(value, style))
    if style == 2:
        inside = "<mo>,</mo>".join(given)
        return f"<mrow><mi>{_escape(called)}</mi><mo>(</mo>{inside}<mo>)</mo></mrow>"
    name = called if style == 0 else rf"\operatorname{{{_latex_text(called)}}}"
    return name + _fenced(", ".join(given), True, style)


def _number(x: Any, style: int) -> str:
    text = visible(_plain(x))
    if style == 2:
        return f"<mn>{_escape(text if isinstance(x, str) else text.replace('-', '−'))}</mn>"
    if style == 1:
        return _latex_text(text)
    return text if isinstance(x, str) else text.replace("-", "−")


def _plain(x: Any) -> str:
    """A number, or what can stand in an index, as it is typed."""
    if isinstance(x, tuple):
        return f"({', '.join([_plain(item) for item in x])}{',' * (len(x) == 1)})"
    if isinstance(x, slice):
        ends = ["" if end is None else str(end) for end in (x.start, x.stop, x.step)]
        return ":".join(ends if ends[2] else ends[:2])
    return f"{x:g}" if isinstance(x, float) else "…" if x is Ellipsis else str(x)


def visible(text: str, longest: int | None = None) -> str:
    """A text of others' in one line, in which nothing steers what shows it; cut at `longest`.

    >>> visible("a\\x1b[31m b", longest=7)
    'a�[31m…'
    """
    shown = "".join([c if c.isprintable() else "�" for c in text])
    return shown if longest is None or len(shown) <= longest else shown[: longest - 1] + "…"


def write_name(name: str, style: int) -> str:
    """A name in style 0, 1 or 2; one letter is italic in LaTeX, more are upright."""
    name = visible(name)
    if style == 2:
        return f"<mi>{_escape(name)}</mi>"
    if style == 0 or (len(name) == 1 and name.isascii() and name.isalpha()):
        return name
    return rf"\text{{{_latex_text(name)}}}"


def _latex_text(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c) or (f"\\{c}" if c in "#$%&_{}" else c) for c in text)


def explicit(subscripts: str, shapes: list[tuple[int, ...]]) -> str:
    """einsum's subscripts with the output written out and letters in the place of "...".

    >>> explicit("...ij,jk", [(7, 2, 3), (3, 4)])
    'aij,jk->aik'
    """
    terms, arrow, out = subscripts.replace(" ", "").partition("->")
    inputs = terms.split(",")
    if len(inputs) != len(shapes):
        raise ValueError(f"einsum: {subscripts!r} does not fit {len(shapes)} operands.")
    extra = [len(s) + 3 - len(t) if "..." in t else 0 for t, s in zip(inputs, shapes, strict=True)]
    free = [c for c in ascii_letters if c not in subscripts]
    letters = "".join(free[: max(extra)])  # of the longest "..."; shorter ones have its end
    ends = [letters[len(letters) - n :] for n in extra]
    inputs = [t.replace("...", end) for t, end in zip(inputs, ends, strict=True)]
    used = "".join(inputs)
    alone = "".join(sorted(c for c in set(used) - set(letters) if used.count(c) == 1))
    out = out.replace("...", letters) if arrow else letters + alone
    return f"{','.join(inputs)}->{out}"


class Summary(NamedTuple):
    """What is worth saying of an array: statistics of its finite entries, and what is not finite.

    Where nothing is finite, the statistics are NaN.
    """

    size: int
    low: float
    high: float
    mean: float
    norm: float  # the root of the sum of squares
    zeros: int
    nan: int
    inf: int


def summarise(array: Any) -> Summary:
    """The summary of an array of real numbers, computed in float64 and without overflow.

    >>> summarise(np.array([3.0, -4.0, np.nan, 0.0]))[:5]
    (4, -4.0, 3.0, -0.3333333333333333, 5.0)
    """
    with np.errstate(all="ignore"):  # looking at numbers shall not warn of them
        values = np.asarray(array).astype(np.float64).ravel()
        finite = values[np.isfinite(values)]
        nan = int(np.isnan(values).sum())
        low = high = mean = norm = math.nan
        if finite.size:
            low, high = float(finite.min()), float(finite.max())
            largest = max(-low, high) or 1.0  # divided by that, no square and no sum overflows
            mean = float((finite / largest).mean()) * largest
            norm = float(np.sqrt(((finite / largest) ** 2).sum())) * largest
    zeros = int((finite == 0).sum())
    return Summary(values.size, low, high, mean, norm, zeros, nan, values.size - finite.size - nan)


def write_number(x: float) -> str:
    """Three digits, as short as they come; whole numbers of up to six as they are.

    >>> [write_number(x) for x in (0.0, -0.12345, 12345.6, 30522.0, 1e-30, math.inf, math.nan)]
    ['0', '−0.123', '1.23e4', '30522', '1e−30', '∞', 'NaN']
    """
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    if x == int(x) and abs(x) < 1e6:
        return f"{int(x)}".replace("-", "−")
    text = f"{x:.3g}"
    mantissa, e, exponent = text.partition("e")
    return (mantissa + (f"e{int(exponent)}" if e else "")).replace("-", "−")


def width_of(text: str) -> int:
    """How wide a text is, in Latin letters; a Chinese character is as wide as two.

    >>> width_of("猫 eats"), width_of("e\u0301")
    (7, 1)
    """
    return sum([0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text])


def write_tensor(t: Any) -> str:
    """One line on a tensor: name, shape, dtype, values or range, norm, and the op it is from."""
    name = f" {t.name!r}" if t.name else ""
    made = "" if t.is_leaf else f", from {t._node.primitive}"
    wants = ", requires_grad" if t.requires_grad and t.is_leaf else ""
    if t.size > 8:
        values = write_summary(summarise(t._data))
    else:
        values = np.array2string(t._data, precision=4, separator=", ").replace("\n", "")
        if t.size > 1:
            values += f", norm {summarise(t._data).norm:.4g}"
    return f"<Tensor{name} {t.shape} {t.dtype}: {values}{made}{wants}>"


def write_summary(s: Summary) -> str:
    """A summary as range, norm, and what is not finite.

    >>> write_summary(summarise([1.0, -2.0, np.inf]))
    '-2 … 1, norm 2.236, 1 inf'
    """
    parts = [] if math.isnan(s.norm) else [f"{s.low:.4g} … {s.high:.4g}", f"norm {s.norm:.4g}"]
    parts += [f"{count} {what}" for count, what in ((s.nan, "nan"), (s.inf, "inf")) if count]
    return ", ".join(parts)


def describe(x: Any) -> str:
    """Shape, dtype and name of an input, and the line that made it, for error messages."""
    if not hasattr(x, "_data"):
        return f"{np.shape(x)} {getattr(x, 'dtype', type(x).__name__)}"
    name = f" {x._node.name!r}" if x._node and x._node.name else ""
    line = x._node.line if x._node else None
    where = f" (made in {line[0]}, line {line[1]})" if line else ""
    return f"{x._data.shape} {x._data.dtype}{name}{where}"


def _escape(text: str) -> str:
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(sign, entity)
    return text
