"""All that is promised of a primitive, checked from its definition alone.

Each example is run on arrays and on tensors, its gradients are compared with finite differences
(random upstream, first and second order), its inputs stretched by broadcasting, used twice, and
run in float32. So a new primitive is tested without anyone writing a test for it.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.calls import entrance
from minigrad.check.diagnosis import Diagnosis
from minigrad.check.differences import Report, gradcheck, gradgradcheck
from minigrad.joint import JointPrimitive
from minigrad.memory import Array
from minigrad.modes import is_own
from minigrad.operand import as_primitive
from minigrad.primitive import PRIMITIVES, Primitive
from minigrad.tape import grad
from minigrad.tensor import Tensor


@dataclass
class CheckResult:
    """What came of checking one primitive; `problem` is empty if all is well."""

    name: str
    cases: int
    first: float  # the largest relative error of a gradient
    second: float | None  # of a second derivative; None if it has none
    problem: str = ""
    resolved: bool = False  # whether any gradient stood out of the noise
    diagnosis: Diagnosis | None = None  # which mistake it is, if one is recognised

    @property
    def ok(self) -> bool:
        """Whether everything promised holds."""
        return not self.problem


class BrokenError(Exception):
    """A promise that does not hold, in words, and which mistake it is if one is recognised."""

    def __init__(self, says: str, diagnosis: Diagnosis | None = None) -> None:
        super().__init__(says)
        self.diagnosis = diagnosis


@dataclass
class Case:
    """One call of a primitive from its example: its arguments, and which of them have gradients."""

    call: Callable[..., Any]
    args: list[Any]
    options: dict[str, Any]
    places: list[int]

    def __call__(self, *values: Any) -> Any:
        """The result with `values` in the places that have gradients."""
        args = list(self.args)
        for place, value in zip(self.places, values, strict=True):
            args[place] = value
        return self.call(*args, **self.options)

    def arrays(self) -> list[Array]:
        """The values in the places that have gradients."""
        return [self.args[place] for place in self.places]

    def __str__(self) -> str:
        shapes = ", ".join(str(np.shape(a)) for a in self.args)
        return f"{shapes} {self.options or ''}".strip()


def cases_of(op: Primitive, rng: np.random.Generator) -> list[Case]:
    """The calls that an op's example makes. Errors: `BrokenError` if it has no usable example."""
    if op.example is None:
        raise BrokenError("it has no example, so nothing of it can be checked")
    made = op.example(rng)
    rows = made if isinstance(made, list) else [made]
    found = [_case(op, row) for row in rows]
    if not found or not all(case.places for case in found):
        raise BrokenError("its example has no floating-point input that a rule is for")
    return found


def _case(op: Primitive, row: Any) -> Case:
    row = row if isinstance(row, tuple) else (row,)
    options = row[-1] if isinstance(row[-1], dict) else {}
    args = list(row[:-1] if options else row)
    inputs = range(len(args)) if op.many else range(min(len(op.rules), len(args)))
    places = [
        i
        for i in inputs
        if op.rules[i] is not None and isinstance(args[i], np.ndarray) and args[i].dtype.kind == "f"
    ]
    return Case(entrance(op), args, options, places)


def leaves_of(op: Primitive, case: Case) -> list[Tensor]:
    """The values of a call that have gradients, as tensors under the names of the op's inputs."""
    names = op.input_names * len(case.args) if op.many else op.input_names
    return [
        Tensor(x, requires_grad=True, name=names[place])
        for place, x in zip(case.places, case.arrays(), strict=True)
    ]


def check_primitive(op: Primitive | Callable[..., Any] | str, *, seed: int = 0) -> CheckResult:
    """Checks one primitive: values, shapes, dtypes, gradients, second derivatives, broadcasting.

    Args: the primitive, the function it defined or its name; `seed` draws the examples.

    >>> check_primitive("softmax").ok
    True
    """
    found: Primitive = as_primitive(op)
    result = CheckResult(found.name, 0, 0.0, None if found.no_second else 0.0)
    try:
        for case in cases_of(found, np.random.default_rng(seed)):
            result.cases += 1
            _check_case(found, case, result)
        if not result.resolved:
            raise BrokenError("nothing of its gradient stands out of the noise in its examples")
    except BrokenError as broken:
        result.problem, result.diagnosis = str(broken), broken.diagnosis
    except Exception as error:  # a student's code may raise anything
        result.problem = f"{type(error).__name__}: {error}{_place_of(error)}"
    return result


def _place_of(error: Exception) -> str:
    """The last line that the error came through in the user's own file, if there is one."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not is_own(f.filename) and "site-packages" not in f.filename]
    return f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""


def check_primitives(
    ops: Iterable[Primitive | Callable[..., Any] | str] | None = None,
) -> Iterator[CheckResult]:
    """Checks the primitives given, or all of the registry, one result at a time."""
    for op in sorted(PRIMITIVES) if ops is None else ops:
        yield check_primitive(op)


def _check_case(op: Primitive, case: Case, result: CheckResult) -> None:
    _check_values(op, case)
    _check_dtypes(case)
    leaves = leaves_of(op, case)
    # An algorithm may leave rounding where a formula leaves 0.
    atol = 1e-13 if isinstance(op, JointPrimitive) else 0.0
    report = _check_first(case, leaves, case, "its gradient is wrong", atol)
    result.first = max(result.first, report.max_relative_error)
    heard = [(np.abs(found.numeric) > found.noise).any() for found in report.inputs]
    result.resolved = result.resolved or any(heard)
    _check_first(_twice(case), leaves, case, "used twice, it is wrong", atol)
    for stretched in _stretched(case):
        points = [Tensor(x, requires_grad=True) for x in stretched.arrays()]
        _check_first(stretched, points, stretched, "broadcast, it is wrong", atol)
    if not op.no_second:
        report = _check_second(case, leaves, case, "its second derivative is wrong")
        result.second = max(result.second or 0.0, report.max_relative_error)
    if len({x.shape for x in case.arrays()}) == 1 and len(case.places) > 1:
        shared = _shared(case)
        _check_first(shared, leaves[:1], case, "of one tensor, it is wrong", atol)
        if not op.no_second:
            what = "of one tensor, its second derivative is wrong"
            _check_second(shared, leaves[:1], case, what)


def _check_first(function: Any, leaves: list[Tensor], case: Case, what: str, atol: float) -> Report:
    return _insist(gradcheck(function, leaves, atol=atol, raise_exception=False), case, what)


def _check_second(function: Any, leaves: list[Tensor], case: Case, what: str) -> Report:
    report = gradgradcheck(function, leaves, rtol=1e-5, raise_exception=False)
    return _insist(report, case, what)


def _insist(report: Report, case: Case, what: str) -> Report:
    if not report.ok:
        raise BrokenError(f"{what}, for {case}: {report}", report.diagnosis)
    return report


def _check_values(op: Primitive, case: Case) -> None:
    arrays = case.arrays()
    before = [x.copy() for x in arrays]
    plain = np.asarray(case(*arrays))
    recorded = case(*[Tensor(x, requires_grad=True) for x in arrays])
    if not isinstance(recorded, Tensor) or not recorded.requires_grad:
        raise BrokenError("on tensors it returned something that is not recorded")
    if not np.array_equal(plain, recorded.numpy(), equal_nan=True):
        raise BrokenError("its values on arrays and on tensors differ")
    upstream = np.random.default_rng(1).standard_normal(plain.shape)
    kept = upstream.copy()
    recorded.backward(upstream)
    if not all(np.array_equal(x, y) for x, y in zip(arrays, before, strict=True)):
        raise BrokenError("it changes its input")
    if not np.array_equal(upstream, kept):
        raise BrokenError("its rule changes the upstream gradient")
    if op.composed is not None:
        options = op.bind(case.args[len(op.rules) :], case.options)
        equal = op.composed(*case.args[: len(op.rules)], **options)
        if not np.allclose(plain, equal, rtol=1e-10, atol=1e-12):
            raise BrokenError("its forward and its composed form differ")


def _check_dtypes(case: Case) -> None:
    """float32 in, float32 out, gradients included, unless the op is there to change the dtype."""
    args = [
        x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
        for x in case.args
    ]
    small = Case(case.call, args, case.options, case.places)
    leaves = [Tensor(x, requires_grad=True) for x in small.arrays()]
    out = small(*leaves)
    if out.dtype != np.float32 and not any(isinstance(x, type) for x in case.args):
        raise BrokenError(f"on float32 its result is {out.dtype}")
    upstream = np.random.default_rng(2).standard_normal(out.shape)
    for leaf, found in zip(leaves, grad(out, leaves, upstream), strict=True):
        if found.dtype != np.float32 or found.shape != leaf.shape:
            raise BrokenError(f"on float32 its gradient is {found.dtype} of shape {found.shape}")


def _twice(case: Case) -> Callable[..., Any]:
    return lambda *values: case(*values) * 3.0 + case(*values)


def _shared(case: Case) -> Callable[..., Any]:
    """The same call with one tensor in the place of all inputs, each of which contributes."""
    return lambda x: case(*[x] * len(case.places))


def _stretched(case: Case) -> Iterator[Case]:
    """The same call with one input of length 1 on its first axis, where that still broadcasts."""
    arrays = case.arrays()
    shape = np.shape(case(*arrays))
    for i, place in enumerate(case.places):
        if len(case.places) < 2 or arrays[i].ndim == 0 or arrays[i].shape[0] == 1:
            continue
        args = list(case.args)
        args[place] = arrays[i][:1]
        smaller = Case(case.call, args, case.options, case.places)
        try:
            fits = np.shape(smaller(*smaller.arrays())) == shape
        except (ValueError, IndexError):
            continue
        if fits:
            yield smaller


def defined_in(namespace: dict[str, Any]) -> list[Primitive]:
    """The primitives that a module's own code defines, in order."""
    found = [getattr(value, "primitive", None) for value in namespace.values()]
    own = [op for op in found if isinstance(op, Primitive) and op not in PRIMITIVES.values()]
    return list(dict.fromkeys(own))
