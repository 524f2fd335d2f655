"""The page of steps: it holds the log and nothing else, it fits its limits and says what it leaves
out, and no text of the user's is more than text. How it behaves is tested in `tests/browser`."""

import base64
import hashlib
import itertools
import json
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad
import viz
from attention import scaled_dot_product_attention
from minigrad import BackwardSteps, Tensor, scope, step_backward, trace
from minigrad.stepper import terminal
from minigrad.stepper.wording import judged, noticed, sentence
from tests.helpers import Array, leaf, next_line
from tests.viz.support import HOSTILE, normal, upstream, without_engines
from viz import DrawingError, stepping
from viz.step_words import WORDS_OF_PAGE
from viz.stepping import pooled, step_frame, step_page

LANGUAGES = ["en", "zh"]


class Read(HTMLParser):
    """A page as a browser reads it: its elements, its texts, and the data that it carries."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.insides: dict[str, list[str]] = {"script": [], "style": [], "title": [], "li": []}
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self._inside = tag
        if tag in self.insides:
            self.insides[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in self.insides:
            self.insides[self._inside][-1] += data
        if self._inside not in ("script", "style"):
            self.texts.append(data)

    @property
    def data(self) -> Any:
        carried, _ = self.insides["script"]
        return json.loads(carried)

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def attention(scale: float | None = None, *, check: bool = False, keep: Any = "all") -> Any:
    Q, K, V = (leaf(normal(3, 4, seed=i), name=name) for i, name in enumerate("QKV"))
    with trace(), scope("head"):
        out, _ = scaled_dot_product_attention(Q, K, V, scale=scale)
    return step_backward(out, upstream(out), check=check, keep=keep)


def everything() -> BackwardSteps:
    """A log with each kind of event, with notes, verdicts, constants and numbers."""
    x, b = leaf(normal(2, 3), name="x"), leaf(normal(3), name="b")
    with trace():
        h = minigrad.relu(x * 2 + b) + Tensor(normal(2, 3, seed=2), name="c")
        out = minigrad.softmax(h * 1e3) * x
    return step_backward(out, upstream(out), check=True)


def entries(array: dict[str, Any]) -> Array:
    shape = array.get("cells", array["shape"])
    return np.frombuffer(base64.b64decode(array["data"]), "<f8").reshape(shape)


def left_out(page: str) -> list[str]:
    return [text.strip() for text in Read(page).insides["li"]]


def expected(language: str, what: str, count: int) -> str:
    text: str = WORDS_OF_PAGE[language]["left out"][what].format(count)
    return text


# ------------------------------------------------------------------------------ what the page holds


@pytest.mark.parametrize("make", [attention, everything], ids=lambda make: make.__name__)
def test_the_log_on_a_page_is_the_log(make: Callable[[], BackwardSteps]) -> None:
    steps = make()
    (log,) = Read(step_page(steps)).data["logs"]
    written = json.loads(steps.to_json())
    for array, original in zip(log["arrays"], written["arrays"], strict=True):
        assert (array["shape"], array["dtype"]) == (original["shape"], original["dtype"])
        assert array["summary"] == original["summary"]
        bits = base64.b64decode(original["data"])
        exact = np.frombuffer(bits, original["dtype"]).reshape(original["shape"])
        np.testing.assert_array_equal(entries(array), exact)
    for node in written["nodes"]:
        node["file"] = node["file"] and Path(node["file"]).name
    for part in ("events", "nodes", "root", "version"):
        assert log[part] == written[part]
    assert [*log["sources"].values()] == [*written["sources"].values()]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numbers_of_every_dtype_arrive_as_they_are(dtype: str) -> None:
    odd = np.array([0.1, -0.0, 1e-7, 30000.0, np.nan, np.inf, -np.inf], dtype)
    with trace():
        y = leaf(odd, name="x") * 2
    (log,) = Read(step_page(step_backward(y, np.ones(7, dtype)))).data["logs"]
    (x,) = [node for node in log["nodes"] if node["name"] == "x"]
    here = entries(log["arrays"][x["value"]])
    assert here.tobytes() == odd.astype(float).tobytes()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("make", [attention, everything], ids=lambda make: make.__name__)
def test_page_terminal_and_transcript_say_the_same(
    make: Callable[[], BackwardSteps], language: str
) -> None:
    steps = make()
    data = Read(step_page(steps, language=language)).data
    lines = steps.transcript(language).splitlines()[1:]
    spoken: list[tuple[str, list[str]]] = []
    for line in lines:
        if "  · " in line and not re.match(r" *\d+  ", line):
            spoken[-1][1].append(line.split("  · ", 1)[1])
        else:
            said = re.sub(r"^ *\d+  +", "", line)
            spoken.append((re.sub(r"  \[[^\[]*:\d+\]$", "", said), []))
    assert data["sentences"] == [said for said, _ in spoken]
    here = [
        [*notes, *([verdict] if verdict else [])]
        for notes, verdict in zip(data["notes"][0], data["verdicts"][0], strict=True)
    ]
    assert here == [remarks for _, remarks in spoken]
    assert any(here)
    for event, said in zip(steps, data["sentences"], strict=True):
        assert said == sentence(event, language)
        assert said in terminal.stop(event, steps, language)


def test_of_two_logs_each_has_its_notes_and_verdicts() -> None:
    one, other = attention(40.0, check=True), attention()
    data = Read(step_page(one, compare=other, labels=("a", "b"))).data
    assert data["labels"] == ["a", "b"]
    assert len(data["logs"]) == 2
    assert data["notes"] == [[noticed(event) for event in log] for log in (one, other)]
    assert data["verdicts"] == [[judged(event) for event in log] for log in (one, other)]
    assert data["notes"][0] != data["notes"][1]
    alone = Read(step_page(one)).data
    assert alone["labels"] == ["this log"]


def test_a_log_from_json_makes_the_same_page() -> None:
    steps = everything()
    assert step_page(BackwardSteps.from_json(steps.to_json())) == step_page(steps)


def test_a_page_is_the_same_each_time() -> None:
    assert step_page(attention()) == step_page(attention())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_says_in_which_language_it_is(language: str) -> None:
    page = step_page(attention(), language=language)
    read = Read(page)
    assert read.named("html") == [{"lang": {"en": "en", "zh": "zh-Hans"}[language]}]
    assert read.insides["title"][0] == WORDS_OF_PAGE[language]["title"].format("context")
    assert read.data["words"] == WORDS_OF_PAGE[language]["script"]
    has_chinese = [name for name, value in _spoken(page) if re.search("[一-鿿]", value)]
    assert bool(has_chinese) == (language == "zh")


def _spoken(page: str) -> Iterator[tuple[str, str]]:
    for tag, attributes in Read(page).elements:
        for name in ("title", "aria-label", "xlink:title"):
            if name in attributes:
                yield f"{tag} {name}", attributes[name]


def test_both_languages_have_the_same_words() -> None:
    def outline(words: Any) -> Any:
        if isinstance(words, str):
            return sorted(re.findall(r"\{\d?\}", words))
        if isinstance(words, dict):
            return {name: outline(part) for name, part in words.items()}
        return len(words)

    assert outline(WORDS_OF_PAGE["en"]) == outline(WORDS_OF_PAGE["zh"])


def test_every_word_that_the_script_has_is_used() -> None:
    """A word that nothing says is one that was forgotten, or one too many."""
    script = stepping._part("rules.js") + stepping._part("step.js")
    used = set(re.findall(r'words\.(\w+)|words\["([\w ]+)"\]', script))
    used_names = {first or second for first, second in used}
    assert set(WORDS_OF_PAGE["en"]["script"]) - used_names == set()
    assert used_names - set(WORDS_OF_PAGE["en"]["script"]) == set()


def test_another_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="language is one of en, zh; it is 'fr'"):
        step_page(attention(), tmp_path / "page.html", language="fr")
    assert [*tmp_path.iterdir()] == []


def test_what_was_not_kept_is_not_on_the_page() -> None:
    x = leaf(normal(2, 3), name="x")
    steps = step_backward((x * x).sum())
    (log,) = Read(step_page(steps)).data["logs"]
    assert [node["value"] is None for node in log["nodes"]] == [False, True, False]
    assert log["sources"] == {}
    assert [node["file"] for node in log["nodes"]] == [None] * 3


# -------------------------------------------------------------------------------- safe and offline


def test_a_page_allows_no_request_and_no_script_but_its_own() -> None:
    read = Read(step_page(attention(), compare=attention(1.0)))
    (policy,) = [m["content"] for m in read.named("meta") if "http-equiv" in m]
    _, script = read.insides["script"]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest}'",
        "style-src": "'unsafe-inline'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def assert_offline(read: Read) -> None:
    for tag, attributes in read.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "video", "audio")
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "srcset", "href", "xlink:href", "action", "formaction")
            is_name = name.startswith("xmlns")
            assert is_name or not re.search("https?:|//", value) or "title" in name, (tag, name)
            assert all(inside.startswith("#") for inside in re.findall(r"url\((.*?)\)", value))
    for style in read.insides["style"]:
        assert re.findall(r"url\((?!#)|@import|https?:", style) == []


def test_a_page_reaches_for_nothing() -> None:
    read = Read(step_page(everything(), compare=everything(), language="zh"))
    assert_offline(read)
    assert [*map(sorted, read.named("script"))] == [["id", "type"], []]
    script = read.insides["script"][1]
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}
    assert set(re.findall(r"https?://[^\"']*", script)) == names  # names of namespaces
    assert not re.search(r"fetch|XMLHttp|import\(|innerHTML|eval\(|outerHTML|insertAdj", script)
    assert not re.search(r"document\.write|Function\(|localStorage|cookie", script)


EVIL = [
    *HOSTILE,
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "</script x",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>'",
    "{{ 7 * 7 }}{% raw %}{# no #}",
    "a\u2028b\u2029c",
    "{0} {} {target} %s",
]


def evil(text: str, tmp_path: Path) -> BackwardSteps:
    """A log with this text in every place that a user can fill, source lines and all."""
    name = "".join(["_" if c in "/\x00\ud800" else c for c in text])[:60] + ".py"
    file = str(tmp_path / name)
    line = f"y = x * 2 + x  # {text}"
    linecache.cache[file] = (1, None, [f"{line}\n"], file)
    variables: dict[str, Any] = {"x": leaf([1.0, 2.0], name=text)}
    try:
        with trace(), scope(text):
            exec(compile("y = x * 2 + x", file, "exec"), variables)
        return step_backward(variables["y"], np.ones(2))
    finally:
        del linecache.cache[file]


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page like that of `evil`, with a text that nobody could mind."""
    steps = evil("harmless", tmp_path_factory.mktemp("harmless"))
    return step_page(steps, compare=steps, labels=("a", "b"), title="harmless")


def tags(page: str) -> list[tuple[str, list[str]]]:
    return [(tag, sorted(attributes)) for tag, attributes in Read(page).elements]


@pytest.mark.parametrize("text", EVIL)
def test_text_of_the_user_s_is_only_text(text: str, harmless: str, tmp_path: Path) -> None:
    steps = evil(text, tmp_path)
    page = step_page(steps, compare=steps, labels=(text, text), title=text)
    assert tags(page) == tags(harmless)
    read = Read(page)
    assert_offline(read)
    assert not set("<>&\u2028\u2029") & set(read.insides["script"][0])
    assert read.insides["script"][1] == Read(harmless).insides["script"][1]
    assert read.insides["title"][0] == minigrad.notation.visible(text)
    (x,) = [node for node in read.data["logs"][0]["nodes"] if not node["op"]]
    assert x["name"] == text


def test_a_page_with_a_lone_surrogate_can_be_written(tmp_path: Path) -> None:
    """Half of a pair of surrogates is no text that UTF-8 has."""
    text = "\ud800"
    steps, file = evil(text, tmp_path), tmp_path / "page.html"
    step_page(steps, file, compare=steps, labels=(text, "b"), title=text)
    assert Read(file.read_text("utf-8")).data["labels"][1] == "b"


CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("place", ["title", "labels", "sources", "label", "file", "notes", "words"])
def test_nothing_that_is_read_steers_the_reader_s_eye(place: str, tmp_path: Path) -> None:
    """A line with a RIGHT-TO-LEFT OVERRIDE reads as another one than Python has run."""
    text = "if admin: \u202e\u2066# rats\u2069 \x1b[31m\x85"
    steps = evil(text, tmp_path)
    data = Read(page := step_page(steps, compare=steps, labels=(text, text), title=text)).data
    log = data["logs"][0]
    said = {
        "title": Read(page).texts,
        "labels": data["labels"],
        "sources": [line for lines in log["sources"].values() for line in lines.values()],
        "label": [node["label"] for node in log["nodes"]],
        "file": [node["file"] or "" for node in log["nodes"]],
        "notes": [*itertools.chain(*itertools.chain(*data["notes"]))],
        "words": data["sentences"],
    }
    assert [text for text in said[place] if CONTROLS.search(text)] == []


# ------------------------------------------------------------------------------------------- files


def run(file: Path, code: str, **variables: Any) -> dict[str, Any]:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(code, encoding="utf-8")
    linecache.checkcache(str(file))
    exec(compile(code, str(file), "exec"), variables)
    return variables


def test_of_a_file_only_the_name_is_told(tmp_path: Path) -> None:
    x = leaf([1.0, 2.0], name="x")
    with trace():
        y = run(tmp_path / "private folder" / "lesson.py", "y = (x * x).sum()\n", x=x)["y"]
    steps = step_backward(y)
    page = step_page(steps)
    (log,) = Read(page).data["logs"]
    assert log["sources"] == {"lesson.py": {"1": "y = (x * x).sum()"}}
    assert {node["file"] for node in log["nodes"]} == {None, "lesson.py"}
    assert "private folder" in steps.to_json()
    assert "private folder" not in page
    assert str(tmp_path) not in page
    assert str(Path(viz.__file__).parent) not in page
    assert sys.prefix not in page


def test_files_of_the_same_name_keep_their_own_lines(tmp_path: Path) -> None:
    """Each box shows the line that made it, and not the same line of another file."""
    x = leaf([1.0, 2.0], name="x")
    with trace():
        y = run(tmp_path / "a" / "model.py", "# first\ny = x * x\n", x=x)["y"]
        z = run(tmp_path / "b" / "model.py", "# second\nz = y + y\n", y=y)["z"]
    (log,) = Read(step_page(step_backward(z, np.ones(2)))).data["logs"]
    lines = {
        node["op"]: log["sources"][node["file"]][str(node["line"])]
        for node in log["nodes"]
        if node["op"]
    }
    assert lines == {"multiply": "y = x * x", "add": "z = y + y"}


def test_a_page_is_written_as_it_is_returned(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "步骤.html"
    page = step_page(attention(), file, language="zh")
    assert file.read_bytes() == page.encode()
    assert [*file.parent.iterdir()] == [file]
    assert step_page(attention(), str(file), language="en") != page
    assert file.read_text("utf-8").startswith('<!DOCTYPE html>\n<html lang="en">')


def test_where_a_page_cannot_be_written_all_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a file").write_text("kept")
    for place in ("a folder", "a file/page.html"):
        with pytest.raises(DrawingError, match=r"cannot be written: .*Choose another place\."):
            step_page(attention(), tmp_path / place)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a file", "a folder"]
    assert (tmp_path / "a file").read_text() == "kept"


def test_what_is_refused_leaves_the_older_page(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    page = step_page(attention(), file)
    with pytest.raises(ValueError, match="part at event"):
        step_page(attention(), file, compare=everything())
    assert file.read_text("utf-8") == page


# ----------------------------------------------------------------------------------------- pooling


def largest(block: Array) -> float:
    """The entry of largest magnitude, NaN before all: one after another, by nothing but <."""
    best = block.flat[0]
    for x in block.flat:
        if np.isnan(x) or (not np.isnan(best) and abs(x) > abs(best)):
            best = x
    return float(best)


def by_hand(array: Array, most: int) -> tuple[Array, tuple[int, int]]:
    matrix = array if array.ndim > 1 else array[None]
    rows, columns = matrix.shape[-2:]
    height, width = -(-rows // most), -(-columns // most)
    lead = matrix.reshape(-1, rows, columns)
    found = [
        [
            [largest(one[r : r + height, c : c + width]) for c in range(0, columns, width)]
            for r in range(0, rows, height)
        ]
        for one in lead
    ]
    shape = (*matrix.shape[:-2], -(-rows // height), -(-columns // width))
    return np.reshape(found, shape if array.ndim > 1 else shape[1:]), (height, width)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    shape=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    most=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
    odd=st.booleans(),
)
def test_a_block_shows_its_largest_entry(shape: list[int], most: int, seed: int, odd: bool) -> None:
    rng = np.random.default_rng(seed)
    array = rng.normal(size=shape)
    if odd:
        special = rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 1e308, -5e-324], size=shape)
        array = np.where(rng.random(shape) < 0.4, special, array)
    got, block = pooled(array, most)
    wanted, size = by_hand(array, most)
    assert block == size
    assert got.shape == wanted.shape
    assert max(got.shape[-2:]) <= most
    np.testing.assert_array_equal(np.abs(got), np.abs(wanted))  # ties have either sign
    assert np.isin(got, [*array.flat, np.nan]).all() or np.isnan(got).any()


def test_of_a_block_with_infinities_the_sign_is_told() -> None:
    array = np.array([[1.0, -np.inf, 2.0, 0.0], [np.inf, -np.inf, np.nan, -1e308]])
    got, block = pooled(array, 2)
    assert block == (1, 2)
    assert repr(got.tolist()) == "[[-inf, 2.0], [inf, nan]]"
    assert pooled(np.array([[-0.0, -0.0], [-0.0, 5e-324]]), 1)[0].tolist() == [[5e-324]]
    assert str(pooled(np.full((2, 2), -0.0), 1)[0][0, 0]) == "-0.0"


def test_the_last_blocks_are_not_made_of_zeros_beyond_the_edge() -> None:
    """An exact zero is told from a tiny number, so none may come in from outside."""
    got, block = pooled(np.full((33, 65), -1e-300))
    assert (got.shape, block) == ((17, 22), (2, 3))
    assert (got == -1e-300).all()
    negative_zero, _ = pooled(np.full((1, 33), -0.0))
    assert np.signbit(negative_zero).all()


@pytest.mark.parametrize("shape", [(), (0,), (32,), (32, 32), (5, 32, 32), (100, 32, 32), (7, 0)])
def test_what_fits_is_shown_whole(shape: tuple[int, ...]) -> None:
    array = normal(*shape)
    got, block = pooled(array)
    assert block == (1, 1)
    assert got is array


def test_large_arrays_are_on_the_page_in_blocks() -> None:
    a, b = leaf(normal(40, 33), name="a"), leaf(normal(32, 32), name="b")
    with trace():
        y = (minigrad.tanh(a).sum() + b.sum()) * 2
    steps = step_backward(y)
    page = step_page(steps)
    data = Read(page).data["logs"][0]
    arrays = [array for array in data["arrays"] if array["shape"] == [40, 33]]
    assert arrays
    for array in arrays:
        assert (array["block"], array["cells"]) == ([2, 2], [20, 17])
        assert entries(array).shape == (20, 17)
    (node,) = [node for node in data["nodes"] if node["label"] == "a"]
    wanted, _ = by_hand(normal(40, 33), 32)
    np.testing.assert_array_equal(entries(data["arrays"][node["value"]]), wanted)
    whole = [array for array in data["arrays"] if array["shape"] == [32, 32]]
    assert whole
    assert not any("block" in array for array in whole)
    assert left_out(page) == [expected("en", "pooled", len(arrays))]


# ------------------------------------------------------------------------------------------ limits


@pytest.mark.parametrize("language", LANGUAGES)
def test_summaries_are_said_to_be_summaries(language: str) -> None:
    steps = attention(keep="summary")
    page = step_page(steps, language=language)
    (log,) = Read(page).data["logs"]
    assert not any("data" in array for array in log["arrays"])
    assert left_out(page) == [expected(language, "summaries", len(log["arrays"]))]


def test_nothing_is_said_to_be_left_out_where_nothing_is() -> None:
    assert left_out(step_page(attention())) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_too_many_entries_the_largest_arrays_are_left_out(
    monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    steps = everything()
    (whole,) = Read(step_page(steps)).data["logs"]
    sizes = [len(array["data"]) for array in whole["arrays"]]
    total = sum(sizes)
    monkeypatch.setattr(stepping, "MOST_BYTES", total)
    assert left_out(step_page(steps)) == []
    monkeypatch.setattr(stepping, "MOST_BYTES", total - 1)
    page = step_page(steps, language=language)
    (log,) = Read(page).data["logs"]
    (left,) = [i for i, array in enumerate(log["arrays"]) if "left" in array]
    assert sizes[left] == max(sizes)
    assert "data" not in log["arrays"][left]
    assert log["arrays"][left]["summary"] == whole["arrays"][left]["summary"]
    assert left_out(page) == [expected(language, "entries", 1)]
    monkeypatch.setattr(stepping, "MOST_BYTES", 0)
    page = step_page(steps)
    (log,) = Read(page).data["logs"]
    assert all(array["left"] for array in log["arrays"] if array["summary"][0])
    assert len(page) < len(step_page(attention())) + 60_000


def test_the_limit_counts_both_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = attention()
    (whole,) = Read(step_page(steps)).data["logs"]
    total = sum(len(array["data"]) for array in whole["arrays"])
    monkeypatch.setattr(stepping, "MOST_BYTES", 2 * total - 1)
    assert left_out(step_page(steps, compare=steps)) == [expected("en", "entries", 1)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_boxes_that_are_left_out_are_counted(
    monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setattr(viz.step_graph, "MOST_BOXES", 4)
    steps = attention()
    page = step_page(steps, language=language)
    assert len(steps.nodes) == 8
    assert left_out(page) == [expected(language, "boxes", 4)]
    assert len(Read(page).data["logs"][0]["nodes"]) == 8


def test_a_log_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    steps = attention()
    monkeypatch.setattr(stepping, "MOST_EVENTS", len(steps))
    step_page(steps)
    monkeypatch.setattr(stepping, "MOST_EVENTS", len(steps) - 1)
    with pytest.raises(ValueError, match=rf"holds {len(steps) - 1} events.*has {len(steps)}: step"):
        step_page(steps, tmp_path / "page.html")
    assert [*tmp_path.iterdir()] == []


# ----------------------------------------------------------------------------------------- compare


def chain(*ops: Callable[[Tensor], Tensor], shape: tuple[int, ...] = (2, 3)) -> BackwardSteps:
    x = leaf(normal(*shape), name="x")
    with trace():
        for op in ops:
            x = op(x)
    return step_backward(x, upstream(x))


def test_logs_of_different_ops_part_where_they_differ() -> None:
    one = chain(minigrad.tanh, minigrad.exp)
    other = chain(minigrad.sigmoid, minigrad.exp)
    with pytest.raises(ValueError, match=r"part at event 4: op 'tanh' and 'sigmoid'\. Two logs"):
        step_page(one, compare=other)


def test_logs_of_different_kinds_of_events_part_where_they_differ() -> None:
    one, other = chain(minigrad.tanh, minigrad.tanh), chain(minigrad.tanh)
    with pytest.raises(ValueError, match="part at event 0: tensor"):
        step_page(one, compare=other)


def test_logs_of_different_shapes_part_where_they_differ() -> None:
    with pytest.raises(ValueError, match=r"part at event 0: shape \(2, 3\) and \(4,\)"):
        step_page(chain(minigrad.tanh), compare=chain(minigrad.tanh, shape=(4,)))


def test_logs_of_different_inputs_part_where_they_differ() -> None:
    x, c = leaf(normal(2), name="x"), Tensor(normal(2))
    logs = [step_backward(y, np.ones(2)) for y in (x - c, c - x)]
    with pytest.raises(ValueError, match="part at event 2: position 0 and 1"):
        step_page(logs[0], compare=logs[1])


def test_logs_of_different_lengths_are_refused() -> None:
    """A log ends early where the check has found a rule that is wrong."""
    one = attention()
    short = BackwardSteps([*one.nodes.values()], one[:-1], root=one.root, sources=one.sources)
    for pair in ((one, short), (short, one)):
        counts = f"one log has {len(pair[0])} events, the other {len(pair[1])}"
        with pytest.raises(ValueError, match=counts):
            step_page(pair[0], compare=pair[1])


def test_logs_whose_tensors_are_not_the_same_are_refused() -> None:
    """The same ops and shapes, but what is b in the one is a in the other."""

    def log(order: str) -> BackwardSteps:
        made = {name: leaf(normal(2), name=name) for name in order}
        with trace():
            y = made["a"] * made["b"]
        return step_backward(y, np.ones(2))

    one, other = log("ab"), log("ba")
    keys = [{node.label: key for key, node in steps.nodes.items()} for steps in (one, other)]
    assert keys[0] != keys[1]
    with pytest.raises(ValueError, match="Two logs can be compared if the same code made them"):
        step_page(one, compare=other)


# ------------------------------------------------------------------------------------- in notebooks


def framed(markup: str) -> tuple[dict[str, str], str]:
    (frame,) = Read(markup).elements
    assert frame[0] == "iframe"
    return frame[1], frame[1].pop("srcdoc")


def test_in_a_notebook_the_page_is_in_a_sandbox() -> None:
    steps = attention()
    markup = steps._repr_html_()
    assert markup is not None
    attributes, page = framed(markup)
    assert page == step_page(steps)
    assert attributes["sandbox"] == "allow-scripts"
    assert attributes["title"] == repr(steps)
    assert framed(step_frame(steps, "zh"))[1] == step_page(steps, language="zh")


@pytest.mark.parametrize("text", EVIL[::4])
def test_in_a_notebook_no_text_leaves_the_frame(text: str, tmp_path: Path) -> None:
    steps = evil(text, tmp_path)
    _, page = framed(step_frame(steps))
    assert page == step_page(steps).replace("\r", "\n")


def test_without_a_layout_engine_one_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    steps = attention()
    without_engines(monkeypatch, tmp_path)
    with pytest.raises(DrawingError, match="pip install graphviz-pure"):
        step_page(steps, tmp_path / "page.html")
    assert [*tmp_path.iterdir()] == []
    assert steps._repr_html_() is None


# ------------------------------------------------------------------------------------ odd logs


def test_a_root_that_is_a_leaf_has_a_page() -> None:
    steps = step_backward(leaf([1.0, 2.0], name="x"), np.array([3.0, 4.0]))
    data = Read(step_page(steps)).data
    assert [event["kind"] for event in data["logs"][0]["events"]] == ["seed", "done"]


def test_arrays_without_entries_and_numbers_have_a_page() -> None:
    with trace():
        y = (leaf(np.zeros((0, 3)), name="none") * 2).sum() + leaf(3.0, name="x")
    (log,) = Read(step_page(step_backward(y))).data["logs"]
    assert {tuple(array["shape"]) for array in log["arrays"]} == {(0, 3), ()}
    assert any(entries(array).shape == (0, 3) for array in log["arrays"])


def test_the_line_that_made_a_tensor_is_on_the_page() -> None:
    with trace():
        line = next_line()
        y = leaf([1.0], name="x") * 3
    (log,) = Read(step_page(step_backward(y))).data["logs"]
    (node,) = [node for node in log["nodes"] if node["op"]]
    assert (node["file"], node["line"]) == (Path(__file__).name, line)
    assert log["sources"][node["file"]][str(line)] == '        y = leaf([1.0], name="x") * 3'
