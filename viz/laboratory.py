"""Pictures and the page of the √d_k laboratory, drawn from the plain results of its experiments.

A figure is a matplotlib `Figure` made without pyplot; in SVG its text stays text. The page is one
HTML file that needs no network and runs no script. Nothing is measured here.
"""

import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from attention.experiments import (
    PLACES,
    GradientStudy,
    HeadStudy,
    Regime,
    Study,
    reading_notes,
    summarise,
    tabulate,
)

__all__ = ["FORMATS", "figure_bytes", "laboratory_figure", "laboratory_page"]

Array = npt.NDArray[Any]
Texts = Mapping[str, str]
Panel = Callable[[Axes], None]

FORMATS = ("png", "svg", "pdf")
"""What a figure can be saved as."""

UNSCALED, SCALED, NEUTRAL = "#d9622b", "#2a8c9c", "#8a8a8a"
"""An orange and a blue that colour-blind readers tell apart, on light and on dark."""

INK = "#31363b"
"""The colour of text and axes; on the page it becomes the colour of the page's own text."""

LOWEST = 1e-12
"""Where a logarithmic axis ends; what lies below is drawn at the edge, with an open mark."""

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

TEXTS: Mapping[str, Texts] = {
    "en": {
        "title": "What happens to the gradients of attention without 1/√d_k",
        "unscaled": "without the scale",
        "scaled": "with 1/√d_k",
        "typical": "∂L/∂S at the softmax input: the typical row",
        "norm": "norm of a row's gradient",
        "median": "median",
        "band": "1 % to 99 % of rows",
        "query": "∂L/∂Q: the RMS and the typical row",
        "rms": "RMS",
        "theory": "RMS in theory, without the scale",
        "saturation": "How saturated the rows are",
        "share": "share of rows, or weight",
        "largest": "mean largest weight",
        "dead": "dead rows, max p > .99",
        "starved": "queries with ‖∂L/∂q‖ < 1e-3",
        "places": "Where the gradient goes, d_k = {d_k}",
        "softmax input": "softmax\ninput",
        "layer": "layer",
        "head": "head",
        "weight without": "mean largest weight\nwithout the scale",
        "weight with": "mean largest weight\nwith 1/√d_k",
        "starvation": "typical gradient at the softmax\ninput, without over with (log₁₀)",
        "heads title": "Real heads with and without 1/√d_k",
        "figure": "Figure",
        "reading": "How to read the tables",
        "setting": "{keys} keys, {rows} rows, {dtype}, seed {seed}, V of width {width}",
        "heads setting": "{source}: {heads} heads, {queries} queries, {keys} keys, d_k = {d_k}, "
        "{dtype}, seed {seed}",
    },
    "zh": {
        "title": "没有 1/√d_k，注意力的梯度会怎样",
        "unscaled": "不缩放",
        "scaled": "乘以 1/√d_k",
        "typical": "softmax 输入处的 ∂L/∂S：典型的一行",
        "norm": "一行梯度的范数",
        "median": "中位数",
        "band": "1 % 到 99 % 的行",
        "query": "∂L/∂Q：均方根与典型的一行",
        "rms": "均方根",
        "theory": "均方根的理论值（不缩放）",
        "saturation": "各行饱和的程度",
        "share": "行的比例，或权重",
        "largest": "最大权重的均值",
        "dead": "死行，最大权重 > .99",
        "starved": "‖∂L/∂q‖ < 1e-3 的查询",
        "places": "梯度去了哪里，d_k = {d_k}",
        "softmax input": "softmax\n输入",
        "layer": "层",
        "head": "头",
        "weight without": "最大权重的均值\n不缩放",
        "weight with": "最大权重的均值\n乘以 1/√d_k",
        "starvation": "softmax 输入处的典型梯度\n不缩放 / 缩放（log₁₀）",
        "heads title": "真实的头：有无 1/√d_k",
        "figure": "图",
        "reading": "怎样读这些表",
        "setting": "{keys} 个键，{rows} 行，{dtype}，随机种子 {seed}，V 的宽度 {width}",
        "heads setting": "{source}：{heads} 个头，{queries} 个查询，{keys} 个键，d_k = {d_k}，"
        "{dtype}，随机种子 {seed}",
    },
}


# ------------------------------------------------------------------------------- the figures


def laboratory_figure(study: Study, language: str = "en") -> Figure:
    """Draw a study: four panels for random numbers, three heat maps for real heads.

    Args:
        study: what was measured.
        language: `en` or `zh`; Chinese needs a font that has it, except in SVG.

    Returns:
        A figure with an Agg canvas. `figure_bytes` is how to save it: it keeps text as text.

    Example:
        >>> from attention.experiments import Settings, gradient_study
        >>> study = gradient_study(Settings(d_k=(4, 16), rows=50))
        >>> [axes.get_title() for axes in laboratory_figure(study).axes][1]
        '∂L/∂Q: the RMS and the typical row'
    """
    texts = TEXTS[language]
    panels = _panels(study, texts)
    with _style():
        if isinstance(study, GradientStudy):
            figure, grid = Figure(figsize=(11.0, 8.4), layout="constrained"), (2, 2)
            figure.suptitle(texts["title"], color=INK)
        else:
            width = max(3.6, min(9.0, 1.4 + 0.36 * _grid(study).shape[1]))
            figure, grid = Figure(figsize=(3.0 * width, _map_height(study))), (1, 3)
            figure.set_layout_engine("constrained")
            figure.suptitle(texts["heads title"], color=INK)
        FigureCanvasAgg(figure)
        for number, panel in enumerate(panels, start=1):
            panel(figure.add_subplot(*grid, number))
    return figure


def figure_bytes(study: Study, format: str, language: str = "en") -> bytes:
    """Draw a study and return the picture as the content of a file.

    The same study gives the same bytes: no date, no random identifiers. Where no installed font
    has Chinese, PNG and PDF are labelled in English; in SVG the text is text, so Chinese stays.

    Args:
        study: what was measured.
        format: `png`, `svg` or `pdf`.
        language: `en` or `zh`.

    Raises:
        ValueError: the format is another.

    Example:
        >>> from attention.experiments import Settings, gradient_study
        >>> study = gradient_study(Settings(d_k=(4, 16), rows=50))
        >>> figure_bytes(study, "png")[1:4]
        b'PNG'
    """
    if format not in FORMATS:
        raise ValueError(f"a figure is saved as {', '.join(FORMATS)}, not as {format!r}")
    if language == "zh" and format != "svg" and not _chinese_fonts():
        language = "en"
    return _save(laboratory_figure(study, language), format)


def _save(figure: Figure, format: str, *, transparent: bool = False) -> bytes:
    buffer = io.BytesIO()
    metadata = {
        "png": {"Software": None},
        "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
        "pdf": {"CreationDate": None},
    }[format]
    with _style(), warnings.catch_warnings():
        # Measured with a font that lacks Chinese, a label is merely placed a little off in SVG.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure.savefig(buffer, format=format, metadata=metadata, dpi=160, transparent=transparent)
    return buffer.getvalue()


def _style() -> Any:
    """The settings of matplotlib under which everything here is drawn and saved."""
    return matplotlib.rc_context(
        {
            # Several families, not one generic name: only so does matplotlib look for each glyph.
            # The generic name comes last, for readers of an SVG who have none of the others.
            "font.family": ["DejaVu Sans", *_chinese_fonts(), "sans-serif"],
            "font.sans-serif": ["DejaVu Sans"],
            "font.size": 9.5,
            "axes.titlesize": 10.5,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "axes.titlecolor": INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": NEUTRAL,
            "grid.alpha": 0.25,
            "xtick.color": INK,
            "ytick.color": INK,
            "text.color": INK,
            "legend.frameon": False,
            "legend.fontsize": 8.5,
            "mathtext.default": "regular",
            "pdf.fonttype": 42,
            "svg.fonttype": "none",
            "svg.hashsalt": "minigrad",
        }
    )


def _chinese_fonts() -> list[str]:
    installed = set(font_manager.fontManager.get_font_names())
    return [name for name in CHINESE_FONTS if name in installed]


def _panels(study: Study, texts: Texts) -> list[Panel]:
    if isinstance(study, HeadStudy):
        return _head_panels(study, texts)
    return [
        lambda axes: _draw_typical_row(axes, study, texts),
        lambda axes: _draw_query(axes, study, texts),
        lambda axes: _draw_saturation(axes, study, texts),
        lambda axes: _draw_places(axes, study, texts),
    ]


# ------------------------------------------------------------------- panels of random numbers


def _arms(study: GradientStudy) -> list[tuple[str, str, str, list[Regime]]]:
    """Key, colour, marker and results of attention without the scale and with it."""
    widths = sorted(study.widths, key=lambda width: width.d_k)
    return [
        ("unscaled", UNSCALED, "o", [width.unscaled for width in widths]),
        ("scaled", SCALED, "s", [width.scaled for width in widths]),
    ]


def _d_k(study: GradientStudy) -> list[int]:
    return sorted(width.d_k for width in study.widths)


def _prepare(axes: Axes, study: GradientStudy, title: str, label: str) -> None:
    widths = _d_k(study)
    axes.set_title(title)
    axes.set_xscale("log", base=2)
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("d_k")
    axes.set_ylabel(label)


def _clipped(values: Sequence[float]) -> Array:
    return np.maximum(np.asarray(values, dtype=np.float64), LOWEST)


def _legend(axes: Axes, texts: Texts, styles: Mapping[str, Artist]) -> None:
    """Explain colours (the two arms) apart from line styles, four entries instead of six."""
    arms = {
        texts["unscaled"]: Line2D([], [], color=UNSCALED, marker="o", lw=2),
        texts["scaled"]: Line2D([], [], color=SCALED, marker="s", lw=2),
    }
    named = {texts[name]: artist for name, artist in styles.items()}
    handles = {**arms, **named}
    # Below the axes, where it can hide no curve whatever the numbers are.
    axes.legend(
        [*handles.values()], [*handles], loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2
    )


def _draw_typical_row(axes: Axes, study: GradientStudy, texts: Texts) -> None:
    widths = _d_k(study)
    for _, colour, marker, regimes in _arms(study):
        norms = [regime.gradients["softmax input"] for regime in regimes]
        low, high = _clipped([norm.low for norm in norms]), _clipped([norm.high for norm in norms])
        axes.fill_between(widths, low, high, color=colour, alpha=0.18, lw=0)
        axes.plot(widths, _clipped([norm.median for norm in norms]), color=colour, marker=marker)
        _mark_clipped(axes, widths, [norm.low for norm in norms], colour)
    axes.set_yscale("log")
    _prepare(axes, study, texts["typical"], texts["norm"])
    styles = {
        "median": Line2D([], [], color=NEUTRAL),
        "band": Patch(color=NEUTRAL, alpha=0.3, lw=0),
    }
    _legend(axes, texts, styles)


def _mark_clipped(axes: Axes, x: Sequence[int], values: Sequence[float], colour: str) -> None:
    """Say honestly, with an open triangle, where a value lies below the end of the axis."""
    for position, value in zip(x, values, strict=True):
        if value < LOWEST:
            axes.plot(position, LOWEST, "v", color=colour, mfc="none", clip_on=False)


def _draw_query(axes: Axes, study: GradientStudy, texts: Texts) -> None:
    widths = _d_k(study)
    for _, colour, marker, regimes in _arms(study):
        norms = [regime.gradients["Q"] for regime in regimes]
        for statistic, style in (("rms", "-"), ("median", "--")):
            values = _clipped([getattr(norm, statistic) for norm in norms])
            axes.plot(widths, values, style, color=colour, marker=marker, ms=5)
    predicted = {width.d_k: width.predicted_query_rms for width in study.widths}
    axes.plot(widths, [predicted[width] for width in widths], ":", color=NEUTRAL, lw=2)
    axes.set_yscale("log")
    _prepare(axes, study, texts["query"], texts["norm"])
    styles = {
        "rms": Line2D([], [], color=NEUTRAL),
        "median": Line2D([], [], color=NEUTRAL, ls="--"),
        "theory": Line2D([], [], color=NEUTRAL, ls=":", lw=2),
    }
    _legend(axes, texts, styles)


def _draw_saturation(axes: Axes, study: GradientStudy, texts: Texts) -> None:
    fields = {"largest": "largest_weight", "dead": "dead_rows", "starved": "starved_queries"}
    lines = {"largest": "-", "dead": "--", "starved": ":"}
    for _, colour, marker, regimes in _arms(study):
        for name, field in fields.items():
            values = [getattr(regime, field) for regime in regimes]
            axes.plot(_d_k(study), values, lines[name], color=colour, marker=marker, ms=5)
    axes.set_ylim(-0.03, 1.03)
    _prepare(axes, study, texts["saturation"], texts["share"])
    styles = {name: Line2D([], [], color=NEUTRAL, ls=line) for name, line in lines.items()}
    _legend(axes, texts, styles)


def _draw_places(axes: Axes, study: GradientStudy, texts: Texts) -> None:
    """At the largest d_k, each place's 1 % to 99 % as a line, its median and its RMS as marks."""
    rows = np.arange(len(PLACES))[::-1]
    for shift, (_, colour, marker, regimes) in zip((0.16, -0.16), _arms(study), strict=True):
        norms = [regimes[-1].gradients[place] for place in PLACES]
        low, high = _clipped([n.low for n in norms]), _clipped([n.high for n in norms])
        axes.hlines(rows + shift, low, high, color=colour, lw=3, alpha=0.35)
        clipped = rows[[n.low < LOWEST for n in norms]] + shift
        axes.plot(np.full(clipped.shape, LOWEST), clipped, "<", color=colour, mfc="none")
        axes.plot(_clipped([n.median for n in norms]), rows + shift, marker, color=colour)
        axes.plot(_clipped([n.rms for n in norms]), rows + shift, "|", color=colour, ms=11, mew=2)
    axes.set_xscale("log")
    axes.set_yticks(rows, [texts.get(place, place) for place in PLACES])
    axes.set_title(texts["places"].format(d_k=_d_k(study)[-1]))
    axes.set_xlabel(texts["norm"])
    styles = {
        "band": Line2D([], [], color=NEUTRAL, lw=3, alpha=0.5),
        "rms": Line2D([], [], color=NEUTRAL, marker="|", ms=11, mew=2, ls="none"),
    }
    _legend(axes, texts, styles)


# ------------------------------------------------------------------------ panels of real heads


def _grid(study: HeadStudy) -> Array:
    """The place of each head: rows are layers, columns heads; without leading axes one cell."""
    columns = study.leading[-1] if study.leading else 1
    return np.arange(len(study.heads)).reshape(-1, columns)


def _map_height(study: HeadStudy) -> float:
    return float(np.clip(1.9 + 0.36 * _grid(study).shape[0], 2.6, 11.0))


def _head_panels(study: HeadStudy, texts: Texts) -> list[Panel]:
    grid = _grid(study)
    without = np.array([head.unscaled.largest_weight for head in study.heads])[grid]
    with_scale = np.array([head.scaled.largest_weight for head in study.heads])[grid]
    ratios = np.array([head.gradient_ratio for head in study.heads])[grid]
    decades = np.log10(np.clip(ratios, 1e-300, 1e300))
    # One extreme head must not wash out the others; its number still stands in its cell.
    reach = float(np.clip(np.abs(decades).max(), 1.0, 8.0))
    return [
        lambda axes: _draw_map(axes, without, texts, "weight without", ("magma", 0.0, 1.0)),
        lambda axes: _draw_map(axes, with_scale, texts, "weight with", ("magma", 0.0, 1.0)),
        lambda axes: _draw_map(axes, decades, texts, "starvation", ("RdBu", -reach, reach)),
    ]


def _draw_map(
    axes: Axes, values: Array, texts: Texts, title: str, colours: tuple[str, float, float]
) -> None:
    """Draw layers × heads as coloured cells, each with its number where there is room."""
    name, low, high = colours
    mesh = axes.pcolormesh(values, cmap=name, vmin=low, vmax=high, edgecolor="none")
    axes.invert_yaxis()
    axes.grid(False)
    axes.set_title(texts[title])
    axes.set_xlabel(texts["head"])
    axes.set_ylabel(texts["layer"])
    rows, columns = values.shape
    for axis, count in ((axes.xaxis, columns), (axes.yaxis, rows)):
        step = max(1, count // 12)
        axis.set_ticks(np.arange(0, count, step) + 0.5, [str(i) for i in range(0, count, step)])
    bar = axes.figure.colorbar(mesh, ax=axes, shrink=0.85)
    # By default it becomes a bitmap in SVG, which the page's security policy would not load.
    if bar.solids is not None:
        bar.solids.set(rasterized=False, edgecolor="face")
    if values.size > 400:
        return
    for (row, column), value in np.ndenumerate(values):
        red, green, blue, _ = mesh.cmap(mesh.norm(value))
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
        text = f"{value:.1f}" if name == "RdBu" else f"{value:.2f}".removeprefix("0")
        colour = "white" if dark else "black"
        axes.text(column + 0.5, row + 0.5, text, color=colour, ha="center", va="center", size=7)


# ---------------------------------------------------------------------------------- the page


def laboratory_page(study: Study, language: str = "en", *, checked: str = "") -> str:
    """Write a study as one HTML page: findings, figures, tables, and how to read them.

    The page follows the reader's light or dark mode and fits a narrow screen. Its
    Content-Security-Policy forbids every request and every script.

    Args:
        study: what was measured.
        language: `en` or `zh`.
        checked: a sentence about how the gradients were verified.

    Returns:
        The content of an `.html` file, to be written as UTF-8.

    Example:
        >>> from attention.experiments import Settings, gradient_study
        >>> page = laboratory_page(gradient_study(Settings(d_k=(4, 16), rows=50)))
        >>> page[:15], "<script" in page
        ('<!DOCTYPE html>', False)

    Source:
        W3C, "Content Security Policy Level 3".
    """
    texts = TEXTS[language]
    title = "title" if isinstance(study, GradientStudy) else "heads title"
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(PAGE).render(
        language={"en": "en", "zh": "zh-Hans"}[language],
        title=texts[title],
        setting=_setting(study, texts),
        findings=summarise(study, language),
        figures=_page_figures(study, texts),
        figure_label=texts["figure"],
        tables=tabulate(study, language),
        reading=texts["reading"],
        notes=reading_notes(study, language),
        checked=checked,
    )


def _setting(study: Study, texts: Texts) -> str:
    if isinstance(study, GradientStudy):
        settings = study.settings
        width = settings.upstream_width or "d_k"
        return texts["setting"].format(
            keys=settings.keys,
            rows=settings.rows,
            dtype=settings.dtype,
            seed=settings.seed,
            width=width,
        )
    return texts["heads setting"].format(
        source=study.source,
        heads=len(study.heads),
        queries=study.queries,
        keys=study.keys,
        d_k=study.d_k,
        dtype=study.dtype,
        seed=study.seed,
    )


def _page_figures(study: Study, texts: Texts) -> list[tuple[str, Markup]]:
    """Each panel as a picture of its own, so that they stack on a narrow screen."""
    height = 4.2 if isinstance(study, GradientStudy) else _map_height(study)
    figures = []
    for number, panel in enumerate(_panels(study, texts), start=1):
        with _style():
            figure = Figure(figsize=(5.4, height), layout="constrained")
            FigureCanvasAgg(figure)
            axes = figure.add_subplot()
            panel(axes)
            title = axes.get_title().replace("\n", " ")
            axes.set_title("")
        svg = _save(figure, "svg", transparent=True).decode("utf-8")
        figures.append((title, _inline(svg, f"f{number}-")))
    return figures


def _inline(svg: str, prefix: str) -> Markup:
    """Make a matplotlib SVG part of a page: without its prologue, with identifiers of its own.

    matplotlib has escaped the text in it already, so it is marked as safe.
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{prefix}", svg)
    svg = re.sub(r'(<svg [^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg [^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return Markup(svg.replace(INK, "currentColor"))


PAGE = """\
<!DOCTYPE html>
<html lang="{{ language }}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{ title }}</title>
<style>
:root { --paper: #fdfcfa; --ink: #24292e; --quiet: #5d666e; --rule: #d9d6d0; --tint: #f3f1ec;
  --unscaled: #b84a17; --scaled: #1d6f7d; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16191c; --ink: #e4e6e8; --quiet: #a2aab1; --rule: #363c42; --tint: #1f2428;
    --unscaled: #f08a58; --scaled: #62bccb; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 3rem) 4rem; }
h1 { font-size: clamp(1.4rem, 4.5vw, 2rem); line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; }
.setting, figcaption, .notes, .checked { color: var(--quiet); font-size: .9rem; }
.setting { overflow-wrap: anywhere; }
ol.findings { padding: 0; margin: 1.4rem 0; list-style: none; display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); }
ol.findings li { background: var(--tint); border-left: 4px solid var(--unscaled);
  border-radius: 4px; padding: .8rem 1rem; overflow-wrap: anywhere; }
ol.findings li:last-child { border-color: var(--scaled); }
.figures { display: grid; gap: 1.2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
figure { margin: 0; }
figure svg { width: 100%; height: auto; display: block; }
figcaption { font-weight: 600; color: var(--ink); margin-bottom: .2rem; }
.scroll { overflow-x: auto; border: 1px solid var(--rule); border-radius: 4px; }
table { border-collapse: collapse; width: 100%; font-size: .88rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap; }
thead th { font-weight: 600; color: var(--quiet); }
thead tr:first-child th { text-align: center; }
thead tr:last-child th { border-bottom: 1px solid var(--rule); }
th.unscaled { color: var(--unscaled); } th.scaled { color: var(--scaled); }
td.first { border-left: 1px solid var(--rule); }
tbody th { font-weight: 500; }
tr > :first-child { position: sticky; left: 0; background: var(--paper); }
tbody tr.heading th { text-align: left; padding-top: .8rem; font-weight: 700; }
tbody tr:not(.heading):hover { background: var(--tint); }
</style>
</head>
<body>
<main>
<h1>{{ title }}</h1>
<p class="setting">{{ setting }}</p>
<ol class="findings">
{% for finding in findings %}
<li>{{ finding }}</li>
{% endfor %}
</ol>
<div class="figures">
{% for caption, svg in figures %}
<figure role="group" aria-label="{{ figure_label }} {{ loop.index }}: {{ caption }}">
<figcaption>{{ caption }}</figcaption>
{{ svg }}
</figure>
{% endfor %}
</div>
{% for table in tables %}
<h2>{{ table.title }}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="{{ table.title }}">
<table>
<thead>
<tr><td></td>
{% for kind in ("unscaled", "scaled") %}
<th class="{{ kind }}" colspan="{{ table.columns | length }}" scope="colgroup">
{{ table.arms[loop.index0] }}</th>
{% endfor %}
</tr>
<tr><th scope="col">{{ table.label }}</th>
{% for column in table.columns + table.columns %}
<th scope="col">{{ column }}</th>
{% endfor %}
</tr>
</thead>
<tbody>
{% for row in table.rows %}
{% if row.unscaled %}
<tr><th scope="row">{{ row.label }}</th>
{% for cells in (row.unscaled, row.scaled) %}
{% for cell in cells %}
<td{% if loop.first %} class="first"{% endif %}>{{ cell }}</td>
{% endfor %}
{% endfor %}
</tr>
{% else %}
<tr class="heading"><th colspan="{{ 1 + 2 * (table.columns | length) }}">{{ row.label }}</th></tr>
{% endif %}
{% endfor %}
</tbody>
</table>
</div>
{% endfor %}
{% if notes %}
<h2>{{ reading }}</h2>
<ul class="notes">
{% for note in notes %}
<li>{{ note }}</li>
{% endfor %}
</ul>
{% endif %}
<p class="checked">{{ checked }}</p>
</main>
</body>
</html>
"""
