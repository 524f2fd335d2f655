"""Whether a planted mistake makes a difference, and whether the checks notice it."""

import functools
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

import numpy as np

from minigrad import Primitive, Tensor, grad
from minigrad.check import check_primitive
from minigrad.check.registry import cases_of
from tests.mutation.mutants import Mutant
from tests.properties.kinks import KINKS, gradients_at

Array = np.ndarray[Any, np.dtype[Any]]
SEEDS = 3


class Verdict(StrEnum):
    """What became of a mutant."""

    RAISES = "raises"  # in every call: nobody would leave that in
    EQUIVALENT = "equivalent"  # the same gradients, on all examples and at all kinks
    KILLED = "killed"  # by the check of the primitive
    KILLED_AT_KINKS = "killed at kinks"  # where only a convention tells what is right
    SURVIVED = "survived"


@contextmanager
def _quiet() -> Iterator[None]:
    """A wrong rule may divide by 0; that alone makes it neither right nor wrong."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def judge(mutant: Mutant) -> Verdict:
    """Runs the mutant on the examples and kinks, and then the check on the mutant."""
    with _quiet():
        op = mutant.primitive()
        examples, kinks = gradients_of(op), gradients_at_kinks(op)
        right, right_at_kinks = _of_original(mutant.op)
        if all(isinstance(found, Exception) for found in examples):
            return Verdict.RAISES
        differs = not _all_equal(examples, right)
        differs_at_kinks = not _all_equal(kinks, right_at_kinks)
        if not (differs or differs_at_kinks):
            return Verdict.EQUIVALENT
        if not check_primitive(op).ok:
            return Verdict.KILLED
        return Verdict.KILLED_AT_KINKS if differs_at_kinks else Verdict.SURVIVED


@functools.cache
def _of_original(op: Primitive) -> tuple[Sequence[Any], Sequence[Any]]:
    return gradients_of(op), gradients_at_kinks(op)


def gradients_of(op: Primitive) -> list[list[Array] | Exception]:
    """For each call that the examples make, the gradients for a random upstream, or the error."""
    found = []
    for seed in range(SEEDS):
        for case in cases_of(op, np.random.default_rng(seed)):
            leaves = [Tensor(x, requires_grad=True) for x in case.arrays()]
            out = case(*leaves)
            upstream = np.random.default_rng([seed, 1]).standard_normal(out.shape)
            found.append(_attempted(lambda out, leaves, upstream: grad(out, leaves, upstream),
                                    out, leaves, upstream))
    return found


def gradients_at_kinks(op: Primitive) -> list[list[Array] | Exception]:
    """The same for each call in the table of kinks."""
    return [_attempted(gradients_at, op, kink) for kink in KINKS.get(op.name, [])]


def _attempted(function: Any, *args: Any) -> list[Array] | Exception:
    try:
        return [np.array(x) for x in function(*args)]
    except Exception as error:  # whatever a wrong rule runs into
        return error


def _all_equal(found: Sequence[Any], expected: Sequence[Any]) -> bool:
    return all(map(_equal, found, expected))


def _equal(found: list[Array] | Exception, expected: list[Array] | Exception) -> bool:
    """Equal up to rounding, which is relative to the largest entry."""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        return isinstance(found, Exception) and isinstance(expected, Exception)
    return all(
        np.allclose(a, b, rtol=1e-9, atol=1e-11 * np.abs(np.nan_to_num(b)).max(initial=1e-3),
                    equal_nan=True)
        for a, b in zip(found, expected, strict=True)
    )


def counted(verdicts: Sequence[Verdict]) -> Counter[Verdict]:
    return Counter(verdicts)
