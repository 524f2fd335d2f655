"""What all matplotlib pictures share: fonts, colours, a figure without pyplot, and saving it.

In SVG text stays text, so that a browser shows Chinese whatever is installed where the picture was
drawn; PNG and PDF use an installed Chinese font, or say once that there is none. What a picture
shows is told in `pictures`, `flow` and `panels`.
"""

import io
import math
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Colormap, ListedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import NullLocator
from numpy.typing import ArrayLike

from minigrad.files import write_whole
from minigrad.notation import visible
from viz.colours import DARK, LIGHT, diverging, mixed
from viz.wording import width_of

__all__ = ["FORMATS", "Picture", "axes_for", "new_axes", "new_picture", "rendered", "save_figure"]

FORMATS = ("png", "svg", "pdf")
"""What a figure can be saved as."""

INK = LIGHT["ink"]
"""The colour of text and axes; on a page it becomes the colour of the page's own text."""

BLUE, ORANGE, NEUTRAL = [
    mixed(0.4, LIGHT[name], DARK[name]) for name in ("positive", "negative", "quiet")
]
"""For lines and marks: between the colours for light and for dark, so that they show on either."""

DIVERGING: Colormap = ListedColormap(
    [diverging(share) for share in np.linspace(-1.0, 1.0, 257)], "minigrad diverging"
).with_extremes(bad=LIGHT["rule"])
"""Orange, 0 in the middle, blue; an odd number of colours, so that 0 has one of its own."""

SEQUENTIAL: Colormap = ListedColormap(
    [diverging(share) for share in np.linspace(0.0, 1.0, 256)], "minigrad sequential"
).with_extremes(bad=LIGHT["rule"])
"""The half of `DIVERGING` from 0 to blue, for probabilities."""

CHINESE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Arial Unicode MS",
)


# ------------------------------------------------------------------------------ how text is drawn


def chinese_fonts() -> list[str]:
    """The installed fonts that have Chinese, as far as they are known here."""
    installed = set(font_manager.fontManager.get_font_names())
    return [name for name in CHINESE_FONTS if name in installed]


def _families() -> list[str]:
    """Several families, not one generic name: only so does matplotlib look for each glyph.

    The generic name comes last, for readers of an SVG who have none of the others.
    """
    return ["DejaVu Sans", *chinese_fonts(), "sans-serif"]


def _as_text() -> dict[Any, Any]:
    """Settings under which text is drawn as it stands, and stays text."""
    return {
        "font.family": _families(),
        "font.sans-serif": ["DejaVu Sans"],
        "text.parse_math": False,  # a token may be "$x^2$"
        "text.usetex": False,
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "svg.hashsalt": "minigrad",
    }


LOOK: dict[Any, Any] = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": NEUTRAL,
    "grid.alpha": 0.25,
    "hatch.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
}


def readable(word: object, columns: int = 16) -> str:
    """A name or a token as it can be drawn: on one line, nothing invisible, not too long.

    >>> readable("internationalization"), readable("\\n"), readable("")
    ('internationaliz…', '�', '␣')
    """
    text = visible(str(word))
    if not text.strip():
        return "␣"
    if width_of(text) <= columns:
        return text
    while width_of(text) > columns - 1:
        text = text[:-1]
    return text + "…"


def words_of(texts: Mapping[str, Mapping[str, str]], language: str) -> Mapping[str, str]:
    """The words of a language. Errors: `ValueError` for one that is not there."""
    if language not in texts:
        raise ValueError(f"language is {' or '.join(map(repr, texts))}, not {language!r}.")
    return texts[language]


def plain() -> dict[str, Any]:
    """Properties of a text that may have been made under other settings than ours."""
    return {"fontfamily": _families(), "parse_math": False, "usetex": False}


def set_title(picture: Figure, title: str) -> None:
    """The title above all axes, as it stands."""
    picture.suptitle(title, **plain(), color=INK)


def set_words(
    axes: Axes, *, title: str | None = None, x: str | None = None, y: str | None = None
) -> None:
    """The title and the names of the axes, as they stand; those that are given."""
    for set_text, text in ((axes.set_title, title), (axes.set_xlabel, x), (axes.set_ylabel, y)):
        if text is not None:
            set_text(text, **plain())


def set_ticks(axis: Axis, positions: ArrayLike, words: Sequence[str], **properties: Any) -> None:
    """Ticks with words at them, as they stand."""
    axis.set_ticks(np.asarray(positions), words, **plain(), **properties)


def explain(owner: Axes | Figure, handles: Mapping[str, Artist], **place: Any) -> None:
    """A legend, if there is anything to explain."""
    if handles:
        owner.legend([*handles.values()], [*handles], **{"ncols": 2, **place})


def spaced(positions: ArrayLike, gap: float) -> list[int]:
    """Which of the positions can be labelled, first come first served, at least `gap` apart.

    >>> spaced([0, 1, 2, 3, 4, 5], 2)
    [0, 2, 4]
    """
    places = np.asarray(positions, dtype=np.float64)
    chosen: list[int] = []
    for index, place in enumerate(places):
        if (np.abs(places[chosen] - place) >= gap).all():
            chosen.append(index)
    return chosen


def decades(axis: Axis, low: float, high: float) -> None:
    """Make an axis logarithmic, over a little more than the decades that hold `low` and `high`.

    Its labels are text (10⁻³), where matplotlib's own would be a formula.
    """
    if not 0.0 < low <= high < math.inf:  # nothing is drawn
        low = high = 1.0
    bottom, top = math.floor(math.log10(low)), math.ceil(math.log10(high))
    top = max(top, bottom + 1)
    pad = 0.04 * (top - bottom)
    bounds = 10.0 ** (bottom - pad), 10.0 ** (top + pad)
    if isinstance(axis, XAxis):
        axis.axes.set(xscale="log", xlim=bounds)
    else:
        axis.axes.set(yscale="log", ylim=bounds)
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if (top - bottom) / step <= 8)
    exponents = [e for e in range(bottom, top + 1) if e % step == 0]
    set_ticks(axis, [10.0**e for e in exponents], [power_of_ten(e) for e in exponents])
    axis.set_minor_locator(NullLocator())


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_ten(exponent: int) -> str:
    """A power of ten as it is written.

    >>> power_of_ten(-12), power_of_ten(0)
    ('10⁻¹²', '1')
    """
    return "1" if exponent == 0 else "10" + str(exponent).translate(_RAISED)


# ---------------------------------------------------------------------------- where pictures are


class Picture(Figure):
    """A matplotlib figure made without pyplot, with an Agg canvas; a notebook shows it as SVG.

    However it is saved, text in SVG stays text, a picture that is drawn again gives the same bytes
    (no date, no random identifiers), and characters that no installed font has are told of once.
    """

    def savefig(self, fname: Any, *, transparent: bool | None = None, **options: Any) -> None:
        """As `Figure.savefig`, with the promises above."""
        _save(self, fname, transparent=transparent, **options)

    def _repr_svg_(self) -> str:
        return rendered(self, "svg").decode("utf-8")


class PictureAxes(Axes):
    """Axes of a picture, which a notebook shows as the whole picture."""

    def _repr_svg_(self) -> str:
        return rendered(figure_of(self), "svg").decode("utf-8")


def new_picture(width: float, height: float) -> Picture:
    """An empty picture, measured in inches."""
    with _style():
        return _new_picture(width, height)


def _new_picture(width: float, height: float) -> Picture:
    picture = Picture(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(picture)
    return picture


def new_axes(picture: Picture, rows: int = 1, columns: int = 1, number: int = 1) -> Axes:
    """The axes at a place of a picture, counted from 1."""
    with _style():
        return picture.add_subplot(rows, columns, number, axes_class=PictureAxes)


def figure_of(axes: Axes) -> Figure:
    """The figure that axes belong to, also where they stand in a part of it."""
    figure: Any = axes.figure
    while isinstance(figure, SubFigure):
        figure = figure.figure
    return figure  # type: ignore[no-any-return]


@contextmanager
def axes_for(ax: Axes | None, width: float = 5.4, height: float = 4.2) -> Iterator[Axes]:
    """The axes to draw on, under the settings that belong to them.

    Without `ax` they are the only ones of a new picture. Somebody's own axes keep their colours
    and sizes: only how text is drawn is settled here.
    """
    if ax is not None:
        with _settings(figure_of(ax)):
            yield ax
        return
    with _style():
        yield _new_picture(width, height).add_subplot(axes_class=PictureAxes)


def _settings(figure: Figure) -> AbstractContextManager[None]:
    return _style() if isinstance(figure, Picture) else matplotlib.rc_context(_as_text())


def _style() -> AbstractContextManager[None]:
    """The settings of our own pictures, whatever those of the session are."""
    return matplotlib.style.context(["default", LOOK | _as_text()])


# ----------------------------------------------------------------------------------------- saving

METADATA: Mapping[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None},
}
"""What would change from day to day, or from one version of matplotlib to the next."""

MISSING = re.compile(r"Glyph (\d+) .*missing")

_told: WeakSet[Figure] = WeakSet()


def rendered(figure: Figure, format: str, *, transparent: bool = False) -> bytes:
    """Return a figure as the content of a file; `format` is one of `FORMATS`.

    >>> rendered(new_picture(1.0, 1.0), "pdf")[:4]
    b'%PDF'
    """
    buffer = io.BytesIO()
    _save(figure, buffer, format=format, transparent=transparent)
    return buffer.getvalue()


def save_figure(picture: Any, path: str | os.PathLike[str]) -> None:
    """Write a picture to a file, whole or not at all.

    Args:
        picture: a figure, axes, or an array of axes, which stand for the figure that they are in;
            any of matplotlib's, not only those made here.
        path: ends in .png, .svg or .pdf; missing folders are made.

    Raises:
        TypeError: there is no figure to save.
        ValueError: the name ends in something else.
        OSError: the file cannot be written; what stood there is untouched.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_figure(new_picture(1.0, 1.0), Path(folder) / "empty.svg")
        ...     (Path(folder) / "empty.svg").read_bytes()[:5]
        b'<?xml'
    """
    target = Path(path)
    format = target.suffix.lower().removeprefix(".")
    if format not in FORMATS:
        endings = ", ".join([f".{known}" for known in FORMATS])
        raise ValueError(f"a picture is saved as {endings}; {target.name!r} ends in none of these.")
    shown = np.ravel(np.asarray(picture, dtype=object))[0]
    if not isinstance(shown, (Figure, Axes)):
        raise TypeError(f"only a figure or axes can be saved, not a {type(shown).__name__}.")
    content = rendered(shown if isinstance(shown, Figure) else figure_of(shown), format)
    try:
        write_whole(target, content)
    except OSError as error:  # it names the file beside the one that was asked for
        raise OSError(error.errno, error.strerror, str(target)) from None


def _save(figure: Figure, target: Any, **options: Any) -> None:
    ending = "" if hasattr(target, "write") else os.path.splitext(os.fspath(target))[1]
    format = options.get("format") or ending[1:].lower() or "png"
    if format in METADATA:
        options["metadata"] = METADATA[format] | (options.get("metadata") or {})
    with _settings(figure), _missing_glyphs(figure, format):
        Figure.savefig(figure, target, **{"dpi": 160, **options})


@contextmanager
def _missing_glyphs(figure: Figure, format: str) -> Iterator[None]:
    """One warning in the place of matplotlib's, which come by the dozen; none for SVG.

    There a label whose glyphs could not be measured is merely placed a little off.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message="Glyph .* missing", category=UserWarning)
        yield
    missing: dict[str, None] = {}
    for warning in caught:
        found = MISSING.match(str(warning.message))
        if found:
            missing[chr(int(found[1]))] = None
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if not missing or format == "svg" or figure in _told:
        return
    _told.add(figure)
    shown = " ".join([*missing][:6]) + (" …" if len(missing) > 6 else "")
    warnings.warn(
        f"no installed font has {shown}, so this {format.upper()} shows boxes in their place. Save "
        "it as SVG, where text stays text, or install a font such as Noto Sans CJK SC.",
        stacklevel=5,
    )
