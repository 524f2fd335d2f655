"""Every contribution against finite differences: what is right passes, whatever its dtype, size and
kinks, and what is wrong is stopped at, with the event, the op, the tensor and the line."""

from typing import Any

import numpy as np
import pytest

import attention
import minigrad
from minigrad import (
    BackwardSteps,
    GradcheckError,
    Tensor,
    gradcheck,
    joint_primitive,
    primitive,
    step_backward,
    trace,
)
from tests.helpers import Array, assert_close, leaf, next_line
from tests.minigrad.stepper import recorded, upstream_of

RNG = np.random.default_rng(5)


def checked(function: Any, *arrays: Any, gradient: Any = None) -> BackwardSteps:
    """The log of the function's backward, every contribution checked; it raises if one is wrong."""
    out, *_ = recorded(function, *[np.asarray(x) for x in arrays])
    return step_backward(out, upstream_of(out) if gradient is None else gradient, check=True)


def verdicts(steps: BackwardSteps) -> list[Any]:
    return [event.verdict for event in steps if event.verdict is not None]


# --------------------------------------------------------------------------------- what is right


def test_every_contribution_has_a_verdict_and_nothing_else_has() -> None:
    steps = checked(
        lambda x, w: minigrad.softmax(x @ w) * x[0, 0],
        RNG.normal(size=(2, 3)),
        RNG.normal(size=(3, 4)),
    )
    for event in steps[:-1]:
        is_made = event.kind in ("rule", "unbroadcast")
        # Where broadcasting is undone, it is what comes of that which has a verdict.
        is_last = steps[event.index + 1].kind != "unbroadcast"
        assert (event.verdict is not None) == (is_made and is_last)
    assert "unbroadcast" in [event.kind for event in steps]
    for verdict in verdicts(steps):
        assert verdict.checked == verdict.size > 0
        assert verdict.relative < 1e-6
        assert verdict.step == 1e-5


def test_without_check_there_are_no_verdicts() -> None:
    out, *_ = recorded(minigrad.exp, RNG.normal(size=3))
    assert verdicts(step_backward(out, upstream_of(out))) == []


def test_a_verdict_has_the_slope_at_each_entry_of_the_input() -> None:
    x, w = RNG.normal(size=(4, 1, 3)), RNG.normal(size=(2, 1))
    steps = checked(lambda x, w: x * w, x, w)
    for event in steps:
        if event.kind == "accumulate":
            verdict = next(
                e.verdict for e in steps if e.verdict is not None and e.position == event.position
            )
            assert verdict is not None
            assert_close(verdict.numeric, np.asarray(event.contribution), rtol=1e-7, atol=1e-9)
            error = np.abs(np.asarray(verdict.numeric) - np.asarray(event.contribution))
            assert verdict.absolute == error[verdict.worst]


def test_of_many_entries_a_sample_is_looked_at_and_the_rest_is_not_told() -> None:
    (verdict,) = verdicts(checked(minigrad.tanh, RNG.normal(size=(30, 40))))
    assert (verdict.checked, verdict.size, verdict.noisy) == (64, 1200, 0)
    assert np.isfinite(np.asarray(verdict.numeric)).sum() == 64
    (again,) = verdicts(checked(minigrad.tanh, np.asarray(RNG.normal(size=(30, 40)))))
    assert again.checked == 64


def test_the_sample_holds_the_largest_entry_wherever_it_is() -> None:
    for place in (0, 500, 999):
        gradient = RNG.normal(size=1000)
        gradient[place] = 100.0
        (verdict,) = verdicts(checked(lambda x: x * 2.0, RNG.normal(size=1000), gradient=gradient))
        assert np.isfinite(np.asarray(verdict.numeric)[place])


def test_the_sample_holds_entries_of_every_part() -> None:
    (verdict,) = verdicts(checked(lambda x: x * 2.0, RNG.normal(size=1000)))
    looked_at = np.flatnonzero(np.isfinite(np.asarray(verdict.numeric)))
    for start in range(0, 1000, 200):
        assert ((looked_at >= start) & (looked_at < start + 200)).any()


def _like(*shape: int) -> Array:
    return RNG.normal(size=shape)


MASK = np.array([[0.0, -np.inf, 0.0], [-np.inf] * 3])
RIGHT: dict[str, tuple[Any, list[Any]]] = {
    "matmul": (lambda a, b: a @ b, [_like(2, 3), _like(3, 4)]),
    "matmul, vectors": (lambda a, b: a @ b, [_like(3), _like(3)]),
    "an input twice": (lambda x: x @ x, [_like(3, 3)]),
    "concatenate": (lambda a, b: minigrad.concatenate([a, b, a], 1), [_like(2, 3), _like(2, 1)]),
    "stack": (lambda a, b: minigrad.stack([a, b, a]), [_like(2, 3), _like(2, 3)]),
    "einsum": (
        lambda a, b: minigrad.einsum("ij,jk,ij->ik", a, b, a),
        [_like(2, 3), _like(3, 4)],
    ),
    "embedding": (lambda w: minigrad.embedding(w, np.array([[0, 2], [2, 2]])), [_like(3, 4)]),
    "index": (lambda x: x[np.array([0, 0, 1]), 1:], [_like(2, 3)]),
    "cross entropy": (
        lambda x: minigrad.cross_entropy(x, np.array([1, 0])),
        [_like(2, 3)],
    ),
    "where": (lambda a, b: minigrad.where(MASK < 0, a, b), [_like(2, 3), _like(3)]),
    "masked": (lambda x: minigrad.softmax(x + MASK), [_like(2, 3)]),
    "masked by filling": (
        lambda x: minigrad.softmax(minigrad.masked_fill(x, MASK < 0, -np.inf)),
        [_like(2, 3)],
    ),
    "attention, masked": (
        lambda q, k: attention.scaled_dot_product_attention(q, k, k, MASK)[0],
        [_like(2, 4), _like(3, 4)],
    ),
    "no axes": (lambda a, b: minigrad.exp(a * b), [_like(), _like()]),
    "one entry": (lambda a: minigrad.tanh(a * a), [_like(1, 1)]),
    "no entries": (lambda a, b: a * b, [_like(0, 3), _like(3)]),
    "a zero upstream": (lambda x: minigrad.exp(x) * 0.0, [_like(3)]),
    "relu at 0": (minigrad.relu, [[0.0, -1.0, 2.0, -0.0]]),
    "abs at 0": (minigrad.abs, [[0.0, -1.0, 2.0]]),
    "max with ties": (lambda x: x.max(axis=1), [[[1.0, 1.0, 0.0], [2.0, 2.0, 2.0]]]),
    "min with ties": (lambda x: x.min(axis=0), [[[1.0, 1.0, 0.0], [1.0, 2.0, 2.0]]]),
    "maximum with ties": (minigrad.maximum, [[1.0, 2.0, 0.0], [1.0, 2.0, 5.0]]),
    "clip at its bounds": (lambda x: minigrad.clip(x, -1.0, 1.0), [[-1.0, 1.0, 0.5, 3.0]]),
    "norm at 0": (minigrad.norm, [[0.0, 0.0, 0.0]]),
    "std at 0": (minigrad.std, [[2.0, 2.0, 2.0]]),
    "sqrt at 0": (minigrad.sqrt, [[0.0, 1.0]]),
    "log at 0": (minigrad.log, [[0.0, 1.0]]),
    "log of less than 0": (minigrad.log, [[-1.0, 1.0]]),
    "division by 0": (lambda x: 1.0 / x, [[0.0, 2.0]]),
    "prod with zeros": (minigrad.prod, [[0.0, 2.0, 3.0]]),
    "power at 0": (lambda x: x**1.5 + x**0, [[0.0, 2.0]]),
    "NaN": (lambda x: minigrad.softmax(x) * x, [[np.nan, 1.0, 2.0]]),
    "infinity": (lambda x: minigrad.tanh(x) * 2.0 + x, [[np.inf, -np.inf, 2.0]]),
    "huge numbers": (lambda x: x * x, [[1e200, -1e308, 1.0]]),
    "tiny numbers": (lambda x: x * x + x, [[1e-200, -5e-324, 1.0]]),
    "saturated": (minigrad.softmax, [40.0 * _like(6, 8)]),
    "large and small": (lambda a, b: a @ b, [_like(3, 4) * 1e8, _like(4, 2) * 1e-8]),
    "a large matmul": (lambda a, b: a @ b, [_like(30, 100), _like(100, 20)]),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ">f8"], ids=str)
@pytest.mark.parametrize("name", RIGHT)
def test_nothing_that_is_right_is_called_wrong(name: str, dtype: Any) -> None:
    function, arrays = RIGHT[name]
    with np.errstate(all="ignore"):
        arrays = [np.asarray(x).astype(dtype) for x in arrays]
    steps = checked(function, *arrays)
    made = [event for event in steps if event.kind == "accumulate"]
    assert len(verdicts(steps)) == len(made)


# What only the contribution itself shows: the rule may be right in float64 and not as it ran.
ONLY_NARROW = {
    "overflow": lambda g, x: g * np.exp(2 * x) / np.exp(x),
    "twice": lambda g, x: g * np.exp(x) * (2 if x.dtype == np.float32 else 1),
    "nothing": lambda g, x: g * np.exp(x) * (0 if x.dtype == np.float32 else 1),
}


@pytest.mark.parametrize("name", ONLY_NARROW)
def test_a_rule_that_is_wrong_in_float32_alone_is_found_there(name: str) -> None:
    op = primitive(ONLY_NARROW[name])(lambda x: np.exp(x))
    x = np.array([60.0, 61.0, 62.0])
    assert len(verdicts(checked(op, x))) == 1
    with pytest.raises(GradcheckError, match="gradient wrong in 3 of 3 entries"):
        checked(op, x.astype(np.float32))


def test_the_error_that_is_told_in_float32_is_that_of_the_contribution() -> None:
    (verdict,) = verdicts(checked(minigrad.exp, RNG.normal(size=5).astype(np.float32)))
    assert 1e-9 < verdict.relative < 1e-5


@pytest.mark.parametrize("gradient", [np.nan, np.inf, -np.inf])
def test_an_upstream_that_is_not_finite_is_not_checked(gradient: float) -> None:
    (verdict,) = verdicts(checked(minigrad.exp, [1.0, 2.0], gradient=[gradient, 1.0]))
    assert verdict.checked == 0
    assert np.isnan(np.asarray(verdict.numeric)).all()


# Each of these is right to rounding, and was once called wrong.
NARROW: dict[str, tuple[Any, list[Any], Any]] = {
    "gelu far below 0": (minigrad.gelu, [[-5.0]], np.float32),
    "a confident prediction": (
        lambda x: minigrad.cross_entropy(x, np.array([1])),
        [[[0.0, 15.0, 1.0]]],
        np.float32,
    ),
    "a deviation around a large mean": (
        minigrad.std,
        [1e5 + np.random.default_rng(0).normal(size=100)],
        np.float32,
    ),
    "float64 to float32": (lambda x: x.astype(np.float32), [_like(5)], np.float64),
    "float64 to float32 and back": (
        lambda x: x.astype(np.float32).astype(np.float64) * 2.0,
        [_like(5)],
        np.float64,
    ),
    "a copy in float32": (lambda x: x.copy() * 2.0, [_like(5)], np.float32),
    "float64 to float16": (lambda x: x.astype(np.float16), [_like(5)], np.float64),
    "a logarithm next to 0": (minigrad.log, [[1.5e-5, 0.3]], np.float64),
    "a root next to 0": (minigrad.sqrt, [[1.5e-5, 0.3]], np.float64),
    "a power next to 0": (lambda x: x**-0.5, [[1.5e-5, 0.3]], np.float64),
    "log1p next to −1": (minigrad.log1p, [[-1.0 + 1.5e-5, 0.3]], np.float64),
    "a division by a small number": (lambda x: 1.0 / x, [[5e-6, 0.3]], np.float64),
    "a norm next to 0": (minigrad.norm, [[3e-6, -4e-6]], np.float64),
    "a deviation next to 0": (minigrad.std, [[1.0, 1.0 + 2e-6, 1.0 - 3e-6]], np.float64),
    "a sharp sigmoid": (lambda x: minigrad.sigmoid(x * 1e7), [[1e-7, -2e-8]], np.float64),
}


@pytest.mark.parametrize("name", NARROW)
def test_nothing_that_is_right_to_rounding_is_called_wrong(name: str) -> None:
    function, arrays, dtype = NARROW[name]
    checked(function, *[np.asarray(x).astype(dtype) for x in arrays])


INFINITE: dict[str, tuple[Any, Any, Any]] = {
    "a division by 0 that gets no gradient": (lambda x: 1.0 / x, [0.0, 0.3], [0.0, 1.0]),
    "a mask that gets a gradient": (lambda x: x + MASK[0], [1.0, 2.0, 4.0], [1.0, 3.0, -2.0]),
    "log_softmax with a mask that gets a gradient": (
        lambda x: minigrad.log_softmax(x + MASK[0]),
        [1.0, 2.0, 4.0],
        [1.0, 3.0, -2.0],
    ),
    "log_softmax with a mask": (
        lambda x: minigrad.log_softmax(x + MASK[0]),
        [1.0, 2.0, 4.0],
        [1.0, 0.0, -2.0],
    ),
    "logsumexp of nothing": (minigrad.logsumexp, [-np.inf, -np.inf], 2.0),
}


@pytest.mark.parametrize("name", INFINITE)
def test_where_a_result_is_infinite_no_rule_is_called_wrong(name: str) -> None:
    function, x, gradient = INFINITE[name]
    checked(function, x, gradient=np.asarray(gradient))


def test_a_whole_head_of_attention_is_right_in_every_contribution() -> None:
    for dtype in (np.float64, np.float32):
        q, k, v = (RNG.normal(size=s).astype(dtype) for s in ((5, 4), (3, 4), (3, 2)))
        steps = checked(
            lambda q, k, v: attention.scaled_dot_product_attention(q, k, v, scale=10.0)[0], q, k, v
        )
        assert all(verdict.checked == verdict.size for verdict in verdicts(steps))


def test_nothing_is_touched_by_a_check() -> None:
    out, x, y = recorded(lambda x, y: minigrad.softmax(x * y), _like(2, 3), _like(3))
    before = [np.array(t) for t in (x, y, out)]
    step_backward(out, upstream_of(out), check=True)
    assert x.grad is y.grad is None
    for tensor, data in zip((x, y, out), before, strict=True):
        assert_close(tensor, data, rtol=0.0)


def test_a_log_that_was_checked_has_the_same_events_otherwise() -> None:
    out, *_ = recorded(lambda x: minigrad.softmax(x * x), _like(2, 3))
    plain, other = (step_backward(out, upstream_of(out), check=c) for c in (False, True))
    for one, two in zip(plain, other, strict=True):
        assert (one.kind, one.notes) == (two.kind, two.notes)
        assert_close(one.gradient, np.asarray(two.gradient), rtol=0.0)


# --------------------------------------------------------------------------------- what is refused


def test_what_was_not_recorded_under_trace_is_refused() -> None:
    x = leaf([1.0, 2.0], name="x")
    h = x * 3.0
    with trace():
        y = (h * h).sum()
    h.name = "h"
    for root in (x * 2.0, y):
        with pytest.raises(
            RuntimeError, match=r"check=True needs the inputs of every op.*trace\(\)"
        ):
            step_backward(root, np.ones(root.shape), check=True)
    with pytest.raises(RuntimeError, match="the result of multiply 'h'"):
        step_backward(y, check=True)


def test_a_leaf_has_nothing_to_check() -> None:
    steps = step_backward(leaf([1.0, 2.0]), [1.0, 5.0], check=True)
    assert verdicts(steps) == []


# ----------------------------------------------------------------------------------- what is wrong


def op_of(rule: Any, forward: Any = None) -> Any:
    def wave(x: Any) -> Any:
        return np.sin(x) if forward is None else forward(x)

    return primitive(rule)(wave)


WRONG = {
    "sign": op_of(lambda g, x: -g * np.cos(x)),
    "factor": op_of(lambda g, x: 2 * g * np.cos(x)),
    "a slightly wrong factor": op_of(lambda g, x: 1.00001 * g * np.cos(x)),
    "dropped term": op_of(lambda g, x: g * np.cos(x), lambda x: np.sin(x) + x),
    "upstream forgotten": op_of(lambda g, x: np.cos(x) * np.ones_like(g)),
    "upstream divided by": op_of(lambda g, x: np.cos(x) / g),
    "upstream squared": op_of(lambda g, x: np.cos(x) * g * g),
    "transposed": op_of(lambda g, x: (g * np.cos(x)).T),
    "rows in another order": op_of(lambda g, x: (g * np.cos(x))[::-1]),
    "nothing": op_of(lambda g, x: 0.0 * g),
    "not a number": op_of(lambda g, x: g * np.nan),
    "infinite": op_of(lambda g, x: g * np.cos(x) / (x * 0.0)),
    "one infinite entry": op_of(lambda g, x: np.where(x == x.max(), np.inf, g * np.cos(x))),
    "one entry": op_of(lambda g, x: np.where(x == x.max(), 0.0, g * np.cos(x))),
    "softmax without its sum": op_of(lambda g, out: out * g, minigrad.softmax),
    "softmax of one term too many": op_of(
        lambda g, out: out * (g - 2.0 * (g * out).sum(axis=-1, keepdims=True)), minigrad.softmax
    ),
    "a sum over the wrong axis": op_of(
        lambda g, out: out * (g - (g * out).sum(axis=0, keepdims=True)), minigrad.softmax
    ),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=str)
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_stops_the_run_with_the_log_up_to_it(name: str, dtype: Any) -> None:
    if name == "a slightly wrong factor" and dtype == np.float32:
        pytest.skip("that is within the rounding of float32")
    x = leaf(np.random.default_rng(2).uniform(0.3, 1.2, (3, 3)).astype(dtype), name="scores")
    with trace():
        h = x * 1.5
        line = next_line()
        y = WRONG[name](h)
        out = y * 2.0
    h.name = "h"
    with pytest.raises(GradcheckError) as error:
        step_backward(out, upstream_of(out), check=True)
    steps = error.value.steps
    assert isinstance(steps, BackwardSteps)
    guilty = steps[-1]
    assert [event.kind for event in steps].count("rule") == 2
    assert (guilty.kind, guilty.op, guilty.receiver.label) == ("rule", "wave", "h")
    assert guilty.verdict is not None
    message = str(error.value)
    for part in (
        f"event {guilty.index}",
        "the rule of wave for h is wrong",
        __file__,
        f"line {line}",
    ):
        assert part in message
    assert guilty.equation in message
    assert "input 0 'h': gradient wrong in " in message
    assert "by backward" in message
    assert "by differences" in message
    assert x.grad is None


def test_the_log_up_to_what_is_wrong_can_be_gone_through() -> None:
    out, *_ = recorded(lambda x: WRONG["sign"](x) * 2.0, _like(3))
    with pytest.raises(GradcheckError) as error:
        step_backward(out, upstream_of(out), check=True)
    steps = error.value.steps
    assert steps.goto(-1).kind == "rule"
    assert [*steps.grads_at(-1)] == ["t2", "t3"]
    assert len(steps.transcript().splitlines()) > len(steps)
    assert not error.value.report.ok


def test_a_matrix_that_is_transposed_is_caught_where_only_the_shape_is_right() -> None:
    product = primitive(lambda g, b: g @ b, lambda g, a: a.mT @ g)(lambda a, b: a @ b)
    with pytest.raises(GradcheckError, match=r"for t1 is wrong"):
        checked(product, _like(3, 3), _like(3, 3))
    product = primitive(lambda g, b: g @ b.mT, lambda g, a: a @ g)(lambda a, b: a @ b)
    with pytest.raises(GradcheckError, match=r"for t2 is wrong"):
        checked(product, _like(3, 3), _like(3, 3))


def test_what_is_right_for_ones_alone_passes_with_ones_and_is_caught_with_others() -> None:
    op = WRONG["upstream forgotten"]
    checked(op, _like(3), gradient=np.ones(3))
    with pytest.raises(GradcheckError):
        checked(op, _like(3), gradient=np.array([1.0, 1.0, 1.1]))


def test_a_mistake_in_the_first_or_the_last_rows_of_many_is_caught() -> None:
    for rows in (slice(None, 30), slice(-30, None)):
        factor = np.ones(1000)
        factor[rows] = 100.0
        with pytest.raises(GradcheckError):
            checked(_scaled_wrongly(factor), RNG.normal(size=1000))


def _scaled_wrongly(factor: Array) -> Any:
    return op_of(lambda g: g * factor, lambda x: x * 1.0)


def test_a_mistake_beside_a_broadcast_is_caught() -> None:
    op = primitive(lambda g, b: g * b, lambda g, a: g)(lambda a, b: a * b)
    with pytest.raises(GradcheckError, match="for t2 is wrong"):
        checked(op, _like(4, 3), _like(3))


def test_a_wrong_rule_of_a_joint_op_and_of_many_inputs_is_caught() -> None:
    joint = joint_primitive(lambda g, saved, a, b: (g * b, -g * a), composed=lambda a, b: a * b)
    with pytest.raises(GradcheckError, match="for t2 is wrong"):
        checked(joint(_pair), _like(3), _like(3))
    many = primitive(lambda g, index: g[0])(_stacked)
    with pytest.raises(GradcheckError, match="for t2 is wrong"):
        checked(many, _like(3), _like(3))


def _pair(a: Any, b: Any) -> Any:
    return a * b, None


def _stacked(*arrays: Any) -> Any:
    return np.stack(arrays)


def test_a_slope_at_a_kink_may_be_any_in_between_and_no_other() -> None:
    between = op_of(lambda g, x: np.where(x > 0, g, np.where(x == 0, 0.3 * g, 0.0)), minigrad.relu)
    beyond = op_of(lambda g, x: np.where(x > 0, g, np.where(x == 0, 1.5 * g, 0.0)), minigrad.relu)
    x, gradient = [0.0, 1.0, -2.0], np.array([2.0, -3.0, 5.0])
    (verdict,) = verdicts(checked(between, x, gradient=gradient))
    assert verdict.kinks == 1
    with pytest.raises(GradcheckError):
        checked(beyond, x, gradient=gradient)


def test_a_rule_is_judged_by_the_upstream_that_it_was_given() -> None:
    def rule(g: Any) -> Any:
        g *= 2.0
        return g

    op = op_of(rule, lambda x: x * 2.0)
    steps = checked(lambda x: op(x) * 1.0, [1.0, 2.0], gradient=np.array([1.0, 5.0]))
    assert np.asarray(steps[-1].after).tolist() == [2.0, 10.0]


def test_gradcheck_does_not_take_infinity_for_a_finite_slope() -> None:
    op = WRONG["infinite"]
    with np.errstate(all="ignore"):
        assert not gradcheck(op, [leaf([1.0, 2.0])], raise_exception=False)


def test_tensors_that_require_no_gradient_are_left_out() -> None:
    w, i = Tensor(_like(3)), np.array([0, 2, 1])
    steps = checked(lambda x: minigrad.take(x * w, i), _like(3))
    assert [event.receiver.kind for event in steps if event.kind == "rule"] == [
        "intermediate",
        "leaf",
    ]
