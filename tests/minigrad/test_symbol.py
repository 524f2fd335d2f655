"""A rule read as a formula: as text, as LaTeX and as MathML, derived from the code that runs."""

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import PRIMITIVES, Symbol, formula, primitive
from minigrad.equations import opaque
from minigrad.symbol import KnownShape, applied

FORMULAS = {
    "add": ["y = a + b", "∂L/∂a = G", "∂L/∂b = G"],
    "subtract": ["y = a − b", "∂L/∂a = G", "∂L/∂b = −G"],
    "multiply": ["y = a ⊙ b", "∂L/∂a = G ⊙ b", "∂L/∂b = G ⊙ a"],
    "divide": ["y = a / b", "∂L/∂a = G / b", "∂L/∂b = −G ⊙ y / b"],
    "scale": ["y = factor · x", "∂L/∂x = factor · G"],
    "matmul": ["y = a b", "∂L/∂a = G bᵀ", "∂L/∂b = aᵀ G"],
    "matrix_transpose": ["y = xᵀ", "∂L/∂x = Gᵀ"],
    "exp": ["y = exp(x)", "∂L/∂x = G ⊙ y"],
    "log": ["y = log(x)", "∂L/∂x = G / x"],
    "sqrt": ["y = √(x)", "∂L/∂x = G / (2 · y)"],
    "cos": ["y = cos(x)", "∂L/∂x = −G ⊙ sin(x)"],
    "tanh": ["y = tanh(x)", "∂L/∂x = G ⊙ (1 − y ⊙ y)"],
    "sigmoid": ["y = 1 / (1 + exp(−x))", "∂L/∂x = G ⊙ y ⊙ (1 − y)"],
    "relu": ["y = maximum(x, 0)", "∂L/∂x = where(y > 0, G, 0)"],
    "softmax": ["y = exp(x) / (Σ exp(x))", "∂L/∂x = y ⊙ (G − Σ G ⊙ y)"],
    "log_softmax": ["y = x − log(Σ exp(x))", "∂L/∂x = G − exp(y) ⊙ (Σ G)"],
    "where": [
        "out = where(condition, x, y)",
        "∂L/∂x = where(condition, G, 0)",
        "∂L/∂y = where(condition, 0, G)",
    ],
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_reads_as_on_the_blackboard(name: str) -> None:
    assert formula(name).text().splitlines() == FORMULAS[name]


def test_a_formula_takes_the_lessons_names() -> None:
    found = formula("matmul", {"a": "Q", "b": "Kᵀ", "out": "scores"})
    assert found.text().splitlines()[:2] == ["scores = Q Kᵀ", "∂L/∂Q = G Kᵀᵀ"]
    assert formula("tanh", {"out": "h"}).text().splitlines()[1] == "∂L/∂x = G ⊙ (1 − h ⊙ h)"


def test_two_inputs_of_one_name_still_have_a_line_each() -> None:
    lines = formula("matmul", {"a": "x", "b": "x"}).text().splitlines()
    assert lines == ["y = x x", "∂L/∂x = G xᵀ", "∂L/∂x = xᵀ G"]


def test_a_formula_is_found_by_name_by_function_and_by_primitive() -> None:
    texts = {formula(op).text() for op in ("exp", minigrad.exp, PRIMITIVES["exp"])}
    assert texts == {"y = exp(x)\n∂L/∂x = G ⊙ y"}


def test_a_primitive_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(KeyError, match=r"'sofmax'.*'softmax'"):
        formula("sofmax")


def test_a_primitive_of_ones_own_has_a_formula_too() -> None:
    @primitive(lambda g, x: g / (1 + x * x))
    def arctan(x: Any) -> Any:
        return np.arctan(x)

    assert formula(arctan).text() == "y = arctan(x)\n∂L/∂x = G / (1 + x ⊙ x)"


def test_the_formula_is_the_code_that_runs() -> None:
    """Another rule, another formula: it is not written down a second time anywhere."""

    @primitive(lambda g, x: 3 * g * x - g)
    def odd(x: Any) -> Any:
        return x

    assert formula(odd).rules["x"].text() == "3 · G ⊙ x − G"


@pytest.mark.parametrize("name", PRIMITIVES)
def test_every_primitive_has_a_formula_with_a_line_for_each_gradient(name: str) -> None:
    op, found = PRIMITIVES[name], formula(name)
    lines = found.text().splitlines()
    assert lines[0].startswith(f"{found.result} = ")
    differentiable = [
        n for n, rule in zip(op.input_names, op.rules, strict=True) if rule is not None
    ]
    assert [line.split(" = ")[0] for line in lines[1:]] == [f"∂L/∂{n}" for n in differentiable]
    assert all("G" in line for line in lines[1:])
    assert "object at 0x" not in found.text()


# ----------------------------------------------------------------------------------------- symbols


a, b, c = Symbol("a"), Symbol("b"), Symbol("c")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (a + b + c, "a + b + c"),
        (a + (b + c), "a + (b + c)"),
        (a - b - c, "a − b − c"),
        (a - (b - c), "a − (b − c)"),
        (a - (b + c), "a − (b + c)"),
        ((a + b) * c, "(a + b) ⊙ c"),
        (a + b * c, "a + b ⊙ c"),
        (a / (b / c), "a / (b / c)"),
        (a / b / c, "a / b / c"),
        (a / (b * c), "a / (b ⊙ c)"),
        (-a - b, "−a − b"),
        (-(a - b), "−(a − b)"),
        (a**b**c, "a^(b^c)"),
        ((a**b) ** c, "(a^b)^c"),
        ((a + b) ** 2, "(a + b)^2"),
        (-(a**2), "−a^2"),
        ((-a) ** 2, "(−a)^2"),
        ((a @ b).mT, "(a b)ᵀ"),
        (a @ b.mT, "a bᵀ"),
        (a @ (b @ c), "a (b c)"),
        (a @ (b + c), "a (b + c)"),
        ((a + b).sum(), "Σ (a + b)"),
        ((a * b).sum(), "Σ a ⊙ b"),
        (a * b.sum(), "a ⊙ (Σ b)"),
        (a.sum() - b, "Σ a − b"),
        (abs(a - b), "|a − b|"),
        (np.sqrt(a + b), "√(a + b)"),
        ((a + b)[0], "(a + b)[0]"),
        (2 * a, "2 · a"),
        (a * 2, "2 · a"),
        (1 - a, "1 − a"),
        (a > 0, "a > 0"),
        (a <= b, "a ≤ b"),
        (a == b, "a = b"),
        (np.exp(-a), "exp(−a)"),
        (minigrad.where(a > 0, b, 0.5), "where(a > 0, b, 0.5)"),
    ],
)
def test_parentheses_stand_where_the_meaning_needs_them(expression: Symbol, text: str) -> None:
    assert str(expression) == text


@pytest.mark.slow
def test_a_long_expression_is_printed_without_recursion() -> None:
    total = Symbol("x")
    for _ in range(20_000):
        total = total + 1
    assert str(total) == "x" + " + 1" * 20_000


def test_a_symbol_computes_nothing_and_says_what_it_is() -> None:
    assert repr(a + b) == "<Symbol a + b>"


# --------------------------------------------------------------------------------- LaTeX and MathML


def test_latex_of_a_formula() -> None:
    assert formula("softmax").latex().splitlines() == [
        r"y = \frac{\operatorname{exp}\left(x\right)}{\sum \operatorname{exp}\left(x\right)} \\",
        r"\frac{\partial L}{\partial x} = y \odot \left(G - \sum G \odot y\right)",
    ]
    assert formula("matmul").latex().splitlines() == [
        r"y = a\, b \\",
        r"\frac{\partial L}{\partial a} = G\, {b}^{\top} \\",
        r"\frac{\partial L}{\partial b} = {a}^{\top}\, G",
    ]


def _check_latex(text: str) -> None:
    """Braces pair up, every \\left has its \\right, and nothing special stands unescaped."""
    bare = re.sub(
        r"\\(?:[a-zA-Z]+|.)", lambda m: m[0] if m[0] in (r"\left", r"\right") else " ", text
    )
    assert bare.count(r"\left") == bare.count(r"\right")
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert not re.search(r"[#$%&~]", bare)
    assert not re.search(r"_(?!\{)", bare)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_the_latex_of_every_primitive_is_balanced(name: str) -> None:
    text = formula(name).latex()
    _check_latex(text)
    assert text.count(r"\frac{\partial L}") == len(formula(name).rules)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_the_mathml_of_every_primitive_is_xml_with_a_row_for_each_line(name: str) -> None:
    found = formula(name)
    root = ElementTree.fromstring(found.mathml())
    assert root.tag == "math"
    assert len(root.findall("./mtable/mtr")) == 1 + len(found.rules)
    for part in (found.forward, *found.rules.values()):
        assert ElementTree.fromstring(part.mathml()).tag == "math"
    for element in root.iter():
        wanted = {"mfrac": 2, "msup": 2}.get(element.tag)
        assert wanted is None or len(element) == wanted


def test_mathml_says_the_same_as_the_text() -> None:
    root = ElementTree.fromstring(formula("softmax").mathml())
    rows = ["".join(row.itertext()).replace(" ", "") for row in root.iter("mtr")]
    assert rows == ["y=exp(x)Σexp(x)", "∂L∂x=y⊙(G−ΣG⊙y)"]


HOSTILE = [
    "<script>alert(1)</script>",
    "a & b",
    "\"quoted\" 'single'",
    "$x$",
    "$",
    "%",
    "#",
    "&",
    "{",
    "}",
    "_",
    "^",
    "~",
    "\\",
    r"\input{secret}",
    "100% {of} #1_2^3~4",
    "权重 λ",
    "{0}{op}",
    "]]>",
    "<!--",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_a_name(name: str) -> None:
    found = formula("matmul", {"a": name, "out": name})
    assert found.text().splitlines()[0] in (f"{name} = {name} b", f"{name} = ({name}) b")

    root = ElementTree.fromstring(found.mathml())
    assert name in [element.text for element in root.iter("mi")]
    assert {element.tag for element in root.iter()} <= {
        "math", "mtable", "mtr", "mtd", "mfrac", "mrow", "mi", "mo", "mn", "msup", "mspace",
    }  # fmt: skip

    _check_latex(found.latex())
    assert r"\input" not in found.latex()


@pytest.mark.parametrize("name", ["a\x1b[31mred", "bell\x07", "nul\x00", "line\nbreak"])
def test_control_characters_in_a_name_reach_neither_a_terminal_nor_a_page(name: str) -> None:
    found = formula("exp", {"x": name})
    for text in (found.text(), found.latex(), found.mathml()):
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", text)
    assert len(found.text().splitlines()) == 2
    ElementTree.fromstring(found.mathml())


# -------------------------------------------------------------- shapes that are known, or are not


@opaque
def doubled(shape: Any, axes: Any) -> tuple[int, ...]:
    """Twice as long along the axes."""
    return tuple(n * 2 if i in axes else n for i, n in enumerate(shape))


def test_a_helper_is_run_on_shapes_that_are_known_and_printed_of_others() -> None:
    x = Symbol("x")
    assert doubled((2, 3), (0,)) == (4, 3)
    assert doubled(KnownShape(x, (2, 3)), (1,)) == (2, 6)
    assert str(doubled(x.shape, 1)) == "doubled(shape(x), 1)"
    assert str(doubled(KnownShape(x, (2, 3)), x)) == "doubled(shape(x), x)"


def test_a_helper_looks_for_symbols_and_known_shapes_inside_tuples() -> None:
    @opaque
    def joined(*shapes: Any) -> int:
        return sum(sum(shape, 0) for group in shapes for shape in group)

    a, b = Symbol("a"), Symbol("b")
    known = KnownShape(a, (2, 3)), KnownShape(b, (4,))
    assert joined(known) == 9
    assert joined((known[0],), ((5,),)) == 10
    assert isinstance(joined((known[0], b.shape)), Symbol)


def test_a_helper_keeps_its_name_and_what_it_says() -> None:
    assert (doubled.__name__, doubled.__doc__) == ("doubled", "Twice as long along the axes.")


def test_a_known_shape_is_still_a_symbol_and_reads_as_one() -> None:
    known = KnownShape(Symbol("权重"), (2, 3))
    assert isinstance(known, Symbol)
    assert known.value == (2, 3)
    assert str(known) == "shape(权重)"
    assert str(known[0]) == "shape(权重)[0]"
    ElementTree.fromstring(known.mathml())


@pytest.mark.parametrize(
    ("index", "text", "latex"),
    [
        (0, "a[0]", r"a\left[0\right]"),
        (-1, "a[−1]", r"a\left[-1\right]"),
        (slice(1, -1), "a[1:−1]", r"a\left[1:-1\right]"),
        (slice(None, None, 2), "a[::2]", r"a\left[::2\right]"),
        ((slice(None), None, ...), "a[:, None, …]", r"a\left[:, None, …\right]"),
        (b, "a[b]", r"a\left[b\right]"),
        ((b, 0), "a[b, 0]", r"a\left[b, 0\right]"),
        (b + 1, "a[b + 1]", r"a\left[b + 1\right]"),
        (-b, "a[−b]", r"a\left[-b\right]"),
    ],
)
def test_an_index_is_written_as_it_is_typed(index: Any, text: str, latex: str) -> None:
    assert str(a[index]) == text
    assert a[index].latex() == latex
    written = "".join(ElementTree.fromstring(a[index].mathml()).itertext())
    assert written == text.replace(" ", "")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"axis": (0, -1)}, "f(a, axis=(0, -1))"),
        ({"axis": (2,)}, "f(a, axis=(2,))"),
        ({"axis": ()}, "f(a, axis=())"),
        ({"axis": 0, "keepdims": True}, "f(a, axis=0, keepdims=True)"),
        ({"axis": None, "keepdims": False}, "f(a)"),
        ({"index": (slice(None), ..., 1)}, "f(a, index=(:, …, 1))"),
        ({"pad": ((1, 0), (2, 3))}, "f(a, pad=((1, 0), (2, 3)))"),
        ({"low": -1.0, "high": 0.25}, "f(a, low=-1, high=0.25)"),
        ({"table": b, "n": 2}, "f(a, b, n=2)"),
        ({"shape": a.shape}, "f(a)"),
    ],
)
def test_options_of_a_call_are_written_by_name_as_they_are_typed(
    options: dict[str, Any], text: str
) -> None:
    assert str(applied("f", [a], options)) == text


def test_a_symbol_of_any_name_is_a_symbol_among_factors() -> None:
    """What makes a product one by a number is that it is one, not what it is called."""
    assert str(Symbol("factor") * a) == "factor ⊙ a"
    assert str(Symbol("2") * a) == "2 ⊙ a"
    assert formula("scale").text() == "y = factor · x\n∂L/∂x = factor · G"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (1 * a, "a"),
        (a * 1, "a"),
        (2 * (a + b), "2 · (a + b)"),
        (2 * (3 * a), "2 · (3 · a)"),
        (a * b * 2, "2 · (a ⊙ b)"),
        (-2 * a - b, "−2 · a − b"),
        (0.1 * a, "0.1 · a"),
        (a.mT.mT, "a"),
        ((a.mT @ b).mT, "(aᵀ b)ᵀ"),
        (a.mT.T, "transpose(aᵀ)"),
    ],
)
def test_products_by_a_number_and_double_transposes_are_made_simple(
    expression: Symbol, text: str
) -> None:
    assert str(expression) == text


@pytest.mark.parametrize(
    ("name", "factor"), [("data X", "(data X)"), ("a+b", "(a+b)"), ("W_Q", "W_Q")]
)
def test_a_name_of_several_words_is_kept_together_in_a_product(name: str, factor: str) -> None:
    assert formula("matmul", {"a": name}).text().splitlines()[0] == f"y = {factor} b"
