"""What the docstrings promise at the points where no difference quotient can tell: ties, kinks,
bounds, zeros of a norm, rows without a score, and far out, where a formula may overflow. The
mutation run plants its mistakes here too."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from minigrad import Primitive, Tensor, grad

Array = np.ndarray[Any, np.dtype[Any]]
INF, NAN = np.inf, np.nan


class Kink(NamedTuple):
    """A call of a primitive at such a point, and what its inputs get of an upstream `g`.

    `expected` is called with `g` and returns an array for each input that has a gradient.
    """

    says: str
    inputs: tuple[Any, ...]
    expected: Callable[[Array], list[Any]]
    options: Mapping[str, Any] = MappingProxyType({})


def gradients_at(op: Primitive, kink: Kink, *, create_graph: bool = False) -> list[Array]:
    """The upstream that was drawn, and then the gradients of the inputs that have one."""
    inputs = [
        Tensor(value, requires_grad=rule is not None)
        for value, rule in zip(kink.inputs, op.rules, strict=True)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        out: Any = op.apply(inputs, op.bind((), dict(kink.options)))
        upstream = np.random.default_rng(0).uniform(0.5, 2.0, out.shape)
        leaves = [x for x in inputs if x.requires_grad]
        found = grad(out, leaves, upstream, create_graph=create_graph)
    return [upstream, *[np.array(x) for x in found]]


def times(*factors: Any) -> Callable[[Array], list[Any]]:
    return lambda g: [g * np.array(factor, float) for factor in factors]


def shares(*rows: Any) -> Callable[[Array], list[Any]]:
    """Each row of the input gets these parts of the one upstream that it was reduced to."""
    return lambda g: [np.expand_dims(g, -1) * np.array(rows, float)]


x = np.array
KINKS: dict[str, list[Kink]] = {
    "gelu": [Kink("is straight far out", (x([-1e160, 1e160]),), times([0, 1]))],
    "silu": [Kink("is straight far out", (x([-800.0, 1e160]),), times([0, 1]))],
    "sigmoid": [Kink("is flat far out", (x([-800.0, 0.0, 800.0]),), times([0, 0.25, 0]))],
    "tanh": [Kink("is flat far out", (x([-1000.0, 0.0, 1000.0]),), times([0, 1, 0]))],
    "relu": [Kink("is flat at 0", (x([-1.0, 0.0, 2.0]),), times([0, 0, 1]))],
    "abs": [Kink("is flat at 0", (x([-2.0, 0.0, 3.0]),), times([-1, 0, 1]))],
    "maximum": [
        Kink(
            "shares ties", (x([1.0, 5.0, 1.0]), x([1.0, 2.0, 3.0])), times([0.5, 1, 0], [0.5, 0, 1])
        )
    ],
    "minimum": [
        Kink(
            "shares ties", (x([1.0, 5.0, 1.0]), x([1.0, 2.0, 3.0])), times([0.5, 0, 1], [0.5, 1, 0])
        )
    ],
    "max": [
        Kink(
            "shares ties evenly",
            (x([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]),),
            shares([0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]),
            {"axis": 1},
        ),
        Kink(
            "does not share with what is almost as large",
            (x([[1.0, 1.0 - 1e-12]]),),
            shares([1, 0]),
            {"axis": 1},
        ),
    ],
    "min": [
        Kink(
            "shares ties evenly",
            (x([[3.0, 1.0, 1.0], [2.0, 2.0, 2.0]]),),
            shares([0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]),
            {"axis": 1},
        )
    ],
    "clip": [
        Kink(
            "passes at its bounds",
            (x([-2.0, -1.0, 0.0, 1.0, 2.0]),),
            times([0, 1, 1, 1, 0]),
            {"min": -1.0, "max": 1.0},
        )
    ],
    "power": [
        Kink(
            "is flat for the exponent 0", (x([0.0, -2.0]), x([0.0, 0.0])), times([0, 0], [NAN, NAN])
        ),
        Kink(
            "is straight for the exponent 1",
            (x([0.0, -2.0]), x([1.0, 1.0])),
            times([1, 1], [0, NAN]),
        ),
        Kink(
            "has no slope in the exponent of a negative base",
            (x([-2.0, 0.0]), x([3.0, 2.0])),
            times([12, 0], [NAN, 0]),
        ),
    ],
    "divide_or_zero": [
        Kink("is flat where b is 0", (x([1.0, 6.0]), x([0.0, 2.0])), times([0, 0.5], [0, -1.5]))
    ],
    "norm": [
        Kink(
            "is flat at 0", (x([[0.0, 0.0], [3.0, 4.0]]),), shares([0, 0], [0.6, 0.8]), {"axis": 1}
        )
    ],
    "std": [
        Kink(
            "is flat where all are equal",
            (x([[3.0, 3.0], [3.0, 5.0]]),),
            shares([0, 0], [-0.5, 0.5]),
            {"axis": 1},
        )
    ],
    "prod": [
        Kink(
            "needs no division by an entry",
            (x([[3.0, 0.0, 5.0], [0.0, 0.0, 3.0]]),),
            shares([0, 15, 0], [0, 0, 0]),
            {"axis": 1},
        )
    ],
    "where": [
        Kink(
            "gives nothing to what is not chosen",
            (x([True, False]), x([2.0, INF]), x([NAN, 3.0])),
            times([1, 0], [0, 1]),
        )
    ],
    "masked_fill": [
        Kink(
            "gives nothing to what is hidden",
            (x([2.0, INF]), x([False, True])),
            times([1, 0]),
            {"value": -INF},
        )
    ],
    "softmax": [
        Kink(
            "has nothing to choose from in a row of −inf",
            (x([[-INF, -INF], [0.0, -INF]]),),
            lambda g: [np.zeros((2, 2))],
        )
    ],
    "logsumexp": [
        Kink(
            "passes to what is not −inf",
            (x([[-INF, 2.0, 2.0], [-INF, -INF, -INF]]),),
            shares([0, 0.5, 0.5], [0, 0, 0]),
            {"axis": 1},
        )
    ],
    "cross_entropy": [
        Kink(
            "gives nothing to what is ignored",
            (x([[0.0, 0.0], [1.0, 5.0]]), x([1, -100])),
            lambda g: [g * x([[0.5, -0.5], [0.0, 0.0]])],
        ),
        Kink(
            "is 0 if all are ignored",
            (x([[0.0, 0.0], [1.0, 5.0]]), x([-100, -100])),
            lambda g: [np.zeros((2, 2))],
        ),
    ],
}
