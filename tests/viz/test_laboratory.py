"""The laboratory's figures and page: what they show, and that they are safe and self-contained."""

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from attention.experiments import (
    QKV,
    GradientStudy,
    HeadStudy,
    Settings,
    Study,
    gradient_study,
    head_study,
    summarise,
)
from tests.viz.studies import gradient_study_of, head_study_of
from tests.viz.test_figures import SIGNATURES, svg_texts
from tests.viz.test_pictures import cells
from viz import figures, laboratory
from viz.colours import DARK, LIGHT
from viz.figures import INK
from viz.laboratory import FORMATS, figure_bytes, laboratory_figure, laboratory_page
from viz.panels import TEXTS

HOSTILE = '<script>alert("1")</script>&\'$x^2$.npz'


@pytest.fixture(scope="module")
def study() -> GradientStudy:
    return gradient_study_of()


@pytest.fixture(scope="module")
def heads() -> HeadStudy:
    return head_study_of(source=HOSTILE)


@pytest.fixture(scope="module")
def single() -> HeadStudy:
    return head_study_of((1,))


@pytest.fixture(scope="module", params=["study", "heads"])
def either(request: pytest.FixtureRequest) -> Study:
    found: Study = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module")
def html(either: Study) -> str:
    return laboratory_page(either, checked=f"It was checked: {HOSTILE}")


# ---------------------------------------------------------------------------------- the figure


def test_the_figure_of_random_numbers_has_four_panels(study: GradientStudy) -> None:
    figure = laboratory_figure(study)
    assert isinstance(figure.canvas, FigureCanvasAgg)
    names = ("typical", "query", "dead title", "places")
    assert [axes.get_title() for axes in figure.axes] == [
        TEXTS["en"][name].format(d_k=1024) for name in names
    ]
    dead = [width.unscaled.dead_rows for width in study.widths]
    assert any(np.array_equal(line.get_ydata(), dead) for line in figure.axes[2].get_lines())


def test_the_figure_of_real_heads_has_three_maps(heads: HeadStudy) -> None:
    without, with_scale, ratio = laboratory_figure(heads).axes[::2]
    for axes, arm in ((without, "unscaled"), (with_scale, "scaled")):
        expected = [getattr(head, arm).largest_weight for head in heads.heads]
        assert cells(axes).ravel().tolist() == expected
    decades = [np.log10(head.gradient_ratio) for head in heads.heads]
    assert cells(ratio).ravel().tolist() == pytest.approx(decades)


@pytest.mark.slow
def test_a_study_that_was_measured_can_be_drawn() -> None:
    arrays = np.random.default_rng(0).standard_normal((3, 2, 3, 6, 8))
    measured = (gradient_study(Settings(d_k=(4, 64), rows=16)), head_study(QKV("x", *arrays)))
    assert [len(laboratory_figure(study).axes) for study in measured] == [4, 6]


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_each_format_is_what_its_name_says(single: HeadStudy, format: str) -> None:
    assert figure_bytes(single, format).startswith(SIGNATURES[format])


def test_another_format_is_refused(study: GradientStudy) -> None:
    with pytest.raises(ValueError, match="png, svg, pdf, not as 'gif'"):
        figure_bytes(study, "gif")


@pytest.mark.parametrize("fonts", [(), ("DejaVu Serif",)])
def test_without_a_chinese_font_pictures_are_english_and_svg_stays_chinese(
    fonts: tuple[str, ...], single: HeadStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = {}

    def look(figure: Any, format: str) -> bytes:
        titles[format] = figure.get_suptitle()
        return b""

    monkeypatch.setattr(figures, "CHINESE_FONTS", fonts)
    monkeypatch.setattr(laboratory, "rendered", look)
    for format in ("png", "svg"):
        figure_bytes(single, format, "zh")
    english, chinese = "Real heads with and without 1/√d_k", "真实的头：有无 1/√d_k"
    bitmap = chinese if fonts else english
    assert titles == {"png": bitmap, "svg": chinese}


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
    assert page.tags.count("svg") == (6 if isinstance(either, GradientStudy) else 3)
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
    for picture in pictures_of(html):
        assert "currentColor" in picture
        assert INK not in picture


def test_the_page_has_the_colours_of_all_pictures_for_light_and_for_dark(html: str) -> None:
    light, dark = re.findall(r":root { (.*?) }", html)
    for name in LIGHT:
        assert f"--{name}: {LIGHT[name]};" in light
        assert f"--{name}: {DARK[name]};" in dark
    assert html.index("prefers-color-scheme: dark") < html.index(dark)
    assert {*re.findall(r"var\(--(\w+)\)", html)} <= {*LIGHT}


def test_the_title_of_a_picture_on_the_page_stands_above_it_and_not_in_it(html: str) -> None:
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", html)
    for caption, picture in zip(captions, pictures_of(html), strict=True):
        assert len(caption) > 5
        assert caption not in " ".join(svg_texts(picture))


def pictures_of(html: str) -> list[str]:
    found = re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)
    assert found
    return found


def test_text_from_outside_is_escaped(either: Study, html: str) -> None:
    """The name of a file, and the sentence that the caller hands in."""
    escaped = "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;&amp;&#39;$x^2$.npz"
    assert "<script" not in html
    assert html.count(escaped) == (2 if isinstance(either, HeadStudy) else 1)
    assert HOSTILE in Page(html).text


def test_the_pictures_on_the_page_are_well_formed(html: str) -> None:
    for picture in pictures_of(html):
        root = ElementTree.fromstring(picture)
        assert "viewBox" in root.attrib
        assert "width" not in root.attrib
