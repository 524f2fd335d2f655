"""Gradients against finite differences, entry by entry, in float64.

For every entry of every input the function is evaluated one and two steps to either side. From
that come the slope, its noise (rounding, and what changes with the step) and the slopes on either
side, which tell a kink from a mistake. The upstream gradients are random, several at a time, since
an upstream of ones hides mistakes (the rows of a softmax sum to 1 whatever its rule does).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad.check.diagnosis import Diagnosis, Occasion, diagnose
from minigrad.graph import Node, history
from minigrad.memory import Array
from minigrad.modes import enable_grad
from minigrad.tape import grad
from minigrad.tensor import Tensor

Function = Callable[..., Any]


class GradcheckError(AssertionError):
    """A gradient that is wrong, or that cannot be checked; `report` has the details.

    `steps` is the log up to the rule that is wrong, where a backward was stepped through.
    """

    def __init__(self, report: Report, steps: Any = None) -> None:
        super().__init__(str(report))
        self.report = report
        self.steps = steps


@dataclass
class InputReport:
    """What was found at one input: arrays have the input's shape, with a leading axis of seeds."""

    position: int
    name: str
    analytic: Array
    numeric: Array
    noise: Array
    wrong: Array
    kinks: Array
    shares: str = ""

    @property
    def head(self) -> str:
        """Which input it is."""
        return f"input {self.position}{f' {self.name!r}' if self.name else ''}"

    @property
    def ok(self) -> bool:
        """Whether no entry is wrong."""
        return not self.wrong.any()

    @property
    def unresolved(self) -> int:
        """How many entries drown in the noise of the differences, whatever the seed."""
        size = np.maximum(np.abs(self.analytic), np.abs(self.numeric))
        return int(((1e-3 * size <= self.noise) & (self.noise > 0)).all(axis=0).sum())

    @property
    def relative_error(self) -> Array:
        """|analytic − numeric| over the larger of the two; 0 where both are 0."""
        size = np.maximum(np.abs(self.analytic), np.abs(self.numeric))
        with np.errstate(invalid="ignore"):  # of infinities
            error = np.abs(self.analytic - self.numeric)
            relative: Array = np.divide(error, size, out=np.zeros_like(error), where=error != 0)
        return relative

    def worst(self) -> tuple[int, tuple[int, ...]]:
        """The seed and the index of the entry that is worst, among the wrong ones if any."""
        error = np.nan_to_num(self.relative_error, nan=np.inf)
        if self.wrong.any():
            error = np.where(self.wrong, error, -1.0)
        if self.wrong[0].any():
            error[1:] = -1.0
        seed, *index = np.unravel_index(int(error.argmax()), error.shape)
        return int(seed), tuple([int(i) for i in index])

    def __str__(self) -> str:
        head = self.head
        if self.analytic.size == 0:
            return f"{head}: empty"
        seed, index = self.worst()
        where = f"[{', '.join(map(str, index))}]" if index else ""
        values = (
            f"{self.analytic[seed][index]:.12g} by backward, {self.numeric[seed][index]:.12g} by "
            f"differences, relative error {self.relative_error[seed][index]:.3g}"
        )
        kinks = int(self.kinks.any(axis=0).sum())
        notes = f"; kink here in {kinks} entries: not differentiable" if kinks else ""
        notes += (
            f"; {self.unresolved} entries too noisy to judge within a thousandth"
            if self.unresolved
            else ""
        )
        if self.ok:
            return f"{head}: right; the largest error is at {where or 'its value'}: {values}{notes}"
        count = int(self.wrong.any(axis=0).sum())
        return (
            f"{head}: gradient wrong in {count} of {self.analytic[0].size} entries"
            f"{f', {self.shares}' if self.shares else ''}; the worst is {where or 'its value'}: "
            f"{values}{notes}"
        )


@dataclass
class Report:
    """The outcome of a gradient check: true if it passed; `str` says what was found."""

    problem: str = ""
    inputs: list[InputReport] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    told: Diagnosis | None = None  # where others have found which mistake it is

    @property
    def ok(self) -> bool:
        """Whether every gradient is right."""
        return not self.problem and all(found.ok for found in self.inputs)

    @property
    def max_relative_error(self) -> float:
        """The largest relative error of an entry that stands out of the noise; 0 if none does."""
        errors = [
            np.where(i.noise < 1e-6 * np.abs(i.numeric), i.relative_error, 0.0) for i in self.inputs
        ]
        return max([float(e.max()) for e in errors if e.size], default=0.0)

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Which mistake explains the first gradient that is wrong, if one does on all seeds."""
        wrong = next((found for found in self.inputs if not found.ok), None)
        if self.told is not None or wrong is None:
            return self.told
        told = diagnose(self._occasions(wrong))
        return told and (told if len(self.inputs) == 1 else told._replace(of=wrong.head))

    def _occasions(self, found: InputReport) -> list[Occasion]:
        """One for each random upstream; the first row is of an upstream of ones."""
        lengths = {
            f"{n} (as long as axis {axis})": float(n)
            for axis, n in enumerate(found.numeric.shape[1:])
        }
        others = {other.head: other.numeric for other in self.inputs if other is not found}
        return [
            Occasion(
                found.numeric[seed],
                found.analytic[seed],
                ones=found.numeric[0],
                constants=lengths,
                others={name: rows[seed] for name, rows in others.items()},
            )
            for seed in range(1, len(found.numeric))
        ]

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [f"gradcheck: {'passed' if self.ok else 'failed'}"]
        lines += [self.problem] if self.problem else []
        lines += [str(found) for found in self.inputs] + self.notes
        told = self.diagnosis
        lines += [told.told()] if told else []
        return "\n  ".join(lines)


def gradcheck(
    fn: Function,
    inputs: Sequence[Any] | Tensor,
    *,
    eps: float = 1e-5,
    rtol: float = 1e-6,
    atol: float = 0.0,
    seeds: int = 3,
    raise_exception: bool = True,
) -> Report:
    """Checks the gradients of `fn` at `inputs` against central differences.

    Args:
        fn: takes the inputs and returns a tensor or several.
        inputs: tensors; those with requires_grad are checked, on float64 copies, so that neither
            they nor their `.grad` are touched; the rest is passed on as it is.
        eps: the step, relative to entries above 1.
        rtol, atol: |analytic − numeric| may be rtol × the larger one + atol + the noise measured.
        seeds: how many random upstream gradients.

    Returns a `Report`, true if all is right.
    Errors: `GradcheckError` with the report if not (unless `raise_exception` is False);
    `ValueError` if no input requires a gradient.

    >>> x = Tensor([0.3, 0.7], requires_grad=True)
    >>> bool(gradcheck(lambda t: t * t, [x]))
    True
    """
    given = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    places = [i for i, x in enumerate(given) if isinstance(x, Tensor) and x.requires_grad]
    if not places:
        raise ValueError("gradcheck: no input requires a gradient; set requires_grad=True.")
    report = _Check(fn, given, places, eps, rtol, atol, seeds).run()
    if raise_exception and not report.ok:
        raise GradcheckError(report)
    return report


def gradgradcheck(fn: Function, inputs: Sequence[Any] | Tensor, **options: Any) -> Report:
    """Checks second derivatives: the gradients of the gradients of `fn`, as `gradcheck` does.

    The first gradients are functions of the inputs and of the upstream; both are checked.

    >>> x = Tensor([0.3, 0.7], requires_grad=True)
    >>> bool(gradgradcheck(lambda t: t**3, [x]))
    True
    """
    given = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    places = [i for i, x in enumerate(given) if isinstance(x, Tensor) and x.requires_grad]
    outputs = _several(fn(*given))
    rng = np.random.default_rng(12345)
    upstream = [
        Tensor(rng.standard_normal(out.shape), requires_grad=True, name="upstream")
        for out in outputs
    ]

    def first(*values: Any) -> list[Tensor]:
        points, weights = values[: len(given)], values[len(given) :]
        results = _several(fn(*points))
        wanted = [points[i] for i in places]
        found = grad(results, wanted, weights, create_graph=True, allow_unused=True)
        return [g for g in found if g is not None]

    return gradcheck(first, [*given, *upstream], **options)


def _several(out: Any) -> list[Tensor]:
    found = list(out) if isinstance(out, (list, tuple)) else [out]
    for result in found:
        if not isinstance(result, Tensor):
            kind = type(result).__name__
            raise TypeError(f"gradcheck: fn must return a tensor or several; it returned a {kind}.")
    return found


_RANDOM = (
    "not deterministic: calls at the same point differ. Pass a seeded generator or freeze the "
    "random choice (a dropout mask) before checking."
)


class _Check:
    """One run of `gradcheck`: what it was given, and its steps."""

    def __init__(
        self,
        fn: Function,
        given: list[Any],
        places: list[int],
        eps: float,
        rtol: float,
        atol: float,
        seeds: int,
    ) -> None:
        self.fn, self.given, self.places = fn, given, places
        self.eps, self.rtol, self.atol, self.seeds = eps, rtol, atol, seeds
        self.points = {i: np.array(given[i]._data, dtype=np.float64, order="C") for i in places}
        self.rng = np.random.default_rng(0)

    def tensors(self) -> list[Any]:
        """The inputs of one call: fresh leaves in the places that are checked."""
        values = list(self.given)
        for i in self.places:
            values[i] = Tensor(self.points[i], True, name=self.given[i].name)
        return values

    def value(self) -> tuple[Array, Array]:
        """All results at the present point in one row, and how large numbers were on the way."""
        with enable_grad(), np.errstate(invalid="ignore"):  # it may itself be a gradient
            outputs = _several(self.fn(*self.tensors()))
        rows = [np.ravel(np.asarray(out)).astype(np.float64) for out in outputs]
        if not rows:
            return np.zeros(0), np.zeros(0)
        scales = [np.full(row.size, largest_of(row)) for row in rows]
        return np.concatenate(rows), np.concatenate(scales)

    def run(self) -> Report:
        report = Report()
        if any(x.dtype != np.float64 for x in (self.given[i] for i in self.places)):
            report.notes.append("checked on float64 copies of the inputs")
        base, _ = self.value()
        again = [self.value()[0] for _ in range(10)]
        if not all(np.array_equal(base, value, equal_nan=True) for value in again):
            return Report(problem=_RANDOM)
        if np.isnan(base).any():
            report.problem = f"the function is NaN here, in {int(np.isnan(base).sum())} results"
            return report
        # The first row, of ones, only makes the numbers in messages readable.
        upstream = self.rng.standard_normal((self.seeds + 1, base.size))
        upstream[0] = 1.0
        analytic, behind, missing = self.analytic(upstream)
        if np.isinf(base).any() and not all(np.isfinite(rows).all() for rows in analytic.values()):
            report.problem = (
                f"the function is infinite here, in {int(np.isinf(base).sum())} results"
            )
            return report
        for place in self.places:
            found = self.compare(place, upstream, analytic[place])
            if place in missing and not found.ok:
                row = found.numeric[0]
                worst = row.flat[int(np.abs(row).argmax())]
                report.problem = f"no gradient reached input {place} (numerical {worst:.15g})"
            if np.isfinite(found.analytic).all() and not np.isfinite(found.numeric).all():
                report.problem = (
                    f"the function is not finite one step from input {place}; pass a smaller eps"
                )
                return report
            found.shares = _what_they_share(found, *behind[place])
            report.inputs.append(found)
        return report

    def analytic(self, upstream: Array) -> tuple[dict[int, Array], dict[int, Any], set[int]]:
        """The gradients by backward, one row per seed; the graph; inputs that got none."""
        values = self.tensors()
        leaves = [values[i] for i in self.places]
        with enable_grad():
            outputs = _several(self.fn(*values))
        rows: dict[int, list[Array]] = {i: [] for i in self.places}
        missing = set()
        bounds = np.cumsum([0, *[out.size for out in outputs]])
        live = [i for i, out in enumerate(outputs) if out.requires_grad]
        for row in upstream:
            parts = [row[bounds[i] : bounds[i + 1]].reshape(outputs[i].shape) for i in live]
            found: Sequence[Any] = [None] * len(leaves)
            if live:
                roots = [outputs[i] for i in live]
                found = grad(roots, leaves, parts, retain_graph=True, allow_unused=True)
            for place, leaf, gradient in zip(self.places, leaves, found, strict=True):
                if gradient is None:
                    missing.add(place)
                rows[place].append(np.zeros(leaf.shape) if gradient is None else gradient._data)
        nodes = [outputs[i]._node for i in live]
        graph = history([node for node in nodes if node is not None])
        behind = {i: (leaf._node, graph) for i, leaf in zip(self.places, leaves, strict=True)}
        return {i: np.array(found) for i, found in rows.items()}, behind, missing

    def compare(self, place: int, upstream: Array, analytic: Array) -> InputReport:
        found = compare_entries(
            self.value,
            self.points[place],
            upstream,
            analytic,
            eps=self.eps,
            rtol=self.rtol,
            atol=self.atol,
        )
        found.position, found.name = place, self.given[place].name or ""
        return found


def largest_of(row: Array) -> float:
    """Rounding on the way to an entry may be as large as that of its tensor's largest one."""
    return float(np.abs(row).max(initial=0.0, where=np.isfinite(row)))


def compare_entries(
    value: Callable[[], tuple[Array, Array]],
    point: Array,
    upstream: Array,
    analytic: Array,
    *,
    entries: Iterable[tuple[int, ...]] | None = None,
    eps: float = 1e-5,
    rtol: float = 1e-6,
    atol: float = 0.0,
) -> InputReport:
    """Gradients at the entries of one array against central differences there.

    Args:
        value: the results at the present `point` in one row, and for each how large numbers were
            on the way to it; `point` is moved, entry by entry, and put back.
        upstream, analytic: one row per seed, of the results, and of the gradients (as `point`).
        entries: those to look at; by default all. Of the others the gradient is taken for right.
        eps, rtol, atol: as for `gradcheck`.
    """
    numeric = analytic.astype(np.float64)
    noise = np.zeros(analytic.shape)
    wrong, kinks = np.zeros(analytic.shape, bool), np.zeros(analytic.shape, bool)
    base = value()[0]
    for index in np.ndindex(point.shape) if entries is None else entries:
        slopes = _slopes(value, point, index, base, upstream, eps)
        at = (slice(None), *index)
        numeric[at], noise[at], left, right, kink = slopes
        found = analytic[at]
        size = np.maximum(np.abs(found), np.abs(numeric[at]))
        with np.errstate(invalid="ignore"):  # of two infinities
            off = ~(np.abs(found - numeric[at]) <= rtol * size + atol + noise[at])
            off &= found != numeric[at]
        slack = rtol * size + atol + np.abs(right - left) * 1e-3
        between = (found >= np.minimum(left, right) - slack) & (
            found <= np.maximum(left, right) + slack
        )
        kinks[at] = kink
        # An infinity is within a tolerance that grows with it, and yet it is not the slope.
        wrong[at] = np.where(kink, ~between, off) | (np.isinf(found) & np.isfinite(numeric[at]))
    return InputReport(0, "", analytic, numeric, noise, wrong, kinks)


Slopes = tuple[Array, ...]


def _slopes(
    value: Callable[[], tuple[Array, Array]],
    point: Array,
    index: tuple[int, ...],
    base: Array,
    upstream: Array,
    eps: float,
) -> Slopes:
    """For each seed: central slope, its noise, the slopes on either side, and if it kinks.

    Beside a pole, or where a logarithm ends, a smaller step can tell more.
    """
    before = abs(float(point[index]))
    usual = eps * max(1.0, before)
    slopes = _stencil(value, point, index, base, upstream, usual)
    for step in (eps * before, 1e-3 * usual):
        if (slopes[1] <= 1e-3 * np.abs(slopes[0])).all():
            break
        if not 1e-100 < step < usual:
            continue
        closer = _stencil(value, point, index, base, upstream, step)
        better = closer[1] < slopes[1]
        slopes = tuple([np.where(better, b, a) for a, b in zip(slopes, closer, strict=True)])
    return slopes


def _stencil(
    value: Callable[[], tuple[Array, Array]],
    point: Array,
    index: tuple[int, ...],
    base: Array,
    upstream: Array,
    step: float,
) -> Slopes:
    before = point[index]
    rows: dict[int, Array] = {}
    moved: dict[int, float] = {0: float(before)}
    rows[0] = base
    for k in (-2, -1, 1, 2):
        point[index] = before + k * step
        moved[k] = float(point[index])
        rows[k], scale = value()
    point[index] = before

    def slope(a: int, b: int) -> Array:
        with np.errstate(invalid="ignore"):  # inf − inf: no slope there
            change = rows[b] - rows[a]
        change = np.where(rows[a] == rows[b], 0.0, change)  # equal infinities included
        result: Array = upstream @ change / (moved[b] - moved[a])
        return result

    central, wide = slope(-1, 1), slope(-2, 2)
    touched = ((rows[-1] != base) | (rows[1] != base)) * scale
    rounding = np.abs(upstream) @ touched * (2 * np.finfo(np.float64).eps / step)
    left, right = slope(-1, 0), slope(0, 1)
    jump, wide_jump = np.abs(right - left), np.abs(slope(0, 2) - slope(-2, 0))
    size = np.abs(left) + np.abs(right)
    # A smooth function's jump doubles with the step; a kink's stays.
    kink = (jump > 1e-3 * size) & (jump > 100 * rounding)
    # Beside a kink, the slope goes on as it is on one side of the point and not on the other.
    bends = np.abs(left - slope(-2, -1)), np.abs(slope(1, 2) - right)
    one_sided = np.minimum(*bends) < 0.1 * np.maximum(*bends)
    kink &= (wide_jump < 1.5 * jump) | one_sided
    noise = rounding + np.abs(central - wide)
    noise[np.isnan(noise)] = np.inf  # two steps away it is not defined
    return central, noise, left, right, kink


def _what_they_share(found: InputReport, leaf: Node, graph: list[Node]) -> str:
    """What the wrong entries have in common: a repeated index, a slice of an axis, or nothing."""
    wrong = np.asarray(found.wrong.any(axis=0))
    if not wrong.any() or wrong.ndim == 0:
        return ""
    repeated = _repeated(leaf, graph)
    if repeated is not None and (wrong <= repeated).all():
        return "only where an index names an entry more than once"
    if wrong.all():
        return "all of them"
    for axis in range(wrong.ndim):
        rest = tuple([a for a in range(wrong.ndim) if a != axis])
        rows = np.flatnonzero(wrong.any(axis=rest))
        if len(rows) <= wrong.shape[axis] // 2 and wrong.take(rows, axis).all():
            where = ", ".join(map(str, rows))
            return f"exactly those with index {where} on axis {axis}"
    return ""


def _repeated(leaf: Node, graph: list[Node]) -> Array | None:
    """Which entries of the leaf are named more than once by an index that is applied to it."""
    for node in graph:
        options = node.options or {}
        index = options.get("index", options.get("indices"))
        if index is None or leaf not in node.inputs:
            continue
        if options.get("axis"):
            index = (slice(None),) * (options["axis"] % len(leaf.shape)) + (index,)
        counts = np.zeros(leaf.shape)
        np.add.at(counts, index, 1.0)
        repeated: Array = counts > 1
        return repeated if repeated.any() else None
    return None
