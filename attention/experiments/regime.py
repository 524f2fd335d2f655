"""One regime of attention: what a softmax does to many rows, and to the gradients behind it.

Attention is recorded on tensors here, the engine is asked for its gradients, and what it returns
is summed up row by row in plain dataclasses. Where the inputs come from is the business of
`study` (random numbers) and `heads` (a trained model); no gradient formula is written down.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import minigrad
from minigrad import Tensor

__all__ = [
    "DEAD_WEIGHT",
    "PLACES",
    "STARVED_NORM",
    "Distribution",
    "Progress",
    "Regime",
    "attend",
    "gradient_rows",
    "join",
    "measure_attention",
    "row_norms",
    "softmax_jacobian",
    "softmax_rows",
]

Array = npt.NDArray[Any]
Rows = dict[str, Array]

Progress = Callable[[float], None]
"""Called now and then with the share of the work that is done, 0 to 1."""

DEAD_WEIGHT = 0.99
"""A row is dead when its largest weight exceeds this."""

STARVED_NORM = 1e-3
"""A query is starved when the norm of its gradient is below this."""

PLACES = ("softmax input", "Q", "K", "W_Q", "W_K", "V", "W_V")
"""Where gradients are measured, those behind the softmax first."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """How the norms of many rows are spread: never their mean alone.

    Attributes:
        median: what a typical row has.
        low: the 1 % quantile.
        high: the 99 % quantile.
        mean: the arithmetic mean.
        rms: the root of the mean square, which a few large rows dominate.
    """

    median: float
    low: float
    high: float
    mean: float
    rms: float

    @classmethod
    def of(cls, norms: npt.ArrayLike) -> "Distribution":
        """Sum up the norms of some rows.

        Args:
            norms: any shape but empty, not negative.

        Example:
            >>> Distribution.of([0.0, 3.0, 4.0]).median
            3.0
        """
        values = np.asarray(norms, dtype=np.float64)
        low, median, high = np.quantile(values, (0.01, 0.5, 0.99)).tolist()
        rms = float(np.sqrt(np.mean(values**2)))
        return cls(median, low, high, float(values.mean()), rms)


@dataclass(frozen=True, slots=True)
class Regime:
    """What was measured over many rows of attention, with or without the scale.

    Attributes:
        scaled: whether the scores were multiplied by 1/√d_k.
        spread: the standard deviation of what enters the softmax.
        predicted_spread: the same for queries and keys drawn from N(0, 1).
        largest_weight: the mean over the rows of the largest weight, 1/n to 1.
        entropy: the mean entropy of a row of weights, in nats, 0 to ln n.
        jacobian: the Frobenius norm of each row's softmax Jacobian.
        dead_rows: the share of rows whose largest weight exceeds .99.
        starved_queries: the share of queries whose gradient has a norm below 1e-3.
        float32_zeros: the share of exact zeros in the gradient at the softmax input when the
            softmax and its rule run in float32.
        gradients: for each place (`softmax input`, `Q`, `K`, ...) the norms of its rows.
    """

    scaled: bool
    spread: float
    predicted_spread: float
    largest_weight: float
    entropy: float
    jacobian: Distribution
    dead_rows: float
    starved_queries: float
    float32_zeros: float
    gradients: dict[str, Distribution]

    @property
    def saturated(self) -> bool:
        """Whether at least half of the rows are dead."""
        return self.dead_rows >= 0.5

    @classmethod
    def of(cls, rows: Rows, *, scaled: bool, spread: float, predicted_spread: float) -> "Regime":
        """Sum up the rows that were measured.

        Args:
            rows: what `softmax_rows` and `gradient_rows` returned, joined.
            scaled: whether the scale was applied.
            spread: the measured standard deviation of what enters the softmax.
            predicted_spread: the one to compare it with.
        """
        return cls(
            scaled=scaled,
            spread=spread,
            predicted_spread=predicted_spread,
            largest_weight=float(rows["largest weight"].mean()),
            entropy=float(rows["entropy"].mean()),
            jacobian=Distribution.of(rows["jacobian"]),
            dead_rows=float((rows["largest weight"] > DEAD_WEIGHT).mean()),
            starved_queries=float((rows["Q"] < STARVED_NORM).mean()),
            float32_zeros=float(rows["float32 zeros"].mean()),
            gradients={place: Distribution.of(rows[place]) for place in PLACES if place in rows},
        )


def attend(query: Tensor, key: Tensor, value: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Run scaled dot-product attention so that the input of its softmax can be asked for.

    Args:
        query: (..., L, d_k).
        key: (..., S, d_k).
        value: (..., S, d_v).
        scale: what the scores are multiplied by; 1.0 leaves them as they are.

    Returns:
        What enters the softmax, (..., L, S), and the context, (..., L, d_v).

    Example:
        >>> logits, context = attend(Tensor([[2.0]]), Tensor([[3.0]]), Tensor([[5.0]]), scale=0.5)
        >>> logits.item(), context.item()
        (3.0, 5.0)

    Source:
        Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1.
    """
    logits = (query @ key.mT) * scale
    weights = minigrad.softmax(logits, axis=-1)
    return logits, weights @ value


def gradient_rows(context: Tensor, places: Mapping[str, Tensor], upstream: Array) -> Rows:
    """Ask the engine for the gradients at some places.

    Args:
        context: the result of attention.
        places: the tensors that led to it, by name.
        upstream: the gradient of the loss at `context`; its shape and dtype.

    Returns:
        The Euclidean norm of every row in float64, by place.

    Example:
        >>> x = Tensor([[3.0, 4.0]], requires_grad=True)
        >>> gradient_rows(x * 2.0, {"x": x}, np.array([[3.0, 4.0]]))["x"].tolist()
        [10.0]
    """
    gradients = minigrad.grad(context, list(places.values()), upstream)
    return {name: row_norms(g.data) for name, g in zip(places, gradients, strict=True)}


def row_norms(array: Array) -> Array:
    """Return the Euclidean norm of each row in float64, also where its square underflows.

    Example:
        >>> f"{row_norms(np.array([[3e-30, 4e-30]]))[0]:.1e}"
        '5.0e-30'
    """
    largest = np.abs(array).max(axis=-1, keepdims=True).astype(np.float64)
    unit = array / np.where(largest > 0.0, largest, 1.0)
    norms: Array = largest[..., 0] * np.linalg.norm(unit, axis=-1)
    return norms


def softmax_rows(logits: Array, weight_upstream: Array) -> Rows:
    """Measure what the softmax does to each row, apart from any gradient behind it.

    Args:
        logits: (..., L, S), what enters the softmax.
        weight_upstream: (..., L, S), the gradient of the loss at the weights.

    Returns:
        Arrays (..., L) in float64: `score mean` and `score square` (the first two moments of the
        row), `largest weight`, `entropy` (nats), `jacobian` (Frobenius norm) and `float32 zeros`
        (the share of exact zeros in the row's gradient, with softmax and rule in float32).

    Example:
        >>> rows = softmax_rows(np.zeros((1, 2)), np.ones((1, 2)))
        >>> float(rows["largest weight"][0]), round(float(rows["entropy"][0]), 4)
        (0.5, 0.6931)
    """
    lifted = logits.astype(np.float64)
    weights = np.asarray(minigrad.softmax(lifted, axis=-1))
    log_weights = np.asarray(minigrad.log_softmax(lifted, axis=-1))
    single = Tensor(logits.astype(np.float32), requires_grad=True)
    (gradient,) = minigrad.grad(
        minigrad.softmax(single, axis=-1), [single], weight_upstream.astype(np.float32)
    )
    return {
        "score mean": lifted.mean(axis=-1),
        "score square": (lifted**2).mean(axis=-1),
        "largest weight": weights.max(axis=-1),
        "entropy": -(weights * log_weights).sum(axis=-1),
        "jacobian": softmax_jacobian(weights)[1],
        "float32 zeros": (gradient.data == 0).mean(axis=-1),
    }


def measure_attention(
    query: Array, key: Array, value: Array, upstream: Array, scale: float
) -> Rows:
    """Run attention forward and backward, and measure every row of it.

    Args:
        query: (..., L, d_k).
        key: (..., S, d_k).
        value: (..., S, d_v).
        upstream: (..., L, d_v), the gradient of the loss at the context.
        scale: what the scores are multiplied by.

    Returns:
        The norms of the rows of the gradients at `softmax input`, `Q`, `K` and `V`, and what
        `softmax_rows` measures, each an array in float64.

    Example:
        >>> ones = np.ones((2, 4))
        >>> rows = measure_attention(ones, ones, ones, ones, scale=0.5)
        >>> rows["softmax input"].tolist(), rows["V"].tolist()
        ([0.0, 0.0], [2.0, 2.0])
    """
    named = {"Q": query, "K": key, "V": value}
    leaves = {name: Tensor(x, requires_grad=True, name=name) for name, x in named.items()}
    logits, context = attend(leaves["Q"], leaves["K"], leaves["V"], scale)
    rows = gradient_rows(context, {"softmax input": logits, **leaves}, upstream)
    return rows | softmax_rows(logits.data, upstream @ value.swapaxes(-1, -2))


def join(parts: Sequence[Rows]) -> Rows:
    """Join rows that were measured in parts; a name may be missing from some of them.

    Example:
        >>> join([{"Q": np.ones((2, 2))}, {"Q": np.zeros(1), "K": np.zeros(1)}])["Q"].tolist()
        [1.0, 1.0, 1.0, 1.0, 0.0]
    """
    names = dict.fromkeys(name for part in parts for name in part)
    return {
        name: np.concatenate([part[name].ravel() for part in parts if name in part])
        for name in names
    }


def softmax_jacobian(weights: Array) -> tuple[Array, Array]:
    """Return the trace and the Frobenius norm of diag(p) − p pᵀ for each row p.

    The textbook forms 1 − Σp² and Σp² − 2Σp³ + (Σp²)² lose all digits in a saturated row, where
    p is 1 but for 1e-17; so the largest weight is set apart and 1 − p is summed from the others.

    Args:
        weights: (..., S), rows that sum to 1.

    Returns:
        Two arrays of shape (...).

    Example:
        >>> trace, norm = softmax_jacobian(np.array([[0.5, 0.5], [1.0, 1e-30]]))
        >>> trace.tolist(), norm.tolist()
        ([0.5, 2e-30], [0.5, 2e-30])
    """
    ordered = np.sort(weights, axis=-1)
    top, others = ordered[..., -1], ordered[..., :-1]
    rest = others.sum(axis=-1)
    diagonal_top, diagonal = top * rest, others * (1.0 - others)
    squares = (others**2).sum(axis=-1)
    # Σ over i ≠ j of (p_i p_j)²; rounding must not push the difference below zero.
    off_diagonal = 2.0 * top**2 * squares + np.maximum(squares**2 - (others**4).sum(axis=-1), 0.0)
    norm = np.sqrt(diagonal_top**2 + (diagonal**2).sum(axis=-1) + off_diagonal)
    return diagonal_top + diagonal.sum(axis=-1), norm
