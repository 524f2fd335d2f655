"""One contribution of a backward pass against finite differences of the op that it went through.

The op is run again on its inputs, in float64, with one entry moved a little; the slope of
(upstream · result).sum() must be what the rule passed on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.check.differences import InputReport, Report, compare_entries, largest_of
from minigrad.graph import Node
from minigrad.memory import Array
from minigrad.stepper.events import Snapshot, Verdict

MOST = 64
"""Entries of one contribution that are looked at; of larger ones, a sample."""

STEP = 1e-5


def check_edge(
    node: Node,
    position: int,
    upstream: Array,
    contribution: Array,
    taken: Callable[[Any], Snapshot],
) -> tuple[Verdict, Report | None]:
    """The verdict on what the op that made `node` passed to an input, and what is wrong if any."""
    op, options = node.primitive, node.options or {}
    assert op is not None
    assert node.trace is not None
    inputs = [node.trace[place] for place in range(len(node.inputs))]
    widened = [_widened(x) for x in inputs]
    point = widened[position] = np.array(widened[position], order="C")

    def value() -> tuple[Array, Array]:
        row = np.ravel(op.apply(widened, options)).astype(np.float64)
        return row, np.full(row.size, largest_of(row))

    entries = _chosen(contribution)
    if np.isnan(value()[0]).any() or not np.isfinite(upstream).all():
        entries = []  # there is no slope of what is not a number
    rows = upstream.astype(np.float64).reshape(1, -1), contribution[None]
    found = compare_entries(value, point, *rows, entries=entries, eps=STEP)
    found.position, found.name = position, node.inputs[position].name or ""
    lost = ~np.isfinite(found.numeric)  # one step further, the op is not defined
    found.wrong[lost], found.noise[lost] = False, np.inf
    return _verdict(found, entries, taken), None if found.ok else Report(inputs=[found])


def _widened(x: Any) -> Any:
    is_float = isinstance(x, np.ndarray) and x.dtype.kind == "f"
    return x.astype(np.float64) if is_float else x


def _chosen(contribution: Array) -> list[tuple[int, ...]]:
    """All entries, or a sample that is the same on every run: the largest, and some at random."""
    size = contribution.size
    if size <= MOST:
        flat = np.arange(size)
    else:
        largest = np.argsort(np.abs(contribution), axis=None)[-MOST // 4 :]
        random = np.random.default_rng(0).choice(size, MOST, replace=False)
        flat = np.unique([*largest, *random])[:MOST]
    return [tuple(map(int, np.unravel_index(i, contribution.shape))) for i in flat]


def _verdict(
    found: InputReport, entries: list[tuple[int, ...]], taken: Callable[[Any], Snapshot]
) -> Verdict:
    looked_at = np.zeros(found.numeric[0].shape, bool)
    for index in entries:
        looked_at[index] = True
    numeric = np.where(looked_at, found.numeric[0], np.nan)
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
        noisy=int((looked_at & ~stands_out).sum()),
        kinks=int(found.kinks[0].sum()),
    )
