"""A graph as a picture: boxes, arrows and small tables of numbers in DOT, for Graphviz to lay out.

What is shown is read in `graph`, how it is laid out stands in `layout`. A `Drawing` is a
`graphviz.Digraph`, so notebooks show it, and `render`, `pipe` and `source` work as they do there.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import graphviz
import numpy as np

from minigrad import Tensor
from minigrad.graph import Node
from minigrad.notation import Summary, summarise
from viz import dot
from viz.colours import LEVELS, SHADES, TWINS
from viz.folding import Scope
from viz.graph import REST, Array, Arrow, Fold, Graph, OpBox, TensorBox, read_graph
from viz.layout import (
    DrawingError,
    check_format,
    lay_out,
    text_width,
    unwritable,
    write_picture,
)
from viz.text import mermaid, outline
from viz.wording import WORDS, write_number, write_shape

__all__ = ["Drawing", "draw_graph"]

Detail = Literal["none", "summary", "full"]

LARGEST = {"none": 0, "summary": 30, "full": 400}
"""How many entries a tensor may have whose numbers are written out."""

WIDEST = {"none": 0, "summary": 6, "full": 24}
"""And how many columns."""

LONGEST_FORMULA = 56
"""In characters; the rest of a longer formula is shown where the pointer rests."""


PICTURES = ("svg", "png", "pdf", "dot", "json")
TEXTS = ("md", "mmd", "txt")


def format_of(path: str | os.PathLike[str]) -> str:
    """The format that the suffix of a file says, if a drawing can be written so here.

    Raises:
        DrawingError: there is no such format, or no program on this machine that draws it.

    Example:
        >>> format_of("graph.SVG")
        'svg'
    """
    format = Path(path).suffix.removeprefix(".").lower()
    if not format:
        raise DrawingError(f"{os.fspath(path)!r} has no suffix that says the format, such as .svg.")
    if format not in PICTURES + TEXTS:
        known = ", ".join(PICTURES + TEXTS)
        raise DrawingError(f"there is no format {format!r}; choose {known}.")
    if format in PICTURES:
        check_format(format)
    return format


class Drawing(graphviz.Digraph):  # type: ignore[misc]
    """A drawn graph; made by `draw_graph`.

    It is a `graphviz.Digraph`, laid out by whatever engine there is. `graph` is what it shows.
    """

    graph: Graph
    language = "en"

    def copy(self) -> Drawing:
        """Another drawing of the same."""
        copied: Drawing = super().copy()
        copied.graph, copied.language = self.graph, self.language
        return copied

    def mermaid(self) -> str:
        """The graph in Mermaid's language, for a page of Markdown; needs no layout engine."""
        return mermaid(self.graph, self.graph_attr["rankdir"], self.language)

    def outline(self) -> str:
        """The graph as a tree of text, for a terminal; needs no layout engine."""
        return outline(self.graph, self.language)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture, whole or not at all, in the format that the suffix says.

        Args:
            path: ends in .svg, .png, .dot, .json or .pdf; .md and .mmd hold Mermaid, .txt text.

        Raises:
            DrawingError: it cannot be drawn in this format, or not be written there.
        """
        target = Path(path)
        format = format_of(target)
        texts = {"md": self._markdown, "mmd": self.mermaid, "txt": self.outline}
        text = texts[format]() + "\n" if format in texts else ""
        write_picture(target, text.encode() or self.pipe(format=format))
        return target

    def _markdown(self) -> str:
        return f"```mermaid\n{self.mermaid()}\n```"

    def save(self, *args: Any, **options: Any) -> str:
        """As `graphviz.Digraph.save`, with one clear error if the place cannot be written to."""
        try:
            saved: str = super().save(*args, **options)
        except OSError as error:
            raise unwritable(self.filepath, error) from error
        return saved

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> dict[str, Any]:
        """The picture for a notebook; where nothing can lay it out, Mermaid for JupyterLab."""
        try:
            bundle: dict[str, Any] = super()._repr_mimebundle_(*args, **options)
        except DrawingError:
            return {"text/vnd.mermaid": self.mermaid(), "text/plain": self.outline()}
        return bundle

    # What graphviz.Digraph calls for its `pipe`, `render`, `view` and its picture in a notebook.

    def _pipe_lines(
        self, engine: str, format: str, input_lines: Iterable[str], **options: Any
    ) -> bytes:
        return _picture("".join(input_lines), format, engine)

    def _pipe_lines_string(
        self, engine: str, format: str, input_lines: Iterable[str], *, encoding: str, **options: Any
    ) -> str:
        return _picture("".join(input_lines), format, engine).decode(encoding)

    def _render(
        self, engine: str, format: str, filepath: str, outfile: Any = None, **options: Any
    ) -> str:
        target = Path(outfile or f"{filepath}.{format}")
        if target.absolute() == Path(filepath).absolute() and not options.get("overwrite_filepath"):
            raise DrawingError(f"{filepath!r} is the source's own name; give the picture another.")
        if options.get("raise_if_result_exists") and target.exists():
            raise DrawingError(f"{str(target)!r} is there already; choose another name.")
        write_picture(target, _picture(Path(filepath).read_text(encoding="utf-8"), format, engine))
        return str(target)


def draw_graph(
    root: Tensor | Node,
    *,
    direction: Literal["LR", "TB"] = "LR",
    values: Detail = "summary",
    gradients: Detail = "summary",
    formulas: bool = True,
    order: bool = False,
    collapse: str | Iterable[str] = (),
    max_nodes: int = 400,
    parameters: Any = (),
    variables: Mapping[str, Any] | None = None,
    title: str = "",
    language: Literal["en", "zh"] = "en",
    fontname: str = "Helvetica",
) -> Drawing:
    """Draw the computation that lies behind a tensor, before or after backward.

    Boxes are tensors and ellipses ops. Solid arrows carry values forward; dashed ones carry
    gradients back, as wide as the logarithm of their norm, with the rule that made them of the
    upstream gradient G. Values and gradients of intermediates are there if the graph was recorded
    under `minigrad.trace()`; what was not kept or not computed is never drawn as 0. The text of the
    drawing is the same on every run.

    Args:
        root: a tensor of any shape, often the loss. Neither it nor its gradients are changed.
        direction: left to right, or top to bottom.
        values, gradients: nothing, the numbers of small tensors and statistics of large ones, or
            the numbers of tensors of up to 400 entries.
        formulas: write the equation of each op, and the rule at each gradient.
        order: number the ops and leaves as backward visits them.
        collapse: scopes to draw as one box; see `read_graph`.
        max_nodes: how many boxes at most; those that were computed last are kept.
        parameters: a tensor, an object with a method `parameters()`, or several of them, that are
            told apart.
        variables: such as `globals()`; tensors without a name are called as they are there.
        title: any text.
        language: of the few words in the drawing.
        fontname: the family for all text.

    Raises:
        TypeError, ValueError: as `read_graph`, and for an option that does not exist.

    Example:
        >>> x = Tensor([1.0, 2.0], requires_grad=True, name="x")
        >>> drawing = draw_graph((x * x).sum(), direction="TB")
        >>> [op.formula for op in drawing.graph.ops.values()]
        ['t1 = x ⊙ x', 't2 = Σ t1']
        >>> drawing.pipe(format="svg")[:5]
        b'<?xml'
    """
    _check("direction", direction, ("LR", "TB"))
    _check("values", values, tuple(LARGEST))
    _check("gradients", gradients, tuple(LARGEST))
    _check("language", language, tuple(WORDS))
    if not re.fullmatch(r"[\w ,.+-]+", fontname):
        raise ValueError(f"fontname is a font's name, such as 'Helvetica'; it is {fontname!r}.")
    graph = read_graph(
        root,
        collapse=collapse,
        max_nodes=max_nodes,
        parameters=parameters,
        variables=variables,
        gradients=gradients != "none",
    )
    writer = _Writer(graph, values, gradients, formulas, order, WORDS[language])
    drawing = Drawing(
        "minigrad",
        format="svg",
        graph_attr={"rankdir": direction, "bgcolor": SHADES["paper"], "class": "minigrad"}
        | {"nodesep": "0.25", "ranksep": "0.35", "fontname": fontname, "fontsize": "13"}
        | {"fontcolor": SHADES["ink"], "pad": "0.15"},
        node_attr={"fontname": fontname, "fontsize": str(dot.SIZE), "fontcolor": SHADES["ink"]}
        | {"margin": "0.08,0.04", "height": "0.2"},
        edge_attr={"fontname": fontname, "fontsize": str(dot.SMALL), "fontcolor": SHADES["quiet"]}
        | {"color": SHADES["ink"], "arrowsize": "0.7"},
    )
    drawing.body += writer.lines()
    rows = [[dot.cell(dot.Span(title, 13, bold=True))]] if title else []
    if writer.kept_less:
        rows.append([dot.cell(dot.Span(WORDS[language]["hint"], dot.SMALL, "quiet"))])
    if rows:
        drawing.attr(label=dot.table(rows), labelloc="t" if title else "b")
    drawing.graph, drawing.language = graph, language
    return drawing


def _check(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{option} is one of {', '.join(known)}; it is {value!r}.")


# ---------------------------------------------------------------------------------- DOT statements


class _Writer:
    """The statements of one drawing: scopes as clusters, boxes inside them, then all arrows."""

    def __init__(
        self,
        graph: Graph,
        values: Detail,
        gradients: Detail,
        formulas: bool,
        order: bool,
        words: dict[str, str],
    ) -> None:
        self.graph = graph
        self.values = values
        self.gradients = gradients
        self.formulas = formulas
        self.order = order
        self.words = words
        self.kept_less = False  # whether anything was found not to be kept
        notes = {box.gradient_note for box in graph.tensors.values()}
        has_run = not notes <= {"none yet", "constant"}
        self.unknown = words["none" if "none" in notes else "not kept" if has_run else "none yet"]

    def lines(self) -> Iterator[str]:
        """All statements."""
        graph = self.graph
        boxes: list[tuple[Scope, str]] = []
        boxes += [(box.scope, self._tensor(box)) for box in graph.tensors.values()]
        boxes += [(box.scope, self._op(box)) for box in graph.ops.values()]
        boxes += [(box.scope, self._fold(box)) for box in graph.folds.values()]
        yield from dot.clustered(boxes)
        if graph.left_out:
            yield self._rest(graph.left_out)
        yield from map(self._value_arrow, graph.values)
        yield from map(self._gradient_arrow, graph.gradients)

    def _tensor(self, box: TensorBox) -> str:
        shape = write_shape(box.shape, self.words)
        dtype = "" if box.dtype == np.float64 else f" {box.dtype}"
        about = [dot.Span(box.label, bold=True), dot.Span(f"{shape}{dtype}", dot.SMALL, "quiet")]
        if box.mark:
            about.insert(1, dot.Span(box.mark, dot.SIZE, "quiet"))
        rows = [[dot.heading(*self._visited(box.order), *about)]]
        if self.values != "none":
            rows += self._numbers(box.value, self.values, self.words["not kept"])
        if self.gradients != "none" and box.gradient_note != "constant":
            note = self.words.get(box.gradient_note, "")
            known = self._numbers(box.gradient, self.gradients, note)
            sign = dot.cell(dot.Span("∂L", dot.SMALL, "orange", bold=True))
            rows.append([dot.stacked([[sign, dot.stacked(known)]])])
        tooltip = f"{box.label}: {self.words[box.kind]}, {shape}, {box.dtype}"
        return dot.box(box.key, box.kind, dot.table(rows), tooltip)

    def _op(self, box: OpBox) -> str:
        rows = [[dot.heading(*self._visited(box.order), dot.Span(box.name, bold=True))]]
        if self.formulas:
            rows.append([dot.cell(dot.Span(_shortened(box.formula), dot.SMALL))])
        else:
            numbers = [f"{name} = {write_number(x)}" for name, x in box.numbers]
            rows += [[dot.cell(dot.Span(text, dot.SMALL, "quiet"))] for text in numbers]
        where = f" ({os.path.basename(box.line[0])}:{box.line[1]})" if box.line else ""
        return dot.box(box.key, "op", dot.table(rows), f"{box.name}: {box.formula}{where}")

    def _visited(self, order: int | None) -> list[dot.Span]:
        """When backward comes here, where that is wanted."""
        return (
            [dot.Span(f"{order}.", dot.SIZE, "orange", bold=True)] if self.order and order else []
        )

    def _fold(self, box: Fold) -> str:
        times = f" × {box.times}" if box.times > 1 else ""
        inside = self.words["fold"].format(box.ops, box.tensors)
        rows = [
            [dot.cell(dot.Span(box.label + times, bold=True))],
            [dot.cell(dot.Span(inside, dot.SMALL, "quiet"))],
        ]
        return dot.box(box.key, "fold", dot.table(rows), f"{box.label}{times}: {inside}")

    def _rest(self, count: int) -> str:
        said = self.words["rest"].format(f"{count:,}")
        more = self.words["rest more"]
        rows = [[dot.cell(dot.Span(f"… {said}"))], [dot.cell(dot.Span(more, dot.SMALL, "quiet"))]]
        return dot.box(REST, "rest", dot.table(rows), f"{said}; {more}")

    def _value_arrow(self, arrow: Arrow) -> str:
        cell = dot.cell(dot.Span(arrow.label, dot.SMALL, "quiet"), inside=False)
        label = dot.table([[cell]]) if arrow.label else ""
        return dot.arrow(arrow.tail, arrow.head, "value", label, arrow.label or "value")

    def _gradient_arrow(self, arrow: Arrow) -> str:
        norm = "" if arrow.norm is None else f"{self.words['norm']} {write_number(arrow.norm)}"
        texts = [arrow.label, _shortened(arrow.rule) if self.formulas else "", norm]
        # Into an op passes what stands in the box that it comes from.
        rows = [
            [dot.cell(dot.Span(text, dot.SMALL, "orange"), inside=False)] for text in texts if text
        ]
        label = dot.table(rows) if rows and arrow.tail not in self.graph.tensors else ""
        tooltip = f"∂L: {arrow.rule or 'G'}, {norm or self.unknown}"
        # Written from the input on, as the layout runs, with the arrow's head where it starts.
        look = {"dir": "back", "weight": "0"} | _look(arrow.norm)
        return dot.arrow(arrow.head, arrow.tail, "gradient", label, tooltip, **look)

    # ------------------------------------------------------------------------------------ numbers

    def _numbers(self, array: Array | None, detail: Detail, note: str) -> list[list[str]]:
        """The entries of a small array, statistics of a large one, or why there is neither."""
        self.kept_less |= array is None and note == self.words["not kept"]
        if array is None or array.size == 0:
            said = note if array is None else self.words["empty"]
            return [[dot.cell(dot.Span(said, dot.SMALL, "quiet"))]]
        columns = array.shape[-1] if array.ndim else 1
        if array.size <= LARGEST[detail] and columns <= WIDEST[detail]:
            return [[_entries(array)]]
        return [
            [dot.cell(dot.Span(text, dot.SMALL))] for text in self._statistics(summarise(array))
        ]

    def _statistics(self, s: Summary) -> Iterator[str]:
        words = self.words
        if not math.isnan(s.norm):
            yield f"{write_number(s.low)} … {write_number(s.high)}"
            yield f"{words['mean']} {write_number(s.mean)}, {words['norm']} {write_number(s.norm)}"
        marks = [
            (s.zeros, f"{_share(s.zeros, s.size)} {words['zeros']}"),
            (s.nan, f"{s.nan} NaN"),
            (s.inf, f"{s.inf} Inf"),
        ]
        if text := ", ".join([mark for count, mark in marks if count]):
            yield text


def _share(some: int, all: int) -> str:
    """A share in percent, which is 0 or 100 only if it is so exactly.

    >>> _share(1, 3), _share(159_999, 160_000), _share(4, 4)
    ('33.3 %', '> 99.9 %', '100 %')
    """
    percent = 100 * some / all
    if 0 < percent < 0.1 or 99.9 < percent < 100:
        return "< 0.1 %" if percent < 1 else "> 99.9 %"
    return f"{percent:.3g} %"


def _entries(array: Array) -> str:
    """A table of numbers, each on its colour; leading axes one below the other."""
    values = np.asarray(array, dtype=np.float64)
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 0.0
    leading = values.shape[:-2]
    width = max([text_width(f"{write_number(x)} ", dot.SMALL) for x in values.flat])
    rows: list[list[str]] = []
    for index in np.ndindex(leading):
        if leading:
            rows.append([dot.cell(dot.Span(f"[{', '.join(map(str, index))}]", dot.SMALL, "quiet"))])
        matrix = np.atleast_2d(values[index])
        rows += [[_entry(x, largest, width) for x in row] for row in matrix.tolist()]
    return dot.stacked(rows, spacing=1)


def _entry(x: float, largest: float, width: float) -> str:
    share = x / largest if largest and math.isfinite(x) else 0.0
    background = f"cell {round(LEVELS * share)}" if math.isfinite(x) else "paper"
    return dot.cell(dot.Span(write_number(x), dot.SMALL), background=background, width=width)


def _look(norm: float | None) -> dict[str, str]:
    """How a gradient's arrow looks: as wide as the norm's logarithm, the same in every drawing.

    What is not known is dotted and grey, what is exactly 0 dotted and orange.
    """
    colour = SHADES["quiet" if norm is None else "orange"]
    if not norm or math.isnan(norm):
        return {"style": "dotted", "color": colour, "penwidth": "0.8"}
    decades = min(max(math.log10(norm) + 8.0, 0.0), 14.0)
    return {"style": "dashed", "color": colour, "penwidth": f"{0.5 + 0.3 * decades:.2f}"}


def _shortened(formula: str) -> str:
    return formula if len(formula) <= LONGEST_FORMULA else formula[: LONGEST_FORMULA - 1] + "…"


# ------------------------------------------------------------------------------------- the picture


def _picture(source: str, format: str, engine: str) -> bytes:
    """The laid out graph; an SVG also knows its colours in the dark."""
    drawn = lay_out(source, format, engine)
    if format != "svg":
        return drawn
    rules = [
        f'.minigrad [{attribute}="{light}"]{{{attribute}:{dark}}}'
        for light, dark in TWINS.items()
        for attribute in ("fill", "stroke")
    ]
    style = f"<style>@media (prefers-color-scheme:dark){{{''.join(rules)}}}</style>"
    head, start, rest = drawn.decode().partition('<g id="graph0"')
    return f"{head}{style}\n{start}{rest}".encode()
