"""Exercise 11: the causal mask. The page README.md tells what to do.

Check it with    minigrad exercises check 11
"""


def causal_mask(n_query, n_key):
    """Which keys each query may attend to: a boolean array (n_query, n_key), True = may.

    Query i and key j stand at the positions i and j, counted from 0.
    """
    raise NotImplementedError


def masked_attention(scores, value, mask):
    """Attention that looks only where the mask is True: returns (out, weights).

    scores: a minigrad tensor (..., L, S), scaled already. value: a tensor (..., S, d_v).
    mask: a boolean array (L, S), True = may attend.
    out: a tensor (..., L, d_v). weights: a tensor (..., L, S), 0 where the mask is False.
    A query that may attend to nothing gets weights of 0 and an output of 0.
    """
    raise NotImplementedError


# Take away the # and try it:
#
# from minigrad import Tensor
#
# scores = Tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], requires_grad=True)
# value = Tensor([[1.0], [10.0], [100.0]], requires_grad=True)
# out, weights = masked_attention(scores, value, causal_mask(3, 3))
# print(weights.numpy().round(4))
# out.sum().backward()
# print(scores.grad.round(4))
