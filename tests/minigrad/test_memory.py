"""What a recorded op keeps, and when it goes: by reference counting alone, so the garbage collector
is off in all tests here. A weak reference to an array tells whether anybody still has it."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import PRIMITIVES, Primitive, Tensor, grad
from minigrad.check.registry import cases_of
from tests.helpers import Array, gradient_of, leaf, node_of

pytestmark = pytest.mark.usefixtures("no_collector")
Op = Callable[[Tensor], Tensor]
Rng = np.random.Generator

ROWS = np.array([[0.5, 1.5, 2.5], [3.5, 0.25, 1.25]])
CONSTANT = np.array([[2.0, 3.0, 5.0], [7.0, 11.0, 13.0]])
MASK = np.array([[True, False, True], [False, True, True]])

KEEPS_NOTHING: dict[str, Op] = {
    "add": lambda h: h + CONSTANT,
    "subtract": lambda h: minigrad.subtract(CONSTANT, h),
    "negative": lambda h: -h,
    "multiply by a constant": lambda h: h * CONSTANT,
    "divide by a constant": lambda h: h / CONSTANT,
    "matmul by a constant": lambda h: h @ CONSTANT.T,
    "scale": lambda h: minigrad.scale(h, 0.5),
    "where": lambda h: minigrad.where(MASK, h, 0.0),
    "masked_fill": lambda h: minigrad.masked_fill(h, MASK, 0.0),
    "astype": lambda h: h.astype(np.float32),
    "sum": lambda h: h.sum(axis=0),
    "mean": lambda h: h.mean(),
    "cumsum": lambda h: h.cumsum(axis=1),
    "getitem by numbers": lambda h: h[[0, 1, 0]],
    "getitem by a slice": lambda h: h[:, 1:],
    "take": lambda h: h.take([2, 0], 1),
    "embedding": lambda h: minigrad.embedding(h, [1, 1]),
    "reshape": lambda h: h.reshape(3, 2),
    "transpose": lambda h: h.T,
    "mT": lambda h: h.mT,
    "swapaxes": lambda h: h.swapaxes(0, 1),
    "expand_dims": lambda h: h.expand_dims(1),
    "broadcast_to": lambda h: h.broadcast_to((4, 2, 3)),
    "concatenate": lambda h: minigrad.concatenate([h, h], axis=1),
    "stack": lambda h: minigrad.stack([h, h]),
    "flip": lambda h: minigrad.flip(h, 1),
    "pad": lambda h: minigrad.pad(h, 1),
    "tril": minigrad.tril,
}
KEEPS_ITS_RESULT: dict[str, Op] = {
    "exp": minigrad.exp,
    "sqrt": minigrad.sqrt,
    "tanh": minigrad.tanh,
    "sigmoid": minigrad.sigmoid,
    "relu": minigrad.relu,
    "softmax": minigrad.softmax,
    "log_softmax": minigrad.log_softmax,
}
KEEPS_ITS_INPUT: dict[str, Op] = {
    "log": minigrad.log,
    "log1p": minigrad.log1p,
    "sin": minigrad.sin,
    "cos": minigrad.cos,
    "abs": minigrad.abs,
    "gelu": minigrad.gelu,
    "silu": minigrad.silu,
    "square": lambda h: h * h,
    "power": lambda h: h**3,
    "maximum": lambda h: minigrad.maximum(h, 1.0),
    "prod": minigrad.prod,
    "var": minigrad.var,
    "logsumexp": minigrad.logsumexp,
    "cross_entropy": lambda h: minigrad.cross_entropy(h, np.array([2, 0])),
}


def _place_of(tensor: Tensor) -> weakref.ref[Any]:
    """An eye on a tensor's place in the graph: a hook, which lives as long as the place does."""

    def eye(gradient: Any) -> None:
        """Changes nothing."""

    tensor.register_hook(eye)
    return weakref.ref(eye)


def _kept_by(op: Op) -> tuple[bool, bool]:
    """Whether `op` keeps its input and its result, once nobody else does."""
    h = leaf(ROWS) * 1.0
    y = op(h)
    root = y * 1.0 + 0.0
    given, made = weakref.ref(h._data), weakref.ref(y._data)
    view = y._data.base is not None
    del h, y
    kept = given() is not None, made() is not None
    assert root.requires_grad
    return (kept[0] and not (view and kept[1])), kept[1]


@pytest.mark.parametrize("op", KEEPS_NOTHING.values(), ids=KEEPS_NOTHING)
def test_a_rule_that_needs_no_values_keeps_none(op: Op) -> None:
    assert _kept_by(op) == (False, False)


@pytest.mark.parametrize("op", KEEPS_ITS_RESULT.values(), ids=KEEPS_ITS_RESULT)
def test_a_rule_that_needs_only_the_result_keeps_only_that(op: Op) -> None:
    assert _kept_by(op) == (False, True)


@pytest.mark.parametrize("op", KEEPS_ITS_INPUT.values(), ids=KEEPS_ITS_INPUT)
def test_a_rule_that_needs_only_the_input_keeps_only_that(op: Op) -> None:
    assert _kept_by(op) == (True, False)


def test_of_two_operands_only_what_the_other_ones_gradient_needs_is_kept(rng: Rng) -> None:
    """A product of something recorded with a constant needs the constant, not the recorded."""
    h, constant = leaf(rng.normal(size=(2, 3))) * 1.0, Tensor(rng.normal(size=(3, 4)))
    y = h @ constant
    recorded, given = weakref.ref(h._data), weakref.ref(constant._data)
    del h, constant
    assert recorded() is None
    assert given() is not None
    del y
    assert given() is None


def test_nothing_is_kept_where_nothing_is_recorded(rng: Rng) -> None:
    x = leaf(rng.normal(size=3))
    with minigrad.no_grad():
        h = x * 2.0
        y = minigrad.exp(h)
    given = weakref.ref(h)
    array = weakref.ref(h._data)
    del h
    assert given() is None
    assert array() is None
    assert not y.requires_grad


# --------------------------------------------------------------------------------- when it goes


def _square(rng: Rng) -> tuple[Tensor, Tensor, weakref.ref[Any]]:
    """A leaf, a root over it, and an eye on an array that the record keeps."""
    x = leaf(rng.normal(size=3))
    h = x * 2.0
    y = h * h
    return x, y, weakref.ref(h._data)


def test_what_was_kept_goes_with_backward_though_the_root_stays(rng: Rng) -> None:
    _, y, kept = _square(rng)
    assert kept() is not None
    y.backward(rng.normal(size=3))
    assert kept() is None


def test_what_was_kept_goes_on_the_way_not_at_the_end(rng: Rng) -> None:
    x = leaf(rng.normal(size=3))
    early = x * 2.0
    h = early * early
    late = h * 1.0
    y = late * late
    kept = weakref.ref(late._data)
    alive: list[bool] = []
    early.register_hook(lambda gradient: alive.append(kept() is not None))
    del late
    y.backward(rng.normal(size=3))
    assert alive == [False]


def test_retain_graph_keeps_it_until_the_root_goes(rng: Rng) -> None:
    _, y, kept = _square(rng)
    y.backward(rng.normal(size=3), retain_graph=True)
    assert kept() is not None
    del y
    assert kept() is None


def test_links_shapes_names_and_scopes_live_as_long_as_the_root(rng: Rng) -> None:
    x = leaf(rng.normal(size=(2, 3)), name="x")
    with minigrad.scope("layer"):
        h = minigrad.exp(x)
    h.name = "h"
    y = h.sum(axis=1)
    y.backward(rng.normal(size=2))
    del h
    (inner,) = node_of(y).inputs
    assert (inner.name, inner.shape, inner.scope, str(inner.primitive)) == (
        "h",
        (2, 3),
        ("layer",),
        "exp",
    )
    (outer,) = inner.inputs
    assert (outer.name, outer.shape) == ("x", (2, 3))


def test_a_graph_goes_with_its_root_though_it_was_never_walked(rng: Rng) -> None:
    x, y, kept = _square(rng)
    node = _place_of(y)
    tensor = weakref.ref(y)
    del y
    assert (node(), tensor(), kept()) == (None, None, None)
    assert x.data.shape == (3,)


def test_a_graph_goes_after_backward(rng: Rng) -> None:
    _, y, _ = _square(rng)
    y.backward(rng.normal(size=3))
    node = _place_of(y)
    del y
    assert node() is None


def test_a_graph_goes_after_a_backward_that_failed(rng: Rng) -> None:
    x = leaf(rng.normal(size=3))
    h = x * 2.0
    y = h * h
    kept = weakref.ref(h._data)

    def fail(gradient: Any) -> None:
        raise KeyError("stop")

    h.register_hook(fail)
    with pytest.raises(KeyError):
        y.backward(rng.normal(size=3))
    node = _place_of(y)
    del y, h
    assert node() is None
    assert kept() is None


def test_a_graph_goes_after_an_op_that_failed(rng: Rng) -> None:
    x = leaf(rng.normal(size=(2, 3)))
    h = x * 2.0
    array = weakref.ref(h._data)
    with pytest.raises(ValueError, match="matmul"):
        _ = h @ h
    del h
    assert array() is None


def test_a_recorded_gradient_and_its_graph_go_together(rng: Rng) -> None:
    x, y, kept = _square(rng)
    (slope,) = grad(y.sum(), x, create_graph=True)
    nodes = _place_of(y), _place_of(slope)
    del y, slope
    assert [node() for node in nodes] == [None, None]
    assert kept() is None


def test_a_traced_graph_goes_with_its_root(rng: Rng) -> None:
    x = leaf(rng.normal(size=3))
    with minigrad.trace():
        h = x * 2.0
        y = h * h
    array, node = weakref.ref(h._data), _place_of(h)
    y.backward(rng.normal(size=3))
    del h
    assert array() is not None
    del y
    assert (array(), node()) == (None, None)


@pytest.mark.parametrize("op", PRIMITIVES.values(), ids=PRIMITIVES)
def test_no_primitive_leaves_anything_behind(op: Primitive, rng: Rng) -> None:
    """Neither an unwalked, nor a walked, nor a twice differentiable graph holds on to itself."""
    for case in cases_of(op, rng):
        inner = [leaf(x) * 1.0 for x in case.arrays()]
        arrays = [weakref.ref(h._data) for h in inner]
        for use in ("drop", "backward", "create_graph"):
            out = case(*inner)
            nodes = [_place_of(out)]
            upstream = rng.normal(size=out.shape)
            if use == "backward":
                out.backward(upstream, retain_graph=True)
            elif use == "create_graph":
                found = grad(out, inner, upstream, create_graph=True)
                nodes += [_place_of(g) for g in found if g.requires_grad]
                del found
            del out
            assert [node() for node in nodes] == [None] * len(nodes), use
        del inner
        assert [array() for array in arrays] == [None] * len(arrays)


def test_nothing_is_left_for_the_collector_by_a_training_loop(rng: Rng) -> None:
    w, x = leaf(rng.normal(size=(3, 2))), rng.normal(size=(5, 3))
    gc.collect()
    for _ in range(3):
        loss = minigrad.softmax(x @ w).mean()
        loss.backward()
        with minigrad.no_grad():
            w -= 0.1 * gradient_of(w)
        w.grad = None
    del loss
    assert gc.collect() == 0


def _backward(y: Tensor, x: Tensor, upstream: Array) -> None:
    y.backward(upstream)


@pytest.mark.parametrize("differentiate", [_backward, grad], ids=["backward", "grad"])
def test_a_chain_does_not_pile_up_gradients_on_the_way_back(
    differentiate: Callable[..., Any], rng: Rng
) -> None:
    """Each gradient goes as soon as it has been passed on."""
    seen: list[weakref.ref[Any]] = []
    living: list[int] = []

    def counted(gradient: Any) -> Any:
        replacement = gradient * 1.0
        seen.append(weakref.ref(replacement))
        living.append(sum(ref() is not None for ref in seen))
        return replacement

    x, upstream = leaf(rng.normal(size=4)), rng.normal(size=4)
    y = x
    for _ in range(30):
        y = y * 1.5
        y.register_hook(counted)
    differentiate(y, x, upstream)
    assert len(seen) == 30
    assert max(living) <= 3
