"""What is worth noticing in a backward pass: rows that are saturated, units that are dead, norms
that shrink and grow, where what is not finite begins. What is noticed is so, and what is so is
noticed."""

from typing import Any

import numpy as np
import pytest

import attention
import minigrad
from minigrad import BackwardSteps, Tensor, primitive, step_backward, trace
from minigrad.stepper import Note
from minigrad.stepper.wording import remarks
from tests.helpers import Array, assert_close, leaf


def noted(steps: BackwardSteps, *kinds: str) -> list[tuple[str, str, tuple[float, ...]]]:
    """The notes of these kinds: the event's kind and op, and the numbers."""
    return [
        (event.kind, event.op, note.numbers)
        for event in steps
        for note in event.notes
        if note.kind in kinds
    ]


def walked(function: Any, x: Any, gradient: Any = None, *, tracing: bool = True) -> BackwardSteps:
    x = leaf(x, name="x")
    with np.errstate(all="ignore"):
        if tracing:
            with trace():
                out = function(x)
        else:
            out = function(x)
    if gradient is None:
        gradient = np.random.default_rng(1).normal(size=out.shape).astype(out.dtype)
    return step_backward(out, gradient)


# ------------------------------------------------------------------------------- saturated and dead


@pytest.mark.parametrize("tracing", [False, True])
def test_rows_of_a_softmax_with_a_weight_above_99_hundredths_are_saturated(tracing: bool) -> None:
    scores = [[0.0, 10.0, 0.0], [0.0, 1.0, 0.0], [9.0, 0.0, 0.0], [5.0, 5.0, 0.0]]
    steps = walked(minigrad.softmax, scores, tracing=tracing)
    assert noted(steps, "saturated") == [("enter", "softmax", (2, 4))]


@pytest.mark.parametrize(("axis", "rows"), [(0, (1, 3)), (1, (2, 2)), (-2, (1, 3)), (None, (1, 1))])
def test_rows_lie_along_the_axis_of_the_softmax(axis: Any, rows: Any) -> None:
    scores = [[30.0, 19.0, 9.0], [0.0, 18.0, 9.5]]
    steps = walked(lambda x: minigrad.softmax(x, axis), scores)
    assert noted(steps, "saturated") == [("enter", "softmax", rows)]


def test_the_limit_itself_is_not_saturated() -> None:
    just_below = [[np.log(0.9899), np.log(0.0101)]]
    assert noted(walked(minigrad.softmax, just_below), "saturated") == []
    assert noted(walked(minigrad.softmax, [[np.log(0.9901), np.log(0.0099)]]), "saturated") != []


def test_rows_that_are_masked_altogether_are_not_saturated() -> None:
    steps = walked(minigrad.softmax, [[-np.inf] * 3, [0.0, -np.inf, 0.0]])
    assert noted(steps, "saturated", "made nan", "nan") == []


def test_units_of_a_relu_that_are_0_for_every_example_are_dead() -> None:
    x = [[-1.0, 2.0, -3.0, 0.0], [-1.0, -2.0, 3.0, -4.0], [-1.0, 2.0, -3.0, -4.0]]
    assert noted(walked(minigrad.relu, x), "dead") == [("enter", "relu", (2, 4))]
    assert noted(walked(minigrad.relu, [[-1.0, 2.0], [2.0, -1.0]]), "dead") == []


def test_of_a_relu_of_one_example_each_entry_is_a_unit() -> None:
    assert noted(walked(minigrad.relu, [-1.0, 2.0, -3.0]), "dead") == [("enter", "relu", (2, 3))]
    assert noted(walked(minigrad.relu, -1.0), "dead") == [("enter", "relu", (1, 1))]
    assert noted(walked(minigrad.relu, 1.0), "dead") == []


def test_nothing_is_said_of_what_has_no_entries() -> None:
    for function in (minigrad.relu, minigrad.softmax, minigrad.log_softmax):
        steps = walked(function, np.zeros((0, 3)))
        assert [note for event in steps for note in event.notes] == []


@primitive(lambda g: np.ones(3, int))
def softmax(x: Any) -> Any:
    """A student's first, whose rule makes whole numbers."""
    return x * 1.0


@primitive(lambda g, *, axis: g)
def log_softmax(x: Any, axis: Any = "rows") -> Any:
    """One whose axis is a word."""
    return x * 1.0


@primitive(lambda g, x: g + np.zeros(3))
def relu(x: Any) -> Any:
    """One that is no longer elementwise."""
    return x.sum()


@pytest.mark.parametrize("op", [softmax, log_softmax, relu], ids=["softmax", "log_softmax", "relu"])
def test_ops_of_the_users_own_of_these_names_are_walked_through_as_well(op: Any) -> None:
    steps = walked(lambda x: op(x * 2.0), [1.0, 2.0, 3.0])
    assert len(steps.transcript().splitlines()) > len(steps)


# -------------------------------------------------------------------------------------------- norms


def test_a_norm_that_changes_tenfold_or_more_across_an_op_is_noted() -> None:
    def of(factor: float) -> list[Any]:
        steps = walked(lambda x: x * factor, [3.0, 4.0], [3.0, -4.0])
        return [n for _, _, n in noted(steps, "shrunk", "grown")]

    assert noted(walked(lambda x: x * 16.0, [3.0]), "grown") == [("rule", "multiply", (16.0,))]
    assert noted(walked(lambda x: x / 16.0, [3.0]), "shrunk") == [("rule", "divide", (16.0,))]
    assert noted(walked(lambda x: x * 0.1, [3.0], [10.0]), "shrunk") == [
        *[("rule", "multiply", (10.0,))],
    ]
    assert of(10.0) == [(10.0,)]
    assert of(0.0625) == [(16.0,)]
    assert of(9.99) == of(0.11) == of(1.0) == of(-1.0) == of(0.0) == []


@pytest.mark.parametrize("upstream", [0.0, np.nan, np.inf])
def test_of_a_norm_that_is_0_or_not_finite_no_ratio_is_told(upstream: float) -> None:
    assert noted(walked(lambda x: x * 100.0, [3.0], [upstream]), "grown", "shrunk") == []


def test_of_a_rule_that_makes_something_of_nothing_no_ratio_is_told() -> None:
    op = primitive(lambda g: g + 1.0)(_identity)
    assert noted(walked(op, [3.0], [0.0]), "grown", "shrunk") == []


def _identity(x: Any) -> Any:
    return x * 1.0


def test_entries_that_are_exactly_0_are_counted() -> None:
    steps = walked(minigrad.relu, [1.0, -1.0, 0.0, 2.0], [1e-300, 1.0, 1.0, 5.0])
    assert noted(steps, "zeros") == [("rule", "relu", (2, 4))]
    assert noted(walked(minigrad.exp, [1.0, 2.0], [-0.0, 5.0]), "zeros")[0][2] == (1, 2)


# --------------------------------------------------------------------------------- rows that cancel


@pytest.mark.parametrize("op", [minigrad.softmax, minigrad.log_softmax])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "upstream",
    [lambda n: np.random.default_rng(3).normal(size=n), np.ones, lambda n: np.ones(n) / n],
)
@pytest.mark.parametrize("size", [3, 50, 5000, 30_522])
def test_of_a_right_rule_it_is_never_said_that_rows_do_not_cancel(
    op: Any, dtype: Any, upstream: Any, size: int
) -> None:
    for seed, scale in enumerate((0.0, 0.5, 1.0, 1.0, 3.0, 10.0)):
        x = (scale * np.random.default_rng(seed).normal(size=size)).astype(dtype)
        steps = walked(op, x, upstream(size).astype(dtype))
        assert len(noted(steps, "sums to 0")) == 1
        (rule,) = [event for event in steps if event.kind == "rule"]
        assert any("each row sums to 0" in remark for remark in remarks(rule))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_of_rows_that_do_not_cancel_the_largest_sum_is_told(sign: float) -> None:
    softmax = primitive(lambda g: g)(_copy_named_softmax())
    steps = walked(softmax, np.ones((2, 3)), sign * np.array([[1.0, -2.0, 1.5], [3.0, 4.0, 5.0]]))
    assert noted(steps, "does not sum to 0") == [("rule", "softmax", (12.0,))]


def _copy_named_softmax() -> Any:
    def softmax(x: Any) -> Any:
        return x * 1.0

    return softmax


def test_that_rows_do_not_cancel_is_said_of_a_wrong_rule() -> None:
    @primitive(lambda g, out: out * g)
    def softmax(x: Any) -> Any:
        return minigrad.softmax(x)

    steps = walked(softmax, [[1.0, 2.0, 3.0]], [[1.0, -1.0, 5.0]])
    said = [remark for event in steps for remark in remarks(event)]
    assert any(remark.startswith("a row must sum to 0, and one sums to ") for remark in said)


# ----------------------------------------------------------------------------- what is not finite


FAULTS = ("nan", "inf", "-inf", "made nan", "made inf", "made -inf")


def faults(steps: BackwardSteps) -> list[tuple[str, str]]:
    """What is said to be the first that is not finite, and of which op."""
    return [(n.kind, event.op) for event in steps for n in event.notes if n.kind in FAULTS]


def test_the_first_op_that_makes_what_is_not_finite_is_named_once() -> None:
    steps = walked(lambda x: minigrad.exp(minigrad.log(x) * 2.0) + 1.0, [-1.0, 2.0])
    assert [fault for fault in faults(steps) if fault[0].startswith("made")] == [
        ("made nan", "log")
    ]
    steps = walked(lambda x: minigrad.exp(minigrad.log(x)), [0.0, 2.0])
    assert ("made -inf", "log") in faults(steps)
    steps = walked(lambda x: 2.0 * minigrad.exp(x), [1000.0])
    assert ("made inf", "exp") in faults(steps)


def test_of_two_ops_that_make_what_is_not_finite_the_older_one_is_named() -> None:
    with trace(), np.errstate(all="ignore"):
        x = leaf([-1.0, 2.0])
        first, second = minigrad.log(x), minigrad.log(x)
        first.name, second.name = "first", "second"
        y = second + first
    named = [e.node.name for e in step_backward(y, [1.0, 5.0]) if ("made nan", ()) in e.notes]
    assert named == ["first"]


def test_what_becomes_infinite_where_it_is_fitted_to_its_tensor_is_noted() -> None:
    x, w = leaf(np.ones(2, np.float32)), np.array([1e300, 1.0])
    steps = step_backward(x * w, [1.0, 5.0])
    assert not np.isfinite(np.asarray(steps[-1].after)).all()
    assert faults(steps) == [("inf", "multiply")]


@pytest.mark.parametrize("tracing", [False, True])
@pytest.mark.parametrize("op", [minigrad.exp, minigrad.tanh, minigrad.sqrt, lambda x: 1.0 / x])
def test_what_went_in_is_not_blamed_on_the_op(op: Any, tracing: bool) -> None:
    steps = walked(op, [np.nan, 1.0], tracing=tracing)
    assert [fault for fault in faults(steps) if fault[0].startswith("made")] == []


@pytest.mark.parametrize("tracing", [False, True])
def test_what_was_not_kept_is_not_taken_for_finite(tracing: bool) -> None:
    steps = walked(lambda x: minigrad.exp(x + 1.0), [np.inf, 1.0], tracing=tracing)
    assert [fault for fault in faults(steps) if fault[0].startswith("made")] == []


MASK = np.array([[0.0, -np.inf, 0.0], [-np.inf] * 3, [0.0, 0.0, 0.0]])


@pytest.mark.parametrize("tracing", [False, True])
@pytest.mark.parametrize(
    "masked",
    [
        lambda x: minigrad.softmax(x + MASK),
        lambda x: minigrad.softmax(minigrad.masked_fill(x, MASK < 0, -np.inf)),
        lambda x: minigrad.softmax(minigrad.where(MASK < 0, -np.inf, x)),
        lambda x: attention.scaled_dot_product_attention(x, x, x, MASK)[0],
        lambda x: attention.scaled_dot_product_attention(x, x, x, is_causal=True)[0],
    ],
)
def test_the_minus_infinity_of_a_mask_is_no_fault(masked: Any, tracing: bool) -> None:
    x = np.random.default_rng(0).normal(size=(3, 3))
    assert faults(walked(masked, x, tracing=tracing)) == []


def test_the_first_contribution_that_is_not_finite_is_noted_and_no_other() -> None:
    steps = walked(lambda x: minigrad.sqrt(x * 2.0) * 3.0, [0.0, 1.0], [1.0, 5.0])
    assert faults(steps) == [("inf", "sqrt")]
    steps = walked(lambda x: minigrad.sqrt(x * 2.0) * 3.0, [0.0, 1.0], [-1.0, 5.0])
    assert faults(steps) == [("-inf", "sqrt")]
    steps = walked(lambda x: minigrad.sqrt(x * x), [0.0, 1.0], [1.0, 5.0])
    assert faults(steps) == [("inf", "sqrt")]  # the NaN after it comes of that


def test_of_an_upstream_that_is_not_finite_no_rule_is_to_blame() -> None:
    steps = walked(lambda x: minigrad.exp(x) * 2.0, [1.0, 2.0], [np.nan, 1.0])
    assert [event.kind for event in steps if event.notes] == ["seed"]
    assert faults(steps) == [("nan", "multiply")]


def test_a_sum_that_overflows_is_noted_where_it_is_made() -> None:
    x = leaf(np.array([1.0, 2.0], np.float32))
    steps = step_backward(x + x, np.array([3e38, 1.0], np.float32))
    assert [(e.kind, e.part) for e in steps if e.notes] == [("accumulate", 2)]
    assert faults(steps) == [("inf", "add")]


def test_what_a_hook_makes_is_noted_where_it_comes_in() -> None:
    x = leaf([1.0, 2.0])
    y = x * 3.0
    y.register_hook(lambda gradient: gradient * np.array([np.nan, 1.0]))
    steps = step_backward(y * 2.0, [1.0, 5.0])
    (event,) = [event for event in steps if event.notes]
    assert [note.kind for note in event.notes] == ["hook", "nan"]


def test_finite_passes_have_no_faults_and_say_nothing_more() -> None:
    x = np.random.default_rng(0).normal(size=(4, 3))
    steps = walked(lambda x: minigrad.tanh(x @ x.mT), x)
    assert faults(steps) == []


def test_notes_are_values() -> None:
    assert Note("zeros", (1, 2)) == Note("zeros", (1, 2))
    assert Note("hook").numbers == ()
    with pytest.raises(AttributeError):
        Note("hook").kind = "other"  # type: ignore[misc]


def test_looking_at_numbers_neither_warns_nor_changes_how_numpy_warns() -> None:
    before = np.geterr()
    x = leaf(np.array([1e308, -1e308, np.nan, np.inf, 5e-324]))
    with np.errstate(all="ignore"):
        y = minigrad.softmax(x * 10.0) * x

    with np.errstate(all="raise"):
        step_backward(y, np.full(5, 1e308)).transcript()
    assert np.geterr() == before


def test_notes_do_not_change_numbers(rng: np.random.Generator) -> None:
    x: Array = rng.normal(size=(3, 4)) * 40
    upstream = rng.normal(size=(3, 4))
    plain = Tensor(x, requires_grad=True, name="x")
    minigrad.softmax(plain).backward(upstream)
    assert_close(walked(minigrad.softmax, x, upstream).grads_at(-1)["x"], plain.grad, rtol=0.0)
