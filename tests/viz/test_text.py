"""Graphs as text: the tree for a terminal and Mermaid for a page, read back."""

import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
import viz
from attention import SelfAttention
from minigrad import Tensor, primitive, trace
from tests.helpers import leaf
from tests.viz.support import HOSTILE, heads, normal, random_graph, shown, upstream
from viz import draw_graph, read_graph
from viz.graph import REST, Graph
from viz.text import mermaid, outline

ROOT = Path(__file__).parents[2]


def attention() -> Tensor:
    layer = SelfAttention(6, 4, 5)
    with trace(), minigrad.scope("head 0"):
        context, _ = layer(normal(3, 6))
    context.backward(upstream(context))
    return context


def folded() -> Graph:
    with trace():
        _, loss = heads(4)
    loss.backward()
    return read_graph(loss, collapse="head [02]")


GRAPHS: dict[str, Callable[[], Graph]] = {
    "attention": lambda: read_graph(attention(), parameters=[SelfAttention(2, 2)]),
    "folded": folded,
    "cut": lambda: read_graph(attention(), max_nodes=6),
    "only the root": lambda: read_graph(attention(), max_nodes=1),
    "random": lambda: read_graph(random_graph(1)[0]),
    "lone": lambda: read_graph(leaf(3.0, name="x")),
}


# ------------------------------------------------------------------------------------ the tree


def columns(text: str) -> int:
    """How wide a terminal shows a text."""
    wide = {"W": 2, "F": 2}
    return sum(
        0 if unicodedata.combining(c) else wide.get(unicodedata.east_asian_width(c), 1)
        for c in text
    )


def split(text: str) -> list[tuple[str, ...]]:
    """The lines of an outline as their cells."""
    return [tuple(re.split(r" {2,}", line)) for line in text.splitlines()]


def test_a_chain_reads_from_the_root_down() -> None:
    x = leaf([1.0, 2.0], name="x")
    loss = minigrad.tanh(x * leaf([3.0, 5.0], name="w") + 1).sum()
    loss.name = "loss"
    assert outline(read_graph(loss)).splitlines() == [
        "loss  scalar  loss = Σ t3    ∂L none yet",
        "t3    (2,)    t3 = tanh(t2)  ∂L none yet",
        "t2    (2,)    t2 = t1 + 1    ∂L none yet",
        "t1    (2,)    t1 = x ⊙ w     ∂L none yet",
        "├ x   (2,)    leaf           ∂L none yet",
        "├ w   (2,)    leaf           ∂L none yet",
    ]


def test_branches_are_indented_and_what_stands_above_is_not_told_again() -> None:
    x = leaf([1.0, 2.0], name="x")
    a, b = x * 2, minigrad.tanh(x)
    a.name, b.name = "a", "b"
    out = (a * 3) * b + a
    text = outline(read_graph(out)).replace("∂L none yet", "")
    assert [re.sub(" {2,}", "  ", line.rstrip()) for line in text.splitlines()] == [
        "t3  (2,)  t3 = t2 + a",
        "├ t2  (2,)  t2 = t1 ⊙ b",
        "│ ├ t1  (2,)  t1 = 3 · a",
        "│ │ a  (2,)  a = 2 · x",
        "│ │ ├ x  (2,)  leaf",
        "│ b  (2,)  b = tanh(x)",
        "│ ├ x  see above",
        "├ a  see above",
    ]


def test_what_is_short_stands_before_what_is_long() -> None:
    x, y = leaf([1.0, 2.0], name="x"), leaf([1.0, 2.0], name="y")
    a, b = x * 2, minigrad.tanh(x)
    a.name, b.name = "a", "b"
    lines = outline(read_graph(minigrad.stack([a, y, b]))).splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == ["├ y", "├ a", "│ ├ x", "b", "├ x"]


@pytest.mark.parametrize("name", GRAPHS)
def test_every_tensor_and_fold_has_its_one_line(name: str) -> None:
    graph = GRAPHS[name]()
    lines = [line for line in outline(graph).splitlines() if not line.endswith("see above")]
    kept = [re.sub(r"^[│├ ]*", "", line) for line in lines]
    labels = [box.label for box in graph.tensors.values()]
    folds = [f"{x.label} × {x.times}" if x.times > 1 else x.label for x in graph.folds.values()]
    rest = [f"… older ops left out: {graph.left_out}"] if graph.left_out else []
    for label, count in Counter([*labels, *folds, *rest]).items():
        found = [line for line in kept if line.startswith((f"{label}  ", f"{label} "))]
        assert len([line for line in kept if line == label or line in found]) >= count
    assert len(lines) == len(labels) + len(folds) + len(rest)
    assert lines[0].startswith(graph.tensors[graph.root].label)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_columns_are_straight(name: str, language: str) -> None:
    graph = GRAPHS[name]()
    text = outline(graph, language)
    starts: list[set[int]] = [set(), set()]
    for box in graph.tensors.values():
        shape = str(box.shape) if box.shape else {"en": "scalar", "zh": "标量"}[language]
        for line in text.splitlines():
            if f"  {shape}  " in line:
                starts[0].add(columns(line[: line.index(f"  {shape}  ")]))
            if "∂L" in line:
                starts[1].add(columns(line[: line.rindex("∂L")]))
    assert all(len(found) <= 1 for found in starts)


def test_wide_characters_take_two_columns_and_accents_none() -> None:
    x = leaf([1.0, 2.0], name="权重 λ")
    out = x * leaf([1.0, 2.0], name="e\u0301")
    lines = outline(read_graph(out)).splitlines()
    starts = {columns(line[: line.index("(2,)")]) for line in lines}
    assert starts == {len("├ ") + 6 + 2}


def test_gradients_are_said_as_they_are_known() -> None:
    x, c = leaf([3.0, 4.0], name="x"), Tensor([1.0, 2.0], name="c")
    out = x + c
    said = {row[0]: row[-1] for row in split(outline(read_graph(out)))}
    assert (said["├ x"], said["t1"], said["├ c"]) == ("∂L none yet", "∂L none yet", "constant")
    out.backward(np.array([3.0, 4.0]))
    said = {row[0]: row[-1] for row in split(outline(read_graph(out)))}
    assert (said["├ x"], said["t1"]) == ("∂L norm 5", "∂L not kept")


def test_the_tree_of_60_doublings_has_a_line_for_each() -> None:
    y = leaf([1.0, 2.0], name="x")
    for _ in range(60):
        y = y + y
    assert len(outline(read_graph(y)).splitlines()) == 61


@pytest.mark.slow
def test_a_tree_of_5000_ops_in_a_row_is_written() -> None:
    y = leaf([1.0, 2.0], name="x")
    for _ in range(5_000):
        y = y + 0.5
    lines = outline(read_graph(y, max_nodes=20_000)).splitlines()
    assert (len(lines), lines[-1].split()[1]) == (5_001, "x")


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_in_a_tree_moves_the_cursor(name: str) -> None:
    with minigrad.scope(name):
        y = leaf([1.0, 2.0], name=name) * 2
    for graph in (read_graph(y), read_graph(y + 1, collapse="*")):
        text = outline(graph)
        assert all(line.isprintable() for line in text.split("\n"))
        assert shown(name) in text
    assert len(outline(read_graph(y)).split("\n")) == 2


def test_options_and_names_of_ops_do_not_move_the_cursor() -> None:
    def forward(x: Any, *, how: str) -> Any:
        return x * 1.0 if isinstance(x, np.ndarray) else x.nothing

    forward.__name__ = "<lambda>\x1b[2J"
    y = primitive(lambda g: g)(forward)(leaf([1.0, 2.0], name="x"), how="\x1b[31m\r\n")
    for text in (outline(read_graph(y)), mermaid(read_graph(y))):
        assert all(line.isprintable() for line in text.split("\n"))


def test_chinese_trees_hold_no_english_word() -> None:
    graph = folded()
    text = outline(read_graph(attention(), max_nodes=9), "zh") + outline(graph, "zh")
    known = {box.name for box in graph.ops.values()} | {"head", "context", "weights", "scaled"}
    known |= {"scores", "exp", "concatenate", "axis", "softmax", "tanh", "float"}
    assert set(re.findall("[A-Za-z]{3,}", text)) <= known
    assert {"见上文", "省略了"} & set(re.findall("见上文|省略了", text))


# ------------------------------------------------------------------------------------- Mermaid

NODE = re.compile(
    r'  (?P<key>\w+)(?P<start>[\[\](){}>/\\]+)"(?P<text>[^"]*)"[\[\](){}/\\]+:::(\w+)'
)
LINK = re.compile(r'  (\w+) (\S+?)(?:\|"([^"]*)"\|)? (\w+)')


def visible(text: str) -> list[str]:
    """The lines of a text in Mermaid's writing: entities resolved, as Mermaid does it."""
    lines = text.split("<br/>")
    return [re.sub(r"#(\d+);", lambda found: chr(int(found[1])), line) for line in lines]


class Flowchart:
    """Mermaid read back line by line; a line that is not understood is an error."""

    def __init__(self, text: str) -> None:
        self.nodes: dict[str, tuple[str, str, list[str]]] = {}  # kind, its brackets, its texts
        self.links: list[tuple[str, str, str, list[str]]] = []  # tail, head, arrow, texts
        self.scopes: dict[str, tuple[str, ...]] = {}  # of each node, the titles around it
        self.classes: set[str] = set()
        inside: list[str] = []
        first, *lines = text.split("\n")
        self.direction = first.removeprefix("flowchart ")
        for line in lines:
            if found := NODE.fullmatch(line):
                self.scopes[found["key"]] = tuple(inside)
                self.nodes[found["key"]] = (found[4], found["start"], visible(found["text"]))
            elif found := re.fullmatch(r'  subgraph (\w+)\["([^"]*)"\]', line):
                assert found[1] not in self.nodes
                inside.append(visible(found[2])[0])
            elif line == "  end":
                inside.pop()
            elif found := re.fullmatch(r"  class (s\d+) scope", line):
                assert f"subgraph {found[1]}[" in text
            elif found := LINK.fullmatch(line):
                texts = visible(found[3]) if found[3] else []
                self.links.append((found[1], found[4], found[2], texts))
            else:
                found = re.fullmatch(r"  classDef (\w+) [\w:#,.-]+", line)
                assert found, line
                self.classes |= {found[1]}
        assert inside == []


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_mermaid_holds_the_boxes_and_arrows_of_the_graph(name: str, direction: str) -> None:
    graph = GRAPHS[name]()
    chart = Flowchart(mermaid(graph, direction))
    assert chart.direction == direction
    texts: dict[str, tuple[str, list[str]]] = {
        key: (box.kind, [box.label + box.mark, str(box.shape) if box.shape else "scalar"])
        for key, box in graph.tensors.items()
    }
    texts |= {key: ("op", [box.name, box.formula]) for key, box in graph.ops.items()}
    for key, fold in graph.folds.items():
        label = f"{fold.label} × {fold.times}" if fold.times > 1 else fold.label
        texts[key] = ("fold", [label, f"ops: {fold.ops}, tensors: {fold.tensors}"])
    if graph.left_out:
        said = [f"older ops left out: {graph.left_out}", "shown are the last that were computed"]
        texts[REST] = ("rest", said)
    assert {key: (kind, lines) for key, (kind, _, lines) in chart.nodes.items()} == texts
    assert {kind for kind, _, _ in chart.nodes.values()} <= chart.classes
    scopes = {key: tensor.scope for key, tensor in graph.tensors.items()}
    scopes |= {key: op.scope for key, op in graph.ops.items()}
    assert {key: chart.scopes[key] for key in scopes} == scopes
    expected = [(a.tail, a.head, [a.label] if a.label else []) for a in graph.values]
    values = [(tail, head, texts) for tail, head, arrow, texts in chart.links if arrow == "-->"]
    assert values == expected
    assert len(chart.links) == len(graph.values) + len(graph.gradients)


def test_every_kind_of_node_has_a_shape_and_colours_of_its_own() -> None:
    w = leaf(normal(4, 2), name="w")
    with minigrad.scope("inside"):
        h = leaf(normal(3, 4), name="x") @ w
    out = (h * np.ones((3, 2))).sum(axis=0)
    brackets: dict[str, set[str]] = {}
    text = ""
    for graph in (
        read_graph(out, parameters=[w], collapse="inside"),
        read_graph(h, parameters=[w]),
        read_graph(out, max_nodes=3),
    ):
        text = mermaid(graph)
        for kind, start, _ in Flowchart(text).nodes.values():
            brackets.setdefault(kind, set()).add(start)
    assert len(brackets) == 8
    starts = [start for found in brackets.values() for start in found]
    assert len(set(starts)) == len(starts) == 8
    looks = re.findall(r"classDef \w+ (fill:#\w+,stroke:#\w+)", text)
    assert len(looks) == 8
    assert len(set(looks)) == 7  # an op and a fold differ by their shapes


def test_gradients_are_dotted_and_say_their_rule_and_norm() -> None:
    graph = read_graph(attention())
    chart = Flowchart(mermaid(graph))
    gradients = [texts for _, _, arrow, texts in chart.links if "-." in arrow]
    assert len(gradients) == len(graph.gradients)
    for arrow, texts in zip(graph.gradients, gradients, strict=True):
        assert arrow.norm is not None
        rule = [arrow.rule] if arrow.rule else []
        said = [re.sub("^[←↑] ?", "", text) for text in texts]
        assert said[:-1] == rule
        assert re.fullmatch(r"norm \S+", said[-1])
        assert float(said[-1].removeprefix("norm ")) == pytest.approx(arrow.norm, rel=5e-3)


@pytest.mark.parametrize(("direction", "sign"), [("LR", "←"), ("TB", "↑")])
def test_the_sign_of_a_gradient_points_against_the_values(direction: str, sign: str) -> None:
    chart = Flowchart(mermaid(read_graph(attention()), direction))
    signs = {texts[0][0] for _, _, arrow, texts in chart.links if arrow != "-->"}
    assert signs == {sign}


def test_what_is_not_computed_is_not_said_to_be_0() -> None:
    chart = Flowchart(mermaid(read_graph(leaf(1.0, name="x") * 2)))
    said = [" ".join(texts) for _, _, arrow, texts in chart.links if arrow != "-->"]
    assert [text.strip("←↑ ") for text in said] == ["2 · G", ""]


@pytest.mark.parametrize("name", GRAPHS)
def test_links_make_no_circle_so_that_values_flow_in_the_direction_asked_for(name: str) -> None:
    """Mermaid ranks by links; where some lead back it reverses whichever it meets first."""
    chart = Flowchart(mermaid(GRAPHS[name]()))
    waiting = {key: set[str]() for key in chart.nodes}
    for tail, head, _, _ in chart.links:
        waiting[head].add(tail)
    while waiting:
        free = {key for key, tails in waiting.items() if not tails}
        assert free, "the links make a circle"
        waiting = {key: tails - free for key, tails in waiting.items() if key not in free}


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_the_user_s_is_no_markup_in_mermaid(text: str) -> None:
    with minigrad.scope(text):
        x = leaf([1.0, 2.0], name=text)
        y = x * leaf([3.0, 5.0], name="y " + text)
    written = mermaid(read_graph(y))
    chart = Flowchart(written)
    assert shown(text) in [lines[0] for _, _, lines in chart.nodes.values()]
    assert {scopes for scopes in chart.scopes.values() if scopes} == {(shown(text, 1000),)}
    body = "\n".join(re.findall(r'"([^"]*)"', written)).replace("<br/>", "\n")
    # Marks of HTML and Markdown, directives, formulas, icons, and the words that Mermaid looks for
    # before anything else in each line: "style: ... #" and "classDef: ... #" lose a semicolon.
    assert not set(re.sub(r"#\d+;", "", body)) & set('<>&"`\\')
    assert "%%" not in body
    assert "$$" not in body
    assert not re.search(r"\bfa[bklrs]?:", body)
    assert not re.search(r"(style|classDef).*:\S*#.*;", body)


def test_a_fence_of_markdown_cannot_be_closed_from_inside(tmp_path: Path) -> None:
    y = leaf([1.0, 2.0], name="```\n<script>") * 2
    text = draw_graph(y).write(tmp_path / "g.md").read_text("utf-8")
    assert text.count("```") == 2


# ------------------------------------------------------------------------------- how it is reached


def test_both_can_be_imported_from_viz_however_often_and_whatever_came_before() -> None:
    code = """
import viz
from viz import draw_graph, mermaid, outline
graph = viz.read_graph(__import__("minigrad").Tensor(1.0, requires_grad=True) * 2)
assert viz.outline(graph) == outline(graph)
assert viz.mermaid(graph) == mermaid(graph)
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    assert callable(viz.outline)
    assert callable(viz.mermaid)


def test_a_drawing_knows_its_language_and_direction() -> None:
    drawing = draw_graph(attention(), language="zh", direction="TB")
    assert drawing.outline() == outline(drawing.graph, "zh")
    assert drawing.mermaid() == mermaid(drawing.graph, "TB", "zh")
    assert drawing.mermaid().startswith("flowchart TB\n")
    assert "范数" in drawing.outline()
