"""Ways in which the numbers of small autograd engines went wrong for somebody: overflow, 0/0 and
masks. The letter and number at the head of each name are the case's own. Warnings are errors here,
so a value that is right only by way of NaN fails as well."""

import numpy as np

import attention
import minigrad
from minigrad import Tensor
from tests.helpers import assert_close, assert_same, gradient_of, leaf

NAN = float("nan")


def test_n01_softmax_subtracts_the_largest_score_of_each_row() -> None:
    p = minigrad.softmax(Tensor([[1000.0, 1001.0], [-1000.0, -1001.0]]), axis=1)
    low, high = 0.26894142136999516, 0.7310585786300049
    assert_close(p, [[low, high], [high, low]])

    q = minigrad.softmax(Tensor(np.array([100.0, 0.0], dtype=np.float32)), axis=0)
    assert q.dtype == np.float32
    assert q.numpy()[0] == 1.0
    assert 0.0 <= q.numpy()[1] <= 4e-44


def test_n02_the_gradient_of_softmax_has_its_cross_terms() -> None:
    x = leaf([1.0, 2.0, 3.0])
    minigrad.softmax(x, axis=0).backward(np.array([1.0, 2.0, 4.0]))
    expected = [-0.201709118154631, -0.3035737594594343, 0.5052828776140661]
    assert_close(gradient_of(x), expected)
    assert abs(gradient_of(x).sum()) < 1e-15

    y = leaf([1.0, 2.0, 3.0])
    minigrad.softmax(y, axis=0).backward(np.ones(3))
    assert_close(gradient_of(y), [0.0, 0.0, 0.0], atol=1e-15)


def test_n03_softmax_goes_along_the_axis_it_is_given() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    p = minigrad.softmax(x, axis=0)
    (p * np.array([[1.0, 2.0], [3.0, 5.0]])).sum().backward()
    assert_close(p, [[0.11920292202211755] * 2, [0.8807970779778823] * 2])
    expected = [
        [-0.20998717080701296, -0.31498075621051946],
        [0.20998717080701343, 0.31498075621052013],
    ]
    assert_close(gradient_of(x), expected)

    z = leaf(np.arange(8.0).reshape(2, 2, 2))
    (minigrad.softmax(z, axis=-1) * np.array([1.0, 0.0])).sum().backward()
    row = [0.19661193324148185, -0.19661193324148185]
    assert_close(gradient_of(z), [[row, row], [row, row]])


def test_n05_the_logarithm_of_a_softmax_stays_finite() -> None:
    x = leaf([-1000.0, 0.0, 1000.0])
    y = minigrad.log_softmax(x, axis=0)
    y.sum().backward()
    assert_same(y, [-2000.0, -1000.0, 0.0])
    assert_same(gradient_of(x), [1.0, 1.0, -2.0])

    z = leaf([[1000.0, -1000.0]])
    loss = minigrad.cross_entropy(z, [1])
    loss.backward()
    assert_same(loss, 2000.0)
    assert_same(gradient_of(z), [[1.0, -1.0]])


def test_n06_sigmoid_does_not_overflow_in_either_direction() -> None:
    x = leaf([-800.0, 0.0, 800.0])
    y = minigrad.sigmoid(x)
    y.sum().backward()
    assert_same(y, [0.0, 0.5, 1.0])
    assert_same(gradient_of(x), [0.0, 0.25, 0.0])


def test_n06_gelu_and_silu_do_not_overflow_either() -> None:
    for activation in (minigrad.gelu, minigrad.silu):
        x = leaf([-800.0, 0.0, 800.0])
        y = activation(x)
        y.sum().backward()
        assert_close(y, [0.0, 0.0, 800.0], atol=1e-300)
        assert_close(gradient_of(x), [0.0, 0.5, 1.0], atol=1e-300)


def test_n07_tanh_saturates_quietly() -> None:
    x = leaf([-1000.0, 0.0, 1000.0])
    y = minigrad.tanh(x)
    y.sum().backward()
    assert_same(y, [-1.0, 0.0, 1.0])
    assert_same(gradient_of(x), [0.0, 1.0, 0.0])


def test_n10_norm_std_and_var_have_gradient_0_where_nothing_varies() -> None:
    x = leaf([0.0, 0.0, 0.0])
    minigrad.norm(x).backward()
    assert_same(gradient_of(x), [0.0, 0.0, 0.0])

    y = leaf([3.0, 3.0, 3.0])
    minigrad.std(y).backward()
    assert_same(gradient_of(y), [0.0, 0.0, 0.0])

    z = leaf([3.0, 3.0, 3.0])
    minigrad.var(z).backward()
    assert_same(gradient_of(z), [0.0, 0.0, 0.0])


def test_n10_the_root_of_a_sum_of_squares_written_by_hand_is_nan_at_0_as_sqrt_says() -> None:
    x = leaf([0.0, 0.0, 0.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        minigrad.sqrt((x * x).sum()).backward()
    assert_same(gradient_of(x), [NAN, NAN, NAN])
    assert "its slope at 0 is infinite" in (minigrad.sqrt.__doc__ or "")


def test_n12_a_negative_base_has_a_power_and_a_gradient() -> None:
    a = leaf([-3.0])
    y = a**3
    y.sum().backward()
    assert_same(y, [-27.0])
    assert_same(gradient_of(a), [27.0])

    b, n = leaf([-3.0]), leaf([3.0])
    (b**n).sum().backward()
    assert_same(gradient_of(b), [27.0])
    assert_same(gradient_of(n), [NAN])


def test_n13_a_product_with_zeros_has_a_gradient() -> None:
    x = leaf([3.0, 0.0, 5.0])
    minigrad.prod(x).backward()
    assert_same(gradient_of(x), [0.0, 15.0, 0.0])

    y = leaf([0.0, 0.0, 3.0])
    minigrad.prod(y).backward()
    assert_same(gradient_of(y), [0.0, 0.0, 0.0])


def test_n14_what_where_did_not_choose_gets_0_even_from_an_infinite_upstream() -> None:
    a = leaf([2.0, 3.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        y = 1.0 / minigrad.where(np.array([True, False]), a, 0.0)
        y.sum().backward()
    assert_same(gradient_of(a), [-0.25, 0.0])

    x, n = leaf([0.0, 3.0]), np.array([0.0, 4.0])
    s = minigrad.where(n == 0, 0.0, x / np.where(n == 0, 1.0, n))
    s.sum().backward()
    assert_same(gradient_of(x), [0.0, 0.25])


def test_n14_entries_left_out_by_an_index_or_a_mask_get_0_too() -> None:
    upstream = np.array([np.inf, 2.0])
    b = leaf([2.0, 3.0])
    minigrad.masked_fill(b, np.array([True, False]), 0.0).backward(upstream)
    assert_same(gradient_of(b), [0.0, 2.0])

    c = leaf([2.0, 3.0, 4.0])
    c[[0, 2]].backward(upstream)
    assert_same(gradient_of(c), [np.inf, 0.0, 2.0])


def test_n16_relu_lets_nan_through() -> None:
    y = minigrad.relu(leaf([NAN, -1.0, 2.0]))
    assert_same(y, [NAN, 0.0, 2.0])


def test_n19_dropout_keeps_the_mean_and_its_mask() -> None:
    x = leaf(np.ones(1000))
    y = attention.functional.dropout(x, 0.25, np.random.default_rng(0))
    y.sum().backward()
    values = set(y.tolist())
    assert values == {0.0, 4 / 3}
    assert_same(gradient_of(x), y)
    dropped = int((y == 0).sum())
    assert abs(dropped - 250) < 4 * np.sqrt(1000 * 0.25 * 0.75)


def test_n19_dropout_of_everything_gives_zeros_and_in_use_nothing_is_dropped() -> None:
    rng = np.random.default_rng(0)
    z = attention.functional.dropout(Tensor([1.0, 2.0]), 1.0, rng)
    assert_same(z, [0.0, 0.0])
    e = attention.functional.dropout(Tensor([1.0, 2.0]), 0.5, rng, training=False)
    assert_same(e, [1.0, 2.0])
