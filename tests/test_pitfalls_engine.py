"""Ways in which small autograd engines went wrong for somebody: recording, accumulating and
undoing broadcasts. The letter and number at the head of each name are the case's own."""

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, no_grad
from tests.helpers import assert_close, assert_same, gradient_of, leaf


def test_e01_a_node_passes_its_gradient_on_only_when_it_is_complete() -> None:
    x = leaf(1.5)
    h = x * 4
    (h * h + h * 3).backward()
    assert_same(gradient_of(x), 60.0)

    a, b = leaf(2.0), leaf(-3.0)
    c = a + b
    d = a * b
    e = c + d
    f = c * d
    (e * f).backward()
    assert_same(gradient_of(a), 9.0)
    assert_same(gradient_of(b), 74.0)


def test_e02_both_operands_may_be_the_same_tensor() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    (x @ x).sum().backward()
    assert_same(gradient_of(x), [[7.0, 11.0], [9.0, 13.0]])

    y = leaf([1.0, 2.0, 3.0])
    (y * y + y - y).sum().backward()
    assert_same(gradient_of(y), [2.0, 4.0, 6.0])


def test_e03_a_second_backward_adds_to_leaves_and_starts_anew_in_between() -> None:
    x = leaf(2.0)
    h = x * 3
    loss = h * h
    loss.backward(retain_graph=True)
    assert_same(gradient_of(x), 36.0)
    loss.backward(retain_graph=True)
    assert_same(gradient_of(x), 72.0)
    x.grad = None
    loss.backward(retain_graph=True)
    assert_same(gradient_of(x), 36.0)


def test_e04_two_tensors_never_share_one_gradient() -> None:
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    s = a + b
    t = s + a
    t.backward(np.ones(2))
    assert_same(gradient_of(a), [2.0, 2.0])
    assert_same(gradient_of(b), [1.0, 1.0])
    assert not np.shares_memory(gradient_of(a), gradient_of(b))


def test_e06_a_chain_of_20000_ops_is_walked_and_dropped() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(20_000):
        y = y + 0.001
    y.backward()
    assert_close(y, 21.0, atol=1e-9)
    assert_same(gradient_of(x), 1.0)
    del y


def test_e08_an_array_on_the_left_leaves_the_operation_to_the_tensor() -> None:
    x = leaf([1.0, 4.0])
    y: Tensor = np.array([2.0, 3.0]) * x  # type: ignore[assignment]
    assert type(y) is Tensor
    assert y.shape == (2,)
    y.sum().backward()
    assert_same(gradient_of(x), [2.0, 3.0])

    product: Tensor = np.array([[1.0, 2.0], [3.0, 4.0]]) @ x  # type: ignore[assignment]
    assert type(product) is Tensor
    assert_same(product, [9.0, 19.0])

    array = np.array([2.0, 3.0])
    for result in (array + x, array - x, array / x, np.float64(2.0) * x):
        assert type(result) is Tensor
        assert result.shape == (2,)


def test_e09_reflected_operators_keep_their_order() -> None:
    x = leaf([2.0, 4.0])
    a = 1 - x
    a.sum().backward()
    assert_same(a, [-1.0, -3.0])
    assert_same(gradient_of(x), [-1.0, -1.0])

    y = leaf([2.0, 4.0])
    b = 6 / y
    b.sum().backward()
    assert_same(b, [3.0, 1.5])
    assert_close(gradient_of(y), [-1.5, -0.375])

    z = leaf([2.0, 4.0])
    c = 2**z
    c.sum().backward()
    assert_same(c, [4.0, 16.0])
    assert_close(gradient_of(z), [2.772588722239781, 11.090354888959125])


def test_e10_the_gradient_of_integers_is_not_cut_to_zero() -> None:
    x = leaf([2, 4, 9])
    x.mean().backward()
    assert_close(gradient_of(x), [1 / 3, 1 / 3, 1 / 3])
    with pytest.raises(TypeError, match=r"only floating point can require a gradient.*int64"):
        leaf(np.array([2, 4, 9], dtype=np.int64))


def test_e12_a_number_has_a_0d_array_for_a_gradient() -> None:
    x, b = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), leaf(2.0)
    (x * b).sum().backward()
    assert_same(gradient_of(b), 21.0)

    c = leaf(3.0)
    c.sum().backward()
    assert_same(gradient_of(c), 1.0)


def test_e13_broadcasting_is_undone_along_new_and_along_stretched_axes() -> None:
    a, b = leaf([[1.0], [2.0]]), leaf([10.0, 20.0, 30.0])
    ((a * b) * np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum().backward()
    assert_same(gradient_of(a), [[140.0], [320.0]])
    assert_same(gradient_of(b), [9.0, 12.0, 15.0])

    p, q = leaf([3.0]), leaf([[1.0, 2.0]])
    (p * q).sum().backward()
    assert_same(gradient_of(p), [3.0])


def test_e15_backward_is_a_product_with_the_jacobian_not_its_diagonal() -> None:
    x = leaf([1.0, 2.0, 4.0, 9.0])
    (x - x.mean()).backward(np.ones(4))
    assert_same(gradient_of(x), [0.0, 0.0, 0.0, 0.0])

    y = leaf([1.0, 2.0, 4.0, 9.0])
    (y - y.mean()).backward(np.array([1.0, 0.0, 0.0, 0.0]))
    assert_same(gradient_of(y), [0.75, -0.25, -0.25, -0.25])


def test_e17_a_mean_over_a_tuple_of_negative_axes_gives_each_entry_its_share() -> None:
    x = leaf(np.arange(24.0).reshape(2, 3, 4))
    m = x.mean(axis=(-3, -1))
    assert m.shape == (3,)
    m.backward(np.array([8.0, 16.0, 24.0]))
    expected = np.broadcast_to(np.array([[1.0], [2.0], [3.0]]), (2, 3, 4))
    assert_same(gradient_of(x), expected)


def test_e18_tied_maxima_share_one_gradient_and_near_ones_get_none() -> None:
    x = leaf([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    x.max(axis=1).sum().backward()
    assert_close(gradient_of(x), [[0.0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]])

    y = leaf([1.0, 0.9999999])
    y.max().backward()
    assert_same(gradient_of(y), [1.0, 0.0])


def test_e19_kinks_follow_one_convention() -> None:
    x = leaf([-1.0, 0.0, 2.0])
    minigrad.relu(x).sum().backward()
    assert_same(gradient_of(x), [0.0, 0.0, 1.0])

    y = leaf([-2.0, 0.0, 3.0])
    minigrad.abs(y).sum().backward()
    assert_same(gradient_of(y), [-1.0, 0.0, 1.0])

    u, v = leaf([1.0, 5.0]), leaf([1.0, 2.0])
    minigrad.maximum(u, v).sum().backward()
    assert_same(gradient_of(u), [0.5, 1.0])
    assert_same(gradient_of(v), [0.5, 0.0])

    z = leaf([-1.0, 0.0, 0.5, 1.0, 2.0])
    minigrad.clip(z, 0.0, 1.0).sum().backward()
    assert_same(gradient_of(z), [0.0, 1.0, 1.0, 1.0, 0.0])


def test_e21_a_vector_stands_as_a_column_or_a_row_of_a_matrix_product() -> None:
    A, b = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([5.0, 6.0])
    (A @ b).backward(np.array([1.0, 10.0]))
    assert_same(gradient_of(A), [[5.0, 6.0], [50.0, 60.0]])
    assert_same(gradient_of(b), [31.0, 42.0])

    C, d = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([5.0, 6.0])
    (d @ C).backward(np.array([1.0, 10.0]))
    assert_same(gradient_of(C), [[5.0, 50.0], [6.0, 60.0]])
    assert_same(gradient_of(d), [21.0, 43.0])

    e, f = leaf([1.0, 2.0, 3.0]), leaf([4.0, 5.0, 6.0])
    (e @ f).backward()
    assert_same(gradient_of(e), [4.0, 5.0, 6.0])
    assert_same(gradient_of(f), [1.0, 2.0, 3.0])


def test_e22_an_operand_shared_by_a_batch_collects_from_all_of_it() -> None:
    A = leaf([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
    B = leaf([[1.0, -1.0], [2.0, 0.0]])
    ((A @ B) * np.array([[[1.0, 2.0], [3.0, 4.0]], [[-1.0, 0.0], [0.0, 1.0]]])).sum().backward()
    assert_same(gradient_of(A), [[[-1.0, 2.0], [-1.0, 6.0]], [[-1.0, -2.0], [-1.0, 0.0]]])
    assert_same(gradient_of(B), [[5.0, 21.0], [8.0, 28.0]])

    v, M = leaf([1.0, 2.0, 3.0]), leaf(np.arange(12.0).reshape(2, 3, 2))
    ((v @ M) * np.array([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert_same(gradient_of(v), [48.0, 68.0, 88.0])
    assert_same(gradient_of(M)[1], [[3.0, 4.0], [6.0, 8.0], [9.0, 12.0]])


def test_e23_a_row_named_twice_gets_both_contributions() -> None:
    W = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    out = W[[0, 2, 0, -1]]
    (out * np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]])).sum().backward()
    assert_same(gradient_of(W), [[4.0, 40.0], [0.0, 0.0], [6.0, 60.0]])


def test_e24_each_piece_of_a_concatenation_gets_its_part_back() -> None:
    a, b = leaf([[1.0], [2.0]]), leaf([[3.0, 4.0], [5.0, 6.0]])
    joined = minigrad.concatenate([a, b], axis=-1)
    (joined * np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum().backward()
    assert_same(gradient_of(a), [[1.0], [4.0]])
    assert_same(gradient_of(b), [[2.0, 3.0], [5.0, 6.0]])

    c = leaf([1.0, 2.0])
    twice = minigrad.concatenate([c, c], axis=-1)
    (twice * np.array([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert_same(gradient_of(c), [101.0, 1010.0])


def test_e26_data_changed_after_the_forward_does_not_reach_the_backward() -> None:
    x = leaf([4.0])
    y = x * x
    x.data[0] = 7.0
    y.backward(np.ones(1))
    assert_same(gradient_of(x), [8.0])
    assert_same(x, [7.0])


def test_e30_no_op_loses_the_history() -> None:
    x = leaf([1.0, 3.0, 5.0])
    mean = (x * x).mean()
    results = [mean, x.max(), minigrad.tanh(x), x.reshape(3, 1), x[0]]
    assert [t.requires_grad for t in results] == [True] * 5
    mean.backward()
    assert_close(gradient_of(x), [2 / 3, 2.0, 10 / 3])
    with pytest.raises(RuntimeError, match="nothing behind this one requires a gradient"):
        (Tensor([1.0]) * 2).backward()


def test_e31_a_training_loop_updates_the_leaf_itself() -> None:
    w = leaf(0.0)
    seen = []
    for _ in range(2):
        w.grad = None
        ((w - 3.0) ** 2).backward()
        seen.append(float(gradient_of(w)))
        with no_grad():
            w -= 0.1 * gradient_of(w)
    assert_close(seen, [-6.0, -4.8])
    assert_close(w, 1.08)
    assert w.is_leaf
    assert w.requires_grad


def test_e31_without_a_reset_the_second_gradient_is_added_to_the_first() -> None:
    w = leaf(0.0)
    for _ in range(2):
        ((w - 3.0) ** 2).backward()
        with no_grad():
            w -= 0.1 * gradient_of(w)
    assert_close(gradient_of(w), -10.8)
    assert_close(w, 1.68)
