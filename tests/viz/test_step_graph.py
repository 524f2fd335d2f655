"""The graph on a page of steps: a box for every tensor and an arrow for every input, each of which
the page can find, whatever engine has laid them out."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import minigrad
from attention import SelfAttention, scaled_dot_product_attention
from minigrad import BackwardSteps, Tensor, scope, step_backward, trace
from tests.helpers import leaf
from tests.viz.support import HOSTILE, SVG, XLINK, normal, shown, upstream, without_engines
from viz import DrawingError, step_graph
from viz.step_graph import ROOM
from viz.stepping import step_page

Builds = Callable[[], BackwardSteps]


class Drawn:
    """The graph as the page finds it."""

    def __init__(self, steps: BackwardSteps, **options: Any) -> None:
        self.svg, self.left_out = step_graph.step_graph(steps, **options)
        self.root = ElementTree.fromstring(self.svg)
        self.boxes: dict[str, ElementTree.Element] = {}
        self.arrows: dict[str, ElementTree.Element] = {}
        self.ends: dict[str, tuple[str, str]] = {}
        self.scopes: list[str] = []
        for group in self.root.iter(f"{SVG}g"):
            what, _, _ = group.get("class", "").partition(" ")
            title = group.findtext(f"{SVG}title") or ""
            if what == "node":
                assert title not in self.boxes
                self.boxes[title] = group
            elif what == "edge":
                name = group.attrib["id"]
                assert name not in self.arrows
                self.arrows[name] = group
                tail, _, head = title.partition("->")
                self.ends[name] = tail, head
            elif what == "cluster":
                self.scopes.append("".join(map(str.strip, texts(group))))

    def kind(self, key: str) -> str:
        return self.boxes[key].attrib["class"].split()[1]


def texts(group: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in group.iter(f"{SVG}text")]


def edges(steps: BackwardSteps) -> dict[str, tuple[str, str]]:
    """What has to be drawn: each input that is a tensor, by its name on the page."""
    return {
        f"e-{key}-{position}": (tail, key)
        for key, node in steps.nodes.items()
        for position, tail in enumerate(node.inputs)
        if isinstance(tail, str)
    }


def attention() -> BackwardSteps:
    Q, K, V = (leaf(normal(3, 4), name=name) for name in "QKV")
    with trace(), scope("layer"), scope("head"):
        out, _ = scaled_dot_product_attention(Q, K, V)
    return step_backward(out, upstream(out))


def square() -> BackwardSteps:
    x = leaf(normal(3), name="x")
    return step_backward(x * x, np.ones(3))


def constants() -> BackwardSteps:
    x, c = leaf(normal(3), name="x"), Tensor(normal(3), name="c")
    return step_backward(2 * x * c + normal(3), np.ones(3))


def joined() -> BackwardSteps:
    x, y = leaf(normal(2, 3), name="x"), leaf(normal(2, 3), name="y")
    out = minigrad.concatenate([x, y, x, x * y], axis=0)
    return step_backward(out, upstream(out))


def only_a_leaf() -> BackwardSteps:
    return step_backward(leaf(normal(3), name="x"), np.ones(3))


def reread() -> BackwardSteps:
    return BackwardSteps.from_json(attention().to_json())


@pytest.mark.parametrize("make", [attention, square, constants, joined, only_a_leaf, reread])
def test_every_tensor_has_a_box_and_every_input_an_arrow(engine: str, make: Builds) -> None:
    steps = make()
    drawn = Drawn(steps)
    assert set(drawn.boxes) == set(steps.nodes)
    assert drawn.ends == edges(steps)
    assert drawn.left_out == 0
    for key, node in steps.nodes.items():
        assert drawn.kind(key) == node.kind
        said = "".join(texts(drawn.boxes[key]))
        assert node.label in said
        assert node.op in said
        assert said.endswith(ROOM) == (node.kind != "constant")
        assert texts(drawn.boxes[key]).count(ROOM) == (node.kind != "constant")


def test_a_tensor_times_itself_has_two_arrows(engine: str) -> None:
    drawn = Drawn(square())
    assert drawn.ends == {"e-n1-0": ("n0", "n1"), "e-n1-1": ("n0", "n1")}


def test_numbers_are_no_boxes_and_constants_are(engine: str) -> None:
    steps = constants()
    drawn = Drawn(steps)
    kinds = sorted(drawn.kind(key) for key in drawn.boxes)
    assert kinds == ["constant", "constant", "intermediate", "intermediate", "leaf", "root"]


def test_each_arrow_has_one_path_that_a_gradient_can_grow_along(engine: str) -> None:
    for arrow in Drawn(joined()).arrows.values():
        (path,) = arrow.iter(f"{SVG}path")
        assert path.attrib["d"].startswith("M")


def test_each_box_has_an_outline_in_the_place_where_the_page_looks_for_it(engine: str) -> None:
    for box in Drawn(attention()).boxes.values():
        outlines = [
            shape
            for shape in box.findall(f"{SVG}g/{SVG}a/*")
            if shape.tag in (f"{SVG}polygon", f"{SVG}path")
        ]
        assert outlines


def test_scopes_are_around_what_was_made_in_them(engine: str) -> None:
    assert sorted(Drawn(attention()).scopes) == ["head", "layer"]


def test_a_leaf_stands_in_the_scope_that_all_its_users_share() -> None:
    x, y = leaf(normal(3), name="x"), leaf(normal(3), name="y")
    with scope("outer"):
        with scope("a"):
            h = x * y
        with scope("b"):
            out = h * x
    scopes = step_graph._scopes(step_backward(out, np.ones(3)))
    assert [*scopes.values()] == [
        *(("outer",), ("outer", "a"), ("outer", "a"), ("outer", "b")),
    ]


def test_tooltips_say_what_was_made_of_what(engine: str) -> None:
    drawn = Drawn(attention())
    tips = [box.find(f"{SVG}g/{SVG}a") for box in drawn.boxes.values()]
    said = [tip.get(f"{XLINK}title") for tip in tips if tip is not None]
    assert "scores (3, 3): scores = Q Kᵀ" in said or "scores (3, 3): Q Kᵀ" in said
    assert "Q (3, 4): leaf" in said


def test_there_is_chinese_in_it(engine: str) -> None:
    words = "".join(texts(Drawn(attention(), language="zh").root))
    assert "叶子" in words
    assert "leaf" not in words


def test_what_was_computed_first_is_left_out(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = attention()
    monkeypatch.setattr(step_graph, "MOST_BOXES", 3)
    drawn = Drawn(steps)
    kept = [*steps.nodes][-3:]
    assert set(drawn.boxes) == {*kept, "rest"}
    assert drawn.left_out == len(steps.nodes) - 3
    wanted = {
        name: (tail if tail in kept else "rest", head)
        for name, (tail, head) in edges(steps).items()
        if head in kept
    }
    assert drawn.ends == wanted
    assert str(drawn.left_out) in "".join(texts(drawn.boxes["rest"]))
    monkeypatch.setattr(step_graph, "MOST_BOXES", len(steps.nodes))
    assert Drawn(steps).left_out == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_scopes_are_only_text(text: str) -> None:
    with trace(), scope(text):
        x = leaf([1.0, 2.0], name=text)
        out = x * 2
    drawn = Drawn(step_backward(out, np.ones(2)))
    assert set(drawn.boxes) == {"n0", "n1"}
    assert shown(text) in "".join(texts(drawn.boxes["n0"]))
    tags = {element.tag.removeprefix(SVG) for element in drawn.root.iter()}
    assert tags <= {"svg", "g", "title", "a", "polygon", "path", "text", "polyline"}
    assert not re.search(r"\son\w+=|javascript:(?!alert)|href=", drawn.svg.replace("xlink:t", ""))


def test_a_tensor_that_is_called_like_the_room_for_a_norm_keeps_its_name(engine: str) -> None:
    """The page finds the line for the norm by its text; the last one is it."""
    drawn = Drawn(step_backward(leaf([1.0], name=ROOM) * 2))
    assert "".join(texts(drawn.boxes["n0"])).count(ROOM) == 2


def test_without_an_engine_one_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    steps = square()
    without_engines(monkeypatch, tmp_path)
    with pytest.raises(DrawingError, match="pip install graphviz-pure"):
        step_graph.step_graph(steps)


def transformer(layers: int = 4, heads: int = 8) -> Tensor:
    rng = np.random.default_rng(0)
    h = leaf(rng.normal(size=(6, 32)), name="x")
    with trace():
        for layer in range(layers):
            with scope(f"layer {layer}"):
                outs = []
                for head in range(heads):
                    with scope(f"head {head}"):
                        outs.append(SelfAttention(32, 4, rng=rng)(h)[0])
                mixed = leaf(rng.normal(size=(32, 32)) / 6, name="W_O")
                h = h + minigrad.concatenate(outs, axis=-1) @ mixed
        out: Tensor = (h * h).mean()
    return out


def test_four_layers_of_eight_heads_weigh_less_than_two_megabytes() -> None:
    steps = step_backward(transformer(), keep="summary")
    assert 350 < len(steps.nodes) < 400
    page = step_page(steps)
    assert len(page.encode()) < 2_000_000
    assert len(re.findall('class="node ', page)) == len(steps.nodes)
    assert len(re.findall('id="e(?:-|&#45;)n', page)) == len(edges(steps))
