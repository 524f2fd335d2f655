"""The √d_k laboratory as one figure, as a file, and as a page, put together from its panels.

The page is one HTML file that needs no network and runs no script. What each panel shows is told in
`panels`; nothing is measured here.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attention.experiments import (
    GradientStudy,
    Study,
    reading_notes,
    summarise,
    tabulate,
)
from viz.colours import DARK, LIGHT, properties
from viz.figures import (
    FORMATS,
    INK,
    chinese_fonts,
    new_axes,
    new_picture,
    rendered,
    set_title,
    words_of,
)
from viz.panels import (
    dead_rows,
    entropy,
    gradient_places,
    head_gradient_ratios,
    head_largest_weights,
    head_map_size,
    largest_weight,
    query_gradient,
    typical_row,
)

__all__ = ["FORMATS", "figure_bytes", "laboratory_figure", "laboratory_page"]

Texts = Mapping[str, str]
Panel = Callable[..., Axes]

TEXTS: Mapping[str, Texts] = {
    "en": {
        "title": "What happens to the gradients of attention without 1/√d_k",
        "heads title": "Real heads with and without 1/√d_k",
        "figure": "Figure",
        "reading": "How to read the tables",
        "setting": "{keys} keys, {rows} rows, {dtype}, seed {seed}, V of width {width}",
        "heads setting": "{source}: {heads} heads, {queries} queries, {keys} keys, d_k = {d_k}, "
        "{dtype}, seed {seed}",
    },
    "zh": {
        "title": "没有 1/√d_k，注意力的梯度会怎样",
        "heads title": "真实的头：有无 1/√d_k",
        "figure": "图",
        "reading": "怎样读这些表",
        "setting": "{keys} 个键，{rows} 行，{dtype}，随机种子 {seed}，V 的宽度 {width}",
        "heads setting": "{source}：{heads} 个头，{queries} 个查询，{keys} 个键，d_k = {d_k}，"
        "{dtype}，随机种子 {seed}",
    },
}


# -------------------------------------------------------------------------------- the figure


def laboratory_figure(study: Study, language: str = "en") -> Figure:
    """Draw a study: four panels for random numbers, three heat maps for real heads.

    Args:
        study: what was measured.
        language: `en` or `zh`; Chinese needs a font that has it, except in SVG.

    Returns:
        A figure with an Agg canvas, which keeps text as text when it is saved as SVG.

    Example:
        >>> from attention.experiments import Settings, gradient_study
        >>> study = gradient_study(Settings(d_k=(4, 16), rows=50))
        >>> [axes.get_title() for axes in laboratory_figure(study).axes][1]
        '∂L/∂Q: the RMS and the typical row'
    """
    texts = words_of(TEXTS, language)
    if isinstance(study, GradientStudy):
        panels: list[Panel] = [typical_row, query_gradient, dead_rows, gradient_places]
        picture, grid, title = new_picture(11.0, 8.4), (2, 2), texts["title"]
    else:
        panels = _head_panels()
        width, height = head_map_size(study)
        picture, grid, title = new_picture(3.0 * width, height), (1, 3), texts["heads title"]
    for number, panel in enumerate(panels, start=1):
        panel(study, ax=new_axes(picture, *grid, number), language=language)
    set_title(picture, title)
    return picture


def _head_panels() -> list[Panel]:
    with_scale = partial(head_largest_weights, scaled=True)
    return [head_largest_weights, with_scale, head_gradient_ratios]


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
    if language == "zh" and format != "svg" and not chinese_fonts():
        language = "en"
    return rendered(laboratory_figure(study, language), format)


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
    texts = words_of(TEXTS, language)
    title = "title" if isinstance(study, GradientStudy) else "heads title"
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(PAGE).render(
        language={"en": "en", "zh": "zh-Hans"}[language],
        light=properties(LIGHT),
        dark=properties(DARK),
        title=texts[title],
        setting=_setting(study, texts),
        findings=summarise(study, language),
        figures=_page_figures(study, language),
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


def _page_figures(study: Study, language: str) -> list[tuple[str, Markup]]:
    """Each panel as a picture of its own, so that they stack on a narrow screen."""
    if isinstance(study, GradientStudy):
        panels: list[Panel] = [typical_row, query_gradient, dead_rows]
        panels += [gradient_places, largest_weight, entropy]
        height = 4.2
    else:
        panels, height = _head_panels(), head_map_size(study)[1]
    figures = []
    for number, panel in enumerate(panels, start=1):
        picture = new_picture(5.4, height)
        axes = panel(study, ax=new_axes(picture), language=language)
        title = axes.get_title().replace("\n", " ")
        axes.set_title("")
        svg = rendered(picture, "svg", transparent=True).decode("utf-8")
        figures.append((title, _inline(svg, f"f{number}-")))
    return figures


def _inline(svg: str, prefix: str) -> Markup:
    """Make a matplotlib SVG part of a page: without its prologue, with identifiers of its own.

    matplotlib has escaped the text in it already, so it is marked as safe.
    """
    svg = svg[svg.index("<svg") :]
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
:root { {{ light }} }
@media (prefers-color-scheme: dark) {
  :root { {{ dark }} }
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
ol.findings li { background: var(--tint); border-left: 4px solid var(--negative);
  border-radius: 4px; padding: .8rem 1rem; overflow-wrap: anywhere; }
ol.findings li:last-child { border-color: var(--positive); }
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
th.unscaled { color: var(--negative); } th.scaled { color: var(--positive); }
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
