"""Pictures of what the engine and attention compute: graphs, heat maps, plots and pages.

A name is imported when it is first asked for, so that a graph can be drawn, and a notebook can show
a tensor, without waiting for matplotlib.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viz.drawing import Drawing, draw_graph
    from viz.graph import read_graph
    from viz.heatmap import heatmap_html
    from viz.laboratory import figure_bytes, laboratory_figure, laboratory_page
    from viz.layout import DrawingError
    from viz.outline import mermaid, outline

__all__ = [
    "Drawing",
    "DrawingError",
    "draw_graph",
    "figure_bytes",
    "heatmap_html",
    "laboratory_figure",
    "laboratory_page",
    "mermaid",
    "outline",
    "read_graph",
]

_HOMES = {
    "drawing": ("Drawing", "draw_graph"),
    "graph": ("read_graph",),
    "heatmap": ("heatmap_html",),
    "layout": ("DrawingError",),
    "outline": ("mermaid", "outline"),
    "laboratory": ("figure_bytes", "laboratory_figure", "laboratory_page"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"viz.{module}"), name)
    raise AttributeError(f"viz has no {name!r}; it has {', '.join(__all__)}.")
