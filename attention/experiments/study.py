"""The gradient study: attention on random numbers, with the scale and without, for growing d_k.

Both arms see the same draws, and every d_k has a random stream of its own, so a number does not
depend on which others were asked for. What is measured is told in `regime`; the closed forms to
compare with are in `random_energy`; the sentences to draw from it in `findings`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.experiments.differences import DifferenceCheck, check_random_head
from attention.experiments.random_energy import RandomEnergyModel
from attention.experiments.regime import (
    Progress,
    Regime,
    Rows,
    attend,
    gradient_rows,
    join,
    measure_attention,
)
from minigrad import Tensor

__all__ = ["GradientStudy", "Settings", "WidthResult", "gradient_study"]

Array = npt.NDArray[Any]

CHUNK_ENTRIES = 2**21
"""How many numbers an array may hold at once, so that memory does not grow with `rows`."""

FEWEST_HEADS = 32
"""How many heads are drawn at least, each with weights of its own."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a gradient study is to measure.

    Attributes:
        d_k: the widths of queries and keys, each at least 1.
        keys: how many keys a query chooses from, at least 2.
        rows: how many queries are measured for each d_k; rounded up to whole sequences.
        seed: the seed of the random numbers, not negative.
        dtype: the dtype that attention runs in: `float16`, `float32` or `float64`.
        upstream_width: the width of V and of the gradient that arrives at the context. The
            gradient at each weight is a dot product over it and grows with its root, so it is
            held fixed while d_k grows. None makes V as wide as d_k.

    Raises:
        ValueError: a setting is out of its range; the message says which and what is allowed.

    Example:
        >>> Settings(keys=1)
        Traceback (most recent call last):
        ValueError: keys must be at least 2, not 1
    """

    d_k: tuple[int, ...] = (4, 16, 64, 256, 1024)
    keys: int = 8
    rows: int = 2000
    seed: int = 0
    dtype: str = "float64"
    upstream_width: int | None = 64

    def __post_init__(self) -> None:
        """Refuse what cannot be measured."""
        if not self.d_k:
            raise ValueError("d_k must hold at least one width")
        lower = [(d_k, "d_k", 1) for d_k in self.d_k]
        lower += [(self.keys, "keys", 2), (self.rows, "rows", 1), (self.seed, "seed", 0)]
        lower += [(self.width(1), "upstream_width", 1)]
        for value, name, least in lower:
            if value < least:
                raise ValueError(f"{name} must be at least {least}, not {value}")
        if self.dtype not in ("float16", "float32", "float64"):
            raise ValueError(f"dtype must be float16, float32 or float64, not {self.dtype!r}")

    def width(self, d_k: int) -> int:
        """Return the width of V that goes with a d_k.

        Example:
            >>> Settings().width(1024), Settings(upstream_width=None).width(1024)
            (64, 1024)
        """
        return d_k if self.upstream_width is None else self.upstream_width


@dataclass(frozen=True, slots=True)
class WidthResult:
    """What was measured for one d_k.

    Attributes:
        d_k: the width of queries and keys.
        rows: how many queries were measured.
        weight_rows: how many rows of W_Q, W_K and W_V were measured.
        frozen: whether theory says that unscaled attention is frozen, d_k > 2 ln n.
        predicted_query_rms: what theory says of the unscaled RMS of ∂L/∂Q when frozen.
        unscaled: attention without the scale.
        scaled: attention with the scale 1/√d_k.
    """

    d_k: int
    rows: int
    weight_rows: int
    frozen: bool
    predicted_query_rms: float
    unscaled: Regime
    scaled: Regime


@dataclass(frozen=True, slots=True)
class GradientStudy:
    """The whole study: what was asked, what was measured, and whether the gradients are right.

    Attributes:
        settings: what was asked.
        widths: one result for each d_k, in the order asked.
        checks: the engine's gradients against finite differences, on a sample of each d_k.
    """

    settings: Settings
    widths: tuple[WidthResult, ...]
    checks: tuple[DifferenceCheck, ...]


def gradient_study(settings: Settings, progress: Progress | None = None) -> GradientStudy:
    """Measure what becomes of the gradients of attention with and without 1/√d_k.

    At the softmax input and at Q, K and V, a row is one token of a sequence of `keys` tokens with
    Q, K, V ~ N(0, 1). At W_Q, W_K and W_V, a row belongs to a head that reads X ~ N(0, 1) of
    width d_model = d_k through weights W ~ N(0, 1/d_model). The upstream at the context is
    N(0, 1) throughout.

    Args:
        settings: what to measure.
        progress: called now and then with the share of the work that is done, 0 to 1.

    Returns:
        Plain dataclasses of Python numbers.

    Example:
        >>> study = gradient_study(Settings(d_k=(256,), rows=400))
        >>> (result,) = study.widths
        >>> result.scaled.dead_rows, result.unscaled.dead_rows > 0.5
        (0.0, True)

    Source:
        Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1 with footnote 4.
    """
    meter = _Meter(settings, progress)
    widths = tuple([_measure_width(settings, d_k, meter) for d_k in settings.d_k])
    checks = [
        check_random_head(
            _stream(settings, d_k, purpose=1),
            d_k=d_k,
            tokens=settings.keys,
            width=settings.width(d_k),
            scaled=scaled,
        )
        for d_k in settings.d_k
        for scaled in (False, True)
    ]
    return GradientStudy(settings, widths, tuple([check for group in checks for check in group]))


class _Meter:
    """Turns work done on one part into the share of the whole that is done."""

    def __init__(self, settings: Settings, progress: Progress | None) -> None:
        self.total = sum(sum(_work(settings, d_k)) for d_k in settings.d_k)
        self.done = 0.0
        self.progress = progress

    def advance(self, work: float) -> None:
        self.done += work
        if self.progress is not None:
            self.progress(min(1.0, self.done / self.total))


def _work(settings: Settings, d_k: int) -> tuple[float, float]:
    """Roughly how much there is to do, on the sequences and on the heads, in multiplications."""
    keys, wide = settings.keys, d_k + settings.width(d_k)
    sequences = _sequences(settings) * keys * wide * (keys + 10)
    heads = _heads(settings, d_k) * d_k * wide * (keys + 10)
    return float(sequences), float(heads)


def _sequences(settings: Settings) -> int:
    return math.ceil(settings.rows / settings.keys)


def _heads(settings: Settings, d_k: int) -> int:
    enough = min(math.ceil(settings.rows / d_k), _sequences(settings))
    return max(FEWEST_HEADS, enough)


def _stream(settings: Settings, d_k: int, *, purpose: int) -> np.random.Generator:
    return np.random.default_rng([settings.seed, d_k, purpose])


def _measure_width(settings: Settings, d_k: int, meter: _Meter) -> WidthResult:
    rng = _stream(settings, d_k, purpose=0)
    scales = {False: 1.0, True: 1.0 / math.sqrt(d_k)}
    parts: dict[bool, list[Rows]] = {False: [], True: []}
    for work, measure in _parts(settings, d_k, rng):
        for scaled, scale in scales.items():
            parts[scaled].append(measure(scale))
        meter.advance(work)
    rows = {scaled: join(parts[scaled]) for scaled in scales}
    theory = RandomEnergyModel(settings.keys, math.sqrt(d_k))
    regimes = {
        scaled: Regime.of(
            rows[scaled],
            scaled=scaled,
            spread=_pooled_spread(rows[scaled]),
            predicted_spread=theory.spread * scale,
        )
        for scaled, scale in scales.items()
    }
    return WidthResult(
        d_k=d_k,
        rows=rows[False]["Q"].size,
        weight_rows=rows[False]["W_Q"].size,
        frozen=theory.frozen,
        predicted_query_rms=theory.query_gradient_rms(math.sqrt(settings.width(d_k))),
        unscaled=regimes[False],
        scaled=regimes[True],
    )


def _pooled_spread(rows: Rows) -> float:
    """The standard deviation of all the scores together."""
    return float(np.sqrt(rows["score square"].mean() - rows["score mean"].mean() ** 2))


def _parts(
    settings: Settings, d_k: int, rng: np.random.Generator
) -> Iterator[tuple[float, Callable[[float], Rows]]]:
    """Draw the study's inputs part by part; each comes with its work and a way to measure it."""
    keys, width, dtype = settings.keys, settings.width(d_k), settings.dtype
    work = _work(settings, d_k)

    def draw(*shape: int) -> Array:
        # The generator draws in single or double precision; half is rounded from single.
        drawn = np.float64 if dtype == "float64" else np.float32
        return rng.standard_normal(shape, dtype=drawn).astype(dtype, copy=False)

    size = CHUNK_ENTRIES // (keys * max(d_k, width, keys))
    for count in _split(_sequences(settings), size):
        query, key = draw(count, keys, d_k), draw(count, keys, d_k)
        value, upstream = draw(count, keys, width), draw(count, keys, width)
        share = count / _sequences(settings)
        yield share * work[0], partial(measure_attention, query, key, value, upstream)
    size = CHUNK_ENTRIES // (max(d_k, keys) * max(d_k, width, keys))
    for count in _split(_heads(settings, d_k), size):
        shrink = np.dtype(dtype).type(1.0 / math.sqrt(d_k))
        x = draw(count, keys, d_k)
        weights = [draw(count, d_k, columns) * shrink for columns in (d_k, d_k, width)]
        share = count / _heads(settings, d_k)
        upstream = draw(count, keys, width)
        yield share * work[1], partial(_measure_heads, x, weights, upstream)


def _split(total: int, size: int) -> Iterator[int]:
    """Split `total` into parts of at most `size`, and of at least 1."""
    for start in range(0, total, max(1, size)):
        yield min(max(1, size), total - start)


def _measure_heads(x: Array, weights: list[Array], upstream: Array, scale: float) -> Rows:
    """Measure heads that read x (count, keys, d_k) through W_Q, W_K and W_V (count, d_k, ...)."""
    names = ("W_Q", "W_K", "W_V")
    leaves = {
        name: Tensor(array, requires_grad=True, name=name)
        for name, array in zip(names, weights, strict=True)
    }
    tokens = Tensor(x, name="X")
    query, key, value = (tokens @ weight for weight in leaves.values())
    _, context = attend(query, key, value, scale)
    return gradient_rows(context, leaves, upstream)
