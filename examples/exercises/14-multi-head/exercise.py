"""Exercise 14: several heads side by side. The page README.md tells what to do.

Check it with    minigrad exercises check 14
"""

from minigrad import softmax


def attention(query, key, value, scale):
    """Exercise 10, given: (..., L, d_k), (..., S, d_k), (..., S, d_v) give (..., L, d_v).

    Any number of axes may stand in front: each entry along them is a head of its own.
    """
    return softmax(query @ key.mT * scale) @ value


def split_heads(x, n_heads):
    """(..., L, n_heads · d) to (..., n_heads, L, d): head h has the columns h·d … (h+1)·d − 1.

    x: a minigrad tensor. Returns a tensor.
    """
    raise NotImplementedError


def merge_heads(x):
    """(..., n_heads, L, d) to (..., L, n_heads · d): undoes split_heads. Tensors, as there."""
    raise NotImplementedError


def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    """Self-attention with n_heads heads: a tensor (..., L, d_model).

    x (..., L, d_model). W_Q, W_K (d_model, n_heads · d_k), W_V (d_model, n_heads · d_v),
    W_O (n_heads · d_v, d_model). All are minigrad tensors. The scale is that of one head.
    """
    raise NotImplementedError


# Take away the # and try it:
#
# import numpy as np
# from minigrad import Tensor
#
# rows = Tensor(np.arange(8.0).reshape(2, 4), requires_grad=True)
# heads = split_heads(rows, 2)
# print(heads.numpy())  # head 0 has the columns 0 and 1 of both rows
# print(merge_heads(heads).numpy())  # and back
