"""`detect_anomaly` names the first op, forward or backward, whose value or gradient is not finite,
and the user's line; what the user brought in, such as the −inf of a mask, is no anomaly."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import attention
import minigrad
from minigrad import Tensor, detect_anomaly, primitive
from tests.helpers import Array, assert_close, gradient_of, leaf, next_line, traced


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """NumPy itself says nothing here."""
    with np.errstate(all="ignore"):
        yield


def test_it_names_the_op_that_made_the_first_nan_and_the_users_line() -> None:
    x = leaf([2.0, -1.0])
    with detect_anomaly():
        h = x * 3.0
        here = next_line() + 1
        with pytest.raises(FloatingPointError) as caught:
            minigrad.log(h)
    assert str(caught.value).startswith("log made the first NaN")
    assert f"{__file__}, line {here}" in str(caught.value)


def test_it_names_the_op_that_made_the_first_infinity() -> None:
    x = leaf([800.0])
    with detect_anomaly(), pytest.raises(FloatingPointError, match=r"^exp made the first infinity"):
        minigrad.exp(x)


def test_an_infinity_that_turns_into_nan_later_is_found_where_it_began() -> None:
    def difference(x: Tensor) -> Any:
        y = 1.0 / x
        return y - y

    assert np.isnan(difference(leaf([0.0])).data).all()
    with detect_anomaly(), pytest.raises(FloatingPointError, match=r"^divide .* first infinity"):
        difference(leaf([0.0]))


def test_it_names_the_rule_that_made_the_first_nan_on_the_way_back() -> None:
    x = leaf([0.0, 4.0], name="radius")
    with detect_anomaly():
        here = next_line()
        y = minigrad.sqrt(x)
        loss = (y * np.array([1.0, 2.0])).sum()
        with pytest.raises(FloatingPointError) as caught:
            loss.backward()
    message = str(caught.value)
    assert "rule of sqrt" in message
    assert "first infinity on the way back" in message
    assert f"{__file__}, line {here}" in message


def test_no_leaf_gets_a_gradient_from_a_backward_that_was_stopped() -> None:
    x, w = leaf([0.0]), leaf([1.0])
    with detect_anomaly():
        loss = (minigrad.sqrt(x) + w * 2.0).sum()
        with pytest.raises(FloatingPointError):
            loss.backward()
    assert x.grad is None
    assert w.grad is None


def test_a_rule_of_ones_own_is_found_as_well() -> None:
    @primitive(lambda g: g * np.nan)
    def broken(x: Any) -> Any:
        return x * 1.0

    x = leaf([1.0])
    with detect_anomaly():
        y = broken(x)
        with pytest.raises(FloatingPointError, match="rule of broken for x made the first NaN"):
            y.backward(np.ones(1))


def test_what_the_user_brought_in_is_no_anomaly() -> None:
    with detect_anomaly():
        y = leaf([np.nan, 1.0]) * 2.0
        z = leaf([np.inf, 1.0]) + 1.0
        y.backward(np.array([1.0, np.nan]))
    assert_close(y, [np.nan, 2.0])
    assert_close(z, [np.inf, 2.0])


MASKS: dict[str, Array] = {
    "boolean": np.array([[True, False, True], [True, True, False]]),
    "boolean, a row all masked": np.array([[True, False, True], [False, False, False]]),
    "additive": np.array([[0.0, -np.inf, 0.0], [0.0, 0.0, -np.inf]]),
    "additive, a row all masked": np.array([[0.0, -np.inf, 0.5], [-np.inf] * 3]),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_the_minus_infinity_of_a_mask_is_no_anomaly(mask: Array) -> None:
    rng = np.random.default_rng(0)
    q, k, v = leaf(rng.normal(size=(2, 4))), leaf(rng.normal(size=(3, 4))), leaf(np.eye(3, 5))
    with detect_anomaly():
        output, _ = attention.scaled_dot_product_attention(q, k, v, mask)
        output.backward(rng.normal(size=(2, 5)))
    for tensor in (q, k, v):
        assert np.isfinite(gradient_of(tensor)).all()


def test_a_causal_mask_is_no_anomaly() -> None:
    x = leaf(np.random.default_rng(0).normal(size=(4, 3)))
    with detect_anomaly():
        output, _ = attention.scaled_dot_product_attention(x, x, x, is_causal=True)
        output.backward(np.ones((4, 3)))
    assert np.isfinite(gradient_of(x)).all()


def test_a_masked_score_that_is_nan_is_an_anomaly_of_where_it_began() -> None:
    scores = leaf([[1.0, -1.0]])
    with pytest.raises(FloatingPointError, match=r"^log made the first NaN"), detect_anomaly():
        minigrad.masked_fill(minigrad.log(scores), np.array([[False, True]]), -np.inf)


def test_outside_of_it_nothing_is_said() -> None:
    with detect_anomaly():
        pass
    assert_close(minigrad.log(Tensor([-1.0])), [np.nan])


def test_finite_computations_pass_and_give_the_same_gradient() -> None:
    plain, watched = leaf([0.5, 2.0]), leaf([0.5, 2.0])
    upstream = np.array([1.0, -3.0])
    minigrad.log(plain).backward(upstream)
    with detect_anomaly():
        minigrad.log(watched).backward(upstream)
    assert_close(gradient_of(watched), gradient_of(plain))


def test_it_also_watches_results_that_are_not_recorded() -> None:
    with pytest.raises(FloatingPointError, match=r"^log"), minigrad.no_grad(), detect_anomaly():
        minigrad.log(leaf([-1.0]))


def test_it_can_be_combined_with_trace() -> None:
    x = leaf([2.0, -1.0])
    with minigrad.trace(), detect_anomaly():
        h = x * 3.0
        with pytest.raises(FloatingPointError, match=r"^log"):
            minigrad.log(h)
    assert_close(traced(h)[2], [6.0, -3.0])
