"""The laboratory's panels: they show what was measured, and closed forms only where they hold."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.text import Text

from attention.experiments import (
    PLACES,
    Distribution,
    GradientStudy,
    HeadStudy,
    RandomEnergyModel,
    Regime,
    expected_maximum,
    median_gap,
)
from tests.viz.studies import gradient_study_of, head_study_of
from tests.viz.test_figures import foreign
from tests.viz.test_pictures import cells, mesh_of, numbers
from viz.figures import BLUE, NEUTRAL, ORANGE, figure_of
from viz.panels import (
    LARGE,
    LOWEST,
    TEXTS,
    dead_rows,
    entropy,
    gradient_places,
    head_gradient_ratios,
    head_largest_weights,
    largest_weight,
    query_gradient,
    typical_row,
)

Array = npt.NDArray[Any]
Panel = Callable[..., Axes]

OVER_D_K: list[Panel] = [typical_row, query_gradient, dead_rows, largest_weight, entropy]
OF_HEADS: list[Panel] = [head_largest_weights, head_gradient_ratios]


@pytest.fixture(scope="module")
def study() -> GradientStudy:
    return gradient_study_of()


@pytest.fixture(scope="module")
def heads() -> HeadStudy:
    return head_study_of()


def curve(axes: Axes, colour: str, style: str = "-") -> dict[float, float]:
    """What a line of a colour and style shows, by d_k."""
    (line,) = [
        line
        for line in axes.get_lines()
        if (line.get_color(), line.get_linestyle()) == (colour, style)
    ]
    return dict(zip(*np.asarray(line.get_data(), dtype=float).tolist(), strict=True))


def measured(
    study: GradientStudy, what: Callable[[Regime], float]
) -> tuple[dict[float, float], dict[float, float]]:
    """A number without the scale and with it, by d_k."""
    unscaled = {float(width.d_k): what(width.unscaled) for width in study.widths}
    return unscaled, {float(width.d_k): what(width.scaled) for width in study.widths}


def laws(axes: Axes) -> list[tuple[Array, Array]]:
    """The closed forms that are drawn: d_k and values."""
    lines = [line for line in axes.get_lines() if line.get_color() == NEUTRAL]
    return [(np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in lines]


def explained(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def marks(axes: Axes, marker: str) -> list[tuple[float, float]]:
    lines = [line for line in axes.get_lines() if line.get_marker() == marker]
    return [
        (float(x), float(y))
        for line in lines
        for x, y in zip(*np.asarray(line.get_data(), dtype=float), strict=True)
    ]


# ----------------------------------------------------------------------------- what was measured


def test_the_typical_row_is_the_median_in_a_band_of_quantiles(study: GradientStudy) -> None:
    axes = typical_row(study)
    unscaled, scaled = measured(study, lambda regime: regime.gradients["softmax input"].median)
    assert (curve(axes, ORANGE), curve(axes, BLUE)) == (unscaled, scaled)
    for number, arm in enumerate(("unscaled", "scaled")):
        norms = [getattr(width, arm).gradients["softmax input"] for width in study.widths]
        band = axes.collections[number]
        assert isinstance(band, PolyCollection)
        corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}  # type: ignore[union-attr]
        for width, norm in zip(study.widths, norms, strict=True):
            assert (width.d_k, max(norm.low, LOWEST)) in corners
            assert (width.d_k, norm.high) in corners


def test_what_lies_below_the_axis_is_marked(study: GradientStudy) -> None:
    lows = [width.unscaled.gradients["softmax input"].low for width in study.widths]
    assert max(lows) < LOWEST
    assert marks(typical_row(study), "v") == [(width.d_k, LOWEST) for width in study.widths]
    assert marks(query_gradient(study), "v") == []
    some = replace(study, widths=study.widths[:1])
    nothing = dict.fromkeys(PLACES, Distribution(0.0, 0.0, 1.0, 0.5, 0.5))
    (width,) = some.widths
    dead = replace(some, widths=(replace(width, scaled=replace(width.scaled, gradients=nothing)),))
    assert marks(query_gradient(dead), "v") == [(4, LOWEST)]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_stands_above_the_axes(value: float, study: GradientStudy) -> None:
    gone = dict.fromkeys(PLACES, Distribution(value, value, value, value, value))
    first, *others = study.widths
    broken = replace(first, unscaled=replace(first.unscaled, gradients=gone, entropy=value))
    for panel, crosses in ((typical_row, 2), (query_gradient, 2), (entropy, 1), (dead_rows, 0)):
        axes = panel(replace(study, widths=(broken, *others)))
        lines = [line for line in axes.get_lines() if line.get_marker() == "X"]
        drawn = [line.get_transform().transform(line.get_xydata())[0] for line in lines]
        assert [y for _, y in drawn] == pytest.approx([axes.bbox.y1] * crosses)
        assert marks(axes, "X") == [(4.0, 1.0)] * crosses
        assert ("not a finite number" in explained(axes)) == bool(crosses)


def test_at_q_the_rms_is_solid_and_the_median_dashed(study: GradientStudy) -> None:
    axes = query_gradient(study)
    for style, name in (("-", "rms"), ("--", "median")):
        pair = measured(study, lambda regime, name=name: getattr(regime.gradients["Q"], name))  # type: ignore[misc]
        assert (curve(axes, ORANGE, style), curve(axes, BLUE, style)) == pair


@pytest.mark.parametrize(
    ("panel", "style", "field"),
    [
        (dead_rows, "-", "dead_rows"),
        (dead_rows, "--", "starved_queries"),
        (largest_weight, "-", "largest_weight"),
        (entropy, "-", "entropy"),
    ],
)
def test_a_panel_shows_its_numbers_of_both_arms(
    panel: Panel, style: str, field: str, study: GradientStudy
) -> None:
    axes = panel(study)
    expected = measured(study, lambda regime: float(getattr(regime, field)))
    assert (curve(axes, ORANGE, style), curve(axes, BLUE, style)) == expected


def test_the_places_are_those_of_the_largest_d_k(study: GradientStudy) -> None:
    axes = gradient_places(study)
    assert axes.get_title() == "Where the gradient goes, d_k = 1024"
    assert [label.get_text() for label in axes.get_yticklabels()][1:] == [*PLACES[1:]]
    spans = [segment for found in axes.collections for segment in segments(found)]
    for arm, marker, colour, shift in (
        ("unscaled", "o", ORANGE, 0.16),
        ("scaled", "s", BLUE, -0.16),
    ):
        norms = [getattr(study.widths[-1], arm).gradients[place] for place in PLACES]
        heights = [6 - row + shift for row in range(7)]
        medians = [(norm.median, y) for norm, y in zip(norms, heights, strict=True)]
        assert marks(axes, marker) == medians
        strokes = [line for line in axes.get_lines() if line.get_marker() == "|"]
        (stroke,) = [line for line in strokes if line.get_color() == colour]
        assert np.asarray(stroke.get_xdata()).tolist() == [norm.rms for norm in norms]
        for norm, y in zip(norms, heights, strict=True):
            assert [[max(norm.low, LOWEST), y], [norm.high, y]] in spans
    assert len(marks(axes, "<")) == 7  # without the scale all lie below the axis


def segments(found: Any) -> list[list[list[float]]]:
    assert isinstance(found, LineCollection)
    return [np.asarray(segment).tolist() for segment in found.get_segments()]


def test_widths_are_shown_in_order_whatever_the_order_they_were_asked_in() -> None:
    study = gradient_study_of((1024, 4, 64))
    axes = entropy(study)
    assert list(curve(axes, ORANGE)) == [4.0, 64.0, 1024.0]
    unscaled, scaled = measured(study, lambda regime: regime.entropy)
    assert (curve(axes, ORANGE), curve(axes, BLUE)) == (unscaled, scaled)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["4", "64", "1024"]


def test_widths_that_are_close_are_not_all_named() -> None:
    axes = entropy(gradient_study_of((4, 100, 101, 102, 1024)))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["4", "100", "1024"]


# -------------------------------------------------------------------------------- closed forms

LAWS: list[tuple[Panel, int, Callable[[float], float], str]] = [
    (
        typical_row,
        0,
        lambda d: (
            8.0 * math.sqrt(2.0) * math.exp(-np.euler_gamma / 2 - median_gap(8) * math.sqrt(d))
        ),
        "theory: ∝ exp(−m_n·√d_k), m_n = 0.443",
    ),
    (
        query_gradient,
        0,
        lambda d: 8.0 * math.sqrt(math.sqrt(d) * expected_maximum(8) / 3.0),
        "theory: ∝ √(√d_k·M_n/3), M_n = 1.42",
    ),
    (
        query_gradient,
        1,
        lambda d: math.sqrt(d) * RandomEnergyModel(8, math.sqrt(d)).typical_gradient(8.0),
        "theory: ∝ √d_k·exp(−m_n·√d_k), m_n = 0.443",
    ),
    (
        dead_rows,
        0,
        lambda d: math.exp(-math.log(99.0) * expected_maximum(8) / math.sqrt(d)),
        "theory: exp(−ln 99·M_n/√d_k), M_n = 1.42",
    ),
    (
        largest_weight,
        0,
        lambda d: 1.0 - math.log(2.0) * expected_maximum(8) / math.sqrt(d),
        "theory: 1 − ln 2·M_n/√d_k, M_n = 1.42",
    ),
    (
        entropy,
        0,
        lambda d: math.pi**2 / 6.0 * expected_maximum(8) / math.sqrt(d),
        "theory: (π²/6)·M_n/√d_k, M_n = 1.42",
    ),
]


@pytest.mark.parametrize(("panel", "number", "law", "name"), LAWS)
def test_a_law_is_drawn_where_d_k_is_large(
    panel: Panel, number: int, law: Callable[[float], float], name: str, study: GradientStudy
) -> None:
    axes = panel(study)
    d_k, values = laws(axes)[number]
    large = LARGE / 2.0 if panel is dead_rows else LARGE
    assert d_k[0] == pytest.approx((expected_maximum(8) / large) ** 2)
    assert d_k[-1] == pytest.approx(1024.0)
    assert len(d_k) >= 20
    np.testing.assert_allclose(values, [law(d) for d in d_k], rtol=1e-12)
    assert name in explained(axes)


@pytest.mark.parametrize("panel", OVER_D_K)
def test_no_law_is_drawn_where_it_does_not_hold(panel: Panel) -> None:
    axes = panel(gradient_study_of((4, 16)))
    assert laws(axes) == []
    assert [text for text in explained(axes) if "theory" in text] == []


def test_a_law_starts_with_what_was_measured() -> None:
    ((d_k, _),) = laws(largest_weight(gradient_study_of((256, 1024))))
    assert d_k[0] == pytest.approx(256.0)


def test_where_v_is_as_wide_as_q_the_upstream_grows_too() -> None:
    ((fixed_d_k, fixed), *_), ((_, growing), *_) = (
        laws(query_gradient(gradient_study_of(upstream_width=width))) for width in (64, None)
    )
    np.testing.assert_allclose(growing / fixed, np.sqrt(fixed_d_k / 64.0))


def test_a_law_that_falls_below_the_axis_ends_there() -> None:
    ((_, values),) = laws(typical_row(gradient_study_of((4, 65536))))
    shown = np.isfinite(values)
    assert values[shown].min() > LOWEST
    assert 0 < shown.argmin() < 49
    assert not shown[shown.argmin() :].any()


def test_the_entropy_of_soft_weights_is_drawn_where_scores_spread_little() -> None:
    axes = entropy(gradient_study_of((1, 2, 1024), keys=64))
    _, (d_k, level), (narrow, falling) = laws(axes)
    assert d_k.tolist() == [1, 2, 1024]
    np.testing.assert_allclose(level, math.log(64) - 0.5)
    assert narrow[0] == 1.0
    assert 2.0 < narrow[-1] < 4.0
    np.testing.assert_allclose(falling, math.log(64) - narrow / 2.0)
    # The law's next term stays below a tenth of it.
    assert (np.exp(narrow) / 64 < 0.1 * falling).all()
    assert "theory: ln n − σ²/2" in explained(axes)


def test_with_few_keys_there_is_no_law_for_soft_weights(study: GradientStudy) -> None:
    """With 8 keys its next term, e/8, is a fifth of it."""
    assert len(laws(entropy(study))) == 1


# ------------------------------------------------------------------------------------ real heads


def test_maps_show_every_head(heads: HeadStudy) -> None:
    for scaled, arm in ((False, "unscaled"), (True, "scaled")):
        axes = head_largest_weights(heads, scaled=scaled)
        expected = [getattr(head, arm).largest_weight for head in heads.heads]
        assert cells(axes).ravel().tolist() == expected
        assert cells(axes).shape == (2, 3)
        assert mesh_of(axes).get_clim() == (0.0, 1.0)
        assert len(numbers(axes)) == 6


def test_ratios_are_shown_in_decades(heads: HeadStudy) -> None:
    axes = head_gradient_ratios(heads)
    decades = [math.log10(head.gradient_ratio) for head in heads.heads]
    assert cells(axes).ravel().tolist() == pytest.approx(decades)
    assert mesh_of(axes).get_clim() == (-1.0, 1.0)
    assert numbers(axes)[0, 0] == f"{decades[0]:.1f}".replace("-", "−")


def test_one_extreme_head_does_not_wash_out_the_others(heads: HeadStudy) -> None:
    tiny = dict.fromkeys(PLACES, Distribution(1e-25, 0.0, 1.0, 0.5, 0.5))
    first = replace(heads.heads[0], unscaled=replace(heads.heads[0].unscaled, gradients=tiny))
    axes = head_gradient_ratios(replace(heads, heads=(first, *heads.heads[1:])))
    assert mesh_of(axes).get_clim() == (-8.0, 8.0)
    assert float(numbers(axes)[0, 0].replace("−", "-")) < -20.0


@pytest.mark.parametrize(("leading", "shape"), [((), (1, 1)), ((4,), (1, 4)), ((2, 1, 3), (2, 3))])
def test_heads_of_any_leading_axes_can_be_drawn(
    leading: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    assert cells(head_gradient_ratios(head_study_of(leading))).shape == shape


# --------------------------------------------------------------------------------- all of them


@pytest.mark.parametrize("panel", [*OVER_D_K, gradient_places, *OF_HEADS])
def test_a_panel_can_be_drawn_where_one_wants_in_chinese(
    panel: Panel, study: GradientStudy, heads: HeadStudy
) -> None:
    figure, theirs = foreign()
    axes = panel(heads if panel in OF_HEADS else study, ax=theirs, language="zh")
    assert axes is theirs
    # The signs of the field, and numbers, are the same in both languages.
    signs = r"softmax|exp|ln|nat|log|[WdMm]_[QKVkn]|[QKVnLSq]|1e-3"
    texts = [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text)]
    assert any(re.search("[\u4e00-\u9fff]", text) for text in texts)
    for text in texts:
        assert re.search("[A-Za-z]", re.sub(signs, "", text)) is None, text


def test_every_word_has_its_chinese_twin() -> None:
    assert TEXTS["en"].keys() == TEXTS["zh"].keys()
    assert all(TEXTS["en"][name] != TEXTS["zh"][name] for name in TEXTS["en"])


@pytest.mark.parametrize(
    ("panel", "value"),
    [
        (typical_row, 0.0),
        (query_gradient, 0.0),
        (gradient_places, math.nan),
    ],
)
def test_a_single_d_k_without_any_gradient_can_be_drawn(panel: Panel, value: float) -> None:
    study = gradient_study_of((4,))
    (width,) = study.widths
    nothing = dict.fromkeys(PLACES, Distribution(value, value, value, value, value))
    gone = replace(width, unscaled=replace(width.unscaled, gradients=nothing))
    gone = replace(gone, scaled=replace(width.scaled, gradients=nothing))
    axes = panel(replace(study, widths=(gone,)))
    figure_of(axes).draw_without_rendering()
    if value == 0.0 and panel is not gradient_places:
        assert {y for _, y in marks(axes, "v")} == {LOWEST}
