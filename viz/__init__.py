"""Pictures of what the engine and attention compute: graphs, heat maps, plots and pages.

A name is imported when it is first asked for, so that a graph can be drawn, and a notebook can show
a tensor, without waiting for matplotlib. The plots of the √d_k laboratory are in `viz.panels`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viz.drawing import Drawing, draw_graph
    from viz.figures import save_figure
    from viz.flow import gradient_flow
    from viz.graph import read_graph
    from viz.heatmap import heatmap_html
    from viz.laboratory import figure_bytes, laboratory_figure, laboratory_page
    from viz.layout import DrawingError
    from viz.pictures import attention_map, softmax_jacobian
    from viz.stepping import step_page
    from viz.text import mermaid, outline

__all__ = [
    "Drawing",
    "DrawingError",
    "attention_map",
    "draw_graph",
    "figure_bytes",
    "gradient_flow",
    "heatmap_html",
    "laboratory_figure",
    "laboratory_page",
    "mermaid",
    "outline",
    "read_graph",
    "save_figure",
    "softmax_jacobian",
    "step_page",
]

_HOMES = {
    "drawing": ("Drawing", "draw_graph"),
    "figures": ("save_figure",),
    "flow": ("gradient_flow",),
    "graph": ("read_graph",),
    "heatmap": ("heatmap_html",),
    "laboratory": ("figure_bytes", "laboratory_figure", "laboratory_page"),
    "layout": ("DrawingError",),
    "text": ("mermaid", "outline"),
    "marks": (),
    "panels": (),
    "pictures": ("attention_map", "softmax_jacobian"),
    "speed": (),
    "stepping": ("step_page",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"viz.{module}"), name)
    if name in _HOMES:
        return importlib.import_module(f"viz.{name}")
    raise AttributeError(f"viz has no {name!r}; it has {', '.join(__all__)}.")


def __dir__() -> list[str]:
    return __all__
