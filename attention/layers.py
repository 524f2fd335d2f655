"""Attention with matrices of its own: one head, as in the lessons, and several side by side."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attention.functional import scaled_dot_product_attention
from minigrad import Tensor


class SelfAttention:
    """Self-attention with one head: x W_Q, x W_K, x W_V, then scaled dot products.

    Args:
        d_model: width of the input. d_k: width of queries and keys. d_v: width of values and of
            the output, d_k by default.
        scale: 1/√d_k by default; 1.0 is attention without it.
        rng: draws the weights from N(0, 1/d_model); `default_rng(0)` by default.

    Parameters: W_Q, W_K (d_model, d_k) and W_V (d_model, d_v), float64, without bias; assign a
    tensor to use weights of your own.

    >>> layer = SelfAttention(8, 4, 6)
    >>> output, weights = layer(np.ones((3, 8)))
    >>> output.shape, weights.shape
    ((3, 6), (3, 3))
    """

    def __init__(
        self,
        d_model: int,
        d_k: int,
        d_v: int | None = None,
        *,
        scale: float | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        d_v = d_k if d_v is None else d_v
        if min(d_model, d_k, d_v) < 1:
            raise ValueError(f"widths must be at least 1; d_model {d_model}, d_k {d_k}, d_v {d_v}.")
        rng = np.random.default_rng(0) if rng is None else rng
        spread = 1.0 / math.sqrt(d_model)
        self.scale = scale

        def weights(width: int, name: str) -> Tensor:
            drawn = rng.normal(0.0, spread, (d_model, width))
            return Tensor(drawn, requires_grad=True, name=name)

        self.W_Q = weights(d_k, "W_Q")
        self.W_K = weights(d_k, "W_K")
        self.W_V = weights(d_v, "W_V")

    def parameters(self) -> list[Tensor]:
        """W_Q, W_K and W_V."""
        return [self.W_Q, self.W_K, self.W_V]

    def __call__(
        self, x: Any, mask: Any = None, *, is_causal: bool = False
    ) -> tuple[Tensor, Tensor]:
        """The output (..., L, d_v) and the weights (..., L, L) for x of shape (..., L, d_model)."""
        x = x if isinstance(x, Tensor) else Tensor(x, name="X")
        if x.ndim < 2 or x.shape[-1] != self.W_Q.shape[0]:
            raise ValueError(
                f"SelfAttention takes (..., length, {self.W_Q.shape[0]}); got {x.shape}."
            )
        query, key, value = x @ self.W_Q, x @ self.W_K, x @ self.W_V
        query.name, key.name, value.name = "Q", "K", "V"
        output, weights = scaled_dot_product_attention(
            query, key, value, mask, is_causal=is_causal, scale=self.scale
        )
        assert weights is not None
        return output, weights


class MultiHeadAttention:
    """Several heads side by side on slices of one width, and a matrix that mixes what they found.

    Args:
        d_model: width of the input and of the output. n_heads: how many; d_model is a multiple.
        scale: 1/√d_k by default, with d_k = d_model / n_heads; 1.0 is attention without it.
        rng: draws the weights from N(0, 1/d_model); `default_rng(0)` by default.

    Parameters: W_Q, W_K, W_V and W_O, each (d_model, d_model), float64, without bias; head h has
    the columns from h·d_k on.
    Errors: `ValueError` if the heads do not share out the width evenly.

    Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.2.

    >>> layer = MultiHeadAttention(8, 2)
    >>> output, weights = layer(np.ones((5, 3, 8)), is_causal=True)
    >>> output.shape, weights.shape
    ((5, 3, 8), (5, 2, 3, 3))
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        scale: float | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        if min(d_model, n_heads) < 1 or d_model % n_heads:
            raise ValueError(
                f"n_heads must share out d_model evenly; {d_model} is not {n_heads} equal parts."
            )
        rng = np.random.default_rng(0) if rng is None else rng
        self.n_heads, self.scale = n_heads, scale
        self.W_Q, self.W_K, self.W_V, self.W_O = (
            Tensor(rng.normal(0.0, d_model**-0.5, (d_model, d_model)), True, name=name)
            for name in ("W_Q", "W_K", "W_V", "W_O")
        )

    def parameters(self) -> list[Tensor]:
        """W_Q, W_K, W_V and W_O."""
        return [self.W_Q, self.W_K, self.W_V, self.W_O]

    def __call__(
        self,
        query: Any,
        key: Any = None,
        value: Any = None,
        mask: Any = None,
        *,
        is_causal: bool = False,
        need_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """What each position of `query` finds in `key` and `value`, and the weights of every head.

        Args: `query` (..., L, d_model); `key` (..., S, d_model) is the query by default, `value`
        the key. `mask` broadcasts to (..., L, S), for all heads alike. Without `need_weights`,
        long sequences are computed faster.

        Returns (output (..., L, d_model), weights (..., n_heads, L, S) or None).
        Errors: `ValueError` for shapes that do not fit.
        """
        key = query if key is None else key
        inputs = [self._checked(x) for x in (query, key, key if value is None else value)]
        projected = zip(inputs, (self.W_Q, self.W_K, self.W_V), "QKV", strict=True)
        q, k, v = [self._split(x @ weights, name) for x, weights, name in projected]
        if mask is not None and np.ndim(mask) > 2:
            mask = mask[..., None, :, :]  # one for all heads
        context, weights = scaled_dot_product_attention(
            q, k, v, mask, is_causal=is_causal, scale=self.scale, need_weights=need_weights
        )
        joined = context.swapaxes(-2, -3)
        return joined.reshape(*joined.shape[:-2], -1) @ self.W_O, weights

    def _checked(self, given: Any) -> Tensor:
        x: Tensor = given if isinstance(given, Tensor) else Tensor(given, name="X")
        if x.ndim < 2 or x.shape[-1] != self.W_Q.shape[0]:
            raise ValueError(
                f"MultiHeadAttention takes (..., length, {self.W_Q.shape[0]}); got {x.shape}."
            )
        return x

    def _split(self, x: Tensor, name: str) -> Tensor:
        """(..., length, d_model) as (..., n_heads, length, d_k)."""
        heads: Tensor = x.reshape(*x.shape[:-1], self.n_heads, -1).swapaxes(-2, -3)
        heads.name = name
        return heads
