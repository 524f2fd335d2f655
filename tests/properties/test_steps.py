"""The log of a backward pass through random programs of up to 300 ops: whatever the graph, it is
the pass that `backward` makes, to the last bit, and can be gone through in both directions."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

import minigrad
from minigrad import BackwardSteps, Tensor, step_backward, trace
from minigrad.graph import history
from minigrad.stepper import Event, Snapshot
from tests.helpers import node_of
from tests.minigrad.stepper import bits, everything, told
from tests.properties.support import Array, Draw, Shape, broadcastable, holds_for, normal, seeds

UNARY: dict[str, Callable[..., Any]] = {
    "negative": lambda x: -x,
    "tanh": minigrad.tanh,
    "gelu": minigrad.gelu,
    "relu": minigrad.relu,
    "bell": lambda x: minigrad.exp(-x * x),
    "softmax": lambda x: minigrad.softmax(x, -1) if x.ndim else x,
    "total": lambda x: x.sum(axis=-1, keepdims=True) if x.ndim else x.sum(),
    "highest": lambda x: x.max(keepdims=True),
    "reversed": lambda x: minigrad.flip(x),
    "there and back": lambda x: x.reshape(-1).reshape(x.shape),
    "rows, repeated": lambda x: x[np.zeros(len(x), int)] if x.ndim else x,
    "gram": lambda x: minigrad.tanh(x @ x.mT @ x) if x.ndim > 1 else x * x,
    "joined to itself": lambda x: (
        minigrad.concatenate([x, -x, x], axis=-1)[..., : x.shape[-1]] if x.ndim else x
    ),
    "stacked": lambda x: minigrad.stack([x, x * 0.5, x]).mean(axis=0),
    "contracted": lambda x: minigrad.einsum("...i,...i,...j->...j", x, x, x) if x.ndim else x,
    "single precision": lambda x: x.astype(np.float32),
}
BINARY: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: minigrad.tanh(x) * y,
    "divide": lambda x, y: x / (2 + y * y),
    "maximum": minigrad.maximum,
    "chosen": lambda x, y: (
        minigrad.where(np.arange(x.size).reshape(x.shape) % 2 == 0, x, y) if x.ndim else x - y
    ),
}
OPS = [*UNARY, *BINARY, *BINARY]


class Program(NamedTuple):
    """A random program of some length: what it computes follows from the seed."""

    inputs: tuple[Shape, ...]
    length: int
    recent: int  # how far back an op looks for most of what it takes
    hooked: bool
    seed: int

    def run(self, tensors: list[Tensor]) -> Tensor:
        """A result to which most of what was computed leads."""
        rng = np.random.default_rng(self.seed)
        known: list[Any] = list(tensors)
        first = history  # what is behind a result is counted in nodes, not in the steps taken here
        with np.errstate(all="ignore"):
            while len(known) < len(tensors) + self.length:
                name = OPS[rng.integers(len(OPS))]
                operands = [
                    known[self.chosen(rng, len(known))] for _ in "ab"[: 1 + (name in BINARY)]
                ]
                known.append((UNARY.get(name) or BINARY[name])(*operands))
                if known[-1].requires_grad and len(first([node_of(known[-1])])) > 280:
                    break
            out = known[-1]
            for other in known[-4:-1]:
                out = out + minigrad.tanh(other)
        if self.hooked:
            for tensor in known[:: max(1, len(known) // 4)]:
                tensor.register_hook(lambda gradient: gradient * 0.5)
        assert isinstance(out, Tensor)
        return out

    def chosen(self, rng: np.random.Generator, count: int) -> int:
        near = rng.random() < 0.8
        return int(rng.integers(max(0, count - self.recent) if near else 0, count))

    def recorded(self) -> tuple[Tensor, list[Tensor], Array]:
        arrays = normal(self.seed, *self.inputs)
        kinds = [np.float32 if i == 1 else np.float64 for i in range(len(arrays))]
        tensors = [
            Tensor(x.astype(kind), requires_grad=True)
            for x, kind in zip(arrays, kinds, strict=True)
        ]
        with trace():
            out = self.run(tensors)
        return out, tensors, normal(self.seed + 1, out.shape)[0]

    def stepped(self) -> BackwardSteps:
        out, _, upstream = self.recorded()
        return step_backward(out, upstream)


@st.composite
def programs(draw: Draw) -> Program:
    inputs = draw(broadcastable(3, max_ndim=2))
    length = draw(st.integers(1, 20) | st.integers(50, 350))
    return Program(inputs, length, draw(st.integers(1, 12)), draw(st.booleans()), draw(seeds))


@holds_for(program=programs())
def test_a_log_ends_with_what_backward_leaves_everywhere(program: Program) -> None:
    out, tensors, upstream = program.recorded()
    nodes = history([node_of(out)])[::-1]
    assert len(nodes) <= 300
    steps = step_backward(out, upstream)
    assert all(node.grad is None for node in nodes)
    with np.errstate(all="ignore"):
        out.backward(upstream)
    found = steps.grads_at(-1)
    recorded = [node for node in steps.nodes.values() if node.kind != "constant"]
    assert len(recorded) == len(nodes) == len(found)
    for node, described in zip(nodes, recorded, strict=True):
        assert bits(found[described.label]) == bits(node.grad)
    assert sum(x.grad is not None for x in tensors) == [n.kind for n in recorded].count("leaf")


@holds_for(program=programs())
def test_every_sum_is_what_was_there_and_what_is_added(program: Program) -> None:
    sums: dict[str, Snapshot] = {}
    counts: dict[str, int] = {}
    for event in program.stepped():
        if event.kind != "accumulate":
            continue
        key = event.receiver.key
        assert event.before is sums.get(key)
        assert (event.part, counts.get(key, 0)) == (counts.get(key, 0) + 1, event.part - 1)
        assert event.part <= event.parts
        assert event.contribution is not None
        total = np.asarray(event.contribution)
        if event.before is not None:
            with np.errstate(all="ignore"):
                total = np.asarray(event.before) + total
        assert bits(total) == bits(event.after)
        assert event.after is not None
        assert event.after.dtype == event.receiver.dtype
        sums[key], counts[key] = event.after, event.part


@holds_for(program=programs())
def test_a_tensor_is_entered_once_after_all_of_its_users(program: Program) -> None:
    steps = program.stepped()
    complete: dict[str, int] = {}
    last: dict[str, Event] = {}
    for event in steps:
        if event.kind in ("enter", "done"):
            assert event.node.key not in complete
            complete[event.node.key] = event.index
            assert event.kind == ("done" if event.node.kind == "leaf" else "enter")
        elif event.target is not None:
            assert event.node.key in complete
            assert event.target.key not in complete
            assert event.upstream is steps[complete[event.node.key]].upstream
            last[event.target.key] = event
    assert set(complete) == {n.key for n in steps.nodes.values() if n.kind != "constant"}
    for key, event in last.items():
        assert (event.kind, event.part) == ("accumulate", event.parts)
        uses = [node.inputs.count(key) for node in steps.nodes.values() if node.key in complete]
        assert event.parts == sum(uses)


@holds_for(program=programs(), random=st.randoms(use_true_random=False))
def test_back_undoes_next_and_every_moment_is_the_same_from_either_side(
    program: Program, random: Any
) -> None:
    steps = program.stepped()
    moments = [steps.grads_at(0)]
    assert steps.next() is steps[0]
    while steps.position + 1 < len(steps):
        event = steps.next()
        known = dict(moments[-1])
        if event.after is not None:
            known[event.receiver.label] = event.after
        moments.append(known)
    for place in random.sample(range(len(steps)), min(len(steps), 20)):
        assert steps.goto(place) is steps[place]
        assert steps.grads_at(place) == moments[place]
    steps.goto(-1)
    for place in range(len(steps) - 2, -1, -1):
        assert steps.back() is steps[place]
        if place % 29 == 0:
            assert steps.grads_at(steps.position) == moments[place]
    assert steps.position == 0


@pytest.mark.slow
@holds_for(program=programs(), keep=st.sampled_from(["all", "summary"]))
def test_a_log_written_as_json_comes_back_as_it_was(program: Program, keep: Any) -> None:
    out, _, upstream = program.recorded()
    steps = step_backward(out, upstream, keep=keep)
    again = BackwardSteps.from_json(steps.to_json())
    assert everything(again) == everything(steps)


@pytest.mark.slow
@holds_for(program=programs())
def test_a_summary_has_the_same_events_and_the_log_is_the_same_every_time(program: Program) -> None:
    out, _, upstream = program.recorded()
    steps = step_backward(out, upstream)
    assert [told(event) for event in step_backward(out, upstream)] == [told(e) for e in steps]
    for one, other in zip(steps, step_backward(out, upstream, keep="summary"), strict=True):
        assert (one.kind, one.receiver.label, one.notes) == (
            *(other.kind, other.receiver.label, other.notes),
        )
        assert repr(one.gradient.summary) == repr(other.gradient.summary)
        assert other.gradient.values is None
