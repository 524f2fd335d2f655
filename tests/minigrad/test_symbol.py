"""A rule read as a formula: as text, as LaTeX and as MathML, derived from the code that runs."""

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import PRIMITIVES, Symbol, formula, primitive

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
    assert found.text().splitlines()[0] == f"{name} = {name} b"

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
