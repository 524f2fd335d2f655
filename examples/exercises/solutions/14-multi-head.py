"""Exercise 14, solved: several heads side by side."""

from minigrad import softmax


def attention(query, key, value, scale):
    """Exercise 10."""
    return softmax(query @ key.mT * scale) @ value


def split_heads(x, n_heads):
    *batch, length, width = x.shape
    return x.reshape(*batch, length, n_heads, width // n_heads).swapaxes(-2, -3)


def merge_heads(x):
    *batch, n_heads, length, width = x.shape
    return x.swapaxes(-2, -3).reshape(*batch, length, n_heads * width)


def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    context = attention(query, key, value, query.shape[-1] ** -0.5)
    return merge_heads(context) @ W_O
