"""The laboratory's figures and page: what they show, and that they are safe and self-contained."""

import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from attention.experiments import (
    PLACES,
    QKV,
    Distribution,
    GradientStudy,
    HeadStudy,
    Settings,
    Study,
    gradient_study,
    head_study,
    summarise,
)
from viz import laboratory
from viz.laboratory import FORMATS, figure_bytes, laboratory_figure, laboratory_page

ROOT = Path(__file__).parents[2]
HOSTILE = '<script>alert("1")</script>&\'$x^2$.npz'


@pytest.fixture(scope="module")
def study() -> GradientStudy:
    return gradient_study(Settings(d_k=(4, 512), rows=48))


@pytest.fixture(scope="module")
def heads() -> HeadStudy:
    arrays = 2.0 * np.random.default_rng(0).standard_normal((3, 2, 3, 6, 32))
    return head_study(QKV(HOSTILE, *arrays))


@pytest.fixture(scope="module")
def single() -> HeadStudy:
    return head_study(QKV("one", *np.random.default_rng(0).standard_normal((3, 4, 8))))


@pytest.fixture(scope="module", params=["study", "heads"])
def either(request: pytest.FixtureRequest) -> Study:
    found: Study = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module")
def html(either: Study) -> str:
    return laboratory_page(either, checked=f"It was checked: {HOSTILE}")


# ------------------------------------------------------------------------------------- figures


@pytest.mark.slow
def test_figures_are_drawn_without_pyplot() -> None:
    code = "import sys, viz.laboratory; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_the_curves_are_the_numbers_that_were_measured(study: GradientStudy) -> None:
    figure = laboratory_figure(study)
    assert isinstance(figure.canvas, FigureCanvasAgg)
    typical, query, saturation, places = figure.axes
    medians = [width.scaled.gradients["softmax input"].median for width in study.widths]
    rms = [width.unscaled.gradients["Q"].rms for width in study.widths]
    theory = [width.predicted_query_rms for width in study.widths]
    dead = [width.unscaled.dead_rows for width in study.widths]
    norms = [study.widths[-1].scaled.gradients[place].rms for place in PLACES]
    for axes, expected in (
        (typical, medians),
        (query, rms),
        (query, theory),
        (saturation, dead),
    ):
        drawn = [line.get_ydata() for line in axes.get_lines()]
        assert any(np.array_equal(ydata, expected) for ydata in drawn)
    assert any(np.array_equal(line.get_xdata(), norms) for line in places.get_lines())


def test_what_lies_below_the_axis_is_marked(study: GradientStudy) -> None:
    low = study.widths[-1].unscaled.gradients["softmax input"].low
    assert low < laboratory.LOWEST
    typical = laboratory_figure(study).axes[0]
    marks = [line for line in typical.get_lines() if line.get_marker() == "v"]
    assert [float(np.asarray(line.get_xdata())[0]) for line in marks] == [512.0]
    assert min(np.min(line.get_ydata()) for line in typical.get_lines()) >= laboratory.LOWEST


def test_heat_maps_show_every_head(heads: HeadStudy) -> None:
    maps = laboratory_figure(heads).axes[::2]
    without, with_scale, ratio = (np.asarray(axes.collections[0].get_array()) for axes in maps)
    assert without.shape == (2, 3)
    assert without.ravel().tolist() == [head.unscaled.largest_weight for head in heads.heads]
    assert with_scale.ravel().tolist() == [head.scaled.largest_weight for head in heads.heads]
    decades = [np.log10(head.gradient_ratio) for head in heads.heads]
    assert ratio.ravel().tolist() == pytest.approx(decades)
    assert [len(axes.texts) for axes in maps] == [6, 6, 6]


@pytest.mark.parametrize("leading", [(), (4,), (2, 1, 2)])
def test_heads_of_any_leading_axes_can_be_drawn(leading: tuple[int, ...]) -> None:
    arrays = np.random.default_rng(0).standard_normal((3, *leading, 3, 4))
    figure = laboratory_figure(head_study(QKV("x", *arrays)))
    assert len(figure.axes[0].texts) == np.prod(leading, dtype=int)


def test_a_single_d_k_without_any_gradient_can_be_drawn() -> None:
    study = gradient_study(Settings(d_k=(4,), rows=8))
    (width,) = study.widths
    nothing = dict.fromkeys(PLACES, Distribution(0.0, 0.0, 0.0, 0.0, 0.0))
    dead = replace(width, unscaled=replace(width.unscaled, gradients=nothing))
    assert figure_bytes(replace(study, widths=(dead,)), "png").startswith(b"\x89PNG")


@pytest.mark.parametrize("format", FORMATS)
def test_each_format_is_what_its_name_says(single: HeadStudy, format: str) -> None:
    signature = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[format]
    assert figure_bytes(single, format).startswith(signature)


def test_the_same_study_gives_the_same_bytes(single: HeadStudy) -> None:
    assert figure_bytes(single, "svg") == figure_bytes(single, "svg")


def test_another_format_is_refused(study: GradientStudy) -> None:
    with pytest.raises(ValueError, match="png, svg, pdf, not as 'gif'"):
        figure_bytes(study, "gif")


def test_text_stays_text_in_svg(single: HeadStudy) -> None:
    texts = svg_texts(figure_bytes(single, "svg", "zh"))
    for text in ("真实的头：有无 1/√d_k", "层", "0.0"):
        assert text in texts


def svg_texts(svg: bytes) -> list[str]:
    root = ElementTree.fromstring(svg)
    return ["".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith("}text")]


def test_without_a_chinese_font_pictures_are_english_and_svg_stays_chinese(
    single: HeadStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(laboratory, "CHINESE_FONTS", ())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert figure_bytes(single, "png", "zh") == figure_bytes(single, "png", "en")
        assert "真实的头：有无 1/√d_k" in svg_texts(figure_bytes(single, "svg", "zh"))


# ------------------------------------------------------------------------------------- the page


class Page(HTMLParser):
    """Collects what the tests ask about a page: its tags, its attributes, its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, name: str) -> list[str]:
        return [value for found, value in self.attributes if found == name]


def test_the_page_forbids_the_network_and_needs_none(html: str) -> None:
    page = Page(html)
    (policy,) = [value for value in page.values("content") if "default-src" in value]
    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert not {"script", "link", "img", "image", "iframe", "object"} & set(page.tags)
    for name in ("src", "href", "xlink:href"):
        assert all(value.startswith("#") for value in page.values(name))
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    urls = set(re.findall(r"https?://[^\s\"'<]+", html))
    assert urls <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert re.findall(r"url\((?!#)", html) == []


def test_the_page_says_what_was_found_and_measured(either: Study, html: str) -> None:
    page = Page(html)
    text = " ".join(page.text.split())
    for sentence in (*summarise(either), "It was checked:"):
        assert " ".join(sentence.split()) in text
    regimes = either.widths if isinstance(either, GradientStudy) else either.heads
    assert page.tags.count("svg") == (4 if isinstance(either, GradientStudy) else 3)
    assert f"{regimes[-1].unscaled.largest_weight:.2f}" in text


def test_identifiers_on_the_page_are_unique_and_references_hit_them(html: str) -> None:
    identifiers = Page(html).values("id")
    assert len(identifiers) == len(set(identifiers))
    references = set(re.findall(r"url\(#([^)]+)\)", html)) | {
        value[1:] for value in Page(html).values("xlink:href")
    }
    assert references
    assert references <= set(identifiers)


def test_an_english_page_says_so_and_holds_no_chinese(html: str) -> None:
    assert '<html lang="en">' in html
    assert re.search("[\u4e00-\u9fff]", html) is None


def test_a_chinese_page_says_so_and_holds_no_english_phrase(single: HeadStudy) -> None:
    html = laboratory_page(single, "zh")
    assert '<html lang="zh-Hans">' in html
    assert summarise(single, "zh")[0] in html
    assert "the scale" not in html


def test_pictures_on_the_page_take_the_colour_of_its_text(html: str) -> None:
    assert "prefers-color-scheme: dark" in html
    assert "currentColor" in html
    assert laboratory.INK not in html


def test_text_from_outside_is_escaped(either: Study, html: str) -> None:
    """The name of a file, and the sentence that the caller hands in."""
    escaped = "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;&amp;&#39;$x^2$.npz"
    assert "<script" not in html
    assert html.count(escaped) == (2 if isinstance(either, HeadStudy) else 1)
    assert HOSTILE in Page(html).text


def test_the_pictures_on_the_page_are_well_formed(html: str) -> None:
    pictures = re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)
    assert pictures
    for picture in pictures:
        root = ElementTree.fromstring(picture)
        assert "viewBox" in root.attrib
        assert "width" not in root.attrib
