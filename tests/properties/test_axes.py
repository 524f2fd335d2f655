"""Reductions and normalisations along None, one axis, or several, counted from either end."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import minigrad
from minigrad import Tensor
from tests.properties.support import (
    Array,
    Draw,
    Function,
    assert_like_numpy,
    assert_near,
    axes_of,
    holds_for,
    leaves,
    normal,
    seeds,
    shapes,
)


@st.composite
def arrays_and_axes(draw: Draw, *, tuples: bool = True, min_ndim: int = 0) -> tuple[Array, Any]:
    shape = draw(shapes(min_ndim, 3))
    (array,) = normal(draw(seeds), shape)
    return array, draw(axes_of(len(shape), tuples=tuples))


def numpys_norm(x: Any, axis: Any, keepdims: bool) -> Any:
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def numpys_logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


REDUCTIONS: dict[str, Function] = {
    "sum": np.sum,
    "mean": np.mean,
    "prod": np.prod,
    "var": np.var,
    "max": np.max,
    "min": np.min,
    "norm": numpys_norm,
    "logsumexp": numpys_logsumexp,
}


@pytest.mark.parametrize("name", REDUCTIONS)
@holds_for(case=arrays_and_axes(), keepdims=st.booleans())
def test_a_reduction_takes_any_axes(name: str, case: tuple[Array, Any], keepdims: bool) -> None:
    x, axis = case
    assert_like_numpy(
        lambda x: getattr(x, name)(axis=axis, keepdims=keepdims),
        lambda x: REDUCTIONS[name](x, axis=axis, keepdims=keepdims),
        x,
    )


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "max", "min"])
@holds_for(case=arrays_and_axes(), keepdims=st.booleans())
def test_numpys_reduction_takes_tensors(name: str, case: tuple[Array, Any], keepdims: bool) -> None:
    x, axis = case

    def reduce(x: Any) -> Any:
        return getattr(np, name)(x, axis=axis, keepdims=keepdims)

    assert_like_numpy(reduce, reduce, x)


@holds_for(seed=seeds, axis=st.sampled_from([0, 1, -1, (0, 2), None]), ddof=st.integers(0, 1))
def test_deviations_divide_by_n_less_ddof(seed: int, axis: Any, ddof: int) -> None:
    (x,) = normal(seed, (3, 4, 2))
    for name in ("var", "std"):
        assert_like_numpy(
            lambda x, name=name: getattr(x, name)(axis=axis, ddof=ddof),
            lambda x, name=name: getattr(np, name)(x, axis=axis, ddof=ddof),
            x,
        )


def numpys_softmax(x: Any, axis: Any) -> Any:
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)


@holds_for(case=arrays_and_axes())
def test_softmax_and_its_logarithm_take_any_axes(case: tuple[Array, Any]) -> None:
    x, axis = case
    assert_like_numpy(lambda x: x.softmax(axis), lambda x: numpys_softmax(x, axis), x)
    assert_like_numpy(lambda x: x.log_softmax(axis), lambda x: np.log(numpys_softmax(x, axis)), x)


@holds_for(case=arrays_and_axes(tuples=False))
def test_cumsum_runs_along_one_axis_or_through_all(case: tuple[Array, Any]) -> None:
    x, axis = case
    assert_like_numpy(lambda x: x.cumsum(axis), lambda x: np.cumsum(x, axis), x)


@holds_for(case=arrays_and_axes(min_ndim=1), shift=st.floats(-50, 50))
def test_softmax_does_not_see_what_all_its_scores_share(
    case: tuple[Array, Any], shift: float
) -> None:
    x, axis = case
    (upstream,) = normal(1, x.shape)
    plain, shifted = leaves([x, x + shift])
    plain.softmax(axis).backward(upstream)
    shifted.softmax(axis).backward(upstream)
    assert_near(shifted.softmax(axis), plain.softmax(axis), 1e-12)
    assert_near(shifted.grad, plain.grad, 1e-12)
    assert plain.grad is not None
    assert_near(plain.grad.sum(axis=axis), np.zeros_like(x.sum(axis=axis)), 1e-14)


@st.composite
def classes(draw: Draw) -> tuple[Array, Any]:
    lead = draw(shapes(0, 2))
    (logits,) = normal(draw(seeds), (*lead, 6))
    targets = np.random.default_rng(draw(seeds)).integers(-1, 6, lead)
    return logits, targets


@holds_for(case=classes(), reduction=st.sampled_from(["mean", "sum", "none"]))
def test_cross_entropy_leaves_ignored_targets_out(case: tuple[Array, Any], reduction: str) -> None:
    logits, targets = case
    counted = targets != -1

    def by_hand(x: Any) -> Any:
        p = np.take_along_axis(numpys_softmax(x, -1), np.maximum(targets, 0)[..., None], -1)
        losses = np.where(counted, -np.log(p[..., 0]), 0.0)
        by_name = {"sum": losses.sum(), "mean": losses.sum() / max(counted.sum(), 1)}
        return by_name.get(reduction, losses)

    def ours(x: Any) -> Any:
        return minigrad.cross_entropy(x, targets, ignore_index=-1, reduction=reduction)

    assert_like_numpy(ours, by_hand, logits)


EMPTY = {
    "sum": lambda x: x.sum(axis=0),
    "mean of the other axis": lambda x: x.mean(axis=1),
    "prod": lambda x: x.prod(),
    "max of the other axis": lambda x: x.max(axis=1),
    "cumsum": lambda x: x.cumsum(axis=0),
    "softmax": lambda x: x.softmax(axis=1),
}


@pytest.mark.parametrize("reduce", EMPTY.values(), ids=EMPTY.keys())
def test_a_reduction_without_entries_is_numpys(reduce: Function) -> None:
    x = Tensor(np.ones((0, 3)), requires_grad=True)
    out = reduce(x)
    expected = reduce(x.numpy()) if reduce is not EMPTY["softmax"] else np.ones((0, 3))
    np.testing.assert_array_equal(out.numpy(), expected, strict=True)
    out.backward(np.ones(out.shape))
    assert x.grad is not None
    assert x.grad.shape == (0, 3)
