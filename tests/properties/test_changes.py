"""Random programs that write to data while they are recorded, and after. The gradient is that of
the values which were there when each op ran, and a write changes one tensor and no other."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import minigrad
from minigrad import Tensor, no_grad
from tests.properties.support import Array, Draw, Function, assert_near, holds_for, normal

SHAPE = (3, 2)


class Op(NamedTuple):
    """An op of the engine, and its gradients once more in plain NumPy: pull(g, out, *inputs)."""

    function: Function
    pulls: tuple[Function, ...]


def below(g: Array, x: Array) -> Array:
    return np.concatenate([np.zeros_like(x[:1]), g])


def added_to_the_first(g: Array, x: Array) -> Array:
    return np.concatenate([g.sum(axis=0)[None], np.zeros_like(x[1:])])


OPS = {
    "add": Op(lambda x, y: x + y, (lambda g, out, x, y: g, lambda g, out, x, y: g)),
    "multiply": Op(lambda x, y: x * y, (lambda g, out, x, y: g * y, lambda g, out, x, y: g * x)),
    "divide": Op(
        lambda x, y: x / y, (lambda g, out, x, y: g / y, lambda g, out, x, y: -g * x / y**2)
    ),
    "square": Op(lambda x: x * x, (lambda g, out, x: 2 * g * x,)),
    "cube": Op(lambda x: x**3, (lambda g, out, x: 3 * g * x**2,)),
    "sin": Op(minigrad.sin, (lambda g, out, x: g * np.cos(x),)),
    "tanh": Op(minigrad.tanh, (lambda g, out, x: g * (1 - out**2),)),
    "gram": Op(lambda x: x @ x.T @ x, (lambda g, out, x: g @ x.T @ x + x @ (g.T @ x + x.T @ g),)),
    "transposed": Op(lambda x: x.T, (lambda g, out, x: np.transpose(g),)),
    "flat": Op(lambda x: x.reshape(-1), (lambda g, out, x: g.reshape(x.shape),)),
    "reversed": Op(lambda x: minigrad.flip(x), (lambda g, out, x: np.flip(g),)),
    "with an axis": Op(lambda x: x.expand_dims(0), (lambda g, out, x: g[0],)),
    "repeated": Op(lambda x: x.broadcast_to((2, *x.shape)), (lambda g, out, x: g.sum(axis=0),)),
    "later rows": Op(lambda x: x[1:], (lambda g, out, x: below(g, x),)),
    "first row, often": Op(lambda x: x[[0, 0]], (lambda g, out, x: added_to_the_first(g, x),)),
    "total": Op(lambda x: x.sum(axis=0), (lambda g, out, x: np.broadcast_to(g, x.shape),)),
    "scaled": Op(lambda x: minigrad.scale(x, 0.5), (lambda g, out, x: g / 2,)),
}


class Recorder:
    """Runs ops on tensors, and notes for each the values that its inputs had just then."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.sources = [rng.uniform(0.5, 1.5, SHAPE) for _ in range(2)]
        self.tensors = [Tensor(source, requires_grad=True) for source in self.sources]
        self.steps: list[tuple[Op, tuple[int, ...], Array, list[Array]]] = []
        self.lent: list[Array] = []  # that the user holds

    def compute(self, name: str, numbers: tuple[int, ...]) -> None:
        op = OPS[name]
        operands = [self.tensors[i] for i in numbers[: len(op.pulls)]]
        if len({x.shape for x in operands}) > 1:
            operands = operands[:1] * 2
        shape = operands[0].shape
        if np.size(operands[0]) < 2 or (name == "later rows" and shape[0] < 2):
            return
        if name == "gram" and len(shape) != 2:
            return
        places = tuple([next(i for i, x in enumerate(self.tensors) if x is o) for o in operands])
        values = [np.array(x) for x in operands]
        self.tensors.append(op.function(*operands))
        self.steps.append((op, places, np.array(self.tensors[-1]), values))

    def pulled(self, upstream: Array) -> list[Array]:
        """The gradients of the last tensor, from what was noted."""
        offset = len(self.tensors) - len(self.steps)
        found = {len(self.tensors) - 1: upstream}
        for number in range(len(self.tensors) - 1, offset - 1, -1):
            op, places, out, values = self.steps[number - offset]
            if number in found:
                for place, pull in zip(places, op.pulls, strict=True):
                    part = pull(found[number], out, *values)
                    found[place] = found[place] + part if place in found else part
        return [found.get(i, np.zeros(SHAPE)) for i in range(len(self.sources))]

    def numbers(self, shape: Any = ()) -> Any:
        return self.rng.uniform(0.5, 1.5, shape)


# Ways to change the values of a tensor: by its data, by an array that was handed out before, …


def write_an_entry(run: Recorder, i: int) -> None:
    run.tensors[i].data.flat[0] = run.numbers()


def write_all(run: Recorder, i: int) -> None:
    run.tensors[i].data[...] = run.numbers(run.tensors[i].shape)


def add_to_the_data(run: Recorder, i: int) -> None:
    run.tensors[i].data += 0.25


def replace_the_data(run: Recorder, i: int) -> None:
    run.tensors[i].data = run.numbers(run.tensors[i].shape)


def add_in_place(run: Recorder, i: int) -> None:
    with no_grad():
        run.tensors[i] += 0.25


def set_an_item(run: Recorder, i: int) -> None:
    with no_grad():
        run.tensors[i][...] = run.numbers()


def write_through_a_detached_copy(run: Recorder, i: int) -> None:
    copy = run.tensors[i].detach()
    before = np.array(run.tensors[i])
    copy.data[...] = 7.0
    np.testing.assert_array_equal(np.array(run.tensors[i]), before)


WRITES = [write_an_entry, write_all, add_to_the_data, replace_the_data, add_in_place, set_an_item]


def take_the_data(run: Recorder, i: int) -> None:
    run.lent.append(run.tensors[i].data)


def take_a_view(run: Recorder, i: int) -> None:
    run.lent.append(run.tensors[i].numpy()[..., :1])


def take_by_dlpack(run: Recorder, i: int) -> None:
    run.lent.append(np.from_dlpack(run.tensors[i]))


def write_to_what_was_taken(run: Recorder, i: int) -> None:
    if run.lent:
        array = run.lent[i % len(run.lent)]
        if array.flags.writeable:
            array[...] = run.numbers(array.shape)


def forget_what_was_taken(run: Recorder, i: int) -> None:
    run.lent.clear()


def write_to_the_array_it_was_made_of(run: Recorder, i: int) -> None:
    run.sources[i % len(run.sources)][...] = 7.0


OTHERS = [
    write_through_a_detached_copy,
    take_the_data,
    take_a_view,
    take_by_dlpack,
    write_to_what_was_taken,
    write_to_what_was_taken,
    forget_what_was_taken,
    write_to_the_array_it_was_made_of,
]

Action = tuple[str | Callable[[Recorder, int], None], tuple[int, int]]


@st.composite
def actions(draw: Draw) -> list[Action]:
    numbers = st.tuples(st.integers(0, 99), st.integers(0, 99))
    kinds = st.sampled_from([*OPS, *OPS, *WRITES, *OTHERS])
    return draw(st.lists(st.tuples(kinds, numbers), min_size=3, max_size=14))


def act(run: Recorder, action: Action) -> None:
    what, numbers = action
    places = tuple([n % len(run.tensors) for n in numbers])
    if isinstance(what, str):
        run.compute(what, places)
    elif what in WRITES:
        check_that_one_tensor_changes(run, what, places[0])
    else:
        what(run, places[0] if what is not write_to_what_was_taken else numbers[0])


def check_that_one_tensor_changes(run: Recorder, write: Function, i: int) -> None:
    before = [np.array(x) for x in run.tensors]
    write(run, i)
    for j, (x, values) in enumerate(zip(run.tensors, before, strict=True)):
        assert np.array_equal(np.array(x), values) == (j != i)


@holds_for(
    before=actions(), after=actions(), seed=st.integers(0, 999), traced=st.sampled_from([0, 0, 1])
)
def test_a_gradient_is_that_of_the_values_at_the_time(
    before: list[Action], after: list[Action], seed: int, traced: bool
) -> None:
    run = Recorder(np.random.default_rng(seed))
    with minigrad.trace() if traced else nullcontext():
        for action in before:
            act(run, action)
    if not run.steps:
        return
    (upstream,) = normal(seed, run.tensors[-1].shape)
    expected = run.pulled(upstream)
    result = run.tensors[-1]
    for action in after:
        act(run, action)
    result.backward(upstream)
    for x, gradient in zip(run.tensors, expected, strict=False):
        assert_near(np.zeros(SHAPE) if x.grad is None else x.grad, gradient, 1e-9)


@holds_for(before=actions(), between=actions(), seed=st.integers(0, 999), recorded=st.booleans())
def test_two_walks_through_a_graph_agree_bit_for_bit_whatever_is_written_between(
    before: list[Action], between: list[Action], seed: int, recorded: bool
) -> None:
    run = Recorder(np.random.default_rng(seed))
    for action in before:
        act(run, action)
    result, inputs = run.tensors[-1], run.tensors[: len(run.sources)]
    (upstream,) = normal(seed, result.shape)
    options: dict[str, Any] = {"retain_graph": True, "allow_unused": True}
    first = minigrad.grad(result, inputs, upstream, **options)
    for action in between:
        act(run, action)
    expected = [None if x is None else np.array(x) for x in first]
    for x in first:
        if x is not None:
            x.data[...] = 7.0
    second = minigrad.grad(result, inputs, upstream, create_graph=recorded, **options)
    for gradient, x in zip(expected, second, strict=True):
        assert (gradient is None) == (x is None)
        if x is not None:
            np.testing.assert_array_equal(np.array(x), gradient)


def test_an_upstream_may_be_changed_after_a_recorded_walk() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    upstream = np.array([3.0, 5.0])
    (slope,) = minigrad.grad(x * x * x, x, upstream, create_graph=True)
    upstream[...] = 7.0
    (curvature,) = minigrad.grad(slope, x, np.array([1.0, 10.0]))
    assert curvature.tolist() == [18.0, 600.0]


@holds_for(before=actions(), seed=st.integers(0, 999))
def test_gradients_are_arrays_of_their_own(before: list[Action], seed: int) -> None:
    run = Recorder(np.random.default_rng(seed))
    for action in before:
        act(run, action)
    (upstream,) = normal(seed, run.tensors[-1].shape)
    given = upstream.copy()
    run.tensors[-1].backward(upstream)
    gradients = [x.grad for x in run.tensors[: len(run.sources)] if x.grad is not None]
    for i, gradient in enumerate(gradients):
        kept = [other.copy() for other in gradients]
        gradient[...] = -1.0
        for j, (other, before_that) in enumerate(zip(gradients, kept, strict=True)):
            assert j == i or np.array_equal(other, before_that)
    np.testing.assert_array_equal(upstream, given)
