"""Attention as one primitive, computed tile by tile: linear memory, several threads, one node.

The value and the gradients are those of the composed form, to rounding; second derivatives are
taken from that. How tiles are computed is told in `tiling`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import minigrad
from attention.threads import default_threads
from attention.tiling import Problem, backward, forward
from minigrad import joint_primitive

Array = np.ndarray[Any, np.dtype[Any]]


def check_shapes(query: Any, key: Any, value: Any) -> None:
    """Refuse queries, keys and values, arrays or tensors, that do not go together: `ValueError`."""
    got = f"query {query.shape}, key {key.shape}, value {value.shape}"
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise ValueError(f"attention takes (..., length, width) each; got {got}.")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "attention: queries and keys need one width, since they are compared by dot products: "
            f"their widths must be equal; got {got}."
        )
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"attention: every key needs its value; got {got}.")
    if query.shape[-1] == 0:
        raise ValueError(f"attention: the width d_k must be at least 1; got {got}.")


def checked_mask(mask: Any, scores: tuple[int, ...]) -> Array:
    """A mask as an array that broadcasts to the scores. Errors: `TypeError`, `ValueError`."""
    array = np.asarray(mask)
    if array.dtype.kind not in "bf":
        raise TypeError(
            f"attention: a mask is boolean (True = may attend) or additive floats; this one is "
            f"{array.dtype}. Write mask.astype(bool)."
        )
    try:
        fits = np.broadcast_shapes(array.shape, scores) == scores
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"attention: a mask of shape {array.shape} does not broadcast to the scores {scores}, "
            "which are (..., queries, keys)."
        )
    return array


def _problem(
    query: Array, key: Array, value: Array, is_causal: bool, mask: Any, scale: float | None
) -> Problem:
    """The problem in one dtype of floats. Errors: `ValueError` or `TypeError` for what fits not."""
    check_shapes(query, key, value)
    dtype = np.result_type(query, key, value)
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    query, key, value = (x.astype(dtype, copy=False) for x in (query, key, value))
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    problem = Problem(query, key, value, None, is_causal, factor)
    if mask is None:
        return problem
    array = checked_mask(mask, (*problem.leading, query.shape[-2], key.shape[-2]))
    fitting = array if array.dtype == bool else array.astype(dtype, copy=False)
    return problem._replace(mask=fitting)


def _composed(
    query: Any,
    key: Any,
    value: Any,
    *,
    is_causal: bool = False,
    mask: Any = None,
    scale: float | None = None,
    threads: int | None = None,
) -> Any:
    """The same by primitives, one after the other."""
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = minigrad.scale(minigrad.matmul(query, minigrad.matrix_transpose(key)), factor)
    if mask is not None:
        array = np.asarray(mask)
        if array.dtype == bool:
            scores = minigrad.masked_fill(scores, ~array, -math.inf)
        else:
            scores = minigrad.add(scores, array.astype(scores.dtype))
    if is_causal:
        late = np.tri(*scores.shape[-2:]) == 0
        scores = minigrad.masked_fill(scores, late, -math.inf)
    return minigrad.matmul(minigrad.softmax(scores, -1), value)


def attention_gradients(
    g: Array,
    saved: Any,
    query: Array,
    key: Array,
    value: Array,
    *,
    is_causal: bool,
    mask: Any,
    scale: float | None,
    threads: int | None,
) -> tuple[Array, Array, Array]:
    """∂L/∂Q, ∂L/∂K and ∂L/∂V, from tiles of weights that are computed again."""
    out, log_sums = saved
    problem = _problem(query, key, value, is_causal, mask, scale)
    upstream = np.asarray(g).astype(out.dtype, copy=False)
    return backward(problem, upstream, out, log_sums, threads or default_threads())


def _cases(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Batches, a mask of either kind, more keys than queries, keys that heads share."""
    q, k, v = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 7, 3)), rng.normal(size=(2, 7, 2))
    allowed = rng.random((5, 7)) < 0.7
    allowed[:, 0] = True
    return [
        (q[0], k[0], v[0]),
        (q, k[0], v[0], {"is_causal": True}),
        (q, k, v[:1], {"mask": allowed, "scale": 1.5}),
        (q, k, v, {"mask": rng.normal(size=(2, 1, 7)), "is_causal": True, "threads": 2}),
    ]


@joint_primitive(
    attention_gradients,
    composed=_composed,
    example=_cases,
    expects="(..., length, width) each, as scaled_dot_product_attention takes them",
)
def fused_attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    is_causal: bool = False,
    mask: Any = None,
    scale: float | None = None,
    threads: int | None = None,
) -> Any:
    """softmax(QKᵀ · scale) V as one op in linear memory: no matrix of weights is ever whole.

    Args:
        query (..., L, d_k), key (..., S, d_k), value (..., S, d_v); leading axes broadcast, so
            that heads can share keys.
        is_causal, mask, scale: as for `scaled_dot_product_attention`; a mask has no gradient.
        threads: by default as many as the process has cores, or as MINIGRAD_NUM_THREADS says. The
            result does not depend on it, to the last bit.

    Returns (..., L, d_v). A query that may attend to nothing gets 0.
    Errors: `ValueError` for shapes that do not fit, `TypeError` for an integer mask.

    Source: Dao et al., "FlashAttention" (2022).

    >>> x = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> fused_attention(x, x, x, scale=1.0).round(3)
    array([[0.731, 0.538],
           [0.018, 1.964]])
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads is a number, at least 1; it is {threads}.")
    problem = _problem(query, key, value, is_causal, mask, scale)
    out, log_sums = forward(problem, threads or default_threads())
    return out, (out, log_sums)
