"""Tensors in notebooks: what a heat map shows, read back from its SVG, and that it is safe."""

import re
import subprocess
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from minigrad import Tensor
from tests.helpers import Array, leaf
from viz import colours, heatmap
from viz.colours import DARK, LIGHT
from viz.heatmap import heatmap_html

ROOT = Path(__file__).parents[2]
HOSTILE = "</code></div><script>alert(1)</script><img src=x onerror=alert(2)>\"' $\\href{x}{y}$"
NAN, INF = np.nan, np.inf


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


# -------------------------------------------------------------------------- reading a picture back


@dataclass
class Cell:
    """A cell as a reader meets it: its place, its colour, and what stands on it."""

    box: tuple[float, float, float, float]  # left, top, right, bottom
    kind: str
    fill: str
    opacity: float
    title: str
    marks: Counter[str] = field(default_factory=Counter)  # hatching, lines, texts
    text: str = ""
    ink: str = ""


class Picture:
    """One SVG: cells by their text on hover, and the labels of rows and columns."""

    def __init__(self, svg: ElementTree.Element) -> None:
        self.svg = svg
        self.cells = [
            self._cell(group, path)
            for group in svg.findall("g[@data-kind]")
            for path in group.findall("path")
        ]
        self.corners = {cell.box[:2]: cell for cell in self.cells}
        assert len(self.corners) == len(self.cells)
        self.ticks = [node.text for node in svg.findall(".//g[@data-ticks]/text")]
        for path in svg.findall("g[@pointer-events]/path"):
            self._mark(path)
        for group in svg.findall("g/g[@data-ink]"):
            self._write(group)

    @staticmethod
    def _cell(group: ElementTree.Element, path: ElementTree.Element) -> Cell:
        numbers = re.fullmatch(r"M(\d+) (\d+)h(\d+)v(\d+)h-(\d+)z", path.attrib["d"])
        assert numbers
        x, y, width, height, back = (float(number) for number in numbers.groups())
        assert back == width
        box = (x, y, x + width, y + height)
        opacity = float(path.get("fill-opacity", 1))
        title = path.findtext("title") or ""
        return Cell(box, group.attrib["data-kind"], group.attrib["data-fill"], opacity, title)

    def at(self, x: float, y: float) -> Cell:
        left, top, right, bottom = self.cells[0].box
        return self.corners[x - (x - left) % (right - left), y - (y - top) % (bottom - top)]

    def _mark(self, path: ElementTree.Element) -> None:
        for x, y, rest in re.findall(r"M([\d.]+) ([\d.]+)([^M]*)", path.attrib["d"]):
            right, down = 1.0, 1.0  # a point of the line that is not on the border of a cell
            if "data-hatching" in path.attrib:
                right, down = (float(number) / 2 for number in rest[1:].split())
                assert right == -down
                mark = "hatching"
            else:
                mark = "frame" if "z" in rest else {"h": "dash", "l": "cross"}[rest[0]]
            cell = self.at(float(x) + right, float(y) + down)
            cell.marks[mark] += 1
            cell.ink = path.get("data-ink", cell.ink)

    def _write(self, group: ElementTree.Element) -> None:
        for text in group.findall("text"):
            cell = self.at(float(text.attrib["x"]), float(text.attrib["y"]) - 3)
            left, _, right, _ = cell.box
            assert float(text.attrib["x"]) == (left + right) / 2
            assert not cell.text
            cell.text, cell.ink = text.text or "", group.attrib["data-ink"]

    def __getitem__(self, title: str) -> Cell:
        (cell,) = [cell for cell in self.cells if cell.title.split(" =")[0] == title]
        return cell


class Part:
    """The values or the gradient: maps, the key, and what is said below."""

    def __init__(self, element: ElementTree.Element) -> None:
        self.maps = [Picture(svg) for svg in element.findall(".//div[@data-map]/svg")]
        self.labels = [node.text for node in element.findall(".//div[@data-map]/div")]
        self.words = [div.text for div in element.findall("div") if "data-row" not in div.attrib]
        self.key: dict[str, Cell] = {}
        self.scale: list[str | None] = []
        for span in element.findall("div[@data-row='key']/span"):
            swatch, words = Picture(span[0]), (span[0].tail or "").strip()
            if "data-scale" in span.attrib:
                self.bar, self.bar_words = swatch.cells, words
                self.scale = [text.text for text in span.findall(".//g[@data-fill='ink']/text")]
            else:
                (self.key[words],) = swatch.cells

    @property
    def cells(self) -> list[Cell]:
        return [cell for picture in self.maps for cell in picture.cells]


class Output:
    """All that `heatmap_html` wrote, which has to be well-formed."""

    def __init__(self, html: str) -> None:
        self.html = html
        self.root = ElementTree.fromstring(html)
        self.caption = "".join(self.root.findall("div/code")[0].itertext())
        self.parts = {
            element.attrib["data-part"]: Part(element)
            for element in self.root.findall(".//div[@data-part]")
        }


def show(values: Any, **options: Any) -> Output:
    return Output(heatmap_html(values, **options))


def part(values: Any, **options: Any) -> Part:
    return show(values, **options).parts["values"]


def picture(values: Any, **options: Any) -> Picture:
    (only,) = part(values, **options).maps
    return only


# ----------------------------------------------------------------------------- what a cell shows


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, np.uint64, bool])
def test_hovering_tells_the_index_and_the_exact_number(dtype: Any) -> None:
    array = (40 * normal(5, 7)).astype(np.int64).astype(dtype)
    array = (array * normal(5, 7)).astype(dtype) if array.dtype.kind == "f" else array
    titles = [cell.title for cell in part(array).cells]
    assert sorted(titles) == sorted(f"[{i}, {j}] = {x}" for (i, j), x in np.ndenumerate(array))
    if array.dtype.kind == "f":
        read = dict(title.split(" = ") for title in titles)
        assert all(dtype(read[f"[{i}, {j}]"]) == x for (i, j), x in np.ndenumerate(array))


@pytest.mark.parametrize("shape", [(5, 7), (23, 19)])
def test_rows_go_down_and_columns_to_the_right(shape: tuple[int, int]) -> None:
    shown = picture(normal(*shape))
    left, top, right, bottom = shown["[0, 0]"].box
    for i, j in np.ndindex(shape):
        moved = (j * (right - left), i * (bottom - top))
        expected = tuple(a + b for a, b in zip(shown["[0, 0]"].box, moved * 2, strict=True))
        assert shown[f"[{i}, {j}]"].box == expected
    view = [float(number) for number in shown.svg.attrib["viewBox"].split()]
    assert shown[f"[{shape[0] - 1}, {shape[1] - 1}]"].box[2:] == tuple(view[2:])


@pytest.mark.parametrize("shape", [(3, 5), (17, 23)])
def test_a_colour_is_the_sign_and_its_strength_the_share_of_the_largest_magnitude(
    shape: tuple[int, int],
) -> None:
    array = normal(*shape)
    shown = picture(array)
    for (i, j), x in np.ndenumerate(array):
        cell = shown[f"[{i}, {j}]"]
        assert cell.kind == cell.fill == ("positive" if x > 0 else "negative")
        assert cell.opacity == pytest.approx(abs(x) / np.abs(array).max(), abs=6e-4)
    assert max(cell.opacity for cell in shown.cells) == 1


def test_a_cell_over_the_colour_of_zero_is_the_diverging_scale_in_both_themes() -> None:
    array = np.linspace(-1, 1, 31).reshape(1, 31)
    shown = picture(array)
    (backdrop,) = shown.svg.findall("rect")
    assert backdrop.attrib["data-fill"] == "zero"
    for theme in (LIGHT, DARK):
        for x, cell in zip(array[0], sorted(shown.cells, key=lambda cell: cell.box), strict=True):
            painted = colours.mixed(cell.opacity, theme["zero"], theme[cell.fill])
            expected = colours.diverging(x, theme)
            difference = np.array([*bytes.fromhex(painted[1:])], int) - [
                *bytes.fromhex(expected[1:])
            ]
            assert abs(difference).max() <= 1


def test_the_backdrop_lies_below_all_cells() -> None:
    shown = picture(normal(3, 5))
    (backdrop,) = shown.svg.findall("rect")
    assert shown.svg[0] is backdrop
    x, y, width, height = (float(backdrop.attrib[k]) for k in ("x", "y", "width", "height"))
    assert (x, y, x + width, y + height) == (
        *shown["[0, 0]"].box[:2],
        *shown["[2, 4]"].box[2:],
    )


@pytest.mark.parametrize("array", [np.array([[1.0, 2.0, 3.5]]), np.array([[-1.0, -3.5]])])
def test_the_scale_is_centred_on_0_whatever_the_signs_are(array: Array) -> None:
    shown = part(array)
    assert shown.scale == ["−3.5", "0", "3.5"]
    signs = {"positive": 1, "negative": -1}
    assert [signs[cell.kind] * cell.opacity for cell in shown.bar] == pytest.approx(
        [-1, -0.8, -0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6, 0.8, 1]
    )
    assert [cell.marks["dash"] for cell in shown.bar] == [1] * 5 + [0] * 6


def test_the_largest_finite_magnitude_makes_the_scale() -> None:
    shown = part([[1.0, -4.0, NAN], [INF, -INF, 2.0]])
    assert shown.scale == ["−4", "0", "4"]
    assert shown.maps[0]["[1, 2]"].opacity == 0.5


@pytest.mark.parametrize("shape", [(3, 5), (17, 23)])
def test_exact_zeros_and_nothing_else_are_hatched(shape: tuple[int, int]) -> None:
    array = normal(*shape)
    array[1] = 0.0
    array[2, 3] = -0.0
    array[0, :3] = 1e-300, -5e-324, 1e-12
    shown = picture(array)
    for (i, j), x in np.ndenumerate(array):
        cell = shown[f"[{i}, {j}]"]
        assert (cell.kind == "zero") == (x == 0)
        assert (cell.marks["hatching"] >= 3) == (x == 0)
        assert (cell.marks["hatching"] == 0) == (x != 0)
    assert {cell.opacity for cell in shown.cells if cell.kind == "zero"} == {1}


def test_hatching_goes_on_from_cell_to_cell() -> None:
    """Where two lines meet at a border, they meet in one point."""
    array = np.zeros((3, 5))
    (path,) = picture(array).svg.findall("g/path[@data-hatching]")
    starts = re.findall(r"M(\d+) (\d+)l-(\d+)", path.attrib["d"])
    left, top, right, _ = picture(array)["[0, 0]"].box
    sums = {int(x) + int(y) for x, y, _ in starts}
    assert {total % 8 for total in sums} == {(left + top) % 8}
    assert (right - left) % 8 == 0


def test_how_many_entries_are_zero_is_told() -> None:
    array = normal(5, 7)
    array[2] = 0
    array[0, 0] = -0.0
    key = part(array).key
    assert list(key) == ["exactly 0: 8"]
    assert key["exactly 0: 8"].marks["hatching"] > 0


def test_a_very_small_number_is_told_apart_from_0() -> None:
    array = np.full((17, 19), 1.0)
    array[0, :4] = 1e-12, -3e-9, 0.0, 0.5
    shown = part(array)
    small, negative, zero = (shown.maps[0][f"[0, {j}]"] for j in range(3))
    assert (small.opacity, small.kind, small.marks.total()) == (0, "positive", 0)
    assert (negative.kind, negative.marks["dash"]) == ("negative", 1)
    assert (zero.kind, zero.marks["dash"]) == ("zero", 0)
    assert list(shown.key) == ["exactly 0: 1", "pale, but not 0: down to 1e-12"]


def test_negative_cells_carry_a_dash_where_no_number_does() -> None:
    array = normal(17, 23)
    for cell in picture(array).cells:
        assert cell.marks["dash"] == (cell.kind == "negative")
        assert not cell.text
    for cell in picture(array[:3, :5]).cells:
        assert cell.marks["dash"] == 0
        assert cell.text.startswith("−") == (cell.kind == "negative")


@pytest.mark.parametrize("shape", [(3, 5), (17, 23)])
def test_what_is_not_finite_is_marked_by_text_or_texture_and_counted(
    shape: tuple[int, int],
) -> None:
    array = normal(*shape)
    array[0, 1] = array[2, 3] = array[2, 4] = NAN
    array[1, 2] = array[0, 4] = INF
    array[2, 0] = -INF
    shown = part(array)
    numbered = shape == (3, 5)
    for (i, j), x in np.ndenumerate(array):
        cell = shown.maps[0][f"[{i}, {j}]"]
        assert cell.marks["frame"] == (not np.isfinite(x))
        assert cell.marks["cross"] == (np.isnan(x) and not numbered)
        assert cell.kind in {"nan": ("nan",), "inf": ("inf",), "-inf": ("-inf",)}.get(
            str(x), ("positive", "negative")
        )
    assert shown.maps[0]["[1, 2]"].text == "+∞"
    assert shown.maps[0]["[2, 0]"].text == "−∞"
    assert shown.maps[0]["[2, 3]"].text == ("NaN" if numbered else "")
    assert [*shown.key] == ["NaN: 3", "+∞: 2", "−∞: 1"]
    assert [cell.kind for cell in shown.key.values()] == ["nan", "inf", "-inf"]
    assert {cell.marks["frame"] for cell in shown.key.values()} == {1}


def test_infinities_have_the_full_colour_of_their_sign() -> None:
    shown = picture([[INF, -INF, 1.0]])
    assert [(shown[f"[0, {j}]"].fill, shown[f"[0, {j}]"].opacity) for j in range(2)] == [
        ("positive", 1),
        ("negative", 1),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (-1.23456, "−1.23"),
        (0.012345, "0.0123"),
        (-0.0012345, "−0.0012"),
        (0.00012345, "1.2e-4"),
        (-1e-12, "−1e-12"),
        (999.4, "999"),
        (999.6, "1000"),
        (-12345.6, "−12346"),
        (99999.6, "1e5"),
        (1.26e300, "1.3e300"),
        (np.int64(-30522), "−30522"),
        (np.int64(123456), "123456"),
        (np.int64(-12345678), "−1.2e7"),
        (np.bool_(True), "True"),
        (np.float32(0.1), "0.1"),
        (-0.0, "0"),
    ],
)
def test_the_number_in_a_cell_is_short_and_keeps_its_sign(value: Any, text: str) -> None:
    assert picture(np.array([[value]])).cells[0].text == text


@pytest.mark.parametrize("shape", [(16, 8), (1, 12), (3, 1)])
def test_numbers_stand_in_the_cells_of_small_matrices(shape: tuple[int, int]) -> None:
    array = np.random.default_rng(0).integers(10, 99, size=shape) / 100
    shown = picture(array)
    for (i, j), x in np.ndenumerate(array):
        assert shown[f"[{i}, {j}]"].text == f"{x:g}"
    assert float(shown.svg.attrib["width"]) < 640


@pytest.mark.parametrize("shape", [(17, 8), (3, 31), (1, 34)])
def test_no_numbers_stand_in_the_cells_of_larger_ones_or_of_blocks(shape: tuple[int, int]) -> None:
    assert not any(cell.text for cell in picture(normal(*shape).astype(int)).cells)


def test_a_number_on_hatching_has_a_rim_of_the_colour_behind_it() -> None:
    svg = picture([[0.0, 1.5, 0.0]]).svg
    assert [text.text for text in svg.findall("g/g[@data-halo]/text")] == ["0", "0"]
    assert {g.attrib["data-stroke"] for g in svg.findall("g/g[@data-halo]")} == {"zero"}


def test_eight_columns_have_room_for_any_number() -> None:
    shown = picture(np.full((3, 8), -1.2345e-300))
    left, _, right, _ = shown.cells[0].box
    assert shown.cells[0].text == "−1.2e-300"
    assert right - left >= 7 * len(shown.cells[0].text)


def test_rows_and_columns_are_numbered() -> None:
    assert picture(normal(3, 5)).ticks == [*"01234", *"012"]
    shown = picture(normal(17, 7))
    assert shown.ticks == ["0", "4", "0", "4", "8", "12", "16"]
    left, top, _, _ = shown["[0, 0]"].box
    for text in shown.svg.findall(".//g[@data-ticks]/text"):
        before = text.get("text-anchor") == "end" and float(text.attrib["x"]) < left
        above = text.get("text-anchor") is None and float(text.attrib["y"]) < top
        assert before != above


# -------------------------------------------------------------------------------- probabilities


def test_probabilities_are_shown_from_0_to_1() -> None:
    weights = softmax(normal(5, 7))
    shown = part(weights)
    assert (shown.scale, shown.bar_words) == (["0", None, "1"], "probabilities: each row sums to 1")
    assert [cell.opacity for cell in shown.bar] == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert {cell.kind for cell in shown.bar} == {"positive"}
    for (i, j), p in np.ndenumerate(weights):
        assert shown.maps[0][f"[{i}, {j}]"].opacity == pytest.approx(p, abs=6e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 5, 7)])
def test_probabilities_are_known_in_any_shape_and_precision(
    shape: tuple[int, ...], dtype: Any
) -> None:
    assert part(softmax(normal(*shape)).astype(dtype)).scale == ["0", None, "1"]


def test_a_row_that_is_masked_as_a_whole_may_be_among_probabilities() -> None:
    weights = softmax(normal(5, 7))
    weights[3] = 0
    assert part(weights).scale == ["0", None, "1"]
    assert part(weights[3:4]).scale == []


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(np.ones((5, 1)), id="a column of ones"),
        pytest.param(softmax(normal(5, 7)) * 1.001, id="sums of 1.001"),
        pytest.param(softmax(normal(5, 7)).T.copy(), id="columns that sum to 1"),
        pytest.param(np.array([[1.5, -0.5], [0.5, 0.5]]), id="a negative number"),
        pytest.param(np.array([[0.5, 0.5], [NAN, 1.0]]), id="a NaN"),
        pytest.param(softmax(normal(2, 5, 7)) * [[[1.0]], [[0.5]]], id="in one matrix only"),
        pytest.param(np.eye(3, dtype=int), id="integers"),
        pytest.param(np.float64(1.0), id="a scalar"),
    ],
)
def test_nothing_else_is_taken_for_probabilities(array: Array) -> None:
    assert "None" not in str(part(array).scale)
    assert "probabilities" not in heatmap_html(array)


# --------------------------------------------------------------------------- shapes of all kinds


def test_a_scalar_is_one_cell_without_index_or_scale() -> None:
    shown = part(Tensor(-3.25))
    (cell,) = shown.cells
    assert (cell.title, cell.text, cell.kind) == ("-3.25", "−3.25", "negative")
    assert (shown.scale, shown.maps[0].ticks) == ([], [])


def test_a_vector_is_one_row() -> None:
    array = normal(7)
    shown = picture(array)
    assert [cell.title for cell in sorted(shown.cells, key=lambda cell: cell.box)] == [
        f"[{j}] = {x}" for j, x in enumerate(array)
    ]
    assert {cell.box[1] for cell in shown.cells} == {16}
    assert shown.ticks == [*"0123456"]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (5, 0), (2, 0, 3)])
def test_an_empty_array_has_no_picture_and_says_so(shape: tuple[int, ...]) -> None:
    shown = part(np.zeros(shape))
    assert (shown.maps, shown.words) == ([], ["no entries"])
    assert show(np.zeros(shape)).caption == f"<array {shape} float64>"


def test_booleans_are_true_and_false() -> None:
    mask = np.tril(np.ones((3, 5), bool))
    shown = part(mask)
    assert list(shown.key) == ["True: 6", "False: 9"]
    assert [cell.kind for cell in shown.key.values()] == ["positive", "zero"]
    assert shown.scale == []
    for (i, j), x in np.ndenumerate(mask):
        assert shown.maps[0][f"[{i}, {j}]"].text == str(x)
    assert list(part(np.zeros((2, 3), bool)).key) == ["False: 6"]
    assert list(part(np.eye(37, dtype=bool)).key) == ["True: 37", "False: 1332"]


def test_an_array_of_zeros_has_no_scale() -> None:
    shown = part(np.zeros((3, 5)))
    assert (shown.scale, list(shown.key)) == ([], ["exactly 0: 15"])


@pytest.mark.parametrize(
    "array",
    [
        np.array([[np.iinfo(np.int64).min, 5, np.iinfo(np.int64).max]]),
        np.array([[0, 2**63, 2**64 - 1]], dtype=np.uint64),
        np.array([[5e-324, -5e-324, 0.0]]),
        np.array([[1.7e308, -1.7e308, 1.0]]),
        np.array([[65504, -6e-8, 1]], dtype=np.float16),
        np.array([["1e4000", "-1e-4000", "0.5"]]).astype(np.longdouble),
        np.array([[1.5, -2.5, 0]], dtype=">f8"),
    ],
    ids=lambda array: str(array.dtype.str),
)
def test_extreme_numbers_keep_their_sign_and_stay_what_they_are(array: Array) -> None:
    shown = picture(array)
    for j, x in enumerate(array[0]):
        cell = shown[f"[0, {j}]"]
        assert cell.title == f"[0, {j}] = {x}"
        expected = "zero" if x == 0 else "positive" if x > 0 else "negative"
        assert cell.kind == expected
        largest = np.abs(array.astype(np.longdouble)).max()
        share = 1 if x == 0 else float(abs(np.longdouble(x)) / largest)
        assert cell.opacity == pytest.approx(share, abs=6e-4)


def test_the_lowest_integer_is_the_largest_magnitude_of_its_block() -> None:
    array = np.full((37, 2), np.iinfo(np.int64).max // 3)
    array[1, 0] = np.iinfo(np.int64).min
    titles = [cell.title for cell in part(array).cells]
    assert titles.count("[1, 0] = -9223372036854775808 ∈ [0:2, 0:1]") == 1


def test_arrays_of_any_layout_are_read_as_they_are() -> None:
    array = normal(7, 5)
    for view in (array.T, array[::-1, ::2], np.asfortranarray(array)):
        assert heatmap_html(view) == heatmap_html(view.copy())


def test_the_matrices_of_a_stack_have_their_index_and_one_scale() -> None:
    array = normal(2, 3, 5, 7)
    array[1, 0, 2, 3] = -50.0
    shown = part(array)
    assert shown.labels == [str([i, j]) for i, j in np.ndindex(2, 3)]
    assert shown.scale == ["−50", "0", "50"]
    assert shown.maps[3]["[1, 0, 2, 3]"].opacity == 1
    expected = [f"{list(index)} = {x}" for index, x in np.ndenumerate(array)]
    assert sorted(cell.title for cell in shown.cells) == sorted(expected)
    assert shown.words == []


def test_how_many_matrices_are_left_out_is_told() -> None:
    shown = part(normal(5, 3, 2, 7))
    assert len(shown.maps) == 12
    assert shown.labels[-1] == "[3, 2]"
    assert shown.words == ["The first 12 of 15 matrices; 3 are left out."]
    large = part(normal(3, 31, 29))
    assert len(large.maps) == 1
    assert large.words == ["The first 1 of 3 matrices; 2 are left out."]


# ---------------------------------------------------------------------------------- large arrays


def test_up_to_32_by_32_entries_every_cell_is_one_entry() -> None:
    array = normal(32, 32)
    shown = part(array)
    assert len(shown.cells) == 32 * 32
    assert shown.words == []


def test_above_that_a_cell_is_the_entry_of_largest_magnitude_of_its_block() -> None:
    array = normal(101, 67)
    shown = part(array)
    assert shown.words == [
        "Each cell is a block of 4 × 3 and shows its entry of largest magnitude."
    ]
    assert len(shown.cells) == 26 * 23
    corner = min(cell.box for cell in shown.cells)
    for cell in shown.cells:
        column, row = (int(cell.box[k] - corner[k]) // 16 for k in (0, 1))
        top, left = 4 * row, 3 * column
        block = array[top : top + 4, left : left + 3]
        i, j, number = re.findall(r"^\[(\d+), (\d+)\] = (\S+)", cell.title)[0]
        assert float(number) == array[int(i), int(j)]
        assert block[int(i) - top, int(j) - left] == float(number)
        assert abs(float(number)) == np.abs(block).max()
        assert cell.kind == ("positive" if float(number) > 0 else "negative")
        span = f" ∈ [{top}:{min(top + 4, 101)}, {left}:{min(left + 3, 67)}]"
        assert cell.title.endswith(span) == (block.size > 1)
    assert shown.maps[0].ticks[:3] == ["0", "12", "24"]
    assert shown.maps[0].ticks[-2:] == ["80", "96"]


def test_only_the_axis_that_is_long_is_divided() -> None:
    assert part(normal(37, 3)).words == [
        "Each cell is a block of 2 × 1 and shows its entry of largest magnitude."
    ]
    vector = normal(97)
    cells = sorted(part(vector).cells, key=lambda cell: cell.box)
    assert len(cells) == 25
    assert cells[-1].title == f"[96] = {vector[96]}"
    assert cells[0].title.endswith("∈ [0:4]")


def test_a_block_is_hatched_only_if_all_of_it_is_0() -> None:
    array = np.zeros((34, 34))
    array[0, 1] = -1e-9
    array[33, 33] = 2.0
    shown = part(array)
    assert Counter(cell.kind for cell in shown.cells) == {"zero": 287, "negative": 1, "positive": 1}
    assert "exactly 0: 1154" in shown.key


def test_nan_and_infinities_stay_visible_in_blocks_and_out_of_the_scale() -> None:
    array = normal(100, 70)
    array[13, 7], array[12, 8], array[14, 6] = NAN, INF, 99.0
    array[50, 60], array[51, 61] = -INF, 3.0
    shown = part(array)
    kinds = {cell.title.split(" =")[0]: cell.kind for cell in shown.cells}
    assert (kinds["[13, 7]"], kinds["[50, 60]"]) == ("nan", "-inf")
    assert list(shown.key) == ["NaN: 1", "+∞: 1", "−∞: 1"]
    assert shown.scale == ["−99", "0", "99"]


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(np.full((32, 32), -np.pi * 1e-300), id="exact"),
        pytest.param(np.full((32, 32), -INF), id="infinite"),
        pytest.param(np.full((640, 640), -np.pi * 1e-300), id="blocks"),
        pytest.param(np.full((12, 16, 5), -np.pi * 1e-300), id="numbers"),
        pytest.param(np.full((10**6, 1, 1), -np.pi), id="many"),
    ],
)
def test_an_output_is_never_large(array: Array) -> None:
    tensor = leaf(array)
    tensor.grad = array
    assert len(heatmap_html(tensor).encode()) < 330_000


def test_of_a_stack_only_what_is_shown_is_looked_at() -> None:
    """The rest of this array would take 8 TB, if anything made a copy of it."""
    huge = np.broadcast_to(np.ones((1, 3, 5)), (10**11, 3, 5))
    assert heatmap._survey(huge).counts["all"] == 12 * 15


# ------------------------------------------------------------------------------ tensors, gradients


def test_above_a_tensor_stands_the_line_that_it_prints_as() -> None:
    tensor = leaf(normal(3, 5), name="W_Q")
    assert show(tensor).caption == repr(tensor)
    assert show(tensor, title="weights").caption == "weights"
    array = np.array([[3.0, -4.0]])
    assert show(array).caption == "<array (1, 2) float64: -4 … 3, norm 5>"


def test_a_gradient_is_a_second_map_with_a_scale_of_its_own() -> None:
    tensor = leaf([[1.0, -2.0, 4.0]])
    (tensor * np.array([[0.5, -0.25, 0.0]])).sum().backward()
    output = show(tensor)
    values, gradient = output.parts["values"], output.parts["gradient"]
    assert (values.scale, gradient.scale) == (["−4", "0", "4"], ["−0.5", "0", "0.5"])
    assert values.words == ["values"]
    assert gradient.words == ["gradient: -0.25 … 0.5, norm 0.559"]
    assert [gradient.maps[0][f"[0, {j}]"].text for j in range(3)] == ["0.5", "−0.25", "0"]


def test_without_a_gradient_there_is_one_map_without_a_heading() -> None:
    output = show(leaf(normal(3, 5)))
    assert list(output.parts) == ["values"]
    assert output.parts["values"].words == []


def test_an_intermediate_whose_gradient_is_not_kept_can_be_shown() -> None:
    x = leaf(normal(3, 5))
    y, kept = x * 2.0, (x * 3.0).retain_grad()
    (y * kept).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(show(y).parts) == ["values"]
        assert list(show(kept).parts) == ["values", "gradient"]


def test_showing_a_tensor_changes_nothing() -> None:
    x = leaf(normal(3, 5))
    y = x * x
    z = Tensor(normal(3, 5))
    before = [state(t) for t in (x, y, z)]
    assert all("<svg" in str(t._repr_html_()) for t in (x, y, z))
    assert [state(t) for t in (x, y, z)] == before


def state(t: Tensor) -> Any:
    """Who holds what of a tensor; a copy on write shows in the token and in the references."""
    node = t._node
    told = node and (node.serial, sorted(vars(node)), node.grad is None, sys.getrefcount(node))
    held = sys.getrefcount(t._data), sys.getrefcount(t._token)
    return id(t._data), id(t._token), held if t._token else held[0], told


def test_no_setting_of_the_user_makes_it_raise_or_warn() -> None:
    array = np.array([[5e-324, 1e300, INF], [NAN, -INF, 0.0]])
    half = np.array([[6e-8, 65504, INF, NAN]], dtype=np.float16)
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert heatmap_html(leaf(array)) == heatmap_html(leaf(array))
        assert "[0, 3] = nan" in heatmap_html(half)


# ----------------------------------------------------------------------------------- in notebooks


def test_a_notebook_shows_a_tensor_as_its_heat_map() -> None:
    tensor = leaf(softmax(normal(3, 5)), name="weights")
    assert tensor._repr_html_() == heatmap_html(tensor)


def test_a_notebook_shows_a_parameter_too() -> None:
    class Parameter(Tensor):
        pass

    assert "<svg" in str(Parameter(normal(3, 5))._repr_html_())


def test_without_viz_a_notebook_shows_the_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viz.heatmap", None)
    assert Tensor([1.0])._repr_html_() is None


def test_a_broken_tensor_does_not_raise() -> None:
    class Unspeakable:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    unspeakable = Tensor([1.0])
    unspeakable.name = Unspeakable()  # type: ignore[assignment]
    unfinished = Tensor.__new__(Tensor)
    assert (unspeakable._repr_html_(), unfinished._repr_html_()) == (None, None)


@pytest.mark.slow
def test_a_tensor_is_shown_without_waiting_for_matplotlib() -> None:
    code = (
        "import sys, minigrad; assert minigrad.Tensor([1.0])._repr_html_();"
        "sys.exit(bool({'matplotlib', 'jinja2', 'graphviz'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize(
    "values", [[1j], ["a"], [None], np.array(["2020-01-01"], "datetime64[D]")], ids=repr
)
def test_only_real_numbers_can_be_shown(values: Any) -> None:
    with pytest.raises(TypeError, match="real numbers, and this is"):
        heatmap_html(values)


def test_another_language_or_ragged_lists_are_refused() -> None:
    with pytest.raises(ValueError, match="en and zh, not 'fr'"):
        heatmap_html([1.0], language="fr")
    with pytest.raises(ValueError, match="inhomogeneous"):
        heatmap_html([[1.0], [2.0, 3.0]])


# -------------------------------------------------------------------------------- what is written


def busy() -> Tensor:
    """A tensor with everything in it: each mark, blocks, a stack, a gradient."""
    array = normal(5, 41, 13)
    array[0, :4, :4] = 0
    array[0, 6:10, :3] = [NAN, INF, -INF]
    array[0, 12:14, 5] = 1e-12
    tensor = leaf(array, name=HOSTILE)
    tensor.grad = array[::-1]
    return tensor


@pytest.fixture(scope="module")
def html() -> str:
    return heatmap_html(busy(), title=HOSTILE)


def test_names_and_titles_are_text_and_nothing_else() -> None:
    for output in (show(busy()), show(normal(2, 3), title=HOSTILE)):
        assert "<script" not in output.html
        assert "<img" not in output.html
        assert "<script>alert(1)</script><img src=x onerror=alert(2)>" in output.caption
        assert output.caption.count("</code></div>") == 1
    assert show([1.0], title=HOSTILE).caption == HOSTILE


def test_control_characters_become_visible() -> None:
    title = "a\x00b\x1b[31m\u202ec\ud800\n权重 λ"
    caption = r"a\x00b\x1b[31m\u202ec\ud800\n权重 λ"
    assert show([1.0], title=title).caption == caption
    assert r"\x00b\x1b[31m\u202ec\ud800\n权重 λ" in show(Tensor([1.0], name=title)).caption


def test_a_very_long_name_is_cut_in_the_middle() -> None:
    caption = show(Tensor(normal(3, 5), name="x" * 10**6)).caption
    assert len(caption) == heatmap.LONGEST_TEXT + 3
    assert caption.startswith("<Tensor 'xxx")
    assert " … " in caption
    assert "(3, 5) float64" in caption


def test_formulas_in_names_are_left_alone_by_mathjax_and_katex() -> None:
    output = show([1.0], title=HOSTILE)
    assert {"mathjax_ignore", "tex2jax_ignore"} <= set(output.root.attrib["class"].split())
    assert [node.tag for node in output.root.iter() if "$" in (node.text or "")] == ["code"]


def test_the_output_runs_nothing_loads_nothing_and_has_no_ids(html: str) -> None:
    nodes = list(Output(html).root.iter())
    tags = {"div", "style", "code", "svg", "rect", "g", "path", "title", "text", "span"}
    assert {node.tag for node in nodes} == tags
    attributes = {name for node in nodes for name in node.attrib}
    assert not attributes & {"id", "href", "src", "xlink:href", "onclick"}
    assert not [name for name in attributes if name.startswith("on")]
    assert re.findall(r"url\(|@import|https?:|javascript:", html) == []


def test_the_style_speaks_of_the_heat_map_alone() -> None:
    style = re.sub(r"@media [^{]*\{(.*?\})\s*\}", r"\1", heatmap.STYLE)
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", style)
    assert len(rules) > 20
    selectors = [selector.strip() for rule in rules for selector in rule.split(",")]
    for selector in selectors:
        assert ".minigrad-heatmap" in selector.split()[:2]
    assert show([1.0]).root.attrib["class"].split()[0] == "minigrad-heatmap"


def test_each_theme_has_its_colours() -> None:
    light, dark, *_ = re.findall(r"\.minigrad-heatmap \{ color-scheme: ([^}]*)\}", heatmap.STYLE)
    for scheme, theme, rule in (("light", LIGHT, light), ("dark", DARK, dark)):
        assert rule.startswith(f"{scheme};")
        assert dict(re.findall(r"--(\w+): (#\w+);", rule)).items() >= theme.items()
    before_dark = heatmap.STYLE[: heatmap.STYLE.index(dark)]
    assert before_dark.rstrip().endswith(
        "@media (prefers-color-scheme: dark) { .minigrad-heatmap { color-scheme:"
    )


def test_every_colour_that_is_named_exists_and_stands_in_the_attribute_too(html: str) -> None:
    named = [
        (what, node.attrib[f"data-{what}"], node.attrib[what])
        for node in Output(html).root.iter()
        for what in ("fill", "stroke")
        if f"data-{what}" in node.attrib
    ]
    assert len(named) > 10
    for what, name, colour in named:
        assert colour == LIGHT[name]
        assert f'[data-{what}="{name}"] {{ {what}: var(--{name}); }}' in heatmap.STYLE


def test_the_same_tensor_gives_the_same_bytes(html: str) -> None:
    assert heatmap_html(busy(), title=HOSTILE) == html


def test_what_is_drawn_has_words_for_who_cannot_see_it(html: str) -> None:
    pictures = list(Output(html).root.iter("svg"))
    labels = [node.get("aria-label") for node in pictures if node.get("role") == "img"]
    assert labels[:3] == 3 * ["heat map of 41 × 13 numbers"]
    assert re.fullmatch(r"−(\S+) … \1", str(labels[3]))
    assert len(labels) == 8
    assert all(node.get("role") == "img" or node.get("aria-hidden") for node in pictures)


def test_marks_do_not_come_between_the_pointer_and_a_cell() -> None:
    for group in picture(busy().data[0]).svg.findall("g"):
        assert ("data-kind" in group.attrib) != (group.get("pointer-events") == "none")


def test_a_chinese_heat_map_speaks_chinese() -> None:
    tensor = busy()
    chinese = show(tensor, title="权重 λ", language="zh")
    assert chinese.root.attrib["lang"] == "zh-Hans"
    text = " ".join(t for t in chinese.root.itertext() if "minigrad-heatmap" not in t)
    for words in (
        "梯度",
        "恰为 0：16",
        "每格是一块 2 × 1",
        "共 5 个矩阵，这里是前 3 个，省略 2 个",
    ):
        assert words in text
    assert set(re.findall(r"[A-Za-z]{2,}", text)) <= {"NaN", "nan", "inf", "norm"}


def test_an_english_heat_map_holds_no_chinese(html: str) -> None:
    assert 'lang="en"' in html
    assert re.search("[\u4e00-\u9fff]", html) is None


def test_both_languages_say_the_same_things() -> None:
    english, chinese = heatmap.TEXTS["en"], heatmap.TEXTS["zh"]
    assert english.keys() == chinese.keys()
    for name, text in english.items():
        assert re.findall(r"\{\w+\}", chinese[name]).sort() == re.findall(r"\{\w+\}", text).sort()


# ---------------------------------------------------------------------------------------- contrast


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    if len(colour) == 4:
        colour = "#" + "".join(2 * digit for digit in colour[1:])
    channels = np.array([*bytes.fromhex(colour[1:])]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    dark, bright = sorted([luminance(one), luminance(other)])
    return (bright + 0.05) / (dark + 0.05)


def variables(scheme: str) -> dict[str, str]:
    """What the style says of colours in one theme."""
    (rule, *_) = re.findall(rf"color-scheme: {scheme}; ([^}}]*)", heatmap.STYLE)
    found = dict(re.findall(r"--([\w-]+): (#\w+);", rule))
    return {"black": "#000", "white": "#fff", **found}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_can_be_read_on_every_cell(scheme: str) -> None:
    theme = variables(scheme)
    array = np.linspace(-1, 1, 16 * 8 * 8 + 1)[:-1].reshape(8, 16, 8)
    array[0, 0, :4] = NAN, INF, -INF, 0.0
    shown = part(array)
    assert len(shown.cells) == 8 * 16 * 8
    for cell in (*shown.cells, shown.key["+∞: 1"], shown.key["−∞: 1"]):
        painted = colours.mixed(cell.opacity, theme["zero"], theme[cell.fill])
        assert contrast(theme[cell.ink], painted) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_textures_can_be_seen_on_every_cell(scheme: str) -> None:
    theme = variables(scheme)
    (opacity,) = re.findall(r"path\[data-ink\] \{ stroke-opacity: ([\d.]+); \}", heatmap.STYLE)
    array = -np.linspace(0.001, 1, 31 * 29).reshape(31, 29)
    array[0, 0] = NAN
    for cell in part(array).cells:
        assert cell.marks.total() > 0
        ink = {"#000": "#000000", "#fff": "#ffffff"}[theme[cell.ink]]
        painted = colours.mixed(cell.opacity, theme["zero"], theme[cell.fill])
        assert contrast(colours.mixed(float(opacity), painted, ink), painted) >= 3
    assert contrast(theme["quiet"], theme["zero"]) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_on_the_paper(scheme: str) -> None:
    theme = variables(scheme)
    assert contrast(theme["ink"], theme["paper"]) >= 7
    assert contrast(theme["quiet"], theme["paper"]) >= 4.5
