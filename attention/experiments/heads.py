"""Real heads: what the scale does to the queries, keys and values of a trained model.

Each head of a file is measured on its own, with the scale and without, under a random upstream.
How the file is read is told in `qkv`, and what is measured in `regime`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import minigrad
from attention.experiments.differences import TOKENS, DifferenceCheck, check_head
from attention.experiments.qkv import QKV
from attention.experiments.regime import Progress, Regime, Rows, measure_attention
from attention.experiments.study import GradientStudy

__all__ = [
    "HeadResult",
    "HeadStudy",
    "LayerSummary",
    "Study",
    "head_study",
    "layer_summaries",
]

Array = npt.NDArray[Any]

CHECKED_HEADS = 3
"""How many heads have their gradients checked against finite differences."""


@dataclass(frozen=True, slots=True)
class HeadResult:
    """What was measured for one head.

    Attributes:
        index: where the head stands on the leading axes, such as (layer, head).
        unscaled: attention without the scale.
        scaled: attention with the scale 1/√d_k.
    """

    index: tuple[int, ...]
    unscaled: Regime
    scaled: Regime

    @property
    def gradient_ratio(self) -> float:
        """The typical row's gradient at the softmax input without the scale, over that with it."""
        without = self.unscaled.gradients["softmax input"].median
        with_scale = self.scaled.gradients["softmax input"].median
        if with_scale == 0.0:
            return 1.0 if without == 0.0 else math.inf
        return without / with_scale


@dataclass(frozen=True, slots=True)
class HeadStudy:
    """All the heads of a file.

    Attributes:
        source: the name of the file.
        leading: the leading axes of its arrays, such as (layers, heads).
        queries: how many queries each head has.
        keys: how many keys each head has.
        d_k: the width of queries and keys.
        d_v: the width of values.
        dtype: the dtype that attention ran in.
        seed: the seed of the upstream gradients.
        tokens: what stands at the positions, or None.
        heads: one result for each head.
        weights_difference: the largest difference between the weights in the file and those
            computed with the scale, or None if the file has none.
        checks: the engine's gradients against finite differences, on a few heads.
    """

    source: str
    leading: tuple[int, ...]
    queries: int
    keys: int
    d_k: int
    d_v: int
    dtype: str
    seed: int
    tokens: tuple[str, ...] | None
    heads: tuple[HeadResult, ...]
    weights_difference: float | None
    checks: tuple[DifferenceCheck, ...]


Study = GradientStudy | HeadStudy
"""What can be tabulated, summed up, exported and drawn."""


@dataclass(frozen=True, slots=True)
class LayerSummary:
    """The heads of one layer, that is of one index on all leading axes but the last.

    Attributes:
        index: the layer.
        heads: how many heads it has.
        spread: the mean spread of raw scores within a row.
        largest_weight: the mean largest weight, without the scale and with it.
        saturated: how many heads are saturated, without the scale and with it.
        gradient_ratio: the median over the heads of `HeadResult.gradient_ratio`.
    """

    index: tuple[int, ...]
    heads: int
    spread: float
    largest_weight: tuple[float, float]
    saturated: tuple[int, int]
    gradient_ratio: float


def head_study(qkv: QKV, *, seed: int = 0, progress: Progress | None = None) -> HeadStudy:
    """Measure every head of a file with and without the scale 1/√d_k.

    The spread is the mean over the rows of the standard deviation within a row, because that is
    what the softmax sees; a constant added to a row changes nothing.

    Args:
        qkv: the queries, keys and values.
        seed: the seed of the upstream gradients, drawn from N(0, 1).
        progress: called after each head with the share of the work that is done.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> draw = lambda *shape: rng.standard_normal(shape)
        >>> study = head_study(QKV("drawn", draw(2, 9, 64), draw(2, 9, 64), draw(2, 9, 8)))
        >>> [head.index for head in study.heads], study.heads[0].gradient_ratio < 1
        ([(0,), (1,)], True)
    """
    indices = list(np.ndindex(qkv.leading))
    heads, differences = [], []
    for done, index in enumerate(indices, start=1):
        heads.append(_measure_head(qkv, index, np.random.default_rng([seed, done])))
        differences.append(_weights_difference(qkv, index))
        if progress is not None:
            progress(done / len(indices))
    return HeadStudy(
        source=qkv.source,
        leading=qkv.leading,
        queries=qkv.query.shape[-2],
        keys=qkv.key.shape[-2],
        d_k=qkv.query.shape[-1],
        d_v=qkv.value.shape[-1],
        dtype=str(qkv.query.dtype),
        seed=seed,
        tokens=qkv.tokens,
        heads=tuple(heads),
        weights_difference=None if qkv.weights is None else max(differences),
        checks=tuple(_check_some(qkv, indices, np.random.default_rng([seed, 0]))),
    )


def layer_summaries(study: HeadStudy) -> list[LayerSummary]:
    """Sum up the heads layer by layer.

    Example:
        >>> ones = np.ones((3, 2, 4, 5))
        >>> [layer.heads for layer in layer_summaries(head_study(QKV("ones", ones, ones, ones)))]
        [2, 2, 2]
    """
    layers: dict[tuple[int, ...], list[HeadResult]] = {}
    for head in study.heads:
        layers.setdefault(head.index[:-1], []).append(head)
    return [_summarise(index, heads) for index, heads in layers.items()]


def _summarise(index: tuple[int, ...], heads: Sequence[HeadResult]) -> LayerSummary:
    unscaled, scaled = [head.unscaled for head in heads], [head.scaled for head in heads]
    return LayerSummary(
        index=index,
        heads=len(heads),
        spread=float(np.mean([regime.spread for regime in unscaled])),
        largest_weight=(_mean_largest(unscaled), _mean_largest(scaled)),
        saturated=(
            sum(regime.saturated for regime in unscaled),
            sum(regime.saturated for regime in scaled),
        ),
        gradient_ratio=float(np.median([head.gradient_ratio for head in heads])),
    )


def _mean_largest(regimes: Sequence[Regime]) -> float:
    return float(np.mean([regime.largest_weight for regime in regimes]))


def _measure_head(qkv: QKV, index: tuple[int, ...], rng: np.random.Generator) -> HeadResult:
    query, key, value = qkv.query[index], qkv.key[index], qkv.value[index]
    # One dtype for all three, so that a file of mixed precision is measured in one of them.
    value, key = value.astype(query.dtype, copy=False), key.astype(query.dtype, copy=False)
    upstream = rng.standard_normal((query.shape[0], value.shape[1])).astype(query.dtype)
    root = math.sqrt(query.shape[1])
    unscaled, scaled = (
        _regime(measure_attention(query, key, value, upstream, scale), scaled, scale * root)
        for scaled, scale in ((False, 1.0), (True, 1.0 / root))
    )
    return HeadResult(index, unscaled, scaled)


def _regime(rows: Rows, scaled: bool, predicted_spread: float) -> Regime:
    variance = np.maximum(rows["score square"] - rows["score mean"] ** 2, 0.0)
    return Regime.of(
        rows,
        scaled=scaled,
        spread=float(np.sqrt(variance).mean()),
        predicted_spread=predicted_spread,
    )


def _weights_difference(qkv: QKV, index: tuple[int, ...]) -> float:
    if qkv.weights is None:
        return 0.0
    query, key = qkv.query[index].astype(np.float64), qkv.key[index].astype(np.float64)
    scores = query @ key.T / math.sqrt(query.shape[1])
    weights = np.asarray(minigrad.softmax(scores, axis=-1))
    return float(np.abs(weights - qkv.weights[index]).max())


def _check_some(
    qkv: QKV, indices: Sequence[tuple[int, ...]], rng: np.random.Generator
) -> list[DifferenceCheck]:
    """Check the gradients of a few heads, on some of their queries and keys."""
    some = rng.choice(len(indices), size=min(CHECKED_HEADS, len(indices)), replace=False)
    checks = []
    for index in [indices[i] for i in some]:
        query, key, value = qkv.query[index], qkv.key[index], qkv.value[index]
        queries = rng.permutation(query.shape[0])[:TOKENS]
        keys = rng.permutation(key.shape[0])[:TOKENS]
        arrays = {"Q": query[queries], "K": key[keys], "V": value[keys]}
        for scaled in (False, True):
            checks += check_head(arrays, rng, scaled=scaled)
    return checks
