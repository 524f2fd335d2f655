"""How fast something is: ratios with their spread, and how time or memory grows; of plain numbers.

Ours are blue, others orange, and what both are compared with is grey. Nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from viz.figures import (
    BLUE,
    NEUTRAL,
    ORANGE,
    axes_for,
    decades,
    explain,
    set_ticks,
    set_words,
    words_of,
)

__all__ = ["growth", "ratios"]

TEXTS = {
    "en": {
        "ratio": "time, as a multiple (line: the middle half of the rounds)",
        "target": "target",
        "seconds": "seconds",
        "megabytes": "megabytes",
    },
    "zh": {
        "ratio": "时间的倍数（线段：居中一半的轮次）",
        "target": "目标",
        "seconds": "秒",
        "megabytes": "兆字节",
    },
}
MARKS = "osD^vPX*"
Quartiles = tuple[float, float, float]


def ratios(
    quartiles: Mapping[str, Quartiles],
    *,
    ours: Sequence[str] = (),
    grey: Sequence[str] = (),
    targets: Mapping[str, float] | None = None,
    title: str = "",
    ax: Axes | None = None,
    language: str = "en",
) -> Axes:
    """Draw how many times as long as 1 each name takes: a dot at the median, a line between the
    quartiles, and a stroke at what was aimed at.

    Args:
        quartiles: for each name the lower quartile, the median and the upper one, all above 0.
        ours: the names that are drawn in blue.
        grey: what they are compared with.
        targets: what is aimed at, for the names that have an aim.
        title: what was computed.
        ax: where to draw; by default on a picture of its own.
        language: `en` or `zh`.

    Example:
        >>> axes = ratios({"ours": (0.5, 0.52, 0.6), "theirs": (2.0, 2.1, 2.5)}, ours=["ours"])
        >>> [label.get_text() for label in axes.get_yticklabels()], axes.get_xscale()
        (['ours  0.52', 'theirs  2.10'], 'log')
    """
    texts, aims = words_of(TEXTS, language), targets or {}
    with axes_for(ax) as axes:
        axes.set_xscale("log")
        axes.axvline(1.0, color=NEUTRAL, lw=1.2)
        for row, (name, (low, middle, high)) in enumerate(quartiles.items()):
            colour = _colour(name, ours, grey)
            axes.plot([low, high], [row, row], color=colour, lw=3, alpha=0.5)
            axes.plot([middle], [row], "o", color=colour)
            if name in aims:
                axes.plot([aims[name]], [row], "|", color=NEUTRAL, ms=13, mew=2)
        words = [f"{name}  {_short(middle)}" for name, (_, middle, _) in quartiles.items()]
        set_ticks(axes.yaxis, range(len(words)), words)
        axes.set_ylim(len(words) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        _label_multiples(axes)
        set_words(axes, title=title, x=texts["ratio"])
        if aims:
            stroke = Line2D([], [], color=NEUTRAL, marker="|", ms=13, mew=2, ls="none")
            explain(axes, {texts["target"]: stroke}, loc="best")
    return axes


def _colour(name: str, ours: Sequence[str], grey: Sequence[str]) -> str:
    return NEUTRAL if name in grey else BLUE if name in ours else ORANGE


def _short(ratio: float) -> str:
    """
    >>> _short(0.0456), _short(2.0), _short(1234.5)
    ('0.046', '2.00', '1,234')
    """
    return f"{ratio:,.0f}" if ratio >= 100.0 else f"{ratio:.2g}" if ratio < 0.1 else f"{ratio:.2f}"


def _label_multiples(axes: Axes) -> None:
    """1, 2, 5, 10 and so on, as far as they are on the axis."""
    low, high = axes.dataLim.intervalx
    low, high = min(low, 1.0) / 1.25, max(high, 1.0) * 1.25
    steps = [m * 10.0**e for e in range(-4, 7) for m in (1, 2, 5)]
    shown = [step for step in steps if low <= step <= high]
    if len(shown) > 7:
        shown = [10.0**e for e in range(-4, 7) if low <= 10.0**e <= high]
    axes.set_xlim(low, high)
    set_ticks(axes.xaxis, shown, [f"{step:,.4g}" for step in shown])
    axes.xaxis.set_minor_locator(NullLocator())


def growth(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    exponents: Mapping[str, float] | None = None,
    ours: Sequence[str] = (),
    grey: Sequence[str] = (),
    of: str = "seconds",
    over: str = "n",
    title: str = "",
    ax: Axes | None = None,
    language: str = "en",
) -> Axes:
    """Draw how something grows, both axes logarithmic, so that a power of n is a straight line.

    Args:
        curves: for each name the n and the values there; values that are not above 0 are left out.
        exponents: the fitted power of n, for the names that have one.
        ours: the names that are drawn in blue.
        grey: what they are compared with.
        of: `seconds` or `megabytes`.
        over: what n is.
        title, ax, language: as for `ratios`.

    Example:
        >>> axes = growth({"square": ([1, 2, 4], [3.0, 12.0, 48.0])}, exponents={"square": 2.0})
        >>> [text.get_text() for text in axes.get_legend().get_texts()]
        ['square  ∝ n^2.00']
    """
    texts, fitted = words_of(TEXTS, language), exponents or {}
    with axes_for(ax) as axes:
        handles: dict[str, Artist] = {}
        for place, (name, (n, values)) in enumerate(curves.items()):
            points = [(x, y) for x, y in zip(n, values, strict=True) if y > 0.0]
            look: dict[str, Any] = {"color": _colour(name, ours, grey), "ms": 5.0}
            look["marker"] = MARKS[place % len(MARKS)]
            axes.plot([x for x, _ in points], [y for _, y in points], **look)
            power = f"  ∝ {over}^{fitted[name]:.2f}" if name in fitted else ""
            handles[name + power] = Line2D([], [], **look)
        decades(axes.yaxis, *axes.dataLim.intervaly)
        decades(axes.xaxis, *axes.dataLim.intervalx)
        set_words(axes, title=title, x=over, y=texts[of])
        explain(axes, handles, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    return axes
