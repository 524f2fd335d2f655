"""Drawn graphs in a browser: every text fits its box, nothing runs, and the dark is dark."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from attention import SelfAttention
from minigrad import Tensor, trace
from tests.browser.conftest import Open, Visit, around
from tests.helpers import leaf
from tests.viz.support import HOSTILE, PROGRAMS, hostile_drawing, isolate, normal, shown, upstream
from viz import draw_graph
from viz.colours import SHADES, TWINS
from viz.drawing import Drawing

pytestmark = pytest.mark.browser


@pytest.fixture(params=PROGRAMS)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    (tmp_path / "engine").mkdir()
    return isolate(request.param, monkeypatch, tmp_path / "engine")


def svg(drawing: Drawing) -> str:
    text: str = drawing.pipe(format="svg").decode()
    return text


def rgb(colour: str) -> str:
    """A colour as browsers write a computed one."""
    return "rgb({}, {}, {})".format(*bytes.fromhex(colour[1:]))


MEASURE = """() => {
    const box = element => {
        const {x, y, width, height} = element.getBBox();
        return {text: element.textContent, tag: element.tagName, left: x, top: y,
                right: x + width, bottom: y + height};
    };
    return [...document.querySelectorAll("g.node, g.cluster")].map(group => ({
        kind: group.getAttribute("class"),
        outlines: [...group.querySelectorAll("polygon, path, ellipse")].map(box),
        texts: [...group.querySelectorAll("text")].map(box),
    }));
}"""


def measured(visit: Visit) -> list[dict[str, Any]]:
    """Boxes and scopes as the browser draws them: their outlines, and the places of their texts."""
    found: list[dict[str, Any]] = visit.page.evaluate(MEASURE)
    return found


def assert_texts_fit(group: dict[str, Any]) -> None:
    outline = max(group["outlines"], key=lambda box: box["right"] - box["left"])
    middle = [(outline[a] + outline[b]) / 2 for a, b in (("left", "right"), ("top", "bottom"))]
    half = [outline["right"] - middle[0], outline["bottom"] - middle[1]]
    for text in group["texts"]:
        where = (group["kind"], text["text"])
        if outline["tag"] != "ellipse":
            assert text["left"] >= outline["left"] - 0.5, where
            assert text["right"] <= outline["right"] + 0.5, where
            assert text["top"] >= outline["top"] - 2, where
            assert text["bottom"] <= outline["bottom"] + 2, where
            continue
        across = max(middle[0] - text["left"], text["right"] - middle[0]) / half[0]
        along = abs((text["top"] + text["bottom"]) / 2 - middle[1]) / half[1]
        assert across**2 + along**2 <= 1, where
    for one, other in combinations(group["texts"], 2):
        apart = (
            one["right"] <= other["left"] + 0.5
            or other["right"] <= one["left"] + 0.5
            or one["bottom"] <= other["top"] + 2.5
            or other["bottom"] <= one["top"] + 2.5
        )
        assert apart, (one, other)


NAMES = [
    "x",
    "自注意力机制中的查询向量与键向量",
    "权重 λ 和 θ",
    "ΩΨΦΞΠΣΔΘΛ ωψφξπσδθλ",
    "WEIGHTS_OF_QUERY_AND_KEY_MATRICES",
    "mmmmmmmmmmmmmmmmmmmm",
    "iiiiiiiiiiiiiiiiiiiillllllllll",
    "Straße, façade, naïve, Čapek, Жизнь",
    "ｆｕｌｌｗｉｄｔｈ カタカナ ｶﾀｶﾅ 한글",
    "a_long_name_of_a_parameter.layers[12].weight",
    "∑∏∂√∞≈≠≤≥±×÷⊙⊗⊕",
    "🐱 eats 🐟",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_fit_their_boxes(engine: str, open_page: Open, name: str) -> None:
    with trace(), minigrad.scope(name):
        x, w = leaf(normal(3, 4), name=name), leaf(normal(4, 2), name=f"{name[:20]}₂")
        out = minigrad.softmax(x @ w)
    out.name = name
    out.backward(upstream(out))
    drawings = [
        draw_graph(out, parameters=[w], title=name),
        draw_graph(out, parameters=[w], values="none", gradients="none", order=True),
    ]
    groups = measured(open_page(around(*map(svg, drawings))))
    assert len(groups) == 2 * (len(drawings[0].graph.tensors) + len(drawings[0].graph.ops) + 1)
    for group in groups:
        assert_texts_fit(group)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_equations_numbers_and_statistics_fit_their_boxes(
    engine: str, open_page: Open, language: Any
) -> None:
    odd = np.array([[0.0, np.nan, np.inf, -np.inf], [-1.23e-300, 1e300, -0.00123, 12345.0]])
    layer = SelfAttention(6, 4, 5)
    with trace(), np.errstate(all="ignore"):
        context, _ = layer(normal(3, 6))
        loss = context.sum() + minigrad.gelu(leaf(odd, name="odd")).sum()
        loss = loss + minigrad.cross_entropy(leaf(normal(40, 7)), np.arange(40) % 7)
        loss = loss + leaf(np.where(normal(40, 50) > 0, np.inf, 0.0), name="large").sum()
        loss.backward()
        drawings = [
            draw_graph(loss, language=language, order=True, direction="TB", parameters=[layer]),
            draw_graph(loss, language=language, values="full", gradients="full", max_nodes=20),
            draw_graph(loss, language=language, formulas=False),
        ]
    for group in measured(open_page(around(*map(svg, drawings)))):
        assert_texts_fit(group)


def test_folds_and_what_is_left_out_fit_their_boxes(engine: str, open_page: Open) -> None:
    x = leaf([1.0, 2.0], name="x")
    for i in range(12):
        with minigrad.scope(f"一个名字很长的作用域 {i % 8}"):
            x = minigrad.tanh(x)
    drawings = [
        draw_graph(x + 1, collapse="*", max_nodes=3),
        draw_graph(x + 1, collapse="*", max_nodes=3, language="zh"),
    ]
    for group in measured(open_page(around(*map(svg, drawings)))):
        assert_texts_fit(group)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_the_user_s_does_nothing_in_a_page(engine: str, open_page: Open, text: str) -> None:
    visit = open_page(around(svg(hostile_drawing(text))))
    assert visit.complaints == []
    tags = "script, img, iframe, object, embed, form, [onload], [onerror], [href], [src]"
    assert visit.page.locator(f"body :is({tags})").count() == 0
    assert visit.page.locator("svg").count() == 1
    texts = visit.page.locator("svg text").all_text_contents()
    assert shown(text) in texts
    assert shown(text, 1000) in texts


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_light_and_dark_have_colours_of_their_own(engine: str, open_page: Open, dark: bool) -> None:
    x, w = leaf([1.0, -2.0, 0.0], name="x"), leaf([3.0, 5.0, 7.0], name="w")
    with trace():
        out = x * w + Tensor([1.0, 2.0, 3.0], name="c")
    out.backward(np.ones(3))
    visit = open_page(around(svg(draw_graph(out, parameters=[w]))), dark=dark)
    expected = {
        "#graph0 > polygon": "paper",
        "g.leaf polygon[stroke]:not([stroke=none]):not([stroke=transparent])": "leaf",
        "g.parameter polygon[stroke]:not([stroke=none]):not([stroke=transparent])": "parameter",
        "g.constant polygon[stroke]:not([stroke=none]):not([stroke=transparent])": "tint",
        "g.root path": "root",
        "g.op ellipse": "tint",
        "g.op text": "ink",
    }
    for selector, name in expected.items():
        colour = TWINS[SHADES[name]] if dark else SHADES[name]
        assert (selector, visit.style(selector, "fill")) == (selector, rgb(colour))
    orange = TWINS[SHADES["orange"]] if dark else SHADES["orange"]
    assert visit.style("g.gradient path", "stroke") == rgb(orange)
    assert visit.complaints == []


def test_every_text_can_be_read_in_light_and_in_dark(engine: str, open_page: Open) -> None:
    """A contrast of at least 4.5 to 1 against what it stands on, as WCAG 2 asks for."""
    numbers = leaf(np.linspace(-1, 1, 17).reshape(17, 1), name="x")
    with trace(), minigrad.scope("inside"):
        out = (minigrad.tanh(numbers) * Tensor(2.0, name="c")).sum()
    out.backward()
    drawing = svg(draw_graph(out, parameters=[numbers], order=True, title="title"))
    for dark in (False, True):
        visit = open_page(around(drawing), dark=dark)
        contrasts = visit.page.evaluate(CONTRASTS)
        assert len(contrasts) > 60
        weak = [(text, ratio) for text, ratio in contrasts if ratio < 4.5]
        assert weak == []


CONTRASTS = """() => {
    const shade = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(x => {
        const c = x / 255;
        return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    const light = colour => {
        const [r, g, b] = shade(colour);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    return [...document.querySelectorAll("svg text")].map(text => {
        const {x, y, width, height} = text.getBBox();
        const under = [...document.querySelectorAll("svg polygon, svg ellipse, svg path")]
            .filter(shape => {
                const fill = getComputedStyle(shape).fill;
                const box = shape.getBBox();
                return fill !== "none" && box.x <= x + width / 2 && x + width / 2 <= box.x +
                    box.width && box.y <= y + height / 2 && y + height / 2 <= box.y + box.height
                    && text.compareDocumentPosition(shape) & Node.DOCUMENT_POSITION_PRECEDING;
            });
        const ground = getComputedStyle(under.at(-1)).fill;
        const pair = [light(getComputedStyle(text).fill), light(ground)].sort((a, b) => b - a);
        return [text.textContent, (pair[0] + 0.05) / (pair[1] + 0.05)];
    });
}"""


LOOKS = """svg => [...svg.querySelectorAll("*")].map(element => {
    const style = getComputedStyle(element);
    const box = element.getBBox ? element.getBBox() : {};
    return [element.tagName, box.x, box.y, box.width, box.height, style.fill, style.stroke,
            style.strokeDasharray, style.fontFamily, style.fontSize, style.display];
})"""


def test_several_drawings_on_a_page_do_not_disturb_each_other(engine: str, open_page: Open) -> None:
    """They share identifiers and classes."""
    first = svg(draw_graph(leaf([1.0, 2.0], name="x") * 2, title="first"))
    second = svg(draw_graph(minigrad.tanh(leaf(normal(3, 4), name="y")), direction="TB"))
    for dark in (False, True):
        alone = open_page(around(second), dark=dark).page.locator("svg").evaluate(LOOKS)
        visit = open_page(around(first, second), dark=dark)
        assert visit.page.locator("svg").nth(1).evaluate(LOOKS) == alone
        assert visit.complaints == []


def test_the_page_around_keeps_its_own_look(engine: str, open_page: Open) -> None:
    other = '<svg id="other"><g class="node"><path fill="#fdfcfa" stroke="#24292e"/></g></svg>'
    alone = open_page(around(other), dark=True).page.locator("#other").evaluate(LOOKS)
    visit = open_page(around(svg(draw_graph(leaf(1.0, name="x"))), other), dark=True)
    assert visit.page.locator("#other").evaluate(LOOKS) == alone
