"""The workloads: from which inputs each starts, what it computes, by hand and in float64.

A workload is written once, in the few functions that an engine (minigrad or a peer) gives it. The
hand-written step is the best whole-array NumPy, and the measure of all others; the float64 numbers
come from other formulas, or another order, and are what everybody's results are held against.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from tests.benchmarks.contenders import Engine

Array = np.ndarray[Any, np.dtype[Any]]
Step = Callable[[], list[Any]]
"""Computes a result and a gradient for every input, and returns them in that order."""

RATE = 0.0
"""Of the training step: the update is done, but the next step starts where this one did."""


@dataclass(frozen=True)
class Work:
    """What is to be computed, on numbers that are drawn."""

    inputs: tuple[Array, ...]  # a gradient is wanted for each
    upstream: Array
    forward: Callable[[Engine], Callable[..., Any]]  # of the inputs, then of the constants
    hand: Step
    exact: Callable[[], list[Array]]
    constants: tuple[Array, ...] = ()
    trains: bool = False  # whether a step changes its inputs in the end


class Workload(NamedTuple):
    """A row of the table: its name, what it is called, which work, and the ratios aimed at."""

    name: str
    what: str
    chinese: str
    kind: str
    sizes: tuple[int, ...]
    targets: dict[str, float]


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            "W1",
            "one head, L = 3, d = 4",
            "一个头，L = 3，d = 4",
            "head",
            (3, 4),
            {"minigrad": 2.5, "minigrad fused": 1.8},
        ),
        Workload(
            "W2",
            "projections 8 → 6 and attention, L = 4",
            "8 → 6 的投影加注意力，L = 4",
            "projected",
            (4, 8, 6),
            {"minigrad": 2.5},
        ),
        Workload(
            "W3",
            "2 × 8 heads, L = 128, d = 64",
            "2 × 8 个头，L = 128，d = 64",
            "heads",
            (2, 8, 128, 64),
            {"minigrad": 1.15, "minigrad fused, 2 threads": 0.8},
        ),
        Workload(
            "W4",
            "8 heads, L = 1,024, d = 64",
            "8 个头，L = 1,024，d = 64",
            "heads",
            (8, 1024, 64),
            {"minigrad": 1.4, "minigrad fused": 0.92, "minigrad fused, 2 threads": 0.52},
        ),
        Workload(
            "W5",
            "1 head, L = 8,192, d = 64",
            "1 个头，L = 8,192，d = 64",
            "heads",
            (1, 8192, 64),
            {"minigrad fused": 0.92, "minigrad fused, 2 threads": 0.52},
        ),
        Workload(
            "W6",
            "a chain of 10,000 elementwise ops",
            "10,000 个逐元素算子连成一串",
            "chain",
            (10_000, 64),
            {"minigrad": 3.4},
        ),
        Workload(
            "W7",
            "a training step, 784 → 128 → 10, batch 64",
            "一步训练，784 → 128 → 10，批大小 64",
            "training",
            (64, 784, 128, 10),
            {"minigrad": 1.15},
        ),
    )
}
IMPORTS = Workload("W8", "import", "导入", "import", (), {})
"""Not computed but imported; it may take 15 ms beyond NumPy's own import."""

SMALL = {
    "head": (3, 4),
    "projected": (4, 8, 6),
    "heads": (2, 24, 8),
    "causal": (2, 24, 8),
    "chain": (20, 4),
    "training": (6, 9, 5, 4),
}
"""Sizes that are quick: to load what a library loads late, and for tests."""


def work(kind: str, sizes: tuple[int, ...]) -> Work:
    """The work of a kind and of these sizes; always the same numbers."""
    return _KINDS[kind](*sizes)


# ---------------------------------------------------------------------------------------- attention


def _head(length: int, width: int) -> Work:
    """One head in float64."""
    q, k, v, g = np.random.default_rng(0).normal(size=(4, length, width))
    scale = width**-0.5

    def hand() -> list[Any]:
        return _one_head_by_hand(q, k, v, g, scale)

    def exact() -> list[Array]:
        return attention_in_float64(q, k, v, g, scale)

    return Work((q, k, v), g, lambda engine: engine.attention(scale, False), hand, exact)


def _projected(length: int, wide: int, narrow: int) -> Work:
    """Three projections and one head, in float64."""
    rng = np.random.default_rng(1)
    x, a, b, c = rng.normal(size=(length, wide)), *rng.normal(size=(3, wide, narrow))
    g, scale = rng.normal(size=(length, narrow)), narrow**-0.5

    def forward(engine: Engine) -> Callable[..., Any]:
        attention = engine.attention(scale, False)
        return lambda x, a, b, c: attention(x @ a, x @ b, x @ c)

    def hand() -> list[Any]:
        out, dq, dk, dv = _one_head_by_hand(x.dot(a), x.dot(b), x.dot(c), g, scale)
        dx = dq.dot(a.T) + dk.dot(b.T) + dv.dot(c.T)
        return [out, dx, x.T.dot(dq), x.T.dot(dk), x.T.dot(dv)]

    def exact() -> list[Array]:
        out, *gradients = attention_in_float64(x @ a, x @ b, x @ c, g, scale)
        dx = sum(d @ m.T for d, m in zip(gradients, (a, b, c), strict=True))
        return [out, dx, *[x.T @ d for d in gradients]]

    return Work((x, a, b, c), g, forward, hand, exact)


def _one_head_by_hand(q: Array, k: Array, v: Array, g: Array, scale: float) -> list[Any]:
    scores = q.dot(k.T) * scale
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    dw = g.dot(v.T)
    ds = weights * (dw - (dw * weights).sum(axis=-1, keepdims=True)) * scale
    return [weights.dot(v), ds.dot(k), ds.T.dot(q), weights.T.dot(g)]


def _heads(*shape: int, causal: bool = False) -> Work:
    """Heads of one shape, in float32."""
    rng = np.random.default_rng(5)
    q, k, v, g = (rng.standard_normal(shape, np.float32) for _ in range(4))
    scale = shape[-1] ** -0.5

    def hand() -> list[Any]:
        weights = q @ k.swapaxes(-1, -2)
        weights *= scale
        if causal:
            weights[..., np.tri(shape[-2]) == 0] = -np.inf
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        out = weights @ v
        dv = weights.swapaxes(-1, -2) @ g
        ds = g @ v.swapaxes(-1, -2)
        ds -= (ds * weights).sum(axis=-1, keepdims=True)
        ds *= weights
        ds *= scale
        return [out, ds @ k, ds.swapaxes(-1, -2) @ q, dv]

    def exact() -> list[Array]:
        return attention_in_float64(q, k, v, g, scale, causal)

    return Work((q, k, v), g, lambda engine: engine.attention(scale, causal), hand, exact)


def _causal(*shape: int) -> Work:
    return _heads(*shape, causal=True)


STRIP = 1024


def attention_in_float64(
    q: Array, k: Array, v: Array, g: Array, scale: float, causal: bool = False
) -> list[Array]:
    """The output and the gradients for q, k and v, head by head and in strips of queries."""
    heads = [x.astype(np.float64).reshape(-1, *x.shape[-2:]) for x in (q, k, v, g)]
    results = [np.zeros_like(x) for x in (heads[2], *heads[:3])]
    for arrays in zip(*heads, *results, strict=True):
        query, key, value, upstream, out, dq, dk, dv = arrays
        for start in range(0, len(query), STRIP):
            rows = slice(start, start + STRIP)
            scores = query[rows] @ key.T * scale
            if causal:
                scores[np.tri(len(scores), len(key), start) == 0] = -np.inf
            highest = scores.max(axis=1, keepdims=True)
            log_sum = highest + np.log(np.exp(scores - highest).sum(axis=1, keepdims=True))
            weights = np.exp(scores - log_sum)
            out[rows] = weights @ value
            # What a weight gains over its row's mean, which is the upstream times the output.
            gain = upstream[rows] @ value.T - (upstream[rows] * out[rows]).sum(1, keepdims=True)
            ds = scale * weights * gain
            dq[rows] = ds @ key
            dk += ds.T @ query[rows]
            dv += weights.T @ upstream[rows]
    return [x.reshape(like.shape) for x, like in zip(results, (g, q, k, v), strict=True)]


# ---------------------------------------------------------------------------------- the other kinds


def _chain(ops: int, entries: int) -> Work:
    """y = y * 1.0001 + 0.5, half as many times as there are ops, in float64."""
    start, g = np.random.default_rng(2).normal(size=(2, entries))
    times = ops // 2

    def forward(engine: Engine) -> Callable[..., Any]:
        return lambda x: engine.chain(times, x)

    def hand() -> list[Any]:
        y, gradient = start, g
        for _ in range(times):
            y = y * 1.0001 + 0.5
        for _ in range(times):
            gradient = gradient * 1.0001
        return [y, gradient]

    def exact() -> list[Array]:
        growth = 1.0001**times
        return [start * growth + 0.5 * (growth - 1.0) / 0.0001, g * growth]

    return Work((start,), g, forward, hand, exact)


def _training(batch: int, wide: int, hidden: int, classes: int) -> Work:
    """A step of two layers with softmax cross-entropy, in float32, update included."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((batch, wide), np.float32)
    labels = rng.integers(0, classes, batch)
    shapes = ((wide, hidden), (hidden,), (hidden, classes), (classes,))
    parameters = tuple(
        rng.standard_normal(shape, np.float32) / np.float32(shape[0] ** 0.5) for shape in shapes
    )

    def forward(engine: Engine) -> Callable[..., Any]:
        def loss(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, labels: Any) -> Any:
            return engine.cross_entropy(engine.relu(x @ w1 + b1) @ w2 + b2, labels)

        return loss

    rows = np.arange(batch)

    def hand() -> list[Any]:
        w1, b1, w2, b2 = parameters
        active = np.maximum(x.dot(w1) + b1, 0)
        logits = active.dot(w2) + b2
        shifted = logits - logits.max(axis=1, keepdims=True)
        d = np.exp(shifted)
        sums = d.sum(axis=1, keepdims=True)
        loss = -(shifted[rows, labels] - np.log(sums[:, 0])).mean()
        d /= sums
        d[rows, labels] -= 1
        d /= batch
        dh = d.dot(w2.T)
        dh[active <= 0] = 0
        gradients = [x.T.dot(dh), dh.sum(axis=0), active.T.dot(d), d.sum(axis=0)]
        for p, gradient in zip(parameters, gradients, strict=True):
            p -= RATE * gradient
        return [loss, *gradients]

    def exact() -> list[Array]:
        w1, b1, w2, b2 = (p.astype(np.float64) for p in parameters)
        data, chosen = x.astype(np.float64), np.eye(classes)[labels]
        before = data @ w1 + b1
        active = np.where(before > 0, before, 0.0)
        logits = active @ w2 + b2
        logs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        d = (np.exp(logs) - chosen) / batch
        dh = (d @ w2.T) * (before > 0)
        loss = -np.sum(chosen * logs) / batch
        ones = np.ones(batch)
        return [np.asarray(loss), data.T @ dh, ones @ dh, active.T @ d, ones @ d]

    upstream = np.ones((), np.float32)
    return Work(parameters, upstream, forward, hand, exact, (x, labels), trains=True)


_KINDS: dict[str, Callable[..., Work]] = {
    "head": _head,
    "projected": _projected,
    "heads": _heads,
    "causal": _causal,
    "chain": _chain,
    "training": _training,
}
