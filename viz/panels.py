"""The pictures of the √d_k laboratory, one function each, drawn from the results of a study.

Lines are what was measured: orange without the scale, blue with it. A closed form is grey and
dotted, and drawn only where it holds. How pictures are put together is told in `laboratory`;
nothing is measured here.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from attention.experiments import (
    PLACES,
    GradientStudy,
    HeadResult,
    HeadStudy,
    RandomEnergyModel,
    Regime,
    expected_maximum,
    median_gap,
)
from viz.cells import colour_bar, draw_cells, share, signed
from viz.figures import (
    BLUE,
    DIVERGING,
    NEUTRAL,
    ORANGE,
    SEQUENTIAL,
    axes_for,
    decades,
    explain,
    set_ticks,
    set_words,
    spaced,
    words_of,
)

__all__ = [
    "dead_rows",
    "entropy",
    "gradient_places",
    "head_gradient_ratios",
    "head_largest_weights",
    "largest_weight",
    "query_gradient",
    "typical_row",
]

Array = npt.NDArray[Any]
Texts = Mapping[str, str]

LOWEST = 1e-12
"""Where a logarithmic axis ends; what lies below is drawn at the edge, with an open mark."""

LARGE = 0.25
"""Laws for large d_k are drawn where M_n/√d_k, what they are multiples of, is smaller than this;
there they are within a tenth of what is measured. With fewer than 8 keys they are worse."""

TEXTS: Mapping[str, Texts] = {
    "en": {
        "unscaled": "without the scale",
        "scaled": "with 1/√d_k",
        "typical": "∂L/∂S at the softmax input: the typical row",
        "norm": "norm of a row's gradient",
        "median": "median",
        "band": "1 % to 99 % of rows",
        "query": "∂L/∂Q: the RMS and the typical row",
        "rms": "RMS",
        "theory": "theory: {}",
        "infinite": "not a finite number",
        "dead title": "Rows that have died",
        "share": "share of rows",
        "dead": "largest weight > .99",
        "starved": "queries with ‖∂L/∂q‖ < 1e-3",
        "largest title": "The largest weight of a row",
        "largest": "mean largest weight",
        "entropy title": "Entropy of a row of weights",
        "entropy": "mean entropy (nats)",
        "places": "Where the gradient goes, d_k = {d_k}",
        "softmax input": "softmax\ninput",
        "layer": "layer",
        "head": "head",
        "weight without": "mean largest weight\nwithout the scale",
        "weight with": "mean largest weight\nwith 1/√d_k",
        "starvation": "typical gradient at the softmax\ninput, without over with (log₁₀)",
    },
    "zh": {
        "unscaled": "不缩放",
        "scaled": "乘以 1/√d_k",
        "typical": "softmax 输入处的 ∂L/∂S：典型的一行",
        "norm": "一行梯度的范数",
        "median": "中位数",
        "band": "1 % 到 99 % 的行",
        "query": "∂L/∂Q：均方根与典型的一行",
        "rms": "均方根",
        "theory": "理论：{}",
        "infinite": "不是有限的数",
        "dead title": "死行",
        "share": "行的比例",
        "dead": "最大权重 > .99",
        "starved": "‖∂L/∂q‖ < 1e-3 的查询",
        "largest title": "一行中最大的权重",
        "largest": "最大权重的均值",
        "entropy title": "一行权重的熵",
        "entropy": "熵的均值（nat）",
        "places": "梯度去了哪里，d_k = {d_k}",
        "softmax input": "softmax\n输入",
        "layer": "层",
        "head": "头",
        "weight without": "最大权重的均值\n不缩放",
        "weight with": "最大权重的均值\n乘以 1/√d_k",
        "starvation": "softmax 输入处的典型梯度\n不缩放 / 缩放（log₁₀）",
    },
}

Law = Callable[[RandomEnergyModel, float], float]
"""What theory says of a softmax without the scale, given also the upstream at each weight."""


# ------------------------------------------------------------------- panels of random numbers


def typical_row(study: GradientStudy, *, ax: Axes | None = None, language: str = "en") -> Axes:
    """Draw the norm of a row's gradient at the softmax input, over d_k.

    The median, and a band from the 1 % to the 99 % quantile. Without the scale the typical row
    dies like √2·e^{−γ/2}·exp(−m_n·√d_k), times the upstream, where m_n is the median gap between
    the largest two of n normal numbers.

    Args:
        study: what was measured.
        ax: where to draw; by default on a picture of its own.
        language: `en` or `zh`.

    Example:
        >>> from attention.experiments import Settings, gradient_study
        >>> axes = typical_row(gradient_study(Settings(d_k=(4, 16), rows=50)))
        >>> axes.get_ylabel(), axes.get_xscale(), axes.get_yscale()
        ("norm of a row's gradient", 'log', 'log')

    Source:
        `attention.experiments.random_energy` has the closed forms, and where they come from.
    """
    texts = words_of(TEXTS, language)
    with axes_for(ax) as axes:
        curves = _Curves(axes, study, texts, LOWEST)
        for arm in curves.arms:
            norms = [regime.gradients["softmax input"] for regime in arm.regimes]
            curves.band(arm, [norm.low for norm in norms], [norm.high for norm in norms])
            curves.line(arm, "median", [norm.median for norm in norms])
        curves.law("∝ exp(−m_n·√d_k)", RandomEnergyModel.typical_gradient)
        curves.finish("typical", "norm")
    return axes


def query_gradient(study: GradientStudy, *, ax: Axes | None = None, language: str = "en") -> Axes:
    """Draw the RMS and the median of the norm of ∂L/∂q, over d_k.

    Without the scale the RMS grows like √(√d_k·M_n/3), times the upstream, since a few rows carry
    it; the median dies as at the softmax input, times √d_k for the keys.

    Args:
        study, ax, language: as for `typical_row`.

    Example:
        >>> from attention.experiments import Settings, gradient_study
        >>> query_gradient(gradient_study(Settings(d_k=(4, 16), rows=50))).get_title()
        '∂L/∂Q: the RMS and the typical row'
    """
    texts = words_of(TEXTS, language)
    with axes_for(ax) as axes:
        curves = _Curves(axes, study, texts, LOWEST)
        for arm in curves.arms:
            norms = [regime.gradients["Q"] for regime in arm.regimes]
            curves.line(arm, "rms", [norm.rms for norm in norms])
            curves.line(arm, "median", [norm.median for norm in norms], "--")
        curves.law("∝ √(√d_k·M_n/3)", RandomEnergyModel.query_gradient_rms)
        curves.law(
            "∝ √d_k·exp(−m_n·√d_k)",
            lambda model, upstream: model.spread * model.typical_gradient(upstream),
            "-.",
        )
        curves.finish("query", "norm")
    return axes


def dead_rows(study: GradientStudy, *, ax: Axes | None = None, language: str = "en") -> Axes:
    """Draw the share of rows with a weight above .99, and of starved queries, over d_k.

    Without the scale theory says exp(−ln 99·M_n/√d_k) for the former.

    Args:
        study, ax, language: as for `typical_row`.

    Example:
        >>> from attention.experiments import Settings, gradient_study
        >>> dead_rows(gradient_study(Settings(d_k=(4, 16), rows=50))).get_ylabel()
        'share of rows'
    """
    texts = words_of(TEXTS, language)
    with axes_for(ax) as axes:
        curves = _Curves(axes, study, texts)
        for arm in curves.arms:
            curves.line(arm, "dead", [regime.dead_rows for regime in arm.regimes])
            curves.line(arm, "starved", [regime.starved_queries for regime in arm.regimes], "--")
        # ln 99 makes its exponent large, so it holds later than the others.
        curves.law("exp(−ln 99·M_n/√d_k)", lambda model, _: model.dead_rows(), large=LARGE / 2.0)
        axes.set_ylim(-0.03, 1.03)
        curves.finish("dead title", "share")
    return axes


def largest_weight(study: GradientStudy, *, ax: Axes | None = None, language: str = "en") -> Axes:
    """Draw the mean of the largest weight of a row, over d_k.

    Without the scale theory says 1 − ln 2·M_n/√d_k.

    Args:
        study, ax, language: as for `typical_row`.

    Example:
        >>> from attention.experiments import Settings, gradient_study
        >>> largest_weight(gradient_study(Settings(d_k=(4, 16), rows=50))).get_ylabel()
        'mean largest weight'
    """
    texts = words_of(TEXTS, language)
    with axes_for(ax) as axes:
        curves = _Curves(axes, study, texts)
        for arm in curves.arms:
            curves.line(arm, "", [regime.largest_weight for regime in arm.regimes])
        curves.law("1 − ln 2·M_n/√d_k", lambda model, _: 1.0 - model.frozen_missing_weight)
        axes.set_ylim(-0.03, 1.03)
        curves.finish("largest title", "largest")
    return axes


def entropy(study: GradientStudy, *, ax: Axes | None = None, language: str = "en") -> Axes:
    """Draw the mean entropy of a row of weights in nats, over d_k; at most it is ln n.

    While the scores spread little, and so with the scale, theory says ln n − σ²/2; without the
    scale and for large d_k, (π²/6)·M_n/√d_k.

    Args:
        study, ax, language: as for `typical_row`.

    Example:
        >>> from attention.experiments import Settings, gradient_study
        >>> entropy(gradient_study(Settings(d_k=(4, 16), rows=50))).get_ylabel()
        'mean entropy (nats)'
    """
    texts = words_of(TEXTS, language)
    with axes_for(ax) as axes:
        curves = _Curves(axes, study, texts)
        for arm in curves.arms:
            curves.line(arm, "", [regime.entropy for regime in arm.regimes])
        curves.law("(π²/6)·M_n/√d_k", lambda model, _: model.frozen_entropy)
        curves.liquid_entropy()
        axes.set_ylim(0.0, 1.05 * math.log(study.settings.keys))
        curves.finish("entropy title", "entropy")
    return axes


def gradient_places(study: GradientStudy, *, ax: Axes | None = None, language: str = "en") -> Axes:
    """Draw where the gradient goes at the largest d_k: the norms of its rows, place by place.

    A line from the 1 % to the 99 % quantile, a mark at the median and a stroke at the RMS.

    Args:
        study, ax, language: as for `typical_row`.

    Example:
        >>> from attention.experiments import Settings, gradient_study
        >>> axes = gradient_places(gradient_study(Settings(d_k=(4, 16), rows=50)))
        >>> [label.get_text() for label in axes.get_yticklabels()][1:4]
        ['Q', 'K', 'W_Q']
    """
    texts = words_of(TEXTS, language)
    with axes_for(ax) as axes:
        for shift, arm in zip((0.16, -0.16), _arms(study), strict=True):
            _draw_places(axes, arm, shift)
        rows = np.arange(len(PLACES))[::-1]
        set_ticks(axes.yaxis, rows.tolist(), [texts.get(place, place) for place in PLACES])
        shown = _d_k(study)[-1]
        set_words(axes, title=texts["places"].format(d_k=shown), x=texts["norm"])
        decades(axes.xaxis, *axes.dataLim.intervalx)
        styles: dict[str, Artist] = {
            texts["median"]: Line2D([], [], color=NEUTRAL, marker="o", ls="none"),
            texts["rms"]: Line2D([], [], color=NEUTRAL, marker="|", ms=11, mew=2, ls="none"),
            texts["band"]: Line2D([], [], color=NEUTRAL, lw=3, alpha=0.5),
        }
        _legend(axes, texts, styles)
    return axes


class _Arm(NamedTuple):
    """Attention without the scale or with it: how it is drawn, and what was measured."""

    colour: str
    marker: str
    regimes: list[Regime]


def _arms(study: GradientStudy) -> list[_Arm]:
    widths = sorted(study.widths, key=lambda width: width.d_k)
    return [
        _Arm(ORANGE, "o", [width.unscaled for width in widths]),
        _Arm(BLUE, "s", [width.scaled for width in widths]),
    ]


def _d_k(study: GradientStudy) -> list[int]:
    return sorted(width.d_k for width in study.widths)


class _Curves:
    """What the panels over d_k share: lines of both arms, laws, the axes, and the legend."""

    def __init__(
        self, axes: Axes, study: GradientStudy, texts: Texts, lowest: float = -math.inf
    ) -> None:
        """`lowest` is where the axis of what was measured ends, which is then logarithmic."""
        self.axes = axes
        self.keys = study.settings.keys
        self.width = study.settings.width
        self.texts = texts
        self.lowest = lowest
        self.arms = _arms(study)
        self.d_k = _d_k(study)
        self.styles: dict[str, Artist] = {}

    def line(self, arm: _Arm, name: str, values: Sequence[float], style: str = "-") -> None:
        """What was measured of an arm; without a name it is what the axis says."""
        shown = np.maximum(values, self.lowest)
        self.axes.plot(self.d_k, shown, style, color=arm.colour, marker=arm.marker, ms=5)
        self._mark_outside(arm, values)
        if name:
            self.styles[self.texts[name]] = Line2D([], [], color=NEUTRAL, ls=style)

    def band(self, arm: _Arm, low: Sequence[float], high: Sequence[float]) -> None:
        """What most rows have."""
        edges = np.maximum(low, self.lowest), np.maximum(high, self.lowest)
        self.axes.fill_between(self.d_k, *edges, color=arm.colour, alpha=0.18, lw=0)
        self._mark_outside(arm, low)
        self.styles[self.texts["band"]] = Patch(color=NEUTRAL, alpha=0.3, lw=0)

    def _mark_outside(self, arm: _Arm, values: Sequence[float]) -> None:
        """Say honestly where a value has no place: an open triangle below, a cross above."""
        pairs = [*zip(self.d_k, values, strict=True)]
        lower = [d_k for d_k, value in pairs if value < self.lowest]
        infinite = [d_k for d_k, value in pairs if not math.isfinite(value)]
        if lower:
            self.axes.plot(lower, [self.lowest] * len(lower), "v", color=arm.colour, mfc="none")
        if infinite:
            look: dict[str, Any] = {"marker": "X", "ls": "none", "clip_on": False}
            at_top = self.axes.get_xaxis_transform()
            tops = [1.0] * len(infinite)
            self.axes.plot(infinite, tops, color=arm.colour, transform=at_top, **look)
            self.styles[self.texts["infinite"]] = Line2D([], [], color=NEUTRAL, **look)

    def law(self, name: str, law: Law, style: str = ":", large: float = LARGE) -> None:
        """A law for large d_k without the scale, over the part of the axis where it holds."""
        start = max(self.d_k[0], (expected_maximum(self.keys) / large) ** 2)
        if start < self.d_k[-1]:
            d_k = np.geomspace(start, self.d_k[-1])
            models = [RandomEnergyModel(self.keys, math.sqrt(d)) for d in d_k]
            upstreams = [math.sqrt(self.width(d)) for d in d_k]
            values = [law(*both) for both in zip(models, upstreams, strict=True)]
            self._theory(name, d_k, values, style)

    def liquid_entropy(self) -> None:
        """ln n − σ²/2 where it holds: with the scale (σ = 1), and without it for small d_k."""
        narrow = [d_k for d_k in np.geomspace(self.d_k[0], self.d_k[-1], 200) if self._liquid(d_k)]
        for d_k, squares in ((self.d_k, np.ones(len(self.d_k))), (narrow, np.array(narrow))):
            if len(d_k) > 1 and self._liquid(squares[0]):
                self._theory("ln n − σ²/2", d_k, math.log(self.keys) - squares / 2.0, "-.")

    def _liquid(self, square: float) -> bool:
        """Whether e^{σ²}/n, the next term of the law, is less than a tenth of it."""
        value = math.log(self.keys) - square / 2.0
        return value > 0.0 and square < math.log(0.1 * value * self.keys)

    def _theory(self, name: str, d_k: npt.ArrayLike, values: npt.ArrayLike, style: str) -> None:
        """A closed form, on top of what it is compared with, down to the end of the axis."""
        look: dict[str, Any] = {"color": NEUTRAL, "ls": style, "lw": 1.8, "zorder": 3}
        shown = np.where(np.less(values, self.lowest), np.nan, values)
        self.axes.plot(d_k, shown, **look)
        for sign, value in (("M_n", expected_maximum), ("m_n", median_gap)):
            if sign in name:
                name += f", {sign} = {value(self.keys):.3g}"
        self.styles[self.texts["theory"].format(name)] = Line2D([], [], **look)

    def finish(self, title: str, label: str) -> None:
        """The axes, the words and the legend."""
        axes, texts, d_k = self.axes, self.texts, np.array(self.d_k)
        set_words(axes, title=texts[title], x="d_k", y=texts[label])
        axes.set_xscale("log", base=2)
        labelled = d_k[spaced(np.log2(d_k), 0.05 * math.log2(d_k[-1] / d_k[0]))]
        set_ticks(axes.xaxis, labelled, [str(d) for d in labelled])
        axes.xaxis.set_minor_locator(NullLocator())
        if self.lowest > 0.0:
            decades(axes.yaxis, *axes.dataLim.intervaly)
        _legend(axes, texts, self.styles)


def _draw_places(axes: Axes, arm: _Arm, shift: float) -> None:
    rows = np.arange(len(PLACES))[::-1] + shift
    norms = [arm.regimes[-1].gradients[place] for place in PLACES]
    low, high, median, rms = (
        np.maximum([getattr(norm, name) for norm in norms], LOWEST)
        for name in ("low", "high", "median", "rms")
    )
    axes.hlines(rows, low, high, color=arm.colour, lw=3, alpha=0.35)
    lower = rows[[norm.low < LOWEST for norm in norms]]
    axes.plot(np.full(lower.shape, LOWEST), lower, "<", color=arm.colour, mfc="none")
    axes.plot(median, rows, arm.marker, color=arm.colour)
    axes.plot(rms, rows, "|", color=arm.colour, ms=11, mew=2)


def _legend(axes: Axes, texts: Texts, styles: Mapping[str, Artist]) -> None:
    """Explain colours (the two arms) apart from line styles, which saves half of the entries."""
    arms: dict[str, Artist] = {
        texts["unscaled"]: Line2D([], [], color=ORANGE, marker="o", lw=2),
        texts["scaled"]: Line2D([], [], color=BLUE, marker="s", lw=2),
    }
    # Below the axes, where it can hide no curve whatever the numbers are.
    explain(axes, arms | dict(styles), loc="upper center", bbox_to_anchor=(0.5, -0.14))


# ------------------------------------------------------------------------ panels of real heads


def head_largest_weights(
    study: HeadStudy, *, scaled: bool = False, ax: Axes | None = None, language: str = "en"
) -> Axes:
    """Draw the mean largest weight of every head, layers × heads.

    Args:
        study: what was measured.
        scaled: with the scale 1/√d_k, or without it.
        ax: where to draw; by default on a picture of its own.
        language: `en` or `zh`.

    Example:
        >>> from attention.experiments import QKV, head_study
        >>> arrays = np.random.default_rng(0).standard_normal((3, 2, 4, 6, 8))
        >>> axes = head_largest_weights(head_study(QKV("drawn", *arrays)))
        >>> axes.get_ylabel(), len(axes.texts)
        ('layer', 8)
    """
    texts = words_of(TEXTS, language)
    values = _by_head(study, lambda head: (head.scaled if scaled else head.unscaled).largest_weight)
    with axes_for(ax, *head_map_size(study)) as axes:
        mesh = draw_cells(axes, values, SEQUENTIAL, (0.0, 1.0), share)
        _finish_heads(axes, study, texts, "weight with" if scaled else "weight without")
        colour_bar(mesh, axes)
    return axes


def head_gradient_ratios(study: HeadStudy, *, ax: Axes | None = None, language: str = "en") -> Axes:
    """Draw by how many decades each head's typical gradient is smaller without the scale.

    It is that of the typical row at the softmax input. The colours end at 8 decades at most, so
    that one extreme head does not wash out the others; its number still stands in its cell.

    Args:
        study, ax, language: as for `head_largest_weights`.

    Example:
        >>> from attention.experiments import QKV, head_study
        >>> arrays = np.random.default_rng(0).standard_normal((3, 2, 4, 6, 8))
        >>> head_gradient_ratios(head_study(QKV("drawn", *arrays))).get_xlabel()
        'head'
    """
    texts = words_of(TEXTS, language)
    ratios = _by_head(study, lambda head: head.gradient_ratio)
    values = np.log10(np.clip(ratios, 1e-300, 1e300))
    reach = float(np.clip(np.abs(values).max(), 1.0, 8.0))
    with axes_for(ax, *head_map_size(study)) as axes:
        mesh = draw_cells(axes, values, DIVERGING, (-reach, reach), signed)
        _finish_heads(axes, study, texts, "starvation")
        colour_bar(mesh, axes)
    return axes


def head_map_size(study: HeadStudy) -> tuple[float, float]:
    """Width and height in inches that suit a map of these heads."""
    rows, columns = _by_head(study, lambda head: 0.0).shape
    return max(3.6, min(9.0, 1.4 + 0.36 * columns)), max(2.6, min(11.0, 1.9 + 0.36 * rows))


def _by_head(study: HeadStudy, value: Callable[[HeadResult], float]) -> Array:
    """A number per head: rows are layers, columns heads; without leading axes one cell."""
    columns = study.leading[-1] if study.leading else 1
    return np.array([value(head) for head in study.heads]).reshape(-1, columns)


def _finish_heads(axes: Axes, study: HeadStudy, texts: Texts, title: str) -> None:
    shape = _by_head(study, lambda head: 0.0).shape
    set_words(axes, title=texts[title], x=texts["head"], y=texts["layer"])
    for axis, count in zip((axes.yaxis, axes.xaxis), shape, strict=True):
        shown = range(0, count, max(1, count // 12))
        set_ticks(axis, [i + 0.5 for i in shown], [str(i) for i in shown])
