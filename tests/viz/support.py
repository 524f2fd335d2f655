"""Drawings read back from what a layout engine made of them, by none of the code that drew them."""

from __future__ import annotations

import json
import os
import shutil
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, trace
from minigrad.graph import Node
from tests.helpers import Array, leaf, node_of
from viz.drawing import Drawing, draw_graph
from viz.graph import REST, Graph, OpBox, TensorBox
from viz.layout import find_engine

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"
PROGRAMS = ("dot", "graphviz-pure")
UNSEEN = ("none", "transparent")  # one word for it in new versions of Graphviz, one in old ones

HOSTILE = [
    "<script>alert(1)</script>",
    '"]; evil [label="',
    r"\N \G \L \T \E \H",
    r"\Gamma",
    "<b>|{}\\",
    "</title></text></svg>",
    "]]> --> <!--",
    "javascript:alert(1)",
    "a\x00b\x1b[31mc\nd\te\x85f",
    "\u202eevil\u2066\u200f",
    "x" * 300,
    "\N{CAT FACE} 权重 λ 猫",
    "$x^2$",
    "end",
    "subgraph",
    "&lt;b&gt; &amp; &#60; &nbsp;",
    "<relu> of <fc1>",
    "layer1:weight",
    "\ud800",
    '%%{init: {"theme": "dark"}}%%',
    "style:_x#y; fa:fa-car $$x^2$$",
]
"""Names that somebody could mean harm with, or only be unlucky with."""


def shown(name: str, longest: int = 48) -> str:
    """What a reader shall see of a name: all of it, in one line, if it is not very long."""
    visible = "".join([c if c.isprintable() else "�" for c in name])
    return visible if len(visible) <= longest else visible[: longest - 1] + "…"


def hostile_drawing(text: str) -> Drawing:
    """A drawing with this text in every place that a user can fill."""
    with trace(), minigrad.scope(text):
        x = leaf([1.0, 2.0], name=text)
        with minigrad.scope("fold " + text):
            h = x * 2
    out = h + x
    return draw_graph(out, title=text, collapse="fold *")


# ----------------------------------------------------------------------------------- layout engines


def isolate(program: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    """Let `program` be the only layout engine there is; its path."""
    places = (os.environ.get("PATH", ""), sysconfig.get_path("scripts"))
    found = shutil.which(program, path=os.pathsep.join(places))
    if found is None:
        pytest.skip(f"{program} is not installed")
    only = folder / program
    only.symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    assert find_engine() == (program, str(only))
    return program


def without_engines(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """A machine that has neither `dot` nor graphviz-pure."""
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(sysconfig, "get_path", lambda *_: str(folder))


# ------------------------------------------------------------------------------------ reading a SVG


@dataclass
class Box:
    """A node of the picture: what a reader sees of it, and what stands where the pointer rests."""

    key: str
    kind: str
    texts: list[str]
    tooltip: str
    outline: str  # the SVG elements that it is drawn with, and how many corners they have
    fill: str
    line: str
    cells: list[tuple[str, str]]  # texts on a background of their own, with that

    @property
    def words(self) -> str:
        """All texts in one."""
        return " ".join(self.texts)


@dataclass
class Line:
    """An edge of the picture."""

    tail: str
    head: str
    kind: str
    texts: list[str]
    tooltip: str
    dashes: str
    width: float
    colour: str


@dataclass
class Cluster:
    """A scope in the picture, and the boxes inside it, those of inner scopes among them."""

    title: str
    boxes: set[str]


@dataclass
class Picture:
    """What a drawing looks like, read from the engine's SVG."""

    svg: str
    root: ElementTree.Element
    boxes: dict[str, Box] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    heading: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, drawing: Drawing) -> Picture:
        """Lay a drawing out and read what came of it, as XML."""
        svg = drawing.pipe(format="svg").decode()
        picture = cls(svg, ElementTree.fromstring(svg))
        (whole,) = picture.root.findall(f"{SVG}g")
        picture.heading = _texts(whole)
        for group in whole.findall(f"{SVG}g"):
            what, kind = group.attrib["class"].split(" ", 1)
            if what == "node":
                box = _box(group, kind)
                picture.boxes[box.key] = box
            elif what == "edge":
                picture.lines.append(_line(group, kind))
            else:
                picture.scopes += [" ".join(_texts(group))]
        return picture

    @property
    def texts(self) -> list[str]:
        """Every text in it."""
        return ["".join(text.itertext()) for text in self.root.iter(f"{SVG}text")]

    def named(self, label: str) -> Box:
        """The one tensor or fold whose heading is this."""
        (box,) = [
            box
            for box in self.boxes.values()
            if box.kind != "op" and label in (box.texts[0], *box.texts[1:2])
        ]
        return box

    def of_kind(self, kind: str) -> list[Line]:
        """The arrows of values or of gradients."""
        return [line for line in self.lines if line.kind == kind]

    def ends(self, kind: str) -> Counter[tuple[str, str]]:
        """How often there is an arrow from one box to another."""
        return Counter((line.tail, line.head) for line in self.of_kind(kind))


def _texts(group: ElementTree.Element) -> list[str]:
    """What stands in the group itself, not in a group within."""
    return ["".join(text.itertext()) for text in group.findall(f"{SVG}text")]


def _inside(group: ElementTree.Element) -> ElementTree.Element:
    """What the engine put into a link to nowhere, to hold a tooltip."""
    found = group.find(f"{SVG}g/{SVG}a")
    assert found is not None
    return found


def _box(group: ElementTree.Element, kind: str) -> Box:
    inside = _inside(group)
    tags = [element.tag.removeprefix(SVG) for element in inside]
    shapes = [x for x in inside if x.tag != f"{SVG}text"]
    outlines = [x for x in shapes if x.get("stroke") not in UNSEEN]
    grounds = [x for x in shapes if x.get("stroke") in UNSEEN]
    first = outlines[0]
    cells = []
    for ground in grounds:
        after = list(inside)[list(inside).index(ground) + 1]
        cells.append(("".join(after.itertext()), ground.attrib["fill"]))
    assert set(tags) <= {"text", "polygon", "polyline", "path", "ellipse"}
    return Box(
        group.findtext(f"{SVG}title") or "",
        kind,
        _texts(inside),
        inside.attrib[f"{XLINK}title"],
        " ".join(map(_corners, outlines)),
        first.attrib["fill"],
        first.attrib["stroke"],
        cells,
    )


def _corners(shape: ElementTree.Element) -> str:
    """An SVG element, and its number of corners if it has a fixed one."""
    points = shape.get("points", "").split()
    return f"{shape.tag.removeprefix(SVG)}{len(points) or ''}"


def _line(group: ElementTree.Element, kind: str) -> Line:
    inside = _inside(group)
    tail, head = (group.findtext(f"{SVG}title") or "").split("->")
    if kind == "gradient":  # written from the input on, with its head at the start
        tail, head = head, tail
    path = inside.find(f"{SVG}path")
    assert path is not None
    texts = [text for part in group.findall(f"{SVG}g/{SVG}a") for text in _texts(part)]
    return Line(
        tail,
        head,
        kind,
        texts,
        inside.attrib[f"{XLINK}title"],
        path.get("stroke-dasharray", ""),
        float(path.get("stroke-width", 1.0)),
        path.attrib["stroke"],
    )


# ----------------------------------------------------------------------------------- reading a JSON


def clusters(drawing: Drawing) -> dict[str, Cluster]:
    """The scopes of a drawing by what stands on them, as the engine's JSON has them."""
    laid_out = json.loads(drawing.pipe(format="json"))
    things = {thing["_gvid"]: thing for thing in laid_out.get("objects", [])}
    found = {}
    for thing in things.values():
        if thing["name"].startswith("cluster"):
            boxes = {things[number]["name"] for number in thing.get("nodes", [])}
            title = " ".join(drawn_texts(thing))
            assert title not in found
            found[title] = Cluster(title, boxes)
    return found


def drawn_texts(thing: dict[str, Any]) -> list[str]:
    """The texts that the engine drew on a thing of its JSON."""
    return [step["text"] for step in thing.get("_ldraw_", []) if step["op"] == "T"]


# ------------------------------------------------------------------------- graphs, read by hand


def recorded(root: Tensor) -> list[Node]:
    """Every node behind a tensor, constants among them, found by following the inputs alone."""
    found = {node_of(root): None}
    waiting = [node_of(root)]
    while waiting:
        for parent in waiting.pop().inputs:
            if isinstance(parent, Node) and parent not in found:
                found[parent] = None
                waiting.append(parent)
    return list(found)


def keys_of(graph: Graph, root: Tensor) -> dict[Node, str]:
    """Which box is which tensor: found by walking both at once, from the root on.

    On the way it is seen to that each op has one arrow for each of its inputs, in their order.
    """
    into: dict[str, list[str]] = {}
    for arrow in graph.values:
        into.setdefault(arrow.head, []).append(arrow.tail)
    found = {node_of(root): graph.root}
    waiting = [node_of(root)]
    while waiting:
        node = waiting.pop()
        if node.primitive is None:
            assert found[node] not in into
            continue
        (op,) = into[found[node]]
        parents = [x for x in node.inputs if isinstance(x, Node)]
        assert op in graph.ops
        for parent, tail in zip(parents, into[op], strict=True):
            waiting += [parent] if parent not in found else []
            assert found.setdefault(parent, tail) == tail
    assert len(set(found.values())) == len(found)
    return found


def heads(count: int, *names: str, spread: int = 0) -> tuple[Tensor, Tensor]:
    """So many equal heads, each in a scope, and the sum of what they make."""
    x = leaf(normal(3, 4), name="x")
    made = []
    for i in range(count):
        with minigrad.scope(names[i] if names else f"head {i}"):
            w = leaf(normal(4, 4, seed=i), name="w")
            made.append(minigrad.tanh(x @ w) @ leaf(normal(4, 2 + i * spread, seed=i)))
    return x, minigrad.concatenate(made, axis=-1).sum()


STEPS: list[Callable[[Tensor, Tensor, Tensor, Array], Tensor]] = [
    lambda a, b, c, drawn: a + b,
    lambda a, b, c, drawn: a * a,
    lambda a, b, c, drawn: a - b * 0.5,
    lambda a, b, c, drawn: 2.0 - a,
    lambda a, b, c, drawn: a / (b * b + 1.0),
    lambda a, b, c, drawn: a * drawn,
    lambda a, b, c, drawn: minigrad.tanh(a @ b.mT) @ c,
    lambda a, b, c, drawn: minigrad.stack([a, b, c, a]).mean(axis=0),
    lambda a, b, c, drawn: minigrad.concatenate([a, b])[1:4],
    lambda a, b, c, drawn: minigrad.where(drawn < 0.0, a, b),
    lambda a, b, c, drawn: minigrad.softmax(a, axis=0),
]
"""Inputs used twice, broadcast, transposed, indexed, joined and mixed with numbers and arrays."""


def random_graph(seed: int, length: int = 14) -> tuple[Tensor, list[Tensor]]:
    """A root that random steps lead to from random leaves; and those leaves."""
    rng = np.random.default_rng(seed)
    leaves = [leaf(rng.normal(size=shape)) for shape in ((3, 4), (4,), (3, 1))]
    made = [leaves[0] + leaves[1] * leaves[2], Tensor(rng.normal(size=(3, 4)), name="constant")]
    for _ in range(length):
        a, b, c = (made[rng.integers(len(made))] for _ in "abc")
        step = STEPS[rng.integers(len(STEPS))]
        made.append(step(a, b, c, rng.normal(size=(3, 4))))
    joined: Tensor = minigrad.stack(made)
    return joined.mean(axis=0), leaves


def normal(*shape: int, seed: int = 0) -> Array:
    """Independent N(0, 1) entries."""
    return np.asarray(np.random.default_rng(seed).normal(size=shape))


def upstream(tensor: Tensor, seed: int = 1) -> Array:
    """A random gradient to start from."""
    return np.asarray(np.random.default_rng(seed).normal(size=tensor.shape))


def boxes(graph: Graph) -> set[str]:
    """The keys of all boxes, the one that stands for the rest among them."""
    return {*graph.tensors, *graph.ops, *graph.folds} | ({REST} if graph.left_out else set())


def labels(graph: Graph) -> list[str]:
    """What the tensors are called, oldest first."""
    return [box.label for box in graph.tensors.values()]


def tensor(graph: Graph, label: str) -> TensorBox:
    """The one tensor that is called so."""
    (box,) = [box for box in graph.tensors.values() if box.label == label]
    return box


def op(graph: Graph, name: str) -> OpBox:
    """The one op of that name."""
    (box,) = [box for box in graph.ops.values() if box.name == name]
    return box


def texts_of(graph: Graph) -> Iterator[str]:
    """Labels and formulas: everything in a graph that is read."""
    for tensor in graph.tensors.values():
        yield tensor.label
    for op in graph.ops.values():
        yield op.formula
