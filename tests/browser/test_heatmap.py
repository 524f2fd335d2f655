"""Heat maps of tensors in a browser: silent, harmless, and readable in light, dark and narrow."""

import numpy as np
import pytest

from minigrad import Tensor
from tests.browser.conftest import Open, Visit, around
from tests.helpers import Array, leaf
from viz.colours import DARK, LIGHT
from viz.heatmap import heatmap_html

pytestmark = pytest.mark.browser

HOSTILE = [
    "<script>alert(1)</script>",
    "</code></div></style><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "\"><svg onload=alert(4)><a href='javascript:alert(5)'>x</a>",
    "<style>body{display:none}</style><iframe src=https://example.org>",
    "]]>--><!-- &lt;script&gt; \x00\u202e 权重 λ $\\href{javascript:alert(6)}{x}$",
]


def normal(*shape: int) -> Array:
    return np.random.default_rng(0).normal(size=shape)


def rgb(colour: str) -> str:
    """A colour as browsers write a computed one."""
    return "rgb({}, {}, {})".format(*bytes.fromhex(colour[1:]))


def gallery() -> list[str]:
    """Outputs with everything in them: marks, numbers, blocks, stacks, gradients, Chinese."""
    odd = normal(5, 7)
    odd[0, :4] = 0, np.nan, np.inf, -np.inf
    large = normal(101, 67)
    large[3, 5], large[50, 50] = np.nan, -np.inf
    weights = leaf(normal(17, 23), name="W_Q")
    (weights * weights).sum().backward()
    tensors = [Tensor(odd, name="odd"), Tensor(large), weights, Tensor(-2.5), Tensor(normal(97))]
    tensors += [Tensor(normal(5, 3, 7), name="batch"), Tensor(odd > 0), Tensor(np.zeros((0, 3)))]
    tensors += [leaf(normal(3, 5), name=name) for name in HOSTILE]
    chinese = heatmap_html(normal(3, 5), title="权重 λ", language="zh")
    return [str(tensor._repr_html_()) for tensor in tensors] + [chinese]


def hovered(visit: Visit, title: str) -> str:
    """What a browser shows when the pointer rests on the middle of this cell, number or not."""
    found = visit.page.evaluate(
        """wanted => {
            const cell = [...document.querySelectorAll("[data-kind] path")].find(
                path => path.textContent === wanted);
            cell.scrollIntoView({block: "center", inline: "center"});
            const box = cell.getBoundingClientRect();
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
            const met = document.elementFromPoint(x, y);
            return met.querySelector("title")?.textContent ?? met.outerHTML;
        }""",
        title,
    )
    return str(found)


def test_a_page_that_is_not_silent_is_heard(open_page: Open) -> None:
    """What the other tests here rely on."""
    loud = "<script>console.log('a'); alert('b'); throw new Error('c')</script><img src=d.png>"
    complaints = open_page(around(loud)).complaints
    assert {"console log: a", "dialog: b", "error: c"} <= set(complaints)
    assert [said for said in complaints if said.startswith("request") and "d.png" in said]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1100, 360])
def test_every_kind_of_heat_map_opens_in_silence(open_page: Open, dark: bool, width: int) -> None:
    outputs = gallery()
    visit = open_page(around(*outputs), dark=dark, width=width)
    assert visit.page.locator(".minigrad-heatmap").count() == len(outputs)
    assert visit.complaints == []
    assert not visit.is_wider_than_the_window()


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_titles_are_inert_text(open_page: Open, text: str) -> None:
    outputs = [str(Tensor(normal(3, 5), name=text)._repr_html_()), heatmap_html(1.0, title=text)]
    visit = open_page(around(*outputs))
    assert visit.complaints == []
    tags = "script, img, iframe, a, object, embed, form, [onload], [onerror], [href], [src]"
    assert visit.page.locator(f"body :is({tags})").count() == 0
    assert visit.page.locator("body style").count() == 2
    named, titled = visit.page.locator("code").all_text_contents()
    assert titled == text.replace("\x00", r"\x00").replace("\u202e", r"\u202e")
    assert named.startswith(f"<Tensor {text!r} (3, 5) float64")


@pytest.mark.parametrize("shape", [(3, 5), (17, 23)])
def test_hovering_meets_the_cell_whatever_is_drawn_on_it(
    open_page: Open, shape: tuple[int, int]
) -> None:
    array = normal(*shape)
    array[0, :4] = 0, np.nan, np.inf, -np.inf
    visit = open_page(around(heatmap_html(array)))
    for index in [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (2, 0), (2, 4)]:
        title = f"{list(index)} = {array[index]}"
        assert hovered(visit, title) == title


def colours_of(visit: Visit, output: str = ".minigrad-heatmap") -> dict[str, str]:
    map_ = f"{output} [data-map]"
    return {
        "paper": visit.style(output, "background-color"),
        "ink": visit.style(output, "color"),
        "positive": visit.style(f"{map_} [data-kind=positive] path", "fill"),
        "negative": visit.style(f"{map_} [data-kind=negative] path", "fill"),
        "zero": visit.style(f"{map_} [data-kind=zero] path", "fill"),
        "quiet": visit.style(f"{map_} [data-hatching]", "stroke"),
    }


def expected(theme: dict[str, str]) -> dict[str, str]:
    names = ("paper", "ink", "positive", "negative", "zero", "quiet")
    return {name: rgb(theme[name]) for name in names}


EVERY_SIGN = [[1.0, -2.0, 0.0, 0.1]]


def test_light_and_dark_have_colours_of_their_own(open_page: Open) -> None:
    page = around(heatmap_html(EVERY_SIGN))
    light, dark = colours_of(open_page(page)), colours_of(open_page(page, dark=True))
    assert (light, dark) == (expected(LIGHT), expected(DARK))
    assert all(light[name] != dark[name] for name in light)


@pytest.mark.parametrize(
    ("attributes", "theme"),
    [
        ('data-jp-theme-light="false"', DARK),
        ('data-jp-theme-light="true"', LIGHT),
        ('class="vscode-dark"', DARK),
        ('class="vscode-light"', LIGHT),
        ('class="vscode-high-contrast"', DARK),
        ('class="vscode-high-contrast vscode-high-contrast-light"', LIGHT),
        ('data-theme="dark"', DARK),
        ('data-theme="light"', LIGHT),
        ('theme="dark"', DARK),
    ],
)
def test_the_theme_of_a_notebook_comes_before_that_of_the_system(
    open_page: Open, attributes: str, theme: dict[str, str]
) -> None:
    page = around(heatmap_html(EVERY_SIGN), attributes=attributes)
    assert colours_of(open_page(page, dark=theme is LIGHT)) == expected(theme)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_numbers_are_black_or_white_as_the_cell_needs(open_page: Open, dark: bool) -> None:
    visit = open_page(around(heatmap_html([[1.0, 0.9, 0.1, -1.0, -0.1]])), dark=dark)
    inks = {
        text: visit.page.get_by_text(text, exact=True).first.evaluate(
            "element => getComputedStyle(element).fill"
        )
        for text in ("0.9", "0.1", "−0.1")
    }
    black, white = "rgb(0, 0, 0)", "rgb(255, 255, 255)"
    strong, weak = (black, white) if dark else (white, black)
    assert inks == {"0.9": strong, "0.1": weak, "−0.1": weak}


def test_without_its_style_a_heat_map_is_still_a_picture(open_page: Open) -> None:
    """Some viewers of notebooks take styles away."""
    output = heatmap_html(EVERY_SIGN)
    bare = output[: output.index("<style>")] + output[output.index("</style>") + 8 :]
    visit = open_page(around(bare))
    for kind in ("positive", "negative", "zero"):
        fill = visit.style(f"[data-map] [data-kind={kind}] path", "fill")
        assert fill == rgb(LIGHT[kind])


PAGE_OF_ITS_OWN = """<style>
body { color: rgb(1, 2, 3); font: 20px serif; background: rgb(250, 240, 230); }
code { background: rgb(9, 9, 9); color: rgb(8, 8, 8); padding: 5px; }
.jp-RenderedHTMLCommon :not(pre) > code { background-color: rgb(7, 7, 7); padding: 1px 5px; }
text { fill: rgb(6, 6, 6); stroke: red; } path { fill: rgb(5, 5, 5); stroke: red; }
</style>"""


def test_the_page_around_is_left_as_it_was(open_page: Open) -> None:
    other = '<p id="p">text <code>x</code></p><svg><path d="M0 0h5v5z"/><text>y</text></svg>'
    rest = f'<div data-row="key" data-part="" class="rest">{other}<span>z</span></div>'
    head = "<style>.rest code { color: rgb(8, 8, 8); } .rest svg { fill: rgb(5, 5, 5); }</style>"
    told = """[...document.querySelectorAll(".rest, .rest *")].map(element => {
        const style = getComputedStyle(element);
        return [element.tagName, ...[...style].map(name => `${name}: ${style[name]}`)];
    })"""
    alone = open_page(around(rest, head=head)).page.evaluate(told)
    beside = open_page(around(rest, heatmap_html(EVERY_SIGN), head=head)).page.evaluate(told)
    assert [tag for tag, *_ in alone] == ["DIV", "P", "CODE", "svg", "path", "text", "SPAN"]
    assert beside == alone


def test_the_page_around_does_not_change_the_colours(open_page: Open) -> None:
    page = around(
        heatmap_html(EVERY_SIGN), head=PAGE_OF_ITS_OWN, attributes='class="jp-RenderedHTMLCommon"'
    )
    visit = open_page(page)
    assert colours_of(visit) == expected(LIGHT)
    assert visit.style("code", "background-color") == "rgba(0, 0, 0, 0)"
    assert visit.style("code", "color") == rgb(LIGHT["ink"])
    assert visit.style("[data-map] text", "fill") == "rgb(0, 0, 0)"
    assert visit.style("[data-map] text", "stroke") == "none"


def test_several_outputs_on_a_page_do_not_disturb_each_other(open_page: Open) -> None:
    outputs = [heatmap_html(EVERY_SIGN), heatmap_html(normal(17, 23)), heatmap_html(EVERY_SIGN)]
    alone = open_page(around(outputs[2])).page.locator(".minigrad-heatmap").screenshot()
    visit = open_page(around(*outputs))
    assert visit.page.locator(".minigrad-heatmap").nth(2).screenshot() == alone
    # A pattern or gradient that others refer to would be gone with the first output.
    visit.page.add_style_tag(content=".output:not(:last-child) { display: none; }")
    assert visit.page.locator(".minigrad-heatmap").nth(2).screenshot() == alone


def test_on_a_narrow_screen_maps_shrink_and_numbers_scroll(open_page: Open) -> None:
    visit = open_page(around(heatmap_html(normal(3, 8)), heatmap_html(normal(5, 31))), width=360)
    numbered, plain = visit.page.locator("[data-map]").all()
    for box in (numbered, plain):
        assert box.evaluate("box => box.getBoundingClientRect().right <= innerWidth")
    assert numbered.evaluate("box => box.scrollWidth > box.clientWidth")
    assert plain.evaluate("box => box.scrollWidth == box.clientWidth")


def test_a_hatched_cell_is_not_of_one_colour(open_page: Open) -> None:
    """That it is drawn at all, not only written down."""
    visit = open_page(around(heatmap_html(np.array([[0.0] * 31, [1e-12, 1.0, *[1.0] * 29]]))))
    cells = visit.page.locator("[data-map] [data-kind] path")
    zero = visit.page.locator("[data-map] [data-kind=zero] path").first
    small = cells.filter(has_text="= 1e-12")
    assert zero.screenshot() != small.screenshot()
