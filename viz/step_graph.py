"""The graph of a log of steps as an SVG that a page can bring to life: one box for each tensor.

Beside its name, shape and op, a box has a line of its own for the norm, to be filled in as the
gradients come; each arrow has an identifier. What happens to them is told in `pages/step.js`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from minigrad.stepper import BackwardSteps, StepNode
from viz import dot
from viz.colours import SHADES
from viz.folding import Scope, common
from viz.graph import REST
from viz.layout import lay_out
from viz.wording import WORDS, write_shape

__all__ = ["step_graph"]

MOST_BOXES = 600
"""Beyond these, the tensors that were computed first are left out."""

ROOM = "‖∂L‖ −0.00000e−000"
"""What the line for the norm must have room for."""


def step_graph(steps: BackwardSteps, language: str = "en", *, room: str = ROOM) -> tuple[str, int]:
    """The graph as an `<svg>` element, and how many tensors were left out of it.

    A box is a `<g class="node">` whose `<title>` is the key of the tensor; an arrow to the input at
    a position of an op is `<g id="e-KEY-POSITION">`. The last text of a box is `room`.

    Raises:
        DrawingError: there is no layout engine.
    """
    shown = {node.key: node for node in list(steps.nodes.values())[-MOST_BOXES:]}
    left_out = len(steps.nodes) - len(shown)
    scopes = _scopes(steps)
    boxes = [(scopes[key], _box(node, language, room)) for key, node in shown.items()]
    lines = [_head(), *dot.clustered(boxes)]
    if left_out:
        said = WORDS[language]["rest"].format(f"{left_out:,}")
        lines.append(dot.box(REST, "rest", dot.table([[dot.cell(dot.Span(f"… {said}"))]]), said))
    lines += _arrows(shown)
    svg = lay_out("".join(lines) + "}\n", "svg").decode()
    return svg[svg.index("<svg") :], left_out


def _head() -> str:
    font = f'fontname="Helvetica" fontcolor="{SHADES["ink"]}"'
    return (
        f'digraph minigrad {{\n\tgraph [rankdir="TB" bgcolor="transparent" class="minigrad" '
        f'nodesep="0.2" ranksep="0.3" pad="0.2" {font} fontsize="13"]\n'
        f'\tnode [{font} fontsize="{dot.SIZE}" margin="0.08,0.04" height="0.2"]\n'
        f'\tedge [color="{SHADES["quiet"]}" arrowsize="0.6"]\n'
    )


def _box(node: StepNode, language: str, room: str) -> str:
    words = WORDS[language]
    shape = write_shape(node.shape, words)
    rows = [
        [dot.heading(dot.Span(node.label, bold=True), dot.Span(shape, dot.SMALL, "quiet"))],
        [dot.cell(dot.Span(node.op or words[node.kind], dot.SMALL, "quiet"))],
    ]
    if node.kind != "constant":
        rows.append([dot.cell(dot.Span(room, dot.SMALL, "orange"))])
    made = node.equations.forward if node.equations else words[node.kind]
    return dot.box(node.key, node.kind, dot.table(rows), f"{node.label} {shape}: {made}")


def _arrows(shown: Mapping[str, StepNode]) -> Iterator[str]:
    for key, node in shown.items():
        for position, tail in enumerate(node.inputs):
            if isinstance(tail, str):
                argument = node.arguments[position]
                known = tail if tail in shown else REST
                yield dot.arrow(known, key, "value", "", argument, id=f"e-{key}-{position}")


def _scopes(steps: BackwardSteps) -> dict[str, Scope]:
    """Where each tensor stands; a leaf, inside all scopes that its users share."""
    scopes: dict[str, Scope] = {}
    for node in reversed(list(steps.nodes.values())):
        if node.op:
            scopes[node.key] = node.scope
        for key in node.inputs:
            if isinstance(key, str) and not steps.nodes[key].op:
                scopes[key] = common(scopes.get(key, node.scope), node.scope)
    return {key: scopes.get(key, ()) for key in steps.nodes}
