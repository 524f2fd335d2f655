"""Ways in which gradient checks misled somebody: passing what is wrong, or blaming what is right.
The letter and number at the head of each name are the case's own."""

from typing import Any

import numpy as np
import pytest

import attention
import minigrad
from minigrad import GradcheckError, Tensor, gradcheck, primitive
from tests.helpers import leaf


def _pair(rng: np.random.Generator) -> Any:
    return (rng.normal(size=2),)


@primitive(lambda g: g * np.array([0.0, 5.0]), example=_pair)
def zero_and_six_times(x: Any) -> Any:
    """Claims a slope of 5 for its second entry, where it is 6."""
    return x * np.array([0.0, 6.0])


@primitive(lambda g, x: np.full(x.shape, np.nan), example=_pair)
def nan_gradient(x: Any) -> Any:
    """Twice its input, with NaN for a gradient."""
    return x * 2.0


@primitive(lambda g: np.full(g.shape, 3.0), example=_pair)
def triple_ignoring_upstream(x: Any) -> Any:
    """Three times its input, with a rule that does not look at the upstream gradient."""
    return x * 3.0


@primitive(lambda g, out: g * out * (1 - out), example=_pair)
def softmax_with_diagonal_rule(x: Any) -> Any:
    """A softmax whose rule forgot the cross terms."""
    weights = np.exp(x - x.max())
    return weights / weights.sum()


@primitive(lambda g, x: np.where(x > 0, g, np.where(x == 0, 5 * g, 0.0)), example=_pair)
def relu_with_slope_5_at_0(x: Any) -> Any:
    """A rectifier whose slope at 0 lies outside of what the kink allows."""
    return np.maximum(x, 0.0)


def test_g01_float32_is_checked_in_float64_and_not_called_wrong() -> None:
    x = leaf(np.array([0.3, 0.7], dtype=np.float32))
    report = gradcheck(lambda t: (t * t).sum(), [x])
    assert report.ok
    assert "checked on float64 copies" in str(report)
    assert x.dtype == np.float32


def test_g03_transposed_and_broadcast_inputs_are_checked_entry_by_entry() -> None:
    x = leaf(np.arange(6.0).reshape(2, 3).T)
    assert gradcheck(lambda t: (t**2).sum(), [x])
    with pytest.raises(GradcheckError, match="gradient wrong in 6 of 6 entries"):
        gradcheck(lambda t: triple_ignoring_upstream(t).sum() * 2.0, [x])

    y = leaf(np.broadcast_to(np.array([2.0]), (3,)))
    assert gradcheck(lambda t: (t**2).sum(), [y])


def test_g04_a_kink_is_not_called_a_mistake() -> None:
    report = gradcheck(lambda t: minigrad.relu(t).sum(), [leaf([0.0])], raise_exception=False)
    assert "kink here" in str(report)
    assert "not differentiable" in str(report)
    assert "wrong" not in str(report)


def test_g04_a_gradient_outside_of_both_slopes_is_a_mistake_even_at_a_kink() -> None:
    with pytest.raises(GradcheckError, match="gradient wrong"):
        gradcheck(relu_with_slope_5_at_0, [leaf([0.0, 1.0])])


def test_g06_an_entry_where_both_are_0_does_not_hide_a_mistake_elsewhere() -> None:
    report = gradcheck(zero_and_six_times, [leaf([1.0, 1.0])], raise_exception=False)
    assert not report.ok
    assert "wrong in 1 of 2 entries" in str(report)
    assert "the worst is [1]" in str(report)
    _, index = report.inputs[0].worst()
    analytic, numeric = report.inputs[0].analytic[0][index], report.inputs[0].numeric[0][index]
    assert analytic / numeric == pytest.approx(5 / 6)


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
@pytest.mark.parametrize("factor", [0.0, 0.99, -1.0])
def test_g06_a_mistake_is_judged_relative_to_the_gradient_however_small_that_is(
    scale: float, factor: float
) -> None:
    @primitive(lambda g: g * scale * factor)
    def broken(x: Any) -> Any:
        return x * scale

    assert gradcheck(lambda t: t * scale, [leaf([0.5, 2.0])])
    with pytest.raises(GradcheckError, match="gradient wrong in 2 of 2"):
        gradcheck(broken, [leaf([0.5, 2.0])])


def test_g07_a_gradient_of_nan_is_wrong() -> None:
    with pytest.raises(GradcheckError, match=r"gradient wrong in 1 of 1 entries.*nan by backward"):
        gradcheck(nan_gradient, [leaf([1.0])])


def test_g07_a_function_that_is_nan_is_neither_right_nor_a_mismatch() -> None:
    with np.errstate(invalid="ignore"):
        report = gradcheck(lambda t: minigrad.log(t).sum(), [leaf([-1.0])], raise_exception=False)
    assert not report.ok
    assert "the function is NaN here" in str(report)
    assert "wrong" not in str(report)


def test_g07_a_function_that_is_infinite_is_not_called_right() -> None:
    with np.errstate(over="ignore"):
        report = gradcheck(minigrad.exp, [leaf([1e4, 1.0])], raise_exception=False)
    assert not report.ok
    assert "infinite here" in str(report)


def test_g08_what_is_no_tensor_has_no_gradient_to_check() -> None:
    for function in (Tensor.item, Tensor.numpy, lambda t: (t, t.numpy())):
        with pytest.raises(TypeError, match="must return a tensor"):
            gradcheck(function, [leaf([0.5])])


def test_g08_a_gradient_that_never_arrives_is_reported_with_its_number() -> None:
    history_lost = lambda t: Tensor(np.tanh(t.data)).sum()  # noqa: E731
    report = gradcheck(history_lost, [leaf([0.5])], raise_exception=False)
    assert not report.ok
    assert "no gradient reached input 0 (numerical 0.7864477" in str(report)


def test_g09_a_rule_that_ignores_the_upstream_is_found() -> None:
    with pytest.raises(GradcheckError, match="gradient wrong"):
        gradcheck(triple_ignoring_upstream, [leaf([1.0, 2.0])])


def test_g09_a_softmax_rule_without_cross_terms_is_found() -> None:
    with pytest.raises(GradcheckError, match="gradient wrong"):
        gradcheck(softmax_with_diagonal_rule, [leaf([1.0, 2.0, 3.0])])


def test_g10_inputs_come_back_bit_for_bit_and_without_a_gradient() -> None:
    x = leaf([0.3])
    before = x.data.copy()
    gradcheck(lambda t: (t * t).sum(), [x])
    assert x.data.tobytes() == before.tobytes()
    assert x.grad is None


def test_g10_a_gradient_that_was_there_stays_what_it_was() -> None:
    x = leaf([0.3, 0.4])
    x.grad = np.array([7.0, 8.0])
    gradcheck(lambda t: t * t, [x])
    assert x.grad.tolist() == [7.0, 8.0]


def test_g10_inputs_are_whole_even_if_the_function_raises() -> None:
    x = leaf([0.3])
    before = x.data.copy()
    calls: list[int] = []

    def breaks_at_the_fourth_call(t: Tensor) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise ZeroDivisionError
        return (t * t).sum()

    with pytest.raises(ZeroDivisionError):
        gradcheck(breaks_at_the_fourth_call, [x])
    assert x.data.tobytes() == before.tobytes()
    assert x.grad is None


def test_g12_a_random_function_is_called_not_deterministic() -> None:
    """Also if two calls happen to agree: of eight entries, the same number may be dropped."""
    for size in (8, 1):
        for seed in range(25):
            rng = np.random.default_rng(seed)
            report = gradcheck(
                lambda t, rng=rng: attention.functional.dropout(t, 0.5, rng).sum(),
                [leaf(np.ones(size))],
                raise_exception=False,
            )
            assert not report.ok
            assert "not deterministic" in str(report)
            assert "wrong" not in str(report)


def test_an_example_whose_gradient_drowns_in_noise_proves_nothing() -> None:
    """A softmax at ±3000 is flat, so that a rule of zeros would pass there."""

    @minigrad.primitive(lambda g: g * 0, example=lambda rng: (rng.normal(size=(2, 3)) * 3000,))
    def flat(x: Any) -> Any:
        return minigrad.softmax(x)

    assert "stands out of the noise" in minigrad.check_primitive(flat).problem


def test_a_large_result_beside_a_wrong_gradient_does_not_hide_it() -> None:
    @minigrad.primitive(lambda g: 5 * g)
    def twice(x: Any) -> Any:
        return 2 * x

    x = Tensor([1.0, 2.0], requires_grad=True)
    assert not gradcheck(lambda t: (twice(t), Tensor([1e12])), [x], raise_exception=False)


def test_a_kink_within_the_step_is_no_mistake() -> None:
    for place in np.linspace(-2e-5, 2e-5, 41):
        x = Tensor([place], requires_grad=True)
        for function in (minigrad.relu, minigrad.abs, lambda t: minigrad.clip(t, 0.0, 1.0)):
            assert gradcheck(function, [x], raise_exception=False), place


def test_a_rule_that_hands_out_one_buffer_again_and_again_is_wrong_when_used_twice() -> None:
    buffer = np.empty((2, 3))

    def rule(g: Any) -> Any:
        if g.shape != buffer.shape:
            return 2 * g
        buffer[...] = 2 * g
        return buffer

    @minigrad.primitive(
        rule, example=lambda rng: (rng.normal(size=(2, 3)),), no_second="it works on arrays only"
    )
    def doubled(x: Any) -> Any:
        return 2 * x

    assert "used twice" in minigrad.check_primitive(doubled).problem
