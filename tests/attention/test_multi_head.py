"""Several heads side by side: each is attention on its own slice, and W_O mixes what they found."""

from typing import Any

import numpy as np
import pytest

from attention import MultiHeadAttention, causal_mask, scaled_dot_product_attention
from minigrad import Tensor, gradcheck
from tests.helpers import Array, assert_close, leaf

RNG = np.random.default_rng(11)


def by_hand(layer: MultiHeadAttention, query: Array, key: Array, value: Array, mask: Any) -> Array:
    """One head after the other, on arrays."""
    d_k = query.shape[-1] // layer.n_heads
    found = []
    for head in range(layer.n_heads):
        columns = slice(head * d_k, (head + 1) * d_k)
        q, k, v = (
            x @ w.numpy()[:, columns]
            for x, w in zip((query, key, value), (layer.W_Q, layer.W_K, layer.W_V), strict=True)
        )
        found.append(scaled_dot_product_attention(q, k, v, mask)[0].numpy())
    return np.asarray(np.concatenate(found, axis=-1) @ layer.W_O.numpy())


@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_each_head_attends_on_its_own_slice(leading: tuple[int, ...]) -> None:
    layer = MultiHeadAttention(6, 3, rng=np.random.default_rng(1))
    x = RNG.normal(size=(*leading, 5, 6))
    output, weights = layer(x)
    assert weights is not None
    assert weights.shape == (*leading, 3, 5, 5)
    assert_close(weights.numpy().sum(axis=-1), np.ones((*leading, 3, 5)))
    assert_close(output.numpy(), by_hand(layer, x, x, x, None), rtol=1e-10)


def test_queries_may_look_at_another_sequence() -> None:
    layer = MultiHeadAttention(6, 2)
    query, key, value = RNG.normal(size=(4, 6)), RNG.normal(size=(7, 6)), RNG.normal(size=(7, 6))
    output, weights = layer(query, key, value)
    assert weights is not None
    assert (output.shape, weights.shape) == ((4, 6), (2, 4, 7))
    assert_close(output.numpy(), by_hand(layer, query, key, value, None), rtol=1e-10)
    assert_close(layer(query, key)[0].numpy(), by_hand(layer, query, key, key, None), rtol=1e-10)


@pytest.mark.parametrize("leading", [(), (2,)])
def test_a_mask_is_for_all_heads_alike(leading: tuple[int, ...]) -> None:
    layer = MultiHeadAttention(6, 3)
    x = RNG.normal(size=(2, 5, 6))
    mask = RNG.random((*leading, 5, 5)) < 0.6
    mask[..., 0] = True
    assert_close(layer(x, mask=mask)[0].numpy(), by_hand(layer, x, x, x, mask), rtol=1e-10)
    causal = layer(x, is_causal=True)[0].numpy()
    assert_close(causal, by_hand(layer, x, x, x, causal_mask(5)), rtol=1e-10)


def test_without_the_weights_it_is_the_same_in_fewer_nodes() -> None:
    layer = MultiHeadAttention(16, 2)
    x = RNG.normal(size=(2, 150, 16))
    slow, fast = layer(x)[0], layer(x, need_weights=False)[0]
    assert layer(x, need_weights=False)[1] is None
    assert_close(fast.numpy(), slow.numpy(), rtol=1e-10, atol=1e-12)
    upstream = RNG.normal(size=slow.shape)
    gradients = []
    for output in (slow, fast):
        for parameter in layer.parameters():
            parameter.grad = None
        output.backward(upstream)
        gradients.append([parameter.grad for parameter in layer.parameters()])
    for one, other in zip(*gradients, strict=True):
        assert_close(one, other, rtol=1e-9, atol=1e-10)


def test_its_gradients_are_those_of_differences() -> None:
    layer = MultiHeadAttention(4, 2)

    def call(x: Tensor, *parameters: Tensor) -> Tensor:
        layer.W_Q, layer.W_K, layer.W_V, layer.W_O = parameters
        return layer(x, is_causal=True)[0]

    assert gradcheck(call, [leaf(RNG.normal(size=(3, 4))), *layer.parameters()])


@pytest.mark.parametrize(("width", "heads"), [(6, 4), (0, 1), (4, 0), (4, -2)])
def test_heads_share_out_the_width(width: int, heads: int) -> None:
    with pytest.raises(ValueError, match="n_heads must share out d_model evenly"):
        MultiHeadAttention(width, heads)


def test_an_input_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match=r"takes \(\.\.\., length, 6\); got \(3, 5\)"):
        MultiHeadAttention(6, 2)(np.ones((3, 5)))
