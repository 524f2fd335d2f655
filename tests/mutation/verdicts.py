"""Whether a planted mistake makes a difference, and whether the checks notice it."""

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

import numpy as np

from minigrad import Primitive, Tensor, grad
from minigrad.check import check_primitive
from tests.mutation.mutants import Mutant
from tests.oracle.calls import Call, calls_of
from tests.properties.kinks import KINKS, gradients_at

Array = np.ndarray[Any, np.dtype[Any]]
Outcome = list[Array] | Exception

SEEDS = 3


class Verdict(StrEnum):
    """What became of a mutant."""

    RAISES = "raises"  # in every call, so that nobody could use the op
    EQUIVALENT = "equivalent"  # the same gradients in all calls and at all kinks
    KILLED = "killed"  # by the check of the primitive
    KILLED_AT_KINK = "killed at a kink"  # where a convention tells what is right, and no slope
    SURVIVED = "survived"


def judge(mutant: Mutant) -> Verdict:
    """Runs the mutant beside the right rule, and then the check on it."""
    with _quiet():
        op = mutant.primitive()
        found, right = gradients_of(op), _right_gradients(mutant.op)
        if all(isinstance(outcome, Exception) for outcome in found):
            return Verdict.RAISES
        at_kinks, right_at_kinks = gradients_at_kinks(op), _right_gradients_at_kinks(mutant.op)
        differs_at_kinks = not _all_equal(at_kinks, right_at_kinks)
        if _all_equal(found, right) and not differs_at_kinks:
            return Verdict.EQUIVALENT
        if not check_primitive(op).ok:
            return Verdict.KILLED
        return Verdict.KILLED_AT_KINK if differs_at_kinks else Verdict.SURVIVED


@contextmanager
def _quiet() -> Iterator[None]:
    """A wrong rule may divide by 0; that alone makes it neither right nor wrong."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def gradients_of(op: Primitive) -> list[Outcome]:
    """The gradients in each call, for a random upstream, or the error that came instead."""
    calls = [call for seed in range(SEEDS) for call in calls_of(op, seed)]
    return [_attempted(_gradients, op, call, i) for i, call in enumerate(calls)]


def gradients_at_kinks(op: Primitive) -> list[Outcome]:
    """The same at each kink in the table."""
    return [_attempted(gradients_at, op, kink) for kink in KINKS.get(op.name, [])]


_right_gradients = functools.cache(gradients_of)
_right_gradients_at_kinks = functools.cache(gradients_at_kinks)


def _gradients(op: Primitive, call: Call, seed: int) -> tuple[Tensor, ...]:
    inputs = [
        Tensor(x, requires_grad=True) if op.rules[i] and _is_floating(x) else x
        for i, x in enumerate(call.inputs)
    ]
    out = op.apply(inputs, call.options)
    upstream = np.random.default_rng(seed).standard_normal(out.shape)
    return grad(out, [x for x in inputs if isinstance(x, Tensor)], upstream)


def _is_floating(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "f"


def _attempted(function: Callable[..., Any], *args: Any) -> Outcome:
    try:
        return [np.array(x) for x in function(*args)]
    except Exception as error:  # whatever a wrong rule runs into
        return error


def _all_equal(found: Sequence[Outcome], right: Sequence[Outcome]) -> bool:
    return all(_equal(a, b) for a, b in zip(found, right, strict=True))


def _equal(found: Outcome, right: Outcome) -> bool:
    """Equal up to rounding, relative to the largest entry."""
    if isinstance(found, Exception) or isinstance(right, Exception):
        return isinstance(found, Exception) and isinstance(right, Exception)
    return all(
        np.allclose(a, b, rtol=1e-9, atol=1e-11 * _largest(b), equal_nan=True)
        for a, b in zip(found, right, strict=True)
    )


def _largest(x: Array) -> float:
    return float(np.abs(np.nan_to_num(x)).max(initial=1e-3))
