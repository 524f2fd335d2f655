"""Every primitive gives the values that its definition in words gives, written here a second time:
one entry after another, in extended precision, by other formulas than the forward's."""

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad import PRIMITIVES
from tests.oracle.calls import calls_of

Array = np.ndarray[Any, np.dtype[Any]]
Oracle = Callable[..., Any]
Shape = tuple[int, ...]

ORACLES: dict[str, Oracle] = {}
"""By name of the primitive: a function of its inputs that takes its options by name."""


def oracle(function: Oracle) -> Oracle:
    ORACLES[function.__name__.rstrip("_")] = function
    return function


def wide(x: Any) -> Array:
    """Floating point in the widest format that there is; everything else as it is."""
    array = np.asarray(x)
    return array.astype(np.longdouble) if array.dtype.kind == "f" else array


# ---------------------------------------------------------------------------- one entry at a time


def entrywise(function: Oracle) -> Oracle:
    """The oracle that calls `function` with one number of each input, which broadcast."""

    def compute(*inputs: Any, **options: Any) -> Array:
        arrays = np.broadcast_arrays(*[wide(x) for x in inputs])
        out = np.empty(arrays[0].shape, np.longdouble)
        for index in np.ndindex(out.shape):
            out[index] = function(*[x[index] for x in arrays], **options)
        return out

    return compute


def logistic(x: Any) -> Any:
    with np.errstate(over="ignore"):  # 1/∞ is 0
        return 1 / (1 + np.exp(-x))


def hyperbolic_tangent(x: Any) -> Any:
    return np.sign(x) * -np.expm1(-2 * abs(x)) / (2 + np.expm1(-2 * abs(x)))


def gaussian_error_unit(x: Any) -> Any:
    root = np.sqrt(2 / (4 * np.arctan(np.longdouble(1))))
    return x * logistic(2 * root * (x + np.longdouble("0.044715") * x * x * x))


def clipped(x: Any, min: float | None, max: float | None) -> Any:
    x = min if min is not None and x < min else x
    return max if max is not None and x > max else x


ORACLES |= {
    "add": entrywise(lambda a, b: a + b),
    "subtract": entrywise(lambda a, b: a + -b),
    "multiply": entrywise(lambda a, b: a * b),
    "divide": entrywise(lambda a, b: a / b),
    "divide_or_zero": entrywise(lambda a, b: a / b if b else 0),
    "negative": entrywise(lambda x: 0 - x),
    "power": entrywise(lambda a, b: np.exp2(b * np.log2(a))),
    "scale": entrywise(lambda x, factor: np.longdouble(factor) * x),
    "abs": entrywise(lambda x: -x if x < 0 else x),
    "exp": entrywise(lambda x: np.exp2(x / np.log(np.longdouble(2)))),
    "log": entrywise(lambda x: np.log2(x) * np.log(np.longdouble(2))),
    "log1p": entrywise(lambda x: 2 * np.arctanh(x / (2 + x))),
    "sqrt": entrywise(lambda x: x ** np.longdouble(0.5)),
    "sin": entrywise(lambda x: np.cos(x - 2 * np.arctan(np.longdouble(1)))),
    "cos": entrywise(lambda x: 1 - 2 * np.sin(x / 2) ** 2),
    "tanh": entrywise(hyperbolic_tangent),
    "sigmoid": entrywise(logistic),
    "relu": entrywise(lambda x: x if x > 0 else 0),
    "gelu": entrywise(gaussian_error_unit),
    "silu": entrywise(lambda x: x * logistic(x)),
    "maximum": entrywise(lambda a, b: a if a > b else b),
    "minimum": entrywise(lambda a, b: b if a > b else a),
    "clip": entrywise(clipped),
    "where": entrywise(lambda condition, x, y: x if condition else y),
    "masked_fill": entrywise(lambda x, mask, value: value if mask else x),
    "astype": entrywise(lambda x, dtype: x),
}


# -------------------------------------------------------------------------------- one row at a time


def chosen_axes(ndim: int, axis: Any) -> list[int]:
    if axis is None:
        return list(range(ndim))
    return [a + ndim if a < 0 else a for a in (axis if isinstance(axis, tuple) else (axis,))]


def reducing(function: Oracle) -> Oracle:
    """The oracle that calls `function` with the list of the entries that become one."""

    def compute(x: Any, axis: Any, keepdims: bool, **options: Any) -> Array:
        x = wide(x)
        axes = chosen_axes(x.ndim, axis)
        out = np.empty([1 if a in axes else n for a, n in enumerate(x.shape)], np.longdouble)
        for index in np.ndindex(out.shape):
            row = x[tuple([slice(None) if a in axes else i for a, i in enumerate(index)])]
            out[index] = function([row[i] for i in np.ndindex(row.shape)], **options)
        shape = [n for a, n in enumerate(out.shape) if keepdims or a not in axes]
        return out.reshape(shape)

    return compute


def along(function: Oracle) -> Oracle:
    """The oracle that replaces each row along an axis by `function` of it."""

    def compute(x: Any, axis: Any) -> Array:
        x = wide(x)
        if axis is None:
            x, axis = np.array([x[i] for i in np.ndindex(x.shape)]), 0
        return np.apply_along_axis(function, axis, x)

    return compute


def total(row: Any) -> Any:
    return functools.reduce(lambda a, b: a + b, row, np.longdouble(0))


def spread_of(row: Any, ddof: int) -> Any:
    """The variance from the squared differences of all pairs, without a mean."""
    pairs = itertools.combinations(row, 2)
    return total([(a - b) ** 2 for a, b in pairs]) / (len(row) * (len(row) - ddof))


def log_of_sum(row: Any) -> Any:
    return functools.reduce(np.logaddexp, row)


def share(x: Any, row: Any) -> Any:
    """How much of the sum of eˣ is this one's, from the distances to the others."""
    return 0 if np.isneginf(x) else 1 / total(np.exp(row - x))


ORACLES |= {
    "sum": reducing(total),
    "mean": reducing(lambda row: total(row) / len(row)),
    "prod": reducing(math.prod),
    "var": reducing(spread_of),
    "std": reducing(lambda row, ddof: np.sqrt(spread_of(row, ddof))),
    "max": reducing(lambda row: sorted(row)[-1]),
    "min": reducing(lambda row: sorted(row)[0]),
    "norm": reducing(lambda row, ord: functools.reduce(np.hypot, row, np.longdouble(0))),
    "logsumexp": reducing(log_of_sum),
    "cumsum": along(lambda row: np.array([total(row[: i + 1]) for i in range(len(row))])),
    "softmax": along(lambda row: np.array([share(x, row) for x in row])),
    "log_softmax": along(lambda row: np.array([x - log_of_sum(row) for x in row])),
}


@oracle
def spread(x: Any, shape: Shape, axis: Any) -> Any:
    out = np.empty(shape, np.longdouble)
    axes = chosen_axes(len(shape), axis)
    entries = wide(x).reshape([1 if a in axes else n for a, n in enumerate(shape)])
    for index in np.ndindex(*shape):
        out[index] = entries[tuple([0 if a in axes else i for a, i in enumerate(index)])]
    return out


@oracle
def cross_entropy(logits: Any, targets: Any, ignore_index: int, reduction: str) -> Any:
    losses = np.zeros(targets.shape, np.longdouble)
    for index in np.ndindex(targets.shape):
        if targets[index] != ignore_index:
            row = wide(logits)[index]
            losses[index] = log_of_sum(row) - row[targets[index]]
    counted = sum(target != ignore_index for target in targets.ravel())
    by_name = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / max(counted, 1)}
    return by_name[reduction]


# --------------------------------------------------------------------------------- sums of products


@oracle
def einsum(*operands: Any, subscripts: str) -> Any:
    terms, _, out = subscripts.partition("->")
    pairs = list(zip(terms.split(","), map(wide, operands), strict=True))
    axes = [(letter, n) for term, x in pairs for letter, n in zip(term, x.shape, strict=True)]
    length = {letter: max(n for other, n in axes if other == letter) for letter, _ in axes}
    result = np.zeros([length[letter] for letter in out], np.longdouble)
    for values in itertools.product(*[range(n) for n in length.values()]):
        where = dict(zip(length, values, strict=True))
        factors = [
            x[tuple([where[letter] % n for letter, n in zip(term, x.shape, strict=True)])]
            for term, x in pairs
        ]
        result[tuple([where[letter] for letter in out])] += math.prod(factors)
    return result


@oracle
def matmul(a: Any, b: Any) -> Any:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(wide(a), (*batch, *a.shape[-2:]))
    b = np.broadcast_to(wide(b), (*batch, *b.shape[-2:]))
    out = np.empty((*batch, a.shape[-2], b.shape[-1]), np.longdouble)
    for *lead, i, j in np.ndindex(out.shape):
        row, column = a[(*lead, i)], b[(*lead, slice(None), j)]
        out[(*lead, i, j)] = total([x * y for x, y in zip(row, column, strict=True)])
    return out


# ----------------------------------------------------------------------------------- rearrangements


def from_positions(positions: Oracle) -> Oracle:
    """The oracle of a rearrangement, told by what it does to the numbers of the entries.

    `positions` gets nested lists of 0, 1, 2 …, in the place of the entries, and the options.
    """

    def compute(x: Any, **options: Any) -> Array:
        numbers = np.array(positions(np.arange(x.size).reshape(x.shape).tolist(), **options), int)
        entries = wide(x).ravel()
        flat = [entries[number] for number in numbers.ravel()]
        return np.array(flat, np.longdouble).reshape(numbers.shape)

    return compute


def sides(nested: Any) -> Shape:
    return (len(nested), *sides(nested[0])) if isinstance(nested, list) else ()


def flat(nested: Any) -> list[int]:
    return [n for part in nested for n in flat(part)] if isinstance(nested, list) else [nested]


def build(shape: Shape, entry: Callable[..., int], *index: int) -> Any:
    """Nested lists of a shape, filled by a function of the index."""
    if not shape:
        return entry(*index)
    return [build(shape[1:], entry, *index, i) for i in range(shape[0])]


def at(nested: Any, index: Any) -> Any:
    return functools.reduce(lambda part, i: part[i], index, nested)


def permuted(nested: Any, axes: Any) -> Any:
    shape = sides(nested)
    axes = chosen_axes(len(shape), axes if axes is not None else tuple(range(len(shape)))[::-1])
    new = tuple([shape[a] for a in axes])
    return build(new, lambda *index: at(nested, [index[axes.index(a)] for a in range(len(axes))]))


def exchanged(nested: Any, axis1: int, axis2: int) -> Any:
    axes = list(range(len(sides(nested))))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return permuted(nested, tuple(axes))


def reshaped(nested: Any, shape: Any) -> Any:
    numbers = iter(flat(nested))
    shape = shape if isinstance(shape, tuple) else (shape,)
    known = math.prod([n for n in shape if n != -1])
    shape = tuple([len(flat(nested)) // known if n == -1 else n for n in shape])
    return build(shape, lambda *index: next(numbers))


def squeezed(nested: Any, axis: Any) -> Any:
    shape = sides(nested)
    axes = chosen_axes(len(shape), axis)
    return reshaped(nested, tuple([n for a, n in enumerate(shape) if n != 1 or a not in axes]))


def expanded(nested: Any, axis: Any) -> Any:
    shape = list(sides(nested))
    ndim = len(shape) + (len(axis) if isinstance(axis, tuple) else 1)
    for a in sorted(chosen_axes(ndim, axis)):
        shape.insert(a, 1)
    return reshaped(nested, tuple(shape))


def stretched(nested: Any, shape: Shape) -> Any:
    own = sides(nested)
    extra = len(shape) - len(own)
    return build(
        shape, lambda *index: at(nested, [index[extra + a] % n for a, n in enumerate(own)])
    )


def flipped(nested: Any, axis: Any) -> Any:
    shape = sides(nested)
    axes = chosen_axes(len(shape), axis)
    return build(
        shape,
        lambda *index: at(nested, [-1 - i if a in axes else i for a, i in enumerate(index)]),
    )


def taken(nested: Any, indices: Any, axis: int | None) -> Any:
    if axis is None:
        return build(np.shape(indices), lambda *i: flat(nested)[at(np.array(indices).tolist(), i)])
    shape, picked = sides(nested), np.array(indices).tolist()
    axis, many = axis % len(shape), np.ndim(indices)

    def entry(*index: int) -> int:
        number = at(picked, index[axis : axis + many])
        found: int = at(nested, (*index[:axis], number, *index[axis + many :]))
        return found

    return build((*shape[:axis], *np.shape(indices), *shape[axis + 1 :]), entry)


ORACLES |= {
    "reshape": from_positions(reshaped),
    "transpose": from_positions(permuted),
    "matrix_transpose": from_positions(lambda x: exchanged(x, -2, -1)),
    "swapaxes": from_positions(exchanged),
    "broadcast_to": from_positions(stretched),
    "squeeze": from_positions(squeezed),
    "expand_dims": from_positions(expanded),
    "flip": from_positions(flipped),
    "take": from_positions(taken),
    "embedding": lambda weight, indices: ORACLES["take"](weight, indices=indices, axis=0),
}


@oracle
def tril(x: Any, k: int) -> Any:
    out = wide(x).copy()
    for index in np.ndindex(out.shape):
        if index[-1] - index[-2] > k:
            out[index] = 0
    return out


@oracle
def pad(x: Any, pad_width: Any, mode: str, constant_values: float) -> Any:
    assert mode == "constant"
    before_and_after = (pad_width, pad_width) if isinstance(pad_width, int) else pad_width
    for_all = isinstance(before_and_after[0], int)
    widths = [before_and_after] * x.ndim if for_all else before_and_after
    out = np.full(
        [n + sum(w) for n, w in zip(x.shape, widths, strict=True)], constant_values, np.longdouble
    )
    for index in np.ndindex(x.shape):
        out[tuple([i + before for i, (before, _) in zip(index, widths, strict=True)])] = x[index]
    return out


@oracle
def concatenate(*arrays: Any, axis: int) -> Any:
    if axis is None:
        arrays, axis = tuple([x.ravel() for x in arrays]), 0
    parts = [wide(x).swapaxes(0, axis) for x in arrays]
    return np.array([row for part in parts for row in part]).swapaxes(0, axis)


@oracle
def stack(*arrays: Any, axis: int) -> Any:
    return np.moveaxis(np.array([wide(x) for x in arrays]), 0, axis)


@oracle
def fused_attention(query: Any, key: Any, value: Any, **options: Any) -> Any:
    """Query after query, key after key: sums of values and of weights, each an exponential."""
    scale = options["scale"] or 1 / np.sqrt(np.longdouble(query.shape[-1]))
    leading = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    q, k, v = (np.broadcast_to(wide(x), (*leading, *x.shape[-2:])) for x in (query, key, value))
    out = np.zeros((*leading, query.shape[-2], value.shape[-1]), np.longdouble)
    mask = np.broadcast_to(
        options["mask"] is None or wide(options["mask"]), (*out.shape[:-1], key.shape[-2])
    )
    for index in np.ndindex(out.shape[:-1]):
        *head, i = index
        total = np.longdouble(0)
        for j in range(key.shape[-2]):
            allowed = mask[(*index, j)]
            if (options["is_causal"] and j > i) or allowed is np.False_:
                continue
            more = 0 if mask.dtype == bool else allowed
            weight = np.exp(sum(q[index] * k[(*head, j)]) * scale + more)
            out[index] += weight * v[(*head, j)]
            total += weight
        out[index] /= total
    return out


# Indexing is NumPy's here too: one of our own would be as long. What is told independently is that
# the entries come from where the numbers of the entries come from, and add up where they meet.
@oracle
def getitem(x: Any, index: Any) -> Any:
    numbers = np.arange(x.size).reshape(x.shape)[index]
    return np.array([wide(x).flat[n] for n in numbers.ravel()]).reshape(numbers.shape)


@oracle
def scatter_add(x: Any, shape: Shape, index: Any) -> Any:
    out = np.zeros(math.prod(shape), np.longdouble)
    places = np.arange(out.size).reshape(shape)[index]
    values = np.broadcast_to(wide(x), places.shape)
    for place, value in zip(places.ravel(), values.ravel(), strict=True):
        out[place] += value
    return out.reshape(shape)


# -------------------------------------------------------------------------------------- statements


def assert_close(values: Any, expected: Any, ulps: float) -> None:
    values = np.asarray(values)
    expected = np.asarray(expected)
    assert values.shape == expected.shape
    tolerance = ulps * float(np.finfo(values.dtype).eps)
    # Relative to each entry, or to the entries of order 1 that it was computed from.
    np.testing.assert_allclose(
        values, expected.astype(values.dtype), rtol=tolerance, atol=tolerance
    )


def test_every_primitive_has_an_independent_definition() -> None:
    assert set(PRIMITIVES) <= set(ORACLES)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_a_primitive_gives_the_values_of_its_definition(name: str, dtype: Any) -> None:
    op = PRIMITIVES[name]
    for seed in (0, 1):
        for call in calls_of(op, seed):
            inputs, options = call.narrowed(dtype)
            assert_close(op.apply(inputs, options), ORACLES[name](*inputs, **options), ulps=32)


LARGE = [-1e4, -800.0, -89.0, -1.0, 0.0, 1e-8, 0.5, 30.0, 89.5, 800.0, 1e4]
SATURATING = ["sigmoid", "tanh", "silu", "gelu", "relu"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SATURATING)
def test_an_activation_is_right_and_silent_far_out(name: str, dtype: Any) -> None:
    x = np.array(LARGE, dtype)
    assert_close(PRIMITIVES[name].apply([x], {}), ORACLES[name](x), ulps=8)


ROWS = {
    "far apart": [-1e4, 0.0, 1e4],
    "all large": [1e4, 1e4 + 1, 1e4 - 2],
    "all very negative": [-1e4, -1e4 - 1, -1e4 + 3],
    "one hidden": [-np.inf, 1.0, 2.0],
    "one above the overflow of exp": [710.0, 89.0, -3.0],
    "many equal": [1000.0, 1000.0, 1000.0],
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_softmax_and_its_logarithms_take_scores_of_any_size(
    name: str, row: list[float], dtype: Any
) -> None:
    x = np.array([row, row[::-1]], dtype)
    options = {"axis": -1} | ({"keepdims": True} if name == "logsumexp" else {})
    with np.errstate(over="ignore"):  # in the definition only
        expected = ORACLES[name](x, **options)
    assert_close(PRIMITIVES[name].apply([x], options), expected, ulps=8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_loss_of_a_confident_wrong_answer_is_the_distance_of_the_scores(dtype: Any) -> None:
    logits = np.array([[1e4, -1e4, 0.0], [0.0, 5.0, -800.0]], dtype)
    options = {"ignore_index": -100, "reduction": "none"}
    losses = PRIMITIVES["cross_entropy"].apply([logits, np.array([1, 2])], options)
    assert_close(losses, [2e4, 805.006715348489118], ulps=8)


def test_log1p_keeps_what_1_plus_x_would_lose() -> None:
    x = np.array([1e-20, -1e-20, 1e-8, 1e-3])
    assert_close(PRIMITIVES["log1p"].apply([x], {}) / x, ORACLES["log1p"](x) / x, ulps=4)


@pytest.mark.parametrize("name", ["var", "std"])
def test_a_variance_far_from_zero_is_that_of_the_distances(name: str) -> None:
    x = 1e6 + np.array([[0.0, 1.0, 5.0], [2.0, -2.0, 0.5]])
    options = {"axis": 1, "keepdims": False, "ddof": 1}
    expected = ORACLES[name](x - 1e6, **options)
    assert_close(PRIMITIVES[name].apply([x], options) / expected, np.ones(2), ulps=1e6)
