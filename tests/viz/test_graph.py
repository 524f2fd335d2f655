"""A recorded graph read as boxes and arrows: held against the record, and against NumPy by hand."""

import inspect
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import minigrad
from attention import SelfAttention, scaled_dot_product_attention
from minigrad import PRIMITIVES, Tensor, joint_primitive, no_grad, primitive, trace
from minigrad.check.registry import cases_of
from minigrad.graph import Node
from minigrad.modes import Watcher, watch
from tests.helpers import Array, assert_close, assert_same, gradient_of, leaf, next_line, node_of
from tests.viz.support import (
    HOSTILE,
    boxes,
    heads,
    keys_of,
    labels,
    normal,
    random_graph,
    recorded,
    shown,
    tensor,
    texts_of,
    upstream,
)
from viz import read_graph
from viz.graph import REST, Arrow, Graph, contribution
from viz.text import outline

SEEDS = range(12)
CAT = "权重 λ"


def formulas(root: Tensor) -> list[str]:
    return [box.formula for box in read_graph(root).ops.values()]


def rules(graph: Graph) -> list[tuple[str, str]]:
    """The tensor that each op passes a gradient to, and its rule."""
    gradients = [arrow for arrow in graph.gradients if arrow.tail in graph.ops]
    return [(graph.tensors[arrow.head].label, arrow.rule) for arrow in gradients]


def notes(root: Tensor) -> dict[str, str]:
    """What is said of each tensor's gradient; its norm if there is one."""
    return {
        box.label: box.gradient_note or f"{box.norm:.3g}"
        for box in read_graph(root).tensors.values()
    }


# --------------------------------------------------------------------- the graph is the record's


@pytest.mark.parametrize("seed", SEEDS)
def test_there_is_a_box_for_every_tensor_and_op_of_the_record(seed: int) -> None:
    root, _ = random_graph(seed)
    graph, nodes = read_graph(root), recorded(root)
    keys = keys_of(graph, root)
    assert set(keys) == set(nodes)
    assert set(keys.values()) == set(graph.tensors)
    for node, key in keys.items():
        assert (graph.tensors[key].shape, graph.tensors[key].dtype) == (node.shape, node.dtype)
    made = [node.primitive.name for node in nodes if node.primitive]
    assert Counter(box.name for box in graph.ops.values()) == Counter(made)
    assert graph.left_out == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_arrows_are_those_of_the_record_and_say_which_argument(seed: int) -> None:
    root, _ = random_graph(seed)
    graph = read_graph(root)
    keys = keys_of(graph, root)
    maker = {arrow.head: arrow.tail for arrow in graph.values if arrow.tail in graph.ops}
    values, gradients = [], []
    for node, key in keys.items():
        if node.primitive is None:
            continue
        values.append((maker[key], key, ""))
        gradients.append((key, maker[key]))
        for argument, parent in arguments(node):
            values.append((keys[parent], maker[key], argument))
            gradients += [(maker[key], keys[parent])] if parent.requires_grad else []
    assert Counter((a.tail, a.head, a.label) for a in graph.values) == Counter(values)
    assert Counter((a.tail, a.head) for a in graph.gradients) == Counter(gradients)


def arguments(node: Node) -> Iterator[tuple[str, Node]]:
    """The inputs that are tensors or arrays, with their names in the op's own signature."""
    assert node.primitive is not None
    names = list(inspect.signature(node.primitive.forward).parameters)
    parents = [(i, x) for i, x in enumerate(node.inputs) if isinstance(x, Node)]
    for i, parent in parents:
        name = f"{names[0]}[{i}]" if node.primitive.many else names[i]
        yield name if len(parents) > 1 else "", parent


class Passed(Watcher):
    """Writes down what really passes in a backward."""

    def __init__(self) -> None:
        self.found: dict[tuple[Node, int], Array] = {}

    def passed(self, node: Any, position: int, upstream: Any, contribution: Any) -> None:
        self.found[node, position] = np.array(contribution)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_norm_at_an_arrow_is_that_of_what_passed_there(seed: int) -> None:
    passed = Passed()
    with trace():
        root, _ = random_graph(seed)
    with watch(passed):
        root.backward(upstream(root))
    graph = read_graph(root)
    keys = keys_of(graph, root)
    maker = {arrow.head: arrow.tail for arrow in graph.values if arrow.tail in graph.ops}
    out_of_ops: dict[str, list[float | None]] = {key: [] for key in graph.ops}
    for arrow in graph.gradients:
        out_of_ops.get(arrow.tail, []).append(arrow.norm)
    expected: dict[str, list[float]] = {key: [] for key in graph.ops}
    for (node, _), array in sorted(passed.found.items(), key=lambda pair: pair[0][1]):
        expected[maker[keys[node]]].append(float(np.sqrt((array**2).sum())))
    for key in graph.ops:
        assert_close(out_of_ops[key], expected[key])
    for node, key in keys.items():
        if node.primitive is not None:
            (into_op,) = [arrow.norm for arrow in graph.gradients if arrow.tail == key]
            assert into_op == graph.tensors[key].norm == pytest.approx(np.linalg.norm(node.grad))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_passes_into_a_tensor_adds_up_to_its_gradient(seed: int) -> None:
    with trace():
        root, leaves = random_graph(seed)
    root.backward(upstream(root))
    for target in (*map(node_of, leaves), *recorded(root)):
        if target is node_of(root) or not target.requires_grad:
            continue
        parts = [
            contribution(user, i)
            for user in recorded(root)
            for i, x in enumerate(user.inputs)
            if x is target
        ]
        assert_close(sum(part for part in parts if part is not None), target.grad, atol=1e-13)
        assert not any(part is None for part in parts)


@pytest.mark.parametrize("seed", SEEDS)
def test_order_is_the_one_in_which_backward_goes(seed: int) -> None:
    passed = Passed()
    root, _ = random_graph(seed)
    with watch(passed):
        root.backward(upstream(root))
    graph = read_graph(root)
    keys = keys_of(graph, root)
    maker = {arrow.head: arrow.tail for arrow in graph.values if arrow.tail in graph.ops}
    visited = [maker[keys[node]] for node in dict.fromkeys(node for node, _ in passed.found)]
    assert sorted(graph.ops, key=lambda key: graph.ops[key].order) == visited
    order = {key: box.order for key, box in graph.ops.items()}
    for key, box in graph.tensors.items():
        users = [arrow.head for arrow in graph.values if arrow.tail == key]
        if box.kind != "leaf":
            assert box.order is None
        else:
            assert box.order is not None
            assert all(order[user] < box.order for user in users)
            order[key] = box.order
    assert sorted(order.values()) == list(range(1, len(order) + 1))


# ----------------------------------------------------------- formulas and norms, computed by hand


def attention_by_hand(given: dict[str, Array], upstream: Array) -> dict[str, Array]:
    """Values, and gradients as "∂x", of one head; what each rule says, written in NumPy."""
    v = dict(given)
    v["Kᵀ"] = v["K"].T
    v["scores"] = v["Q"] @ v["Kᵀ"]
    v["scaled"] = 0.5 * v["scores"]
    powers = np.exp(v["scaled"])
    v["weights"] = powers / powers.sum(axis=-1, keepdims=True)
    v["context"] = v["weights"] @ v["V"]
    v["∂context"] = upstream
    v["∂V"] = v["weights"].T @ v["∂context"]
    v["∂weights"] = v["∂context"] @ v["V"].T
    rows = (v["∂weights"] * v["weights"]).sum(axis=-1, keepdims=True)
    v["∂scaled"] = v["weights"] * (v["∂weights"] - rows)
    v["∂scores"] = 0.5 * v["∂scaled"]
    v["∂Q"] = v["∂scores"] @ v["K"]
    v["∂Kᵀ"] = v["Q"].T @ v["∂scores"]
    v["∂K"] = v["∂Kᵀ"].T
    return v


def attention_graph() -> tuple[Graph, dict[str, Array]]:
    given = {"Q": normal(3, 4), "K": normal(5, 4, seed=1), "V": normal(5, 2, seed=2)}
    with trace():
        context, _ = scaled_dot_product_attention(*[leaf(x, name=n) for n, x in given.items()])
    seed = upstream(context)
    context.backward(seed)
    return read_graph(context), attention_by_hand(given, seed)


def test_the_equations_of_attention_are_those_of_the_blackboard() -> None:
    graph, _ = attention_graph()
    assert [box.formula for box in graph.ops.values()] == [
        "Kᵀ",
        "scores = Q Kᵀ",
        "scaled = 0.5 · scores",
        "weights = exp(scaled) / (Σ exp(scaled))",
        "context = weights V",
    ]
    assert rules(graph) == [
        ("K", "Gᵀ"),
        ("Q", "G K"),
        ("Kᵀ", "Qᵀ G"),
        ("scores", "0.5 · G"),
        ("scaled", "weights ⊙ (G − Σ G ⊙ weights)"),
        ("weights", "G Vᵀ"),
        ("V", "weightsᵀ G"),
    ]


def test_values_and_gradients_of_attention_are_those_computed_by_hand() -> None:
    graph, by_hand = attention_graph()
    for box in graph.tensors.values():
        assert box.value is not None
        assert box.gradient is not None
        assert_close(box.value, by_hand[box.label])
        assert_close(box.gradient, by_hand[f"∂{box.label}"], atol=1e-14)
        assert box.norm == pytest.approx(np.linalg.norm(by_hand[f"∂{box.label}"]))
    for arrow in graph.gradients:
        place = arrow.head if arrow.head in graph.tensors else arrow.tail
        slope = by_hand[f"∂{graph.tensors[place].label}"]
        assert arrow.norm == pytest.approx(np.linalg.norm(slope))


def rows(x: Array) -> Array:
    return np.asarray(x.sum(axis=-1, keepdims=True))


# What is computed of x and y; its formula; and the rule for each input, as it reads and in NumPy.
RULES: list[tuple[Callable[[Any, Any], Any], str, dict[str, tuple[str, Callable[..., Any]]]]] = [
    (
        lambda x, y: x - y,
        "z = x − y",
        {"x": ("G", lambda G, x, y, z: G), "y": ("−G", lambda G, x, y, z: -G)},
    ),
    (
        lambda x, y: x * y,
        "z = x ⊙ y",
        {"x": ("G ⊙ y", lambda G, x, y, z: G * y), "y": ("G ⊙ x", lambda G, x, y, z: G * x)},
    ),
    (
        lambda x, y: x / y,
        "z = x / y",
        {
            "x": ("G / y", lambda G, x, y, z: G / y),
            "y": ("−G ⊙ z / y", lambda G, x, y, z: -G * z / y),
        },
    ),
    (
        lambda x, y: x @ y.mT,
        "z = x yᵀ",
        {"x": ("G y", lambda G, x, y, z: G @ y), "yᵀ": ("xᵀ G", lambda G, x, y, z: x.T @ G)},
    ),
    (lambda x, y: 2 - x, "z = 2 − x", {"x": ("−G", lambda G, x, y, z: -G)}),
    (lambda x, y: x**3, "z = x^3", {"x": ("3 · G ⊙ x^2", lambda G, x, y, z: 3 * G * x**2)}),
    (
        lambda x, y: minigrad.tanh(x),
        "z = tanh(x)",
        {"x": ("G ⊙ (1 − z ⊙ z)", lambda G, x, y, z: G * (1 - z * z))},
    ),
    (
        lambda x, y: minigrad.sqrt(y),
        "z = √(y)",
        {"y": ("G / (2 · z)", lambda G, x, y, z: G / (2 * z))},
    ),
    (
        lambda x, y: minigrad.log_softmax(x),
        "z = x − log(Σ exp(x))",
        {"x": ("G − exp(z) ⊙ (Σ G)", lambda G, x, y, z: G - np.exp(z) * rows(G))},
    ),
    (
        lambda x, y: minigrad.softmax(x),
        "z = exp(x) / (Σ exp(x))",
        {"x": ("z ⊙ (G − Σ G ⊙ z)", lambda G, x, y, z: z * (G - rows(G * z)))},
    ),
    (
        lambda x, y: minigrad.maximum(x, 0.5),
        "z = maximum(x, 0.5)",
        {
            "x": (
                "where(x > 0.5, G, where(x = 0.5, G / 2, 0))",
                lambda G, x, y, z: np.where(x > 0.5, G, np.where(x == 0.5, G / 2, 0)),
            )
        },
    ),
    (
        lambda x, y: minigrad.concatenate([x, y]),
        "z = concatenate(x, y, axis=0)",
        {
            "x": ("reshape(G[0:3])", lambda G, x, y, z: G[0:3]),
            "y": ("reshape(G[3:6])", lambda G, x, y, z: G[3:6]),
        },
    ),
    (
        lambda x, y: minigrad.stack([x, y], axis=1),
        "z = stack(x, y, axis=1)",
        {
            "x": ("take(G, indices=0, axis=1)", lambda G, x, y, z: np.take(G, 0, axis=1)),
            "y": ("take(G, indices=1, axis=1)", lambda G, x, y, z: np.take(G, 1, axis=1)),
        },
    ),
    (
        lambda x, y: x.mean(axis=1, keepdims=True),
        "z = mean(x, axis=1, keepdims=True)",
        {
            "x": (
                "spread(G / 4, axis=1)",
                lambda G, x, y, z: np.broadcast_to(G / 4, x.shape),
            )
        },
    ),
]


@pytest.mark.parametrize(("compute", "equation", "by_hand"), RULES, ids=[row[1] for row in RULES])
def test_a_rule_reads_as_what_it_computes(
    compute: Callable[[Any, Any], Any],
    equation: str,
    by_hand: dict[str, tuple[str, Callable[..., Any]]],
) -> None:
    x, y = normal(3, 4), np.abs(normal(3, 4, seed=1)) + 0.5
    with trace():
        out = compute(leaf(x, name="x"), leaf(y, name="y"))
        out.name = "z"
    G = upstream(out)
    out.backward(G)
    graph = read_graph(out)
    box = graph.ops[next(arrow.tail for arrow in graph.values if arrow.head == graph.root)]
    assert box.formula == equation
    gradients = [arrow for arrow in graph.gradients if arrow.tail == box.key]
    assert len(gradients) == len(by_hand)
    for arrow in gradients:
        rule, numpy = by_hand[graph.tensors[arrow.head].label]
        assert arrow.rule == rule
        assert arrow.norm == pytest.approx(np.linalg.norm(numpy(G, x, y, np.asarray(out))))


@pytest.mark.parametrize("name", PRIMITIVES)
def test_every_op_of_the_engine_is_drawn_with_its_equation_and_rules(name: str) -> None:
    for case in cases_of(PRIMITIVES[name], np.random.default_rng(0)):
        values = [leaf(x, name=f"leaf {i}") for i, x in enumerate(case.arrays())]
        with trace():
            outs = case(*values)
        out = outs[0] if isinstance(outs, list) else outs
        out.backward(upstream(out))
        graph = read_graph(out)
        assert not [box.formula for box in graph.ops.values() if box.formula.endswith("(…)")]
        assert [label for label, _ in rules(graph)] == [value.name for value in values]
        for arrow in graph.gradients:
            assert arrow.norm is not None
            if arrow.tail in graph.ops:
                assert "G" in arrow.rule
                head = graph.tensors[arrow.head]
                assert head.gradient is not None
                assert arrow.norm == head.norm == pytest.approx(np.linalg.norm(head.gradient))


def test_a_broadcast_input_is_shown_with_what_it_really_gets() -> None:
    x, b = normal(3, 4), normal(4, seed=1)
    with trace():
        out = leaf(x, name="x") + leaf(b, name="b")
    seed = upstream(out)
    out.backward(seed)
    graph = read_graph(out)
    norms = {graph.tensors[a.head].label: a.norm for a in graph.gradients if a.tail in graph.ops}
    assert norms == {
        "x": pytest.approx(np.linalg.norm(seed)),
        "b": pytest.approx(np.linalg.norm(seed.sum(axis=0))),
    }


# ------------------------------------------------------------------------------ nothing is changed


def everything(root: Tensor) -> list[Any]:
    """All that a graph holds, by identity and to the last bit."""
    found: list[Any] = []
    for node in sorted(recorded(root), key=lambda node: node.serial):
        slots = {name: getattr(node, name) for name in Node.__slots__ if name != "__dict__"}
        for name, value in {**slots, **vars(node)}.items():
            found.append((node.serial, name, id(value), [*contents(value)]))
    return found


def contents(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        yield value.tobytes(), value.flags.writeable
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key, id(inner), [*contents(inner)]


def product_rule(g: Any, saved: Any, a: Any, b: Any) -> Any:
    return g * saved / a, g * saved / b


@joint_primitive(product_rule, composed=lambda a, b: a * b)
def joint_product(a: Any, b: Any) -> Any:
    return a * b, a * b


def two_leaves() -> list[Tensor]:
    return [leaf([2.0, 3.0, 5.0], name="a"), leaf([7.0, 11.0, 13.0], name="b")]


CASES: dict[str, Callable[[], tuple[Tensor, list[Tensor]]]] = {
    **{f"random {seed}": partial(random_graph, seed) for seed in range(3)},
    "joint": lambda: (lambda ab: (joint_product(*ab), ab))(two_leaves()),
    "lone leaf": lambda: (lambda ab: (ab[0], ab[:1]))(two_leaves()),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("is_traced", [False, True])
@pytest.mark.parametrize("when", ["before", "retained", "after"])
def test_reading_changes_nothing(case: str, is_traced: bool, when: str) -> None:
    with trace() if is_traced else minigrad.enable_grad():
        root, leaves = CASES[case]()
    if when != "before":
        root.backward(upstream(root), retain_graph=when == "retained")
    tensors = [root, *leaves]
    tokens, before = [t._token for t in tensors], everything(root)
    arrays = [t._data for t in tensors]
    own = [token for token in tokens if token is not None]  # everybody has None
    holders = [sys.getrefcount(token) for token in own]
    read_graph(root)
    assert [sys.getrefcount(token) for token in own] == holders  # or writing would copy
    assert everything(root) == before
    assert all(t._token is token for t, token in zip(tensors, tokens, strict=True))
    assert all(t._data is array for t, array in zip(tensors, arrays, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_a_backward_after_reading_gives_the_same_bits(case: str) -> None:
    found = []
    for is_read in (False, True):
        with trace():
            root, leaves = CASES[case]()
        for seed in (1, 2, 3):
            if is_read:
                read_graph(root)
            root.backward(upstream(root, seed), retain_graph=seed < 3)
        found.append([gradient_of(x).tobytes() for x in leaves])
    assert found[0] == found[1]


def test_a_joint_rule_is_shown_with_what_it_passed_and_passes_the_right_thing_later() -> None:
    with trace():
        root, leaves = CASES["joint"]()
    for scale in (1.0, 10.0, 100.0):
        for x in leaves:
            x.grad = None
        seed = scale * upstream(root)
        root.backward(seed, retain_graph=True)
        expected = [seed * [7.0, 11.0, 13.0], seed * [2.0, 3.0, 5.0]]
        assert_close(gradient_of(leaves[0]), expected[0])
        assert_close(gradient_of(leaves[1]), expected[1])
        norms = [arrow.norm for arrow in read_graph(root).gradients][:2]
        assert_close(norms, [np.linalg.norm(slope) for slope in expected])


def test_a_joint_op_runs_again_only_if_what_it_saved_is_gone() -> None:
    runs = []

    @joint_primitive(product_rule, composed=lambda a, b: a * b)
    def counted(a: Any, b: Any) -> Any:
        runs.append(1)
        return a * b, a * b

    with trace():
        root = counted(*two_leaves())
    root.backward(upstream(root), retain_graph=True)
    read_graph(root)
    assert len(runs) == 1
    root.backward(upstream(root))
    assert read_graph(root).gradients[0].norm is not None
    assert len(runs) > 1


def test_a_joint_rule_is_shown_after_everything_was_let_go() -> None:
    with trace():
        root, _ = CASES["joint"]()
    seed = upstream(root)
    root.backward(seed)
    graph = read_graph(root)
    assert [arrow.rule for arrow in graph.gradients] == [
        "product_rule(G, a, b)[0]",
        "product_rule(G, a, b)[1]",
        "",
    ]
    expected = [np.linalg.norm(seed * [7.0, 11.0, 13.0]), np.linalg.norm(seed * [2.0, 3.0, 5.0])]
    assert_close([arrow.norm for arrow in graph.gradients][:2], expected)


def test_reading_says_nothing_that_backward_has_said_before() -> None:
    """A division by zero is no reason to warn again."""
    x = leaf([0.0, 1.0], name="x")
    with np.errstate(divide="ignore"), trace():
        out = minigrad.log(x)
        out.backward(np.ones(2))
    (first, _) = read_graph(out).gradients
    assert first.norm == math.inf


def test_what_a_graph_holds_cannot_be_written_to() -> None:
    graph, _ = attention_graph()
    for box in graph.tensors.values():
        for array in (box.value, box.gradient):
            assert array is not None
            assert not array.flags.writeable


def test_data_changed_since_is_shown_as_it_was_recorded() -> None:
    x = leaf([2.0, 3.0], name="x")
    with trace():
        out = x * x
    x.data[:] = 100.0
    out.data[:] = 100.0
    assert_same(tensor(read_graph(out), "x").value, [2.0, 3.0])
    assert_same(tensor(read_graph(out), "t1").value, [4.0, 9.0])


def test_reading_again_gives_the_same() -> None:
    root, _ = random_graph(3)
    first, second = read_graph(root), read_graph(root)
    assert [*texts_of(first)] == [*texts_of(second)]
    assert (first.values, first.gradients) == (second.values, second.gradients)


# -------------------------------------------------------------- gradients, and why there are none


def chain() -> tuple[Tensor, Tensor, Tensor]:
    x = leaf([1.0, 2.0], name="x")
    h = x * 3
    h.name = "h"
    out = (h * h).sum()
    out.name = "out"
    return x, h, out


def test_before_backward_nothing_is_computed_yet() -> None:
    _, _, out = chain()
    graph = read_graph(out)
    assert {box.gradient_note for box in graph.tensors.values()} == {"none yet"}
    assert {box.norm for box in graph.tensors.values()} == {None}
    assert {arrow.norm for arrow in graph.gradients} == {None}


def test_after_backward_what_was_not_kept_is_said_to_be_so() -> None:
    _, _, out = chain()
    out.backward()
    assert notes(out) == {"x": "40.2", "h": "not kept", "t1": "not kept", "out": "not kept"}
    assert {arrow.norm for arrow in read_graph(out).gradients} == {None}


def test_under_trace_every_gradient_is_kept() -> None:
    with trace():
        _, _, out = chain()
    assert set(notes(out).values()) == {"none yet"}
    out.backward()
    assert notes(out) == {"x": "40.2", "h": "13.4", "t1": "1.41", "out": "1"}


def test_retain_grad_keeps_one_gradient() -> None:
    _, h, out = chain()
    h.retain_grad()
    out.backward(retain_graph=True)
    assert notes(out) == {"x": "40.2", "h": "13.4", "t1": "none", "out": "none"}
    graph = read_graph(out)
    known = [arrow for arrow in graph.gradients if arrow.norm is not None]
    ends = [(arrow.tail, arrow.head) for arrow in known]
    multiply = graph.ops[next(a.head for a in graph.values if a.tail == tensor(graph, "x").key)]
    assert ends == [
        (multiply.key, tensor(graph, "x").key),
        (tensor(graph, "h").key, multiply.key),
    ]
    assert_close([arrow.norm for arrow in known], [np.sqrt(54**2 * 5 / 9), np.sqrt(180)])


@pytest.mark.parametrize("retain", [False, True])
def test_a_leaf_whose_gradient_was_cleared_has_none_yet_again(retain: bool) -> None:
    with trace():
        x, _, out = chain()
    out.backward(retain_graph=retain)
    x.grad = None
    assert notes(out)["x"] == "none yet"
    assert notes(out)["h"] == "13.4"


def test_after_the_leaves_were_cleared_intermediates_are_still_not_kept() -> None:
    x, _, out = chain()
    out.backward()
    x.grad = None
    assert notes(out) == {"x": "none yet", "h": "not kept", "t1": "not kept", "out": "not kept"}


def test_an_old_gradient_of_a_leaf_does_not_say_that_this_graph_was_gone_through() -> None:
    x = leaf([1.0, 2.0], name="x")
    (x * 3).sum().backward()
    h = x * x
    h.name = "h"
    assert notes(h.sum())["h"] == "none"
    with trace():
        h = x * x
    h.name = "h"
    assert notes(h.sum())["h"] == "none yet"


def test_a_leaf_shows_what_it_has_collected_and_arrows_what_the_last_backward_passed() -> None:
    with trace():
        _, _, out = chain()
    out.backward(retain_graph=True)
    out.backward(retain_graph=True)
    assert notes(out) == {"x": "80.5", "h": "13.4", "t1": "1.41", "out": "1"}
    graph = read_graph(out)
    (arrow,) = [a for a in graph.gradients if a.head == tensor(graph, "x").key]
    assert arrow.norm == pytest.approx(18 * np.sqrt(5))


def test_a_hook_that_changes_a_gradient_changes_what_passes_on() -> None:
    with trace():
        x, h, out = chain()
    h.register_hook(lambda gradient: -10 * gradient)
    out.backward()
    assert_same(gradient_of(x), [-180.0, -360.0])
    graph = read_graph(out)
    (arrow,) = [a for a in graph.gradients if a.head == tensor(graph, "x").key]
    assert arrow.norm == pytest.approx(np.linalg.norm([180.0, 360.0]))
    assert tensor(graph, "h").norm == pytest.approx(np.linalg.norm([60.0, 120.0]))


def test_a_gradient_of_exactly_zero_is_known_to_be_zero() -> None:
    x = leaf([1.0, 2.0], name="x")
    with trace():
        out = x * 0.0
    out.backward(np.ones(2))
    graph = read_graph(out)
    assert tensor(graph, "x").norm == 0.0
    assert [arrow.norm for arrow in graph.gradients] == [0.0, pytest.approx(np.sqrt(2))]


@pytest.mark.parametrize(("bad", "norm"), [(np.nan, math.nan), (np.inf, math.inf)])
def test_a_gradient_that_is_not_finite_has_no_finite_norm(bad: float, norm: float) -> None:
    x = leaf([1.0, 2.0, 3.0], name="x")
    with trace():
        out = x + 1
    out.backward(np.array([bad, 1.0, np.inf]))
    for arrow in read_graph(out).gradients:
        assert_same(arrow.norm, norm)


def test_no_gradient_arrow_leads_to_an_input_without_a_rule() -> None:
    @primitive(lambda g, mask: g * mask, None)
    def masked(x: Any, mask: Any) -> Any:
        return x * mask

    with trace():
        out = masked(leaf([1.0, 2.0], name="x"), leaf([0.0, 1.0], name="mask"))
    graph = read_graph(out)
    assert [graph.tensors[a.head].label for a in graph.gradients if a.tail in graph.ops] == ["x"]


def test_no_gradient_arrow_leads_to_a_constant() -> None:
    x = leaf([1.0, 2.0], name="x")
    out = (x * Tensor([3.0, 4.0], name="c") + np.array([5.0, 6.0])) * x.detach()
    graph = read_graph(out)
    constants = {key for key, box in graph.tensors.items() if box.kind == "constant"}
    assert len(constants) == 3
    assert constants.isdisjoint(arrow.head for arrow in graph.gradients)
    assert {graph.tensors[key].gradient_note for key in constants} == {"constant"}


def test_gradients_can_be_left_out() -> None:
    with trace():
        _, _, out = chain()
    out.backward()
    assert read_graph(out, gradients=False).gradients == []


# ------------------------------------------------------------------------------ kinds, and odd ones


def test_kinds_are_told_apart() -> None:
    layer = SelfAttention(4, 3, 5)
    loss = (layer(normal(2, 4))[0] * leaf(normal(2, 5), name="v")).sum()
    graph = read_graph(loss, parameters=[layer, leaf(1.0)])
    kinds: dict[str, set[str]] = {}
    for box in graph.tensors.values():
        kinds.setdefault(box.kind, set()).add(box.label)
    assert kinds["parameter"] == {"W_Q", "W_K", "W_V"}
    assert kinds["leaf"] == {"v"}
    assert kinds["constant"] == {"X"}
    assert kinds["root"] == {graph.tensors[graph.root].label}
    assert kinds["intermediate"] >= {"Q", "K", "V", "scores", "scaled", "weights", "context"}


def test_a_frozen_parameter_is_still_a_parameter() -> None:
    w = leaf([1.0, 2.0], name="w")
    w.requires_grad = False
    graph = read_graph(leaf([1.0, 2.0]) * w, parameters=[w])
    assert (tensor(graph, "w").kind, tensor(graph, "w").gradient_note) == ("parameter", "constant")


def test_parameters_may_come_one_by_one_or_from_a_generator() -> None:
    a, b = two_leaves()
    for given in ((x for x in [b]), [b], b):
        graph = read_graph(a * b, parameters=given)
        assert (tensor(graph, "a").kind, tensor(graph, "b").kind) == ("leaf", "parameter")


def test_a_layer_s_parameters_may_come_without_brackets() -> None:
    layer = SelfAttention(4, 3)
    graph = read_graph(layer(normal(2, 4))[0], parameters=layer)
    assert tensor(graph, "W_Q").kind == "parameter"


@pytest.mark.parametrize(
    "lone",
    [
        leaf(3.0, name="it"),
        leaf(np.zeros((0, 3)), name="it"),
        Tensor([1.0, 2.0], name="it"),
        Tensor([True, False], name="it"),
    ],
)
def test_a_lone_tensor_is_a_graph_of_one_box(lone: Tensor) -> None:
    graph = read_graph(lone)
    (box,) = graph.tensors.values()
    assert (box.label, box.shape, box.dtype) == ("it", lone.shape, lone.dtype)
    assert (graph.ops, graph.values, graph.gradients) == ({}, [], [])
    assert_same(box.value, lone.numpy())
    assert box.kind == ("leaf" if lone.requires_grad else "constant")


def test_a_tensor_that_was_never_recorded_stays_so() -> None:
    bare = Tensor([1.0, 2.0])
    with no_grad():
        made = leaf([1.0, 2.0]) * 2
    for lone in (bare, made):
        assert labels(read_graph(lone)) == ["t1"]
        assert lone._node is None


def test_constants_alone_are_a_graph_of_one_box() -> None:
    out = Tensor([1.0, 2.0]) * Tensor([3.0, 4.0])
    graph = read_graph(out)
    assert [box.kind for box in graph.tensors.values()] == ["constant"]
    assert graph.ops == {}


def test_a_detached_tensor_starts_anew() -> None:
    x = leaf([1.0, 2.0], name="x")
    cut = (x * x).detach()
    cut.name = "cut"
    graph = read_graph(leaf([1.0, 2.0], name="y") * cut)
    assert sorted(labels(graph)) == ["cut", "t1", "y"]


def test_a_leaf_frozen_since_is_shown_as_it_was_recorded() -> None:
    x = leaf([1.0, 2.0], name="x")
    out = x * 2
    x.requires_grad = False
    assert tensor(read_graph(out), "x").kind == "leaf"
    assert [box.kind for box in read_graph(x).tensors.values()] == ["constant"]


def test_single_precision_stays_so() -> None:
    x = leaf(np.array([1.0, 2.0], dtype=np.float32), name="x")
    with trace():
        out = x * 2
    out.backward(np.ones(2))
    box = tensor(read_graph(out), "x")
    assert box.dtype == np.float32
    assert box.gradient is not None
    assert box.gradient.dtype == np.float32


def test_empty_arrays_have_a_gradient_of_norm_0() -> None:
    x = leaf(np.zeros((0, 3)), name="x")
    with trace():
        out = (x * 2).sum()
    out.backward()
    assert tensor(read_graph(out), "x").norm == 0.0


def test_numbers_of_an_op_are_no_boxes() -> None:
    (box,) = read_graph(2.5 - leaf([1.0, 2.0], name="x")).ops.values()
    assert box.numbers == (("a", 2.5),)
    assert box.formula == "t1 = 2.5 − x"


def test_lines_are_known_under_trace() -> None:
    x = leaf([1.0, 2.0])
    with trace():
        line = next_line()
        out = x * 2
    (box,) = read_graph(out).ops.values()
    assert box.line == (__file__, line)
    (box,) = read_graph(x * 2).ops.values()
    assert box.line is None


def test_second_derivatives_are_graphs_too() -> None:
    x = leaf([1.5, 2.0], name="x")
    with trace():
        (slope,) = minigrad.grad((x**3).sum(), x, create_graph=True)
        out = (slope * slope).sum()
    out.backward()
    graph = read_graph(out)
    assert set(keys_of(graph, out)) == set(recorded(out))
    assert_close(tensor(graph, "x").gradient, 36 * np.array([1.5, 2.0]) ** 3)
    into = [arrow for arrow in graph.gradients if arrow.head == tensor(graph, "x").key]
    assert_close(sum(arrow.norm or 0.0 for arrow in into), tensor(graph, "x").norm)


def test_an_op_of_a_student_s_own_that_branches_on_values_is_drawn_by_its_name() -> None:
    @primitive(lambda g, x: 2.0 * g)
    def by_sign(x: Any, *, slope: float = 1.0) -> Any:
        return x * 2.0 if (x > 0).all() else x * slope

    @primitive(lambda g, x: g * {"a": 1}[x.name])
    def odd(x: Any) -> Any:
        return x + 0.0

    x = leaf([1.0, 2.0], name="x")
    assert formulas(by_sign(x, slope=0.5)) == ["t1 = by_sign(x, slope=0.5)"]
    assert formulas(odd(x)) == ["t1 = odd(…)"]
    assert [a.rule for a in read_graph(odd(x)).gradients] == ["", ""]


def test_a_rule_that_is_not_needed_is_not_read() -> None:
    @primitive(lambda g, y: g * y, lambda g, x: g.no_such_thing)
    def weighted(x: Any, y: Any) -> Any:
        return x * y

    graph = read_graph(weighted(leaf([1.0, 2.0], name="x"), Tensor([3.0, 5.0], name="y")))
    assert [box.formula for box in graph.ops.values()] == ["t1 = x ⊙ y"]
    assert rules(graph) == [("x", "G ⊙ y")]


def test_an_op_of_a_student_s_own_that_repeats_itself_does_not_fill_the_memory() -> None:
    """Newton's method: each step names the one before twice, so 24 steps are 16 million names."""

    @primitive(lambda g, x: g)
    def newton(x: Any) -> Any:
        y = x * 1.0
        for _ in range(16):
            y = 0.5 * (y + x / y)
        return y

    (formula,) = formulas(newton(leaf([1.0, 2.0], name="x")))
    assert len(formula) < 100_000


def test_the_position_in_an_einsum_of_one_operand_is_a_number() -> None:
    graph = read_graph(minigrad.einsum("ijk->ki", leaf(normal(2, 3, 4), name="x")))
    assert rules(graph) == [("x", "einsum_gradient(G, 0, x, ijk->ki)")]


# --------------------------------------------------------------------------------- names and texts


def test_named_tensors_carry_their_names() -> None:
    names = ["Q", CAT, "<b>|{}\\", "layer1:weight"]
    total = sum([leaf([1.0, 2.0], name=name) for name in names], Tensor([0.0, 0.0], name="zero"))
    assert {"zero", *names} < set(labels(read_graph(total)))


def test_made_up_names_are_numbered_by_age_and_never_taken_twice() -> None:
    taken = leaf([1.0, 2.0], name="t2")
    out = (leaf([1.0, 2.0]) * taken + 1) * 2
    out.name = "t4"
    graph = read_graph(out)
    assert labels(graph) == ["t1", "t2", "t3", "t5", "t4"]
    assert [box.formula for box in graph.ops.values()] == [
        "t3 = t1 ⊙ t2",
        "t5 = t3 + 1",
        "t4 = 2 · t5",
    ]


def test_the_same_name_may_be_given_twice() -> None:
    a, b = leaf([1.0, 2.0], name="w"), leaf([1.0, 2.0], name="w")
    graph = read_graph(a * b + leaf([1.0, 2.0]))
    assert Counter(labels(graph)) == Counter(["w", "w", "t1", "t2", "t3"])


def test_tensors_of_one_name_are_told_apart_in_equations_by_a_mark() -> None:
    first, second, third = (leaf([1.0, 2.0], name="w") for _ in range(3))
    graph = read_graph(third * second - first)
    assert [(box.label, box.mark) for box in graph.tensors.values()] == [
        ("w", "₃"),
        ("w", "₂"),
        ("t1", ""),
        ("w", ""),
        ("t2", ""),
    ]
    assert [box.formula for box in graph.ops.values()] == ["t1 = w₃ ⊙ w₂", "t2 = t1 − w"]
    assert rules(graph) == [("w", "G ⊙ w₂"), ("w", "G ⊙ w₃"), ("t1", "G"), ("w", "−G")]


def test_tensors_without_a_name_are_called_as_the_variables_that_hold_them() -> None:
    x = leaf([1.0, 2.0])
    hidden = x * 2
    named = hidden + 1
    named.name = "own"
    found = {"x": x, "again": x, "_private": hidden, "named": named, "number": 3, "lost": leaf(1.0)}
    assert labels(read_graph(named, variables=found)) == ["x", "t1", "own"]
    assert [n._node and n._node.name for n in (x, hidden)] == [None, None]


def test_a_mark_makes_no_name_that_another_tensor_has() -> None:
    taken = [leaf([1.0, 2.0], name=name) for name in ("w", "w", "w₂", "w₃")]
    graph = read_graph(minigrad.stack(taken))
    called = [box.label + box.mark for box in graph.tensors.values()]
    assert len(set(called)) == len(called) == 5


def test_transposes_and_entries_are_called_by_what_they_are() -> None:
    x = leaf(normal(3, 4), name="x")
    out = x.mT @ x[0:3] + x[0:3].mT @ x
    graph = read_graph(out)
    assert labels(graph)[:3] == ["x", "xᵀ", "x[0:3]"]
    assert "x[0:3]ᵀ" not in labels(graph)  # of another x[0:3], which has a label of its own
    assert next(box.formula for box in graph.ops.values()) == "xᵀ"


def test_an_expression_in_the_place_of_a_name_keeps_its_parentheses() -> None:
    x = leaf(normal(3, 4), name="x")
    y = x.mT
    assert formulas(y**2)[-1] == "t1 = (xᵀ)^2"
    assert formulas(y[0])[-1] == "(xᵀ)[0]"


def test_a_long_description_gives_way_to_a_number() -> None:
    x = leaf(normal(3, 4), name="a rather long name")
    assert labels(read_graph(x.mT)) == ["a rather long name", "t1"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_become_one_line_of_visible_text(name: str) -> None:
    with minigrad.scope(name):
        out = leaf([1.0, 2.0], name=name) * 2
    graph = read_graph(out)
    assert shown(name) in labels(graph)
    assert all(text.isprintable() for text in texts_of(graph))
    (box,) = read_graph(out + 1, collapse="*").folds.values()
    assert box.label == shown(name)


def test_a_name_of_more_than_one_word_is_kept_together_in_equations() -> None:
    """A product of matrices is written as names side by side."""
    X, W = leaf(normal(3, 4), name="data X"), leaf(normal(4, 2), name="weights W")
    (equation,) = formulas(X @ W)
    assert equation != "t1 = data X weights W"
    a = leaf([1.0, 2.0], name="a + b")
    (equation,) = formulas(a * leaf([1.0, 2.0], name="c"))
    assert equation != "t1 = a + b ⊙ c"


def test_options_are_visible_text() -> None:
    @primitive(lambda g: g)
    def told(x: Any, *, how: str) -> Any:
        return x * 1.0 if isinstance(x, np.ndarray) else x.no_such_thing

    graph = read_graph(told(leaf([1.0, 2.0], name="x"), how="\x1b[2J\n\u202e<b>"))
    assert [box.formula for box in graph.ops.values()] == ["t1 = told(x, how=�[2J��<b>)"]
    assert "\x1b" not in outline(graph)


# ------------------------------------------------------------------------- not more than so many


def wide() -> Tensor:
    _, out = heads(4)
    return out


def long() -> Tensor:
    x = leaf([1.0, 2.0], name="x")
    for _ in range(10):
        x = minigrad.tanh(x * leaf([1.0, 2.0]))
    return x


GRAPHS: dict[str, Callable[[], Tensor]] = {
    "wide": wide,
    "long": long,
    "random": lambda: random_graph(2)[0],
    "attention": lambda: SelfAttention(4, 3, 5)(normal(2, 4))[0],
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("collapse", [(), "head [13]"])
def test_however_few_boxes_there_may_be_the_drawing_hangs_together(
    name: str, collapse: str | tuple[str, ...]
) -> None:
    if collapse and name != "wide":
        pytest.skip("it has no scopes")
    root = GRAPHS[name]()
    whole = len(boxes(read_graph(root, collapse=collapse)))
    total = len([node for node in recorded(root) if node.primitive])
    before: set[int] = set()
    for most in range(1, whole + 2):
        graph = read_graph(root, max_nodes=most, collapse=collapse)
        declared = boxes(graph)
        assert len(declared - {REST}) <= most
        arrows = [*graph.values, *graph.gradients]
        assert {key for arrow in arrows for key in (arrow.tail, arrow.head)} <= declared
        assert (graph.left_out == 0) == (most >= whole)
        shown_ops = len(graph.ops) + sum(box.ops * box.times for box in graph.folds.values())
        assert shown_ops + graph.left_out == total or collapse
        assert reached(graph) == declared
        visited = {box.order for box in graph.ops.values()}
        assert before <= visited  # a larger drawing shows all that a smaller one does
        before = visited


def reached(graph: Graph) -> set[str]:
    """The boxes that lead to the root."""
    found, waiting = {graph.root}, [graph.root]
    while waiting:
        head = waiting.pop()
        tails = {arrow.tail for arrow in graph.values if arrow.head == head} - found
        found |= tails
        waiting += tails
    return found


def test_one_box_is_the_root_and_one_more_stands_for_the_rest() -> None:
    root = long()
    graph = read_graph(root, max_nodes=1)
    assert [*graph.tensors] == [graph.root]
    assert (graph.ops, graph.left_out) == ({}, 20)
    assert graph.values == [Arrow(REST, graph.root)]


def test_what_is_kept_is_the_end_of_a_chain_that_leads_to_the_root() -> None:
    graph = read_graph(long(), max_nodes=7)
    assert [box.name for box in graph.ops.values()] == ["tanh", "multiply", "tanh"]
    assert [box.order for box in graph.ops.values()] == [4, 2, 1]
    assert graph.left_out == 17
    assert [a.head in graph.ops for a in graph.values if a.tail == REST] == [True]
    assert [a.tail in graph.ops for a in graph.gradients if a.head == REST] == [True]


def test_what_is_shown_are_the_last_ops_that_were_computed() -> None:
    """As the drawing says."""
    root = wide()
    made = sorted([node.serial for node in recorded(root) if node.primitive], reverse=True)
    whole = {box.order: box.formula for box in read_graph(root).ops.values()}
    assert len(whole) == len(made)
    for most in range(1, 20):
        orders = sorted(box.order for box in read_graph(root, max_nodes=most).ops.values())
        assert orders == sorted(whole)[: len(orders)]


@pytest.mark.parametrize("most", [0, -1])
def test_no_boxes_at_all_are_refused(most: int) -> None:
    with pytest.raises(ValueError, match=f"at least 1; it is {most}"):
        read_graph(long(), max_nodes=most)


@pytest.mark.parametrize("wrong", [np.ones(2), 3.0, None, "x"])
def test_only_tensors_have_graphs(wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"not from a {type(wrong).__name__}"):
        read_graph(wrong)


# ------------------------------------------------------------------------------- very large graphs


def test_60_doublings_are_60_ops() -> None:
    x = leaf([1.0, 2.0], name="x")
    y: Tensor = x
    with trace():
        for _ in range(60):
            y = y + y
    y.backward(np.ones(2))
    graph = read_graph(y)
    assert (len(graph.ops), len(graph.values)) == (60, 180)
    assert_same(tensor(graph, "x").gradient, [2.0**60, 2.0**60])


@pytest.mark.slow
def test_100000_ops_in_a_row_are_read() -> None:
    y = leaf([1.0, 2.0], name="x")
    for _ in range(100_000):
        y = y + 0.001
    graph = read_graph(y)
    assert graph.left_out == 100_000 - len(graph.ops)
    assert 390 <= len(graph.tensors) + len(graph.ops) <= 400
    assert len(outline(graph).splitlines()) == len(graph.tensors) + 1


def ten_thousand() -> Tensor:
    x = leaf([1.0, 2.0], name="x")
    total: Tensor = minigrad.stack([x * 2.0 for _ in range(10_000)])
    return total.sum()


@pytest.mark.slow
def test_10000_ops_side_by_side_make_no_more_arrows_than_can_be_drawn() -> None:
    graph = read_graph(ten_thousand())
    assert graph.left_out + len(graph.ops) == 10_002
    assert len(graph.values) + len(graph.gradients) < 3 * 400
