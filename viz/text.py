"""A graph as text: a tree for the terminal, and Mermaid for a page of Markdown.

Neither needs a layout engine. What is shown is read in `graph`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from minigrad.notation import visible
from viz.colours import KINDS, SHADES
from viz.folding import nested
from viz.graph import REST, Arrow, Graph, TensorBox
from viz.wording import WORDS, width_of, write_number, write_shape

__all__ = ["mermaid", "outline"]

Row = tuple[str, ...]


# ----------------------------------------------------------------------------------- a tree of text


def outline(graph: Graph, language: str = "en") -> str:
    """The graph as a tree of text: the root first, below each tensor what it was made of.

    Tensors that no op made, or that stand further up already, hang on a branch; where several
    others come together, all but the last are indented.

    Example:
        >>> from minigrad import Tensor
        >>> from viz.graph import read_graph
        >>> x = Tensor([1.0, 2.0], requires_grad=True, name="x")
        >>> print(outline(read_graph((x * x).sum())))
        t2   scalar  t2 = Σ t1   ∂L none yet
        t1   (2,)    t1 = x ⊙ x  ∂L none yet
        ├ x  (2,)    leaf        ∂L none yet
    """
    rows = list(_Tree(graph, WORDS[language]).rows())
    widths = [max([width_of(cell) for cell in column]) for column in zip(*rows, strict=True)]
    return "\n".join([_aligned(row, widths) for row in rows])


def _aligned(row: Row, widths: list[int]) -> str:
    cells = [c + " " * (width - width_of(c)) for c, width in zip(row, widths, strict=True)]
    return "  ".join(cells).rstrip()


class _Tree:
    """The lines of an outline."""

    def __init__(self, graph: Graph, words: dict[str, str]) -> None:
        self.graph = graph
        self.words = words
        self.origins: dict[str, list[str]] = {}  # of each box: where its arrows come from
        for arrow in graph.values:
            self.origins.setdefault(arrow.head, []).append(arrow.tail)

    def rows(self) -> Iterator[Row]:
        """Name, shape, equation and gradient, line by line."""
        stack = [(self.graph.root, "", "")]
        seen: set[str] = set()
        while stack:
            key, indent, branch = stack.pop()
            name, *more = self._row(key)
            if key in seen:
                branch, more = "├ ", ["", self.words["above"], ""]
            yield (indent + branch + name, *more)
            if key in seen:
                continue
            seen.add(key)
            stack += reversed(self._below(key, indent + "│ " * bool(branch), seen))

    def _below(self, key: str, indent: str, seen: set[str]) -> list[tuple[str, str, str]]:
        inputs = self._inputs(key)
        short = [x for x in inputs if x in seen or not self._inputs(x)]
        long = [x for x in inputs if x not in short]
        branches = [(x, indent, "├ ") for x in (*short, *long[:-1])]
        return branches + [(x, indent, "") for x in long[-1:]]

    def _inputs(self, key: str) -> list[str]:
        """What a tensor or a fold was made of."""
        origins = self.origins.get(key, [])
        if key in self.graph.tensors and origins and origins[0] in self.graph.ops:
            origins = self.origins.get(origins[0], [])
        return list(dict.fromkeys(origins))

    def _row(self, key: str) -> Row:
        words = self.words
        if key == REST:
            return f"… {words['rest'].format(f'{self.graph.left_out:,}')}", "", "", ""
        if key in self.graph.folds:
            fold = self.graph.folds[key]
            times = f" × {fold.times}" if fold.times > 1 else ""
            return fold.label + times, "", words["fold"].format(fold.ops, fold.tensors), ""
        box = self.graph.tensors[key]
        made = [self.graph.ops[x].formula for x in self.origins.get(key, []) if x in self.graph.ops]
        return (
            box.label,
            write_shape(box.shape, words),
            *(made or [words[box.kind]]),
            self._slope(box),
        )

    def _slope(self, box: TensorBox) -> str:
        if box.gradient_note == "constant":
            return ""
        if box.norm is None:
            return f"∂L {self.words[box.gradient_note]}"
        return f"∂L {self.words['norm']} {write_number(box.norm)}"


# ------------------------------------------------------------------------------------------ Mermaid

_SHAPES = {
    "leaf": ("[", "]"),
    "parameter": ("[[", "]]"),
    "constant": (">", "]"),
    "intermediate": ("(", ")"),
    "root": ("([", "])"),
    "op": ("{{", "}}"),
    "fold": ("[/", "/]"),
    "rest": ("[\\", "\\]"),
}


def mermaid(graph: Graph, direction: str = "LR", language: str = "en") -> str:
    """The graph in Mermaid's language, which GitHub and notebooks draw; in light colours only.

    Example:
        >>> from minigrad import Tensor
        >>> from viz.graph import read_graph
        >>> x = Tensor([1.0, 2.0], requires_grad=True, name="x")
        >>> print(mermaid(read_graph(-x)).splitlines()[1])
          n0["x<br/>(2,)"]:::leaf
    """
    words = WORDS[language]
    lines = [f"flowchart {direction}"]
    numbers = count()
    for step, text in nested(_boxes(graph, words)):
        opening = f"subgraph s{next(numbers)}[{_quoted(text)}]" if step == "open" else ""
        lines.append({"open": f"  {opening}", "close": "  end", "box": f"  {text}"}[step])
    if graph.left_out:
        said = words["rest"].format(f"{graph.left_out:,}")
        lines.append(f"  {_node(REST, 'rest', said, words['rest more'])}")
    lines += [f"  {x.tail} -->{_on_arrow(x.label)} {x.head}" for x in graph.values]
    # From the input on, with an arrow in the text: links that lead back would turn the layout.
    back = "←" if direction == "LR" else "↑"
    for x in graph.gradients:
        lines.append(f"  {x.head} -.-{_on_arrow(*_gradient(x, back, words))} {x.tail}")
    scopes = [f"  class s{i} scope" for i in range(next(numbers))]
    return "\n".join([*lines, *_classes(), *scopes])


def _boxes(graph: Graph, words: dict[str, str]) -> list[tuple[tuple[str, ...], str]]:
    boxes = []
    for tensor in graph.tensors.values():
        shape = write_shape(tensor.shape, words)
        boxes.append(
            (tensor.scope, _node(tensor.key, tensor.kind, tensor.label + tensor.mark, shape))
        )
    for op in graph.ops.values():
        boxes.append((op.scope, _node(op.key, "op", op.name, op.formula)))
    for fold in graph.folds.values():
        label = f"{fold.label} × {fold.times}" if fold.times > 1 else fold.label
        inside = words["fold"].format(fold.ops, fold.tensors)
        boxes.append((fold.scope, _node(fold.key, "fold", label, inside)))
    return boxes


def _node(key: str, kind: str, *texts: str) -> str:
    start, end = _SHAPES[kind]
    return f"{key}{start}{_quoted(*texts)}{end}:::{kind}"


def _gradient(arrow: Arrow, back: str, words: dict[str, str]) -> list[str]:
    norm = "" if arrow.norm is None else f"{words['norm']} {write_number(arrow.norm)}"
    first, *others = [text for text in (arrow.label, arrow.rule, norm) if text] or [""]
    return [f"{back} {first}".rstrip(), *others]


def _on_arrow(*texts: str) -> str:
    return f"|{_quoted(*texts)}|" if any(texts) else ""


def _quoted(*texts: str) -> str:
    """Text in which nothing is markup: Mermaid writes characters as #35; or by their names."""
    return '"' + "<br/>".join(["".join(map(_character, visible(text))) for text in texts]) + '"'


def _character(c: str) -> str:
    return c if c.isalnum() or c in " ().,=+/_' " or ord(c) > 127 else f"#{ord(c)};"


def _classes() -> list[str]:
    ink = SHADES["ink"]
    return [
        f"  classDef {kind} fill:{SHADES[fill]},stroke:{SHADES[line]},color:{ink}"
        for kind, (fill, line) in KINDS.items()
    ] + [f"  classDef scope fill:none,stroke:{SHADES['quiet']},color:{ink}"]
