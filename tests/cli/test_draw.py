"""`minigrad draw` runs a script and draws what it computed.

How the script is run is tested in `test_script.py`; how a graph is read and drawn, in `tests/viz`.
"""

import gc
import json
import os
import subprocess
import sys
import time
import unicodedata
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import viz
from minigrad import Tensor
from minigrad.cli import app, printable
from minigrad.cli.examples import all_examples
from minigrad.graph import Node, history
from tests.helpers import node_of

START = """
import numpy as np
import minigrad
from minigrad import Tensor
x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True, name="x")
w = Tensor(np.arange(12.0).reshape(3, 4), requires_grad=True, name="w")
"""
PRODUCT = START + "h = x @ w\nh.name = 'h'\nloss = (h * h).mean()\nloss.backward()\n"
LOOP = START + (
    "for step in range({}):\n    loss = ((x @ w) ** 2).mean()\n    loss.backward()\n"
    "    for p in (x, w):\n        p.data -= 1e-4 * p.grad\n        p.grad = None\n"
)
ATTENTION = START + (
    "for step in range({}):\n    scores = x @ w\n    scores.name = 'scores'\n"
    "    weights = minigrad.softmax(scores)\n    weights.name = 'weights'\n"
    "    (weights**2).sum().backward()\n"
    "    for p in (x, w):\n        p.data -= 0.1 * p.grad\n        p.grad = None\n"
)
TURNS = START + (
    "def turn(factor, name):\n    y = x * factor\n    y.name = name\n    y.sum().backward()\n"
    "turn(2, 'even')\nturn(3, 'odd')\nturn(4, 'even')\nturn(5, 'odd')\nturn(6, 'last')\n"
)


class Desk:
    """A folder with scripts, in which `minigrad draw` is called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def script(self, source: str, name: str = "script.py") -> str:
        (self.folder / name).write_text(source, encoding="utf-8")
        return name

    def draw(self, *arguments: str, language: str = "en") -> Result:
        return CliRunner().invoke(app, ["draw", "--language", language, *arguments])

    def outline(self, source: str, *arguments: str, name: str = "") -> list[str]:
        """The tree of text that is drawn of a script, line by line, and nothing went wrong."""
        result = self.draw(self.script(source) + name, *arguments)
        assert (result.exit_code, result.stderr) == (0, ""), result.stderr or result.exception
        return result.stdout.splitlines()

    def refusal(self, *arguments: str) -> str:
        """The one line that tells what was wrong, and that it was the user's to put right."""
        result = self.draw(*arguments)
        assert result.exit_code == 2, result.exception
        assert result.stderr.count("\n") == 1
        assert result.stderr == printable(result.stderr.rstrip("\n")) + "\n"
        assert result.stderr.startswith("minigrad: ")
        return result.stderr

    def files(self) -> set[str]:
        return {str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file()}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path)


@pytest.fixture
def drawings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Tensor, dict[str, Any]]]:
    """What is drawn from now on: its root and the options."""
    drawn: list[tuple[Tensor, dict[str, Any]]] = []

    def draw_graph(root: Tensor, **options: Any) -> Any:
        drawn.append((root, options))
        return viz.draw_graph(root, **options | {"collapse": ()})

    monkeypatch.setattr("minigrad.cli.draw.draw_graph", draw_graph)
    return drawn


def names_in(outline: list[str]) -> list[str]:
    """What stands first in each line of a tree."""
    return [line.replace("├ ", "").replace("│ ", "").split("  ")[0] for line in outline]


def columns(text: str) -> int:
    """How wide a terminal shows it."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


# ------------------------------------------------------------------------------- which tensor


def test_tensors_without_a_name_are_called_as_the_script_calls_them(desk: Desk) -> None:
    source = START + "y = x @ w\nz = (y * 2).sum()\nz.backward()\n"
    assert names_in(desk.outline(source)) == ["z", "t1", "y", "x", "w"]


def test_the_tensor_that_backward_was_called_on_is_drawn_with_its_gradients(desk: Desk) -> None:
    assert desk.outline(PRODUCT) == [
        "loss  scalar  loss = mean(t1)  ∂L norm 1",
        "t1    (2, 4)  t1 = h ⊙ h       ∂L norm 0.354",
        "h     (2, 4)  h = x w          ∂L norm 50.5",
        "├ x   (2, 3)  leaf             ∂L norm 1.13e3",
        "├ w   (3, 4)  leaf             ∂L norm 480",
    ]


def test_of_several_backwards_the_first_is_drawn_or_the_one_that_is_asked_for(desk: Desk) -> None:
    source = START + "for i in range(3):\n    y = (x * (i + 2)).sum()\n    y.backward()\n"
    assert "2 · x" in desk.outline(source)[1]
    assert "2 · x" in desk.outline(source, "--at", "1")[1]
    assert "4 · x" in desk.outline(source, "--at", "3")[1]


@pytest.mark.parametrize("name", ["", ":h", ":x", ":nope"])
def test_a_backward_that_does_not_come_is_said_with_how_many_came(desk: Desk, name: str) -> None:
    once, often = desk.script(PRODUCT, "once.py"), desk.script(LOOP.format(4), "often.py")
    said = desk.refusal(once + name, "--at", "9")
    assert said == "minigrad: once.py calls backward() 1 time; --at is 1\n"
    said = desk.refusal(often + name, "--at", "5")
    assert said == "minigrad: often.py calls backward() 4 times; --at is 1 to 4\n"


def test_where_every_backward_fails_the_message_asks_for_a_name(desk: Desk) -> None:
    source = START + (
        "y = x.sum()\ny.register_hook(lambda g: 1 / 0)\n"
        "try:\n    y.backward()\nexcept ZeroDivisionError:\n    pass\n"
    )
    assert "calls backward() and it fails: name a" in desk.refusal(desk.script(source))
    assert names_in(desk.outline(source + "(x * 3).sum().backward()")) == ["t2", "t1", "x"]


@pytest.mark.parametrize(
    "source", ["", START, START + "minigrad.grad((x * x).sum(), x)", "x = 5\nprint(x)"]
)
def test_without_a_backward_the_message_asks_for_a_name_and_lists_those_there_are(
    desk: Desk, source: str
) -> None:
    said = desk.refusal(desk.script(source))
    assert "backward()" in said
    assert "script.py:NAME" in said
    assert ("its variables are x, w" in said) == (START in source)


def test_a_backward_inside_a_hook_counts_after_the_one_that_it_is_called_in(desk: Desk) -> None:
    source = START + (
        "inner = Tensor(3.0, requires_grad=True, name='inner')\n"
        "outer = x * 2\nouter.name = 'outer'\n"
        "outer.register_hook(lambda g: (inner * inner).backward())\nouter.sum().backward()\n"
    )
    assert "outer" in names_in(desk.outline(source))
    assert "inner" in names_in(desk.outline(source, "--at", "2"))


def test_a_backward_in_an_async_task_is_drawn(desk: Desk) -> None:
    source = "import asyncio\nasync def f():\n    (x * x).sum().backward()\nasyncio.run(f())"
    assert names_in(desk.outline(START + source)) == ["t2", "t1", "x"]


def test_a_backward_inside_no_grad_is_drawn(desk: Desk) -> None:
    source = START + "y = (x * 2).sum()\nwith minigrad.no_grad():\n    y.backward()\n"
    assert "2 · x" in desk.outline(source)[1]


def test_a_variable_is_found_by_its_name(desk: Desk) -> None:
    assert names_in(desk.outline(PRODUCT, name=":h")) == ["h", "x", "w"]
    assert names_in(desk.outline(PRODUCT, name=":w")) == ["w"]


def test_a_tensor_is_found_by_the_name_it_was_given(desk: Desk) -> None:
    source = PRODUCT.replace("'h'", "'hidden layer'")
    assert names_in(desk.outline(source, name=":hidden layer")) == ["hidden layer", "x", "w"]


def test_a_variable_goes_before_a_tensor_of_that_name(desk: Desk) -> None:
    source = (
        START + "inner = x * 2\ninner.name = 'outer'\nouter = inner * 3\nouter.sum().backward()"
    )
    assert "= 3 · outer" in desk.outline(source, name=":outer")[0]


@pytest.mark.parametrize(
    "name", ["猫", "权重 λ", "<b>&\"'", "a|b{c}", "a\\b", "$(id)", "-x", "a=b"]
)
def test_a_name_may_be_any_text(desk: Desk, name: str) -> None:
    source = START + f"y = x * 2\ny.name = {name!r}\n(y * y).sum().backward()\n"
    assert names_in(desk.outline(source, name=f":{name}"))[0] == name


def test_a_name_may_hold_a_colon(desk: Desk) -> None:
    source = START + "y = x * 2\ny.name = 'block:y'\n(y * y).sum().backward()\n"
    assert names_in(desk.outline(source, name=":block:y"))[0] == "block:y"


@pytest.mark.parametrize("backward", ["", "b.sum().backward()"])
def test_a_name_that_several_tensors_have_is_refused_with_their_lines(
    desk: Desk, backward: str
) -> None:
    source = START + f"a = x * 2\nb = a * 3\na.name = b.name = 'h'\n{backward}\n"
    said = desk.refusal(desk.script(source) + ":h")
    assert "2 tensors are called 'h', made in lines 7, 8; give the name of a variable" in said
    said = desk.refusal(desk.script(source.replace("\nb =", "; b =")) + ":h")
    assert "2 tensors are called 'h', made in line 7; give" in said


def test_a_name_that_several_tensors_have_is_refused_though_none_outlives_its_function(
    desk: Desk,
) -> None:
    source = START + (
        "def main():\n    a = x * 2\n    b = a * 3\n    a.name = b.name = 'h'\n"
        "    b.sum().backward()\nmain()\n"
    )
    assert "2 tensors are called 'h'" in desk.refusal(desk.script(source) + ":h")


def test_leaves_of_one_name_are_refused_though_no_line_made_them(desk: Desk) -> None:
    source = START + "w.name = 'z'\nx.name = 'z'\n(x @ w).sum().backward()\n"
    assert "2 tensors are called 'z'; give the name" in desk.refusal(desk.script(source) + ":z")


@pytest.mark.parametrize("name", ["weights", "scores"])
def test_a_variable_of_a_loop_is_drawn_as_it_takes_part_in_the_backward(
    desk: Desk, name: str
) -> None:
    once = desk.outline(ATTENTION.format(1), name=f":{name}")
    assert names_in(once)[0] == name
    assert all("∂L norm" in line for line in once)
    assert desk.outline(ATTENTION.format(5), name=f":{name}") == once
    third = desk.outline(ATTENTION.format(3), "--at", "3", name=f":{name}")
    assert names_in(third) == names_in(once)
    assert third != once
    assert desk.outline(ATTENTION.format(5), "--at", "3", name=f":{name}") == third


def test_a_named_tensor_has_the_values_of_the_drawn_backward_though_changed_later(
    desk: Desk,
) -> None:
    for steps in (1, 5):
        path = desk.script(ATTENTION.format(steps))
        desk.draw(f"{path}:weights", "-o", f"{steps}.dot", "--values", "full")
    first = (desk.folder / "1.dot").read_text(encoding="utf-8")
    assert "not kept" not in first
    assert first == (desk.folder / "5.dot").read_text(encoding="utf-8")


def test_a_leaf_of_a_loop_is_drawn_with_the_gradient_of_the_backward(desk: Desk) -> None:
    assert "∂L norm" in desk.outline(LOOP.format(3), name=":w")[0]


def test_a_variable_is_what_it_is_when_backward_runs(desk: Desk) -> None:
    """Not what it is at the end of the script, nor a tensor that is called so."""
    source = START + (
        "y = x * 2\nz = y * 3\nz.name = 'y'\nz.sum().backward()\ny = x * 5\ny.sum().backward()\n"
    )
    assert "2 · x" in desk.outline(source, name=":y")[0]
    assert "5 · x" in desk.outline(source, "--at", "2", name=":y")[0]


def test_a_variable_that_the_backward_does_not_reach_leaves_the_tensor_called_so(
    desk: Desk,
) -> None:
    source = START + "h = x * 7\n" + TURNS.removeprefix(START).replace("'even'", "'h'")
    assert "= 2 · x" in desk.outline(source, name=":h")[0]


def test_a_name_waits_from_the_nth_backward_on_for_one_that_it_takes_part_in(desk: Desk) -> None:
    """As a generator does that is trained in turns with its critic."""
    for at, factor in ((1, 3), (2, 3), (3, 5), (4, 5)):
        line, _ = desk.outline(TURNS, "--at", str(at), name=":odd")
        assert f"odd = {factor} · x" in line
        assert "∂L norm" in line


def test_a_name_that_takes_part_only_in_earlier_backwards_is_said_with_the_last(
    desk: Desk,
) -> None:
    path = desk.script(TURNS)
    for at in ("4", "5", "9"):
        said = desk.refusal(f"{path}:even", "--at", at)
        assert "calls backward() 5 times, and 'even' takes part in none after number 3" in said
        assert "--at is 1 to 3" in said


def test_a_name_in_a_backward_and_in_one_inside_its_hook_is_drawn_in_the_outer_one(
    desk: Desk,
) -> None:
    source = START + (
        "z = Tensor(3.0, requires_grad=True)\n"
        "y = x * 2\ny.register_hook(lambda g: (z * z).backward())\n(y.sum() * z).backward()\n"
    )
    (outer,) = desk.outline(source, name=":z")
    (inner,) = desk.outline(source, "--at", "2", name=":z")
    assert outer.endswith("∂L norm 48")
    assert inner.endswith("∂L norm 6")
    clash = source.replace("y.register", "x.name = y.name = 'k'\nz.name = 'k'\ny.register")
    assert "3 tensors are called 'k'" in desk.refusal(desk.script(clash) + ":k")
    assert "∂L norm 6" in desk.outline(clash, "--at", "2", name=":k")[0]


def test_what_takes_part_in_no_backward_is_drawn_as_the_script_leaves_it_with_its_values(
    desk: Desk,
) -> None:
    source = LOOP.format(3) + "    side = x @ w\n    side.name = 'side'\n    y = side * step\n"
    result = desk.draw(desk.script(source) + ":y", "-o", "g.dot")
    assert result.exit_code == 0, result.stderr
    text = (desk.folder / "g.dot").read_text(encoding="utf-8")
    assert "2 · side" in text
    assert "not kept" not in text


@pytest.mark.parametrize("others", ["", "y.name = z.name = 'k'\n"])
def test_a_variable_that_needs_no_gradient_is_drawn_too(desk: Desk, others: str) -> None:
    source = START + f"k = Tensor(2.0)\ny = x * k\nz = y * 3\n{others}z.sum().backward()\n"
    (line,) = desk.outline(source, name=":k")
    assert line.split()[1:3] == ["scalar", "constant"]


@pytest.mark.parametrize("name", ["nope", "np", "Tensor", "__name__", "h.T", "狗", "\x1b[31mred\n"])
def test_a_name_that_nothing_has_is_refused_with_those_there_are(desk: Desk, name: str) -> None:
    said = desk.refusal(desk.script(PRODUCT) + f":{name}")
    assert f"script.py has no tensor '{name}'" in said or repr(name)[1:-1] in said
    assert "there are h, loss, w, x. Only" in said


def test_a_variable_of_a_function_is_said_not_to_be_found_beside_the_names_that_are(
    desk: Desk,
) -> None:
    source = START + (
        "def main():\n    cost = x * 2\n    cost.name = 'price'\n"
        "    cost.sum().backward()\nmain()\n"
    )
    said = desk.refusal(desk.script(source) + ":cost")
    assert "has no tensor 'cost'; there are price, w, x. " in said
    assert "Only variables of the script itself and names of tensors (t.name = ...) are" in said


def test_a_name_inside_a_function_is_found_while_the_graph_knows_it(desk: Desk) -> None:
    source = START + (
        "def forward():\n    h = x @ w\n    h.name = 'hidden'\n    return (h * h).sum()\n"
        "loss = forward()\nloss.backward()\n"
    )
    assert names_in(desk.outline(source, name=":hidden")) == ["hidden", "x", "w"]


def test_a_name_inside_a_function_is_found_though_nothing_outlives_the_function(desk: Desk) -> None:
    """As in every script with a main()."""
    source = START + (
        "def main():\n    h = x @ w\n    h.name = 'hidden'\n    (h * h).sum().backward()\nmain()\n"
    )
    assert names_in(desk.outline(source, name=":hidden")) == ["hidden", "x", "w"]


def test_a_named_tensor_inside_a_container_is_found(desk: Desk) -> None:
    source = START + "layers = [Tensor(np.ones(3), requires_grad=True, name='in a list')]\n"
    source += "(x * layers[0]).sum().backward()\n"
    assert names_in(desk.outline(source, name=":in a list")) == ["in a list"]


def test_a_named_tensor_that_only_an_object_holds_is_found_without_any_backward(
    desk: Desk,
) -> None:
    source = START + "class Net:\n    h = x @ w\nNet.h.name = 'hidden'\n"
    assert names_in(desk.outline(source, name=":hidden")) == ["hidden", "x", "w"]


def test_a_name_is_drawn_also_where_no_backward_ran(desk: Desk) -> None:
    outline = desk.outline(START + "y = x @ w", name=":y")
    assert names_in(outline) == ["y", "x", "w"]
    assert all(line.endswith("∂L none yet") for line in outline)


def test_a_script_that_leaves_with_sys_exit_is_drawn_all_the_same(desk: Desk) -> None:
    source = (
        START + "import sys\ndef main():\n    global y\n    y = x * 2\n    y.sum().backward()\n"
    )
    assert names_in(desk.outline(source + "sys.exit(main())")) == ["t1", "y", "x"]
    assert names_in(desk.outline(source + "sys.exit(main())", name=":y")) == ["y", "x"]


# ----------------------------------------------------------------------------- which script


@pytest.mark.skipif(os.name != "posix", reason="Windows does not allow these names")
@pytest.mark.parametrize(
    "name", ["a b.py", "猫.py", "a:b.py", "a.py:b.py", "C:\\x.py", "no_ending", "x.py:"]
)
def test_a_script_is_found_whatever_its_path_with_a_name_and_without(desk: Desk, name: str) -> None:
    desk.script(PRODUCT, name)
    for path in (name, str(desk.folder / name)):
        for variable, top in (("", "loss"), (":h", "h")):
            result = desk.draw(path + variable)
            assert result.exit_code == 0, result.stderr
            assert names_in(result.stdout.splitlines())[0] == top


@pytest.mark.skipif(os.name != "posix", reason="Windows does not allow these names")
def test_the_longest_path_that_is_a_file_is_the_script(desk: Desk) -> None:
    desk.script("1 / 0", "a.py")
    desk.script(PRODUCT, "a.py:b.py")
    for variable, top in (("", "loss"), (":h", "h")):
        assert names_in(desk.draw("a.py:b.py" + variable).stdout.splitlines())[0] == top


def test_a_colon_with_nothing_after_it_asks_for_no_name(desk: Desk) -> None:
    assert names_in(desk.outline(PRODUCT, name=":"))[0] == "loss"


@pytest.mark.parametrize("path", ["none.py", "none.py:loss", ".", "", "a\x1b[31m.py", "x" * 300])
def test_a_script_that_is_not_there_is_said_so(desk: Desk, path: str) -> None:
    assert "there is no file" in desk.refusal(path)


def test_either_a_script_or_an_example_is_to_be_given(desk: Desk) -> None:
    for arguments in ((), (desk.script(PRODUCT), "--example", "2")):
        assert "give a script, FILE.py or FILE.py:NAME, or --example" in desk.refusal(*arguments)


def test_what_follows_the_script_is_its_own(desk: Desk) -> None:
    source = "import sys\nprint(sys.argv[1:])\n" + PRODUCT
    assert desk.outline(source, "a", "b")[0] == "['a', 'b']"
    assert desk.outline(source, "--", "--at", "7", "-o", "猫")[0] == "['--at', '7', '-o', '猫']"


def test_the_help_says_how_a_script_gets_options_of_its_own(desk: Desk) -> None:
    words = desk.draw("--help").stdout.replace("│", " ").split()
    assert "options of the script come after --." in " ".join(words)


# ----------------------------------------------------------------- the script goes on undisturbed


def test_what_the_script_prints_comes_first_and_all_of_it(desk: Desk) -> None:
    source = "print('before')\n" + PRODUCT + "print('after')\n"
    outline = desk.outline(source)
    assert outline[:2] == ["before", "after"]
    assert names_in(outline[2:]) == ["loss", "t1", "h", "x", "w"]


@pytest.mark.parametrize(
    ("source", "status"),
    [("1 / 0", 1), ("import sys; sys.exit('stop')", 1), ("raise SystemExit(7)", 7), ("x = (", 1)],
)
def test_of_a_script_that_fails_nothing_is_drawn_or_written(
    desk: Desk, source: str, status: int
) -> None:
    (desk.folder / "g.svg").write_text("before", encoding="utf-8")
    result = desk.draw(desk.script(PRODUCT + source), "-o", "g.svg")
    assert (result.exit_code, result.stdout) == (status, "")
    assert "minigrad: " not in result.stderr
    assert desk.files() == {"script.py", "g.svg"}
    assert (desk.folder / "g.svg").read_text(encoding="utf-8") == "before"


def test_the_picture_has_the_gradients_of_the_drawn_backward_though_cleared_later(
    desk: Desk,
) -> None:
    once, often = desk.outline(LOOP.format(1)), desk.outline(LOOP.format(30))
    assert once == often
    assert all("∂L norm" in line for line in once)
    later = desk.outline(LOOP.format(30), "--at", "30")
    assert names_in(later) == names_in(once)
    assert later != once


def test_the_picture_has_the_values_of_the_drawn_backward_though_changed_later(desk: Desk) -> None:
    for steps in (1, 30):
        desk.draw(desk.script(LOOP.format(steps)), "-o", f"{steps}.dot", "--values", "full")
    assert (desk.folder / "1.dot").read_bytes() == (desk.folder / "30.dot").read_bytes()


def test_after_the_drawing_was_made_a_script_runs_untraced_and_graphs_go_away(desk: Desk) -> None:
    source = LOOP.format(300) + (
        "import gc\nfrom minigrad.graph import Node\n"
        "print(sum(type(x) is Node for x in gc.get_objects()))\n"
        "y = x * 2\nprint(y._node.trace, y._node.retain, y._node.line)\n"
    )
    before = sum(type(x) is Node for x in gc.get_objects())
    start = time.perf_counter()
    alive, kept, *_ = desk.outline(source)
    assert time.perf_counter() - start < 5.0
    assert int(alive) - before < 60
    assert kept == "None False None"


def test_until_then_all_is_traced_with_the_lines_of_the_script(
    desk: Desk, drawings: list[tuple[Tensor, dict[str, Any]]]
) -> None:
    desk.outline(PRODUCT)
    ((root, _),) = drawings
    made = [node for node in history([node_of(root)]) if node.primitive is not None]
    script = str(desk.folder / "script.py")
    assert [node.line for node in made] == [(script, 9), (script, 9), (script, 7)]
    assert all(node.trace is not None and node.grad is not None for node in made)


def test_a_script_may_trace_scope_and_switch_off_by_itself(desk: Desk) -> None:
    source = START + (
        "with minigrad.trace(), minigrad.scope('block'):\n    y = x * 2\n"
        "with minigrad.no_grad():\n    z = x * 3\n    print(z.requires_grad)\n"
        "y.sum().backward()\nprint(y.grad.sum())\n"
    )
    outline = desk.outline(source, "--collapse", "block")
    assert outline[:2] == ["False", "6.0"]
    assert "ops: 1, tensors: 2" in outline[-1]


def test_a_script_may_draw_by_itself(desk: Desk) -> None:
    source = PRODUCT + "import viz\nprint(viz.draw_graph(loss, variables=globals()).outline())\n"
    outline = desk.outline(source)
    assert len(outline) == 10
    assert outline[:5] == outline[5:]


def test_a_script_that_goes_elsewhere_has_its_picture_where_the_command_was_given(
    desk: Desk,
) -> None:
    source = START + "import os\nos.mkdir('sub')\nos.chdir('sub')\n(x * x).sum().backward()\n"
    result = desk.draw(desk.script(source), "-o", "g.txt")
    assert result.exit_code == 0
    assert desk.files() == {"script.py", "g.txt"}


@pytest.mark.parametrize("place", ["io.StringIO()", "open('log.txt', 'w')"])
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_a_script_that_sends_its_own_output_elsewhere_does_not_take_ours_along(
    desk: Desk, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        START + f"import io, sys\nsys.stdout = {place}\nprint('log')\n(x * x).sum().backward()\n"
    )
    assert names_in(desk.outline(source)) == ["t2", "t1", "x"]


@pytest.mark.parametrize(
    "parameters",
    [
        "def parameters(self):\n        return {'x': x}",
        "def parameters(self):\n        return [np.zeros(3), [x], None, 'x']",
        "def parameters(self, kind):\n        return [x]",
        "def parameters(self):\n        return iter([('x', x)])",
        "def parameters(self):\n        raise KeyError('later')",
        "parameters = None",
        "def __getattr__(self, name):\n        raise RuntimeError(name)",
        "def __getattr__(self, _):\n        return self\n    def __call__(self):\n        return 5",
    ],
)
def test_objects_that_are_no_modules_disturb_neither_script_nor_drawing(
    desk: Desk, parameters: str
) -> None:
    source = (
        START + f"class Net:\n    {parameters}\nnet = Net()\n(x * x).sum().backward()\nprint(1)"
    )
    outline = desk.outline(source)
    assert outline[0] == "1"
    assert names_in(outline[1:]) == ["t2", "t1", "x"]


def test_the_parameters_of_the_scripts_modules_are_told_apart(desk: Desk) -> None:
    source = START + (
        "class Net:\n    def parameters(self):\n        return [w]\n"
        "net = Net()\n(x @ w).sum().backward()\n"
    )
    kinds = [line.split()[-4] for line in desk.outline(source)[-2:]]
    assert kinds == ["leaf", "parameter"]


@pytest.mark.parametrize(
    "setting", ["np.seterr(all='raise')", "import warnings; warnings.simplefilter('error')"]
)
def test_a_script_that_is_strict_about_floating_point_is_not_disturbed(
    desk: Desk, setting: str
) -> None:
    source = START + (
        "np.seterr(all='warn')\n" + setting + "\n"
        "data = np.full((7, 9), 1e-200)\ndata[0, 0] = 1e200\n"
        "w = Tensor(data, requires_grad=True)\nw.sum().backward()\nprint('done')\n"
    )
    with warnings.catch_warnings(), np.errstate():
        assert desk.outline(source)[0] == "done"


@pytest.mark.parametrize("setting", ["warn", "raise"])
def test_what_the_script_let_pass_is_let_pass_when_drawn(desk: Desk, setting: str) -> None:
    """A drawing runs rules again; the script may have had its reasons."""
    source = START + (
        f"np.seterr(all={setting!r})\nz = Tensor([0.0, 1.0], requires_grad=True)\n"
        "with np.errstate(all='ignore'):\n    y = minigrad.log(z)\n    y.backward(z.data + 1)\n"
    )
    with np.errstate():
        assert "∂L norm ∞" in desk.outline(source, name=":y")[-1]


def test_a_students_op_that_formulas_cannot_be_read_of_is_drawn_as_a_call(desk: Desk) -> None:
    source = START + (
        "@minigrad.primitive(lambda g, x: 2 * g if g.sum() > 0 else g)\ndef odd(x):\n"
        "    return x * 2\nodd(x).sum().backward()\n"
    )
    assert "odd" in desk.outline(source)[1] or "2 · x" in desk.outline(source)[1]


# ------------------------------------------------------------------------------------- options


DEFAULTS: dict[str, Any] = {
    "direction": "LR",
    "values": "summary",
    "gradients": "summary",
    "formulas": True,
    "order": False,
    "collapse": (),
    "max_nodes": 400,
    "title": "",
    "language": "en",
    "parameters": [],
}


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        ((), {}),
        (("--direction", "TB"), {"direction": "TB"}),
        (("--values", "full"), {"values": "full"}),
        (("--gradients", "none"), {"gradients": "none"}),
        (("--no-formulas",), {"formulas": False}),
        (("--order",), {"order": True}),
        (("--collapse", "head *", "--collapse", "块"), {"collapse": ["head *", "块"]}),
        (("--max-nodes", "7"), {"max_nodes": 7}),
        (("--title", "我的 <图>"), {"title": "我的 <图>"}),
        (("--language", "zh"), {"language": "zh"}),
    ],
)
def test_options_reach_the_drawing(
    desk: Desk,
    drawings: list[tuple[Tensor, dict[str, Any]]],
    arguments: tuple[str, ...],
    changed: dict[str, Any],
) -> None:
    assert desk.draw(desk.script(PRODUCT), *arguments).exit_code == 0
    (options,) = [options for _, options in drawings]
    variables = options.pop("variables")
    assert options == DEFAULTS | changed
    assert {"x", "w", "h", "loss"} <= variables.keys()


def test_a_picture_shows_what_the_options_ask_for(desk: Desk) -> None:
    options = ("--direction", "TB", "--title", "我的 <图>", "--max-nodes", "3")
    assert desk.draw(desk.script(PRODUCT), "-o", "g.svg", *options).exit_code == 0
    text = "".join(ElementTree.parse(desk.folder / "g.svg").getroot().itertext())
    assert "我的 <图>" in text
    assert "older ops left out" in text


@pytest.mark.parametrize(
    "options",
    [
        ("--at", "0"),
        ("--at", "x"),
        ("--max-nodes", "0"),
        ("--direction", "up"),
        ("--values", "some"),
        ("--gradients", "some"),
        ("--language", "fr"),
        ("--no-such-option",),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_before_the_script_is_run(
    desk: Desk, options: tuple[str, ...]
) -> None:
    result = desk.draw(desk.script("print('ran')"), *options)
    assert result.exit_code == 2
    assert "ran" not in result.stdout
    assert "Error" in result.stderr


def test_a_scope_that_is_not_there_is_refused_with_those_there_are(desk: Desk) -> None:
    source = START + "with minigrad.scope('block'):\n    y = x * 2\ny.sum().backward()\n"
    said = desk.refusal(desk.script(source), "--collapse", "nope")
    assert "no scope is called 'nope'; there are 'block'" in said


def test_the_words_are_chinese_when_asked(desk: Desk) -> None:
    result = desk.draw(desk.script(PRODUCT), language="zh")
    assert "叶子" in result.stdout
    assert "leaf" not in result.stdout
    result = desk.draw("script.py", "-o", "g.md", language="zh")
    assert result.stdout == "已写入 g.md\n"


def test_a_tree_is_aligned_in_a_terminal_also_with_chinese_names(desk: Desk) -> None:
    source = PRODUCT.replace('name="w"', 'name="权重矩阵"').replace("'h'", "'隐藏层 h'")
    outline = desk.outline(source)
    assert len(outline) == 5
    starts = {columns(line[: line.index("∂L")]) for line in outline}
    assert len(starts) == 1
    shapes = {columns(line[: line.index("(")]) for line in outline[1:]}
    assert len(shapes) == 1


def test_a_name_steers_neither_the_terminal_nor_the_tree(desk: Desk) -> None:
    source = START + "y = x * 2\ny.name = 'a\\x1b[31m\\nb\\u202e'\n(y * y).sum().backward()\n"
    outline = desk.outline(source)
    assert len(outline) == 4
    assert all(printable(line) == line for line in outline)


def test_an_option_of_a_students_op_steers_neither_the_terminal_nor_the_tree(desk: Desk) -> None:
    source = START + (
        "@minigrad.primitive(lambda g, x: 2 * g)\ndef double(x, *, mode=''):\n"
        "    if not isinstance(x, np.ndarray):\n        raise TypeError\n    return x * 2\n"
        "double(x, mode='a\\x1b[31m\\nb').sum().backward()\n"
    )
    outline = desk.outline(source)
    assert len(outline) == 3
    assert all(printable(line) == line for line in outline)


# ------------------------------------------------------------------------------------ files


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        ("svg", b"<?xml"),
        ("png", b"\x89PNG"),
        ("dot", b"digraph"),
        ("json", b"{"),
        ("md", b"```mermaid\nflowchart LR"),
        ("mmd", b"flowchart LR"),
        ("txt", b"loss "),
    ],
)
@pytest.mark.filterwarnings("ignore:this PNG has no glyphs")
def test_a_picture_is_written_in_the_format_that_its_suffix_says(
    desk: Desk, suffix: str, start: bytes
) -> None:
    target = desk.folder / "new folder" / f"图 1.{suffix}"
    result = desk.draw(desk.script(PRODUCT), "-o", str(target))
    assert (result.exit_code, result.stdout) == (0, f"wrote {target}\n")
    content = target.read_bytes()
    assert content.startswith(start)
    assert desk.files() == {"script.py", f"new folder/图 1.{suffix}"}
    if suffix == "svg":
        ElementTree.fromstring(content)
    if suffix == "json":
        json.loads(content)
    if suffix == "txt":
        assert content.decode() == desk.draw("script.py").stdout


def test_a_picture_takes_the_place_of_the_one_before(desk: Desk) -> None:
    (desk.folder / "g.txt").write_text("before", encoding="utf-8")
    desk.draw(desk.script(PRODUCT), "-o", "g.txt")
    assert (desk.folder / "g.txt").read_text(encoding="utf-8").startswith("loss ")


@pytest.mark.parametrize("output", ["g", "g.", "-", ".svg", "g.foo", "g.py", "g.x11", "g.SVG.bak"])
def test_a_format_that_there_is_not_is_one_line_with_those_there_are(
    desk: Desk, output: str
) -> None:
    (desk.folder / output).write_text("before", encoding="utf-8")
    said = desk.refusal(desk.script(PRODUCT), "-o", output)
    assert "svg" in said
    assert desk.files() == {"script.py", output}
    assert (desk.folder / output).read_text(encoding="utf-8") == "before"


def test_a_suffix_may_be_written_large(desk: Desk) -> None:
    """As on the disks of cameras and of Windows."""
    assert desk.draw(desk.script(PRODUCT), "-o", "G.SVG").exit_code == 0
    assert (desk.folder / "G.SVG").read_bytes().startswith(b"<?xml")


def test_a_format_that_there_is_not_is_said_before_the_script_has_run_for_an_hour(
    desk: Desk,
) -> None:
    result = desk.draw(desk.script("print('ran')\n" + PRODUCT), "-o", "g.foo")
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize("output", ["folder.svg", "script.py/g.svg", "n" * 300 + ".svg"])
def test_a_place_that_cannot_be_written_to_is_one_line(desk: Desk, output: str) -> None:
    (desk.folder / "folder.svg").mkdir()
    said = desk.refusal(desk.script(PRODUCT), "-o", output)
    assert "cannot be written" in said
    assert "Choose another place" in said
    assert desk.files() == {"script.py"}


def test_a_full_disk_leaves_the_picture_from_before(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.folder / "g.txt").write_text("before", encoding="utf-8")
    path = desk.script(PRODUCT)

    def full(self: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert "No space left on device" in desk.refusal(path, "-o", "g.txt")
    assert desk.files() == {"script.py", "g.txt"}
    assert (desk.folder / "g.txt").read_text(encoding="utf-8") == "before"


def test_the_name_of_the_picture_does_not_steer_the_terminal(desk: Desk) -> None:
    result = CliRunner().invoke(
        app,
        ["draw", desk.script(PRODUCT), "-o", "g\x1b]0;t\x07.txt", "--language", "en"],
        color=True,
    )
    assert result.exit_code == 0
    assert result.stdout.rstrip("\n").isprintable()


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither on PATH nor beside Python."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("viz.layout.sysconfig.get_path", lambda name: str(tmp_path / "none"))


@pytest.mark.usefixtures("no_engine")
def test_without_a_layout_engine_text_is_drawn_and_a_picture_is_one_line(desk: Desk) -> None:
    assert names_in(desk.outline(PRODUCT))[0] == "loss"
    for name in ("g.txt", "g.md", "g.mmd"):
        assert desk.draw("script.py", "-o", name).exit_code == 0
    written = desk.files()
    for name in ("g.svg", "g.png", "g.dot", "g.pdf"):
        assert "pip install graphviz-pure" in desk.refusal("script.py", "-o", name)
    assert desk.files() == written


def test_a_pdf_without_graphviz_is_one_line(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # leaves graphviz-pure, which lies beside Python
    said = desk.refusal(desk.script(PRODUCT), "-o", "g.pdf")
    assert "does not write 'pdf'" in said
    assert "svg" in said
    assert desk.files() == {"script.py"}


# ---------------------------------------------------------------------------------- examples


@pytest.mark.parametrize(
    "name", ["2", "02", "cat-eats-fish", "cat_eats_fish", "02_cat_eats_fish.py"]
)
def test_a_lesson_is_drawn_by_number_or_name_and_keeps_quiet(desk: Desk, name: str) -> None:
    result = desk.draw("--example", name)
    assert (result.exit_code, result.stderr) == (0, "")
    assert names_in(result.stdout.splitlines()) == [
        *("context", "V", "weights", "scaled_scores", "scores", "Q", "Kᵀ", "K")
    ]
    assert "∂L none" not in result.stdout


def test_a_lesson_is_drawn_in_chinese_and_to_a_file(desk: Desk) -> None:
    result = desk.draw("--example", "cat-eats-fish", "-o", "g.svg", language="zh")
    assert (result.exit_code, result.stdout) == (0, "已写入 g.svg\n")
    assert "范数" in (desk.folder / "g.svg").read_text(encoding="utf-8")


def test_a_lesson_is_run_in_the_language_of_the_command_and_fails_as_a_script_does(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("minigrad.cli.examples.examples_directory", lambda: desk.folder)
    desk.script('"""A lesson."""\n1 / 0\n', "01_broken.py")
    source = "import sys\nprint(1)\ny = x * 2\ny.name = sys.argv[-1]\ny.backward(x.data)\n"
    desk.script(f'"""A lesson."""\n{START}{source}', "02_speaks.py")
    for language in ("en", "zh"):
        result = desk.draw("--example", "speaks", language=language)
        assert names_in(result.stdout.splitlines()) == [language, "x"]
    broken = desk.draw("--example", "1")
    assert (broken.exit_code, broken.stdout) == (1, "")
    assert broken.stderr.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize("name", ["99", "cats", "", "../02", "²", "f", "\x1b[31m"])
def test_what_is_no_lesson_is_one_line_with_those_there_are(desk: Desk, name: str) -> None:
    said = desk.refusal("--example", name)
    assert "01_first_backward, " in said


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, len(all_examples()) + 1))
def test_every_lesson_is_drawn_or_says_what_to_do(desk: Desk, number: int) -> None:
    result = desk.draw("--example", str(number))
    assert result.exit_code in (0, 2), result.exception
    assert bool(result.stdout) == (result.exit_code == 0)
    assert result.stderr.count("\n") == (1 if result.exit_code else 0)


# ----------------------------------------------------------------------- as a program of its own


def drawn(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from minigrad.cli import main; main()", "draw"]
    return subprocess.run(
        [*command, *arguments], capture_output=True, env={**os.environ, **environment}
    )


@pytest.mark.slow
def test_a_terminal_that_knows_no_chinese_gets_a_drawing_and_a_file_in_utf8(desk: Desk) -> None:
    path = desk.script(PRODUCT.replace('"w"', '"权重"') + "print('猫')\n")
    poor = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LANGUAGE": "C"}
    ran = drawn(path, **poor)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.count(b"\n") == 6
    ran = drawn(path, "-o", "g.txt", **poor)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert "权重" in (desk.folder / "g.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("filters", ["default", pytest.param("error", marks=pytest.mark.slow)])
def test_a_png_says_in_one_line_what_it_cannot_show_whatever_the_warnings(
    desk: Desk, filters: str
) -> None:
    path = desk.script(PRODUCT.replace('"w"', '"权重"'))
    ran = drawn(path, "-o", "g.png", PYTHONWARNINGS=filters, PATH="")
    assert (ran.returncode, ran.stdout) == (0, b"wrote g.png\n"), ran.stderr
    assert ran.stderr.count(b"\n") == 1
    assert ran.stderr.startswith(b"minigrad: ")
    assert (desk.folder / "g.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_all_goes_well_where_every_warning_is_an_error(desk: Desk) -> None:
    path = desk.script(PRODUCT)
    for output in ("g.svg", "g.txt", "g.md", "g.json"):
        ran = drawn(path, "-o", output, PYTHONWARNINGS="error")
        assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.slow
def test_a_reader_that_stops_early_gets_no_traceback(desk: Desk) -> None:
    path = desk.script(PRODUCT.replace("loss =", "for _ in range(3000):\n    h = h + 1\nloss ="))
    command = [sys.executable, "-c", "from minigrad.cli import main; main()", "draw", path]
    with subprocess.Popen(
        [*command, "--max-nodes", "9000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as ran:
        assert ran.stdout is not None
        assert ran.stderr is not None
        ran.stdout.read(10)
        ran.stdout.close()
        assert b"Traceback" not in ran.stderr.read()
