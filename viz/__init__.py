"""Pictures of what the engine and attention compute: graphs, heat maps, plots and pages.

A name is imported when it is first asked for, so that a graph can be drawn, and a notebook can show
a tensor, without waiting for matplotlib.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viz.laboratory import figure_bytes, laboratory_figure, laboratory_page

__all__ = ["figure_bytes", "laboratory_figure", "laboratory_page"]

_HOMES = {
    "laboratory": ("figure_bytes", "laboratory_figure", "laboratory_page"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"viz.{module}"), name)
    raise AttributeError(f"viz has no {name!r}; it has {', '.join(__all__)}.")
