"""Attention on minigrad tensors: scaled dot products, masks, the layer of the lessons.

`attention.experiments` is the laboratory that shows what 1/√d_k does to gradients.
"""

from attention.functional import causal_mask, scaled_dot_product_attention, softmax
from attention.fused import fused_attention
from attention.layers import MultiHeadAttention, SelfAttention

__all__ = [
    "MultiHeadAttention",
    "SelfAttention",
    "causal_mask",
    "fused_attention",
    "scaled_dot_product_attention",
    "softmax",
]
