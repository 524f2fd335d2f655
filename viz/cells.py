"""Matrices as coloured cells: numbers where there is room, hatching, and the bar beside them.

What the matrices are is told in `pictures` and `panels`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.colors import Colormap

from viz.figures import NEUTRAL, figure_of, plain
from viz.wording import width_of

Array = npt.NDArray[Any]

Number = Callable[[float], str]
"""How the number in a cell is written."""

MOST_CELLS = 10_000
"""Beyond so many, cells are a bitmap, lest an SVG be too large for a browser."""


def draw_cells(
    axes: Axes, values: Array, colours: Colormap, limits: tuple[float, float], number: Number
) -> QuadMesh:
    """Draw a matrix as coloured cells, the first row on top, with numbers where there is room.

    What is not finite is grey, hatched with crosses, and named where there is room.
    """
    rows, columns = values.shape
    finite = np.ma.masked_invalid(values)
    low, high = limits
    mesh = axes.pcolormesh(finite, cmap=colours, vmin=low, vmax=high)
    mesh.set_rasterized(values.size > MOST_CELLS)
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    hatch(axes, ~np.isfinite(values), "xxxx")
    _write_numbers(axes, mesh, finite, number)
    return mesh


def _write_numbers(axes: Axes, mesh: QuadMesh, finite: Any, number: Number) -> None:
    if not size_in_cells(axes, finite.shape, 1):
        return
    texts = [number(value) for value in finite.data.flat]
    size = size_in_cells(axes, finite.shape, max(map(width_of, texts)))
    shades = np.asarray(mesh.cmap(mesh.norm(finite)))
    for (row, column), text in zip(np.ndindex(finite.shape), texts, strict=True):
        if size and text:
            ink = _contrasting(shades[row, column])
            place = column + 0.5, row + 0.5
            axes.text(*place, text, color=ink, ha="center", va="center", size=size)


def hatch(axes: Axes, where: npt.NDArray[np.bool_], pattern: str) -> None:
    """Hatch some of the cells."""
    if where.any():
        cells = np.ma.masked_where(~where, np.zeros(where.shape))
        mesh = axes.pcolor(cells, facecolor="none", edgecolor=NEUTRAL, linewidth=0, hatch=pattern)
        mesh.set_rasterized(where.size > MOST_CELLS)


def _contrasting(shade: Array) -> str:
    """Black or white, whichever can be read on a colour."""
    red, green, blue, _ = shade
    return "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "black"


def size_in_cells(axes: Axes, shape: tuple[int, ...], letters: int) -> float:
    """The size in points at which so many letters fit into a cell; 0 where that is too small."""
    width, height = cell_size(axes, shape)
    size = min(9.0, width / (0.62 * letters + 0.5), height / 1.5)
    return size if size >= 5.0 else 0.0


def cell_size(axes: Axes, shape: tuple[int, ...]) -> tuple[float, float]:
    """Width and height of one of (rows, columns) cells, in points."""
    box = axes.get_window_extent()
    points = 72.0 / figure_of(axes).dpi
    return box.width * points / shape[1], box.height * points / shape[0]


def share(value: float) -> str:
    """A weight in two digits, and nothing where it is exactly 0.

    >>> [share(x) for x in (0.274, 0.001, 1.0, 0.0, np.nan)]
    ['.27', '.00', '1.00', '', 'nan']
    """
    return f"{value:.2f}".removeprefix("0") if value else ""


def signed(value: float) -> str:
    """A number with one decimal and a minus sign as wide as a plus.

    >>> signed(-21.82)
    '−21.8'
    """
    return f"{value:.1f}".replace("-", "−")


def colour_bar(
    mesh: QuadMesh, axes: Axes | Sequence[Axes], label: str = "", **options: Any
) -> Colorbar:
    """Explain the colours beside the axes, which give it some of their room."""
    several = [axes] if isinstance(axes, Axes) else list(axes)
    bar = several[0].figure.colorbar(mesh, ax=several, **options)
    bar.set_label(label, **plain())
    bar.outline.set_visible(False)
    # By default it becomes a bitmap in SVG, which the page's security policy would not load.
    if bar.solids is not None:
        bar.solids.set(rasterized=False, edgecolor="face")
    return bar
