"""Data that a recorded backward still needs cannot be changed silently: whatever is written, by
whatever path and whenever, the gradient is the one of the recorded forward. The garbage collector
is off, so nothing here leans on it."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import PRIMITIVES, Primitive, Tensor, grad
from minigrad.check.registry import Case, cases_of
from minigrad.operand import FUNCTIONS
from tests.helpers import Array, assert_close, assert_same, gradient_of, leaf, traced

pytestmark = pytest.mark.usefixtures("no_collector")
Rng = np.random.Generator
Write = Callable[[], None]

UPSTREAM = np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -1.5]])
START = np.array([[0.5, -1.0, 2.0], [1.5, 0.75, -0.25]])


def test_writing_to_data_changes_the_tensor_and_not_the_recorded_gradient() -> None:
    x = leaf([4.0, 5.0])
    y = x * x
    x.data[0] = 7.0
    y.backward(np.array([1.0, 10.0]))
    assert_same(x, [7.0, 5.0])
    assert_same(gradient_of(x), [8.0, 100.0])


# -------------------------------------------------------------- all ways of writing, early and late


def _by_item(x: Tensor) -> Write:
    return lambda: x.data.__setitem__((0, 0), 9.0)


def _by_update(x: Tensor) -> Write:
    def write() -> None:
        x.data -= 0.1 * UPSTREAM

    return write


def _by_assignment(x: Tensor) -> Write:
    def write() -> None:
        x.data = START + 1.0

    return write


def _in_place(x: Tensor) -> Write:
    def write() -> None:
        nonlocal x
        with minigrad.no_grad():
            x *= 3.0

    return write


def _by_setitem(x: Tensor) -> Write:
    def write() -> None:
        with minigrad.no_grad():
            x[0, 1:] = 9.0

    return write


def _through_the_array(x: Tensor) -> Write:
    array = x.data
    return lambda: array.fill(9.0)


def _through_numpy(x: Tensor) -> Write:
    array = x.numpy()
    return lambda: np.add(array, 1.0, out=array).sum().item()


def _through_a_view(x: Tensor) -> Write:
    row = x.data[1]
    return lambda: row.__setitem__(slice(None), 9.0)


def _through_a_view_of_a_view(x: Tensor) -> Write:
    columns = x.data.T[1:]
    return lambda: columns[:, :1].fill(9.0)


def _through_a_reshaped_view(x: Tensor) -> Write:
    flat = x.data.reshape(-1)
    return lambda: flat.__setitem__(2, 9.0)


def _through_an_iterator(x: Tensor) -> Write:
    entries = x.data.flat
    return lambda: entries.__setitem__(3, 9.0)


def _through_a_buffer(x: Tensor) -> Write:
    buffer: Any = memoryview(x.data)  # type: ignore[arg-type]
    return lambda: buffer.__setitem__((0, 0), 9.0)


def _through_dlpack(x: Tensor) -> Write:
    array = np.from_dlpack(x)
    if not array.flags.writeable:  # NumPy below 2.2 hands it out read-only
        return lambda: x.data.fill(9.0)
    return lambda: array.fill(9.0)


WRITERS = [
    _by_item,
    _by_update,
    _by_assignment,
    _in_place,
    _by_setitem,
    _through_the_array,
    _through_numpy,
    _through_a_view,
    _through_a_view_of_a_view,
    _through_a_reshaped_view,
    _through_an_iterator,
    _through_a_buffer,
    _through_dlpack,
]
NEEDING: dict[str, Callable[[Tensor], Tensor]] = {
    "x * x": lambda x: x * x,
    "sin": minigrad.sin,
    "softmax": lambda x: minigrad.softmax(x * 1.0),
    "x.T, then x.T @ x": lambda x: (x.T @ x)[:2],
    "max": lambda x: x.max(axis=1, keepdims=True) * x,
}


@pytest.mark.parametrize("function", NEEDING.values(), ids=NEEDING)
@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__.strip("_"))
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_write_never_reaches_what_was_recorded(
    writer: Callable[[Tensor], Write], when: str, function: Callable[[Tensor], Tensor]
) -> None:
    """The way of writing is obtained before or after the op, and used after it."""
    untouched = leaf(START)
    function(untouched).backward(UPSTREAM)

    x = leaf(START)
    write = writer(x) if when == "before" else None
    y = function(x)
    write = write or writer(x)
    write()
    assert not np.array_equal(x.data, START)
    y.backward(UPSTREAM)
    assert_same(gradient_of(x), gradient_of(untouched))


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__.strip("_"))
def test_a_result_that_was_written_to_keeps_its_gradient(
    writer: Callable[[Tensor], Write],
) -> None:
    """`exp` keeps its own result, so that one is protected as well."""
    x = leaf(START)
    y = minigrad.exp(x)
    writer(y)()
    assert not np.array_equal(y.data, np.exp(START))
    y.backward(UPSTREAM)
    assert_same(gradient_of(x), UPSTREAM * np.exp(START))


def test_a_write_between_two_ops_separates_their_gradients(rng: Rng) -> None:
    x, first, second = leaf([2.0, 3.0]), rng.normal(size=2), rng.normal(size=2)
    y = x * x
    x.data[:] = [5.0, 7.0]
    z = x * x
    x.data[:] = 0.0
    z.backward(second)
    assert_close(gradient_of(x), 2 * second * np.array([5.0, 7.0]))
    y.backward(first)
    assert_close(gradient_of(x), 2 * second * [5.0, 7.0] + 2 * first * [2.0, 3.0])


def test_one_graph_that_is_gone_does_not_unprotect_another() -> None:
    x = leaf([2.0, 3.0])
    kept = x * x
    gone = x * x
    gone.backward(np.ones(2))
    del gone
    x.grad = None
    x.data[:] = 9.0
    kept.backward(np.array([1.0, 10.0]))
    assert_same(gradient_of(x), [4.0, 60.0])


def test_an_array_that_two_tensors_lent_stays_with_both() -> None:
    """What was handed out before the record is copied by the record, every time."""
    x = leaf([2.0, 3.0])
    view = x.data[:1]
    y = x * x
    view[0] = 5.0
    z = x * x
    view[0] = 7.0
    (y + z).backward(np.ones(2))
    assert_same(x, [7.0, 3.0])
    assert_same(gradient_of(x), [2 * 2.0 + 2 * 5.0, 4 * 3.0])


def test_a_view_taken_while_a_record_lives_is_still_of_the_tensor_afterwards() -> None:
    x = leaf([2.0, 3.0])
    y = x * x
    view = x.data
    y.backward(np.ones(2))
    view[0] = 5.0
    assert_same(x, [5.0, 3.0])
    assert view is x.data


def test_an_op_that_failed_in_between_changes_nothing_about_it() -> None:
    x = leaf([[2.0, 3.0]])
    y = x * x
    with pytest.raises(ValueError, match="matmul") as caught:
        _ = x @ x
    x.data[0, 0] = 9.0
    y.backward(np.ones((1, 2)))
    assert_same(gradient_of(x), [[4.0, 6.0]])
    assert caught.value.__traceback__ is not None  # its frames were alive all the time


def test_a_parameter_is_updated_under_a_live_graph(rng: Rng) -> None:
    """The classical mistake: `loss` is still alive when the parameters move."""
    w, x = leaf(rng.normal(size=3)), rng.normal(size=3)
    start = w.data.copy()
    losses = []
    for _ in range(3):
        losses.append(w * w * x)
        w.data -= 0.5
    for loss in losses:
        loss.backward(np.ones(3))
    points = [start, start - 0.5, start - 1.0]
    assert_close(gradient_of(w), sum(2 * p * x for p in points), rtol=1e-9)


# ------------------------------------------------------------- tensors that see the same memory


def test_detach_shares_values_but_not_writes() -> None:
    x = leaf([2.0, 3.0])
    y = x * x
    twin = x.detach()
    assert not twin.requires_grad
    twin.data[0] = 7.0
    x.data[1] = 9.0
    assert_same(twin, [7.0, 3.0])
    assert_same(x, [2.0, 9.0])
    y.backward(np.ones(2))
    assert_same(gradient_of(x), [4.0, 6.0])


def test_detach_of_what_was_handed_out_does_not_follow_it() -> None:
    x = leaf([2.0, 3.0])
    handed_out = x.data
    twin = x.detach()
    handed_out[0] = 7.0
    assert_same(twin, [2.0, 3.0])


def test_a_record_over_a_detached_tensor_is_protected_from_both_sides() -> None:
    x, w = leaf([2.0, 3.0]), leaf([1.0, 1.0])
    y = w * x.detach()
    x.data[0] = 7.0
    y.backward(np.ones(2))
    assert_same(gradient_of(w), [2.0, 3.0])


VIEWS: dict[str, Callable[[Tensor], Tensor]] = {
    "reshape": lambda x: x.reshape(3, 2),
    "flatten": lambda x: x.flatten(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "transpose": lambda x: x.transpose(1, 0),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "squeeze": lambda x: x.reshape(2, 1, 3).squeeze(1),
    "expand_dims": lambda x: x.expand_dims(0),
    "broadcast_to": lambda x: x.broadcast_to((4, 2, 3)),
    "flip": lambda x: minigrad.flip(x, 0),
    "a row": lambda x: x[1],
    "a slice": lambda x: x[:, 1:],
    "everything": lambda x: x[...],
    "split": lambda x: x.split(2)[1],
    "einsum": lambda x: minigrad.einsum("ij->ji", x),
    "the diagonal by einsum": lambda x: minigrad.einsum("ii->i", x[:, :2]),
    "detach": lambda x: x.detach(),
    "a view of a view": lambda x: x.T[1:].reshape(4)[::-1],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("lent", [False, True], ids=["", "already handed out"])
def test_a_view_and_its_base_do_not_write_through_to_each_other(
    view: Callable[[Tensor], Tensor], lent: bool
) -> None:
    x = leaf(START)
    handed_out = x.data if lent else None
    v = view(x)
    values = v.numpy().copy()
    if handed_out is not None:
        handed_out[...] = 50.0
    x.data[...] = 60.0
    assert_same(v, values)
    v.data[...] = 70.0
    assert_same(x, np.full((2, 3), 60.0))
    assert_same(v, np.full(v.shape, 70.0))


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_can_be_written_to_after_its_base_is_gone(
    view: Callable[[Tensor], Tensor],
) -> None:
    """One entry at a time, also where a broadcast has several in one place of memory."""
    v = view(leaf(START))
    expected = v.numpy().copy()
    expected.flat[0] = 70.0
    v.data.flat[0] = 70.0
    assert_same(v, expected)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_record_over_a_view_is_protected_from_writes_to_the_base_and_to_the_view(
    view: Callable[[Tensor], Tensor], rng: Rng
) -> None:
    x = leaf(START)
    v = view(x)
    w = leaf(rng.normal(size=v.shape))
    values = v.numpy().copy()
    y = v * w
    x.data[...] = 60.0
    v.data[...] = 70.0
    upstream = rng.normal(size=v.shape)
    y.backward(upstream)
    assert_same(gradient_of(w), upstream * values)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_record_over_the_base_is_protected_from_writes_to_a_view(
    view: Callable[[Tensor], Tensor],
) -> None:
    x = leaf(START)
    v = view(x)
    y = x * x
    v.data[...] = 70.0
    del v
    x.data[...] = 60.0
    y.backward(UPSTREAM)
    assert_same(gradient_of(x), 2 * START * UPSTREAM)


def test_an_op_that_hands_its_input_back_does_not_tie_the_two_together() -> None:
    """A forward may return its input as it is; the tensors are still two."""

    @minigrad.primitive(lambda g: g)
    def identity(x: Any) -> Any:
        return x

    x = leaf([2.0, 3.0])
    y = identity(x)
    z = y * y
    y.data[0] = 7.0
    x.data[1] = 9.0
    assert_same(x, [2.0, 9.0])
    assert_same(y, [7.0, 3.0])
    z.backward(np.ones(2))
    assert_same(gradient_of(x), [4.0, 6.0])


def test_a_window_onto_an_input_does_not_tie_the_two_together_however_it_was_made() -> None:
    """Strided windows, as a convolution is written with, do not name their base as others do."""

    def windows(x: Any) -> Any:
        return np.lib.stride_tricks.as_strided(x, (2, 2), (x.itemsize, x.itemsize))

    def sliding(x: Any) -> Any:
        return np.lib.stride_tricks.sliding_window_view(x, 2)

    for forward in (windows, sliding):
        x, w = leaf([2.0, 3.0, 4.0]), leaf(np.ones((2, 2)))
        y = minigrad.primitive(lambda g: np.append(g[:, 0], 0.0) + np.append(0.0, g[:, 1]))(
            forward
        )(x)
        z = w * y
        x.data[:] = 9.0
        assert_same(y, [[2.0, 3.0], [3.0, 4.0]])
        y.data[:] = 7.0
        assert_same(x, [9.0, 9.0, 9.0])
        z.backward(np.ones((2, 2)))
        assert_same(gradient_of(w), [[2.0, 3.0], [3.0, 4.0]])
        assert_same(gradient_of(x), [1.0, 2.0, 1.0])


def test_an_op_that_hands_a_raw_array_back_does_not_adopt_it() -> None:
    @minigrad.primitive(lambda g: g * 0.0, lambda g: g)
    def second(a: Any, b: Any) -> Any:
        return b

    array = np.array([2.0, 3.0])
    y = second(leaf([0.0, 0.0]), array)
    array[0] = 7.0
    assert_same(y, [2.0, 3.0])
    y.data[1] = 9.0
    assert_same(array, [7.0, 3.0])


# ------------------------------------------------------------------------ what was handed to an op


def test_a_raw_array_may_be_changed_after_the_op(rng: Rng) -> None:
    x, array, upstream = leaf([2.0, 3.0]), np.array([5.0, 7.0]), rng.normal(size=2)
    y = x * array
    array[:] = 0.0
    y.backward(upstream)
    assert_close(gradient_of(x), upstream * [5.0, 7.0])


@pytest.mark.parametrize("of", [list, np.array], ids=["list", "array"])
def test_an_index_may_be_changed_after_the_op(of: Callable[[Any], Any]) -> None:
    ops: list[Callable[[Tensor, Any], Tensor]] = [
        lambda x, index: x[index],
        lambda x, index: x[(index,)],
        lambda x, index: x.take(index, 0),
        minigrad.embedding,
    ]
    for op in ops:
        x, index = leaf([[1.0], [2.0], [3.0]]), of([0, 2, 0])
        y = op(x, index)
        index[:] = of([1, 1, 1])
        y.backward(np.array([[1.0], [10.0], [100.0]]))
        assert_same(gradient_of(x), [[101.0], [0.0], [10.0]])


def test_a_boolean_index_may_be_changed_after_the_op() -> None:
    x, chosen = leaf([1.0, 2.0, 3.0]), np.array([True, False, True])
    y = x[chosen]
    chosen[:] = [False, True, True]
    y.backward(np.array([1.0, 10.0]))
    assert_same(gradient_of(x), [1.0, 0.0, 10.0])


@pytest.mark.parametrize("of", [list, np.array], ids=["list", "array"])
def test_a_condition_or_a_mask_may_be_changed_after_the_op(of: Callable[[Any], Any]) -> None:
    ops: list[Callable[[Tensor, Any], Tensor]] = [
        lambda x, mask: minigrad.where(mask, x, 0.0),
        lambda x, mask: minigrad.where([not m for m in mask], 0.0, x),
    ]
    for op in ops:
        x, mask = leaf([1.0, 2.0, 3.0]), of([True, False, True])
        y = op(x, mask)
        mask[:] = of([False, True, False])
        y.backward(np.array([1.0, 10.0, 100.0]))
        assert_same(gradient_of(x), [1.0, 0.0, 100.0])


def test_targets_may_be_changed_after_the_op(rng: Rng) -> None:
    logits, targets = rng.normal(size=(2, 3)), np.array([2, 0])
    x = leaf(logits)
    loss = minigrad.cross_entropy(x, targets)
    targets[:] = 1
    loss.backward()
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert_close(gradient_of(x), (p - np.array([[0, 0, 1], [1, 0, 0]])) / 2)


def _arguments(case: Case, as_lists: bool) -> tuple[Any, ...]:
    """The arguments of a call, leaves where there is a gradient, the rest the caller's own."""
    given = [copy.deepcopy(a) for a in case.args]
    for i, value in enumerate(given):
        if i in case.places:
            given[i] = leaf(value)
        elif as_lists and isinstance(value, np.ndarray) and value.ndim:
            given[i] = value.tolist()
    return tuple(given)


def _spoil(value: Any) -> None:
    """Changes whatever can be changed, deep inside of tuples, lists and dicts."""
    if isinstance(value, Tensor):
        value.data[...] = 3.25
    elif isinstance(value, np.ndarray):
        value[...] = ~value if value.dtype == bool else np.zeros_like(value)
    elif isinstance(value, (tuple, list)):
        for item in value:
            _spoil(item)
        if isinstance(value, list):
            value[:] = [value[0] for _ in value]
    elif isinstance(value, dict):
        for item in value.values():
            _spoil(item)


@pytest.mark.parametrize("op", PRIMITIVES.values(), ids=PRIMITIVES)
@pytest.mark.parametrize("as_lists", [False, True], ids=["arrays", "lists"])
def test_whatever_was_handed_to_a_primitive_may_be_changed_afterwards(
    op: Primitive, as_lists: bool, rng: Rng
) -> None:
    for case in cases_of(op, rng):
        call = case.call if op.name == "einsum" else FUNCTIONS[op.name]
        upstream = rng.normal(size=np.shape(case(*case.arrays())))
        found = []
        for spoiled in (False, True):
            given, options = _arguments(case, as_lists), copy.deepcopy(case.options)
            out = call(*given, **options)
            values = out.numpy().copy()
            if spoiled:
                _spoil((given, options))
                assert_same(out, values)
                out.data[...] = 7.5
            out.backward(upstream)
            found.append([gradient_of(given[i]) for i in case.places])
        for plain, after in zip(*found, strict=True):
            assert_same(after, plain)


def test_a_list_of_widths_may_be_changed_after_the_op() -> None:
    x, widths = leaf([1.0, 2.0]), [1, 2]
    y = minigrad.pad(x, widths)
    widths[:] = [0, 3]
    y.backward(np.arange(5.0))
    assert_same(gradient_of(x), [1.0, 2.0])


def test_widths_inside_a_tuple_may_be_changed_after_the_op() -> None:
    for pair in (lambda a, b: [a, b], lambda a, b: np.array([a, b])):
        x, nested = leaf([[1.0, 2.0]]), (pair(1, 0), pair(2, 0))
        y = minigrad.pad(x, nested)
        nested[0][0] = nested[1][0] = 0
        y.backward(np.arange(8.0).reshape(2, 4))
        assert_same(gradient_of(x), [[6.0, 7.0]])


def test_a_list_of_axes_may_be_changed_after_the_op() -> None:
    axes = [2, 0, 1]
    x = leaf(np.zeros((2, 3, 4)))
    y = minigrad.transpose(x, axes)
    axes[:] = [0, 1, 2]
    upstream = np.arange(24.0).reshape(4, 2, 3)
    y.backward(upstream)
    assert_same(gradient_of(x), upstream.transpose(1, 2, 0))


def test_a_factor_in_an_array_may_be_changed_after_the_op() -> None:
    x, factor = leaf([1.0, 2.0]), np.array(3.0)
    y = minigrad.scale(x, factor)
    factor[...] = 7.0
    y.backward(np.array([1.0, 10.0]))
    assert_same(gradient_of(x), [3.0, 30.0])


def test_the_upstream_may_be_changed_by_the_caller_afterwards(rng: Rng) -> None:
    x, upstream = leaf([1.0, 2.0]), rng.normal(size=2)
    before = upstream.copy()
    (x + 1.0).backward(upstream)
    upstream[:] = 0.0
    assert_same(gradient_of(x), before)


def test_an_initial_array_may_be_changed_after_the_tensor_was_made() -> None:
    for data in (np.array([1.0, 2.0]), [1.0, 2.0], Tensor([1.0, 2.0])):
        x = leaf(data)
        y = x * x
        (data.data if isinstance(data, Tensor) else data)[0] = 9.0
        assert_same(x, [1.0, 2.0])
        y.backward(np.ones(2))
        assert_same(gradient_of(x), [2.0, 4.0])


# --------------------------------------------------------------------------- recorded gradients


def test_a_recorded_gradient_is_protected_after_the_graph_it_came_from_is_gone() -> None:
    x = leaf([0.5, 2.0])
    y = minigrad.sin(x)
    (slope,) = grad(y, x, np.ones(2), create_graph=True)
    del y
    x.data[:] = 100.0
    slope.backward(np.array([1.0, 10.0]))
    assert_close(gradient_of(x), -np.sin([0.5, 2.0]) * [1.0, 10.0])


@pytest.mark.parametrize("function", [minigrad.exp, minigrad.tanh, minigrad.softmax])
def test_a_recorded_gradient_that_needs_a_result_is_protected_from_writes_to_it(
    function: Callable[[Any], Tensor], rng: Rng
) -> None:
    upstream, second = rng.normal(size=3), rng.normal(size=3)
    found: list[Tensor] = []
    for spoiled in (False, True):
        x = leaf([0.5, -1.0, 2.0])
        y = function(x)
        (slope,) = grad(y, x, upstream, create_graph=True)
        if spoiled:
            y.data[:] = 100.0
            x.data[:] = 100.0
            del y
        found += grad(slope, x, second)
    assert_same(found[1], found[0])
    assert np.abs(found[0].numpy()).min() > 1e-3


# ------------------------------------------------------------------------------------ and no more


def test_after_backward_an_update_writes_to_the_same_array() -> None:
    w = leaf([1.0, 2.0])
    array = w.data
    (w * w).backward(np.ones(2))
    w.data -= 0.5 * gradient_of(w)
    assert w.data is array
    assert_same(array, [0.0, 0.0])


def test_under_no_grad_an_update_writes_to_the_same_array() -> None:
    w = leaf([1.0, 2.0])
    array = w.data
    with minigrad.no_grad():
        _ = w * w
        w -= 0.5
        w *= 2.0
    assert w.data is array
    assert_same(array, [1.0, 3.0])


def test_a_record_that_needs_no_values_costs_no_copy() -> None:
    w = leaf([1.0, 2.0])
    array = w.data
    y = w + 1.0
    w.data[0] = 5.0
    assert w.data is array
    assert_same(y, [2.0, 3.0])


def test_a_record_copies_nothing_that_nobody_else_has() -> None:
    """Reading `.data` and letting go of it again leaves the record with the array itself."""
    w = leaf(np.ones(4))
    address = w.data.ctypes.data
    y = minigrad.sin(w)
    del y
    assert w.data.ctypes.data == address
    y = minigrad.sin(w)
    w.data[0] = 2.0  # the record keeps the old array, and the tensor gets a new one
    assert w.data.ctypes.data != address
    assert_same(y, np.sin(np.ones(4)))


def test_what_numpy_reads_of_a_tensor_cannot_be_written_to() -> None:
    x = leaf([2.0, 3.0])
    y = x * x
    array: Array = np.asarray(x)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 9.0
    y.backward(np.ones(2))
    assert_same(gradient_of(x), [4.0, 6.0])


def test_traced_values_are_those_of_the_forward() -> None:
    x = leaf([2.0, 3.0])
    with minigrad.trace():
        y = minigrad.negative(x)  # needs no values, but under trace() it keeps them
    x.data[0] = 9.0
    y.data[1] = 9.0
    given, made = traced(y)
    assert_same(given, [2.0, 3.0])
    assert_same(made, [-2.0, -3.0])
