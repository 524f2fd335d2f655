"""Scopes in a graph: where tensors stand, and how scopes become one box."""

from collections.abc import Callable

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, trace
from tests.helpers import gradient_of, leaf
from tests.viz.support import heads, normal, op, recorded, tensor
from viz import read_graph
from viz.graph import Arrow


def test_scopes_are_known_and_leaves_stand_in_the_innermost_that_holds_all_their_users() -> None:
    x, w, c = leaf([1.0, 2.0], name="x"), leaf([1.0, 2.0], name="w"), Tensor([1.0, 2.0], name="c")
    with minigrad.scope("block"):
        with minigrad.scope("attention"):
            a = x * w
            a.name = "a"
        with minigrad.scope("mlp"):
            b = a * w + c + np.array([1.0, 2.0])
            b.name = "b"
    out = b * b
    scopes = {box.label: box.scope for box in read_graph(out).tensors.values()}
    assert scopes.pop("t1") == scopes.pop("t2") == ("block", "mlp")
    assert scopes.pop("t3") == ("block", "mlp")  # the array
    assert scopes == {
        "x": ("block", "attention"),
        "w": ("block",),
        "c": (),  # a constant with a name is an input of the whole
        "a": ("block", "attention"),
        "b": ("block", "mlp"),
        "t4": (),
    }


def test_a_folded_scope_is_one_box_that_counts_what_is_inside() -> None:
    _, out = heads(2)
    graph = read_graph(out, collapse=["head 0"])
    (box,) = graph.folds.values()
    # Three ops, their results, and the two leaves that nothing outside uses.
    assert (box.label, box.times, box.ops, box.tensors, box.scope) == ("head 0", 1, 3, 5, ())
    assert {inner.scope for inner in graph.ops.values()} == {(), ("head 1",)}
    assert {inner.scope for inner in graph.tensors.values()} == {(), ("head 1",)}
    names = ["concatenate", "matmul", "matmul", "sum", "tanh"]
    assert sorted(inner.name for inner in graph.ops.values()) == names


def test_equal_scopes_become_one_box_with_their_number() -> None:
    _, out = heads(8)
    graph = read_graph(out, collapse="head *")
    (box,) = graph.folds.values()
    assert (box.label, box.times, box.ops, box.tensors) == ("head 0 … head 7", 8, 3, 5)
    values = [(a.tail, a.head, a.label) for a in graph.values if box.key in (a.tail, a.head)]
    assert values == [
        (tensor(graph, "x").key, box.key, ""),
        (box.key, op(graph, "concatenate").key, "× 8"),
    ]


def test_what_a_fold_passes_back_is_the_sum_over_all_ops_inside() -> None:
    with trace():
        x, out = heads(8)
    out.backward()
    graph = read_graph(out, collapse="head *")
    (box,) = graph.folds.values()
    back = {(a.tail, a.head): a.norm for a in graph.gradients if box.key in (a.tail, a.head)}
    into, out_of = (op(graph, "concatenate").key, box.key), (box.key, tensor(graph, "x").key)
    assert back.keys() == {into, out_of}
    assert back[out_of] == pytest.approx(np.linalg.norm(gradient_of(x)))
    contexts = [n for n in recorded(out) if n.primitive and n.primitive.name == "matmul"]
    outer = [n.grad for n in contexts if n.shape == (3, 2)]
    assert back[into] == pytest.approx(np.linalg.norm(outer))


def test_what_a_fold_passes_back_is_unknown_if_any_part_of_it_is() -> None:
    x, out = heads(2)
    out.backward()
    graph = read_graph(out, collapse="head *")
    assert gradient_of(x).any()
    assert {arrow.norm for arrow in graph.gradients} == {None}

    y = leaf([1.0, 2.0], name="y")
    with minigrad.scope("inside"):
        one, other = y * 2, y * 3
        one.retain_grad()
    out = one + other + y
    out.sum().backward(retain_graph=True)
    graph = read_graph(out, collapse="inside")
    (box,) = graph.folds.values()
    assert [arrow.norm for arrow in graph.gradients if arrow.tail == box.key] == [None]


def test_scopes_of_other_shapes_or_ops_stay_boxes_of_their_own() -> None:
    _, out = heads(2, spread=1)
    folds = read_graph(out, collapse="head *").folds.values()
    assert [(box.label, box.times) for box in folds] == [("head 0", 1), ("head 1", 1)]


def test_scopes_that_differ_in_more_than_a_number_stay_boxes_of_their_own() -> None:
    _, out = heads(2, "left head 1", "right head 2")
    folds = read_graph(out, collapse="*").folds.values()
    assert [(box.label, box.times) for box in folds] == [("left head 1", 1), ("right head 2", 1)]


@pytest.mark.parametrize(
    "compute",
    [
        lambda q, k, i: (q * (0.5 + i)) @ k,
        lambda q, k, i: minigrad.softmax(q @ k, axis=i),
        lambda q, k, i: q @ (k if i else q),
        lambda q, k, i: minigrad.tanh(q) if i else minigrad.sigmoid(q),
        lambda q, k, i: q[:, : 1 + i] @ k[: 1 + i],
    ],
    ids=["number", "option", "wiring", "op", "inner shape"],
)
def test_scopes_that_compute_something_else_are_not_equal(compute: Callable[..., Tensor]) -> None:
    q, k = leaf(normal(3, 3), name="q"), leaf(normal(3, 3, seed=1), name="k")
    made = []
    for i in range(2):
        with minigrad.scope(f"head {i}"):
            made.append(compute(q, k, i))
    folds = read_graph(made[0] + made[1], collapse="head *").folds.values()
    assert [box.times for box in folds] == [1, 1]


def test_scopes_that_take_tensors_of_other_shapes_are_not_equal() -> None:
    made = []
    for i in range(2):
        q, k = leaf(normal(3, 4 + i), name="q"), leaf(normal(4 + i, 3), name="k")
        used = minigrad.tanh(q).sum() + minigrad.tanh(k).sum()  # so they stand outside
        with minigrad.scope(f"head {i}"):
            made += [q @ k]
        made += [used]
    folds = read_graph(made[0] + made[1] + made[2] + made[3], collapse="head *").folds.values()
    assert [box.times for box in folds] == [1, 1]


def test_equal_scopes_in_other_places_are_not_equal() -> None:
    x = leaf([1.0, 2.0], name="x")
    made = []
    for place in ("left", "right"):
        for i in range(2):
            with minigrad.scope(place), minigrad.scope(f"head {i}"):
                made.append(minigrad.tanh(x))
    folds = read_graph(minigrad.stack(made), collapse="head *").folds.values()
    assert [(box.scope, box.times) for box in folds] == [(("left",), 2), (("right",), 2)]


def test_a_scope_inside_another_is_found_by_name_by_path_and_by_pattern() -> None:
    x = leaf([1.0, 2.0], name="x")
    for _ in range(2):
        with minigrad.scope("block"), minigrad.scope("head 0"):
            x = minigrad.tanh(x)
    out = x * 2
    for pattern in ("head 0", "block/head 0", "head *", "*/head ?", "block/*"):
        (box,) = read_graph(out, collapse=pattern).folds.values()
        assert (box.label, box.scope, box.ops) == ("head 0", ("block",), 2)
    for pattern in ("block", "*", "b*k"):
        (box,) = read_graph(out, collapse=("head 0", pattern)).folds.values()
        assert (box.label, box.scope, box.ops) == ("block", (), 2)


def test_a_root_in_a_folded_scope_stands_before_it() -> None:
    x = leaf([1.0, 2.0], name="x")
    with minigrad.scope("inside"), trace():
        out = (x * 2).sum()
    out.backward()
    graph = read_graph(out, collapse="inside")
    (box,) = graph.folds.values()
    assert (graph.tensors[graph.root].scope, box.ops) == ((), 2)
    assert [(a.tail, a.head) for a in graph.values] == [(box.key, graph.root)]
    assert [(a.tail, a.head, a.norm) for a in graph.gradients] == [(graph.root, box.key, 1.0)]


def test_a_tensor_that_leaves_a_fold_is_named_on_its_way() -> None:
    x = leaf([1.0, 2.0], name="x")
    with minigrad.scope("inside"):
        q, k = x * 2, x * 3
        q.name, k.name = "q", "k"
    graph = read_graph(q - k, collapse="inside")
    assert [a.label for a in graph.values] == ["q", "k", ""]
    assert op(graph, "subtract").formula == "t1 = q − k"


@pytest.mark.parametrize("name", ["nothing", "head", "HEAD 0", ""])
def test_a_pattern_that_matches_nothing_is_an_error_with_the_names_that_there_are(
    name: str,
) -> None:
    _, out = heads(2)
    with pytest.raises(ValueError, match=rf"no scope is called '{name}'; there are 'head 0', 'hea"):
        read_graph(out, collapse=["head 0", name])


def test_without_scopes_a_pattern_s_error_says_how_to_make_some() -> None:
    with pytest.raises(ValueError, match=r"'a'; record inside minigrad\.scope\(name\)"):
        read_graph(leaf(1.0) * 2, collapse="a")


def test_a_fold_that_is_shown_in_part_does_not_count_what_is_left_out() -> None:
    x = leaf([1.0, 2.0], name="x")
    with minigrad.scope("a"):
        x = x * 2
    x = x + 1
    with minigrad.scope("a"):
        x = x * 3
    graph = read_graph(x + 1, collapse="a", max_nodes=3)
    assert len(graph.ops) + sum(box.ops for box in graph.folds.values()) + graph.left_out == 4


def steps(count: int) -> Tensor:
    """So many equal scopes, one beside the other."""
    x = leaf([1.0, 2.0], name="x")
    made = []
    for i in range(count):
        with minigrad.scope(f"step {i}"):
            made.append(x * 2.0)
    total: Tensor = minigrad.stack(made)
    return total.sum()


def test_many_equal_scopes_are_one_box() -> None:
    graph = read_graph(steps(2_000), collapse="step *")
    (box,) = graph.folds.values()
    assert (box.label, box.times, box.ops) == ("step 0 … step 1999", 2_000, 1)
    assert len(graph.values) < 10


def test_folds_that_pass_on_many_tensors_are_read_in_proportion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Looking through all arrows for each arrow would take minutes for 100,000 of them."""
    compared = []
    equal = Arrow.__eq__

    def counting(one: Arrow, other: object) -> bool:
        compared.append(1)
        return equal(one, other)

    x = leaf([1.0, 2.0], name="x")
    made = []
    for i in range(300):
        with minigrad.scope(f"step {i}"):
            made.append(x * 2.0)
    with minigrad.scope("top"):
        out = minigrad.stack(made).sum()
    monkeypatch.setattr(Arrow, "__eq__", counting)
    graph = read_graph(out + 1, collapse=["step *", "top"])
    assert sorted(box.times for box in graph.folds.values()) == [1, 300]
    assert len(compared) < 10 * 300


def test_a_scope_is_also_found_by_its_own_name_though_that_reads_as_a_pattern() -> None:
    with minigrad.scope("layers[0]"):
        x = leaf([1.0, 2.0], name="x") * 2
    (box,) = read_graph(x + 1, collapse="layers[0]").folds.values()
    assert box.label == "layers[0]"


def test_two_contributions_to_one_tensor_add_up_before_their_norm_is_taken() -> None:
    with trace():
        x = leaf(normal(3), name="x")
        made = []
        for i in range(2):
            with minigrad.scope(f"head {i}"):
                made.append(x * 2.0)
        out = minigrad.stack([made[0] * made[0], made[1] * made[1]])
    out.backward(normal(2, 3, seed=1))
    graph = read_graph(out, collapse="head *")
    (box,) = graph.folds.values()
    inside = [arrow.norm for arrow in graph.gradients if arrow.head == box.key]
    expected = [np.linalg.norm(tensor_.grad) for tensor_ in made if tensor_.grad is not None]
    assert sorted(n for n in inside if n is not None) == pytest.approx(sorted(expected))


def test_where_several_rules_pass_something_back_to_one_tensor_none_of_them_is_named() -> None:
    x = leaf([1.0, 2.0], name="x")
    with trace():
        with minigrad.scope("inside"):
            h = minigrad.tanh(x)
        out = h * h
    out.backward(np.array([3.0, 5.0]))
    graph = read_graph(out, collapse="inside")
    (box,) = graph.folds.values()
    (arrow,) = [arrow for arrow in graph.gradients if arrow.head == box.key]
    expected = 2 * np.tanh([1.0, 2.0]) * [3.0, 5.0]
    assert arrow.rule == ""
    assert arrow.norm == pytest.approx(np.linalg.norm(expected))

    graph = read_graph(h * 2, collapse="inside")
    (arrow,) = [arrow for arrow in graph.gradients if arrow.head in graph.folds and arrow.rule]
    assert arrow.rule == "2 · G"


def test_layers_one_after_the_other_say_so_and_leave_the_input_outside() -> None:
    x = h = leaf(normal(2, 3), name="x")
    for i in range(4):
        with minigrad.scope(f"layer {i}"):
            h = minigrad.tanh(h @ leaf(normal(3, 3, seed=i), name=f"W{i}"))
    graph = read_graph(h.sum(), collapse="layer *")
    (box,) = graph.folds.values()
    assert (box.label, box.times) == ("layer 0 … layer 3", 4)
    given = [a.tail for a in graph.values if a.head == box.key and a.tail != box.key]
    assert [graph.tensors[key].label for key in given] == [x.name]
    assert [a.label for a in graph.values if (a.tail, a.head) == (box.key, box.key)] == ["× 3"]


def test_what_the_first_of_several_layers_is_given_stands_in_no_part_of_them() -> None:
    """A frame of the first layer beside the box for all of them would show it twice."""
    x = leaf(normal(2, 3), name="x")
    with minigrad.scope("model"):
        for i in range(3):
            with minigrad.scope(f"layer {i}"):
                x = minigrad.tanh(x @ leaf(normal(3, 3, seed=i), name="W"))
    graph = read_graph(x.sum(), collapse="layer *")
    (box,) = graph.folds.values()
    assert (box.label, box.times, box.scope) == ("layer 0 … layer 2", 3, ("model",))
    assert tensor(graph, "x").scope == ("model",)
