"""The page of steps in a browser: every key and every control, and that each number, each light and
each colour on it is what the log says."""

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from attention import SelfAttention, scaled_dot_product_attention
from minigrad import BackwardSteps, Tensor, scope, step_backward, trace
from minigrad.check.registry import cases_of
from minigrad.notation import write_number
from minigrad.primitive import PRIMITIVES
from minigrad.stepper import Event
from minigrad.stepper.wording import judged, sentence
from tests.browser.conftest import Open, Visit, around
from tests.helpers import Array, leaf
from tests.viz.support import HOSTILE, normal, upstream
from viz.step_words import WORDS_OF_PAGE
from viz.stepping import _reduced, step_frame, step_page

pytestmark = pytest.mark.browser

looks = pytest.mark.parametrize(
    ("language", "dark"), [("en", False), ("zh", True)], ids=["en-light", "zh-dark"]
)
STOPS = ("seed", "enter", "done")


# -------------------------------------------------------------------------------------------- logs


def logged(root: Tensor, check: bool = False, keep: Any = "all", seed: int = 1) -> BackwardSteps:
    return step_backward(root, upstream(root, seed), check=check, keep=keep)


@cache
def attention(scale: float | None = None, keep: Any = "all") -> BackwardSteps:
    """A head, checked; the query has a Chinese name."""
    names = ("查询", "K", "V")
    Q, K, V = (leaf(normal(3, 4, seed=i), name=name) for i, name in enumerate(names))
    with trace(), scope("head"):
        context, _ = scaled_dot_product_attention(Q, K, V, scale=scale)
    return logged(context, check=keep == "all", keep=keep)


@cache
def batch() -> BackwardSteps:
    """Heads and batches: four axes."""
    Q, K, V = (leaf(normal(2, 3, 4, 5, seed=i), name=name) for i, name in enumerate("QKV"))
    with trace():
        context, _ = scaled_dot_product_attention(Q, K, V)
    return logged(context)


@cache
def shared() -> BackwardSteps:
    """What is used more than once, broadcast, constant, a number."""
    x, b = leaf(normal(2, 3), name="x"), leaf(normal(3), name="b")
    with trace():
        h = minigrad.relu(x * x + b)
        out = (h * Tensor(normal(2, 3, seed=5), name="c") - 2 * x).mean()
    return logged(out, check=True)


@cache
def large() -> BackwardSteps:
    a, b = leaf(normal(100, 100), name="A"), leaf(normal(100, 37, seed=1), name="B")
    with trace():
        out = minigrad.softmax(a @ b)
    return logged(out)


@cache
def odd() -> BackwardSteps:
    """NaN, infinities, exact zeros and tiny numbers, in few cells and in many."""
    few = np.array([[0.0, 1e-12, -2.0, np.nan], [3.0, np.inf, -np.inf, -1e-9]])
    many = np.tile(few, (2, 5))
    with trace(), np.errstate(all="ignore"):
        x, y = leaf(few, name="few"), leaf(many, name="many")
        out = (x * few).sum() * 1e-3 + (y * few[0, 2] * y).sum()
        return logged(out)


@cache
def growing() -> BackwardSteps:
    """Two contributions that are larger than all that is upstream, and nearly cancel."""
    x = leaf(normal(3, 5), name="x")
    with trace():
        out = (x * 3e4 + x * (1 - 3e4)).reshape(5, 3)
    return logged(out)


@cache
def wordy() -> BackwardSteps:
    name = "a_long_name_of_a_parameter.layers[12].attention.weight_of_the_query"
    with trace(), scope("一个名字很长的作用域，它比一行还要长"):
        out = minigrad.softmax(leaf(normal(12, 30), name=name) * 2)
    out.name = f"result of {name}"
    return logged(out)


@cache
def page(name: str, language: str = "en") -> str:
    if name == "compare":
        names = ("有缩放", "无缩放") if language == "zh" else ("scaled", "unscaled")
        return step_page(attention(), compare=attention(1.0), labels=names, language=language)
    if name == "summary":
        return step_page(attention(keep="summary"), language=language)
    steps: BackwardSteps = globals()[name]()
    return step_page(steps, language=language)


def words(language: str = "en") -> Any:
    return WORDS_OF_PAGE[language]["script"]


def stops(steps: BackwardSteps) -> list[int]:
    return [event.index for event in steps if event.kind in STOPS]


def complete(steps: BackwardSteps, label: str) -> int:
    """The event at which a gradient is complete."""
    (found,) = [e.index for e in steps if e.kind in ("enter", "done") and e.node.label == label]
    return found


def rule(steps: BackwardSteps, label: str, op: str = "") -> Event:
    """The first event in which something is contributed to this tensor."""
    fits = [e for e in steps if e.kind == "rule" and e.receiver.label == label and op in e.op]
    return fits[0]


# ------------------------------------------------------------------------------------- the visitor


class Reader:
    """Somebody who reads a page, and what they see."""

    def __init__(self, visit: Visit) -> None:
        self.visit, self.page = visit, visit.page

    @property
    def step(self) -> int:
        """The step that the page stands at, which all that tells it agrees on."""
        found = self.page.evaluate(
            "[state.step, Number(byId('timeline').value), Number(location.hash.slice(6)), "
            "byId('cursor').getAttribute('d')]"
        )
        step = found[0]
        assert found == [step, step, step, f"M{step + 0.5} 0v100"]
        return int(step)

    def press(self, *keys: str) -> int:
        for key in keys:
            self.page.keyboard.press(key)
        return self.step

    def go(self, step: int) -> None:
        self.page.evaluate("step => goTo(step)", step)

    def at_each(self, steps: Iterable[int], script: str) -> list[Any]:
        """What a script finds at these steps, one after the other."""
        walk = f"steps => steps.map(step => {{ goTo(step); return ({script})(); }})"
        return list(self.page.evaluate(walk, [*steps]))

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.inner_text())

    def texts(self, selector: str) -> list[str]:
        return [str(text) for text in self.page.locator(selector).all_text_contents()]

    def evaluate(self, script: str, given: Any = None) -> Any:
        return self.page.evaluate(script, given)


@pytest.fixture
def read(open_page: Open) -> Iterator[Callable[..., Reader]]:
    """Opens a page of a log; in the end it shall have said nothing."""
    readers: list[Reader] = []

    def read(name: str, language: str = "en", **options: Any) -> Reader:
        readers.append(Reader(open_page(page(name, language), **options)))
        return readers[-1]

    yield read
    for reader in readers:
        assert reader.visit.complaints == []


Read = Callable[..., Reader]


# -------------------------------------------------------------------------------------------- keys


@looks
def test_arrows_home_and_end_go_by_event_and_by_op(read: Read, language: str, dark: bool) -> None:
    reader, steps = read("attention", language, dark=dark), attention()
    last, ops = len(steps) - 1, stops(steps)
    assert reader.step == 0
    assert [reader.press("ArrowRight") for _ in range(4)] == [1, 2, 3, 4]
    assert [reader.press("ArrowLeft") for _ in range(5)] == [3, 2, 1, 0, 0]
    forwards = [reader.press("Shift+ArrowRight") for _ in ops]
    assert forwards == [*ops[1:], last]
    backwards = [reader.press("Shift+ArrowLeft") for _ in ops]
    assert backwards == [*reversed(ops[:-1]), 0]
    assert [reader.press(key) for key in ("End", "ArrowRight", "Home")] == [last, last, 0]
    inside = ops[2] - 1
    reader.go(inside)
    assert reader.press("Shift+ArrowLeft") == ops[1]


@looks
def test_breakpoints_are_set_reached_and_taken_away(read: Read, language: str, dark: bool) -> None:
    reader, steps = read("attention", language, dark=dark), attention()
    dots = "boxes => [...document.querySelectorAll('#graph .dot')].length"
    weights, key = complete(steps, "weights"), complete(steps, "K")
    reader.go(weights + 1)  # inside the op; it is the op that gets the breakpoint
    assert reader.page.locator("#resume").is_disabled()
    reader.press("b")
    assert reader.page.locator("#break").get_attribute("aria-pressed") == "true"
    reader.go(key)
    reader.page.locator("#break").click()
    assert reader.evaluate(dots) == 2
    assert reader.evaluate("byId('stops').getAttribute('d')").count("M") == 2
    reader.press("Home")
    assert reader.page.locator("#break").get_attribute("aria-pressed") == "false"
    assert [reader.press("n"), reader.press("n")] == [weights, key]
    reader.press("b")
    assert reader.evaluate(dots) == 1
    reader.press("Home")
    reader.page.locator("#resume").click()
    assert reader.step == weights
    assert reader.press("n") == len(steps) - 1


@looks
def test_playing_goes_on_until_a_breakpoint_and_until_the_end(
    read: Read, language: str, dark: bool
) -> None:
    reader, steps = read("attention", language, dark=dark), attention()
    names = {word: WORDS_OF_PAGE[language]["script"][word] for word in ("play", "pause")}
    play = reader.page.locator("#play")
    reader.page.clock.install()
    assert play.get_attribute("aria-label") == play.get_attribute("title") == names["play"]
    reader.press("Space")
    assert play.get_attribute("aria-label") == play.get_attribute("title") == names["pause"]
    reader.page.clock.run_for(2 * 700)
    assert reader.step == 2
    reader.press("Space")
    assert play.get_attribute("aria-label") == names["play"]
    reader.page.clock.run_for(5 * 700)
    assert reader.step == 2
    stop = complete(steps, "weights")
    reader.go(stop)
    reader.press("b")
    reader.go(0)
    play.click()
    reader.page.clock.run_for(100 * 700)
    assert reader.step == stop
    assert play.get_attribute("aria-label") == names["play"]
    reader.press("Space")
    reader.page.clock.run_for(100 * 700)
    assert reader.step == len(steps) - 1
    assert play.get_attribute("aria-label") == names["play"]
    reader.press("Space")  # nothing is left to play
    assert play.get_attribute("aria-label") == names["play"]


@looks
def test_up_and_down_go_to_what_a_tensor_was_made_of_and_back(
    read: Read, language: str, dark: bool
) -> None:
    reader, steps = read("attention", language, dark=dark), attention()
    reader.go(complete(steps, "scores"))
    assert reader.press("ArrowUp") == complete(steps, "查询")
    assert reader.press("ArrowUp") == complete(steps, "查询")  # it is a leaf
    path = [complete(steps, label) for label in ("scores", "scaled", "weights", "context")]
    assert [reader.press("ArrowDown") for _ in path] == path
    assert reader.press("ArrowDown") == path[-1]
    reader.go(rule(steps, "V").index)  # from the one that receives
    assert reader.press("ArrowUp") == rule(steps, "V").index
    assert reader.press("ArrowDown") == complete(steps, "context")


@looks
def test_the_scale_changes_and_says_so(read: Read, language: str, dark: bool) -> None:
    reader = read("attention", language, dark=dark)
    reader.go(5)
    fills = "[...document.querySelectorAll('.map rect[data-at]')].map(r => r.style.fill)"
    linear, script = reader.evaluate(fills), words(language)
    assert script["linear"] in reader.text("#legend")
    reader.press("g")
    assert script["log"] in reader.text("#legend")
    assert reader.page.locator("#scale").get_attribute("aria-pressed") == "true"
    assert reader.evaluate(fills) != linear
    reader.page.locator("#scale").click()
    assert reader.evaluate(fills) == linear
    assert reader.page.locator("#scale").get_attribute("aria-pressed") == "false"


@looks
def test_two_logs_are_compared_or_not(read: Read, language: str, dark: bool) -> None:
    reader = read("compare", language, dark=dark)
    reader.go(6)
    count = reader.page.locator("#maps figure").count()
    second = ("无缩放" if language == "zh" else "unscaled") + ": "
    assert second in reader.text("#maps")
    reader.press("c")
    assert reader.page.locator("#compare").get_attribute("aria-pressed") == "false"
    assert 2 * reader.page.locator("#maps figure").count() == count
    assert second not in reader.text("#maps")
    assert second.strip(": ") not in " ".join(reader.texts("#notes li"))
    assert reader.visit.style("#ticks .line.other", "display") == "none"
    reader.page.locator("#compare").click()
    assert reader.page.locator("#maps figure").count() == count
    assert reader.visit.style("#ticks .line.other", "display") != "none"


def test_with_one_log_there_is_nothing_to_compare(read: Read) -> None:
    reader = read("attention")
    before = reader.text("main")
    assert reader.page.locator("#compare").count() == 0
    reader.press("c")
    assert reader.text("main") == before


@looks
def test_search_finds_tensors_and_ops(read: Read, language: str, dark: bool) -> None:
    reader, steps = read("attention", language, dark=dark), attention()
    field = reader.page.locator("#search")

    def find(text: str) -> int:
        reader.press("/")
        assert reader.evaluate("document.activeElement.id") == "search"
        reader.page.keyboard.type(text)  # the field was selected, so this replaces it
        return reader.press("Enter")

    products = [e.index for e in steps if e.kind == "enter" and e.op == "matmul"]
    assert find("weights") == complete(steps, "weights")
    assert find("softm") == complete(steps, "weights")
    assert find("K") == complete(steps, "K")
    assert find("SCORES") == complete(steps, "scores")
    assert find("查询") == complete(steps, "查询")
    assert [find("matmul"), find("matmul"), find("matmul")] == [*products, products[0]]
    here = reader.step
    assert find("nothing like it") == here
    said = words(language)["not found"].format("nothing like it")
    assert reader.text("#sentence") == said
    assert reader.evaluate("document.activeElement.tagName") == "BODY"
    assert reader.press("ArrowRight") == here + 1  # keys are keys again
    assert reader.text("#sentence") == sentence(steps[here + 1], language)
    reader.press("/")
    field.fill("")
    reader.page.keyboard.type("b n g c ? = - ")
    assert field.input_value() == "b n g c ? = - "
    reader.press("Escape")
    assert reader.evaluate("document.activeElement.tagName") == "BODY"
    assert reader.step == here + 1
    assert reader.evaluate("state.breakpoints.size") == 0


def test_whatever_the_search_suggests_can_be_found(read: Read) -> None:
    reader = read("shared")
    for name in reader.evaluate("[...byId('names').options].map(option => option.value)"):
        reader.page.locator("#search").fill(name)
        reader.page.locator("#search").press("Enter")
        assert words()["not found"].format(name) != reader.text("#sentence"), name


@looks
def test_the_keys_are_told_and_the_list_closes(read: Read, language: str, dark: bool) -> None:
    reader = read("attention", language, dark=dark)
    is_open = "document.getElementById('keys').open"
    reader.press("?")
    assert reader.evaluate(is_open) is True
    rows = list(zip(reader.texts("#keys th"), reader.texts("#keys td"), strict=True))
    assert rows == [*WORDS_OF_PAGE[language]["keys"]]
    reader.press("ArrowRight")  # the page behind it does not move
    assert reader.step == 0
    reader.press("?")
    assert reader.evaluate(is_open) is False
    for close in ("Escape", "Enter"):  # the button in it has the focus
        reader.page.locator("#help").click()
        assert reader.evaluate(is_open) is True
        reader.page.keyboard.press(close)
        assert reader.evaluate(is_open) is False
    reader.page.locator("#help").click()
    reader.page.locator("#keys button").click()
    assert reader.evaluate(is_open) is False


def test_the_graph_grows_and_shrinks(read: Read) -> None:
    reader = read("attention")

    def size() -> float:
        return float(reader.evaluate("byId('graph').querySelector('svg').clientWidth"))

    def do(what: str) -> float:
        if what.startswith("#"):
            reader.page.locator(what).click()
        else:
            reader.page.keyboard.press(what)
        return size()

    first = size()
    for larger in ("+", "=", "#larger"):
        for smaller in ("-", "#smaller"):
            assert do(larger) == pytest.approx(1.25 * first, rel=0.01)
            assert do(smaller) == pytest.approx(first, rel=0.01)
    for _ in range(20):
        do("-")
    assert 10 < size() < first / 5
    assert reader.step == 0


BUTTONS = {
    "next": "ArrowRight",
    "op-next": "Shift+ArrowRight",
    "last": "End",
    "back": "ArrowLeft",
    "op-back": "Shift+ArrowLeft",
    "first": "Home",
}


@looks
def test_a_button_does_what_its_key_does(read: Read, language: str, dark: bool) -> None:
    reader = read("attention", language, dark=dark)
    for button, key in BUTTONS.items():
        reader.go(8)
        wanted = reader.press(key)
        reader.go(8)
        reader.page.locator(f"#{button}").click()
        assert (button, reader.step) == (button, wanted)
        assert wanted != 8
    names = reader.evaluate(
        "[...document.querySelectorAll('nav button')].map(b => [b.title, b.ariaLabel])"
    )
    assert all(title == label and title for title, label in names)


def test_what_leads_nowhere_is_disabled(read: Read) -> None:
    reader = read("attention")
    ids = [*BUTTONS]

    def disabled() -> set[str]:
        return {id for id in ids if reader.page.locator(f"#{id}").is_disabled()}

    assert disabled() == {"back", "op-back", "first"}
    reader.press("ArrowRight")
    assert disabled() == set()
    reader.press("End")
    assert disabled() == {"next", "op-next", "last"}


def test_space_on_a_button_presses_the_button_and_nothing_else(read: Read) -> None:
    reader = read("attention")
    reader.page.locator("#next").focus()
    assert reader.press("Space") == 1
    assert reader.evaluate("state.playing") == 0


def test_keys_with_control_are_left_to_the_browser(read: Read) -> None:
    reader = read("attention")
    for modifier in ("Control", "Alt", "Meta"):
        reader.evaluate(
            """modifier => document.body.dispatchEvent(new KeyboardEvent("keydown",
                {key: "End", bubbles: true, [modifier]: true}))""",
            {"Control": "ctrlKey", "Alt": "altKey", "Meta": "metaKey"}[modifier],
        )
        assert reader.step == 0


# --------------------------------------------------------------------- timeline, address and graph


@looks
def test_the_slider_of_the_timeline_goes_to_a_step(read: Read, language: str, dark: bool) -> None:
    reader, steps = read("attention", language, dark=dark), attention()
    slider = reader.page.locator("#timeline")
    slider.fill("7")
    assert reader.step == 7
    slider.focus()
    assert [reader.press("ArrowRight"), reader.press("ArrowLeft"), reader.press("ArrowLeft")] == [
        *(8, 7, 6),
    ]
    assert reader.press("End") == len(steps) - 1
    assert slider.get_attribute("aria-valuetext") == sentence(steps[-1], language)
    assert slider.get_attribute("max") == str(len(steps) - 1)


def test_keys_work_where_a_slider_has_the_focus(read: Read) -> None:
    """Who has drawn the timeline to a step goes on with the keys."""
    reader = read("attention")
    reader.page.locator("#timeline").fill("7")
    done = {
        "b": "state.breakpoints.size === 1",
        "g": "state.logarithmic",
        "?": "byId('keys').open",
        "n": "state.step === last",
        "/": "document.activeElement.id === 'search'",
    }
    works = {}
    for key, script in done.items():
        reader.page.locator("#timeline").focus()
        reader.page.keyboard.press(key)
        works[key] = reader.evaluate(script)
        reader.evaluate("byId('keys').close()")
    assert works == dict.fromkeys(done, True)


def test_a_click_on_the_timeline_goes_to_that_event(read: Read) -> None:
    reader, steps = read("attention"), attention()
    box = reader.page.locator("#ticks").bounding_box()
    assert box is not None
    for step in (0, 5, len(steps) - 1):
        for part in (0.2, 0.8):
            x = box["width"] * (step + part) / len(steps)
            reader.page.locator("#ticks").click(position={"x": x, "y": 10})
            assert reader.step == step


def test_the_timeline_has_a_tick_for_every_event_and_bands_for_the_ops(read: Read) -> None:
    reader, steps = read("attention"), attention()
    drawn = reader.evaluate(
        """[...document.querySelectorAll("#ticks path")].map(
            path => [path.getAttribute("class"), path.getAttribute("d")])"""
    )
    paths = dict(drawn)
    for kind in {event.kind for event in steps}:
        places = [float(x) for x in re.findall(r"M([\d.]+) ", paths[kind])]
        assert places == [event.index + 0.5 for event in steps if event.kind == kind]
    levels = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", paths["line"])]
    norms = np.log10([event.norm for event in steps])
    assert len(levels) == len(steps)
    assert np.corrcoef(levels, norms)[0, 1] == pytest.approx(-1, abs=1e-5)


def test_a_gap_in_the_line_of_norms_is_where_there_is_no_norm(read: Read) -> None:
    reader, steps = read("odd"), odd()
    line = reader.evaluate("document.querySelector('#ticks .line').getAttribute('d')")
    places = [float(x) - 0.5 for x in re.findall(r"[ML]([\d.]+) ", line)]
    assert places == [e.index for e in steps if np.isfinite(e.norm) and e.norm > 0]


def test_the_address_says_the_step_and_is_read(read: Read) -> None:
    last = len(attention()) - 1
    assert read("attention", fragment="#step=17").step == 17
    assert read("attention", fragment="#step=9999").step == last
    for nonsense in ("#step=", "#step=x", "#other", "#step=-3"):
        assert read("attention", fragment=nonsense).step == 0
    reader = read("attention", fragment="#step=3")
    reader.press("ArrowRight")
    assert reader.page.url.endswith("#step=4")
    reader.page.evaluate("location.hash = '#step=11'")
    reader.page.wait_for_function("state.step === 11")
    assert reader.step == 11
    assert reader.text("#sentence") == sentence(attention()[11])


def test_a_long_walk_with_a_key_held_down_says_nothing(read: Read) -> None:
    """Browsers complain of an address that changes too often."""
    reader = read("attention")
    reader.evaluate("for (let i = 0; i < 400; i++) goTo(i % 20)")
    assert reader.step == 19


def test_a_click_on_a_box_goes_to_where_its_gradient_is_complete(read: Read) -> None:
    reader, steps = read("attention"), attention()
    for key, node in steps.nodes.items():
        reader.go(2)
        place = reader.evaluate(
            """key => { const box = boxes.get(key).box; box.scrollIntoView({block: "center"});
            const { x, y, width, height } = box.getBoundingClientRect();
            return [x + width / 2, y + height / 2] }""",
            key,
        )
        reader.page.mouse.click(*place)
        assert reader.step == complete(steps, node.label)


def test_a_click_on_a_constant_stays(read: Read) -> None:
    reader, steps = read("shared"), shared()
    (key,) = [key for key, node in steps.nodes.items() if node.label == "c"]
    reader.go(4)
    reader.evaluate("key => boxes.get(key).box.dispatchEvent(new Event('click'))", key)
    assert reader.step == 4


# ------------------------------------------------------------------------- the state of the graph

GRAPH = """() => ({
    boxes: Object.fromEntries([...boxes].map(([key, {box, line}]) =>
        [key, [...box.classList].filter(name => name !== "node").sort()])),
    norms: Object.fromEntries([...boxes].filter(([, {line}]) => line).map(([key, {line}]) =>
        [key, line.textContent])),
    passed: [...edges].filter(([, {grown}]) =>
        parseFloat(getComputedStyle(grown).strokeDashoffset) === 0).map(([id]) => id).sort(),
    marked: [...boxes].filter(([, {box}]) => box.querySelector(".marker")).map(([key]) => key),
})"""


def expected(steps: BackwardSteps, i: int) -> dict[str, Any]:
    """What the graph shall show after an event, from the log alone."""
    known, event = steps.grads_at(i), steps[i]
    finished = {e.node.label for e in steps[: i + 1] if e.kind in ("enter", "done")}
    boxes, norms = {}, {}
    for key, node in steps.nodes.items():
        classes = [node.kind]
        if node.label in finished:
            classes.append("done")
        elif node.label in known:
            classes.append("partial")
        elif node.kind != "constant":
            classes.append("pending")
        if node.label in known and not np.isfinite(known[node.label].norm):
            classes.append("broken")
        classes += ["current"] if node is event.node else []
        classes += ["target"] if node is event.target else []
        boxes[key] = sorted(classes)
        if node.kind != "constant":
            is_known = node.label in known
            norms[key] = f"‖∂L‖ {write_number(known[node.label].norm)}" if is_known else ""
    rules = [e for e in steps[: i + 1] if e.kind == "rule"]
    passed = sorted({f"e-{e.node.key}-{e.position}" for e in rules})
    return {"boxes": boxes, "norms": norms, "passed": passed, "marked": [event.node.key]}


@pytest.mark.parametrize("name", ["attention", "shared", "batch", "odd"])
def test_the_graph_shows_what_is_known_forwards_and_backwards(read: Read, name: str) -> None:
    reader, steps = read(name, reduced_motion="reduce"), globals()[name]()
    way = [*range(len(steps)), *reversed(range(len(steps) - 1))]
    for i, seen in zip(way, reader.at_each(way, GRAPH), strict=True):
        assert seen == expected(steps, i), i


WHOLE = f"""() => JSON.stringify([({GRAPH})(), byId("panes").innerHTML,
    byId("controls").innerHTML, byId("ticks").innerHTML])"""


@pytest.mark.parametrize("name", ["attention", "shared", "batch", "odd"])
def test_a_step_looks_the_same_whatever_way_led_there(read: Read, name: str) -> None:
    steps = globals()[name]()
    reader = read(name, reduced_motion="reduce")
    seen = reader.at_each(range(len(steps)), WHOLE)
    assert len(set(seen)) == len(steps)
    jumps = [*range(len(steps))]
    random.Random(0).shuffle(jumps)
    way = [*reversed(range(len(steps))), *jumps]
    again = reader.at_each(way, WHOLE)
    assert [i for i, found in zip(way, again, strict=True) if found != seen[i]] == []


def test_arrows_are_as_wide_as_the_norm_s_logarithm(read: Read) -> None:
    reader, steps = read("attention"), attention()
    reader.press("End")
    rules = [event for event in steps if event.kind == "rule"]
    widths = [
        float(reader.evaluate("id => edges.get(id).grown.style.strokeWidth", name))
        for name in [f"e-{event.node.key}-{event.position}" for event in rules]
    ]
    assert min(widths) >= 1
    norms = [event.norm for event in rules]
    np.testing.assert_allclose(np.diff(widths), 0.42 * np.diff(np.log10(norms)), atol=3e-5)


def test_a_gradient_that_is_no_number_is_not_drawn_as_zero(open_page: Open) -> None:
    x, y = leaf([0.0, 1.0], name="x"), leaf([2.0, 1.0], name="y")
    with np.errstate(all="ignore"):
        steps = step_backward(x * np.array([np.nan, 1.0]) + y * np.zeros(2), np.ones(2))
    reader = Reader(open_page(step_page(steps), reduced_motion="reduce"))
    reader.press("End")
    looks = []
    for event in (rule(steps, "x"), rule(steps, "y")):
        style = """id => { const s = getComputedStyle(edges.get(id).grown);
            return [s.stroke, s.strokeDasharray, parseFloat(s.strokeWidth)] }"""
        looks.append(reader.evaluate(style, f"e-{event.node.key}-{event.position}"))
    assert looks[0] != looks[1]
    assert looks[0][2] > 2  # it is what one looks for
    assert looks[1][2] == 1


def test_each_box_and_the_edge_of_now_stand_out(read: Read) -> None:
    """The current op by a mark and a thicker outline, done and pending by their fill."""
    reader, steps = read("attention"), attention()
    event = rule(steps, "scaled")
    reader.go(event.index)
    outline = "{} > g > a > :is(path, polygon)"
    looks = {
        kind: (
            reader.visit.style(outline.format(f"#graph .node.{kind}"), "fill"),
            reader.visit.style(outline.format(f"#graph .node.{kind}"), "stroke-width"),
        )
        for kind in ("current", "target", "pending", "done")
    }
    assert looks["pending"][0] != looks["done"][0]
    assert float(looks["current"][1].rstrip("px")) > float(looks["pending"][1].rstrip("px"))
    now = reader.evaluate(
        "[...edges].filter(([, {edge}]) => edge.matches('.now')).map(([id]) => id)"
    )
    assert now == [f"e-{event.node.key}-{event.position}"]


# ------------------------------------------------------------------------------------- the numbers

RULES = """raws => raws.map(raw => {
    const one = new Log(raw);
    return one.events.flatMap((event, i) => {
        if (event.kind !== "rule") return [];
        const [tree, arrays] = operandsOf(one, event);
        const rule = compiled(tree, arrays);
        if (!rule) return [[i, null]];
        const { shape } = one.array(event.contribution);
        const places = Array.from({ length: size(shape) }, (_, k) =>
            within(rule.shape, unflat(shape, k)));
        const touched = (place) => {
            const lit = new Map([...arrays.keys()].map((key) => [key, new Set()]));
            rule.touch(place, lit);
            return Object.fromEntries([...lit].map(([key, flats]) => [key, [...flats]]));
        };
        return [[i, { shape: rule.shape, at: places.map(rule.at, rule), lit: places.map(touched),
                      text: places.map(rule.text, rule) }]];
    });
})"""

Compiled = dict[int, dict[str, Any] | None]


def compiled(reader: Reader, *logs: BackwardSteps) -> list[Compiled]:
    """What the page makes of every rule of a log: by event, its numbers, lights and texts."""
    found = reader.evaluate(RULES, _reduced([*logs]))
    return [dict(rules) for rules in found]


def assert_numbers(steps: BackwardSteps, rules: Compiled) -> None:
    for i, rule in rules.items():
        made = np.asarray(steps[i].contribution)
        if rule is None:
            continue
        about = f"event {i}, {steps[i].op} for {steps[i].receiver}: {steps[i].equation}"
        assert tuple(rule["shape"]) == made.shape, about
        here = np.reshape(np.array(rule["at"], float), made.shape)
        scale = np.abs(made[np.isfinite(made)]).max(initial=1e-300)
        np.testing.assert_allclose(
            here, made, rtol=1e-12, atol=1e-15 * scale, equal_nan=True, err_msg=about
        )


def graphs() -> dict[str, Callable[[], Any]]:
    """Several small graphs, each by what is in it."""
    x, y, b = (leaf(normal(*shape, seed=i), name=name) for i, (shape, name) in enumerate(
        [((2, 3), "x"), ((3, 4), "y"), ((3,), "b")]
    ))  # fmt: skip
    s = leaf(normal(2, 2, 3, seed=7), name="s")
    t = leaf(normal(2, 3, 4, seed=8), name="t")
    return {
        "broadcast add": lambda: x + b,
        "broadcast multiply": lambda: (x * b) * s,
        "mean": lambda: x.mean(axis=0) * b.mean() + s.mean(axis=(0, 2), keepdims=True),
        "sum": lambda: x.sum(axis=1, keepdims=True) * s.sum() + s.sum(axis=(-1, 0)),
        "getitem": lambda: x[1:, ::-2] * y[0, 1] + s[..., None, -1] + x[-1, 0],
        "reshape, transpose": lambda: x.reshape(3, 2).T + s.transpose(2, 0, 1).reshape(3, 4)[1, :3],
        "relu, where": lambda: minigrad.where(x.numpy() > 0, minigrad.relu(x), x * b),
        "softmax": lambda: minigrad.softmax(x * 3, axis=0) * minigrad.softmax(s),
        "log softmax": lambda: minigrad.log_softmax(x) + minigrad.log_softmax(b),
        "matmul with batches": lambda: (s @ t) + (x @ t) @ minigrad.swapaxes(t, -1, -2) @ t[:1],
        "vectors": lambda: (x @ b)[0] * (b @ y) + b @ b,
        "x*x": lambda: x * x + x,
        "power, divide": lambda: (x**3 / (b * b + 1)) ** 2.0 - (-x) / 3,
        "elementwise": lambda: (
            minigrad.tanh(minigrad.exp(x))
            + minigrad.sqrt(abs(x))
            - minigrad.log(abs(b)) * minigrad.sigmoid(x)
        ),
        "concatenate": lambda: minigrad.concatenate([x, x * 2, b[None]], axis=0),
        "constants": lambda: Tensor(normal(2, 3), name="c") * x - 2 / x,
    }


def log_of(build: Callable[[], Any]) -> BackwardSteps:
    with trace():
        return logged(build())


@pytest.fixture
def any_page(read: Read) -> Reader:
    """A page whose script is asked about logs that are not its own."""
    return read("attention")


def test_every_number_of_every_rule_is_the_one_that_python_has(any_page: Reader) -> None:
    logs = {name: log_of(build) for name, build in graphs().items()}
    logs |= {"attention": attention(), "batch": batch(), "shared": shared(), "odd": odd()}
    for name, rules in zip(logs, compiled(any_page, *logs.values()), strict=True):
        steps = logs[name]
        assert list(rules) == [event.index for event in steps if event.kind == "rule"]
        missing = [steps[i].equation for i, rule in rules.items() if rule is None]
        assert (name, missing) == (name, [])
        assert_numbers(steps, rules)


@cache
def examples() -> list[tuple[str, BackwardSteps]]:
    """The calls that the examples of all primitives make."""
    found = []
    for name, op in sorted(PRIMITIVES.items()):
        for case in cases_of(op, np.random.default_rng(0)):
            with trace():
                out = case(*[leaf(array) for array in case.arrays()])
            found.append((name, logged(out)))
    return found


OPAQUE = {  # the rules that the page cannot write with numbers, by op and input
    "cumsum 0", "einsum 0", "einsum 1", "embedding 0", "fused_attention 0", "fused_attention 1",
    "fused_attention 2", "max 0", "min 0",
    "power 1", "prod 0", "stack 0", "stack 1", "take 0", "tril 0",
}  # fmt: skip
PARTLY = {"getitem 0", "scatter_add 0"}  # not by arrays of indices


def test_of_the_primitives_these_are_written_with_numbers(any_page: Reader) -> None:
    ops, logs = zip(*examples(), strict=True)
    can: set[str] = set()
    cannot: set[str] = set()
    for op, steps, rules in zip(ops, logs, compiled(any_page, *logs), strict=True):
        for i, rule in rules.items():
            event = steps[i]
            read_ = [event.upstream, *[node.value for node in steps.nodes.values()]]
            is_pooled = any(x and max((*x.shape[-2:], 0)) > 32 for x in read_)
            if event.op == op and not is_pooled:
                (can if rule else cannot).add(f"{op} {event.position}")
    assert cannot == OPAQUE | PARTLY
    assert can & cannot == PARTLY
    assert {name.split()[0] for name in can | cannot} == set(PRIMITIVES)


@pytest.mark.parametrize("op", sorted(PRIMITIVES))
def test_the_numbers_of_a_primitive_are_those_of_its_rule(op: str) -> None:
    """All at once are asked for in one page, which the first of these opens."""
    steps = [log for name, log in examples() if name == op]
    for log, rules in zip(steps, answers()[op], strict=True):
        assert_numbers(log, rules)


_answers: dict[str, list[Compiled]] = {}


def answers() -> dict[str, list[Compiled]]:
    return _answers


@pytest.fixture(autouse=True)
def _ask_once(request: pytest.FixtureRequest) -> None:
    if "op" in request.fixturenames and not _answers:
        reader: Reader = request.getfixturevalue("any_page")
        ops, logs = zip(*examples(), strict=True)
        for op, rules in zip(ops, compiled(reader, *logs), strict=True):
            _answers.setdefault(op, []).append(rules)


# What the numbers are made of: an entry lights up if moving it moves the result.


def evaluated(tree: Any, operands: dict[str, Array]) -> Any:
    """A rule as the log has it, run by the primitives on arrays."""
    if isinstance(tree, str):
        return operands[tree]
    if not isinstance(tree, list):
        return tree
    op, options, *inputs = tree
    given = [evaluated(part, operands) for part in inputs]
    plain = {name: unlisted(value) for name, value in options.items()}
    op = "multiply" if op == "times" else op
    return PRIMITIVES[op].apply(given, plain) if op in PRIMITIVES else getattr(np, op)(*given)


def unlisted(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    kind, _, *parts = value
    if kind == "slice":
        return slice(*parts)
    if kind == "ellipsis":
        return ...
    return tuple(parts[0] if kind == "shape" else map(unlisted, parts))


def moved_by(event: Event, operands: dict[str, Array]) -> list[dict[str, set[int]]]:
    """Of each entry of a contribution, the entries of the operands that it changes with."""
    assert event.written is not None
    tree = event.written.tree
    base = np.asarray(evaluated(tree, operands))
    np.testing.assert_allclose(base, np.asarray(event.contribution), rtol=1e-12)
    found: list[dict[str, set[int]]] = [{key: set() for key in operands} for _ in base.flat]
    for key, array in operands.items():
        for flat in range(array.size):
            other = array.copy()
            other.flat[flat] += 0.37
            changed = np.asarray(evaluated(tree, {**operands, key: other})) != base
            for cell in np.flatnonzero(changed):
                found[cell][key].add(flat)
    return found


LIT = ["matmul with batches", "softmax", "sum", "mean", "broadcast multiply", "reshape, transpose"]
LIT += ["getitem", "x*x", "concatenate"]


@pytest.mark.parametrize("name", [*LIT, "attention"])
def test_exactly_the_entries_light_up_that_a_number_is_made_of(any_page: Reader, name: str) -> None:
    steps = attention() if name == "attention" else log_of(graphs()[name])
    (rules,) = compiled(any_page, steps)
    for i, rule in rules.items():
        assert rule is not None
        event = steps[i]
        assert event.upstream is not None
        operands = {
            key: np.asarray(steps.nodes[key].value if key != "G" else event.upstream)
            for key in rule["lit"][0]
        }
        lit = [{key: set(flats) for key, flats in cell.items()} for cell in rule["lit"]]
        assert lit == moved_by(event, operands), event.equation


WHOLE_NUMBERS = {
    "matmul": lambda a, b: a @ b,
    "matmul of a difference": lambda a, b: (a - 3) @ (b * -1),
    "multiply": lambda a, b: a * b.T,
    "subtract": lambda a, b: (a - (b.T - a)) * (a - b.T),
    "divide": lambda a, b: a / (b.T * 8),
    "power": lambda a, b: a**3 + (b.T * b.T) ** 2,
    "mean": lambda a, b: (a * a).mean(axis=1) + b.mean(axis=0),
    "sum": lambda a, b: (a * b.T).sum(axis=0),
    "where": lambda a, b: minigrad.where(a.numpy() > 0, a * b.T, -a),
    "negative": lambda a, b: -(a * -b.T),
    "getitem": lambda a, b: a[0, 1:] * b[1:, 1],
}


@pytest.mark.parametrize("name", WHOLE_NUMBERS)
def test_the_line_with_numbers_is_true(any_page: Reader, name: str) -> None:
    """Read as arithmetic, with the signs and parentheses as they stand, it gives the result."""
    rng = np.random.default_rng(0)
    a, b = (leaf(rng.choice([-4, -2, -1, 1, 2, 4], size=shape).astype(float), name=n)
            for n, shape in (("a", (2, 3)), ("b", (3, 2))))  # fmt: skip
    with trace():
        out = WHOLE_NUMBERS[name](a, b)
    steps = step_backward(out, rng.choice([-2.0, -1.0, 1.0, 3.0], size=out.shape))
    (rules,) = compiled(any_page, steps)
    for i, rule in rules.items():
        assert rule is not None
        for text, value in zip(rule["text"], np.asarray(steps[i].contribution).flat, strict=True):
            python = text.replace("−", "-").replace("·", "*").replace("^", "**")
            assert eval(python) == pytest.approx(value, rel=6e-3), (steps[i].equation, text)


TREE = """([tree, arrays]) => {
    const given = new Map(arrays.map(([name, shape, values]) =>
        [name, { shape, values, pooled: false }]));
    const rule = compiled(tree, given);
    const places = Array.from({ length: size(rule.shape) }, (_, k) => unflat(rule.shape, k));
    return [rule.shape, places.map(rule.at, rule), places.map(rule.text, rule)];
}"""


def random_tree(rng: np.random.Generator, depth: int) -> Any:
    """An expression of matrices, in which signs stand within signs in every way there is."""
    if depth == 0:
        return ["G", "n1", 2, -3][rng.integers(4)]
    a, b = random_tree(rng, depth - 1), random_tree(rng, int(rng.integers(depth)))
    two = ["add", "subtract", "multiply", "divide", "matmul", "power"][rng.integers(6)]
    if two == "matmul" and not (isinstance(a, (int, float)) or isinstance(b, (int, float))):
        return ["matmul", {}, ["add", {}, a, "G"], ["add", {}, b, "n1"]]
    if two in ("matmul", "power"):
        return ["power", {}, a, 2]
    if rng.random() < 0.3:
        whole = ["add", {}, a, "G"]  # what has two axes in any case
        axis, keepdims = int(rng.integers(2)), True
        one = ["negative", "matrix_transpose", "sum", "mean", "where", "softmax"][rng.integers(6)]
        if one in ("sum", "mean"):
            return [one, {"axis": axis, "keepdims": keepdims}, whole]
        if one == "where":
            return ["where", {}, ["greater", {}, whole, 1], a, b]
        return [one, {"axis": axis} if one == "softmax" else {}, whole]
    return [two, {}, a, b]


def test_any_formula_is_computed_and_written_as_it_stands(any_page: Reader) -> None:
    """Random ones; of those without softmax, whose entries are rounded, the text is arithmetic."""
    rng = np.random.default_rng(0)
    operands = {"G": np.array([[1.0, -2.0], [4.0, 1.0]]), "n1": np.array([[-1.0, 2.0], [2.0, -4]])}
    given = [[name, [2, 2], array.ravel().tolist()] for name, array in operands.items()]
    texts, wrong = 0, []
    for _ in range(300):
        tree = random_tree(rng, 3)
        if isinstance(tree, (int, str)):
            continue
        with np.errstate(all="ignore"):
            wanted = np.asarray(evaluated(tree, operands))
        shape, values, lines = any_page.evaluate(TREE, [tree, given])
        assert tuple(shape) == wanted.shape, tree
        np.testing.assert_allclose(np.reshape(np.array(values, float), shape), wanted, rtol=1e-9)
        if "softmax" in json.dumps(tree) or not np.isfinite(wanted).all():
            continue
        for line, value in zip(lines, wanted.flat, strict=True):
            texts += 1
            python = line.replace("−", "-").replace("·", "*").replace("^", "**")
            if eval(python) != pytest.approx(value, rel=1e-9):
                wrong.append((line, float(value), tree))
    assert wrong == []
    assert texts > 300


def test_three_digits_on_the_page_are_three_digits_in_python(any_page: Reader) -> None:
    rng = np.random.default_rng(0)
    numbers = [*rng.normal(size=200) * 10.0 ** rng.integers(-12, 12, size=200)]
    numbers += [0.0, -0.0, 1e-4, 999.4, 999.6, 1e6, 999999, 30522, 1e300, 5e-324, np.nan, np.inf]
    numbers += [-np.inf, -1, 0.1 + 0.2, 123456.7, 1e21, 1e22]
    here = any_page.evaluate("numbers => numbers.map(brief)", numbers)
    assert here == [write_number(x) for x in map(float, numbers)]


def test_halves_are_rounded_as_in_the_sentences(any_page: Reader) -> None:
    """10.25 lies in the middle between 10.2 and 10.3, and Python takes the even one."""
    numbers = [10.25, 10.75, 1.125, 2.625, -48.25, 100.5, 101.5, 9.9996e-5]
    here = any_page.evaluate("numbers => numbers.map(brief)", numbers)
    assert here == [write_number(x) for x in numbers]


def test_exact_numbers_are_exact(any_page: Reader) -> None:
    rng = np.random.default_rng(0)
    doubles = rng.normal(size=100) * 10.0 ** rng.integers(-300, 300, size=100)
    doubles = np.array([*doubles, 0.1, 5e-324, 1.7976931348623157e308, 1e21, 123456789012345680.0])
    for dtype in (np.float64, np.float32, np.float16):
        with np.errstate(over="ignore"):
            array = doubles.astype(dtype)
        array = array[np.isfinite(array)]
        texts = any_page.evaluate(
            "([numbers, dtype]) => numbers.map(x => exact(x, dtype))",
            [array.astype(float).tolist(), np.dtype(dtype).str],
        )
        back = np.array([float(text.replace("−", "-")) for text in texts])
        np.testing.assert_array_equal(back.astype(dtype), array)
    assert any_page.evaluate("exact(Math.fround(0.1), '<f4')") == "0.1"


# ------------------------------------------------------------------------------------------- cells


def numbers(text: str) -> list[float]:
    return [float(x.replace("−", "-")) for x in re.findall(r"−?\d+(?:\.\d+)?(?:e−?\d+)?", text)]


def cell(reader: Reader, map_: str, at: int, log: int = 0) -> Any:
    selector = f"figure[data-map='{map_}'][data-log='{log}'] rect[data-at='{at}']"
    return reader.page.locator(selector)


def lit(reader: Reader) -> dict[str, set[int]]:
    """The outlined cells of each tensor, by where they are drawn."""
    found = reader.evaluate(
        """() => Object.fromEntries(maps.filter(map => map.rects && map.number === 0).map(map =>
            [map.id, [...map.drawn.querySelectorAll(".lit, .chosen")].map(frame =>
                [...map.rects].find(([, rect]) => ["x", "y"].every(
                    name => rect.getAttribute(name) === frame.getAttribute(name)))[0])]))"""
    )
    return {key: set(flats) for key, flats in found.items()}


@looks
def test_pointing_at_a_cell_tells_where_its_number_comes_from(
    read: Read, language: str, dark: bool
) -> None:
    reader, steps = read("attention", language, dark=dark, width=1400), attention()
    event = rule(steps, "weights")
    reader.go(event.index)
    assert event.equation in reader.texts("#equation .formula")
    made = np.asarray(event.contribution)
    (value,) = [key for key, node in steps.nodes.items() if node.label == "V"]  # it is G Vᵀ
    for at in (0, 5, 8):
        cell(reader, "made", at).hover()
        row, column = divmod(at, 3)
        line = reader.text("#equation .numbers")
        assert line.startswith(f"∂L/∂weights[{row}, {column}] = ")
        assert numbers(line)[-1] == made[row, column]
        assert reader.text("figure[data-map='made'] .readout").startswith(f"[{row}, {column}] = ")
        assert numbers(reader.text("figure[data-map='made'] .readout"))[-1] == made[row, column]
        assert lit(reader) == {
            "made": {at},
            "G": {4 * row + k for k in range(4)},
            value: {4 * column + k for k in range(4)},
        }


def test_pointing_at_an_operand_reads_its_number(read: Read) -> None:
    reader, steps = read("attention", width=1400), attention()
    event = rule(steps, "weights")
    reader.go(event.index)
    cell(reader, "G", 6).hover()
    shown = numbers(reader.text("figure[data-map='G'] .readout"))
    assert shown == [1, 2, np.asarray(event.upstream)[1, 2]]
    assert reader.text("#equation .numbers") == words()["point"]


def test_a_cell_is_read_with_a_finger(read: Read) -> None:
    reader = read("attention", width=360, has_touch=True, is_mobile=True)
    event = rule(attention(), "weights")
    reader.go(event.index)
    cell(reader, "made", 5).tap()
    assert reader.text("figure[data-map='made'] .readout").startswith("[1, 2] = ")


def test_cells_are_walked_through_with_the_keyboard(read: Read) -> None:
    reader, steps = read("attention", width=1400), attention()
    event = rule(steps, "weights")
    reader.go(event.index)
    made = np.asarray(event.contribution)

    def here() -> tuple[int, int]:
        row, column, value = numbers(reader.text("figure[data-map='made'] .readout"))
        assert value == made[int(row), int(column)]
        return int(row), int(column)

    cell(reader, "made", 0).hover()
    reader.page.mouse.move(0, 0)
    for _ in range(40):
        reader.page.keyboard.press("Tab")
        if reader.evaluate("document.activeElement === maps.find(m => m.id === 'made').drawn"):
            break
    path = []
    for key in ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"]:
        reader.page.keyboard.press(key)
        path.append(here())
    assert path == [(0, 1), (1, 1), (2, 1), (2, 1), (2, 2), (2, 2)]
    reader.page.keyboard.press("ArrowLeft")
    reader.page.keyboard.press("ArrowUp")
    assert here() == (1, 1)
    assert reader.step == event.index
    reader.press("Escape")
    assert reader.evaluate("document.activeElement.tagName") == "BODY"
    assert reader.press("ArrowRight") == event.index + 1


def test_the_first_arrow_in_a_tensor_comes_to_its_first_cell(read: Read) -> None:
    reader, steps = read("attention"), attention()
    reader.go(rule(steps, "weights").index)
    reader.evaluate("maps.find(m => m.id === 'G').drawn.focus()")
    reader.page.keyboard.press("ArrowRight")
    assert reader.text("figure[data-map='G'] .readout").startswith("[0, 0] = ")


def test_before_and_contribution_and_after_light_up_together(read: Read) -> None:
    reader, steps = read("shared", width=1400), shared()
    (event, *_) = [e for e in steps if e.kind == "accumulate" and e.before and e.node.op != "add"]
    reader.go(event.index)
    arrays = [np.asarray(x) for x in (event.before, event.contribution, event.after)]
    for part in ("before", "made", "after"):
        cell(reader, part, 4).hover()
        line = reader.text("#equation .numbers")
        assert line.startswith("[1, 1]: ")
        said = [write_number(float(x[1, 1])) for x in arrays[:2]]
        assert line.startswith(f"[1, 1]: {said[0]} + {said[1]} = ")
        assert numbers(line)[-1] == arrays[2][1, 1]
        assert (part, lit(reader)) == (part, {"before": {4}, "made": {4}, "after": {4}})


def test_what_was_summed_lights_up_where_broadcasting_is_undone(read: Read) -> None:
    reader, steps = read("shared", width=1400), shared()
    (event,) = [e for e in steps if e.kind == "unbroadcast" and e.receiver.label == "b"]
    reader.go(event.index)
    cell(reader, "made", 2).hover()
    assert lit(reader) == {"made": {2}, "before": {2, 5}}
    cell(reader, "before", 4).hover()
    assert lit(reader) == {"made": {1}, "before": {4}}


def test_the_cell_that_was_chosen_stays_when_the_scale_changes(read: Read) -> None:
    reader = read("attention", width=1400)
    reader.go(rule(attention(), "weights").index)
    cell(reader, "made", 5).hover()
    line = reader.text("#equation .numbers")
    for key in ("g", "b", "+"):
        reader.page.keyboard.press(key)
        assert reader.text("#equation .numbers") == line


def test_the_largest_cell_is_explained_until_one_is_pointed_at(read: Read) -> None:
    reader, steps = read("attention"), attention()
    for event in steps:
        if event.kind == "rule":
            reader.go(event.index)
            made = np.asarray(event.contribution)
            assert numbers(reader.text("#equation .numbers"))[-1] == made.flat[abs(made).argmax()]


# ----------------------------------------------------------------------------------------- sliders


def slide(reader: Reader, axis: int, at: int) -> None:
    reader.page.locator("#sliders input").nth(axis).fill(str(at))


def shown(reader: Reader, map_: str) -> list[float]:
    found = reader.evaluate(
        """id => { const map = maps.find(m => m.id === id);
        return [...map.rects.keys()].map(at => map.array.values[at]) }""",
        map_,
    )
    return [float(x) for x in found]


@looks
def test_sliders_choose_the_batch_and_the_head(read: Read, language: str, dark: bool) -> None:
    reader, steps = read("batch", language, dark=dark), batch()
    event = rule(steps, "weights")
    reader.go(event.index)
    labels = reader.evaluate(
        "[...document.querySelectorAll('#sliders label')].map(l => l.firstChild.textContent)"
    )
    assert labels == [words(language)["axis"].format(axis) for axis in (0, 1)]
    for sample in range(2):
        for head in range(3):
            slide(reader, 0, sample)
            slide(reader, 1, head)
            assert reader.texts("#sliders output") == [str(sample), str(head)]
            for name, array in (("made", event.contribution), ("G", event.upstream)):
                np.testing.assert_array_equal(
                    shown(reader, name), np.asarray(array)[sample, head].ravel()
                )
            at = (sample * 3 + head) * 16 + 5
            cell(reader, "made", at).hover()
            line = reader.text("#equation .numbers")
            assert line.startswith(f"∂L/∂weights[{sample}, {head}, 1, 1] = ")
            assert numbers(line)[-1] == np.asarray(event.contribution)[sample, head, 1, 1]


def test_a_slider_is_moved_with_the_keyboard(read: Read) -> None:
    reader = read("batch")
    reader.go(rule(batch(), "weights").index)
    slide(reader, 1, 0)
    reader.page.locator("#sliders input").nth(1).focus()
    step = reader.step
    reader.page.keyboard.press("ArrowRight")
    assert reader.texts("#sliders output")[1] == "1"
    assert reader.step == step


def test_the_head_that_was_chosen_stays_while_one_goes_on(read: Read) -> None:
    reader, steps = read("batch"), batch()
    reader.go(1)
    slide(reader, 0, 1)
    slide(reader, 1, 2)
    for event in steps[1:]:
        reader.go(event.index)
        assert (event.index, reader.texts("#sliders output")) == (event.index, ["1", "2"])


# ------------------------------------------------------------------------------- colours and marks

GRADIENTS = ("upstream", "contribution", "before", "after")

CELLS = """() => maps.filter(map => map.rects).map(map => ({
    id: map.id, role: map.role, cells: [...map.rects].map(([at, rect]) => {
        const [x, y, w, h] = ["x", "y", "width", "height"].map(n => Number(rect.getAttribute(n)));
        const inside = [...map.drawn.children].filter(other => {
            if (other === rect || other.matches(".lit, .chosen, .tick")) return false;
            const box = other.getBBox();
            const [a, b] = [box.x + box.width / 2, box.y + box.height / 2];
            return a > x && a < x + w && b > y && b < y + h;
        });
        return {
            value: map.array.values[at], fill: rect.style.fill,
            marks: inside.map(e => e.tagName === "text" ? "text" : e.getAttribute("class") + " " +
                (e.getAttribute("d") ?? "").replace(/[^a-z]/gi, "")),
        };
    }),
}))"""


@pytest.mark.parametrize("is_log", [False, True], ids=["linear", "log"])
def test_zero_tiny_nan_and_infinite_are_told_apart(read: Read, is_log: bool) -> None:
    reader, steps = read("odd"), odd()
    if is_log:
        reader.press("g")
    kinds: dict[str, set[tuple[str, ...]]] = {}
    for found in reader.at_each(range(len(steps)), CELLS):
        for map_ in found:
            numbered = len(map_["cells"]) <= 8
            for cell in map_["cells"]:
                x = cell["value"]
                kind = (
                    "nan" if np.isnan(x) else "inf" if x == np.inf else "-inf" if x == -np.inf
                    else "zero" if x == 0 else "tiny" if abs(x) < 1e-6 else "plain"
                )  # fmt: skip
                look = (f"{numbered}", *[m for m in cell["marks"] if m != "text"])
                kinds.setdefault(kind, set()).add(look)
    hatched = {kind: {"hatch " in "".join(look) for look in looks} for kind, looks in kinds.items()}
    assert {kind for kind, found in hatched.items() if True in found} == {"zero"}
    assert hatched["zero"] == {True}
    for kind in ("nan", "inf", "-inf"):
        assert all("mark Mhvhz" in look for look in kinds[kind]), kind
    assert not any(
        "mark Mhvhz" in look for kind in ("plain", "tiny", "zero") for look in kinds[kind]
    )
    clipped = {k for k, looks in kinds.items() if any("clipped" in "".join(x) for x in looks)}
    assert clipped == ({"tiny"} if is_log else set())
    legend = reader.text("#legend")
    assert (words()["clipped"] in legend) == is_log or "clipped" not in legend


def test_zeros_are_explained_where_there_are_any(read: Read) -> None:
    reader, steps = read("odd"), odd()
    both = """() => [byId("legend").textContent, maps.filter(map => map.rects).flatMap(
        map => [...map.rects.keys()].map(at => map.array.values[at]))]"""
    for legend, values in reader.at_each(range(len(steps)), both):
        assert (words()["exactly 0"] in legend) == (0 in values)


def test_infinities_are_told_apart_by_sign(read: Read) -> None:
    reader, steps = read("odd"), odd()
    reader.go(complete(steps, "few"))
    (map_,) = [m for m in reader.evaluate(CELLS) if any(np.isnan(c["value"]) for c in m["cells"])][
        :1
    ]
    fills = {str(c["value"]): c["fill"] for c in map_["cells"]}
    assert fills["inf"] != fills["-inf"]
    assert fills["nan"] not in (fills["inf"], fills["-inf"])


@pytest.mark.parametrize("name", ["attention", "batch", "compare", "growing"])
@pytest.mark.parametrize("is_log", [False, True], ids=["linear", "log"])
def test_a_gradient_of_some_size_has_the_same_colour_at_every_step(
    read: Read, name: str, is_log: bool
) -> None:
    reader = read(name)
    if is_log:
        reader.press("g")
    colours: dict[str, float] = {}
    logs = [attention(), attention(1.0)] if name == "compare" else [globals()[name]()]
    taken = [getattr(e, part) for steps in logs for e in steps for part in GRADIENTS]
    largest = max(float(abs(np.asarray(x)).max()) for x in taken if x is not None)
    legends = set()
    pairs = []
    colours_at = """() => [byId("legend").firstChild.textContent, maps.filter(
        map => map.rects && map.role === "gradient").flatMap(map => [...map.rects].map(
            ([at, rect]) => [map.array.values[at], rect.style.fill]))]"""
    for legend, found in reader.at_each(range(len(logs[0])), colours_at):
        legends.add(legend)
        pairs += found
    (legend,) = legends
    assert write_number(largest) in legend
    low = numbers(legend.replace("±", ""))[0]
    assert len(pairs) > 100
    for value, fill in pairs:
        percent = float(re.findall(r"([\d.]+)%", fill)[0]) if "%" in fill else 0.0
        end = "negative" if "negative" in fill else "positive"
        assert value == 0 or end == ("negative" if value < 0 else "positive") or percent == 0
        if not is_log:
            assert percent == pytest.approx(100 * abs(value) / largest, abs=0.51)
        elif abs(value) > low * 1.01:
            share = np.log(abs(value) / low) / np.log(largest / low)
            assert percent == pytest.approx(100 * share, abs=0.7)
        colours[f"{value}"] = percent
    ordered = sorted((abs(float(value)), percent) for value, percent in colours.items())
    assert [percent for _, percent in ordered] == sorted(percent for _, percent in ordered)
    assert ordered[-1][1] <= 100


CONTRAST = """() => {
    const light = ([r, g, b]) => [r, g, b].map(c =>
        c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const rgb = colour => colour.startsWith("color(")
        ? colour.match(/[\\d.]+(e-?\\d+)?/g).map(Number)
        : colour.match(/[\\d.]+/g).slice(0, 3).map(c => c / 255);
    const ratio = (one, other) => {
        const [a, b] = [light(rgb(one)), light(rgb(other))].sort((a, b) => b - a);
        return (a + 0.05) / (b + 0.05);
    };
    const style = (e, name) => getComputedStyle(e).getPropertyValue(name);
    const found = [];
    for (const map of maps) {
        for (const text of map.drawn?.querySelectorAll("text:not(.tick)") ?? []) {
            let rect = text.previousElementSibling;
            while (!rect.dataset.at) rect = rect.previousElementSibling;
            found.push([text.textContent, ratio(style(text, "fill"), style(rect, "fill"))]);
        }
        for (const tick of map.drawn?.querySelectorAll(".tick") ?? [])
            found.push([`tick ${tick.textContent}`,
                ratio(style(tick, "fill"), style(document.body, "background-color"))]);
    }
    for (const text of byId("graph").querySelectorAll("text")) {
        const outline = text.closest(".node")?.querySelector("polygon, path");
        const fill = outline ? style(outline, "fill") : style(document.body, "background-color");
        found.push([text.textContent, ratio(style(text, "fill"), fill)]);
    }
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const of = walker.currentNode.parentElement;
        if (of.closest("svg, script, dialog, noscript, datalist, button:disabled")) continue;
        if (!walker.currentNode.textContent.trim()) continue;
        let ground = of;
        const isClear = (e) => style(e, "background-color") === "rgba(0, 0, 0, 0)";
        while (isClear(ground)) ground = ground.parentElement;
        found.push([walker.currentNode.textContent,
            ratio(style(of, "color"), style(ground, "background-color"))]);
    }
    return found;
}"""


@looks
@pytest.mark.parametrize("name", ["attention", "odd"])
def test_every_text_can_be_read(read: Read, name: str, language: str, dark: bool) -> None:
    """A contrast of at least 4.5 to 1 against what it stands on, as WCAG 2 asks for."""
    reader, steps = read(name, language, dark=dark), globals()[name]()
    reader.press("b")
    for scale in ("linear", "log"):
        for i, found in enumerate(reader.at_each(range(len(steps)), CONTRAST)):
            weak = {(text, round(ratio, 2)) for text, ratio in found if ratio < 4.5}
            assert (scale, i, weak) == (scale, i, set())
        reader.press("g")


@pytest.mark.parametrize("name", ["attention", "large", "odd"])
def test_texts_in_cells_and_beside_them_stay_in_their_places(read: Read, name: str) -> None:
    """A number fits its cell; what counts the rows ends before the first column."""
    reader, steps = read(name, width=1400), globals()[name]()
    for event in steps:
        reader.go(event.index)
        wrong = reader.evaluate(
            """() => maps.filter(map => map.rects).flatMap(map => {
                const left = Math.min(...[...map.rects.values()].map(r => r.getBBox().x));
                const cell = [...map.rects.values()][0].getBBox();
                return [...map.drawn.querySelectorAll("text")].filter(text => {
                    const box = text.getBBox();
                    const isRow = text.matches(".tick") && box.y + box.height / 2 > cell.y;
                    if (isRow) return box.x < -1 || box.x + box.width > left + 0.5;
                    return !text.matches(".tick") && box.width > cell.width;
                }).map(text => `${map.id} ${text.textContent}`);
            })"""
        )
        assert (event.index, wrong) == (event.index, [])


# --------------------------------------------------------------------------- check, source, compare


@looks
def test_the_check_pane_tells_the_verdict(read: Read, language: str, dark: bool) -> None:
    reader, steps = read("shared", language, dark=dark, width=1400), shared()
    script = words(language)
    for event in steps:
        reader.go(event.index)
        lines = reader.texts("#check-body p")
        if event.kind not in ("rule", "unbroadcast"):
            assert lines == [script["no check"]]
            continue
        if event.verdict is None:  # what is checked is the sum
            assert steps[event.index + 1].kind == "unbroadcast"
            assert lines == [script["check next"]]
            continue
        assert lines[0] == judged(event, language)
        made, slopes = np.asarray(event.contribution), np.asarray(event.verdict.numeric)
        assert made.shape == slopes.shape
        for at in {0, made.size - 1}:
            cell(reader, "made", at).hover()
            _, values, errors = reader.texts("#check-body p")
            index = np.unravel_index(at, made.shape)
            name = f"[{', '.join(map(str, index))}]"
            assert name in values
            *_, by_rule, by_differences, step = numbers(values)
            assert (by_rule, by_differences) == (made[index], slopes[index])
            assert step == event.verdict.step
            absolute = abs(made[index] - slopes[index])
            assert numbers(errors)[0] == pytest.approx(absolute, rel=6e-3)
            largest = max(abs(made[index]), abs(slopes[index]))
            relative = 0 if absolute == 0 else absolute / largest
            assert numbers(errors)[1] == pytest.approx(relative, rel=6e-3)


def test_an_entry_that_was_not_checked_is_said_not_to_be(read: Read, open_page: Open) -> None:
    x = leaf(normal(20, 20), name="x")
    with trace():
        out = minigrad.tanh(x)
    steps = logged(out, check=True)
    reader = Reader(open_page(step_page(steps)))
    event = rule(steps, "x")
    assert event.verdict is not None
    reader.go(event.index)
    slopes = np.asarray(event.verdict.numeric)
    left_out = int(np.flatnonzero(np.isnan(slopes))[0])
    cell(reader, "made", left_out).hover()
    row, column = divmod(left_out, 20)
    value = reader.evaluate("at => maps.find(m => m.id === 'made').array.values[at]", left_out)
    said = f"[{row}, {column}]: {str(value).replace('-', '−')} by the rule; this entry was not in"
    assert said in reader.text("#check-body")
    assert reader.visit.complaints == []


def test_what_must_hold_stands_with_the_check_and_other_notes_below_the_sentence(
    read: Read,
) -> None:
    reader, steps = read("attention"), attention()
    event = rule(steps, "scaled")
    reader.go(event.index)
    kinds = [note.kind for note in event.notes]
    assert "sums to 0" in kinds
    assert any("each row sums to 0" in line for line in reader.texts("#check-body p"))
    assert len(reader.texts("#notes li")) == len(kinds) - 1


@looks
def test_the_live_region_reads_the_sentence(read: Read, language: str, dark: bool) -> None:
    reader, steps = read("attention", language, dark=dark), attention()
    region = reader.page.locator("#sentence")
    assert (region.get_attribute("role"), region.get_attribute("aria-live")) == ("status", "polite")
    for event in steps:
        reader.go(event.index)
        assert reader.text("#sentence") == sentence(event, language)
        kind = words(language)["kinds"][event.kind]
        count = words(language)["step"].format(event.index, len(steps) - 1)
        assert reader.text("#count") == f"{kind} {count}"


def test_the_source_pane_lights_the_line_that_made_the_tensor(read: Read) -> None:
    reader, steps = read("shared"), shared()
    lines = Path(__file__).read_text("utf-8").splitlines()
    for event in steps:
        reader.go(event.index)
        if event.node.line is None:
            assert reader.text("#source-body") == words()["no source"]
            continue
        node = event.node
        assert reader.text("#source .hint") == f"{Path(__file__).name}:{node.line}"
        (shown,) = reader.texts("#source .lit")
        assert node.line is not None
        assert shown == f"{node.line}{lines[node.line - 1]}"
        assert reader.page.locator("#source .lit").get_attribute("aria-current") == "true"
        numbers = [int(text) for text in reader.texts("#source i")]
        assert numbers == sorted(numbers)
        assert {node.line - 4, node.line + 4} <= set(numbers)


def test_of_two_logs_every_box_has_the_ratio(read: Read) -> None:
    """Of the typical row, which no few rows can carry."""
    reader, one, other = read("compare"), attention(), attention(1.0)
    for i in range(len(one)):
        reader.go(i)
        norms = reader.evaluate(GRAPH)["norms"]
        pairs = one.grads_at(i), other.grads_at(i)
        for key, node in one.nodes.items():
            if node.kind == "constant":
                continue
            if node.label not in pairs[0]:
                assert norms[key] == ""
                continue
            a, b = (grads[node.label].typical_row for grads in pairs)
            assert norms[key] == " = ".join(
                [f"{write_number(a)} / {write_number(b)}", write_number(a / b)]
            )
        note = reader.texts("#notes li")[0]
        a, b = one[i].norm, other[i].norm
        for x in (a, b, a / b):
            assert write_number(x) in note


def test_of_two_logs_the_same_tensors_stand_side_by_side(read: Read) -> None:
    reader, one, other = read("compare", width=1400), attention(), attention(1.0)
    event = rule(one, "scaled")
    reader.go(event.index)
    for number, steps in enumerate((one, other)):
        cell(reader, "made", 4, number).hover()
        made = np.asarray(steps[event.index].contribution)
        line = reader.text("#equation .numbers")
        assert numbers(line)[-1] == made.flat[4]
        assert judged(steps[event.index]) in reader.texts("#check-body p")
    pairs = reader.page.locator("#maps .pair")
    for i in range(pairs.count()):
        left, right = pairs.nth(i).locator("figure").all()
        assert left.get_attribute("data-map") == right.get_attribute("data-map")
        assert left.inner_text().startswith("scaled: ")
        assert right.inner_text().startswith("unscaled: ")


def test_a_log_that_is_put_away_is_not_told_of_any_more(read: Read) -> None:
    reader, one = read("compare", width=1400), attention()
    event = rule(one, "scaled")
    reader.go(event.index)
    cell(reader, "made", 4, 1).hover()
    reader.press("c")
    first = {float(x) for x in np.asarray(event.contribution).flat}
    line = reader.text("#equation .numbers")
    assert line == words()["point"] or numbers(line)[-1] in first


# ----------------------------------------------------------------------------- what is not there


def test_summaries_have_norms_and_say_that_there_are_no_entries(read: Read) -> None:
    reader, steps = read("summary"), attention(keep="summary")
    for event in steps:
        reader.go(event.index)
        assert reader.page.locator(".map rect").count() == 0
        assert words()["entries not kept"] in reader.text("#maps")
        assert words()["norm"] in reader.text("#maps")
    assert len(reader.texts("#left-out li")) == 1


def test_without_a_trace_the_page_says_how_to_keep_the_values(open_page: Open) -> None:
    Q, K = leaf(normal(3, 4), name="Q"), leaf(normal(3, 4), name="K")
    steps = logged(minigrad.softmax(Q @ K.T) * 2)
    reader = Reader(open_page(step_page(steps)))
    for event in steps:
        reader.go(event.index)
        said = reader.text("#panes")
        assert words()["no source"] in said
        if event.kind == "rule":
            assert words()["unchecked"] in said
    (event,) = [e for e in steps if e.kind == "rule" and e.op == "softmax"]
    reader.go(event.index)
    assert reader.visit.complaints == []
    made = np.asarray(event.contribution)  # whatever a rule reads is kept in any case
    assert numbers(reader.text("#equation .numbers"))[-1] == made.flat[abs(made).argmax()]
    (enter,) = [e for e in steps if e.kind == "enter" and e.node is event.target]
    reader.go(enter.index)
    assert words()["not kept"] in reader.text("#maps")


def test_blocks_say_what_they_are(read: Read) -> None:
    reader, steps = read("large", width=1400), large()
    event = rule(steps, "A")
    reader.go(event.index)
    assert words()["block"].format(4, 4) in reader.text("figure[data-map='made']")
    cell(reader, "made", 0).hover()
    assert reader.text("figure[data-map='made'] .readout").startswith("[0:4, 0:4] = ")
    cell(reader, "made", 624).hover()
    readout = reader.text("figure[data-map='made'] .readout")
    assert readout.startswith("[96:100, 96:100] = ")
    block = np.asarray(event.contribution)[96:, 96:]
    assert numbers(readout)[-1] == block.flat[abs(block).argmax()]
    assert words()["pooled operands"] in reader.text("#equation .numbers")


# ----------------------------------------------------------------------- for everybody, everywhere


@looks
def test_everything_has_a_name(read: Read, language: str, dark: bool) -> None:
    reader = read("batch", language, dark=dark)
    reader.go(2)
    nameless = reader.evaluate(
        """[...document.querySelectorAll("button, input, section, nav, dialog, svg.map, output")]
            .filter(e => !(e.ariaLabel || e.textContent.trim() || e.labels?.length
                || e.matches("output")
                || document.getElementById(e.getAttribute("aria-labelledby"))?.textContent))
            .map(e => e.outerHTML.slice(0, 90))"""
    )
    assert nameless == []
    assert reader.evaluate("document.documentElement.lang")[:2] == language
    assert reader.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(h => h.tagName)") == [
        "H1",
        *["H2"] * 4,
    ]
    assert all(text.strip() for text in reader.texts("h1, h2"))


def test_tab_comes_to_everything(read: Read) -> None:
    reader = read("batch")
    reader.press("b")
    reader.go(2)
    wanted = reader.evaluate(
        """[...document.querySelectorAll("button, input, [tabindex='0']")].filter(
            e => !e.disabled && !e.closest("dialog")).map((e, i) => (e.dataset.tab = `${i}`))"""
    )
    reached = []
    for _ in range(len(wanted) + 3):
        reader.page.keyboard.press("Tab")
        reached.append(reader.evaluate("document.activeElement.dataset.tab ?? null"))
    assert [at for at in reached if at is not None][: len(wanted)] == wanted
    seen = reader.evaluate(
        """(document.querySelector("#next").focus(), getComputedStyle(document.activeElement)
            .outlineStyle)"""
    )
    assert seen != "none"


def test_whoever_walks_through_cells_keeps_the_focus(read: Read) -> None:
    """The scale changes the colours, and not where the keyboard is."""
    reader = read("attention")
    reader.go(2)
    reader.evaluate("maps[0].drawn.focus()")
    reader.page.keyboard.press("g")
    assert reader.evaluate("document.activeElement.matches('svg.map')")


def test_nothing_moves_where_no_motion_is_wanted(read: Read) -> None:
    for wish, expected in (("no-preference", "0.45s"), ("reduce", "0s")):
        reader = read("attention", reduced_motion=wish)
        reader.go(rule(attention(), "scaled").index)
        style = reader.visit.style("#graph .edge.now path.gradient", "transition-duration")
        has_none = reader.visit.style("#graph .edge.now path.gradient", "transition-property")
        assert style == expected or (wish == "reduce" and has_none == "none")
        moving = reader.evaluate(
            """[...document.querySelectorAll("*")].filter(e => {
                const s = getComputedStyle(e);
                return s.animationName !== "none" || (s.transitionProperty !== "none" &&
                    s.transitionDuration !== "0s");
            }).length"""
        )
        assert (moving > 0) == (wish == "no-preference")


@pytest.mark.parametrize("width", [700, 1100])
def test_on_paper_there_are_no_controls_and_nothing_overlaps(read: Read, width: int) -> None:
    reader = read("attention", width=width)
    reader.go(6)
    reader.page.emulate_media(media="print")
    for selector in ("nav", "footer", "#zoom"):
        assert not reader.page.locator(selector).is_visible()
    for selector in ("h1", "#graph svg", "#sentence", "#maps", "#source pre"):
        assert reader.page.locator(selector).is_visible()
    drawn, panes = (reader.page.locator(s).bounding_box() for s in ("#graph > svg", "#panes"))
    assert drawn is not None
    assert panes is not None
    assert drawn["y"] + drawn["height"] <= panes["y"] + 1
    assert drawn["x"] >= 0
    assert drawn["x"] + drawn["width"] <= width
    assert not reader.visit.is_wider_than_the_window()


@pytest.mark.parametrize("width", [360, 768, 1400, 2560])
@pytest.mark.parametrize("name", ["compare", "batch", "wordy"])
def test_no_page_has_to_be_scrolled_sideways(read: Read, name: str, width: int) -> None:
    reader = read(name, "zh" if name == "wordy" else "en", width=width)
    steps = len(attention()) if name == "compare" else len(globals()[name]())
    root = "document.documentElement"
    wide = f"() => {root}.scrollWidth > {root}.clientWidth"
    assert reader.at_each(range(steps), wide) == [False] * steps


@pytest.mark.parametrize("width", [360, 1400])
def test_the_current_box_is_in_sight_at_every_step(read: Read, width: int) -> None:
    reader, steps = read("attention", width=width), attention()
    for event in steps:
        reader.go(event.index)
        inside = reader.evaluate(
            """key => { const b = boxes.get(key).box.getBoundingClientRect();
            const f = byId("graph").getBoundingClientRect();
            const [x, y] = [b.x + b.width / 2, b.y + b.height / 2];
            return f.left <= x && x <= f.right && f.top <= y && y <= f.bottom }""",
            event.receiver.key,
        )
        assert inside, event.index


def test_texts_of_boxes_fit_their_boxes(read: Read) -> None:
    for name in ("attention", "compare", "odd", "wordy"):
        reader = read(name)
        reader.press("End")
        wrong = reader.evaluate(
            """[...boxes].flatMap(([, {box}]) => {
                const shape = box.querySelector("g > a > polygon, g > a > path").getBBox();
                return [...box.querySelectorAll("text")].filter(text => {
                    const b = text.getBBox();
                    const right = shape.x + shape.width;
                    return b.width && (b.x < shape.x - 1 || b.x + b.width > right + 1);
                }).map(text => text.textContent);
            })"""
        )
        assert (name, wrong) == (name, [])


def latin(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z]{2,}", text))


@pytest.mark.parametrize("name", ["attention", "shared", "compare", "summary", "odd", "large"])
def test_a_chinese_page_has_no_english_left(read: Read, name: str) -> None:
    reader = read(name, "zh")
    steps = attention() if name in ("compare", "summary") else globals()[name]()
    mine = [w for node in steps.nodes.values() for w in (node.label, node.op, *node.scope)]
    mine += [node.equations.forward for node in steps.nodes.values() if node.equations]
    mine += [text for e in steps for text in (e.equation, e.formula)]
    allowed = latin(" ".join(mine)) | latin(Path(__file__).name)
    allowed |= latin("Shift Home End Esc Tab log check True minigrad trace NaN JavaScript")
    find = """() => { const found = [];
        const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            if (walker.currentNode.parentElement.closest("script, style, #source pre")) continue;
            found.push(walker.currentNode.textContent);
        }
        for (const e of document.querySelectorAll("*")) for (const name of ["title", "aria-label",
            "placeholder", "aria-valuetext", "xlink:title"]) found.push(e.getAttribute(name) ?? "");
        return found.join(" | "); }"""
    for i, said in enumerate(reader.at_each(range(len(steps)), find)):
        assert latin(said) - allowed == set(), i


# ------------------------------------------------------------------------------------------- safety

EVIL = [text for text in HOSTILE if text != "\ud800"]
EVIL += [
    "</script x",
    "<!--<script ",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}",
]
EVIL += ["\"><svg onload=alert(1)>'", "a\u2028b"]


def test_names_scopes_and_source_lines_do_nothing(open_page: Open, tmp_path: Path) -> None:
    """All of them at once: what one of them does to a page, the page tells."""
    code = "y = x * 2 + x  # " + " ".join(" ".join(EVIL).split()).replace("\x00", "")
    outs = []
    for i, text in enumerate(EVIL):
        name = "".join(["_" if c in "/\x00" else c for c in text])[:60]
        file = tmp_path / f"{i}{name}.py"
        file.write_text(f"{code}\n", encoding="utf-8")
        variables: dict[str, Any] = {"x": leaf([1.0, 2.0], name=text)}
        with trace(), scope(text):
            exec(compile(code.encode(), str(file), "exec"), variables)
        outs.append(variables["y"])
    with trace():
        out = minigrad.stack(outs)
    assert_harmless(open_page, logged(out), {"title": "a title"})


@pytest.mark.parametrize("text", EVIL[-7:])
def test_titles_and_labels_do_nothing(open_page: Open, text: str) -> None:
    steps = step_backward(leaf([1.0, 2.0], name=text) * 2, np.ones(2))
    assert_harmless(open_page, steps, {"title": text, "labels": (text, text)})


def assert_harmless(open_page: Open, steps: BackwardSteps, options: dict[str, Any]) -> None:
    visit = open_page(step_page(steps, compare=steps, **options))
    reader = Reader(visit)
    reader.at_each(range(0, len(steps), 1 + len(steps) // 40), "() => 0")
    for name in [node.label for node in steps.nodes.values()][:20:3]:
        reader.page.locator("#search").fill(" ".join(name.split()))
        reader.page.locator("#search").press("Enter")
    assert visit.complaints == []
    tags = "img, iframe, object, embed, link, base, [onload], [onerror], [src], [href]"
    assert visit.page.locator(f":is({tags})").count() == 0
    counts = {tag: visit.page.locator(tag).count() for tag in ("script", "style", "h1", "dialog")}
    assert counts == {"script": 2, "style": 1, "h1": 1, "dialog": 1}


def test_in_a_frame_of_a_notebook_the_page_works(open_page: Open) -> None:
    visit = open_page(around(step_frame(attention(), "zh")), width=1200)
    frame = visit.page.frame_locator("iframe")
    steps = attention()
    for _ in range(3):
        frame.locator("#next").click()
    assert frame.locator("#sentence").inner_text() == sentence(steps[3], "zh")
    frame.locator("#op-back").click()
    assert frame.locator("#sentence").inner_text() == sentence(steps[1], "zh")
    frame.locator("#last").click()
    frame.locator("body").press("ArrowLeft")
    assert frame.locator("#sentence").inner_text() == sentence(steps[-2], "zh")
    assert visit.complaints == []
    assert "step=" not in visit.page.url


def test_in_a_frame_the_list_of_keys_opens_and_closes(open_page: Open) -> None:
    visit = open_page(around(step_frame(attention())), width=1200)
    frame = visit.page.frame_locator("iframe")
    frame.locator("#help").click()
    assert frame.locator("#keys").is_visible()
    frame.locator("#keys button").click()
    assert not frame.locator("#keys").is_visible()
    assert visit.complaints == []


def test_a_log_of_one_leaf_and_an_empty_one_can_be_walked_through(open_page: Open) -> None:
    empty = (leaf(np.zeros((0, 3)), name="none") * 2).sum() + leaf(3.0, name="x")
    for steps in (step_backward(leaf([1.0], name="x")), step_backward(empty)):
        reader = Reader(open_page(step_page(steps)))
        for i in range(len(steps)):
            assert reader.step == i
            reader.press("ArrowRight")
        assert reader.visit.complaints == []


def test_four_layers_of_eight_heads_open(
    open_page: Open, record_property: Callable[[str, object], None]
) -> None:
    rng = np.random.default_rng(0)
    h = leaf(rng.normal(size=(6, 32)), name="x")
    with trace():
        for layer in range(4):
            with scope(f"layer {layer}"):
                outs = []
                for head in range(8):
                    with scope(f"head {head}"):
                        outs.append(SelfAttention(32, 4, rng=rng)(h)[0])
                mixed = leaf(rng.normal(size=(32, 32)) / 6, name="W_O")
                h = h + minigrad.concatenate(outs, axis=-1) @ mixed
        out = (h * h).mean()
    steps = step_backward(out, keep="summary")
    page = step_page(steps)
    assert len(page.encode()) < 2_000_000
    reader = Reader(open_page(page, width=1400))
    spent = reader.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart")
    record_property("milliseconds to open", spent)
    print(f"opened in {spent} ms")
    assert reader.evaluate("boxes.size") == len(steps.nodes)
    for i in (0, len(steps) // 2, len(steps) - 1):
        reader.go(i)
        assert reader.text("#sentence") == sentence(steps[i])
    assert reader.evaluate("state.zoom") == 0.8  # so that it can be read
    assert reader.visit.complaints == []
