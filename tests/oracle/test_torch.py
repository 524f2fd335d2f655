"""Every primitive that torch has too gives torch's values, gradients and second derivatives."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import minigrad
from attention import scaled_dot_product_attention
from minigrad import PRIMITIVES, Primitive, Tensor
from tests.oracle.calls import calls_of
from tests.properties.support import assert_near

pytestmark = pytest.mark.torch

torch: Any = None  # imported for these tests only: it takes longer than all others together

Array = np.ndarray[Any, np.dtype[Any]]
Function = Callable[..., Any]


@pytest.fixture(autouse=True, scope="module")
def _torch() -> None:
    global torch
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install torch==2.13.0")


# ----------------------------------------------------------------------- what torch calls the same


def reduced(name: str, *order: Any) -> Function:
    """A reduction of torch, whose axes are numbers: None and () mean something else there."""

    def compute(x: Any, axis: Any, keepdims: bool, ord: None = None, **options: Any) -> Any:
        options = {"correction": options["ddof"]} if options else {}
        if axis == ():
            x, axis, keepdims = x.unsqueeze(-1), -1, False
        axis = tuple(range(x.ndim)) if axis is None else axis
        function = torch.linalg.vector_norm if name == "norm" else getattr(torch, name)
        return function(x, *order, axis, keepdim=keepdims, **options)

    return compute


def product(x: Any, axis: Any, keepdims: bool) -> Any:
    axes = range(x.ndim) if axis is None else np.atleast_1d(np.array(axis, int)) % x.ndim
    for a in sorted(axes)[::-1]:
        x = x.prod(int(a), keepdim=keepdims)
    return x


def running_sum(x: Any, axis: Any) -> Any:
    return torch.cumsum(x.reshape(-1) if axis is None else x, 0 if axis is None else axis)


def gaussian_error_unit(x: Any) -> Any:
    return torch.nn.functional.gelu(x, approximate="tanh")


def loss(logits: Any, targets: Any, ignore_index: int, reduction: str) -> Any:
    rows = logits.reshape(-1, logits.shape[-1])
    found = torch.nn.functional.cross_entropy(
        rows, targets.reshape(-1), ignore_index=ignore_index, reduction=reduction
    )
    return found.reshape(targets.shape) if reduction == "none" else found


def as_index(index: Any) -> Any:
    """An index with torch's arrays in the place of NumPy's."""
    if isinstance(index, tuple):
        return tuple([as_index(part) for part in index])
    return torch.tensor(index) if isinstance(index, (list, np.ndarray)) else index


def indexed(x: Any, index: Any) -> Any:
    """torch has no negative steps: an axis that is taken backwards is reversed first."""
    parts = index if isinstance(index, tuple) else (index,)
    backwards = [isinstance(part, slice) and part == slice(None, None, -1) for part in parts]
    axes = [i for i, reverse in enumerate(backwards) if reverse]
    before = parts[: max(axes, default=0)]
    assert all(part is not None for part in before)  # so that positions are axes
    kept = [slice(None) if r else p for p, r in zip(parts, backwards, strict=True)]
    return torch.flip(x, axes)[as_index(tuple(kept))]


def added_at(x: Any, shape: Any, index: Any) -> Any:
    places = as_index(index if isinstance(index, tuple) else (index,))
    return torch.zeros(shape, dtype=x.dtype).index_put(
        tuple([torch.as_tensor(place) for place in places]), x, accumulate=True
    )


def taken(x: Any, indices: Any, axis: Any) -> Any:
    found = torch.as_tensor(np.asarray(indices))
    if axis is None:
        return x.reshape(-1)[found % x.numel()]
    axis %= x.ndim
    rows = torch.index_select(x, axis, found.reshape(-1) % x.shape[axis])
    return rows.reshape(*x.shape[:axis], *found.shape, *x.shape[axis + 1 :])


def padded(x: Any, pad_width: Any, mode: str, constant_values: float) -> Any:
    widths = np.broadcast_to(pad_width, (x.ndim, 2))[::-1].ravel().tolist()
    return torch.nn.functional.pad(x, widths, mode, constant_values)


def permuted(x: Any, axes: Any) -> Any:
    return x.permute(tuple(range(x.ndim))[::-1] if axes is None else axes)


def joined(*arrays: Any, axis: Any) -> Any:
    if axis is None:
        return torch.concatenate([x.reshape(-1) for x in arrays])
    return torch.concatenate(arrays, axis)


def expanded(x: Any, axis: Any) -> Any:
    axes = axis if isinstance(axis, tuple) else (axis,)
    for a in sorted([a % (x.ndim + len(axes)) for a in axes]):
        x = x.unsqueeze(a)
    return x


TWINS: dict[str, Function] = {
    "add": lambda a, b: torch.add(a, b),
    "subtract": lambda a, b: torch.subtract(a, b),
    "multiply": lambda a, b: torch.multiply(a, b),
    "divide": lambda a, b: torch.divide(a, b),
    "negative": lambda x: torch.negative(x),
    "power": lambda a, b: torch.pow(a, b),
    "scale": lambda x, factor: x * factor,
    "abs": lambda x: torch.abs(x),
    "exp": lambda x: torch.exp(x),
    "log": lambda x: torch.log(x),
    "log1p": lambda x: torch.log1p(x),
    "sqrt": lambda x: torch.sqrt(x),
    "sin": lambda x: torch.sin(x),
    "cos": lambda x: torch.cos(x),
    "tanh": lambda x: torch.tanh(x),
    "sigmoid": lambda x: torch.sigmoid(x),
    "relu": lambda x: torch.relu(x),
    "gelu": gaussian_error_unit,
    "silu": lambda x: torch.nn.functional.silu(x),
    "maximum": lambda a, b: torch.maximum(a, b),
    "minimum": lambda a, b: torch.minimum(a, b),
    "clip": lambda x, min, max: torch.clip(x, min, max),
    "where": lambda condition, x, y: torch.where(condition, x, y),
    "masked_fill": lambda x, mask, value: x.masked_fill(mask, value),
    "astype": lambda x, dtype: x.to({np.float64: torch.float64, np.float32: torch.float32}[dtype]),
    "getitem": indexed,
    "scatter_add": added_at,
    "take": taken,
    "embedding": lambda weight, indices: torch.nn.functional.embedding(
        torch.as_tensor(np.asarray(indices)), weight
    ),
    "matmul": lambda a, b: torch.matmul(a, b),
    "matrix_transpose": lambda x: x.mT,
    "einsum": lambda *operands, subscripts: torch.einsum(subscripts, *operands),
    "sum": reduced("sum"),
    "mean": reduced("mean"),
    "prod": product,
    "var": reduced("var"),
    "std": reduced("std"),
    "max": reduced("amax"),
    "min": reduced("amin"),
    "norm": reduced("norm", 2),
    "logsumexp": reduced("logsumexp"),
    "cumsum": running_sum,
    "softmax": lambda x, axis: torch.softmax(x, axis),
    "log_softmax": lambda x, axis: torch.log_softmax(x, axis),
    "cross_entropy": loss,
    "reshape": lambda x, shape: x.reshape(shape),
    "transpose": permuted,
    "swapaxes": lambda x, axis1, axis2: torch.swapaxes(x, axis1, axis2),
    "broadcast_to": lambda x, shape: torch.broadcast_to(x, shape),
    "squeeze": lambda x, axis: torch.squeeze(x) if axis is None else torch.squeeze(x, axis),
    "expand_dims": expanded,
    "concatenate": joined,
    "stack": lambda *arrays, axis: torch.stack(arrays, axis),
    "flip": lambda x, axis: torch.flip(
        x, list(range(x.ndim)) if axis is None else np.atleast_1d(axis).tolist()
    ),
    "pad": padded,
    "tril": lambda x, k: torch.tril(x, k),
}
TORCH_HAS_NOT = {
    "divide_or_zero": "the subgradient of a norm at 0",
    "spread": "the gradient of a reduction",
}


# --------------------------------------------------------------------------------- the comparison


class Outcome(NamedTuple):
    """What one library made of a call; second derivatives are those along random directions."""

    value: Array
    first: list[Array]
    second: list[Array]


def differentiable(op: Primitive, position: int, x: Any) -> bool:
    rule = op.rules[position]
    return rule is not None and isinstance(x, np.ndarray) and x.dtype.kind == "f"


def ours(op: Primitive, inputs: list[Any], options: Any, rng: np.random.Generator) -> Outcome:
    values = [
        Tensor(x, requires_grad=True) if differentiable(op, i, x) else x
        for i, x in enumerate(inputs)
    ]
    leaves = [x for x in values if isinstance(x, Tensor)]
    out = op.apply(values, options)
    upstream = Tensor(rng.standard_normal(out.shape), requires_grad=True, dtype=out.dtype)
    first = minigrad.grad(out, leaves, upstream, create_graph=True)
    along = [rng.standard_normal(x.shape).astype(x.dtype) for x in leaves]
    total = sum(((g * v).sum() for g, v in zip(first, along, strict=True)), start=Tensor(0.0))
    second = minigrad.grad(total, [*leaves, upstream], allow_unused=True)
    return Outcome(
        np.array(out),
        [np.array(g) for g in first],
        [
            np.zeros(x.shape) if g is None else np.array(g)
            for x, g in zip([*leaves, upstream], second, strict=True)
        ],
    )


def torchs(op: Primitive, inputs: list[Any], options: Any, rng: np.random.Generator) -> Outcome:
    values = [
        torch.tensor(x, requires_grad=differentiable(op, i, x)) if isinstance(x, np.ndarray) else x
        for i, x in enumerate(inputs)
    ]
    leaves = [x for i, x in enumerate(values) if differentiable(op, i, inputs[i])]
    out = TWINS[op.name](*values, **options)
    upstream = torch.tensor(rng.standard_normal(tuple(out.shape)), dtype=out.dtype)
    upstream.requires_grad_()
    first = torch.autograd.grad(out, leaves, upstream, create_graph=True)
    along = [torch.tensor(rng.standard_normal(tuple(x.shape)), dtype=x.dtype) for x in leaves]
    total = sum((g * v).sum() for g, v in zip(first, along, strict=True))
    second = torch.autograd.grad(total, [*leaves, upstream], allow_unused=True)
    return Outcome(
        out.detach().numpy(),
        [g.detach().numpy() for g in first],
        [
            np.zeros(tuple(x.shape)) if g is None else g.numpy(force=True)
            for x, g in zip([*leaves, upstream], second, strict=True)
        ],
    )


def test_every_primitive_is_compared_or_named_as_one_that_torch_has_not() -> None:
    assert set(PRIMITIVES) == set(TWINS) | set(TORCH_HAS_NOT)
    assert not set(TWINS) & set(TORCH_HAS_NOT)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", sorted(TWINS))
def test_values_and_derivatives_of_both_orders_are_torchs(name: str, dtype: Any) -> None:
    op = PRIMITIVES[name]
    tolerance = 64 * float(np.finfo(dtype).eps)
    for call in calls_of(op, seed=5):
        inputs, options = call.narrowed(dtype)
        found = ours(op, inputs, options, np.random.default_rng(9))
        expected = torchs(op, inputs, options, np.random.default_rng(9))
        assert found.value.dtype == expected.value.dtype
        assert_near(found.value, expected.value, tolerance)
        for gradient, theirs in zip(found.first, expected.first, strict=True):
            assert gradient.dtype == theirs.dtype
            assert_near(gradient, theirs, tolerance)
        for gradient, theirs in zip(found.second, expected.second, strict=True):
            assert_near(gradient, theirs, 4 * tolerance)


# --------------------------------------------------------------------------------------- attention


class Heads(NamedTuple):
    """Shapes of query, key and value, and the options of the call."""

    query: tuple[int, ...]
    key: tuple[int, ...]
    value: tuple[int, ...]
    options: Mapping[str, Any] = MappingProxyType({})
    mask: str = ""


HEADS = {
    "one head": Heads((3, 4), (5, 4), (5, 2)),
    "batches of heads": Heads((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7)),
    "causal": Heads((2, 5, 3), (2, 5, 3), (2, 5, 4), {"is_causal": True}),
    "causal, more keys than queries": Heads((2, 3, 4), (2, 5, 4), (2, 5, 6), {"is_causal": True}),
    "causal, more queries than keys": Heads((2, 5, 4), (2, 3, 4), (2, 3, 6), {"is_causal": True}),
    "without the scale": Heads((2, 3, 16), (2, 5, 16), (2, 5, 4), {"scale": 1.0}),
    "a boolean mask": Heads((2, 3, 4), (2, 5, 4), (2, 5, 6), mask="boolean"),
    "a boolean mask for all heads": Heads((2, 7, 3, 4), (2, 7, 5, 4), (2, 7, 5, 6), mask="shared"),
    "an additive mask": Heads((2, 3, 4), (2, 5, 4), (2, 5, 6), mask="additive"),
    "a query that may attend to nothing": Heads((2, 3, 4), (2, 5, 4), (2, 5, 6), mask="nothing"),
}


def mask_of(case: Heads, rng: np.random.Generator) -> Any:
    shape = (*case.query[:-1], case.key[-2])
    drawn = rng.random(shape[-2:] if case.mask == "shared" else shape) < 0.6
    drawn[..., 0] = True
    if case.mask == "nothing":
        drawn[..., 1, :] = False
    additive = rng.standard_normal(shape)
    return {"": None, "additive": additive}.get(case.mask, drawn)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", HEADS.values(), ids=HEADS.keys())
def test_attention_and_its_gradients_are_torchs(case: Heads, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal(shape).astype(dtype) for shape in case[:3]]
    mask = mask_of(case, rng)
    mask = mask.astype(dtype) if case.mask == "additive" else mask
    upstream = rng.standard_normal((*case.query[:-1], case.value[-1])).astype(dtype)

    tensors = [Tensor(x, requires_grad=True) for x in arrays]
    query, key, value = tensors
    output, weights = scaled_dot_product_attention(query, key, value, mask, **case.options)
    output.backward(upstream)

    theirs = [torch.tensor(x, requires_grad=True) for x in arrays]
    expected = torch.nn.functional.scaled_dot_product_attention(
        *theirs, attn_mask=None if mask is None else torch.tensor(mask), **case.options
    )
    expected.backward(torch.tensor(upstream))

    tolerance = 64 * float(np.finfo(dtype).eps)
    assert output.dtype == dtype
    assert_near(output.numpy(), expected.detach().numpy(), tolerance)
    for x, y in zip(tensors, theirs, strict=True):
        assert x.grad is not None
        assert_near(x.grad, y.grad.numpy(), tolerance)
    assert weights is not None
    assert_near(weights.numpy() @ arrays[2], output.numpy(), tolerance)


@pytest.mark.parametrize("case", HEADS.values(), ids=HEADS.keys())
def test_the_weights_are_the_softmax_of_torch(case: Heads) -> None:
    rng = np.random.default_rng(3)
    query, key, value = [rng.standard_normal(shape) for shape in case[:3]]
    mask = mask_of(case, rng)
    _, weights = scaled_dot_product_attention(query, key, value, mask, **case.options)
    assert weights is not None

    scores = torch.tensor(query @ np.swapaxes(key, -1, -2))
    scores = scores * case.options.get("scale", 1 / math.sqrt(case.query[-1]))
    if case.options.get("is_causal"):
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:]).tril().bool(), -math.inf)
    if case.mask == "additive":
        scores = scores + torch.tensor(mask)
    elif case.mask:
        scores = scores.masked_fill(~torch.tensor(mask), -math.inf)
    expected = torch.softmax(scores, -1).nan_to_num(0.0)  # torch has NaN for a row without keys
    assert_near(weights.numpy(), expected.numpy(), 1e-14)
