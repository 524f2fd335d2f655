"""The workloads: each as minigrad computes it, and as the best whole-array NumPy by hand does.

Both return the same numbers, a result and a gradient for every input, which is checked against
float64 before anything is timed. Leaves are made outside the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from attention import fused_attention, scaled_dot_product_attention
from minigrad import Tensor

Step = Callable[[], list[Any]]


@dataclass
class Workload:
    """One comparison: what it does, the two contenders, and the ratio aimed at."""

    name: str
    what: str
    minigrad: Step
    hand: Step
    target: float
    repeats: int  # steps that make one sample of a few milliseconds


def _hand_attention(
    q: Any, k: Any, v: Any, g: Any, scale: float
) -> tuple[Any, tuple[Any, Any, Any]]:
    scores = q.dot(k.T) * scale
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    out = weights.dot(v)
    dv = weights.T.dot(g)
    dw = g.dot(v.T)
    ds = weights * (dw - (dw * weights).sum(axis=-1, keepdims=True)) * scale
    return out, (ds.dot(k), ds.T.dot(q), dv)


def one_head() -> Workload:
    """W1: one attention head, L = 3, d = 4, float64."""
    rng = np.random.default_rng(0)
    q, k, v, g = rng.normal(size=(4, 3, 4))
    query, key, value = (Tensor(x, requires_grad=True) for x in (q, k, v))

    def ours() -> list[Any]:
        query.grad = key.grad = value.grad = None
        scores = minigrad.scale(query @ key.mT, 0.5)
        out = minigrad.softmax(scores) @ value
        out.backward(g)
        return [out, query.grad, key.grad, value.grad]

    def hand() -> list[Any]:
        out, grads = _hand_attention(q, k, v, g, 0.5)
        return [out, *grads]

    return Workload("W1", "one head, L 3, d 4", ours, hand, 2.5, 300)


def projected_head() -> Workload:
    """W2: projections 8 → 6 and attention, L = 4, float64."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4, 8))
    matrices = rng.normal(size=(3, 8, 6))
    g = rng.normal(size=(4, 6))
    scale = 6**-0.5
    source = Tensor(x, requires_grad=True)
    w_q, w_k, w_v = (Tensor(m, requires_grad=True) for m in matrices)

    def ours() -> list[Any]:
        source.grad = w_q.grad = w_k.grad = w_v.grad = None
        scores = minigrad.scale((source @ w_q) @ (source @ w_k).mT, scale)
        out = minigrad.softmax(scores) @ (source @ w_v)
        out.backward(g)
        return [out, source.grad, w_q.grad, w_k.grad, w_v.grad]

    def hand() -> list[Any]:
        a, b, c = matrices
        out, (dq, dk, dv) = _hand_attention(x.dot(a), x.dot(b), x.dot(c), g, scale)
        dx = dq.dot(a.T) + dk.dot(b.T) + dv.dot(c.T)
        return [out, dx, x.T.dot(dq), x.T.dot(dk), x.T.dot(dv)]

    return Workload("W2", "projections 8 to 6, attention, L 4", ours, hand, 2.5, 200)


def long_chain() -> Workload:
    """W6: y = y * 1.0001 + 0.5, 5,000 times on 64 float64 values."""
    start = np.random.default_rng(2).normal(size=64)
    g = np.random.default_rng(3).normal(size=64)
    x = Tensor(start, requires_grad=True)

    def ours() -> list[Any]:
        x.grad = None
        y = x
        for _ in range(5000):
            y = y * 1.0001 + 0.5
        y.backward(g)
        return [y, x.grad]

    def hand() -> list[Any]:
        y, gradient = start, g
        for _ in range(5000):
            y = y * 1.0001 + 0.5
        for _ in range(5000):
            gradient = gradient * 1.0001
        return [y, gradient]

    return Workload("W6", "a chain of 10,000 elementwise ops", ours, hand, 3.4, 1)


def training_step() -> Workload:
    """W7: a training step of 784 → 128 → 10, batch 64, float32, softmax cross-entropy."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(64, 784)).astype(np.float32)
    labels = rng.integers(0, 10, 64)
    w1 = (rng.normal(size=(784, 128)) / 28).astype(np.float32)
    w2 = (rng.normal(size=(128, 10)) / 11).astype(np.float32)
    b1, b2 = np.zeros(128, np.float32), np.zeros(10, np.float32)
    batch = Tensor(x)
    parameters = [Tensor(p, requires_grad=True) for p in (w1, b1, w2, b2)]

    def ours() -> list[Any]:
        for p in parameters:
            p.grad = None
        m1, c1, m2, c2 = parameters
        loss = minigrad.cross_entropy(minigrad.relu(batch @ m1 + c1) @ m2 + c2, labels)
        loss.backward()
        with minigrad.no_grad():
            for p in parameters:
                p -= 0.0 * p.grad  # type: ignore[operator]
        return [loss, *[p.grad for p in parameters]]

    rows = np.arange(64)

    def hand() -> list[Any]:
        hidden = np.maximum(x.dot(w1) + b1, 0)
        logits = hidden.dot(w2) + b2
        shifted = logits - logits.max(axis=1, keepdims=True)
        exps = np.exp(shifted)
        sums = exps.sum(axis=1, keepdims=True)
        loss = -(shifted[rows, labels] - np.log(sums[:, 0])).mean()
        d = exps / sums
        d[rows, labels] -= 1
        d /= 64
        dw2, db2 = hidden.T.dot(d), d.sum(axis=0)
        dh = d.dot(w2.T)
        dh[hidden <= 0] = 0
        grads = [x.T.dot(dh), dh.sum(axis=0), dw2, db2]
        for p, gradient in zip((w1, b1, w2, b2), grads, strict=True):
            p -= 0.0 * gradient
        return [loss, *grads]

    return Workload("W7", "a training step, 784 to 128 to 10", ours, hand, 1.15, 5)


def heads(
    name: str, shape: tuple[int, ...], threads: int | None, target: float, repeats: int
) -> Callable[[], Workload]:
    """Heads of float32, forward and backward: composed, or fused with so many threads."""
    what = f"{'×'.join(map(str, shape))}, " + (
        "composed" if threads is None else f"fused, {threads} thr."
    )

    def make() -> Workload:
        rng = np.random.default_rng(5)
        q, k, v, g = (rng.standard_normal(shape, np.float32) for _ in range(4))
        query, key, value = (Tensor(x, requires_grad=True) for x in (q, k, v))
        scale = shape[-1] ** -0.5

        def ours() -> list[Any]:
            query.grad = key.grad = value.grad = None
            if threads is None:
                out, _ = scaled_dot_product_attention(query, key, value)
            else:
                out = fused_attention(query, key, value, threads=threads)
            out.backward(g)
            return [out, query.grad, key.grad, value.grad]

        def hand() -> list[Any]:
            weights = q @ k.swapaxes(-1, -2)
            weights *= scale
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

        return Workload(name, what, ours, hand, target, repeats)

    return make


WORKLOADS = [
    one_head,
    projected_head,
    heads("W3", (2, 8, 128, 64), None, 1.15, 3),
    heads("W3", (2, 8, 128, 64), 2, 0.8, 3),
    heads("W4", (8, 1024, 64), None, 1.4, 1),
    heads("W4", (8, 1024, 64), 1, 0.92, 1),
    heads("W4", (8, 1024, 64), 2, 0.52, 1),
    heads("W5", (1, 8192, 64), 1, 0.92, 1),
    heads("W5", (1, 8192, 64), 2, 0.52, 1),
    long_chain,
    training_step,
]
