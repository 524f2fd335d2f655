"""The laboratory's studies: on random numbers, on the lessons' stream and on real heads.

The closed forms are tested in `test_experiments_checks.py`, reading files in
`test_experiments_qkv.py`.
"""

import csv
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import minigrad
from attention import scaled_dot_product_attention
from attention.experiments import (
    PLACES,
    QKV,
    GradientStudy,
    HeadStudy,
    RandomEnergyModel,
    Regime,
    Settings,
    checks_sentence,
    failed_checks,
    gradient_study,
    head_study,
    layer_summaries,
    lesson_stream,
    load_qkv,
    reading_notes,
    study_csv,
    study_json,
    summarise,
    tabulate,
)
from attention.experiments.differences import check_random_head
from attention.experiments.regime import (
    attend,
    measure_attention,
    row_norms,
    softmax_jacobian,
    softmax_rows,
)
from minigrad import Tensor

Array = npt.NDArray[Any]

ROOT = Path(__file__).parents[2]
LESSONS = json.loads((ROOT / "tests" / "reference" / "lessons.json").read_text(encoding="utf-8"))
MINILM = ROOT / "examples" / "data" / "minilm_qkv.npz"


@pytest.fixture(scope="module")
def study() -> GradientStudy:
    return gradient_study(Settings(d_k=(4, 256), rows=304))


@pytest.fixture(scope="module")
def minilm() -> HeadStudy:
    return head_study(load_qkv(MINILM))


# ------------------------------------------------------------------------------------ lessons


def test_lessons_2_and_3_come_out_to_the_last_digit() -> None:
    expected = LESSONS["score_spread"]
    for row, spread, weights in zip(
        lesson_stream(), expected["std"], expected["max_weight"], strict=True
    ):
        assert row.d_k == spread["d_k"] == weights["d_k"]
        assert row.predicted_spread == spread["std_theory"]
        assert row.spread == pytest.approx(spread["std_measured"], rel=1e-12)
        assert row.largest_weight_unscaled == pytest.approx(
            weights["max_weight_unscaled"], rel=1e-12
        )
        assert row.largest_weight_scaled == pytest.approx(weights["max_weight_scaled"], rel=1e-12)


def test_another_seed_gives_another_stream() -> None:
    assert lesson_stream((4,), seed=1) != lesson_stream((4,), seed=0)


# ------------------------------------------------------------------- what is recorded and measured


@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_the_recorded_attention_is_the_attention_of_the_library(scale: float) -> None:
    rng = np.random.default_rng(0)
    query, key, value = (Tensor(rng.standard_normal((3, 5, 16))) for _ in range(3))
    expected, _ = scaled_dot_product_attention(query, key, value, scale=scale)
    logits, context = attend(query, key, value, scale)
    np.testing.assert_allclose(context.data, expected.data, rtol=1e-12)
    np.testing.assert_allclose(logits.data, scale * query.data @ key.data.mT, rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_every_row_norm_agrees_with_the_formulas_on_paper(scale: float) -> None:
    rng = np.random.default_rng(1)
    query, upstream = rng.standard_normal((2, 4, 16))
    key, value = rng.standard_normal((2, 6, 16))
    weights = np.exp(scale * query @ key.T)
    weights /= weights.sum(axis=-1, keepdims=True)
    pull = upstream @ value.T
    logits = weights * (pull - (weights * pull).sum(axis=-1, keepdims=True))
    expected = {
        "softmax input": logits,
        "Q": scale * logits @ key,
        "K": scale * logits.T @ query,
        "V": weights.T @ upstream,
    }
    rows = measure_attention(query, key, value, upstream, scale)
    for place, gradient in expected.items():
        np.testing.assert_allclose(
            rows[place], np.linalg.norm(gradient, axis=-1), rtol=1e-10, err_msg=place
        )
    np.testing.assert_allclose(rows["largest weight"], weights.max(axis=-1), rtol=1e-12)
    np.testing.assert_allclose(
        rows["entropy"], -(weights * np.log(weights)).sum(axis=-1), rtol=1e-12
    )


def test_trace_and_norm_of_the_jacobian_are_those_of_the_engines_jacobian() -> None:
    logits = np.random.default_rng(2).standard_normal((5, 7)) * 3.0
    trace, norm = softmax_jacobian(np.asarray(minigrad.softmax(logits, axis=-1)))
    for row, expected_trace, expected_norm in zip(logits, trace, norm, strict=True):
        jacobian = minigrad.functional.jacobian(lambda x: minigrad.softmax(x, axis=-1), Tensor(row))
        matrix = np.asarray(jacobian)
        assert np.trace(matrix) == pytest.approx(expected_trace, rel=1e-12)
        assert np.linalg.norm(matrix) == pytest.approx(expected_norm, rel=1e-12)


def test_the_jacobian_of_a_saturated_row_keeps_its_digits() -> None:
    trace, norm = softmax_jacobian(np.array([1.0, 1e-20, 0.0]))
    assert trace == pytest.approx(2e-20, rel=1e-12)
    assert norm == pytest.approx(2e-20, rel=1e-12)


def test_a_norm_does_not_underflow_where_its_square_does() -> None:
    assert row_norms(np.array([[3e-200, -4e-200], [0.0, 0.0]])).tolist() == pytest.approx(
        [5e-200, 0.0]
    )
    assert row_norms(np.array([[-3.0]], dtype=np.float32)).tolist() == [3.0]


def test_zeros_are_counted_in_float32_whatever_the_dtype() -> None:
    # exp(-200) is 0 in float32 and 1e-87 in float64.
    rows = softmax_rows(np.array([[0.0, -200.0, -1.0]]), np.array([[1.0, 2.0, 3.0]]))
    assert rows["float32 zeros"].tolist() == pytest.approx([1 / 3])


# ---------------------------------------------------------------------------------- the study


def test_a_d_k_gives_the_same_numbers_whichever_others_are_asked_for() -> None:
    together = gradient_study(Settings(d_k=(4, 16), rows=40))
    alone = gradient_study(Settings(d_k=(16,), rows=40))
    assert together.widths[1] == alone.widths[0]


def test_the_seed_decides_the_numbers() -> None:
    first, again, other = (gradient_study(Settings(d_k=(4,), rows=40, seed=s)) for s in (3, 3, 4))
    assert first == again
    assert first.widths != other.widths


def test_scores_spread_as_predicted_with_and_without_the_scale(study: GradientStudy) -> None:
    for width in study.widths:
        for regime in (width.unscaled, width.scaled):
            assert regime.spread == pytest.approx(regime.predicted_spread, rel=0.06)
        assert width.unscaled.predicted_spread == math.sqrt(width.d_k)
        assert width.scaled.predicted_spread == 1.0


def test_the_typical_row_dies_without_the_scale_and_only_without(study: GradientStudy) -> None:
    narrow, wide = study.widths
    assert wide.unscaled.gradients["softmax input"].median < 0.05
    assert wide.scaled.gradients["softmax input"].median == pytest.approx(
        narrow.scaled.gradients["softmax input"].median, rel=0.15
    )
    assert wide.scaled.dead_rows == wide.scaled.starved_queries == wide.scaled.float32_zeros == 0.0
    assert wide.unscaled.dead_rows > 0.5
    assert 0.15 < wide.unscaled.starved_queries < 0.45


def test_the_rms_at_q_grows_with_d_k_while_its_median_falls(study: GradientStudy) -> None:
    narrow, wide = (width.unscaled.gradients["Q"] for width in study.widths)
    assert wide.rms > 2.0 * narrow.rms
    assert wide.median < 0.3 * narrow.median
    # The upstream at each weight is a dot product over a V of width 64.
    expected = RandomEnergyModel(8, 16.0).query_gradient_rms(upstream=8.0)
    assert study.widths[1].predicted_query_rms == pytest.approx(expected)


def test_nothing_vanishes_at_v(study: GradientStudy) -> None:
    for place in ("V", "W_V"):
        for width in study.widths:
            unscaled, scaled = width.unscaled.gradients[place], width.scaled.gradients[place]
            assert unscaled.rms > scaled.rms
            assert unscaled.median > scaled.median


def test_every_place_is_measured_over_as_many_rows_as_asked(study: GradientStudy) -> None:
    for width in study.widths:
        assert width.rows == 304
        assert width.weight_rows >= 128
        for regime in (width.unscaled, width.scaled):
            assert tuple(regime.gradients) == PLACES


def test_a_fixed_upstream_width_keeps_the_comparison_fair() -> None:
    """With V as wide as d_k the upstream at the weights grows like √d_k, scaled or not."""

    def scaled_medians(width: int | None) -> list[float]:
        settings = Settings(d_k=(16, 64), rows=400, upstream_width=width)
        return [
            result.scaled.gradients["softmax input"].median
            for result in gradient_study(settings).widths
        ]

    narrow, wide = scaled_medians(64)
    assert wide == pytest.approx(narrow, rel=0.2)
    narrow, wide = scaled_medians(None)
    assert wide == pytest.approx(2.0 * narrow, rel=0.2)


SCIENCE_TABLE = [
    # d_k, scaled, largest weight, ‖J‖ mean and median, ‖∂L/∂q‖ mean and median, starved
    (16, False, 0.75, 0.252, 0.278, 3.15, 2.16, 0.007),
    (16, True, 0.35, 0.365, 0.366, 1.31, 1.19, 0.0),
    (256, False, 0.94, 0.084, 0.0023, 17.5, 0.28, 0.26),
    (256, True, 0.36, 0.366, 0.367, 5.3, 4.9, 0.0),
    (1024, False, 0.96, 0.048, 2.7e-6, 37.5, 0.0017, 0.49),
    (1024, True, 0.36, 0.367, 0.369, 10.8, 10.1, 0.0),
]


def wide_regimes(d_k: int, rows: int = 2000) -> dict[bool, Regime]:
    """Attention with V as wide as d_k, as the table has it."""
    (result,) = gradient_study(Settings(d_k=(d_k,), rows=rows, upstream_width=None)).widths
    return {False: result.unscaled, True: result.scaled}


@pytest.mark.slow
@pytest.mark.parametrize("d_k", [16, 256, 1024])
def test_the_published_table_comes_out_within_its_standard_errors(d_k: int) -> None:
    # Two samples of 2,000 rows, the table's and ours: √2 in each interval, four standard errors.
    reach = 4.0 * math.sqrt(2.0 / 2000)
    regimes = wide_regimes(d_k)
    for width, scaled, *expected in SCIENCE_TABLE:
        if width != d_k:
            continue
        weight, norm_mean, norm_median, query_mean, query_median, starved = expected
        regime = regimes[scaled]
        query, norm = regime.gradients["Q"], regime.jacobian
        assert regime.largest_weight == pytest.approx(weight, abs=0.25 * reach + 0.005)
        assert norm.mean == pytest.approx(norm_mean, abs=reach * deviation(norm) + 5e-4)
        assert query.mean == pytest.approx(query_mean, abs=reach * deviation(query) + 0.05)
        share = max(starved, 1 / 2000)
        assert regime.starved_queries == pytest.approx(starved, abs=reach * math.sqrt(share))
        # The logarithm of a frozen row's norm is σ times a gap that falls off like exp(-M_n·gap):
        # the density of the gap at its median is M_n/2, hence the interval of the median.
        model = RandomEnergyModel(8, math.sqrt(d_k))
        factor = 0.05 if scaled else reach / model.order
        assert math.log(norm.median / norm_median) == pytest.approx(0.0, abs=factor)
        assert math.log(query.median / query_median) == pytest.approx(0.0, abs=factor + 0.05)


def deviation(norms: Any) -> float:
    return math.sqrt(norms.rms**2 - norms.mean**2)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_single_and_half_precision_see_the_same_scaled_gradients(dtype: str) -> None:
    (lower,) = gradient_study(Settings(d_k=(16,), rows=400, dtype=dtype)).widths
    (double,) = gradient_study(Settings(d_k=(16,), rows=400)).widths
    for place in PLACES:
        assert lower.scaled.gradients[place].median == pytest.approx(
            double.scaled.gradients[place].median, rel=0.35
        )


def test_the_smallest_study_runs() -> None:
    study = gradient_study(Settings(d_k=(1,), keys=2, rows=1, upstream_width=1))
    (width,) = study.widths
    assert width.rows == 2
    assert not failed_checks(study.checks)
    assert width.unscaled.gradients == width.scaled.gradients


def test_progress_rises_to_one() -> None:
    shares: list[float] = []
    gradient_study(Settings(d_k=(4, 16), rows=40), shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"d_k": ()}, "d_k must hold at least one width"),
        ({"d_k": (4, 0)}, "d_k must be at least 1, not 0"),
        ({"keys": 1}, "keys must be at least 2, not 1"),
        ({"rows": 0}, "rows must be at least 1, not 0"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"upstream_width": 0}, "upstream_width must be at least 1, not 0"),
        ({"dtype": "int8"}, "dtype must be float16, float32 or float64, not 'int8'"),
    ],
)
def test_settings_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Settings(**options)


# ------------------------------------------------------------------ the study checks its gradients


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("d_k", [4, 64])
def test_right_gradients_pass_the_difference_check(d_k: int, scaled: bool) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        checks = check_random_head(rng, d_k=d_k, tokens=6, width=8, scaled=scaled)
        assert failed_checks(checks) == []
        assert sum(check.rows for check in checks) >= 20


def zeros(gradient: Array) -> Array:
    return np.zeros_like(gradient)


def sevenfold(gradient: Array) -> Array:
    return 7.0 * gradient


def negated(gradient: Array) -> Array:
    return -gradient


def rows_exchanged(gradient: Array) -> Array:
    return gradient[::-1].copy()


def a_little_off(gradient: Array) -> Array:
    return gradient * (1.0 + 1e-5)


@pytest.mark.parametrize("mistake", [zeros, sevenfold, negated, rows_exchanged, a_little_off])
@pytest.mark.parametrize("position", range(7))
def test_wrong_gradients_fail_the_difference_check(
    monkeypatch: pytest.MonkeyPatch, mistake: Callable[[Array], Array], position: int
) -> None:
    right = minigrad.grad

    def wrong(output: Tensor, inputs: Sequence[Tensor], *rest: Any) -> tuple[Tensor, ...]:
        found = list(right(output, inputs, *rest))
        found[position] = Tensor(mistake(found[position].data))
        return tuple(found)

    monkeypatch.setattr(minigrad, "grad", wrong)
    checks = check_random_head(np.random.default_rng(0), d_k=16, tokens=4, width=4, scaled=True)
    assert len(failed_checks(checks)) == 1


def test_saturated_rows_are_judged_far_below_what_an_absolute_tolerance_sees() -> None:
    smallest = min(
        check.smallest
        for seed in range(3)
        for check in check_random_head(
            np.random.default_rng(seed), d_k=256, tokens=8, width=64, scaled=False
        )
        if check.rows and check.place in ("softmax input", "Q")
    )
    assert smallest < 1e-5


def test_the_sample_has_saturated_and_unsaturated_queries(study: GradientStudy) -> None:
    inputs = [check for check in study.checks if check.place == "softmax input"]
    assert sum(check.unsaturated for check in inputs) >= 8
    assert any(check.unsaturated < check.queries for check in inputs)
    assert failed_checks(study.checks) == []
    assert max(check.worst for check in study.checks) < 1e-6


def test_a_place_that_could_not_be_judged_at_all_is_a_failure(study: GradientStudy) -> None:
    unjudged = [replace(check, rows=0, worst=0.0) for check in study.checks if check.place == "K"]
    assert failed_checks(unjudged) == ["K: no row could be judged"]
    assert failed_checks([replace(study.checks[0], worst=math.nan)]) != []


# ------------------------------------------------------------------------------------- sentences


def test_the_sentences_say_what_was_seen(study: GradientStudy) -> None:
    typical, query, value = summarise(study)
    assert typical.startswith("The typical row dies: at d_k = 256")
    assert "RMS of ∂L/∂Q without the scale grows" in query
    assert value.startswith("V is untouched")


def with_value_rms(regime: Regime, rms: float) -> Regime:
    values = replace(regime.gradients["V"], rms=rms)
    return replace(regime, gradients=regime.gradients | {"V": values})


def test_the_sentences_say_otherwise_when_the_numbers_do(study: GradientStudy) -> None:
    """With the two arms exchanged and V starved, nothing that is usually told is true."""
    narrow, wide = study.widths
    fake = replace(wide, unscaled=with_value_rms(wide.scaled, 0.1), scaled=wide.unscaled)
    exchanged = replace(study, widths=(narrow, fake))
    typical, _, value = summarise(exchanged)
    assert typical.startswith("The typical row does not die here")
    assert value.startswith("V is touched here")
    chinese = summarise(exchanged, "zh")
    assert "没有“死”" in chinese[0]
    assert "V 受了影响" in chinese[2]


def test_growth_is_claimed_only_where_it_was_seen(study: GradientStudy) -> None:
    narrow, wide = study.widths
    shrunk = replace(study, widths=(replace(narrow, d_k=256), replace(wide, d_k=4)))
    assert "does not grow here" in summarise(shrunk)[1]
    assert "没有变大" in summarise(shrunk, "zh")[1]
    assert "One d_k cannot show growth" in summarise(replace(study, widths=(wide,)))[1]


def test_a_narrow_head_does_not_die_and_is_not_said_to() -> None:
    study = gradient_study(Settings(d_k=(2,), rows=200))
    assert summarise(study)[0].startswith("The typical row does not die here")


def test_both_languages_say_the_same_numbers(study: GradientStudy, minilm: HeadStudy) -> None:
    for any_study in (study, minilm):
        for english, chinese in zip(
            summarise(any_study, "en"), summarise(any_study, "zh"), strict=True
        ):
            assert "{" not in english + chinese
            assert sorted(numbers(english)) == sorted(numbers(chinese))
    english, chinese = (checks_sentence(study.checks, language) for language in ("en", "zh"))
    assert sorted(numbers(english)) == sorted(numbers(chinese))


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d[\d.,e+-]*\d|\d", text))


# ---------------------------------------------------------------------------------- tables, data


def test_the_tables_show_every_place_for_both_arms(study: GradientStudy) -> None:
    forward, saturation, gradients = tabulate(study)
    assert [row.label for row in forward.rows] == ["4", "256"]
    assert forward.rows[1].unscaled[1] == "16.0"
    assert saturation.rows[1].scaled[-3:] == ("0", "0", "0")
    headings = [row.label for row in gradients.rows if not row.unscaled]
    assert headings == list(PLACES)
    for table in (forward, saturation, gradients):
        for row in table.rows:
            assert len(row.unscaled) == len(row.scaled)
            assert len(row.unscaled) in (0, len(table.columns))
    assert len(reading_notes(study)) == len(reading_notes(study, "zh")) == 4


def test_json_holds_everything_that_was_measured(study: GradientStudy) -> None:
    loaded = json.loads(study_json(study))
    findings = loaded.pop("findings")
    assert tuple(findings) == summarise(study)
    assert loaded == json.loads(json.dumps(asdict(study)))


def test_json_has_null_where_a_number_is_not_finite(study: GradientStudy) -> None:
    broken = replace(study.widths[0], predicted_query_rms=math.inf)
    loaded = json.loads(study_json(replace(study, widths=(broken,))))
    assert loaded["widths"][0]["predicted_query_rms"] is None


def test_csv_has_one_number_on_each_line(study: GradientStudy, minilm: HeadStudy) -> None:
    lines = list(csv.DictReader(study_csv(study).splitlines()))
    assert len(lines) == 2 * 2 * (7 + 5 + 5 * len(PLACES))
    (line,) = [
        line
        for line in lines
        if (line["d_k"], line["scaled"], line["quantity"], line["statistic"])
        == ("256", "false", "softmax input", "median")
    ]
    assert float(line["value"]) == study.widths[1].unscaled.gradients["softmax input"].median
    heads = list(csv.DictReader(study_csv(minilm).splitlines()))
    assert heads[-1]["head"] == "[5, 11]"


# ------------------------------------------------------------------------------------ real heads


def test_the_real_heads_spread_and_attend_as_their_documentation_says(minilm: HeadStudy) -> None:
    layers = layer_summaries(minilm)
    spreads = [layer.spread for layer in layers]
    assert spreads == pytest.approx([9.7, 10.8, 10.8, 7.5, 8.4, 7.0], abs=0.05)
    unscaled, scaled = zip(*(layer.largest_weight for layer in layers), strict=True)
    assert (min(scaled), max(scaled)) == pytest.approx((0.38, 0.66), abs=0.005)
    assert (min(unscaled), max(unscaled)) == pytest.approx((0.82, 0.96), abs=0.005)


def test_the_files_own_weights_agree_with_those_computed(minilm: HeadStudy) -> None:
    assert minilm.weights_difference is not None
    assert minilm.weights_difference < 1e-6
    assert "6.0e-07" in reading_notes(minilm)[0]
    wrong = replace(load_qkv(MINILM), weights=np.full((6, 12, 12, 12), 1 / 12))
    mismatch = head_study(wrong)
    assert mismatch.weights_difference == pytest.approx(11 / 12, abs=0.01)
    assert "mask or another scale" in reading_notes(mismatch)[0]


def test_taking_the_scale_from_real_heads_saturates_most_of_them(minilm: HeadStudy) -> None:
    unscaled = sum(head.unscaled.saturated for head in minilm.heads)
    scaled = sum(head.scaled.saturated for head in minilm.heads)
    assert (len(minilm.heads), unscaled, scaled) == (72, 52, 1)
    first, second, third = summarise(minilm)
    assert "52 of 72 heads are saturated" in first
    assert "starves the typical row" in second
    assert third.startswith("V is untouched")
    assert failed_checks(minilm.checks) == []


def test_calm_heads_are_said_to_be_calm() -> None:
    quiet = 0.01 * np.random.default_rng(0).standard_normal((3, 2, 5, 8))
    study = head_study(QKV("quiet", *quiet))
    first, second, _ = summarise(study)
    assert first.startswith("Without the scale 0 of 2 heads")
    assert second.startswith("Taking the scale away does not starve")
    assert reading_notes(study) == ()


@pytest.mark.parametrize("leading", [(), (3,), (2, 3), (2, 1, 3)])
def test_heads_may_have_any_leading_axes_and_lengths(leading: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    query = rng.standard_normal((*leading, 4, 8))
    key, value = rng.standard_normal((*leading, 6, 8)), rng.standard_normal((*leading, 6, 2))
    study = head_study(QKV("drawn", query, key, value))
    assert [head.index for head in study.heads] == list(np.ndindex(leading))
    assert (study.queries, study.keys, study.d_k, study.d_v) == (4, 6, 8, 2)
    heads, layers = tabulate(study)
    assert len(heads.rows) == math.prod(leading)
    assert sum(layer.heads for layer in layer_summaries(study)) == math.prod(leading)
    assert len(layers.rows) == math.prod(leading[:-1])


def test_a_head_of_width_one_is_its_own_scaled_self() -> None:
    rng = np.random.default_rng(0)
    study = head_study(QKV("thin", *rng.standard_normal((3, 4, 1))))
    (head,) = study.heads
    assert (head.unscaled.scaled, head.scaled.scaled) == (False, True)
    assert head.unscaled.gradients == head.scaled.gradients
    assert head.gradient_ratio == 1.0
