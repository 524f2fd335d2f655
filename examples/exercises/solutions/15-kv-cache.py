"""Exercise 15, solved: a cache of keys and values."""

import numpy as np

from minigrad import softmax


def attention(query, key, value, mask):
    """Exercises 10 and 11, for arrays."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return softmax(np.where(mask, scores, -np.inf)) @ value


class KVCache:
    """The keys and values of all positions so far."""

    def __init__(self):
        self.keys = None
        self.values = None

    def __len__(self):
        return 0 if self.keys is None else self.keys.shape[-2]

    def append(self, key, value):
        """Adds the keys and values of the next positions, in copies."""
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([self.keys, key], axis=-2)
            self.values = np.concatenate([self.values, value], axis=-2)

    def mask(self, n_query):
        """For the last n_query positions, which of all positions each may attend to."""
        return np.tri(n_query, len(self), len(self) - n_query, dtype=bool)

    def attend(self, query, key, value):
        """Adds the next positions, and answers their queries."""
        self.append(key, value)
        return attention(query, self.keys, self.values, self.mask(query.shape[-2]))
