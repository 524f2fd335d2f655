"""Recording and the walk back: what is accumulated, in which order, how often, how deep, and what
`grad` does besides. What is kept in memory is tested in `test_memory.py`."""

import sys
import threading
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, grad, modes
from tests.helpers import Array, assert_close, assert_same, gradient_of, leaf

DEPTH = 100_000
Rng = np.random.Generator


# ----------------------------------------------------------------------------- what backward leaves


def test_a_tensor_used_twice_adds_both_contributions(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=(2, 3))), rng.normal(size=(2, 3))
    (x * 2 + x * 3).backward(upstream)
    assert_close(gradient_of(x), 5 * upstream)


def test_backward_is_the_derivative_of_the_result_weighted_by_the_gradient(rng: Rng) -> None:
    a, b = leaf(rng.normal(size=(2, 3))), leaf(rng.normal(size=(3, 4)))
    upstream = rng.normal(size=(2, 4))
    (a @ b).backward(upstream)
    assert_close(gradient_of(a), upstream @ b.data.T)
    assert_close(gradient_of(b), a.data.T @ upstream)


def test_leaves_add_up_over_several_backward_passes(rng: Rng) -> None:
    x, first, second = leaf(rng.normal(size=3)), rng.normal(size=3), rng.normal(size=3)
    (x * 2).backward(first)
    (x * 3).backward(second)
    assert_close(gradient_of(x), 2 * first + 3 * second)


def test_a_gradient_read_earlier_is_not_changed_by_the_next_backward(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    (x * 2).backward(upstream)
    earlier = gradient_of(x)
    before = earlier.copy()
    (x * 3).backward(upstream)
    assert_same(earlier, before)


def test_intermediates_never_carry_over_from_one_backward_to_the_next(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    h = (x * 3).retain_grad()
    y = h * 2
    for _ in range(3):
        y.backward(upstream, retain_graph=True)
        assert_close(gradient_of(h), 2 * upstream)
    assert_close(gradient_of(x), 18 * upstream)


def test_two_roots_over_one_intermediate_add_up_in_the_leaf(rng: Rng) -> None:
    x, first, second = leaf(rng.normal(size=3)), rng.normal(size=3), rng.normal(size=3)
    h = minigrad.exp(x)
    (h * 2).backward(first, retain_graph=True)
    (h * 3).backward(second)
    assert_close(gradient_of(x), (2 * first + 3 * second) * np.exp(x.data))


def test_a_leaf_may_be_the_root(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=(2, 3))), rng.normal(size=(2, 3))
    x.backward(upstream)
    x.backward(upstream)
    assert_close(gradient_of(x), 2 * upstream)


def test_only_leaves_that_ask_get_a_gradient(rng: Rng) -> None:
    x, w = Tensor(rng.normal(size=3)), leaf(rng.normal(size=3))
    (x * w).backward(rng.normal(size=3))
    assert x.grad is None
    assert w.grad is not None


def test_a_gradient_is_owned_by_its_tensor_alone(rng: Rng) -> None:
    """Neither by another leaf, nor by an intermediate, nor by whoever gave the upstream."""
    a, b = leaf(rng.normal(size=3)), leaf(rng.normal(size=3))
    upstream = rng.normal(size=3)
    with minigrad.trace():
        total = a + b
        flat = total.reshape(3, 1)
    flat.backward(upstream.reshape(3, 1))
    gradients = [gradient_of(t) for t in (a, b, total, flat)] + [upstream]
    for i, one in enumerate(gradients):
        assert one.flags.writeable
        for other in gradients[i + 1 :]:
            assert not np.shares_memory(one, other)


def test_the_root_of_a_retained_gradient_does_not_own_the_upstream(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    y = (x * 2).retain_grad()
    y.backward(upstream)
    before = upstream.copy()
    upstream[:] = 0.0
    assert_same(gradient_of(y), before)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_root_that_starts_from_1_has_that_in_its_own_dtype(dtype: Any) -> None:
    y = leaf(np.ones(3, dtype)).sum().retain_grad()
    y.backward()
    assert gradient_of(y).dtype == dtype
    assert_same(gradient_of(y), 1.0)


def test_a_gradient_of_a_broadcast_is_an_array_of_its_own(rng: Rng) -> None:
    x = leaf(rng.normal(size=(2, 3)))
    x.sum().backward(np.array(rng.normal()))
    gradient = gradient_of(x)
    assert gradient.flags.writeable
    assert gradient.strides == (24, 8)


@pytest.mark.parametrize("shape", [(), (1,), (2, 1, 3), (0, 3)])
def test_a_gradient_has_its_tensors_shape_and_dtype(shape: tuple[int, ...], rng: Rng) -> None:
    for dtype in (np.float32, np.float64):
        x = leaf(np.asarray(rng.normal(size=shape), dtype=dtype))
        y = x * rng.normal(size=(4, 2, 5, 3))[:, :, : 1 if 0 in shape else 5]
        y.backward(rng.normal(size=y.shape))
        assert gradient_of(x).dtype == dtype


# ------------------------------------------------------------------------------ what backward needs


def test_a_result_of_several_entries_needs_a_gradient_to_start_from(rng: Rng) -> None:
    y = leaf(rng.normal(size=(2, 3))) * 2
    with pytest.raises(
        RuntimeError, match=r"shape \(2, 3\) needs a gradient.*gradient=.*\.sum\(\)"
    ):
        y.backward()


def test_one_entry_needs_none_whatever_its_shape() -> None:
    x = leaf([[5.0]])
    (x * 3).backward()
    assert_same(gradient_of(x), [[3.0]])


@pytest.mark.parametrize("shape", [(), (3,), (2, 1), (3, 2), (1, 2, 3)])
def test_a_gradient_of_another_shape_is_refused_even_if_it_would_broadcast(
    shape: tuple[int, ...], rng: Rng
) -> None:
    x = leaf(rng.normal(size=(2, 3)))
    y = x * 2
    with pytest.raises(ValueError, match=r"gradient has shape .*exactly the tensor's shape"):
        y.backward(rng.normal(size=shape))
    assert x.grad is None


@pytest.mark.parametrize("gradient", [np.ones(3, dtype=complex), ["a", "b", "c"], [None] * 3])
def test_a_gradient_that_is_not_real_numbers_is_refused(gradient: Any) -> None:
    y = leaf([1.0, 2.0, 3.0]) * 2
    with pytest.raises(ValueError, match="Pass real numbers"):
        y.backward(gradient)


def test_the_gradient_may_be_a_tensor_a_list_or_integers() -> None:
    for gradient in (Tensor([1.0, 2.0]), [1.0, 2.0], np.array([1, 2])):
        x = leaf([5.0, 6.0])
        (x * 3).backward(gradient)
        assert_same(gradient_of(x), [3.0, 6.0])


def test_backward_without_anything_recorded_says_how_to_record() -> None:
    for nothing in (Tensor(1.0), Tensor(1.0) * 2):
        with pytest.raises(RuntimeError, match=r"requires_grad=True.*outside no_grad"):
            nothing.backward()


def test_a_second_backward_says_which_result_was_let_go_and_what_to_do(rng: Rng) -> None:
    x = leaf(rng.normal(size=(2, 3)))
    y = minigrad.softmax(x, axis=0)
    y.name = "weights"
    y.backward(rng.normal(size=(2, 3)))
    before = gradient_of(x).copy()
    message = r"softmax 'weights' of shape \(2, 3\).*let go.*retain_graph=True"
    with pytest.raises(RuntimeError, match=message):
        y.backward(rng.normal(size=(2, 3)))
    assert_same(gradient_of(x), before)


def test_even_an_op_that_keeps_nothing_cannot_be_walked_twice() -> None:
    y = leaf(1.0) + 2.0
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()


def test_a_part_of_a_graph_that_was_let_go_stops_another_root_before_it_delivers(rng: Rng) -> None:
    x, w = leaf(rng.normal(size=3)), leaf(rng.normal(size=3))
    h = x * x
    (h * 2).backward(rng.normal(size=3))
    before = gradient_of(x).copy()
    with pytest.raises(RuntimeError, match="let go"):
        (h * w).backward(rng.normal(size=3))
    assert_same(gradient_of(x), before)
    assert w.grad is None


def test_retain_graph_lets_it_be_walked_as_often_as_wanted(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    y = minigrad.sin(x)
    for _ in range(3):
        y.backward(upstream, retain_graph=True)
    y.backward(upstream)
    assert_close(gradient_of(x), 4 * upstream * np.cos(x.data))


# --------------------------------------------------------------------------------------- the order


def test_a_node_is_reached_once_however_many_paths_lead_to_it() -> None:
    """Sixty doublings have 2⁶⁰ paths; the walk takes 61 steps."""
    steps: list[Any] = []

    class Steps(modes.Watcher):
        def passed(self, node: Any, position: int, upstream: Any, contribution: Any) -> None:
            steps.append((node, position))

    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y
    with modes.watch(Steps()):
        y.backward()
    assert gradient_of(x) == 2.0**60
    assert len(steps) == len(set(steps)) == 120
    assert len({node for node, _ in steps}) == 60


def test_sixty_doublings_are_differentiated_by_grad_too() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y
    (slope,) = grad(y, x, create_graph=True)
    assert slope.item() == 2.0**60


def test_the_order_does_not_depend_on_how_the_graph_was_put_together(rng: Rng) -> None:
    """A late leaf, an early constant, operands in either order: same gradient."""
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    constant = Tensor(rng.normal(size=3))
    h = minigrad.exp(x)
    late = leaf(rng.normal(size=3))
    g = late * h
    y = constant * (g + h) - g * x
    y.backward(upstream)
    c, e, k = constant.data, np.exp(x.data), late.data
    assert_close(gradient_of(x), upstream * (c * (k * e + e) - k * e * x.data - k * e))
    assert_close(gradient_of(late), upstream * (c * e - e * x.data))


# ----------------------------------------------------------------------------------------- depth


@pytest.mark.usefixtures("no_collector")
def test_a_chain_of_100000_ops_is_walked_back_and_freed() -> None:
    x = leaf(np.array([1.0, 2.0]))
    y = x
    for _ in range(DEPTH // 2):
        y = y * 1.00001 + 0.5
    upstream = np.array([1.0, -3.0])
    y.backward(upstream)
    assert_close(gradient_of(x), upstream * 1.00001 ** (DEPTH // 2), rtol=1e-9)
    del y


@pytest.mark.usefixtures("no_collector")
def test_a_chain_of_100000_ops_is_freed_without_a_backward() -> None:
    y = leaf(1.0)
    for _ in range(DEPTH):
        y = y + 1.0
    del y


@pytest.mark.usefixtures("no_collector")
def test_grad_goes_100000_ops_deep() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(DEPTH):
        y = y * 1.00001
    (slope,) = grad(y, x)
    assert_close(slope, 1.00001**DEPTH, rtol=1e-9)


@pytest.mark.usefixtures("no_collector")
def test_a_recorded_gradient_goes_20000_ops_deep_and_can_be_walked_itself() -> None:
    x, factor = leaf(2.0), leaf(1.0001)
    y = x
    for _ in range(20_000):
        y = y * factor
    (slope,) = grad(y, x, create_graph=True)
    assert_close(slope, 1.0001**20_000, rtol=1e-9)
    slope.backward()
    assert_close(gradient_of(factor), 20_000 * 1.0001**19_999, rtol=1e-9)
    del slope, y


# ----------------------------------------------------------------------------------------- hooks


def test_a_hook_sees_the_complete_gradient_once(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    h = x * 2
    seen: list[Array] = []
    h.register_hook(lambda gradient: seen.append(gradient))
    (h * 3 + h * 4).backward(upstream)
    (only,) = seen
    assert_close(only, 7 * upstream)


def test_what_a_hook_returns_goes_on_in_the_gradients_place(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    h = (x * 2).retain_grad()
    h.register_hook(lambda gradient: gradient * 10)
    h.register_hook(lambda gradient: gradient + 1)
    (h * 3).backward(upstream)
    assert_close(gradient_of(h), 30 * upstream + 1)
    assert_close(gradient_of(x), 60 * upstream + 2)


def test_a_hook_on_a_leaf_changes_what_is_delivered_not_what_was_there(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    (x * 2).backward(upstream)
    x.register_hook(lambda gradient: -gradient)
    (x * 5).backward(upstream)
    assert_close(gradient_of(x), -3 * upstream)


def test_a_hook_that_returns_nothing_changes_nothing_even_if_it_writes(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)

    def scribble(gradient: Array) -> None:
        gradient[:] = 99.0

    h = x * 2
    h.register_hook(scribble)
    (h * 3).backward(upstream)
    assert_close(gradient_of(x), 6 * upstream)


def test_a_hook_can_be_taken_off_again(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    remove = x.register_hook(lambda gradient: gradient * 10)
    remove()
    remove()
    (x * 2).backward(upstream)
    assert_close(gradient_of(x), 2 * upstream)


def test_a_hook_may_take_itself_off() -> None:
    x, calls = leaf(1.0), []

    def once(gradient: Any) -> None:
        calls.append(1)
        remove()

    remove = x.register_hook(once)
    for _ in range(3):
        (x * 2).backward()
    assert calls == [1]


def test_the_same_hook_registered_twice_runs_twice_and_is_taken_off_one_at_a_time() -> None:
    x = leaf(1.0)

    def double(gradient: Any) -> Any:
        return gradient * 2

    remove = x.register_hook(double)
    x.register_hook(double)
    remove()
    (x * 1.0).backward()
    assert_same(gradient_of(x), 2.0)


def test_a_hook_that_returns_another_shape_is_told_the_right_one() -> None:
    x = leaf([1.0, 2.0, 3.0], name="theta")
    x.register_hook(lambda gradient: gradient.sum())
    with pytest.raises(ValueError, match=r"hook on the tensor 'theta'.*\(3,\)"):
        (x * 2).backward(np.array([1.0, 2.0, 4.0]))
    assert x.grad is None


def test_a_hook_on_what_gets_no_gradient_is_refused() -> None:
    with pytest.raises(RuntimeError, match="no gradient reaches this tensor"):
        Tensor(1.0).register_hook(lambda gradient: None)


def test_no_leaf_gets_its_gradient_if_a_hook_raises_on_the_way(rng: Rng) -> None:
    first, second = leaf(rng.normal(size=3)), leaf(rng.normal(size=3))
    h = first * 2

    def fail(gradient: Any) -> None:
        raise KeyError("stop")

    h.register_hook(fail)
    y = h + second * 3
    with pytest.raises(KeyError):
        y.backward(rng.normal(size=3))
    assert first.grad is None
    assert second.grad is None


def test_a_hook_may_start_a_backward_of_its_own(rng: Rng) -> None:
    """The walk keeps its state to itself."""
    x, other, upstream = leaf(rng.normal(size=3)), leaf(2.0), rng.normal(size=3)
    h = x * 2
    h.register_hook(lambda gradient: (other * 7).backward())
    (h * 3).backward(upstream)
    assert_close(gradient_of(x), 6 * upstream)
    assert_same(gradient_of(other), 7.0)


def test_a_hook_sees_tensors_when_the_gradient_is_recorded() -> None:
    x = leaf(3.0)
    h = x * x
    h.register_hook(lambda gradient: gradient * x)
    (slope,) = grad(h * 1.0, x, create_graph=True)
    assert_same(slope, 18.0)  # x · 2x
    (second,) = grad(slope, x)
    assert_same(second, 12.0)  # d(2x²)/dx


# --------------------------------------------------------------------- gradients of intermediates


def test_the_gradient_of_an_intermediate_is_not_kept_and_reading_it_says_how_to_keep_it() -> None:
    x = leaf(3.0)
    h = x * 2
    h.name = "hidden"
    (h * 5).backward()
    with pytest.warns(UserWarning, match=r"multiply 'hidden'.*not kept.*retain_grad\(\)"):
        assert h.grad is None


def test_retain_grad_keeps_it() -> None:
    x = leaf(3.0)
    h = (x * 2).retain_grad()
    (h * 5).backward()
    assert_same(gradient_of(h), 5.0)


def test_the_warning_points_at_the_line_that_reads() -> None:
    h = leaf(3.0) * 2
    with pytest.warns(UserWarning, match="not kept") as caught:
        _ = h.grad
    assert caught[0].filename == __file__


# ------------------------------------------------------------------------------------------- grad


def test_grad_returns_tensors_and_leaves_grad_alone(rng: Rng) -> None:
    a, b = leaf(rng.normal(size=(2, 3))), leaf(rng.normal(size=(3, 4)))
    upstream = rng.normal(size=(2, 4))
    found = grad(a @ b, [a, b], upstream)
    assert [type(g) for g in found] == [Tensor, Tensor]
    assert_close(found[0], upstream @ b.data.T)
    assert_close(found[1], a.data.T @ upstream)
    assert not found[0].requires_grad
    assert a.grad is None
    assert b.grad is None


def test_grad_reaches_intermediates_and_the_output_itself(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    h = x * 2
    y = h * 3
    to_h, to_y, to_x = grad(y, [h, y, x], upstream)
    assert_close(to_h, 3 * upstream)
    assert_close(to_y, upstream)
    assert_close(to_x, 6 * upstream)


def test_grad_goes_on_past_an_intermediate_that_is_asked_for(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    h = x * 2
    to_h, to_x = grad(h * 3 + x, [h, x], upstream)
    assert_close(to_h, 3 * upstream)
    assert_close(to_x, 7 * upstream)


def test_grad_weighs_several_outputs(rng: Rng) -> None:
    x = leaf(rng.normal(size=3))
    first, second = x * 2, (x * x).sum()
    weights = [rng.normal(size=3), np.array(rng.normal())]
    (found,) = grad([first, second], x, weights)
    assert_close(found, 2 * weights[0] + 2 * x.data * weights[1])


def test_an_output_named_twice_counts_twice() -> None:
    x = leaf(3.0)
    y = x * x
    (found,) = grad([y, y], x)
    assert_same(found, 12.0)


def test_grad_wants_as_many_gradients_as_outputs() -> None:
    x = leaf(3.0)
    with pytest.raises(ValueError, match="2 outputs need as many gradients; 1 were given"):
        grad([x * 2, x * 3], x, [1.0])


def test_an_input_that_does_not_lead_to_the_outputs_is_named() -> None:
    x, stranger = leaf(3.0), leaf([1.0, 2.0], name="stranger")
    with pytest.raises(RuntimeError, match=r"input 1 .*'stranger'.*allow_unused=True"):
        grad(x * 2, [x, stranger])


def test_allow_unused_gives_none_in_its_place() -> None:
    x, stranger = leaf(3.0), leaf(1.0)
    found = grad(x * 2, [stranger, x], allow_unused=True)
    assert found[0] is None
    assert_same(found[1], 2.0)


def test_allow_unused_gives_none_for_an_output_that_is_a_constant_too() -> None:
    x, fresh, used = leaf(3.0), Tensor(1.0), Tensor(2.0)
    _ = used * 2.0
    assert grad(fresh, x, allow_unused=True) == (None,)
    assert grad(used, x, allow_unused=True) == (None,)
    (found,) = grad([used, x * 5.0], x, allow_unused=True)
    assert_same(found, 5.0)


def test_grad_without_a_recorded_output_says_so() -> None:
    with pytest.raises(RuntimeError, match=r"grad\(\) needs a recorded tensor"):
        grad(Tensor(1.0) * 2, leaf(1.0))
    with pytest.raises(TypeError, match="starts from a tensor, not from a float"):
        grad([1.0], leaf(1.0))


def test_grad_lets_go_what_was_kept_unless_the_graph_is_retained(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    y = minigrad.exp(x)
    grad(y, x, upstream, retain_graph=True)
    grad(y, x, upstream)
    with pytest.raises(RuntimeError, match="let go"):
        grad(y, x, upstream)


def test_create_graph_retains_the_graph_unless_told_otherwise(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    y = minigrad.exp(x)
    grad(y, x, upstream, create_graph=True)
    grad(y, x, upstream, create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match="let go"):
        grad(y, x, upstream)


def test_what_grad_returns_is_nobody_elses(rng: Rng) -> None:
    a, b = leaf(rng.normal(size=3)), leaf(rng.normal(size=3))
    upstream = rng.normal(size=3)
    before = upstream.copy()
    to_a, to_b = grad(a + b, [a, b], upstream)
    to_a.data[:] = 99.0
    assert_same(to_b, before)
    assert_same(upstream, before)


def test_a_recorded_gradient_can_be_differentiated_again() -> None:
    x = leaf(2.0)
    (first,) = grad(x**4, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)
    assert [t.item() for t in (first, second, third)] == [32.0, 48.0, 48.0]


def test_a_recorded_gradient_depends_on_its_upstream_too() -> None:
    x, weight = leaf(3.0), leaf(5.0)
    (found,) = grad(x * x, x, weight, create_graph=True)
    found.backward()
    assert_same(gradient_of(weight), 6.0)
    assert_same(gradient_of(x), 10.0)


def test_create_graph_records_even_inside_no_grad() -> None:
    x = leaf(3.0)
    y = x**3
    with minigrad.no_grad():
        (slope,) = grad(y, x, create_graph=True)
    (curvature,) = grad(slope, x)
    assert_same(curvature, 18.0)


def test_a_gradient_through_a_broadcast_is_recorded_too(rng: Rng) -> None:
    x, w = leaf(rng.normal(size=(2, 1))), leaf(rng.normal(size=3))
    (to_x,) = grad(x * x * w, x, rng.normal(size=(2, 3)), create_graph=True)
    assert to_x.shape == (2, 1)
    (again,) = grad(to_x, w, np.array([[1.0], [0.0]]))
    assert again.shape == (3,)


# ------------------------------------------------------------------------------- requires_grad


def test_a_tensor_that_asks_for_a_gradient_later_gets_none_from_what_was_recorded_before() -> None:
    for combine in (minigrad.multiply, minigrad.add, minigrad.matmul):
        x, w = Tensor([[2.0]]), leaf([[3.0]])
        y = combine(w, x)
        x.requires_grad = True
        y.backward()
        assert x.grad is None
        assert w.grad is not None


def test_a_tensor_that_asks_for_a_gradient_later_gets_one_from_then_on() -> None:
    x = Tensor(2.0)
    assert not (x * 3).requires_grad
    x.requires_grad = True
    (x * 5).backward()
    assert_same(gradient_of(x), 5.0)


def test_a_frozen_leaf_is_left_out() -> None:
    x, w = leaf(2.0), leaf(3.0)
    x.requires_grad = False
    (x * w).backward()
    assert x.grad is None
    assert_same(gradient_of(w), 2.0)


def test_a_leaf_that_was_frozen_for_a_while_has_its_gradient_and_its_hooks_still() -> None:
    x = leaf([1.0, 2.0], name="x")
    (x * 2).backward(np.ones(2))
    x.register_hook(lambda gradient: gradient * 10)
    x.requires_grad = False
    x.requires_grad = True
    assert_same(gradient_of(x), [2.0, 2.0])
    (x * 3).backward(np.ones(2))
    assert_same(gradient_of(x), [32.0, 32.0])
    assert x.name == "x"


def test_what_is_done_to_the_gradient_of_a_frozen_leaf_is_not_undone_later() -> None:
    x = leaf([1.0, 2.0])
    (x * 2).backward(np.ones(2))
    x.requires_grad = False
    x.grad = None
    x.requires_grad = True
    assert x.grad is None
    (x * 3).backward(np.ones(2))
    assert_same(gradient_of(x), [3.0, 3.0])


def test_a_leaf_that_was_frozen_between_forward_and_backward_gets_its_gradient() -> None:
    x = leaf([1.0, 2.0])
    y = x * x
    x.requires_grad = False
    frozen = x * 5.0
    x.requires_grad = True
    y.backward(np.ones(2))
    assert_same(gradient_of(x), [2.0, 4.0])
    assert not frozen.requires_grad


def test_only_a_leaf_can_be_told_to_require_a_gradient() -> None:
    with pytest.raises(RuntimeError, match=r"only a leaf.*detach\(\)"):
        (leaf(2.0) * 3).requires_grad = False


# --------------------------------------------------------------------------------------- threads


def test_threads_may_run_backward_over_the_same_leaves() -> None:
    """Every contribution arrives: none is lost between reading a sum and writing it back."""
    shared = leaf(np.zeros(20_000))
    rounds, workers = 60, 4
    barrier = threading.Barrier(workers)
    failures: list[BaseException] = []

    def work(weight: float) -> None:
        try:
            barrier.wait()
            for _ in range(rounds):
                own = leaf(weight)
                (shared * own + shared).backward(np.ones(20_000))
        except BaseException as error:
            failures.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(float(i),)) for i in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not failures
    assert_same(gradient_of(shared), np.full(20_000, rounds * (0 + 1 + 2 + 3 + 4.0)))


def test_a_target_at_which_the_walk_ends_keeps_its_own_record() -> None:
    x = leaf([1.0, 2.0])
    y = minigrad.exp(x)
    grad(y.sum(), y)
    y.backward(np.ones(2))
    assert_close(gradient_of(x), np.exp([1.0, 2.0]))


def test_each_input_gets_a_gradient_tensor_of_its_own() -> None:
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    first, second = grad((a + b).sum(), [a, b], create_graph=True)
    first.data[0] = 5.0
    assert_same(second, [1.0, 1.0])
