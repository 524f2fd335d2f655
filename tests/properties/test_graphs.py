"""Random programs: values shared, used many times, broadcast and reduced. Whatever the graph, its
gradients are the slopes of the program, in every way there is of asking for them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import minigrad
from minigrad import Tensor, grad
from tests.properties.support import (
    Array,
    Draw,
    Function,
    Shape,
    assert_near,
    broadcastable,
    central_differences,
    holds_for,
    leaves,
    normal,
    seeds,
)

UNARY: dict[str, Function] = {
    "negative": lambda x: -x,
    "tanh": minigrad.tanh,
    "sin": minigrad.sin,
    "sigmoid": minigrad.sigmoid,
    "gelu": minigrad.gelu,
    "bell": lambda x: minigrad.exp(-x * x),
    "softmax": lambda x: minigrad.softmax(x, -1) if x.ndim else x,
    "total": lambda x: x.sum(axis=-1, keepdims=True) if x.ndim else x.sum(),
    "mean": lambda x: x.mean(keepdims=True),
    "root": lambda x: minigrad.sqrt(1 + x * x),
    "reversed": lambda x: minigrad.flip(x),
    "there and back": lambda x: x.reshape(-1).reshape(x.shape),
    "gram": lambda x: minigrad.tanh(x @ x.mT @ x) if x.ndim > 1 else x * x,
    "rows, repeated": lambda x: x[np.zeros(len(x), int)] if x.ndim else x,
}
BINARY: dict[str, Function] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / (2 + y * y),
    "power": lambda x, y: (1 + x * x) ** minigrad.tanh(y),
}
# On whole numbers these are exact, whatever the order in which contributions are added.
EXACT = ["negative", "total", "reversed", "there and back", "rows, repeated"]
EXACT_PAIRS = ["add", "subtract", "multiply"]


class Program(NamedTuple):
    """What to compute: each step names an op and, by number, the earlier values it takes."""

    inputs: tuple[Shape, ...]
    steps: tuple[tuple[str, tuple[int, ...]], ...]
    outputs: tuple[int, ...]
    seed: int

    def run(self, *values: Any, order: Sequence[int] = ()) -> list[Any]:
        """The outputs, with the steps taken in another order if one is given."""
        known = dict(enumerate(values))
        for step in order or range(len(self.steps)):
            name, operands = self.steps[step]
            function = UNARY.get(name) or BINARY[name]
            known[len(values) + step] = function(*[known[i] for i in operands])
        return [known[i] for i in self.outputs]

    def arrays(self) -> list[Array]:
        return normal(self.seed, *self.inputs)

    def upstream(self, outputs: Sequence[Any]) -> list[Array]:
        return normal(self.seed + 1, *[np.shape(out) for out in outputs])

    def slopes(self) -> list[Array]:
        weights = self.upstream(self.run(*self.arrays()))

        def loss(*values: Any) -> Any:
            pairs = zip(self.run(*values), weights, strict=True)
            return np.asarray(sum((out * w).sum() for out, w in pairs))

        return central_differences(loss, self.arrays(), np.array(1.0))


@st.composite
def programs(draw: Draw, unary: Sequence[str] = (), binary: Sequence[str] = ()) -> Program:
    inputs = draw(broadcastable(3, max_ndim=2))
    names = st.sampled_from([*(unary or UNARY), *(binary or BINARY), *(binary or BINARY)])
    steps = []
    for number in range(len(inputs), len(inputs) + draw(st.integers(3, 10))):
        name = draw(names)
        earlier = st.integers(0, number - 1)
        operands = (draw(earlier),) if name in UNARY else (draw(earlier), draw(earlier))
        steps.append((name, operands))
    last = len(inputs) + len(steps) - 1
    others = draw(st.lists(st.integers(len(inputs), last), max_size=2))
    return Program(inputs, tuple(steps), (last, *others), draw(seeds))


def gradients(program: Program, tensors: list[Tensor], **options: Any) -> list[Array]:
    """The gradients of all outputs together; zeros where no output depends on the input."""
    outputs = program.run(*tensors, order=options.pop("order", ()))
    weights = program.upstream(outputs)
    live = [i for i, out in enumerate(outputs) if out.requires_grad]
    found: Sequence[Tensor | None] = grad(
        [outputs[i] for i in live],
        tensors,
        [weights[i] for i in live],
        allow_unused=True,
        **options,
    )
    pairs = zip(tensors, found, strict=True)
    return [np.zeros(x.shape) if g is None else np.array(g) for x, g in pairs]


@holds_for(program=programs())
def test_the_gradients_of_a_program_are_its_slopes(program: Program) -> None:
    found = gradients(program, leaves(program.arrays()))
    for gradient, slope in zip(found, program.slopes(), strict=True):
        assert_near(gradient, slope, 1e-6)


@holds_for(program=programs())
def test_a_gradient_that_is_recorded_has_the_same_bits(program: Program) -> None:
    plain = gradients(program, leaves(program.arrays()))
    recorded = gradients(program, leaves(program.arrays()), create_graph=True)
    for first, second in zip(plain, recorded, strict=True):
        np.testing.assert_array_equal(second, first)


@holds_for(program=programs())
def test_backward_leaves_what_grad_returns_bit_for_bit(program: Program) -> None:
    tensors = leaves(program.arrays())
    out = program.run(*tensors)[0]
    (upstream,) = normal(program.seed + 1, out.shape)
    expected = grad(out, tensors, upstream, retain_graph=True, allow_unused=True)
    out.backward(upstream)
    for x, gradient in zip(tensors, expected, strict=True):
        assert (x.grad is None) == (gradient is None)
        if gradient is not None:
            np.testing.assert_array_equal(x.grad, np.array(gradient))


@holds_for(program=programs())
def test_leaves_add_up_what_each_output_brings(program: Program) -> None:
    together = gradients(program, leaves(program.arrays()))
    tensors = leaves(program.arrays())
    outputs = program.run(*tensors)
    for out, weight in zip(outputs, program.upstream(outputs), strict=True):
        out.backward(weight, retain_graph=True)
    for x, gradient in zip(tensors, together, strict=True):
        assert_near(np.zeros(x.shape) if x.grad is None else x.grad, gradient, 1e-12)


@holds_for(program=programs(EXACT, EXACT_PAIRS), random=st.randoms(use_true_random=False))
def test_the_order_of_independent_steps_changes_nothing(program: Program, random: Any) -> None:
    whole = [np.round(2 * x) for x in program.arrays()]
    order = shuffled(program, random)
    upstream = [np.round(2 * w) for w in program.upstream(program.run(*whole))]

    def backward(order: Sequence[int]) -> list[Array | None]:
        tensors = leaves(whole)
        for out, weight in zip(program.run(*tensors, order=order), upstream, strict=True):
            out.backward(weight, retain_graph=True)
        return [x.grad for x in tensors]

    for first, second in zip(backward(()), backward(order), strict=True):
        np.testing.assert_array_equal(first, second)


def shuffled(program: Program, random: Any) -> list[int]:
    """The steps in a random order in which each comes after those it takes its values from."""
    done: list[int] = []
    while len(done) < len(program.steps):
        known = [*range(len(program.inputs)), *[len(program.inputs) + i for i in done]]
        ready = [
            i
            for i, (_, operands) in enumerate(program.steps)
            if i not in done and set(operands) <= set(known)
        ]
        done.append(random.choice(ready))
    return done


@holds_for(program=programs(), seed=seeds)
def test_second_derivatives_are_the_slopes_of_the_first(program: Program, seed: int) -> None:
    directions = normal(seed, *program.inputs)

    def along(*values: Any) -> Any:
        found = gradients(program, leaves(values))
        return np.asarray(sum((g * v).sum() for g, v in zip(found, directions, strict=True)))

    tensors = leaves(program.arrays())
    outputs = program.run(*tensors)
    live = [i for i, out in enumerate(outputs) if out.requires_grad]
    # The upstream is recorded too, so that the gradient of a linear program is recorded.
    weights = leaves(program.upstream(outputs))
    first = grad(
        [outputs[i] for i in live],
        tensors,
        [weights[i] for i in live],
        create_graph=True,
        allow_unused=True,
    )
    terms = [(g * v).sum() for g, v in zip(first, directions, strict=True) if g is not None]
    found = grad(minigrad.stack(terms).sum(), tensors, allow_unused=True)
    numeric = central_differences(along, program.arrays(), np.array(1.0))
    for x, second, slope in zip(tensors, found, numeric, strict=True):
        assert_near(np.zeros(x.shape) if second is None else second, slope, 1e-5)


@holds_for(program=programs(), seed=seeds)
def test_a_gradient_is_linear_in_its_upstream(program: Program, seed: int) -> None:
    tensors = leaves(program.arrays())
    out = program.run(*tensors)[0]
    first, second = normal(seed, out.shape, out.shape)

    def pulled(upstream: Array) -> list[Any]:
        found = grad(out, tensors, upstream, retain_graph=True, allow_unused=True)
        return [np.array(g) for g in found if g is not None]

    parts = zip(pulled(first), pulled(second), pulled(2 * first - 3 * second), strict=True)
    for a, b, both in parts:
        assert_near(both, 2 * a - 3 * b, 1e-12)
