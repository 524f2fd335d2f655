"""Exercise 15: a cache of keys and values. The page README.md tells what to do.

Check it with    minigrad exercises check 15
"""

import numpy as np

from minigrad import softmax


def attention(query, key, value, mask):
    """Exercises 10 and 11 on arrays, given: an array (..., n, d_v).

    query (..., n, d_k), key (..., N, d_k), value (..., N, d_v).
    mask: a boolean array (n, N), True = may attend.
    """
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return softmax(np.where(mask, scores, -np.inf)) @ value


class KVCache:
    """The keys and values of all positions so far, oldest first.

    keys: an array (..., N, d_k), values: an array (..., N, d_v). Both are None before the first
    position comes.
    """

    def __init__(self):
        raise NotImplementedError

    def __len__(self):
        """N, the number of positions that are kept."""
        raise NotImplementedError

    def append(self, key, value):
        """Add the next n positions, in copies: key (..., n, d_k), value (..., n, d_v)."""
        raise NotImplementedError

    def mask(self, n_query):
        """For the last n_query of the kept positions: which positions each may attend to.

        Returns a boolean array (n_query, N), True = may attend.
        """
        raise NotImplementedError

    def attend(self, query, key, value):
        """Add the next n positions and answer their queries: (..., n, d_v).

        query, key (..., n, d_k), value (..., n, d_v): those of the new positions alone.
        """
        raise NotImplementedError


# Take away the # and try it: six words at once, and then one by one.
#
# query, key, value = np.random.default_rng(0).normal(size=(3, 6, 4))
# print(KVCache().attend(query, key, value).round(3))
# cache = KVCache()
# for i in range(6):
#     print(cache.attend(query[i : i + 1], key[i : i + 1], value[i : i + 1]).round(3))
