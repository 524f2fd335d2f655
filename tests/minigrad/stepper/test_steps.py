"""Going through a log: forwards, backwards, to an index, a name, an op, a breakpoint. Whichever way
one goes, an event is the same event, and the gradients known at it are the same."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import BackwardSteps, Tensor, primitive, step_backward
from minigrad.stepper import Event
from tests.helpers import leaf
from tests.minigrad.stepper import bits

UPSTREAM = np.array([[1.0, -2.0, 0.5]])


@pytest.fixture
def steps() -> BackwardSteps:
    """Two softmaxes one after the other, and x used twice."""
    x, w = leaf([[1.0, 2.0, 4.0]], name="x"), leaf([[3.0, 4.0, 5.0]], name="w")
    scores = x * w
    weights = minigrad.softmax(scores)
    out = minigrad.softmax(weights * x)
    scores.name, weights.name, out.name = "scores", "weights", "out"
    return step_backward(out, UPSTREAM)


def places(steps: BackwardSteps, place: Any) -> list[int]:
    """Where one comes to by going to a place again and again, until one is there again."""
    found: list[int] = []
    while (index := steps.goto(place).index) not in found:
        found.append(index)
        assert steps.position == index
    assert index == found[0]
    return found


def entered(steps: BackwardSteps, *labels: str) -> list[int]:
    """The events at which the gradients of these tensors are complete."""
    return [e.index for e in steps if e.kind in ("enter", "done") and e.node.label in labels]


# ------------------------------------------------------------------------------------ as a sequence


def test_it_is_a_sequence_of_events(steps: BackwardSteps) -> None:
    assert isinstance(steps, Sequence)
    assert len(steps) == len(list(steps)) == 1 + 4 + 6 * 2 + 2
    assert [event.index for event in steps] == list(range(len(steps)))
    assert steps[0] in steps
    assert steps.index(steps[5]) == 5
    assert [event.index for event in reversed(steps)] == list(range(len(steps)))[::-1]


def test_an_index_is_that_of_a_list(steps: BackwardSteps) -> None:
    events = list(steps)
    places: list[Any] = [0, 3, -1, -len(events), np.int64(2), np.uint8(1), np.int8(-2), True, False]
    for index in places:
        assert steps[index] is events[index]
    for index in (len(events), -len(events) - 1, 10**30):
        with pytest.raises(IndexError, match=f"event {index} of {len(events)}: the last one is"):
            steps[index]
    for place in (1.0, "x", None):
        with pytest.raises(TypeError):
            steps[place]  # type: ignore[call-overload]


def test_a_slice_is_a_tuple_of_events(steps: BackwardSteps) -> None:
    events = tuple(steps)
    for part in (slice(None), slice(2, 5), slice(None, None, -1), slice(-3, None), slice(9, 2)):
        assert steps[part] == events[part]


def test_going_through_all_events_does_not_move_the_place_and_moving_does_not_disturb_it(
    steps: BackwardSteps,
) -> None:
    seen = []
    for event in steps:
        seen.append(event.index)
        steps.goto(-1 - event.index)
    assert seen == list(range(len(steps)))
    steps.goto(4)
    first, second = iter(steps), iter(steps)
    assert [next(first).index, next(first).index, next(second).index] == [0, 1, 0]
    assert steps.position == 4


# ------------------------------------------------------------------------------------- step by step


def test_one_begins_before_the_first_event(steps: BackwardSteps) -> None:
    assert (steps.position, steps.event) == (-1, None)
    assert repr(steps) == f"<BackwardSteps of out: {len(steps)} events>"
    assert steps.next() is steps[0]
    assert (steps.position, steps.event) == (0, steps[0])
    assert repr(steps) == f"<BackwardSteps of out: {len(steps)} events, at 0>"


def test_next_and_back_go_one_event_and_stop_at_the_ends(steps: BackwardSteps) -> None:
    with pytest.raises(IndexError, match="before the first"):
        steps.back()
    assert steps.position == -1
    assert [steps.next().index for _ in steps] == list(range(len(steps)))
    with pytest.raises(IndexError, match=f"event {len(steps) - 1} was the last"):
        steps.next()
    assert steps.position == len(steps) - 1
    assert [steps.back().index for _ in range(len(steps) - 1)] == list(range(len(steps) - 1))[::-1]
    with pytest.raises(IndexError, match="before the first"):
        steps.back()
    assert steps.position == 0


def test_back_undoes_exactly_what_next_did(steps: BackwardSteps) -> None:
    while steps.position + 1 < len(steps):
        here = steps.position
        known = {} if here < 0 else steps.grads_at(here)
        event = steps.next()
        after = steps.grads_at(steps.position)
        changed = {name for name in after if after[name] is not known.get(name)}
        assert changed <= {event.receiver.label}
        if event.after is None:
            assert after == known
        else:
            assert after[event.receiver.label] is event.after
        if here >= 0:
            assert steps.back().index == here
            assert steps.grads_at(steps.position) == known
            assert steps.next() is event


# ---------------------------------------------------------------------------------------- to places


def test_one_goes_to_an_index_from_either_end(steps: BackwardSteps) -> None:
    for index in (3, 0, -1, -len(steps), 7):
        assert steps.goto(index) is steps[index]
    for index in (len(steps), -len(steps) - 1):
        with pytest.raises(IndexError, match=f"event {index} of {len(steps)}"):
            steps.goto(index)
    assert steps.position == 7


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.intp])
def test_one_goes_to_an_index_that_numpy_made(steps: BackwardSteps, kind: Any) -> None:
    assert steps.goto(kind(3)) is steps[3]
    steps.breakpoints.add(kind(6))
    assert steps.resume() is steps[6]


@pytest.mark.parametrize("name", ["x", "w", "scores", "weights", "out"])
def test_one_goes_to_the_event_at_which_the_gradient_of_a_tensor_is_complete(
    steps: BackwardSteps, name: str
) -> None:
    assert places(steps, name) == entered(steps, name)
    assert steps.event is not None
    assert bits(steps.event.upstream) == bits(steps.grads_at(-1)[name])


@pytest.mark.parametrize(
    "place",
    ["softmax", minigrad.softmax, minigrad.PRIMITIVES["softmax"]],
    ids=["name", "function", "primitive"],
)
def test_one_goes_from_one_op_to_the_next_and_after_the_last_to_the_first(
    steps: BackwardSteps, place: Any
) -> None:
    assert places(steps, place) == entered(steps, "out", "weights")
    steps.goto(-1)
    assert steps.goto(place).node.label == "out"
    steps.goto(entered(steps, "weights")[0] - 1)
    assert steps.goto(place).node.label == "weights"


def test_one_goes_to_an_op_of_the_users_own() -> None:
    @primitive(lambda g: 3.0 * g)
    def tripled(x: Any) -> Any:
        return 3.0 * x

    steps = step_backward(tripled(tripled(leaf(2.0, name="x"))))
    assert len(places(steps, tripled)) == len(places(steps, "tripled")) == 2


def test_one_goes_to_a_tensor_by_the_tensor() -> None:
    x, w = leaf([1.0, 2.0], name="x"), leaf([3.0, 4.0], name="w")
    steps = step_backward((x * w).sum())
    assert steps.goto(w).node.label == "w"
    assert steps.goto(x).node.label == "x"
    assert steps.goto(steps.nodes["n1"]).node.label == "w"


def test_a_tensor_without_a_name_is_never_taken_for_another() -> None:
    a, b = leaf(1.0), leaf(2.0)
    for variables in ({}, {"a": a, "b": b}):
        steps = step_backward(a * b * b, variables=variables)
        for tensor, key in ((a, "n0"), (b, "n1"), (Tensor(5.0), "")):
            try:
                event = steps.goto(tensor)
            except KeyError:
                continue
            assert event.node.key == key


def test_an_empty_name_is_nowhere(steps: BackwardSteps) -> None:
    with pytest.raises(KeyError):
        steps.goto("")
    steps.breakpoints.add("")
    assert steps.resume() is None


def test_tensors_of_one_name_are_gone_through_in_turn_and_marked() -> None:
    a, b = leaf([1.0, 2.0], name="w"), leaf([3.0, 4.0], name="w")
    steps = step_backward((a * b).sum())
    assert len(places(steps, "w")) == 2
    assert len(places(steps, "w₂")) == 1
    assert steps.goto("w₂").node.key == "n1"
    assert np.asarray(steps.grads_at(-1)["w₂"]).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("place", ["nowhere", minigrad.log, Tensor(1.0, name="stranger"), "∂L/∂x"])
def test_of_what_is_nowhere_the_error_lists_what_there_is(steps: BackwardSteps, place: Any) -> None:
    steps.goto(3)
    with pytest.raises(KeyError) as error:
        steps.goto(place)
    text = str(error.value)
    assert "is in no event" in text
    for name in ("x", "w", "scores", "weights", "out", "multiply", "softmax"):
        assert name in text
    assert steps.position == 3


def test_of_a_large_graph_the_error_lists_some_and_says_so() -> None:
    y = leaf(1.0, name="x")
    for _ in range(200):
        y = -y
    with pytest.raises(KeyError) as error:
        step_backward(y).goto("nowhere")
    assert len(str(error.value)) < 500
    assert "…" in str(error.value)


def test_constants_are_in_no_event() -> None:
    x, w = leaf([1.0, 2.0], name="x"), Tensor([3.0, 4.0], name="w")
    with pytest.raises(KeyError, match="is in no event"):
        step_backward((x * w).sum()).goto("w")


# --------------------------------------------------------------------------- until, and breakpoints


def test_until_goes_on_to_the_next_event_that_a_test_holds_of(steps: BackwardSteps) -> None:
    def is_rule(event: Event) -> bool:
        return event.kind == "rule"

    rules = [event for event in steps if is_rule(event)]
    found = []
    while (event := steps.until(is_rule)) is not None:
        assert steps.event is event
        found.append(event)
    assert found == rules
    assert steps.event is rules[-1]  # one stays where one is


def test_until_looks_only_at_what_comes_after(steps: BackwardSteps) -> None:
    steps.goto(5)
    seen: list[int] = []
    assert steps.until(lambda event: seen.append(event.index)) is None
    assert seen == list(range(6, len(steps)))


def test_until_leaves_what_the_test_raises(steps: BackwardSteps) -> None:
    def stumbles(event: Event) -> bool:
        return 1 // (4 - event.index) == 7

    steps.goto(2)
    with pytest.raises(ZeroDivisionError):
        steps.until(stumbles)
    assert steps.position == 2


def stops(steps: BackwardSteps, *breakpoints: Any) -> list[int]:
    """Where one stops on the way from before the first event to the last."""
    steps.position = -1
    steps.breakpoints = set(breakpoints)
    found = []
    while (event := steps.resume()) is not None:
        assert steps.event is event
        assert steps.is_breakpoint(event)
        found.append(event.index)
    assert steps.position == len(steps) - 1
    assert found == [event.index for event in steps if steps.is_breakpoint(event)]
    return found


def test_resume_goes_on_to_the_next_breakpoint(steps: BackwardSteps) -> None:
    def is_accumulation(event: Event) -> bool:
        return event.kind == "accumulate"

    assert stops(steps) == []
    assert stops(steps, 0) == [0]
    assert stops(steps, 4, 9) == [4, 9]
    assert stops(steps, -1) == [len(steps) - 1]
    assert stops(steps, "weights") == entered(steps, "weights")
    assert stops(steps, "x", "w") == entered(steps, "x", "w")
    assert stops(steps, "softmax") == entered(steps, "out", "weights")
    assert stops(steps, minigrad.softmax) == entered(steps, "out", "weights")
    assert stops(steps, is_accumulation) == [e.index for e in steps if e.kind == "accumulate"]
    both = {2, *entered(steps, "scores"), *[e.index for e in steps if e.kind == "accumulate"]}
    assert stops(steps, 2, "scores", is_accumulation) == sorted(both)
    assert stops(steps, "nowhere") == []


def test_an_index_that_no_event_has_is_no_breakpoint(steps: BackwardSteps) -> None:
    assert stops(steps, len(steps) + 3, -len(steps) - 1) == []


# --------------------------------------------------------------------------------------- gradients


def test_gradients_are_known_as_they_were_after_each_event(steps: BackwardSteps) -> None:
    known: dict[str, Any] = {}
    for event in steps:
        if event.after is not None:
            known[event.receiver.label] = event.after
        assert steps.grads_at(event.index) == known
        assert steps.grads_at(event.index - len(steps)) == known
    assert set(known) == {"x", "w", "scores", "weights", "out", "t1"}


def test_gradients_are_known_wherever_one_stands(steps: BackwardSteps) -> None:
    at_five = steps.grads_at(5)
    steps.goto(-1)
    assert steps.grads_at(5) == at_five
    assert steps.position == len(steps) - 1
    with pytest.raises(IndexError):
        steps.grads_at(len(steps))


def test_a_partial_sum_is_known_until_the_sum_is_complete() -> None:
    x = leaf([1.0, 2.0], name="x")
    steps = step_backward(2.0 * x + 3.0 * x, [1.0, 10.0])
    seen: list[Any] = []
    for event in steps:
        now = steps.grads_at(event.index).get("x")
        if now is not None and np.asarray(now).tolist() not in seen:
            seen.append(np.asarray(now).tolist())
    assert seen == [[3.0, 30.0], [5.0, 50.0]]


def test_two_logs_of_one_graph_have_places_of_their_own() -> None:
    y = leaf([1.0, 2.0], name="x") * 2.0
    one, other = step_backward(y, [1.0, 5.0]), step_backward(y, [1.0, 5.0])
    one.goto(2)
    one.breakpoints.add("x")
    assert (other.position, other.breakpoints) == (-1, set())
