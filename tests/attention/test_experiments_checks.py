"""The closed forms: the predictions themselves, and that the engine's measurements meet them."""

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import minigrad
from attention.experiments import (
    Check,
    RandomEnergyModel,
    closed_form_checks,
    expected_maximum,
    median_gap,
    score_kurtosis,
)
from attention.experiments import checks as checks_module
from attention.experiments.checks import failed


@pytest.fixture(scope="module")
def checks() -> tuple[Check, ...]:
    return closed_form_checks(rows=1000)


# -------------------------------------------------------------------------------- predictions


def test_the_expected_maximum_is_exact_for_two_and_three() -> None:
    assert expected_maximum(1) == pytest.approx(0.0, abs=1e-14)
    assert expected_maximum(2) == pytest.approx(1 / math.sqrt(math.pi), rel=1e-12)
    assert expected_maximum(3) == pytest.approx(1.5 / math.sqrt(math.pi), rel=1e-12)


def test_the_expected_maximum_matches_the_published_table() -> None:
    table = {8: 1.4236, 16: 1.7660, 64: 2.3437, 256: 2.8269, 1024: 3.2482}
    for n, expected in table.items():
        assert expected_maximum(n) == pytest.approx(expected, abs=5e-5)


def test_the_expected_maximum_grows_but_stays_below_its_bound() -> None:
    values = [expected_maximum(2**k) for k in range(1, 31)]
    assert values == sorted(values)
    for k, value in enumerate(values, start=1):
        assert value < math.sqrt(2.0 * k * math.log(2.0))


def test_the_median_gap_is_exact_for_two() -> None:
    """The gap between two is |N(0, 2)|, whose median is √2 times that of |N(0, 1)|."""
    assert median_gap(2) == pytest.approx(math.sqrt(2.0) * 0.6744897501960817, rel=1e-12)


@pytest.mark.parametrize("n", [3, 8, 64, 1024])
def test_half_of_the_gaps_are_below_their_median(n: int) -> None:
    ordered = np.sort(np.random.default_rng(n).standard_normal((4000, n)), axis=-1)
    below = (ordered[:, -1] - ordered[:, -2] < median_gap(n)).mean()
    assert below == pytest.approx(0.5, abs=4.0 * 0.5 / math.sqrt(4000))


@pytest.mark.parametrize(("keys", "spread"), [(1, 1.0), (8, 0.0), (8, -1.0), (8, math.nan)])
def test_the_model_refuses_what_it_does_not_cover(keys: int, spread: float) -> None:
    with pytest.raises(ValueError, match="at least 2 keys and a positive spread"):
        RandomEnergyModel(keys, spread)


def test_no_number_has_a_largest_of_none() -> None:
    with pytest.raises(ValueError, match="n must be at least 1"):
        expected_maximum(0)


def test_one_number_has_no_gap() -> None:
    with pytest.raises(ValueError, match="n must be at least 2"):
        median_gap(1)


def test_attention_freezes_at_twice_the_logarithm_of_n() -> None:
    assert not RandomEnergyModel(64, math.sqrt(8.3)).frozen
    assert RandomEnergyModel(64, math.sqrt(8.4)).frozen


def test_the_predictions_have_their_published_values() -> None:
    frozen = RandomEnergyModel(64, 32.0)
    assert frozen.frozen_trace == pytest.approx(0.0732, abs=5e-5)
    assert frozen.frozen_missing_weight == pytest.approx(0.0508, abs=5e-5)
    assert frozen.frozen_entropy == pytest.approx(0.1205, abs=5e-5)
    assert frozen.dead_rows() == pytest.approx(0.714, abs=5e-4)
    assert RandomEnergyModel(2, 32.0).frozen_jacobian_square == pytest.approx(0.00588, abs=5e-6)
    liquid = RandomEnergyModel(1024, 1.0)
    assert liquid.liquid_entropy == pytest.approx(6.431, abs=5e-4)
    assert 1.0 - liquid.liquid_participation == pytest.approx(0.9973, abs=5e-5)
    assert score_kurtosis(16) == 3.375
    for d_k, expected in ((64, 2.17), (1024, 4.34), (4096, 6.14)):
        model = RandomEnergyModel(16, math.sqrt(d_k))
        assert model.query_gradient_rms() == pytest.approx(expected, abs=0.005)
        assert model.query_gradient_rms(8.0) == pytest.approx(8.0 * model.query_gradient_rms())


def test_the_frozen_rms_grows_like_the_fourth_root_of_d_k() -> None:
    narrow, wide = (RandomEnergyModel(16, math.sqrt(d)).query_gradient_rms() for d in (64, 1024))
    assert wide / narrow == pytest.approx(2.0)


def test_the_law_for_infinitely_many_keys_is_not_good_enough() -> None:
    """Σp² at n = 64, σ = 8 is .71, where 1 − σ_c/σ says .64; so the laws here use M_n."""
    logits = 8.0 * np.random.default_rng(0).standard_normal((20_000, 64))
    measured = float((np.asarray(minigrad.softmax(logits, axis=-1)) ** 2).sum(axis=-1).mean())
    infinite = 1.0 - math.sqrt(2.0 * math.log(64)) / 8.0
    assert measured == pytest.approx(0.713, abs=0.01)
    assert measured - infinite > 0.06
    assert 1.0 - RandomEnergyModel(64, 8.0).frozen_trace == pytest.approx(measured, abs=0.01)


# -------------------------------------------------------------------------------- measurements


@pytest.mark.slow
def test_every_closed_form_holds(checks: tuple[Check, ...]) -> None:
    assert failed(checks) == []


@pytest.mark.slow
def test_every_row_of_the_published_list_is_checked(checks: tuple[Check, ...]) -> None:
    assert Counter(check.name for check in checks) == {
        "std of q·k": 2,
        "kurtosis of q·k": 1,
        "entropy": 2,
        "Σp²": 1,
        "entropy below freezing": 1,
        "entropy above freezing": 1,
        "E[tr J]": 3,
        "tr J": 1,
        "1 − max p": 1,
        "‖J‖²": 1,
        "log₂ of the median tr J": 2,
        "log₂ of the median ‖∂L/∂S‖": 2,
        "dead rows, max p > .99": 2,
        "RMS ‖∂L/∂q‖": 3,
        "share of ‖∂L/∂Q‖² in top 1 %": 2,
        "exact zeros in float32 ∂L/∂S": 4,
        "largest ‖J‖₂, excess over ½": 1,
        "‖J‖₂ at (½, ½, 0, ...)": 1,
        "largest row sum of ∂L/∂S": 1,
        "∂L/∂S, equal values": 1,
        "power of h in the error": 2,
        "log₁₀ of the best h": 1,
        "smallest error": 1,
    }


@pytest.mark.slow
def test_no_tolerance_is_so_wide_that_nothing_at_all_would_pass(
    checks: tuple[Check, ...],
) -> None:
    for check in checks:
        if check.predicted == 0.0:
            assert check.tolerance < 1e-9, check
        else:
            assert not replace(check, measured=0.0).passed, check


@pytest.mark.slow
def test_the_laws_fail_on_each_others_side_of_the_freezing_point(
    checks: tuple[Check, ...],
) -> None:
    below, above = (
        next(check for check in checks if check.name == f"entropy {side} freezing")
        for side in ("below", "above")
    )
    critical = math.sqrt(2.0 * math.log(64))
    frozen_law = RandomEnergyModel(64, critical / 4).frozen_entropy
    liquid_law = RandomEnergyModel(64, critical * 8).liquid_entropy
    assert not replace(below, predicted=frozen_law).passed
    assert not replace(above, predicted=liquid_law).passed


def test_a_check_that_is_not_a_number_does_not_pass() -> None:
    assert not Check("x", "", "", math.nan, 0.0, 1.0).passed
    assert not Check("x", "", "", 0.0, 0.0, math.nan).passed
    assert Check("x", "", "", 0.0, 0.0, 0.0).passed


def test_a_wrong_law_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks_module, "score_kurtosis", lambda d_k: 3.0)
    (wrong,) = failed(checks_module._spread_of_scores(np.random.default_rng(0), 1000))
    assert wrong.name == "kurtosis of q·k"


@pytest.mark.slow
def test_a_wrong_gradient_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    right = minigrad.grad

    def forgetful(*arguments: Any) -> tuple[minigrad.Tensor, ...]:
        return tuple([minigrad.Tensor(2.0 * g.data) for g in right(*arguments)])

    monkeypatch.setattr(minigrad, "grad", forgetful)
    rng = np.random.default_rng(0)
    assert failed(checks_module._query_gradient(rng, 400))
    assert failed(checks_module._lipschitz(rng, 400))
    assert failed(checks_module._finite_differences(rng, 400))


def test_the_seed_decides_the_numbers() -> None:
    first, again, other = (checks_module._liquid(np.random.default_rng(s), 100) for s in (1, 1, 2))
    assert first == again
    assert first != other


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="rows must be at least 100"):
        closed_form_checks(rows=99)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_closed_forms_hold_for_other_seeds(seed: int) -> None:
    assert failed(closed_form_checks(seed=seed, rows=4000)) == []
