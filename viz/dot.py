"""Pieces of DOT: boxes, arrows, tables of text, clusters; whatever text stands in them is escaped.

What they are put together to is told in `drawing` and in `step_graph`.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from minigrad.notation import visible
from viz.colours import KINDS, SHADES
from viz.folding import Scope, nested
from viz.layout import has_wide, text_width

__all__ = [
    "SIZE",
    "SMALL",
    "Span",
    "arrow",
    "box",
    "cell",
    "clustered",
    "heading",
    "listed",
    "stacked",
    "table",
]

LONGEST_TOOLTIP = 2_000
"""In characters; dot reads no more than 16,384 between two quotes."""

SIZE, SMALL = 11, 9
"""Of text, in points."""

# Each kind of box has a shape of its own as well as its colours.
BOXES = {
    "leaf": ("box", "filled"),
    "parameter": ("box3d", "filled"),
    "constant": ("note", "filled"),
    "intermediate": ("box", "filled,rounded"),
    "root": ("box", "filled,rounded"),
    "op": ("ellipse", "filled"),
    "fold": ("folder", "filled"),
    "rest": ("box", "dashed"),
}


class Span(NamedTuple):
    """Some text in one font."""

    text: str
    size: int = SIZE
    colour: str = "ink"
    bold: bool = False


def cell(span: Span, background: str = "", width: float = 0.0, *, inside: bool = True) -> str:
    """A cell of a table, inside a box or on an arrow.

    Its width is our own measure, since the engine may lack the glyphs.
    """
    fill = f' BGCOLOR="{SHADES[background]}"' if background else ""
    # An engine without the glyphs takes Chinese for narrow, and would begin it in the middle.
    aside = ' ALIGN="LEFT"' if inside and has_wide(span.text) else ""
    return f'<TD WIDTH="{max(width, measured(span)):.0f}"{fill}{aside}>{font(span)}</TD>'


def heading(*spans: Span) -> str:
    """Texts side by side, which stay together in the middle of a wide box."""
    cells = "".join(map(cell, spans))
    width = sum(map(measured, spans)) + 2 * len(spans)
    frame = 'BORDER="0" CELLBORDER="0" CELLPADDING="1" CELLSPACING="0" FIXEDSIZE="TRUE"'
    return f'<TD><TABLE {frame} WIDTH="{width:.0f}" HEIGHT="17"><TR>{cells}</TR></TABLE></TD>'


def measured(span: Span) -> float:
    """The width of a text in points."""
    return text_width(f"{span.text} ", span.size * (1.06 if span.bold else 1.0))


def font(span: Span) -> str:
    """A text in its font."""
    text = f"<B>{escaped(span.text)}</B>" if span.bold else escaped(span.text)
    return f'<FONT POINT-SIZE="{span.size}" COLOR="{SHADES[span.colour]}">{text}</FONT>'


def table(rows: list[list[str]], spacing: int = 0) -> str:
    """An HTML-like label; graphviz takes it for one since it stands in angle brackets."""
    body = "".join([f"<TR>{''.join(row)}</TR>" for row in rows])
    return (
        f'<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="1" CELLSPACING="{spacing}">{body}</TABLE>>'
    )


def stacked(rows: list[list[str]], spacing: int = 0) -> str:
    """A table inside a cell of another."""
    return f"<TD>{table(rows, spacing)[1:-1]}</TD>"


def escaped(text: str) -> str:
    """Text inside a label, where &, < and > would be markup, and \\G the name of the graph."""
    return html.escape(visible(text)).replace("\\", "\\\\") or " "


def box(key: str, kind: str, label: str, tooltip: str) -> str:
    """A box of one of the kinds of `BOXES`, around a table."""
    (shape, style), (fill, line) = BOXES[kind], KINDS[kind]
    attributes = {
        "label": label,
        "shape": shape,
        "style": style,
        "fillcolor": SHADES[fill],
        "color": SHADES[line],
        "class": kind,
        "tooltip": tooltip,
    }
    if kind == "root":
        attributes["peripheries"] = "2"
    if shape == "box3d":
        attributes["margin"] = "0.14,0.1"  # its front would cut off the top line
    return f"\t{key} {listed(attributes)}\n"


def arrow(tail: str, head: str, kind: str, label: str, tooltip: str, **look: str) -> str:
    """An arrow from one box to another, with a table on it if there is one."""
    attributes = {"class": kind, "tooltip": tooltip, **look}
    if label:
        attributes |= {"label": label, "labeltooltip": tooltip}
    return f"\t{tail} -> {head} {listed(attributes)}\n"


def listed(attributes: dict[str, str]) -> str:
    """Attributes as DOT: a table as it is, anything else as a quoted string."""
    items = []
    for name, value in attributes.items():
        is_label = name == "label"
        items.append(f"{name}={value if is_label else quoted(value)}")
    return f"[{' '.join(items)}]"


def quoted(text: str) -> str:
    """What is shown where the pointer rests. Engines read entities in it, and escapes twice."""
    shown = visible(text, LONGEST_TOOLTIP)
    entities = html.escape(shown, quote=False).replace("\\", 4 * "\\").replace('"', '\\"')
    return f'"{entities}"'


def clustered(boxes: list[tuple[Scope, str]]) -> Iterator[str]:
    """The boxes of each scope inside its cluster, and clusters inside clusters."""
    numbers = count()
    for step, text in nested(boxes):
        if step == "open":
            label = table([[cell(Span(text, SIZE, "quiet", bold=True))]])
            look = f'style="rounded,dashed" color="{SHADES["quiet"]}" class="scope"'
            yield f"\tsubgraph cluster_{next(numbers)} {{\n\tgraph [label={label} {look}]\n"
        else:
            yield text if step == "box" else "\t}\n"
