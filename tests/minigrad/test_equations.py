"""The equations of one call in a graph: with its names and its options, and true.

What is printed is read back by a small evaluator and held against the values and the gradients of
the call itself. How formulas of an op in general are set is tested in `test_symbol.py`.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import PRIMITIVES, Primitive, Symbol, Tensor, primitive
from minigrad.check.registry import Case, cases_of
from minigrad.equations import argument_names, equations
from minigrad.graph import Node
from minigrad.joint import JointPrimitive, joint_primitive
from minigrad.ops import indexing, probability, reductions
from minigrad.rule import broadcast_axes
from tests.helpers import assert_close, leaf, node_of
from tests.minigrad.test_symbol import HOSTILE, _check_latex

Rng = np.random.Generator

CALLS = [
    (op, number)
    for op in PRIMITIVES.values()
    for number, _ in enumerate(cases_of(op, np.random.default_rng(0)))
]
each_call = pytest.mark.parametrize(
    ("op", "number"), CALLS, ids=[f"{op}-{number}" for op, number in CALLS]
)


def call_of(op: Primitive, number: int, rng: Rng) -> tuple[Case, Node]:
    """One call of an op's example on leaves, and its place in the graph."""
    case = cases_of(op, rng)[number]
    return case, node_of(case(*[leaf(x) for x in case.arrays()]))


def names_for(node: Node) -> list[str]:
    return [f"p{i}" for i in range(len(node.inputs))]


def lines_of(result: Any, *names: str | Symbol, out: str = "y") -> list[str]:
    """The equations of the op that made a tensor, as text."""
    return equations(node_of(result), names, out).text().splitlines()


# --------------------------------------------------------------------------- of every primitive


@each_call
def test_a_call_has_one_rule_for_each_input_that_requires_a_gradient(
    op: Primitive, number: int, rng: Rng
) -> None:
    case, node = call_of(op, number, rng)
    names = names_for(node)
    first, *others = equations(node, names, "result").text().splitlines()
    assert first.startswith("result = ")
    given = [name for name, x in zip(names, node.inputs, strict=True) if isinstance(x, Node)]
    assert all(name in first for name in given)
    assert [line.split(" = ")[0] for line in others] == [f"∂L/∂{names[i]}" for i in case.places]
    assert all("G" in line.split(" = ", 1)[1] for line in others)


@each_call
def test_a_constant_has_no_rule(op: Primitive, number: int, rng: Rng) -> None:
    """Where several inputs could have a gradient, only the last of them asks for one here."""
    case = cases_of(op, rng)[number]
    *constants, last = case.arrays()
    node = node_of(case(*[Tensor(x) for x in constants], leaf(last)))
    found = equations(node, names_for(node), "result")
    assert list(found.rules) == [argument_names(op, len(node.inputs))[case.places[-1]]]


@each_call
def test_the_equations_of_a_call_are_well_formed_in_every_notation(
    op: Primitive, number: int, rng: Rng
) -> None:
    _, node = call_of(op, number, rng)
    found = equations(node, names_for(node), "result")
    _check_latex(found.latex())
    assert found.latex().count(r"\frac{\partial L}") == len(found.rules)
    root = ElementTree.fromstring(found.mathml())
    assert len(root.findall("./mtable/mtr")) == 1 + len(found.rules)
    for text in (found.text(), found.latex(), found.mathml()):
        assert not re.search(r"object at 0x|<Symbol|slice\(|Ellipsis|np\.|array\(", text)


def test_equations_leave_the_graph_as_it_was(rng: Rng) -> None:
    a, b = leaf(rng.normal(size=(2, 3))), leaf(rng.normal(size=(3, 4)))
    y = a @ b
    upstream = rng.normal(size=(2, 4))
    lines_of(y, "a", "b")
    y.backward(upstream)
    assert_close(a.grad, upstream @ b.data.mT)
    assert lines_of(y, "a", "b") == ["y = a b", "∂L/∂a = G bᵀ", "∂L/∂b = aᵀ G"]


# -------------------------------------------------------------- what is printed is what was run

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+\.?\d*(?:e[−+-]?\d+)?)|(?P<option>\w+)=(?=\S)"
    r"|(?P<name>[^\Wᵀ]+)|(?P<sign>.)"
)


class Reading:
    """Evaluates a formula as it is printed: Σ sums over the op's axes, ᵀ swaps the last two."""

    def __init__(self, text: str, names: dict[str, Any], axis: Any) -> None:
        self.tokens = [
            (str(m.lastgroup), str(m[m.lastgroup or 0]))
            for m in _TOKEN.finditer(text)
            if m.lastgroup != "space"
        ]
        self.names, self.axis = names, axis

    def value(self) -> Any:
        result = self.comparison()
        assert not self.tokens, f"not read: {self.tokens}"
        return result

    def peek(self) -> str:
        return self.tokens[0][1] if self.tokens else ""

    def accept(self, *signs: str) -> str:
        return self.tokens.pop(0)[1] if self.peek() in signs and self.tokens else ""

    def expect(self, sign: str) -> None:
        assert self.accept(sign), f"{sign} expected before {self.tokens}"

    def comparison(self) -> Any:
        left = self.total()
        while sign := self.accept("=", "≠", "<", "≤", ">", "≥"):
            right = self.total()
            relations = {"=": np.equal, "≠": np.not_equal, "<": np.less, "≤": np.less_equal}
            relations |= {">": np.greater, "≥": np.greater_equal}
            left = relations[sign](left, right)
        return left

    def total(self) -> Any:
        left = self.term()
        while sign := self.accept("+", "−"):
            right = self.term()
            left = left + right if sign == "+" else left - right
        return left

    def term(self) -> Any:
        if self.accept("Σ"):
            return np.sum(self.term(), axis=self.axis, keepdims=True)
        left = self.signed()
        while True:
            if self.accept("⊙", "·"):
                left = left * self.signed()
            elif self.accept("/"):
                left = left / self.signed()
            elif self.tokens and (self.tokens[0][0] in ("name", "number") or self.peek() in "(√"):
                left = left @ self.signed()
            else:
                return left

    def signed(self) -> Any:
        return -self.signed() if self.accept("−", "-") else self.power()

    def power(self) -> Any:
        base = self.indexed()
        while sign := self.accept("ᵀ", "^"):
            base = base.mT if sign == "ᵀ" else base ** self.indexed()
        return base

    def indexed(self) -> Any:
        base = self.atom()
        while self.accept("["):
            items, many, _ = self.items("]")
            base = base[tuple(items) if many else items[0]]
        return base

    def atom(self) -> Any:
        kind, text = self.tokens.pop(0)
        if kind == "number":
            return float(text.replace("−", "-")) if re.search("[.e]", text) else int(text)
        if kind == "name":
            found = self.names[text]
            if not self.accept("("):
                return found
            items, _, options = self.items(")")
            return found(*items, **options)
        if text == "√":
            return np.sqrt(self.atom())
        if text == "|":
            inside = self.comparison()
            self.expect("|")
            return np.abs(inside)
        if text == "…":
            return ...
        items, many, _ = self.items({"(": ")", "[": "]"}[text])
        return tuple(items) if many or not items else items[0]

    def items(self, end: str) -> tuple[list[Any], bool, dict[str, Any]]:
        """What stands between brackets, whether a comma did, and options by name."""
        items: list[Any] = []
        options: dict[str, Any] = {}
        many = False
        while not self.accept(end):
            if self.tokens[0][0] == "option":
                name = self.tokens.pop(0)[1]
                options[name] = self.item()
            else:
                items.append(self.item())
            if self.accept(","):
                many = True
            else:
                assert self.peek() == end, f"{end} expected before {self.tokens}"
        return items, many, options

    def item(self) -> Any:
        """An expression or a slice."""
        ends: list[Any] = [None]
        while self.peek() not in (",", ")", "]"):
            if self.accept(":"):
                ends.append(None)
            else:
                ends[-1] = self.comparison()
        return ends[0] if len(ends) == 1 else slice(*ends)


NUMPY = """exp log log1p sin cos tanh sign where maximum minimum clip flip cumsum transpose swapaxes
broadcast_to expand_dims squeeze tril pad prod mean var std max min shape""".split()


def vocabulary(shape: tuple[int, ...]) -> dict[str, Any]:
    """What the words in a formula mean; `shape` is the one that fits where none is written."""
    words: dict[str, Any] = {name: getattr(np, name) for name in NUMPY}
    words |= {
        "reshape": lambda x, shape=shape: np.reshape(x, shape),
        "spread": lambda x, axis=None: reductions.spread(x, shape, axis),
        "scatter_add": lambda x, index, shape=shape: minigrad.scatter_add(x, shape, index),
        "take": lambda x, indices, axis=None: np.take(x, indices, axis=axis),
        "concatenate": lambda *arrays, axis=0: np.concatenate(arrays, axis),
        "stack": lambda *arrays, axis=0: np.stack(arrays, axis),
        "astype": lambda x, dtype: x.astype(dtype),
        "divide_or_zero": lambda a, b: np.divide(a, b, out=np.zeros_like(a * b), where=b != 0),
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "softmax": minigrad.softmax,
        "cross_entropy": minigrad.cross_entropy,
    }
    helpers: list[Callable[..., Any]] = [
        indexing.positions,
        probability.divisor,
        probability.one_hot,
        reductions.count,
        reductions.product_of_others,
        reductions.ties,
    ]
    words |= {helper.__name__: helper for helper in helpers}
    texts = ("mean", "sum", "none", "constant")  # of options
    words |= {text: text for text in texts if text not in words}
    return words | {"None": None, "True": True, "nan": np.nan, "inf": np.inf}


def read(text: str, node: Node, names: dict[str, Any], shape: tuple[int, ...]) -> Any:
    """The value of an expression that is printed of a call."""
    options = node.options or {}
    axis = options.get("axis")
    words = {**vocabulary(shape), **options, **names}
    if options.get("reduction") == "mean":
        words["mean"] = "mean"
    return Reading(text, words, axis).value()


def fitted(gradient: Any, shape: tuple[int, ...]) -> Any:
    """As the engine does after every rule: summed over what was broadcast."""
    axes = broadcast_axes(np.shape(gradient), shape)
    assert axes is not None
    return np.sum(gradient, axis=axes).reshape(shape)


# A joint rule is an algorithm: equations only name it.
READ_BACK = [
    (op, number)
    for op, number in CALLS
    if op.name != "einsum" and not isinstance(op, JointPrimitive)
]


@pytest.mark.parametrize(
    ("op", "number"), READ_BACK, ids=[f"{op}-{number}" for op, number in READ_BACK]
)
def test_the_equations_of_a_call_are_what_it_computes(op: Primitive, number: int, rng: Rng) -> None:
    case = cases_of(op, rng)[number]
    leaves = [leaf(x) for x in case.arrays()]
    result = case(*leaves)
    node, upstream = node_of(result), rng.normal(size=result.shape)
    found = equations(node, names_for(node), "result")
    result.backward(upstream)
    rtol = 1e-5 if op.name == "gelu" else 1e-9  # its constants are printed with six digits

    names = {f"p{i}": x for i, x in enumerate(case.args[: len(node.inputs)])}
    names |= {"result": result.data, "G": upstream}
    value = read(str(found.forward), node, names, result.shape)
    assert_close(np.reshape(value, result.shape), result, rtol=rtol)
    for x, rule in zip(leaves, found.rules.values(), strict=True):
        gradient = read(str(rule), node, names, x.shape)
        assert_close(fitted(gradient, x.shape), x.grad, rtol=rtol, atol=1e-15)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a − b − a", -2.0),
        ("a − (b − a)", 6.0),
        ("−a^2 / b ⊙ b", -16.0),
        ("Σ v ⊙ v − a", 10.0),
        ("2 · (Σ v)", 12.0),
        ("w wᵀ", [[5.0]]),
        ("max(v, axis=0)^2", 9.0),
        ("v[::−1][0]", 3.0),
        ("where(v = 2, 1e−1, 0)[1]", 0.1),
    ],
)
def test_the_evaluator_reads_as_a_reader_would(text: str, expected: Any) -> None:
    names = {"a": 4.0, "b": 2.0, "v": np.array([1.0, 2.0, 3.0]), "w": np.array([[1.0, 2.0]])}
    value = Reading(text, vocabulary(()) | names, None).value()
    assert np.array_equal(np.ravel(value), np.ravel(expected))


# ---------------------------------------------------------------------------------------- options


def matrix() -> Tensor:
    return leaf(np.arange(1.0, 7.0).reshape(2, 3))


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (1, "x[1]"),
        (-1, "x[−1]"),
        ((0, -2), "x[0, −2]"),
        (slice(None), "x[:]"),
        (slice(1, None), "x[1:]"),
        (slice(None, -1), "x[:−1]"),
        (slice(None, None, -1), "x[::−1]"),
        ((slice(0, 2), slice(2, 0, -2)), "x[0:2, 2:0:−2]"),
        ((..., 0), "x[…, 0]"),
        ((slice(None), None, 1), "x[:, None, 1]"),
        (None, "x[None]"),
        ([1, 0, 1], "x[index]"),
        ((slice(None), np.array([2, 2])), "x[index]"),
        (np.int64(1), "x[1]"),
        ((np.int32(0), slice(np.int64(1), 3)), "x[0, 1:3]"),
    ],
)
def test_an_index_reads_as_typed_and_an_array_in_it_by_its_parameter(index: Any, text: str) -> None:
    assert lines_of(matrix()[index], "x")[0] == f"y = {text}"


@pytest.mark.parametrize(
    ("make", "lines"),
    [
        (lambda x: minigrad.clip(x, -1.5, 2.0), ["y = clip(x, min=-1.5, max=2)"]),
        (lambda x: x.swapaxes(0, -1), ["y = swapaxes(x, axis1=0, axis2=-1)"]),
        (lambda x: x.mean(-1), ["y = mean(x, axis=-1)", "∂L/∂x = spread(G / 3, axis=-1)"]),
        (lambda x: x.mean(), ["y = mean(x)", "∂L/∂x = spread(G / 6)"]),
        (lambda x: x.sum((0, 1)), ["y = Σ x", "∂L/∂x = spread(G, axis=(0, 1))"]),
        (lambda x: x.sum(np.int64(1)), ["y = Σ x", "∂L/∂x = spread(G, axis=1)"]),
        (lambda x: x.transpose(1, 0), [None, "∂L/∂x = transpose(G, axes=(1, 0))"]),
        (lambda x: x.take([1, 1], 0), ["y = take(x, indices, axis=0)"]),
        (lambda x: x.masked_fill(np.eye(2, 3) > 0, -np.inf), ["y = where(m, −inf, x)"]),
        (lambda x: minigrad.pad(x, ((1, 0), (2, 3))), [None, "∂L/∂x = G[1:3, 2:5]"]),
        (lambda x: minigrad.einsum("ij->j", x), ["y = einsum(x, subscripts=ij->j)"]),
    ],
)
def test_options_stand_in_the_equations_as_they_were_given(
    make: Callable[[Tensor], Any], lines: list[str | None]
) -> None:
    result = make(matrix())
    found = lines_of(result, *["x", "m"][: len(node_of(result).inputs)])
    for line, expected in zip(found, lines, strict=False):
        assert expected in (None, line)


@pytest.mark.parametrize("name", ["var", "std"])
def test_where_the_shape_is_known_the_entries_are_counted(name: str) -> None:
    """As in a mean, whose rule asks for the shape alone."""
    result = getattr(matrix(), name)(axis=1, ddof=1)
    assert "count(" not in lines_of(result, "x")[1]


def test_several_axes_stand_in_parentheses_among_other_arguments() -> None:
    result = leaf(np.ones((2, 3, 4))).prod(axis=(0, -1))
    assert "product_of_others(x, (0, −1))" in lines_of(result, "x")[1]


def test_an_option_that_is_none_is_written_unless_it_would_be_so_anyway() -> None:
    """`softmax(x)` is taken along the last axis, `mean(x)` over all of them."""
    assert lines_of(matrix().logsumexp(), "x")[1] == "∂L/∂x = spread(G) ⊙ softmax(x, axis=None)"
    x = matrix()
    assert lines_of(minigrad.concatenate([x, x], None), "a", "b")[0] == (
        "y = concatenate(a, b, axis=None)"
    )
    assert lines_of(x.mean(), "x")[0] == "y = mean(x)"


# ------------------------------------------------------------------------------- numbers and names


@pytest.mark.parametrize(
    ("make", "lines"),
    [
        (lambda x: 2 - x, ["y = 2 − x", "∂L/∂x = −G"]),
        (lambda x: x - 2, ["y = x − 2", "∂L/∂x = G"]),
        (lambda x: 0.5 / x, ["y = 0.5 / x", "∂L/∂x = −G ⊙ y / x"]),
        (lambda x: x / 4, ["y = x / 4", "∂L/∂x = G / 4"]),
        (lambda x: 2 * x, ["y = 2 · x", "∂L/∂x = 2 · G"]),
        (lambda x: x * -2.5, ["y = −2.5 · x", "∂L/∂x = −2.5 · G"]),
        (lambda x: x * 1e-7, ["y = 1e−07 · x", "∂L/∂x = 1e−07 · G"]),
        (lambda x: x**3, ["y = x^3", "∂L/∂x = 3 · G ⊙ x^2"]),
        (lambda x: x**-1, ["y = x^(−1)", "∂L/∂x = −1 · G ⊙ x^(−2)"]),
        (lambda x: x**2, ["y = x^2", "∂L/∂x = 2 · G ⊙ x"]),
        (lambda x: 2.0**x, ["y = 2^x"]),
        (lambda x: minigrad.maximum(x, 0), ["y = maximum(x, 0)"]),
        (lambda x: minigrad.where(x > 3, 1.5, x), ["y = where(c, 1.5, x)"]),
        (lambda x: x * np.float64(3), ["y = 3 · x", "∂L/∂x = 3 · G"]),
    ],
)
def test_a_number_stands_as_it_is_on_either_side(
    make: Callable[[Tensor], Any], lines: list[str]
) -> None:
    result = make(matrix())
    kinds = [type(x) is Node for x in node_of(result).inputs]
    names = {(True,): ["x"], (True, False): ["x", "?"], (False, True): ["?", "x"]}
    found = lines_of(result, *names.get(tuple(kinds), ["c", "?", "x"]))
    assert found[: len(lines)] == lines
    assert len(found) == 2


def test_a_transpose_of_a_transpose_cancels_in_either_place() -> None:
    a, b = matrix(), leaf(np.ones((3, 4)))
    Q, K = Symbol("Q"), Symbol("K")
    assert lines_of(a @ b, "Q", K.mT) == ["y = Q Kᵀ", "∂L/∂Q = G K", "∂L/∂Kᵀ = Qᵀ G"]
    assert lines_of(a @ b, Q.mT, "K") == ["y = Qᵀ K", "∂L/∂Qᵀ = G Kᵀ", "∂L/∂K = Q G"]
    assert lines_of(a.mT, K.mT) == ["y = K", "∂L/∂Kᵀ = Gᵀ"]
    assert str(K.mT.mT.mT) == "Kᵀ"
    assert str((Q @ K).mT.mT) == "Q K"
    assert str((Q.mT + K).mT) == "(Qᵀ + K)ᵀ"


def test_an_input_that_is_an_expression_is_set_as_one(rng: Rng) -> None:
    y = matrix() @ leaf(rng.normal(size=(3, 4)))
    a, b = Symbol("a"), Symbol("b")
    first, left, right = lines_of(y, a + b, a * b)
    assert first == "y = (a + b) (a ⊙ b)"
    assert left.endswith(" = G (a ⊙ b)ᵀ")
    assert right.endswith(" = (a + b)ᵀ G")
    assert r"{\left(a + b\right)}^{\top}\, G" in equations(node_of(y), [a + b, b], "y").latex()


def test_one_tensor_in_both_places_has_a_rule_for_each() -> None:
    x = matrix()
    assert lines_of(x * x, "x", "x") == ["y = x ⊙ x", "∂L/∂x = G ⊙ x", "∂L/∂x = G ⊙ x"]
    assert list(equations(node_of(x * x), ["x", "x"], "y").rules) == ["a", "b"]


@pytest.mark.parametrize("name", ["factor", "index", "out", "y", "axis", "shape", "1", "k"])
def test_a_tensor_may_have_any_name_a_formula_uses_itself(name: str) -> None:
    a, b = matrix(), matrix()
    assert lines_of(a * b, name, "b") == [
        f"y = {name} ⊙ b",
        f"∂L/∂{name} = G ⊙ b",
        f"∂L/∂b = G ⊙ {name}",
    ]
    assert lines_of(a * 2, name, "") == [f"y = 2 · {name}", f"∂L/∂{name} = 2 · G"]


OPERATORS = ["a b", "a − b", "a + b", "(", "]", "x[0]", "−1", "2 · x", "Σ x", "Kᵀ", "|", "a, b", ""]


@pytest.mark.parametrize("name", [*HOSTILE, *OPERATORS])
def test_a_hostile_name_comes_through_literally_and_escaped_where_it_lands(name: str) -> None:
    a, b = matrix(), leaf(np.ones((3, 4)))
    found = equations(node_of(a @ b), ["Q", name], name)
    # In a product, several words and whatever reads as an operation are kept together.
    factor = f"({name})" if re.search(r"[\s+\-−*/=⊙·^(),]", name) else name
    assert found.text().splitlines() == [
        f"{name} = Q {factor}",
        f"∂L/∂Q = G {factor}ᵀ",
        f"∂L/∂{name} = Qᵀ G",
    ]
    root = ElementTree.fromstring(found.mathml())
    assert [e.text or "" for e in root.iter("mi")].count(name) == 4
    assert {e.tag for e in root.iter()} <= set(
        "math mtable mtr mtd mfrac mrow mi mo msup mspace".split()
    )
    _check_latex(found.latex())
    assert r"\input" not in found.latex()


@pytest.mark.parametrize("name", ["a\x1b[31mred", "bell\x07", "nul\x00", "line\nbreak", "\u202e"])
def test_control_characters_in_a_name_reach_no_notation(name: str) -> None:
    found = equations(node_of(matrix() * 2), [name, ""], name)
    assert len(found.text().splitlines()) == 2
    for text in (found.text(), found.latex(), found.mathml()):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", text)
    ElementTree.fromstring(found.mathml())


# ------------------------------------------------------------------------------------- many inputs


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_stack_gives_each_of_its_inputs_its_own_part(count: int) -> None:
    names = list("abcde"[:count])
    y = minigrad.stack([matrix() for _ in names], axis=1)
    assert lines_of(y, *names) == [
        f"y = stack({', '.join(names)}, axis=1)",
        *[f"∂L/∂{name} = take(G, indices={i}, axis=1)" for i, name in enumerate(names)],
    ]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_concatenation_gives_each_of_its_inputs_its_own_columns(count: int) -> None:
    names = list("abcde"[:count])
    y = minigrad.concatenate([leaf(np.ones((2, i + 1))) for i in range(count)], axis=1)
    bounds = np.cumsum([0, *range(1, count + 1)])
    assert lines_of(y, *names)[1:] == [
        f"∂L/∂{name} = reshape(G[:, {bounds[i]}:{bounds[i + 1]}])" for i, name in enumerate(names)
    ]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_an_einsum_names_its_operands_and_which_of_them_a_gradient_is_for(count: int) -> None:
    names = [*"abcde"[:count]]
    subscripts = ",".join(["ij"] * count) + "->j"
    y = minigrad.einsum(subscripts, *[matrix() for _ in names])
    first, *rules = lines_of(y, *names)
    assert first == f"y = einsum({', '.join(names)}, subscripts={subscripts})"
    assert [rule.split(",")[0] for rule in rules] == [
        f"∂L/∂{name} = einsum_gradient(G" for name in names
    ]
    assert [rule.split(", ")[1] for rule in rules] == [str(i) for i in range(count)]
    assert all(subscripts in rule for rule in rules)


def test_of_many_inputs_only_those_with_a_gradient_have_a_rule() -> None:
    y = minigrad.stack([matrix(), np.ones((2, 3)), matrix()])
    assert lines_of(y, "a", "b", "c")[1:] == [
        "∂L/∂a = take(G, indices=0, axis=0)",
        "∂L/∂c = take(G, indices=2, axis=0)",
    ]


def test_arguments_are_called_as_where_the_op_is_defined() -> None:
    assert argument_names(PRIMITIVES["where"], 3) == ["condition", "x", "y"]
    assert argument_names(PRIMITIVES["einsum"], 1) == ["operands[0]"]
    y = minigrad.concatenate([matrix(), matrix()])
    found = equations(node_of(y), ["a", "b"], "y")
    assert list(found.rules) == argument_names(PRIMITIVES["concatenate"], 2)


# ------------------------------------------------------------- leaves, and ops of one's own


def test_a_leaf_has_no_equations() -> None:
    with pytest.raises(ValueError, match=r"'w' of shape \(2, 3\) is a leaf: no op made it"):
        equations(node_of(leaf(np.ones((2, 3)), name="w")), [], "w")


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b", "c"]])
def test_every_input_needs_a_name(names: list[str]) -> None:
    y = matrix() @ leaf(np.ones((3, 4)))
    with pytest.raises(ValueError, match=rf"matmul has 2 inputs here; {len(names)} names came"):
        equations(node_of(y), names, "y")


def test_equations_outlive_backward() -> None:
    x = matrix()
    y = x[0, 1:] * 2
    y.sum().backward()
    assert lines_of(y, "row", "") == ["y = 2 · row", "∂L/∂row = 2 · G"]


def test_an_op_with_a_joint_rule_shows_what_it_is_composed_of(rng: Rng) -> None:
    def both(g: Any, saved: Any, a: Any, b: Any, *, factor: float) -> Any:
        return g * saved / a, g * saved / b

    @joint_primitive(both, composed=lambda a, b, factor: a * b * factor)
    def product(a: Any, b: Any, *, factor: float = 2.0) -> Any:
        return a * b * factor, a * b * factor

    a, b = leaf(rng.normal(size=(2, 3))), leaf(rng.normal(size=3))
    assert lines_of(product(a, b, factor=4.0), "u", "v") == [
        "y = 4 · (u ⊙ v)",
        "∂L/∂u = both(G, u, v)[0]",
        "∂L/∂v = both(G, u, v)[1]",
    ]
    assert len(lines_of(product(a, Tensor(b.data)), "u", "v")) == 2


def test_an_op_of_ones_own_shows_its_own_options() -> None:
    @primitive(lambda g, x, *, weight, table: g * weight * table)
    def weigh(x: Any, *, weight: float = 1.0, table: Any = None, mode: str = "plain") -> Any:
        if not isinstance(x, np.ndarray):
            raise TypeError("only arrays")
        return x * weight * table

    y = weigh(matrix(), weight=0.25, table=np.ones((2, 3)), mode="odd")
    assert lines_of(y, "x") == [
        "y = weigh(x, table, weight=0.25, mode=odd)",
        "∂L/∂x = 0.25 · G ⊙ table",
    ]


def test_a_text_among_the_options_steers_neither_a_terminal_nor_a_page() -> None:
    @primitive(lambda g, x: g * 2)
    def double(x: Any, *, mode: str = "") -> Any:
        if not isinstance(x, np.ndarray):
            raise TypeError("only arrays")
        return x * 2

    found = equations(node_of(double(matrix(), mode="<b>\x1b[31m\n")), ["x"], "y")
    assert len(found.text().splitlines()) == 2
    for text in (found.text(), found.latex(), found.mathml()):
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", text)
    ElementTree.fromstring(found.mathml())


def test_parameters_of_ones_own_op_may_have_any_name() -> None:
    @primitive(lambda g, out: g * 2, lambda g, index: g * index)
    def odd(out: Any, index: Any) -> Any:
        return out * 2 + index

    y = odd(matrix(), matrix())
    assert lines_of(y, "a", "b") == ["y = 2 · a + b", "∂L/∂a = 2 · G", "∂L/∂b = G ⊙ b"]


def test_an_op_that_stops_on_symbols_in_its_own_way_is_written_as_a_call() -> None:
    @primitive(lambda g, x: g * 2)
    def picky(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            raise LookupError("only arrays")
        return x * 2

    assert lines_of(picky(matrix()), "x") == ["y = picky(x)", "∂L/∂x = 2 · G"]
