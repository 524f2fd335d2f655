"""Ways in which small attentions went wrong for somebody: scale, masks, heads. The letter and
number at the head of each name are the case's own."""

import numpy as np

from attention import scaled_dot_product_attention
from minigrad import Tensor, transpose
from tests.helpers import assert_close, assert_same, gradient_of, leaf

IDENTITY = [[1.0, 0.0], [0.0, 1.0]]
KEYS = [[1.0, 1.0], [0.0, 2.0]]
VALUES = [[1.0, 2.0], [3.0, 4.0]]
MIXED = [2.3395230986533138, 3.3395230986533138]


def test_a01_scores_are_divided_by_the_root_of_d_k_and_weighed_over_the_keys() -> None:
    q = leaf([[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    k = leaf([[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    v = leaf([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]])
    o, _ = scaled_dot_product_attention(q, k, v)
    (o * np.array([[1.0, 2.0], [3.0, -1.0]])).sum().backward()
    assert_close(
        o,
        [[1.488287336045674, -0.4882873360456741], [0.6358246728512562, 0.36417532714874373]],
    )
    assert_close(
        gradient_of(q),
        [
            [-0.10436196970881328, 0.20872393941762657, -0.1608138202088217, 0.0],
            [0.7326186595606364, -1.4652373191212729, 0.5782508873974037, 0.0],
        ],
    )
    assert_close(
        gradient_of(k),
        [
            [0.056451850500008414, 0.15436777216323283, 0.11290370100001683, 0.15436777216323283],
            [0.10436196970881328, -0.7326186595606364, 0.20872393941762657, -0.7326186595606364],
            [-0.1608138202088217, 0.5782508873974037, -0.3216276404176434, 0.5782508873974037],
        ],
    )
    assert_close(
        gradient_of(v),
        [
            [0.8670485704734052, 0.25050623762721264],
            [1.8685950374635758, -0.2956281184336522],
            [1.2643563920630188, 1.0451218808064398],
        ],
    )


def test_a02_a_query_with_every_key_masked_gives_zeros_in_value_and_gradient() -> None:
    q, k, v = leaf(IDENTITY), leaf(KEYS), leaf(VALUES)
    mask = np.array([[True, True], [False, False]])
    o, weights = scaled_dot_product_attention(q, k, v, mask)
    o.sum().backward()
    assert_close(o, [[1.660476901346686, 2.6604769013466862], [0.0, 0.0]])
    assert weights is not None
    assert_same(weights.numpy()[1], [0.0, 0.0])
    slope = 0.6255943861804416
    assert_close(gradient_of(q), [[-slope, slope], [0.0, 0.0]])
    assert_close(gradient_of(k), [[-slope, 0.0], [slope, 0.0]])
    first, second = 0.6697615493266569, 0.33023845067334306
    assert_close(gradient_of(v), [[first, first], [second, second]])


def test_a03_true_in_a_mask_means_may_attend() -> None:
    mask = np.array([[True, False], [True, True]])
    o, _ = scaled_dot_product_attention(Tensor(IDENTITY), Tensor(KEYS), Tensor(VALUES), mask)
    assert_close(o, [[1.0, 2.0], MIXED])


def test_a04_a_causal_mask_is_aligned_top_left_where_lengths_differ() -> None:
    k, v = Tensor([*KEYS, [3.0, 0.0]]), Tensor([*VALUES, [5.0, 6.0]])
    o, _ = scaled_dot_product_attention(Tensor([[1.0, 0.0]]), k, v, is_causal=True)
    assert_close(o, [[1.0, 2.0]])

    q = Tensor([*IDENTITY, [1.0, 1.0]])
    o, _ = scaled_dot_product_attention(q, Tensor(KEYS), Tensor(VALUES), is_causal=True)
    assert_close(o, [[1.0, 2.0], MIXED, [2.0, 3.0]])


def test_a08_heads_are_split_by_reshaping_and_swapping_axes() -> None:
    x = Tensor(np.arange(8.0).reshape(1, 2, 4))
    heads = transpose(x.reshape(1, 2, 2, 2), (0, 2, 1, 3))
    assert_same(heads, [[[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]])
    merged = transpose(heads, (0, 2, 1, 3)).reshape(1, 2, 4)
    assert_same(merged, x)


def test_a09_queries_keys_and_values_that_are_one_tensor_each_pass_their_gradient_on() -> None:
    x = leaf([[1.0, 0.0], [0.0, 2.0]])
    o, _ = scaled_dot_product_attention(x, x, x)
    (o * np.array([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    expected = [
        [-0.10120837232249613, 2.12854938019876],
        [3.4457154954102176, 5.182436373625796],
    ]
    assert_close(gradient_of(x), expected)
