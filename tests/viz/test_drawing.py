"""Drawn graphs, laid out by each engine and read back from its SVG and JSON."""

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import graphviz
import numpy as np
import pytest

import minigrad
from attention import SelfAttention, scaled_dot_product_attention
from minigrad import Tensor, trace
from tests.helpers import Array, leaf, next_line
from tests.viz.support import (
    HOSTILE,
    SVG,
    Picture,
    clusters,
    heads,
    hostile_drawing,
    normal,
    random_graph,
    recorded,
    shown,
    upstream,
)
from viz import DrawingError, draw_graph
from viz.colours import TWINS
from viz.drawing import Drawing
from viz.layout import lay_out

ROOT = Path(__file__).parents[2]


def number(text: str) -> float:
    """A number as it is drawn, read back."""
    return float(text.replace("−", "-").replace("∞", "inf"))


def attention(*, is_traced: bool = True) -> Tensor:
    """One head after its backward, with parameters and a batch of one sentence."""
    layer = SelfAttention(6, 4, 5)
    with trace() if is_traced else minigrad.enable_grad():
        context, _ = layer(normal(3, 6))
    context.backward(upstream(context))
    return context


def product(a: float = 3.0, b: float = 2.0) -> Tensor:
    with trace():
        out: Tensor = leaf(a, name="a") * leaf(b, name="b")
    return out


# ------------------------------------------------------------------------------ boxes and arrows


def folded() -> Drawing:
    with trace():
        _, loss = heads(4)
    loss.backward()
    return draw_graph(loss, collapse="head [02]")


DRAWINGS: dict[str, Callable[[], Drawing]] = {
    "attention": lambda: draw_graph(attention(), order=True, direction="TB", title="猫"),
    "untraced": lambda: draw_graph(attention(is_traced=False), values="full", gradients="none"),
    "folded": folded,
    "cut": lambda: draw_graph(attention(), max_nodes=6, formulas=False, language="zh"),
    "random": lambda: draw_graph(random_graph(1)[0], values="none"),
    "lone": lambda: draw_graph(leaf(3.0, name="x")),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_the_picture_holds_the_boxes_and_arrows_of_the_graph(engine: str, name: str) -> None:
    drawing = DRAWINGS[name]()
    graph, picture = drawing.graph, Picture.of(drawing)
    kinds = {key: box.kind for key, box in graph.tensors.items()}
    kinds |= dict.fromkeys(graph.ops, "op") | dict.fromkeys(graph.folds, "fold")
    kinds |= {"rest": "rest"} if graph.left_out else {}
    assert {key: box.kind for key, box in picture.boxes.items()} == kinds
    assert picture.ends("value") == Counter((a.tail, a.head) for a in graph.values)
    assert picture.ends("gradient") == Counter((a.tail, a.head) for a in graph.gradients)
    assert len(picture.lines) == len(graph.values) + len(graph.gradients)
    laid_out = json.loads(drawing.pipe(format="json"))
    names = {thing["_gvid"]: thing["name"] for thing in laid_out["objects"]}
    assert {name for name in names.values() if not name.startswith("cluster")} == set(kinds)
    ends = []
    for edge in laid_out.get("edges", []):
        tail, head = names[edge["tail"]], names[edge["head"]]
        # A gradient's edge is written as the layout runs, and has its arrowhead at the start.
        assert (edge.get("dir") == "back") == (edge["class"] == "gradient")
        ends.append((*((head, tail) if edge.get("dir") == "back" else (tail, head)), edge["class"]))
    assert Counter(ends) == Counter((line.tail, line.head, line.kind) for line in picture.lines)


@pytest.mark.parametrize(("direction", "axis"), [("LR", 0), ("TB", 1)])
def test_values_flow_in_the_direction_asked_for(engine: str, direction: Any, axis: int) -> None:
    laid_out = json.loads(draw_graph(attention(), direction=direction).pipe(format="json"))
    places = {
        thing["_gvid"]: [float(x) for x in thing["pos"].split(",")]
        for thing in laid_out["objects"]
        if "pos" in thing
    }
    sign = 1 if axis == 0 else -1  # the y of the JSON points up
    for edge in laid_out["edges"]:
        way = places[edge["head"]][axis] - places[edge["tail"]][axis]
        assert sign * way > 0


def test_every_kind_of_box_has_a_shape_and_colours_of_its_own(engine: str) -> None:
    w = leaf(normal(4, 2), name="w")
    with minigrad.scope("inside"):
        h = leaf(normal(3, 4), name="x") @ w
    out = (h * np.ones((3, 2))).sum(axis=0)
    drawings = [
        draw_graph(out, parameters=[w], collapse="inside"),
        draw_graph(h, parameters=[w]),
        draw_graph(out, max_nodes=3),
    ]
    looks: dict[str, set[tuple[str, str, str]]] = {}
    for drawing in drawings:
        for box in Picture.of(drawing).boxes.values():
            looks.setdefault(box.kind, set()).add((box.outline, box.fill, box.line))
    expected = {"leaf", "parameter", "constant", "intermediate", "root", "op", "fold", "rest"}
    assert set(looks) == expected
    assert all(len(look) == 1 for look in looks.values())
    outlines = {kind: outline for kind, ((outline, _, _),) in looks.items()}
    assert outlines.pop("rest") == outlines["leaf"]  # but dashed, and of another colour
    assert len(set(outlines.values())) == len(outlines)
    assert len({(fill, line) for ((_, fill, line),) in looks.values()}) >= len(looks) - 1
    assert outlines["op"] == "ellipse"


def test_x_times_x_has_two_arrows_there_and_two_back(engine: str) -> None:
    with trace():
        x = leaf(3.0, name="x")
        out = x * x
    out.backward()
    picture = Picture.of(draw_graph(out))
    tensor, (op,) = picture.named("x"), [b for b in picture.boxes.values() if b.kind == "op"]
    there = [line.texts for line in picture.of_kind("value") if line.tail == tensor.key]
    back = [line.texts for line in picture.of_kind("gradient") if line.head == tensor.key]
    assert sorted(there) == [["a"], ["b"]]
    assert back == [["G ⊙ x", "norm 3"]] * 2
    assert op.texts == ["multiply", "t1 = x ⊙ x"]


def test_arguments_say_which_operand_is_which(engine: str) -> None:
    picture = Picture.of(draw_graph(leaf(5.0, name="minuend") - leaf(2.0, name="subtrahend")))
    labels = {line.tail: line.texts for line in picture.of_kind("value")}
    assert labels[picture.named("minuend").key] == ["a"]
    assert labels[picture.named("subtrahend").key] == ["b"]


# ----------------------------------------------------------------------------- gradients and rules


def test_gradients_are_dashed_and_as_wide_as_the_logarithm_of_their_norm(engine: str) -> None:
    widths = []
    for exponent in range(-8, 7, 2):
        out = product(1.0, 1.0)
        out.backward(10.0**exponent)
        lines = Picture.of(draw_graph(out)).of_kind("gradient")
        assert {line.dashes for line in lines} == {"5,2"}
        assert len({line.texts[-1] for line in lines if line.texts}) == 1
        (width,) = {line.width for line in lines}
        widths.append(width)
    steps = np.diff(widths)
    assert widths[0] > 0
    assert np.all(steps > 0)
    assert np.allclose(steps, steps[0], atol=0.011)


def test_values_are_solid(engine: str) -> None:
    assert {line.dashes for line in Picture.of(draw_graph(attention())).of_kind("value")} == {""}


def test_what_is_not_known_what_is_zero_and_what_is_small_look_different(engine: str) -> None:
    looks = []
    for gradient in (None, 0.0, 1e-9):
        out = product()
        if gradient is not None:
            out.backward(gradient)
        lines = Picture.of(draw_graph(out)).of_kind("gradient")
        (look,) = {(line.dashes, line.colour) for line in lines}
        looks.append(look)
    assert len(set(looks)) == 3


@pytest.mark.parametrize("gradient", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_is_said_to_be_so(engine: str, gradient: float) -> None:
    out = product()
    out.backward(gradient)
    picture = Picture.of(draw_graph(out))
    texts = [line.texts[-1] for line in picture.of_kind("gradient") if line.texts]
    assert texts == ["norm NaN" if math.isnan(gradient) else "norm ∞"] * 2
    assert picture.named("a").texts[-1] == ("NaN" if math.isnan(gradient) else "∞")


def central_differences(loss: Callable[[], float], array: Array) -> Array:
    """The gradient of a loss at an array that it reads, one entry after another."""
    gradient = np.zeros_like(array)
    for index in np.ndindex(array.shape):
        before = array[index]
        array[index] = before + 1e-5
        above = loss()
        array[index] = before - 1e-5
        gradient[index] = (above - loss()) / 2e-5
        array[index] = before
    return gradient


def test_norms_and_numbers_in_the_picture_are_those_of_finite_differences(engine: str) -> None:
    Q, K, V = normal(3, 4), normal(5, 4, seed=1), normal(5, 2, seed=2)
    seed = normal(3, 2, seed=3)

    def loss() -> float:
        powers = np.exp(Q @ K.T / 2)
        return float((powers / powers.sum(axis=1, keepdims=True) @ V * seed).sum())

    with trace():
        context, _ = scaled_dot_product_attention(
            leaf(Q, name="Q"), leaf(K, name="K"), leaf(V, name="V")
        )
    context.backward(seed)
    picture = Picture.of(draw_graph(context))
    rules = {"Q": "G K", "K": "Gᵀ", "V": "weightsᵀ G"}
    for name, array in (("Q", Q), ("K", K), ("V", V)):
        expected = central_differences(loss, array)
        box = picture.named(name)
        (line,) = [line for line in picture.of_kind("gradient") if line.head == box.key]
        assert line.texts[0] == rules[name]
        assert number(line.texts[1].removeprefix("norm ")) == pytest.approx(
            np.linalg.norm(expected), rel=5e-3
        )
        drawn = [number(text) for text, _ in box.cells]
        both = np.concatenate([array.ravel(), expected.ravel()])
        np.testing.assert_allclose(drawn, both, rtol=5.1e-3, atol=1e-9)


@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_before_backward_nothing_is_drawn_as_0(engine: str, direction: Any) -> None:
    picture = Picture.of(draw_graph(product(3.0, 2.0), direction=direction))
    assert not [text for text in picture.texts if re.fullmatch(r"(norm )?[−-]?0(\.0*)?", text)]
    for label in ("a", "b", "t1"):
        assert picture.named(label).texts[-2:] == ["∂L", "none yet"]
    assert {line.tooltip.split(", ")[-1] for line in picture.of_kind("gradient")} == {"none yet"}


def test_constants_have_no_gradient_to_be_missing(engine: str) -> None:
    out = leaf([1.0, 2.0], name="x") * Tensor([3.0, 5.0], name="c")
    assert Picture.of(draw_graph(out)).named("c").texts == ["c", "(2,)", "3", "5"]


def test_a_gradient_that_was_not_kept_is_not_said_to_be_still_to_come(engine: str) -> None:
    x = leaf([1.0, 2.0], name="x")
    y = x * 2
    y.sum().backward()
    lines = Picture.of(draw_graph(y)).of_kind("gradient")
    assert {line.tooltip.split(", ")[-1] for line in lines} == {"not kept"}


def test_what_was_not_kept_is_said_with_the_way_to_keep_it(engine: str) -> None:
    hint = "what is not kept can be had by recording under minigrad.trace()"
    picture = Picture.of(draw_graph(attention(is_traced=False)))
    assert picture.named("scores").texts == ["scores", "(3, 3)", "not kept", "∂L", "not kept"]
    assert picture.heading == [hint]
    assert hint not in Picture.of(draw_graph(attention())).texts
    none = draw_graph(attention(is_traced=False), values="none", gradients="none")
    assert "not kept" not in Picture.of(none).texts
    assert hint not in Picture.of(none).texts
    titled = draw_graph(attention(is_traced=False), title="one head")
    assert Picture.of(titled).heading == ["one head", hint]


def test_tensors_of_one_name_can_be_told_apart(engine: str) -> None:
    a, b = leaf([1.0, 2.0], name="w"), leaf([3.0, 5.0], name="w")
    picture = Picture.of(draw_graph(a - b, gradients="none", values="none"))
    leaves = sorted(box.words for box in picture.boxes.values() if box.kind == "leaf")
    assert [" ".join(words.split()) for words in leaves] == ["w (2,)", "w ₂ (2,)"]
    assert "t1 = w − w₂" in picture.texts


def test_gradients_rules_and_equations_can_be_left_out(engine: str) -> None:
    context = attention()
    bare = Picture.of(draw_graph(context, values="none", gradients="none", formulas=False))
    assert bare.of_kind("gradient") == []
    assert bare.named("scores").texts == ["scores", "(3, 3)"]
    scale = next(box for box in bare.boxes.values() if box.texts[0] == "scale")
    assert scale.texts == ["scale", "factor = 0.5"]
    without = Picture.of(draw_graph(context, formulas=False))
    texts = [text for line in without.of_kind("gradient") for text in line.texts]
    assert texts
    assert all(text.startswith("norm ") for text in texts)


def test_without_equations_the_numbers_of_an_op_are_still_there(engine: str) -> None:
    out = 2.5 - minigrad.where(np.array([True, False]), leaf([1.0, 2.0], name="x"), -0.5)
    picture = Picture.of(draw_graph(out, formulas=False))
    texts = sorted(box.texts for box in picture.boxes.values() if box.kind == "op")
    assert texts == [["subtract", "a = 2.5"], ["where", "y = −0.5"]]


def test_the_order_of_backward_stands_on_ops_and_leaves(engine: str) -> None:
    x = leaf([1.0, 2.0], name="x")
    out = minigrad.tanh(x * 2) + x
    picture = Picture.of(draw_graph(out, order=True))
    visited = {box.texts[1]: box.texts[0] for box in picture.boxes.values() if "." in box.texts[0]}
    assert visited == {"add": "1.", "tanh": "2.", "multiply": "3.", "x": "4."}
    assert not [text for text in Picture.of(draw_graph(out)).texts if text.endswith(".")]


def test_long_equations_are_cut_and_whole_where_the_pointer_rests(engine: str) -> None:
    out = minigrad.gelu(leaf([1.0, 2.0], name="x"))
    picture = Picture.of(draw_graph(out))
    (op,) = [box for box in picture.boxes.values() if box.kind == "op"]
    assert op.texts[1] == "t1 = x ⊙ (1 + tanh(0.797885 · (clip(x, min=-10, max=10)…"
    assert op.tooltip.endswith("+ 0.044715 · clip(x, min=-10, max=10)^3))) / 2")
    (line,) = [line for line in picture.of_kind("gradient") if line.tail == op.key]
    assert len(line.texts[0]) == 56
    assert line.tooltip.endswith("(1 + 0.134145 · clip(x, min=-10, max=10)^2)), none yet")


def test_the_line_of_the_user_s_file_is_where_the_pointer_rests(engine: str) -> None:
    with trace():
        line = next_line()
        out = leaf([1.0, 2.0], name="x") * 2
    (op,) = [b for b in Picture.of(draw_graph(out)).boxes.values() if b.kind == "op"]
    assert op.tooltip == f"multiply: t1 = 2 · x (test_drawing.py:{line})"


def test_tooltips_of_tensors_say_what_they_are(engine: str) -> None:
    w = leaf(np.ones((3, 2), dtype=np.float32), name="w")
    picture = Picture.of(draw_graph(w * 2, parameters=[w]))
    assert picture.named("w").tooltip == "w: parameter, (3, 2), float32"
    assert picture.named("t1").tooltip == "t1: root, (3, 2), float32"


# ------------------------------------------------------------------------------------------ values


@pytest.mark.parametrize(
    "array",
    [
        np.float64(-2.5),
        normal(4),
        normal(3, 5),
        normal(2, 3, 4),
        np.array([[0.0, -0.0, 1e-12, -1e12], [np.nan, np.inf, -np.inf, 12345.678]]),
        np.array([True, False]),
        normal(3).astype(np.float32),
    ],
    ids=str,
)
def test_small_tensors_show_their_numbers(engine: str, array: Array) -> None:
    box = Picture.of(draw_graph(Tensor(array, name="it"))).named("it")
    drawn = [number(text) for text, _ in box.cells]
    np.testing.assert_allclose(drawn, np.ravel(array).astype(float), rtol=5e-3)
    assert "−0" not in box.texts
    rows = [text for text in box.texts if text.startswith("[")]
    assert rows == (["[0]", "[1]"] if np.ndim(array) == 3 else [])


@pytest.mark.parametrize("numbers", [[30522, 101, 2], [7, 1234, 65535]])
def test_whole_numbers_are_exact(engine: str, numbers: list[int]) -> None:
    """Tokens and targets are not measurements."""
    box = Picture.of(draw_graph(Tensor(np.array(numbers), name="tokens"))).named("tokens")
    assert [text for text, _ in box.cells] == [str(x) for x in numbers]


def test_numbers_lie_on_blue_if_positive_and_on_orange_if_negative(engine: str) -> None:
    numbers = [1.0, 0.5, 0.0, -0.5, -1.0]
    cells = Picture.of(draw_graph(leaf(numbers, name="x"))).named("x").cells
    assert [text for text, _ in cells] == ["1", "0.5", "0", "−0.5", "−1"]
    shades = [bytes.fromhex(colour.removeprefix("#")) for _, colour in cells]
    blueness = [blue - red for red, _, blue in shades]
    assert np.all(np.diff(blueness) < 0)
    assert blueness[1] > 0 > blueness[3]
    assert abs(blueness[2]) < 10


def test_large_tensors_show_statistics(engine: str) -> None:
    array = normal(40, 30)
    array[:10] = 0.0
    finite = array.copy()
    array[11, :3], array[12, 0], array[13, 0] = np.nan, np.inf, -np.inf
    finite = array[np.isfinite(array)]
    box = Picture.of(draw_graph(Tensor(array.astype(np.float32), name="it"))).named("it")
    low, high, mean, norm, zeros = re.fullmatch(
        r"it \(40, 30\) float32 (\S+) … (\S+) mean (\S+), norm (\S+) (\S+) % zeros, 3 NaN, 2 Inf",
        box.words,
    ).groups()  # type: ignore[union-attr]
    drawn = [number(text) for text in (low, high, mean, norm, zeros)]
    expected = [finite.min(), finite.max(), finite.mean(), np.linalg.norm(finite), 25]
    np.testing.assert_allclose(drawn, expected, rtol=5e-3)
    assert box.cells == []


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.full(50, np.nan), "50 NaN"),
        (np.full(50, 1e300), "1e300 … 1e300 mean 1e300, norm 7.07e300"),
        (np.zeros((0, 3)), "no entries"),
        (np.eye(1, 5000)[0], "0 … 1 mean 0.0002, norm 1 > 99.9 % zeros"),
        (np.arange(50) > 9, "0 … 1 mean 0.8, norm 6.32 20 % zeros"),
    ],
)
def test_odd_arrays_are_described(engine: str, array: Array, said: str) -> None:
    box = Picture.of(draw_graph(Tensor(array, name="it"))).named("it")
    dtype = "" if array.dtype == np.float64 else f" {array.dtype}"
    assert box.words.startswith(f"it {array.shape}{dtype} {said}")


@pytest.mark.parametrize(
    ("shape", "summary", "full"),
    [
        ((5, 6), 30, 30),
        ((2, 5, 3), 30, 30),
        ((31, 1), 0, 31),
        ((31,), 0, 0),
        ((2, 7), 0, 14),
        ((4, 24), 0, 96),
        ((20, 20), 0, 400),
        ((401,), 0, 0),
        ((3, 25), 0, 0),
        ((24, 17), 0, 0),
    ],
)
def test_how_many_numbers_are_shown(shape: tuple[int, ...], summary: int, full: int) -> None:
    it = Tensor(normal(*shape), name="it")
    counts = []
    for values in ("none", "summary", "full"):
        drawing = draw_graph(it, values=values)
        counts.append(drawing.source.count("BGCOLOR="))
    assert counts == [0, summary, full]


# --------------------------------------------------------------------------------- scopes and folds


def nested() -> Tensor:
    x = leaf([1.0, 2.0], name="x")
    with minigrad.scope("block"):
        with minigrad.scope("attention"):
            x = x * leaf([1.0, 2.0], name="w")
        with minigrad.scope("mlp"):
            x = minigrad.tanh(x)
    out: Tensor = x + 1
    out.name = "out"
    return out


def test_scopes_are_frames_inside_frames(engine: str) -> None:
    drawing = draw_graph(nested())
    frames, picture = clusters(drawing), Picture.of(drawing)
    assert set(frames) == set(picture.scopes) == {"block", "attention", "mlp"}
    assert frames["attention"].boxes | frames["mlp"].boxes == frames["block"].boxes
    assert frames["attention"].boxes.isdisjoint(frames["mlp"].boxes)
    assert picture.named("w").key in frames["attention"].boxes
    assert picture.named("out").key not in frames["block"].boxes
    names = [picture.boxes[key].texts[0] for key in frames["mlp"].boxes]
    assert sorted(names) == ["t2", "tanh"]


def test_a_folded_scope_is_a_folder_with_its_number(engine: str) -> None:
    with trace():
        x, out = heads(8)
    out.backward()
    picture = Picture.of(draw_graph(out, collapse="head *"))
    (box,) = [box for box in picture.boxes.values() if box.kind == "fold"]
    assert box.texts == ["head 0 … head 7 × 8", "ops: 3, tensors: 5"]
    assert x.grad is not None
    lines = {(line.tail, line.head): line.texts for line in picture.lines}
    source = picture.named("x").key
    assert lines[box.key, source] == [f"norm {np.linalg.norm(x.grad):.3g}"]
    assert lines[source, box.key] == []
    (leaving,) = [line for line in picture.of_kind("value") if line.tail == box.key]
    assert leaving.texts == ["× 8"]


def test_what_is_left_out_is_counted(engine: str) -> None:
    y = leaf([1.0, 2.0], name="x")
    for _ in range(2_000):
        y = y + 1
    drawing = draw_graph(y, max_nodes=7)
    picture = Picture.of(drawing)
    assert len(picture.boxes) == 7 + 1 or len(picture.boxes) == 6 + 1
    (rest,) = [box for box in picture.boxes.values() if box.kind == "rest"]
    assert rest.texts[0] == "… older ops left out: 1,997"
    assert rest.texts[1] == "shown are the last that were computed"
    assert [line.tail for line in picture.of_kind("value")].count(rest.key) == 1


@pytest.mark.slow
def test_10000_ops_side_by_side_are_drawn(engine: str) -> None:
    x = leaf([1.0, 2.0], name="x")
    out = minigrad.stack([x * 2.0 for _ in range(10_000)]).sum()
    assert "older ops left out" in " ".join(Picture.of(draw_graph(out)).texts)


@pytest.mark.slow
def test_100000_ops_in_a_row_are_drawn(engine: str) -> None:
    y = leaf([1.0, 2.0], name="x")
    for _ in range(100_000):
        y = y + 0.001
    picture = Picture.of(draw_graph(y, values="none", gradients="none", formulas=False))
    assert "… older ops left out: 99,800" in picture.texts


# ------------------------------------------------------------------------------ the text is stable

SCRIPT = """
import numpy as np
from viz import draw_graph
from tests.viz.support import heads, random_graph
from minigrad import trace
with trace():
    root, _ = random_graph(4)
    _, total = heads(3)
root.backward(np.ones(root.shape))
total.backward()
folded = draw_graph(total, collapse="head 1")
for drawing in (draw_graph(root, order=True), draw_graph(total), folded):
    print(drawing.source, drawing.mermaid(), drawing.outline())
"""


@pytest.mark.slow
def test_the_text_is_the_same_in_a_new_process() -> None:
    told = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-c", SCRIPT]
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        told.append(ran.stdout)
    assert len(told[0]) > 10_000
    assert told[0] == told[1]


def test_the_text_is_the_same_for_the_same_computation_done_again() -> None:
    first, second = (draw_graph(attention(), order=True) for _ in range(2))
    assert first.source == second.source
    again = draw_graph(random_graph(5)[0])
    assert again.source == draw_graph(random_graph(5)[0]).source


def test_drawing_leaves_the_graph_as_it_was(engine: str) -> None:
    with trace():
        root, leaves = random_graph(6)
    root.backward(upstream(root), retain_graph=True)
    before = [(x.data.tobytes(), x.grad.tobytes()) for x in leaves if x.grad is not None]
    kept = [(id(node), node.kept, node.grad) for node in recorded(root)]
    draw_graph(root, values="full", gradients="full").pipe(format="svg")
    after = [(x.data.tobytes(), x.grad.tobytes()) for x in leaves if x.grad is not None]
    assert (len(before), after) == (3, before)
    for (_, old_kept, old_grad), node in zip(kept, recorded(root), strict=True):
        assert (node.kept is old_kept, node.grad is old_grad) == (True, True)


# --------------------------------------------------------------------------------- hostile and odd


ALLOWED = {"svg", "style", "g", "title", "a", "text", "polygon", "polyline", "path", "ellipse"}


def assert_harmless(svg: str) -> None:
    """Nothing in it can run, and nothing is loaded or led to."""
    for element in ElementTree.fromstring(svg).iter():
        assert element.tag.removeprefix(SVG) in ALLOWED
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on")
            assert not name.endswith("href")
            assert "url(" not in value
    (style,) = re.findall(r"<style>(.*?)</style>", svg, flags=re.DOTALL)
    assert "import" not in style
    assert "url" not in style
    assert set(re.findall(r"https?://[^\"\s]+", svg)) == {
        "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd",
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_the_user_s_is_shown_literally_and_does_nothing(engine: str, text: str) -> None:
    drawing = hostile_drawing(text)
    picture = Picture.of(drawing)
    assert_harmless(picture.svg)
    assert set(picture.boxes) == {*drawing.graph.tensors, *drawing.graph.ops, *drawing.graph.folds}
    assert picture.heading[0] == shown(text, 1000)
    assert shown(text) in picture.texts
    assert shown(text, 1000) in picture.scopes
    assert shown("fold " + text) in picture.texts
    assert picture.named(shown(text)).tooltip == f"{shown(text)}: leaf, (2,), float64"


def test_all_formats_hold_as_many_boxes_whatever_they_are_called(engine: str) -> None:
    out = leaf(1.0)
    for text in HOSTILE:
        with minigrad.scope(text):
            out = out * leaf(2.0, name=text)
    drawing = draw_graph(out)
    laid_out = json.loads(drawing.pipe(format="json"))
    boxes = [x["name"] for x in laid_out["objects"] if not x["name"].startswith("cluster")]
    assert sorted(boxes) == sorted([*drawing.graph.tensors, *drawing.graph.ops])
    assert len(laid_out["edges"]) == len(drawing.graph.values) + len(drawing.graph.gradients)
    again = json.loads(lay_out(drawing.pipe(format="dot").decode(), "json"))
    assert Counter(x["name"] for x in again["objects"]) == Counter(
        x["name"] for x in laid_out["objects"]
    )


@pytest.mark.parametrize("text", ['a"b', "x\\", '"/><script>alert(1)</script>', "<b>"])
def test_a_font_is_a_name_and_no_markup(engine: str, text: str) -> None:
    """What is no name of a font is refused, or written so that it stays one."""
    try:
        drawing = draw_graph(leaf(1.0, name="x"), fontname=text)
    except ValueError as error:
        refused = str(error)
    else:
        refused = ""
        assert_harmless(drawing.pipe(format="svg").decode())
    assert not refused or "fontname" in refused


def test_the_font_can_be_chosen(engine: str) -> None:
    svg = draw_graph(product(), fontname="Noto Sans CJK SC", title="t").pipe(format="svg").decode()
    families = set(re.findall(r'font-family="([^"]*)"', svg))
    assert families == {"Noto Sans CJK SC"}


def test_a_chinese_picture_holds_no_english_word(engine: str) -> None:
    y = leaf(normal(50), name="x")
    for _ in range(9):
        y = y * leaf(normal(50))
    with minigrad.scope("折叠"):
        y = minigrad.tanh(y * np.ones(50)) * Tensor(normal(50) * (normal(50) > 0), name="c")
    out = y.sum() + leaf(np.zeros((0, 3)), name="y").sum()

    def drawn() -> Picture:
        options: dict[str, Any] = {"max_nodes": 20, "collapse": "折叠", "formulas": False}
        return Picture.of(draw_graph(out, language="zh", **options))

    before = drawn()
    out.backward()
    after = drawn()
    given = {"multiply", "sum", "add", "spread", "float", "minigrad", "trace", "value"}
    for picture in (before, after):
        tooltips = [box.tooltip for box in picture.boxes.values()]
        tooltips += [line.tooltip for line in picture.lines]
        words = set(re.findall("[A-Za-z]{3,}", " ".join([*picture.texts, *tooltips])))
        assert words <= given
    for word in ("标量", "尚未计算", "个运算", "省略了", "没有元素", "均值", "范数"):
        assert word in " ".join([*before.texts, *after.texts])
    assert "未保留" in after.texts


def test_every_colour_has_a_twin_in_the_dark(engine: str) -> None:
    with trace():
        out = minigrad.tanh(leaf(np.linspace(-1, 1, 17).reshape(17, 1), name="x"))
        with minigrad.scope("s"):
            out = (out * leaf(normal(17, 1), name="w")).sum() * Tensor(2.0, name="c")
    out.backward()
    for drawing in (draw_graph(out), draw_graph(out, max_nodes=4), draw_graph(out, collapse="s")):
        svg = drawing.pipe(format="svg").decode()
        style, body = re.fullmatch(r".*<style>(.*)</style>(.*)", svg, flags=re.DOTALL).groups()  # type: ignore[union-attr]
        used = set(re.findall(r'(?:fill|stroke)="([^"]+)"', body)) - {"none", "transparent"}
        assert len(used) > 5
        for colour in used:
            for attribute in ("fill", "stroke"):
                twin = TWINS[colour]
                assert f'.minigrad [{attribute}="{colour}"]{{{attribute}:{twin}}}' in style
        assert style.startswith("@media (prefers-color-scheme:dark){")
        (whole,) = ElementTree.fromstring(svg).findall(f"{SVG}g")
        assert "minigrad" in whole.attrib["class"].split()


# ------------------------------------------------------------------- a graphviz.Digraph, and files


def test_a_drawing_is_a_digraph_whose_methods_run_the_engine_there_is(engine: str) -> None:
    drawing = draw_graph(attention())
    assert isinstance(drawing, graphviz.Digraph)
    assert drawing.source.startswith("digraph minigrad {")
    assert drawing.source == "".join(drawing)
    svg = drawing.pipe(format="svg")
    assert drawing.pipe() == svg
    assert drawing.pipe(format="svg", encoding="utf-8") == svg.decode()
    bundle = drawing._repr_mimebundle_()
    assert ElementTree.canonicalize(bundle["image/svg+xml"]) == ElementTree.canonicalize(svg)
    assert [*bundle] == ["image/svg+xml"]


SIGNATURES = {"svg": b"<?xml", "png": b"\x89PNG", "dot": b"digraph", "json": b"{"}


@pytest.mark.parametrize("format", SIGNATURES)
def test_each_format_is_what_its_name_says(engine: str, format: str, tmp_path: Path) -> None:
    drawing = draw_graph(leaf([1.0, 2.0], name="x"))
    assert drawing.pipe(format=format).lstrip().startswith(SIGNATURES[format])
    written = drawing.write(tmp_path / f"picture.{format}")
    assert written == tmp_path / f"picture.{format}"
    assert written.read_bytes() == drawing.pipe(format=format)
    rendered = Path(drawing.render(filename=tmp_path / "r", format=format, cleanup=True))
    assert rendered == tmp_path / f"r.{format}"
    assert rendered.read_bytes() == written.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file() and not p.is_symlink()) == [
        f"picture.{format}",
        f"r.{format}",
    ]


def test_png_is_twice_as_fine_as_a_screen_needs(engine: str) -> None:
    drawing = draw_graph(leaf([1.0, 2.0], name="x"))
    svg = ElementTree.fromstring(drawing.pipe(format="svg"))
    width = int.from_bytes(drawing.pipe(format="png")[16:20], "big")
    assert width == pytest.approx(2 * float(svg.attrib["width"].removesuffix("pt")), abs=6)


def test_pdf_is_written_where_dot_can(engine: str, tmp_path: Path) -> None:
    drawing = draw_graph(leaf([1.0, 2.0], name="x"))
    if engine == "dot":
        assert drawing.write(tmp_path / "picture.pdf").read_bytes().startswith(b"%PDF")
        return
    with pytest.raises(DrawingError, match=r"graphviz-pure does not write 'pdf'; .*install Graph"):
        drawing.write(tmp_path / "picture.pdf")
    assert not (tmp_path / "picture.pdf").exists()


@pytest.mark.parametrize("attempt", ["write", "pipe", "render"])
def test_an_unknown_format_is_an_error_that_says_which_there_are(
    attempt: str, tmp_path: Path
) -> None:
    drawing = draw_graph(leaf([1.0, 2.0], name="x"))
    attempts: dict[str, Callable[[], object]] = {
        "write": lambda: drawing.write(tmp_path / "picture.foo"),
        "pipe": lambda: drawing.pipe(format="foo"),
        "render": lambda: drawing.render(filename=tmp_path / "picture", format="foo"),
    }
    with pytest.raises((DrawingError, ValueError), match=r"'foo'.*png.*svg|'foo'.*svg.*png"):
        attempts[attempt]()
    assert not (tmp_path / "picture.foo").exists()


def test_a_format_that_the_engine_lacks_is_an_error_of_the_same_kind(engine: str) -> None:
    with pytest.raises(DrawingError, match=rf"{engine} does not write 'exr'; choose svg, png, dot"):
        draw_graph(leaf(1.0)).pipe(format="exr")


def test_writing_an_unknown_format_is_a_short_error_of_drawing(tmp_path: Path) -> None:
    """The command line expects no other."""
    with pytest.raises(DrawingError, match=r"'foo'.*svg.*png.*dot.*json") as found:
        draw_graph(leaf(1.0)).write(tmp_path / "picture.foo")
    assert len(str(found.value)) < 200


def test_a_suffix_may_be_in_capitals(engine: str, tmp_path: Path) -> None:
    written = draw_graph(leaf([1.0, 2.0], name="x")).write(tmp_path / "PICTURE.SVG")
    assert b"<style>" in written.read_bytes()


@pytest.mark.parametrize("name", ["picture", "picture."])
def test_a_path_without_a_suffix_is_refused(engine: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(DrawingError, match=r"no suffix that says the format, such as \.svg"):
        draw_graph(leaf(1.0)).write(tmp_path / name)


def test_mermaid_and_text_are_written_by_their_suffix(tmp_path: Path) -> None:
    drawing = draw_graph(leaf([1.0, 2.0], name="权重 λ") * 2)
    mermaid, outline = drawing.mermaid(), drawing.outline()
    assert drawing.write(tmp_path / "g.mmd").read_text("utf-8") == mermaid + "\n"
    assert drawing.write(tmp_path / "g.md").read_text("utf-8") == f"```mermaid\n{mermaid}\n```\n"
    assert drawing.write(tmp_path / "g.txt").read_text("utf-8") == outline + "\n"


@pytest.mark.parametrize("attempt", ["write", "render", "outfile", "save"])
def test_a_place_that_cannot_be_written_to_is_one_clear_error(
    engine: str, attempt: str, tmp_path: Path
) -> None:
    drawing = draw_graph(leaf([1.0, 2.0], name="x"))
    (tmp_path / "file").write_text("a file, and no folder")
    place = tmp_path / "file" / "picture.svg"
    attempts: dict[str, Callable[[], object]] = {
        "write": lambda: drawing.write(place),
        "render": lambda: drawing.render(filename=place),
        "outfile": lambda: drawing.render(filename=tmp_path / "source", outfile=place),
        "save": lambda: drawing.save(place),
    }
    with pytest.raises(DrawingError, match=r"file/picture.*cannot be written: .*another place"):
        attempts[attempt]()


def test_a_folder_in_the_place_of_the_file_is_left_alone(engine: str, tmp_path: Path) -> None:
    (tmp_path / "picture.svg").mkdir()
    with pytest.raises(DrawingError, match=r"picture\.svg' cannot be written"):
        draw_graph(leaf(1.0)).write(tmp_path / "picture.svg")
    assert sorted(p.name for p in tmp_path.iterdir() if not p.is_symlink()) == ["picture.svg"]


def test_missing_folders_are_made_and_what_stood_there_is_replaced(
    engine: str, tmp_path: Path
) -> None:
    place = tmp_path / "图" / "新" / "picture.svg"
    draw_graph(leaf(1.0, name="old")).write(place)
    draw_graph(leaf(1.0, name="new")).write(place)
    assert ">new<" in place.read_text("utf-8")
    assert [path.name for path in place.parent.iterdir()] == ["picture.svg"]


def test_a_picture_that_is_there_already_can_be_protected(engine: str, tmp_path: Path) -> None:
    (tmp_path / "picture.svg").write_text("mine")
    drawing = draw_graph(leaf(1.0))
    with pytest.raises(DrawingError, match="is there already; choose another name"):
        drawing.render(outfile=tmp_path / "picture.svg", raise_if_result_exists=True)
    assert (tmp_path / "picture.svg").read_text() == "mine"


def test_source_and_picture_need_different_names(engine: str, tmp_path: Path) -> None:
    drawing = draw_graph(leaf(1.0))
    place = tmp_path / "picture.svg"
    with pytest.raises((DrawingError, ValueError), match=r"name|different"):
        drawing.render(filename=place, outfile=place)
    drawing.render(filename=place, outfile=place, overwrite_source=True)
    assert place.read_bytes().startswith(b"<?xml")


def test_render_takes_what_graphviz_takes(engine: str, tmp_path: Path) -> None:
    drawing = draw_graph(leaf([1.0, 2.0], name="权重 λ"))
    place = drawing.render(filename="g.gv", directory=tmp_path / "out", format="svg")
    assert Path(place) == tmp_path / "out" / "g.gv.svg"
    assert "权重 λ" in (tmp_path / "out" / "g.gv").read_text("utf-8")
    assert "权重 λ" in Path(place).read_text("utf-8")


def test_another_algorithm_can_lay_it_out(engine: str) -> None:
    drawing = draw_graph(attention(), gradients="none")
    assert drawing.pipe(format="svg", engine="circo") != drawing.pipe(format="svg")


def test_a_copy_is_a_drawing_of_the_same(engine: str) -> None:
    drawing = draw_graph(product(), language="zh")
    copied = drawing.copy()
    assert isinstance(copied, Drawing)
    assert copied.source == drawing.source
    assert copied.outline() == drawing.outline()
    assert copied.mermaid() == drawing.mermaid()


@pytest.mark.parametrize(
    ("option", "value", "known"),
    [
        ("direction", "RL", "LR, TB"),
        ("values", "all", "none, summary, full"),
        ("gradients", True, "none, summary, full"),
        ("language", "de", "en, zh"),
    ],
)
def test_an_option_that_does_not_exist_is_refused(option: str, value: Any, known: str) -> None:
    with pytest.raises(ValueError, match=f"{option} is one of {known}; it is {value!r}"):
        draw_graph(leaf(1.0), **{option: value})


@pytest.mark.parametrize("wrong", [np.ones(2), 3.0, None])
def test_only_tensors_can_be_drawn(wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"from a tensor, not from a {type(wrong).__name__}"):
        draw_graph(wrong)


def test_a_node_is_drawn_as_its_tensor_is() -> None:
    out = attention()
    assert out._node is not None
    by_node = draw_graph(out._node)
    assert by_node.source == draw_graph(out).source
