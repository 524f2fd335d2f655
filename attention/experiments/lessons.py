"""Lessons L2 and L3: how far dot products spread, and how softmax answers, on one random stream.

The lessons drew from NumPy's legacy `RandomState`, whose stream never changes, so their printed
digits come out again. New experiments belong in `study`, with a `Generator`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import minigrad

__all__ = ["LessonRow", "lesson_stream"]

SAMPLES = 20_000
ROUNDS = 20
KEYS = 8


@dataclass(frozen=True, slots=True)
class LessonRow:
    """One line of the lessons' tables.

    Attributes:
        d_k: the width of q and k.
        spread: the standard deviation of q·k over 20,000 pairs.
        predicted_spread: √d_k.
        largest_weight_unscaled: the largest of 8 weights, a mean over 20 rounds, without a scale.
        largest_weight_scaled: the same with the scores divided by √d_k.
    """

    d_k: int
    spread: float
    predicted_spread: float
    largest_weight_unscaled: float
    largest_weight_scaled: float


def lesson_stream(d_k: Sequence[int] = (4, 16, 64), *, seed: int = 0) -> tuple[LessonRow, ...]:
    """Replay L2 for every d_k and then, on the same random stream, L3 for every d_k.

    Args:
        d_k: the widths, in the order in which the stream is used up.
        seed: the seed of the legacy generator.

    Example:
        >>> [round(row.spread, 2) for row in lesson_stream()]
        [1.98, 4.01, 8.04]
        >>> [round(row.largest_weight_unscaled, 2) for row in lesson_stream()]
        [0.49, 0.79, 0.9]

    Source:
        Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1, footnote 4.
    """
    stream = np.random.RandomState(seed)
    spreads = [_score_spread(stream, width) for width in d_k]
    weights = [_largest_weights(stream, width) for width in d_k]
    return tuple(
        LessonRow(width, spread, math.sqrt(width), *largest)
        for width, spread, largest in zip(d_k, spreads, weights, strict=True)
    )


def _score_spread(stream: np.random.RandomState, d_k: int) -> float:
    # One draw of this shape uses the stream as q, k, q, k, ... one pair after the other would.
    pairs = stream.randn(SAMPLES, 2, d_k)
    return float(np.std((pairs[:, 0] * pairs[:, 1]).sum(axis=-1)))


def _largest_weights(stream: np.random.RandomState, d_k: int) -> tuple[float, float]:
    draws = stream.randn(ROUNDS, 1 + KEYS, d_k)
    query, keys = draws[:, :1], draws[:, 1:]
    scores = (query @ keys.mT)[:, 0]
    unscaled, scaled = (
        np.asarray(minigrad.softmax(scores * scale, axis=-1)).max(axis=-1).mean()
        for scale in (1.0, 1.0 / math.sqrt(d_k))
    )
    return float(unscaled), float(scaled)
