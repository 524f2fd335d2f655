"""Softmax and its relatives: weights that sum to 1, their logarithms, and the loss on them.

All take a tensor or an array of scores of any shape, and subtract the largest score first, so
that no finite score overflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.equations import opaque
from minigrad.operand import Axis
from minigrad.ops.reductions import cases, spread
from minigrad.primitive import primitive


def _cases(rng: np.random.Generator) -> list[Any]:
    x = rng.normal(size=(2, 3, 4))
    return [(x,), (x, 1), (x, {"axis": 0})]


# A row of −inf alone has this as its largest score, so that no inf − inf turns up.
_FLOATS = (np.float16, np.float32, np.float64, np.longdouble)
_LOWEST = {np.dtype(kind): np.finfo(kind).min for kind in _FLOATS}


def _shifted(x: Any, axis: Axis) -> Any:
    """x minus its largest value, and that value."""
    if x.dtype.kind != "f":
        x = x.astype(np.float64)
    top = np.maximum.reduce(x, axis, keepdims=True, initial=_LOWEST.get(x.dtype))
    return x - top, top


@primitive(
    lambda g, out, *, axis: out * (g - (g * out).sum(axis=axis, keepdims=True)),
    example=_cases,
    composed=lambda x, axis: np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True),
)
def softmax(x: Any, axis: Axis = -1) -> Any:
    """Positive weights eˣ / Σ eˣ that sum to 1 along the axis.

    Where all scores are −inf there is nothing to choose from: the weights are 0, and so is the
    gradient.

    >>> softmax(np.array([1000.0, 1000.0, -np.inf]))
    array([0.5, 0.5, 0. ])
    """
    weights = np.exp(_shifted(x, axis)[0])
    # The largest score contributes e⁰ = 1, so a sum below 1 belongs to a row of −inf.
    return weights / np.maximum(weights.sum(axis=axis, keepdims=True), 1.0)


@primitive(
    lambda g, out, *, axis: g - np.exp(out) * g.sum(axis=axis, keepdims=True),
    example=_cases,
    composed=lambda x, axis: x - np.log(np.exp(x).sum(axis=axis, keepdims=True)),
)
def log_softmax(x: Any, axis: Axis = -1) -> Any:
    """The logarithm of `softmax`, exact also where the weight itself underflows to 0.

    >>> log_softmax(np.array([-1000.0, 0.0, 1000.0]))
    array([-2000., -1000.,     0.])
    """
    shifted, _ = _shifted(x, axis)
    return shifted - np.log(np.maximum(np.exp(shifted).sum(axis=axis, keepdims=True), 1))


@primitive(
    lambda g, x, *, axis: spread(g, x.shape, axis) * softmax(x, axis),
    example=cases,
    composed=lambda x, axis, keepdims: np.log(np.exp(x).sum(axis=axis, keepdims=keepdims)),
)
def logsumexp(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """log Σ eˣ, a smooth maximum; −inf where all scores are.

    >>> logsumexp(np.array([1000.0, 1000.0]))
    array(1000.69314718)
    """
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):  # log 0 is what −inf means here
        total = np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
    return total if keepdims else total.squeeze(axis)


@opaque
def one_hot(targets: Any, shape: tuple[int, ...]) -> Any:
    """1 at each target's class and 0 elsewhere; a row of 0 for a target that is no class."""
    return np.asarray(targets)[..., None] == np.arange(shape[-1])


@opaque
def divisor(targets: Any, ignore_index: int, reduction: str) -> int:
    """What the sum of the losses is divided by: for "mean" the number of targets that count."""
    return max(int(np.count_nonzero(targets != ignore_index)), 1) if reduction == "mean" else 1


@primitive(
    lambda g, logits, targets, *, ignore_index, reduction: (
        (g * (targets != ignore_index) / divisor(targets, ignore_index, reduction))[..., None]
        * (softmax(logits) - one_hot(targets, logits.shape))
    ),
    None,
    example=lambda rng: [
        (rng.normal(size=(2, 3, 4)), rng.integers(0, 4, (2, 3))),
        (rng.normal(size=(3, 4)), np.array([1, 2, 3]), {"ignore_index": 2}),
        (rng.normal(size=(3, 4)), np.array([1, 0, 3]), {"reduction": "sum", "ignore_index": 1}),
        (rng.normal(size=(3, 4)), np.array([1, 0, 3]), {"reduction": "none"}),
    ],
    expects="logits (..., classes), and one integer target below classes for each row",
)
def cross_entropy(
    logits: Any, targets: Any, *, ignore_index: int = -100, reduction: str = "mean"
) -> Any:
    """−log of the probability that softmax gives to the target, from the logits.

    Args: logits (..., classes), targets (...) integers; a target equal to `ignore_index` does not
    count. `reduction` is "mean" (over the targets that count; 0 if none does), "sum" or "none".
    Errors: `IndexError` for a target that is no class, `ValueError` for shapes and reductions.

    >>> float(cross_entropy(np.array([[1000.0, -1000.0]]), [1]))
    2000.0
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'reduction={reduction!r}; it is "mean", "sum" or "none".')
    targets, classes = np.asarray(targets), logits.shape[-1]
    if targets.dtype.kind not in "iu" or targets.shape != logits.shape[:-1]:
        raise ValueError(
            f"targets of shape {targets.shape} and dtype {targets.dtype} for logits of shape "
            f"{logits.shape}."
        )
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0).ravel()
    if chosen.size and (chosen.min() < 0 or chosen.max() >= classes):
        wrong = chosen[(chosen < 0) | (chosen >= classes)][0]
        raise IndexError(f"target {wrong} is none of {classes} classes.")
    shifted = _shifted(logits, -1)[0].reshape(-1, classes)
    losses = (
        np.log(np.maximum(np.exp(shifted).sum(axis=-1), 1))
        - shifted[np.arange(chosen.size), chosen]
    )
    losses = np.where(counted, losses.reshape(targets.shape), 0.0)
    if reduction == "none":
        return losses
    return losses.sum() / divisor(targets, ignore_index, reduction)
