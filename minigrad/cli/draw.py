"""`minigrad draw`: run a script and draw what it computed, as a picture or as a tree of text.

Reads the options, runs the script, and finds the tensor that is meant. How a graph is read and
drawn is decided in `viz`.
"""

import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from weakref import WeakValueDictionary

import numpy as np
import typer

from minigrad import Tensor
from minigrad.cli import Language, LanguageOption, fail, printable
from minigrad.cli.examples import lesson_named, run_lesson
from minigrad.cli.script import run_script, too_late
from minigrad.graph import Node, history
from minigrad.modes import Tracer
from viz.drawing import Drawing, draw_graph, format_of
from viz.layout import DrawingError

WROTE = {Language.EN: "wrote {}", Language.ZH: "已写入 {}"}


class Detail(StrEnum):
    """How much of an array is shown."""

    NONE = "none"
    SUMMARY = "summary"
    FULL = "full"


class Direction(StrEnum):
    """Which way a graph runs."""

    LR = "LR"
    TB = "TB"


Draw = Callable[..., Drawing]


class DrawingTracer(Tracer):
    """Draws a tensor as it takes part in the N-th backward, before anything else happens.

    Until then it traces what is recorded. It draws the tensor that backward is called on, or the
    one of a name. If that takes no part in the N-th backward, the next one is waited for; and what
    takes part in none is looked for when the script has ended, among the tensors `seen`.
    """

    def __init__(self, draw: Draw, at: int, name: str) -> None:
        self.draw = draw
        self.at = at
        self.name = name
        self.drawing: Drawing | None = None
        self.problem = ""
        self.drawn = math.inf  # the number of the backward that the drawing or problem is of
        self.before = 0  # the number of the last one that it could be of, were N smaller
        self.seen: WeakValueDictionary[int, Tensor] = WeakValueDictionary()
        self.names: set[str] = set()  # of tensors behind any backward
        self.backwards = 0
        self.under_way: list[tuple[Any, int]] = []  # those that have begun, and their numbers

    def recorded(self, op: Any, inputs: Any, options: dict[str, Any], result: Any) -> None:
        """Keep what `trace()` keeps, as long as it can still be needed."""
        if self.drawing is not None:
            return
        super().recorded(op, inputs, options, result)
        if self.name:
            self.seen |= {id(x): x for x in (*inputs, result) if isinstance(x, Tensor)}

    def began(self, root: Any, gradient: Any) -> None:
        """Number it: one that is called in a hook of another comes after that."""
        self.backwards += 1
        self.under_way.append((root, self.backwards))

    def finished(self, root: Any) -> None:
        """Draw now, while the gradients are those of this backward.

        One that was called in a hook has finished first; the one around it still goes before.
        """
        number = 0
        while number == 0:
            begun, last = self.under_way.pop()
            number = last if begun is root else 0
        if number >= self.drawn:
            return
        variables = vars(sys.modules["__main__"])
        found = self._found(root, variables.get(self.name)) if self.name else [root]
        if found and number < self.at:
            self.before = number
        elif found:
            self.drawn = number
            self.draw_now(found, variables)

    def _found(self, root: Tensor, variable: Any) -> list[Tensor] | list[Node]:
        """The variable of the name if it is behind the root, else all tensors called so there."""
        assert root._node is not None
        behind = history([root._node])
        self.names |= {node.name for node in behind if node.name}
        if isinstance(variable, Tensor) and variable._node in behind:
            return [variable]
        called = [node for node in behind if node.name == self.name]
        # Of several none is meant, if there is a variable that may be drawn at the end.
        return [] if len(called) > 1 and isinstance(variable, Tensor) else called

    def draw_now(self, found: Sequence[Tensor | Node], variables: dict[str, Any]) -> None:
        """Draw the graph behind the one tensor found; parameters are of the script's modules."""
        self.drawing, self.problem = None, _clash(self.name, found)
        if self.problem:
            return
        parameters = [p for x in list(variables.values()) for p in _parameters(x)]
        # Rules are run again; what they may do there the script has decided, and we are not it.
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.drawing = self.draw(found[0], parameters=parameters, variables=variables)
            except ValueError as error:
                self.problem = str(error)


def _clash(name: str, found: Sequence[Any]) -> str:
    """What is wrong if several tensors have the name; nothing of one."""
    if len(found) == 1:
        return ""
    lines = sorted({node.line[1] for node in found if node.line})
    plural = "s" if len(lines) > 1 else ""
    where = f", made in line{plural} {', '.join(map(str, lines))}" if lines else ""
    return f"{len(found)} tensors are called {name!r}{where}; give the name of a variable"


def _parameters(x: Any) -> list[Tensor]:
    """The parameters of a module; nothing for whatever else has a method of that name."""
    try:
        found = [] if isinstance(x, type) else list(x.parameters())
    except Exception:  # it is code of the user's, and may raise anything
        return []
    return [p for p in found if isinstance(p, Tensor)]


def draw(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE.py[:NAME]]",
            help="A script, and the variable or the name of the tensor to draw; without it, the "
            "one that backward was called on.",
        ),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="What the script finds in sys.argv; options of the script come after --."
        ),
    ] = None,
    *,
    example: Annotated[
        str | None,
        typer.Option("--example", metavar="LESSON[:NAME]", help="Draw a lesson's tensor instead."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write a picture (.svg, .png, .pdf, .dot, .json), Mermaid (.md, .mmd) or text "
            "(.txt). Without it, a tree of text is printed.",
        ),
    ] = None,
    at: Annotated[
        int, typer.Option("--at", min=1, help="Draw the N-th backward, or NAME in it.")
    ] = 1,
    direction: Annotated[
        Direction, typer.Option(help="Left to right, or top to bottom.")
    ] = Direction.LR,
    values: Annotated[Detail, typer.Option(help="How much of the values.")] = Detail.SUMMARY,
    gradients: Annotated[Detail, typer.Option(help="How much of the gradients.")] = Detail.SUMMARY,
    formulas: Annotated[bool, typer.Option(help="Write equations and rules.")] = True,
    order: Annotated[
        bool, typer.Option("--order", help="Number the ops as backward visits them.")
    ] = False,
    collapse: Annotated[
        list[str] | None,
        typer.Option("--collapse", metavar="SCOPE", help="Draw a scope as one box: 'head *'."),
    ] = None,
    max_nodes: Annotated[int, typer.Option(min=1, help="How many boxes at most.")] = 400,
    title: Annotated[str, typer.Option(help="A heading for the picture.")] = "",
    language: LanguageOption,
) -> None:
    """Run a script and draw the computation behind one of its tensors."""

    def draw_tensor(root: Tensor | Node, **more: Any) -> Drawing:
        return draw_graph(
            root,
            direction=direction.value,
            values=values.value,
            gradients=gradients.value,
            formulas=formulas,
            order=order,
            collapse=collapse or (),
            max_nodes=max_nodes,
            title=title,
            language=language.value,
            **more,
        )

    if (file is None) == (example is None):
        fail("give a script, FILE.py or FILE.py:NAME, or --example NAME of a lesson")
    target = None if output is None else _usable(output)
    if example is None:
        path, name = _parted(str(file))
        tracer = DrawingTracer(draw_tensor, at, name)
        variables = run_script(path, arguments or [], tracer)
    else:
        lesson, _, name = example.partition(":")
        path = lesson_named(lesson)
        tracer = DrawingTracer(draw_tensor, at, name)
        variables = run_lesson(path, language, tracer)
    drawing = _drawn(path, variables, tracer)
    if target is None:
        typer.echo(drawing.outline())
    else:
        _write(drawing, target)
        typer.echo(printable(WROTE[language].format(output)))


def _usable(output: Path) -> Path:
    """Where to write to, even if the script goes to another folder; its format can be drawn."""
    try:
        format_of(output)
    except DrawingError as error:
        fail(str(error))
    return Path(os.path.abspath(output))


def _write(drawing: Drawing, target: Path) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            drawing.write(target)
        except DrawingError as error:
            fail(str(error))
    for warning in warned:
        typer.echo(f"minigrad: {printable(str(warning.message))}", err=True)


def _drawn(path: Path, variables: dict[str, Any], tracer: DrawingTracer) -> Drawing:
    """The drawing that was made when backward ran, or is made now of a named tensor."""
    if tracer.drawing is None and not tracer.problem:
        count, last = tracer.backwards, tracer.before
        if last or tracer.at > count > 0:
            fail(f"{path} {too_late(count, last, tracer.name)}")
        if not tracer.name:
            names = ", ".join(key for key, x in variables.items() if isinstance(x, Tensor))
            hint = f"; its variables are {names}" if names else ""
            where = "and it fails" if count else "nowhere"
            fail(f"{path} calls backward() {where}: name a tensor, as in {path}:NAME{hint}")
        tracer.draw_now(_left(path, variables, tracer), variables)
    return fail(tracer.problem) if tracer.drawing is None else tracer.drawing


def _parted(file: str) -> tuple[Path, str]:
    """The script, and the name after the colon; a colon may also belong to either."""
    if os.path.isfile(file):
        return Path(file), ""
    ends = [i for i, c in enumerate(file) if c == ":"]
    for end in reversed(ends):
        if os.path.isfile(file[:end]):
            return Path(file[:end]), file[end + 1 :]
    start, _, name = file.partition(".py:")
    return (Path(f"{start}.py"), name) if name else (Path(file), "")


def _left(
    path: Path, variables: dict[str, Any], tracer: DrawingTracer
) -> list[Tensor] | list[Node]:
    """The variable of the name when the script has ended, or all tensors left that have it."""
    variable = variables.get(tracer.name)
    if isinstance(variable, Tensor):
        return [variable]
    tensors = {key: x for key, x in variables.items() if isinstance(x, Tensor)}
    left = [*tensors.values(), *tracer.seen.values()]
    nodes = history({x._node for x in left if x._node is not None})
    called = [node for node in nodes if node.name == tracer.name]
    if called:
        return called
    names = tracer.names.union(tensors, [node.name for node in nodes if node.name])
    return fail(
        f"{path} has no tensor {tracer.name!r}; there are {', '.join(sorted(names)) or 'none'}. "
        "Only variables of the script itself and names of tensors (t.name = ...) are found"
    )
