"""Scaled dot-product attention as a composition of primitives, with the names of the lessons.

Nothing here has a rule of its own: every gradient comes from the primitives it is written in.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import minigrad
from attention.fused import check_shapes, checked_mask, fused_attention
from minigrad import Tensor

FUSED_FROM = 1 << 20
"""Entries of the weights of all heads from which on it pays to compute them tile by tile."""


def softmax(x: Tensor, axis: int = -1, *, base: float = math.e) -> Tensor:
    """Weights bˣ / Σ bˣ that sum to 1 along an axis.

    Another base is e with the scores multiplied by ln b, no more: it changes the temperature, and
    its Jacobian carries the factor ln b.

    Args: `x` of any shape; `base` above 0.
    Errors: `ValueError` for a base that is not positive.

    >>> softmax(Tensor([1.0, 2.0, 3.0]), base=2.0).numpy().round(4)
    array([0.1429, 0.2857, 0.5714])
    """
    if not base > 0:
        raise ValueError(f"softmax: the base must be positive; it is {base}.")
    weights: Tensor = minigrad.softmax(
        x if base == math.e else minigrad.scale(x, math.log(base)), axis
    )
    return weights


def causal_mask(n_query: int, n_key: int | None = None, *, offset: int = 0) -> np.ndarray[Any, Any]:
    """Which keys each query may attend to: those up to its own position.

    Args: lengths of the queries and of the keys (the same by default); `offset` is the position of
    the first query, the number of keys that came before it.
    Returns a boolean array (n_query, n_key), True = may attend, aligned top-left.

    >>> causal_mask(2, 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    n_key = n_query if n_key is None else n_key
    if min(n_query, n_key, offset) < 0:
        raise ValueError(
            f"causal_mask: lengths {n_query}, {n_key} and offset {offset} must be ≥ 0."
        )
    return np.tri(n_query, n_key, offset, dtype=bool)


def dropout(x: Tensor, p: float, rng: np.random.Generator | None, training: bool = True) -> Tensor:
    """Zeroes entries with probability p and divides the others by 1 − p, so that means stay.

    Args: `p` in [0, 1]; `rng` draws the mask, which is also the backward's.
    Errors: `ValueError` for another p, or if numbers are to be drawn without a generator.

    Source: Srivastava et al., "Dropout" (2014).

    >>> y = dropout(minigrad.ones((4,)), 0.5, np.random.default_rng(0))
    >>> sorted(set(y.tolist()))
    [0.0, 2.0]
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout: p is a probability; it is {p}.")
    if not training or p == 0.0:
        return x
    if rng is None:
        raise ValueError("dropout: pass rng=numpy.random.default_rng(seed) to draw the mask with.")
    kept = rng.random(x.shape) >= p
    factor = 1.0 / (1.0 - p) if p < 1.0 else 0.0
    result: Tensor = x.masked_fill(~kept, 0.0) * factor
    return result


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    dropout_p: float = 0.0,
    rng: np.random.Generator | None = None,
    need_weights: bool = True,
) -> tuple[Tensor, Tensor | None]:
    """softmax(QKᵀ · scale) V: each query's mean of the values, weighted by how well keys match.

    Args:
        query (..., L, d_k), key (..., S, d_k), value (..., S, d_v); leading axes broadcast.
        mask: broadcasts to (..., L, S). Boolean, True = may attend, or additive numbers.
        is_causal: query i attends to keys 0 … i, also where L and S differ.
        scale: 1/√d_k by default; 1.0 is attention without it.
        dropout_p, rng: probability of dropping a weight, and the generator that draws.
        need_weights: whether to return the weights. Without them, and without dropout, long
            sequences are computed by `fused_attention`: faster, in linear memory, as one op.

    Returns (output (..., L, d_v), weights (..., L, S) or None). A query that may attend to
    nothing gets weights, output and gradients of 0. The steps carry the names scores, scaled,
    weights and context, in a graph, a step or a message.
    Errors: `ValueError` for shapes that do not fit, `TypeError` for an integer mask.

    Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1.

    >>> x = Tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> output, weights = scaled_dot_product_attention(x, x, x)
    >>> output.shape, weights.numpy().sum(axis=-1).round(12).tolist()
    ((2, 2), [1.0, 1.0])
    """
    query, key, value = (_tensor(x) for x in (query, key, value))
    check_shapes(query, key, value)
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    needs_steps = need_weights or dropout_p > 0 or isinstance(mask, Tensor)
    if not needs_steps and math.prod(query.shape[:-1]) * key.shape[-2] >= FUSED_FROM:
        options = {"is_causal": is_causal, "mask": mask, "scale": factor}
        return _named(fused_attention(query, key, value, **options), "context"), None
    # One variable for all steps: what the gradients do not need is let go on the way.
    steps = _named(query @ key.mT, "scores")
    steps = _named(minigrad.scale(steps, factor), "scaled")
    for part in (mask, causal_mask(*steps.shape[-2:]) if is_causal else None):
        if part is not None:
            steps = _named(_masked(steps, part), "masked")
    steps = _named(minigrad.softmax(steps, -1), "weights")
    weights = _named(dropout(steps, dropout_p, rng), "weights")
    context = _named(weights @ value, "context")
    return context, (weights if need_weights else None)


def _tensor(x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else Tensor(x)


def _named(x: Tensor, name: str) -> Tensor:
    x.name = name
    return x


def _masked(scores: Tensor, mask: Any) -> Tensor:
    """The scores with −inf where a query may not attend."""
    array = checked_mask(mask, scores.shape)
    if array.dtype == bool:
        return scores.masked_fill(~array, -math.inf)
    additional = mask if isinstance(mask, Tensor) else array
    total: Tensor = scores + additional.astype(scores.dtype)
    return total
