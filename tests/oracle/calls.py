"""Calls of the primitives: those that their examples make, and more in other shapes and axes. All
are compared with definitions of our own, with torch, and with rules that have mistakes in them."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from minigrad import Primitive
from minigrad.check.registry import cases_of

Rng = np.random.Generator
Rows = list[tuple[Any, ...]]


class Call(NamedTuple):
    """The inputs of a primitive, and all its options."""

    inputs: list[Any]
    options: dict[str, Any]

    def narrowed(self, dtype: Any) -> "Call":
        """The same call in another floating-point dtype."""
        floats = [isinstance(x, np.ndarray) and x.dtype.kind == "f" for x in self.inputs]
        pairs = zip(self.inputs, floats, strict=True)
        return self._replace(inputs=[x.astype(dtype) if f else x for x, f in pairs])


def calls_of(op: Primitive, seed: int) -> Iterator[Call]:
    """First those of the example, then the others."""
    rng = np.random.default_rng(seed)
    rows: Rows = [(*case.args, case.options) for case in cases_of(op, rng)]
    for row in rows + (MORE[op.name](rng) if op.name in MORE else []):
        *args, options = row if isinstance(row[-1], dict) else (*row, {})
        count = len(args) if op.many else len(op.rules)
        bound = op.bind(args[count:], options)
        arrays = {name: np.array(v) for name, v in bound.items() if isinstance(v, list)}
        yield Call(args[:count], bound | arrays)


def _elementwise(rng: Rng) -> Rows:
    return [(rng.normal(size=()),), (rng.normal(size=(3, 1, 4, 2)),)]


def _positive(rng: Rng) -> Rows:
    return [(rng.uniform(0.5, 2.0, ()),), (rng.uniform(0.5, 2.0, (3, 1, 4, 2)),)]


def _two(rng: Rng) -> Rows:
    def pair(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[Any, ...]:
        return rng.normal(size=a), rng.uniform(0.5, 2.0, b)

    return [pair((5, 1), (4,)), pair((), (3, 2)), pair((2, 3, 4), ())]


def _reduced(rng: Rng) -> Rows:
    options: list[dict[str, Any]] = [
        {"axis": 0},
        {"axis": -1, "keepdims": True},
        {"axis": (1, -1)},
        {"axis": ()},
    ]
    return [(rng.normal(size=(4, 5, 2)), option) for option in options]


def _normalised(rng: Rng) -> Rows:
    return [(rng.normal(size=(5, 7)), {"axis": 0}), (rng.normal(size=(2, 4, 3)), {"axis": 1})]


MORE: dict[str, Callable[[Rng], Rows]] = {
    **dict.fromkeys("negative abs exp sin cos tanh sigmoid relu gelu silu".split(), _elementwise),
    **dict.fromkeys("log log1p sqrt".split(), _positive),
    **dict.fromkeys("add subtract multiply divide divide_or_zero maximum minimum".split(), _two),
    **dict.fromkeys("sum mean prod var max min norm logsumexp".split(), _reduced),
    "std": lambda rng: _reduced(rng)[:-1],  # of one number alone it has a kink
    **dict.fromkeys(["softmax", "log_softmax"], _normalised),
    "power": lambda rng: [
        (rng.uniform(0.5, 2.0, (5, 1)), rng.normal(size=4)),
        (rng.uniform(0.5, 2.0, (3, 2)), np.array(-1.5)),
    ],
    "where": lambda rng: [
        (rng.normal(size=(4, 1)) > 0, rng.normal(size=(2, 1, 3)), rng.normal(size=()))
    ],
    "matmul": lambda rng: [(rng.normal(size=(2, 1, 4, 3)), rng.normal(size=(5, 3, 2)))],
    "einsum": lambda rng: [
        (rng.normal(size=(2, 3)), rng.normal(size=(2, 4)), {"subscripts": "ij,ik->kj"}),
        (rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 5)), {"subscripts": "ijk,kl->"}),
        (rng.normal(size=(3, 3, 2)), rng.normal(size=2), {"subscripts": "iij,j->i"}),
        (rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), {"subscripts": "ii,ij->j"}),
        (rng.normal(size=(3, 3, 3)), {"subscripts": "iii->i"}),
        (rng.normal(size=(2, 3)), rng.normal(size=(1, 3)), {"subscripts": "ij,ij->j"}),
        (rng.normal(size=(1, 3)), rng.normal(size=(2, 4)), {"subscripts": "ij,ik->jk"}),
    ],
    "cumsum": lambda rng: [
        (rng.normal(size=(4, 5, 2)), {"axis": 1}),
        (rng.normal(size=(4, 5, 2)), {"axis": -1}),
    ],
    "cross_entropy": lambda rng: [
        (rng.normal(size=(5, 7)), rng.integers(0, 7, 5)),
        (rng.normal(size=(5, 7)), np.array([6, 0, 2, 3, 0]), {"ignore_index": 2}),
    ],
    "take": lambda rng: [
        (rng.normal(size=(2, 3, 4)), np.array([1, -1, 0]), {"axis": 0}),
        (rng.normal(size=(2, 3, 4)), np.array([[1, -1], [0, 1]]), {"axis": -2}),
        (rng.normal(size=(2, 3)), np.array([[5, -1], [0, 5]])),
    ],
    "concatenate": lambda rng: [
        (rng.normal(size=(4, 2, 3)), rng.normal(size=(4, 5, 3)), {"axis": -2}),
        (rng.normal(size=2), rng.normal(size=3), rng.normal(size=1)),
        (rng.normal(size=(2, 3)), rng.normal(size=4), {"axis": None}),
    ],
    "stack": lambda rng: [(*rng.normal(size=(3, 3, 4, 2)), {"axis": 1})],
    "transpose": lambda rng: [(rng.normal(size=(2, 3, 4, 5)), (2, 0, -1, 1))],
    "pad": lambda rng: [
        (rng.normal(size=(2, 3, 4)), (1, 2)),
        (rng.normal(size=(2, 3)), ((2, 0), (0, 1)), {"constant_values": 7.0}),
    ],
    "expand_dims": lambda rng: [(rng.normal(size=(2, 3)), (1, -1))],
    "squeeze": lambda rng: [(rng.normal(size=(1, 2, 1, 3)), (0, -2))],
    "flip": lambda rng: [(rng.normal(size=(2, 3, 4)), {"axis": -2})],
    "swapaxes": lambda rng: [(rng.normal(size=(2, 3, 4)), 1, 0)],
    "spread": lambda rng: [
        (rng.normal(size=3), (2, 3, 4), (0, -1)),
        (rng.normal(size=(2, 1, 4)), (2, 3, 4), 1),
    ],
    "tril": lambda rng: [(rng.normal(size=(3, 4)), -1)],
    "broadcast_to": lambda rng: [(rng.normal(size=(3, 1, 4)), (2, 3, 5, 4))],
}
