"""Attention maps and the softmax Jacobian: what they show, what they mark, what they refuse."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh

import minigrad
from attention import causal_mask, scaled_dot_product_attention
from minigrad import Tensor
from minigrad.functional import jacobian
from tests.helpers import assert_close
from tests.viz.test_figures import foreign, svg_texts
from viz.figures import figure_of, new_axes, new_picture, rendered
from viz.pictures import TEXTS, attention_map, softmax_jacobian

Array = npt.NDArray[Any]

ROOT = Path(__file__).parents[2]
LESSON = json.loads((ROOT / "examples" / "data" / "lessons.json").read_text(encoding="utf-8"))
CAT = LESSON["cat_eats_fish"]
HOSTILE = ["$x^2$", "<script>", "a\nb", "\\frac{1}{2}", "\x00", "\ud800", "]]>&lt;"]


def random_weights(*shape: int, seed: int = 0) -> Array:
    scores = np.random.default_rng(seed).normal(size=shape)
    return np.array(minigrad.softmax(scores, axis=-1))


def mesh_of(axes: Axes) -> QuadMesh:
    found = axes.collections[0]
    assert isinstance(found, QuadMesh)
    return found


def cells(axes: Axes) -> Array:
    """The numbers that the colours stand for, NaN where there is none."""
    return np.ma.filled(np.ma.asarray(mesh_of(axes).get_array()), np.nan)


def hatched(axes: Axes, pattern: str) -> list[tuple[int, int]]:
    """Which cells are hatched."""
    found = []
    for collection in axes.collections:
        if collection.get_hatch() == pattern:
            corners = [np.asarray(path.vertices).min(axis=0) for path in collection.get_paths()]
            found += [(int(y), int(x)) for x, y in corners]
    return found


def numbers(axes: Axes) -> dict[tuple[int, int], str]:
    """What is written in the cells."""
    shown = [(text.get_position(), text.get_text()) for text in axes.texts]
    return {(int(y), int(x)): text for (x, y), text in shown if not text.startswith("Σ")}


def sums(axes: Axes) -> dict[int, str]:
    """What is written beside the rows."""
    marks: list[Any] = [text for text in axes.texts if text.get_text().startswith("Σ")]
    return {int(text.xy[1]): text.get_text() for text in marks}


def words(axes: Axes) -> tuple[list[str], list[str]]:
    """What stands at the queries and at the keys."""
    queries, keys = axes.get_yticklabels(), axes.get_xticklabels()
    return [label.get_text() for label in queries], [label.get_text() for label in keys]


def notes(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def bars(axes: Axes) -> list[Axes]:
    """The bars of colours in the picture."""
    return [other for other in figure_of(axes).axes if other.get_label() == "<colorbar>"]


# ------------------------------------------------------------------------------- one head


def test_a_map_shows_the_weights_first_query_on_top() -> None:
    weights = random_weights(3, 5)
    axes = attention_map(weights)
    assert_close(cells(axes), weights)
    assert mesh_of(axes).get_clim() == (0.0, 1.0)
    assert (axes.get_xlim(), axes.get_ylim()) == ((0.0, 5.0), (3.0, 0.0))
    assert numbers(axes) == {
        place: f"{weight:.2f}"[1:] for place, weight in np.ndenumerate(weights)
    }


def test_the_map_of_the_first_lesson() -> None:
    axes = attention_map(CAT["scaled"]["weights"], CAT["tokens"], title="猫吃鱼", language="zh")
    shown = list(numbers(axes).values())
    assert shown == [".27", ".27", ".45", ".09", ".67", ".24", ".38", ".38", ".23"]
    assert words(axes) == (["猫", "吃", "鱼"], ["猫", "吃", "鱼"])
    texts = svg_texts(rendered(figure_of(axes), "svg"))
    for text in ("猫", "鱼", "猫吃鱼", "查询", "键", "权重", ".67"):
        assert text in texts


def test_queries_stand_at_the_left_and_keys_above() -> None:
    axes = attention_map(random_weights(2, 3), ["a", "b"], key_tokens=["x", "y", "z"])
    assert words(axes) == (["a", "b"], ["x", "y", "z"])
    assert axes.get_yticks().tolist() == [0.5, 1.5]
    assert axes.get_xticks().tolist() == [0.5, 1.5, 2.5]
    assert axes.xaxis.get_ticks_position() == "top"
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("query", "key")


def test_without_tokens_positions_are_numbered() -> None:
    assert words(attention_map(random_weights(2, 3))) == (["0", "1"], ["0", "1", "2"])
    assert words(attention_map(random_weights(2, 3), ["a", "b"])) == (["a", "b"], ["0", "1", "2"])


def test_any_text_is_a_token() -> None:
    axes = attention_map(random_weights(7, 7), HOSTILE, title="$t$")
    drawn = ["$x^2$", "<script>", "a�b", "\\frac{1}{2}", "�", "�", "]]>&lt;"]
    assert words(axes) == (drawn, drawn)
    texts = svg_texts(rendered(figure_of(axes), "svg"))
    assert [texts.count(word) for word in drawn] == [2, 2, 2, 2, 4, 4, 2]
    assert "$t$" in texts


def test_long_tokens_are_shortened_and_slanted() -> None:
    axes = attention_map(random_weights(6, 6), ["internationalization", *"abcde"])
    assert words(axes)[0][0] == "internationaliz…"
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {45.0}
    axes = attention_map(random_weights(6, 6), "abcdef")
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {0.0}


@pytest.mark.slow
def test_where_tokens_are_many_only_some_are_named() -> None:
    tokens = [f"t{i}" for i in range(200)]
    queries, keys = words(attention_map(random_weights(200, 200), tokens))
    for named in (queries, keys):
        assert 20 < len(named) < 60
        step = tokens.index(named[1])
        assert named == tokens[::step]


def test_numbers_stand_only_where_there_is_room() -> None:
    assert len(numbers(attention_map(random_weights(12, 12)))) == 144
    assert numbers(attention_map(random_weights(60, 60))) == {}


def test_a_number_can_be_read_on_its_colour() -> None:
    axes = attention_map([[0.95, 0.05], [0.5, 0.5]])
    assert [text.get_color() for text in axes.texts] == ["white", "black", "black", "black"]


def test_large_maps_become_bitmaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.cells.MOST_CELLS", 12)
    small, large = (attention_map(random_weights(3, keys)) for keys in (4, 5))
    assert not mesh_of(small).get_rasterized()
    assert mesh_of(large).get_rasterized()


# ---------------------------------------------------------------------------- what is marked


def test_weights_that_are_exactly_zero_are_hatched() -> None:
    x = np.random.default_rng(0).normal(size=(3, 4, 2))
    _, weights = scaled_dot_product_attention(*x, is_causal=True)
    axes = attention_map(weights)
    masked = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert hatched(axes, "////") == masked
    assert numbers(axes).keys() == {*np.ndindex(4, 4)} - {*masked}
    assert notes(axes) == ["exactly 0"]


def test_a_weight_that_is_merely_small_is_not_hatched() -> None:
    axes = attention_map([[1.0, 1e-300], [0.5, 0.5]])
    assert hatched(axes, "////") == []
    assert numbers(axes)[0, 1] == ".00"
    assert notes(axes) == []


def test_what_is_not_finite_is_crossed_out_and_named() -> None:
    weights = random_weights(2, 3)
    weights[0, 1], weights[1, 2] = np.nan, np.inf
    axes = attention_map(weights)
    assert hatched(axes, "xxxx") == [(0, 1), (1, 2)]
    assert (numbers(axes)[0, 1], numbers(axes)[1, 2]) == ("nan", "inf")
    assert np.isnan(cells(axes)).sum() == 2
    assert notes(axes) == ["not a finite number"]
    assert sums(axes) == {0: "Σ nan", 1: "Σ inf"}


def test_rows_that_do_not_sum_to_one_have_their_sum_beside_them() -> None:
    weights = [[0.27, 0.27, 0.45], [0.5, 0.25, 0.25], [0.0, 0.0, 0.0], [1.25, 1.0, 0.0]]
    axes = attention_map(weights)
    assert sums(axes) == {0: "Σ 0.99", 2: "Σ 0", 3: "Σ 2.25"}
    assert cells(axes)[3, 0] == 1.25
    assert numbers(axes)[3, 0] == "1.25"


def test_a_sum_that_is_off_never_reads_one() -> None:
    assert sums(attention_map([[0.5, 0.50004], [0.5, 0.49997]])) == {
        0: "Σ 1 + 4e-05",
        1: "Σ 1 − 3e-05",
    }


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_rounding_is_no_reason_to_mark_a_sum(dtype: Any) -> None:
    assert sums(attention_map(random_weights(9, 13).astype(dtype))) == {}


def test_where_rows_are_narrow_the_title_counts_the_sums() -> None:
    weights = random_weights(100, 90)
    weights[[3, 70]] *= 0.5
    axes = attention_map(weights, title="layer 1")
    assert axes.get_title() == "layer 1\nΣ ≠ 1 in 2 of 100 rows"
    assert sums(axes) == {}
    assert attention_map(random_weights(100, 90), title="layer 1").get_title() == "layer 1"


# --------------------------------------------------------------------------- what is left alone


def test_a_tensor_is_drawn_and_left_as_it_is() -> None:
    rng = np.random.default_rng(0)
    scores = Tensor(rng.normal(size=(3, 4)), requires_grad=True)
    weights = minigrad.softmax(scores, axis=-1)
    before, upstream = weights.data.copy(), rng.normal(size=(3, 4))
    assert_close(cells(attention_map(weights)), before)
    assert weights.data.flags.writeable
    assert_close(weights.data, before)
    weights.backward(upstream)
    expected = before * (upstream - (upstream * before).sum(axis=-1, keepdims=True))
    assert_close(scores.grad, expected)


def test_an_array_is_left_as_it_is() -> None:
    weights = random_weights(2, 3)
    weights[0, 0] = 0.0
    before = weights.copy()
    axes = attention_map(weights)
    weights[:] = 7.0
    assert_close(cells(axes), before)


def test_a_map_can_be_drawn_where_one_wants() -> None:
    figure, theirs = foreign()
    axes = attention_map(random_weights(2, 3), ax=theirs, title="mine")
    assert axes is theirs
    assert axes.get_title() == "mine"
    assert figure.axes == [axes, *bars(axes)]
    assert len(bars(axes)) == 1


# ------------------------------------------------------------------------------------- a grid


def test_a_grid_shows_every_head_with_one_bar_of_colours() -> None:
    weights = random_weights(5, 3, 4)
    grid = attention_map(weights, list("abc"), title="layer 2")
    assert grid.shape == (5,)
    for number, axes in enumerate(grid):
        assert_close(cells(axes), weights[number])
        assert axes.get_title() == f"head {number}"
    assert len(bars(grid[0])) == 1
    title = figure_of(grid[0])._suptitle  # type: ignore[attr-defined]
    assert title.get_text() == "layer 2"


@pytest.mark.parametrize(("heads", "shape"), [(4, (2, 2)), (5, (1, 5)), (7, (2, 4))])
def test_a_grid_is_near_a_square_with_few_places_empty(heads: int, shape: tuple[int, int]) -> None:
    spec = attention_map(random_weights(heads, 2, 3))[-1].get_subplotspec()
    assert spec.get_geometry() == (*shape, heads - 1, heads - 1)


def test_in_a_grid_only_the_outer_maps_are_labelled() -> None:
    grid = attention_map(random_weights(4, 2, 3))  # two rows of two
    left = [axes.yaxis.get_major_ticks()[0].label1.get_visible() for axes in grid]
    top = [axes.xaxis.get_major_ticks()[0].label2.get_visible() for axes in grid]
    assert left == [True, False, True, False]
    assert top == [True, True, False, False]
    assert [axes.get_ylabel() for axes in grid] == ["query", "", "query", ""]
    assert [axes.get_xlabel() for axes in grid] == ["key", "key", "", ""]


def test_a_grid_explains_its_hatching_once() -> None:
    weights = random_weights(3, 4, 4) * causal_mask(4)
    grid = attention_map(weights / weights.sum(axis=-1, keepdims=True))
    assert [notes(axes) for axes in grid] == [[], [], []]
    (legend,) = figure_of(grid[0]).legends
    assert [text.get_text() for text in legend.get_texts()] == ["exactly 0"]
    assert [len(hatched(axes, "////")) for axes in grid] == [6, 6, 6]


def test_a_grid_can_be_drawn_where_one_wants() -> None:
    picture = new_picture(6.0, 2.0)
    theirs = np.array([[new_axes(picture, 1, 3, number) for number in (3, 1, 2)]])
    weights = random_weights(3, 2, 4)
    weights[1, 0] = [1.0, 0.0, 0.0, 0.0]
    grid = attention_map(weights, ax=theirs, title="layer 1")
    assert list(grid) == list(theirs[0])
    for number, axes in enumerate(grid):
        assert_close(cells(axes), weights[number])
        assert axes.get_title() == f"layer 1, head {number}"
        assert words(axes)[0] == ["0", "1"]
    assert [notes(axes) for axes in grid] == [[], ["exactly 0"], []]


# --------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((2, 3, 4, 5), r"such as weights\[0\], which has shape \(3, 4, 5\)"),
        ((6, 2, 3, 4, 5), r"such as weights\[0, 0\], which has shape \(3, 4, 5\)"),
        ((5,), r"have shape \(5,\)"),
        ((), r"have shape \(\)"),
        ((0, 3), r"each at least 1; these have shape \(0, 3\)"),
    ],
)
def test_weights_of_other_dimensions_are_refused(shape: tuple[int, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        attention_map(np.full(shape, 0.5))


def test_scores_are_not_taken_for_weights() -> None:
    with pytest.raises(ValueError, match=r"at \(1, 2\) there is -0.3. If these are scores"):
        attention_map([[0.2, 0.4, 0.4], [1.0, 0.3, -0.3]])


def test_weights_are_real_numbers() -> None:
    with pytest.raises(TypeError, match="real numbers, not complex128"):
        attention_map([[1j]])


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ({"tokens": ["a"]}, r"1 tokens do not fit 2 queries \(tokens\)"),
        ({"tokens": "abc"}, r"3 tokens do not fit 2 queries"),
        ({"key_tokens": ["a", "b"]}, r"2 tokens do not fit 3 keys \(key_tokens\)"),
    ],
)
def test_tokens_have_to_fit(tokens: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        attention_map(random_weights(2, 3), **tokens)


def test_axes_have_to_fit_the_heads() -> None:
    with pytest.raises(ValueError, match="1 axes do not fit 2 heads"):
        attention_map(random_weights(2, 3, 4), ax=foreign()[1])


def test_a_language_has_to_be_known() -> None:
    for draw in (attention_map, softmax_jacobian):
        with pytest.raises(ValueError, match="language is 'en' or 'zh', not 'de'"):
            draw([0.5, 0.5], language="de")


def test_every_word_has_its_chinese_twin() -> None:
    assert TEXTS["en"].keys() == TEXTS["zh"].keys()
    assert all(TEXTS["en"][name] != TEXTS["zh"][name] for name in TEXTS["en"])


# ------------------------------------------------------------------------- the softmax Jacobian


def test_the_jacobian_is_that_of_the_engine() -> None:
    scores = Tensor(np.random.default_rng(0).normal(size=7))
    expected = np.asarray(jacobian(lambda s: minigrad.softmax(s, axis=-1), scores))
    axes = softmax_jacobian(minigrad.softmax(scores, axis=-1))
    assert_close(cells(axes), expected, rtol=0.0, atol=1e-15)
    trace, norm = np.trace(expected), np.linalg.norm(expected)
    assert axes.get_title() == f"J = diag(p) − p pᵀ\ntr J = {trace:.3g}, ‖J‖ = {norm:.3g}"


def test_the_colours_of_every_jacobian_end_at_a_quarter() -> None:
    for p in ([0.5, 0.5], [0.999, 0.001, 0.0]):
        axes = softmax_jacobian(p)
        assert mesh_of(axes).get_clim() == (-0.25, 0.25)
        (bar,) = bars(axes)
        assert bar.get_ylabel() == "∂p_i/∂s_j (no softmax goes beyond ±¼)"


def test_a_saturated_row_keeps_all_its_digits() -> None:
    axes = softmax_jacobian([1.0, 3e-20, 2e-30])
    drawn = cells(axes)
    assert_close(np.diag(drawn), [3e-20 + 2e-30, 3e-20, 2e-30])
    assert_close(drawn[0, 1:], [-3e-20, -2e-30])
    assert numbers(axes)[0, 0] == "3e-20"
    assert numbers(axes)[1, 0] == "−3e-20"
    assert axes.get_title().endswith("tr J = 6e-20, ‖J‖ = 6e-20")


def test_entries_are_written_in_two_digits() -> None:
    axes = softmax_jacobian([0.5, 0.3, 0.2, 0.0])
    assert [numbers(axes)[0, i] for i in range(4)] == [".25", "−.15", "−.10", "0"]


def test_the_tokens_of_a_row_stand_on_both_sides() -> None:
    axes = softmax_jacobian(CAT["scaled"]["weights"][0], tokens=CAT["tokens"], language="zh")
    assert words(axes) == (["猫", "吃", "鱼"], ["猫", "吃", "鱼"])
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("权重 p_i", "分数 s_j")


def test_the_jacobian_can_be_drawn_where_one_wants() -> None:
    _, theirs = foreign()
    assert softmax_jacobian([0.5, 0.5], ax=theirs) is theirs


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (random_weights(3, 4), r"float64 of shape \(3, 4\). Of attention weights pass one row"),
        (0.5, r"of shape \(\)"),
        ([], r"of shape \(0,\)"),
        (["a"], "this is <U1"),
        ([0.5, 0.4], "the smallest here is 0.4 and the sum 0.9"),
        ([1.5, -0.5], "the smallest here is -0.5 and the sum 1"),
        ([np.nan, 1.0], "the smallest here is nan and the sum nan"),
        ([np.inf, 0.0], "the sum inf"),
    ],
)
def test_only_a_row_of_probabilities_has_a_jacobian(p: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        softmax_jacobian(p)


def test_the_tokens_of_a_jacobian_have_to_fit() -> None:
    with pytest.raises(ValueError, match="3 tokens do not fit 2"):
        softmax_jacobian([0.5, 0.5], tokens="abc")
