"""How a statement is run on drawn cases, and how values and gradients are compared."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from minigrad import Tensor, grad

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
Function = Callable[..., Any]
Draw = st.DrawFn

FEW, MANY = 15, 300
STEP = 1e-5


def holds_for(**drawn: st.SearchStrategy[Any]) -> Callable[[Function], Function]:
    """Makes a test of a statement: quickly on a few drawn cases, slowly on many.

    Parameters of the statement that are not drawn are left to `pytest.mark.parametrize`.
    """

    def decorate(statement: Function) -> Function:
        def test(examples: int, **fixed: Any) -> None:
            cases = given(**drawn, **{name: st.just(value) for name, value in fixed.items()})
            settings(
                max_examples=examples,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(HealthCheck),
            )(cases(statement))()

        names = [name for name in inspect.signature(statement).parameters if name not in drawn]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, kind) for name in ("examples", *names)]
        test.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        test.__name__, test.__module__ = statement.__name__, statement.__module__
        lengths = [FEW, pytest.param(MANY, marks=pytest.mark.slow)]
        parametrized: Function = pytest.mark.parametrize("examples", lengths, ids=["few", "many"])(
            test
        )
        return parametrized

    return decorate


# ------------------------------------------------------------------------------------ what is drawn

seeds = st.integers(0, 2**16)


def shapes(min_ndim: int = 0, max_ndim: int = 4) -> st.SearchStrategy[Shape]:
    """Shapes whose sides all differ, 1 among them at times, so that no two axes can be confused."""
    sides = st.permutations([2, 3, 1, 4, 5])
    return st.builds(lambda n, s: tuple(s[:n]), st.integers(min_ndim, max_ndim), sides)


@st.composite
def broadcastable(draw: Draw, count: int = 2, max_ndim: int = 3) -> tuple[Shape, ...]:
    """Shapes that broadcast: each lacks leading axes or has length 1 where it likes."""
    whole = draw(shapes(1, max_ndim))
    found = []
    for _ in range(count):
        start = draw(st.integers(0, len(whole)))
        found.append(tuple([n if draw(st.booleans()) else 1 for n in whole[start:]]))
    full = draw(st.integers(0, count))  # which one has the whole shape, if any
    return tuple([whole if i == full else shape for i, shape in enumerate(found)])


@st.composite
def axes_of(draw: Draw, ndim: int, *, tuples: bool = True) -> Any:
    """None, one axis, or several; counted from the front or from the end."""
    numbers = st.integers(-ndim, ndim - 1)
    if ndim == 0:
        return draw(st.sampled_from([None, ()])) if tuples else None
    several = st.lists(numbers, unique_by=lambda a: a % ndim, max_size=ndim).map(tuple)
    return draw(st.none() | numbers | several if tuples else st.none() | numbers)


def normal(seed: int, *shapes: Shape) -> list[Array]:
    """Independent N(0, 1) entries: almost surely without ties."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


# --------------------------------------------------------------------------------- what is compared


def central_differences(
    function: Function, arrays: Sequence[Array], upstream: Array
) -> list[Array]:
    """The gradients of (function(*arrays) · upstream).sum(), one entry after another."""
    points = [np.array(x, np.float64) for x in arrays]

    def loss() -> Any:
        return (np.asarray(function(*points)) * upstream).sum()

    gradients = [np.zeros_like(x) for x in points]
    for point, gradient in zip(points, gradients, strict=True):
        for index in np.ndindex(point.shape):
            before = point[index]
            point[index] = before + STEP
            above = loss()
            point[index] = before - STEP
            gradient[index] = (above - loss()) / (2 * STEP)
            point[index] = before
    return gradients


def leaves(arrays: Sequence[Array]) -> list[Tensor]:
    return [Tensor(x, requires_grad=True) for x in arrays]


def assert_near(found: Any, expected: Any, tolerance: float) -> None:
    """Equal up to `tolerance` times the largest entry, and of equal shape."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


def assert_like_numpy(ours: Function, numpys: Function, *arrays: Array, seed: int = 0) -> None:
    """`ours` on tensors has the values of `numpys` on arrays, and its slopes as gradients."""
    tensors = leaves(arrays)
    out, expected = ours(*tensors), np.asarray(numpys(*arrays))
    assert isinstance(out, Tensor)
    assert out.dtype == expected.dtype
    assert_near(out, expected, 1e-12)
    upstream = np.random.default_rng([seed, 1]).standard_normal(out.shape)
    numeric = central_differences(numpys, arrays, upstream)
    for x, found, slope in zip(tensors, grad(out, tensors, upstream), numeric, strict=True):
        assert found.shape == x.shape
        assert_near(found, slope, 1e-6)
