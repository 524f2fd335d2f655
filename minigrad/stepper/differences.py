"""One contribution of a backward pass against finite differences of the op that it went through.

The op is run again on its inputs, in float64, with one entry moved a little; the slope of
(upstream · result).sum() must be what the rule passed on. Where the graph is not in float64, or a
result is infinite, the rule is run again too, so that both are asked about the same numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.check.differences import InputReport, Report, compare_entries, largest_of
from minigrad.graph import Node
from minigrad.joint import JointPrimitive
from minigrad.memory import Array
from minigrad.stepper.events import Snapshot, Verdict

MOST = 64
"""Entries of one contribution that are looked at; of larger ones, a sample."""

STEP = 1e-5

_WIDE = np.dtype(np.float64)


def check_edge(
    node: Node,
    position: int,
    upstream: Array,
    contribution: Array,
    taken: Callable[[Any], Snapshot],
) -> tuple[Verdict, Report | None]:
    """The verdict on what the op that made `node` passed to an input, and what is wrong if any."""
    op = node.primitive
    assert op is not None
    assert node.trace is not None
    given = [node.trace[place] for place in range(len(node.inputs))]
    inputs = [_widened(x) for x in given]
    options = {name: _widened(x) for name, x in (node.options or {}).items()}
    point = inputs[position] = np.array(inputs[position], order="C")

    def value() -> tuple[Array, Array]:
        row = np.ravel(op.apply(inputs, options)).astype(np.float64)
        return row, np.full(row.size, largest_of(row))

    base, _ = value()
    entries = _chosen(contribution)
    if np.isnan(base).any() or not np.isfinite(upstream).all():
        entries = []  # there is no slope of what is not a number
    # An infinite result says nothing of the slope; what it sent back is left out on both sides.
    weights = np.where(np.isfinite(base), np.ravel(upstream).astype(np.float64), 0.0)
    analytic = contribution
    if entries and not (all(_widened(x) is x for x in given) and np.isfinite(base).all()):
        out = base.reshape(node.shape)
        kept = [*inputs, out]
        analytic = _passed_again(node, position, weights.reshape(node.shape), kept, options)
    rows = weights.reshape(1, -1), analytic[None]
    found = compare_entries(value, point, *rows, entries=entries, eps=STEP)
    found.position, found.name = position, node.inputs[position].name or ""
    largest = max([largest_of(np.ravel(x)) for x in inputs if isinstance(x, np.ndarray)])
    _forgive(found, bool(np.isfinite(base).all()), largest * float(np.abs(weights).sum()))
    if contribution.dtype != _WIDE and np.isfinite(base).all():
        size = max(1.0, largest) * float(np.abs(weights).max(initial=0.0))
        _hold_against(found, contribution, entries, size)
    if found.ok:
        return _verdict(found, entries, taken), None
    report = Report(inputs=[found])
    if len(entries) == contribution.size:
        # For other upstreams too: what holds for one alone can be an accident.
        several = np.random.default_rng(0).standard_normal((4, base.size))
        several[0] = 1.0
        kept = [*inputs, base.reshape(node.shape)]
        made = [
            _passed_again(node, position, x.reshape(node.shape), kept, options) for x in several
        ]
        again = compare_entries(value, point, several, np.array(made), entries=entries, eps=STEP)
        report.told = Report(inputs=[again]).diagnosis
    return _verdict(found, entries, taken), report


def _forgive(found: InputReport, is_finite: bool, terms: float) -> None:
    """What differences cannot know is not wrong.

    One step further the op may not be defined, and at an infinite result neither is its slope. On
    its way to a small result an op may have rounded numbers as large as its inputs.
    """
    lost = ~np.isfinite(found.numeric)
    if not is_finite:
        lost |= ~np.isfinite(found.analytic)
    with np.errstate(invalid="ignore"):
        error = np.abs(found.analytic - found.numeric)
    lost |= found.wrong & (error <= 4 * np.finfo(np.float64).eps * terms / STEP)
    found.wrong[lost], found.noise[lost] = False, np.inf


def _hold_against(
    found: InputReport, contribution: Array, entries: list[tuple[int, ...]], size: float
) -> None:
    """The contribution itself, in narrower floats, against the rule in float64.

    It may be off by what its floats round of numbers of a `size`, as the rule may have had.
    """
    slack = 64 * float(np.finfo(contribution.dtype).eps) * size
    for index in entries:
        at = (0, *index)
        passed, rule = float(contribution[index]), float(found.analytic[at])
        is_close = abs(passed - rule) <= 0.01 * abs(rule) + slack
        found.wrong[at] |= np.isfinite(rule) and not (np.isfinite(passed) and is_close)
        found.noise[at] += slack
    found.analytic = contribution.astype(np.float64)[None]


def _widened(x: Any) -> Any:
    """An array of narrower floats as float64, and float64 in the place of their dtype."""
    if isinstance(x, np.ndarray):
        return x.astype(np.float64) if x.dtype.kind == "f" and x.dtype != _WIDE else x
    is_narrow = isinstance(x, (type, np.dtype)) and np.dtype(x).kind == "f"
    return _WIDE if is_narrow else x


def _passed_again(
    node: Node, position: int, upstream: Array, kept: list[Any], options: dict[str, Any]
) -> Array:
    """What the rule makes of the same numbers in float64; it is given copies."""
    op = node.primitive
    assert op is not None
    again = copy.copy(node)
    again.options = options
    again.inputs = [
        Node(x.shape, _WIDE if x.dtype.kind == "f" else x.dtype, x.requires_grad)
        if isinstance(x, Node)
        else x
        for x in node.inputs
    ]
    arrays = [x.copy() if isinstance(x, np.ndarray) else x for x in kept]
    again.kept = dict(enumerate(arrays))
    if isinstance(op, JointPrimitive):
        again.kept["saved"] = op.forward(*arrays[:-1], **options)[1]
    rule = op.rules[position]
    assert rule is not None
    return np.asarray(rule.pull(upstream, again, position, None))


def _chosen(contribution: Array) -> list[tuple[int, ...]]:
    """All entries, or a sample that is the same on every run: the largest, and some at random."""
    size = contribution.size
    if size <= MOST:
        flat = np.arange(size)
    else:
        largest = np.argsort(np.abs(contribution), axis=None)[-MOST // 4 :]
        others = np.setdiff1d(np.arange(size), largest)
        random = np.random.default_rng(0).choice(others, MOST - len(largest), replace=False)
        flat = np.union1d(largest, random)
    return [tuple(map(int, np.unravel_index(i, contribution.shape))) for i in flat]


def _verdict(
    found: InputReport, entries: list[tuple[int, ...]], taken: Callable[[Any], Snapshot]
) -> Verdict:
    looked_at = np.zeros(found.numeric[0].shape, bool)
    for index in entries:
        looked_at[index] = True
    numeric = np.where(looked_at, found.numeric[0], np.nan)
    with np.errstate(invalid="ignore"):
        error = np.abs(found.analytic[0] - found.numeric[0])
    size = np.maximum(np.abs(found.analytic[0]), np.abs(found.numeric[0]))
    stands_out = looked_at & ((found.noise[0] < 1e-3 * size) | (found.noise[0] == 0))
    relative = np.where(stands_out, found.relative_error[0], -1.0)
    worst: tuple[int, ...] = ()
    any_stands_out = bool((relative >= 0).any())
    if any_stands_out:
        worst = tuple(map(int, np.unravel_index(int(relative.argmax()), relative.shape)))
    return Verdict(
        numeric=taken(numeric),
        step=STEP,
        checked=len(entries),
        size=looked_at.size,
        worst=worst,
        absolute=float(error[worst]) if any_stands_out else 0.0,
        relative=float(relative[worst]) if any_stands_out else 0.0,
        wrong=int(found.wrong[0].sum()),
        noisy=int((looked_at & ~stands_out).sum()),
        kinks=int(found.kinks[0].sum()),
    )
