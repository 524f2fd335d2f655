"""The layer of the lessons: queries, keys and values from one sequence, by three matrices."""

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
