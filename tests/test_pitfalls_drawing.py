"""Ways in which drawn graphs went wrong for somebody. The letter and number at the head of each
name are the case's own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from minigrad import Tensor
from tests.helpers import leaf
from tests.viz.support import PROGRAMS, Picture, isolate, without_engines
from viz import DrawingError, draw_graph, read_graph
from viz.text import outline

ROOT = Path(__file__).parents[1]


@pytest.fixture(params=PROGRAMS)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    return isolate(request.param, monkeypatch, tmp_path)


def test_d01_an_input_used_twice_has_two_arrows(engine: str) -> None:
    x = leaf(3.0, name="x")
    picture = Picture.of(draw_graph(x * x))
    (op,) = [key for key, box in picture.boxes.items() if box.kind == "op"]
    assert picture.ends("value")[picture.named("x").key, op] == 2


def test_d01_the_first_operand_stays_the_first(engine: str) -> None:
    picture = Picture.of(draw_graph(leaf(5.0, name="b") - leaf(2.0, name="a")))
    labels = {line.tail: line.texts for line in picture.of_kind("value")}
    assert labels[picture.named("b").key] == ["a"]  # the argument's own name
    assert labels[picture.named("a").key] == ["b"]
    assert "t1 = b − a" in picture.texts


@pytest.mark.parametrize(
    "name", ["<relu> of <fc1>", "<lambda>", "<b>bold</b>", "<<TABLE></TABLE>>"]
)
def test_d03_a_name_in_angle_brackets_is_no_markup(engine: str, name: str) -> None:
    picture = Picture.of(draw_graph(leaf([1.0], name=name) * 2, title=name))
    assert picture.named(name).kind == "leaf"
    assert picture.heading[0] == name


@pytest.mark.parametrize("name", ["layer1:weight", "layer1:n", ":::", "a -> b", "n1"])
def test_d05_names_are_no_identifiers(engine: str, name: str) -> None:
    drawing = draw_graph(leaf([1.0], name=name) * leaf([2.0], name=name))
    picture = Picture.of(drawing)
    assert len(picture.boxes) == 4
    ends = {key for line in picture.lines for key in (line.tail, line.head)}
    assert ends == set(picture.boxes)
    assert [box.texts[0] for box in picture.boxes.values()].count(name) == 2


def test_d06_names_are_written_in_utf_8_whatever_the_locale(engine: str, tmp_path: Path) -> None:
    code = r"""
import sys
from pathlib import Path
from minigrad import Tensor
from viz import draw_graph
drawing = draw_graph(Tensor([1.0], requires_grad=True, name="\u6743\u91cd \u03bb") * 2)
folder = Path(sys.argv[1])
drawing.save(folder / "saved.gv")
for suffix in ("dot", "svg", "json", "txt", "mmd"):
    drawing.write(folder / f"g.{suffix}")
drawing.render(filename=folder / "rendered")
"""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", code, str(tmp_path)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    written = [path for path in tmp_path.iterdir() if path.suffix and not path.is_symlink()]
    assert len(written) == 7
    for path in written:
        assert "权重 λ" in path.read_bytes().decode("utf-8")


def test_d06_svg_is_the_default_and_the_font_can_be_chosen(engine: str) -> None:
    drawing = draw_graph(leaf([1.0], name="权重 λ"), fontname="Noto Sans CJK SC")
    assert drawing.pipe().startswith(b"<?xml")
    assert b'font-family="Noto Sans CJK SC"' in drawing.pipe()


def test_d07_without_a_layout_program_there_is_one_short_error_and_still_a_drawing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_engines(monkeypatch, tmp_path)
    drawing = draw_graph(leaf(1.0, name="x") * 2)
    with pytest.raises(DrawingError, match="pip install graphviz-pure, or install Graphviz"):
        drawing.render(outfile=tmp_path / "out.svg")
    with pytest.raises(DrawingError, match="pip install graphviz-pure, or install Graphviz"):
        drawing.write(tmp_path / "out.svg")
    assert "digraph" in drawing.source
    assert "t1 = 2 · x" in drawing.outline()
    assert "t1 = 2 · x" in drawing.mermaid()


def test_d07_without_the_package_graphviz_graphs_are_still_read_and_written_as_text() -> None:
    code = """
import sys
sys.modules["graphviz"] = None
import viz
from minigrad import Tensor
from viz.text import mermaid, outline
graph = viz.read_graph(Tensor(1.0, requires_grad=True, name="x") * 2)
assert "t1 = 2 · x" in outline(graph) and "t1 = 2 · x" in mermaid(graph)
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_d08_tensors_of_the_same_name_and_values_stay_two(engine: str) -> None:
    a, b, c = leaf([1.0], name="w"), leaf([1.0], name="w"), leaf([1.0])
    picture = Picture.of(draw_graph(a * b + c))
    leaves = [box.texts[0] for box in picture.boxes.values() if box.kind == "leaf"]
    assert sorted(leaves) == ["t1", "w", "w"]


def test_d08_the_text_is_the_same_every_time_and_in_every_process() -> None:
    code = """
from minigrad import Tensor
from viz import draw_graph
a, b = (Tensor([1.0], requires_grad=True, name="w") for _ in "ab")
drawing = draw_graph(a * b + Tensor([1.0], requires_grad=True))
assert drawing.source == draw_graph(a * b + Tensor([1.0], requires_grad=True)).source
print(ascii(drawing.source))
"""
    told = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code]
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        told.add(ran.stdout)
    assert len(told) == 1


def test_d10_a_gradient_that_was_not_computed_is_not_drawn_as_0(engine: str) -> None:
    x = leaf(3.0, name="x")
    out = x * 2
    out.name = "L"
    before = Picture.of(draw_graph(out))
    assert before.named("x").texts[-2:] == ["∂L", "none yet"]
    assert before.named("L").texts[-2:] == ["∂L", "none yet"]
    assert not [text for text in before.texts if text.startswith("0")]
    out.backward()
    after = Picture.of(draw_graph(out))
    assert after.named("x").texts[-2:] == ["∂L", "2"]
    assert after.named("L").texts[-2:] == ["∂L", "not kept"]


@pytest.mark.parametrize("lone", [leaf(3.0, name="x"), Tensor(np.ones((2, 3)), name="x")])
def test_d10_a_lone_tensor_is_a_drawing_of_one_box(engine: str, lone: Tensor) -> None:
    picture = Picture.of(draw_graph(lone))
    assert [*picture.boxes] == [picture.named("x").key]
    assert picture.lines == []
    assert outline(read_graph(lone)).startswith("x  ")
