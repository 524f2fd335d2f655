"""Growth: time and memory over the length of attention, the depth of a chain, the size of ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from tests.benchmarks.contenders import HAND, Contender, contenders
from tests.benchmarks.measuring import Effort, Fit, Row, exponent, measure

LARGEST = 2**30
"""Bytes beyond which nothing that grows with the square of the length is measured."""

LEAST = 2**20
"""Bytes below which memory has no exponent: too few pages to tell a law from an accident."""


class Growth(NamedTuple):
    """What grows: its kinds of work, their sizes for n, and which n there are."""

    kinds: tuple[str, ...]
    sizes: Callable[[int], tuple[int, ...]]
    n: tuple[int, ...]
    checked: int  # up to which n the numbers are held against float64


GROWTHS = {
    "L": Growth(("heads", "causal"), lambda n: (1, n, 64), tuple(2**i for i in range(8, 16)), 4096),
    "depth": Growth(
        ("chain",),
        lambda n: (n, 64),
        (100, 320, 1000, 3200, 10**4, 32000, 10**5, 320000, 10**6),
        10**6,
    ),
    "width": Growth(("chain",), lambda n: (100, n), tuple(10**i for i in range(7)), 10**6),
}
"""Over the length L of one head of width 64; over the ops of a chain on 64 numbers; over the
numbers that each of 100 ops computes."""


@dataclass
class Curve:
    """What was measured of one contender, point by point."""

    over: str
    contender: str
    n: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    extra: list[int | None] = field(default_factory=list)
    time_fit: Fit | None = None
    memory_fit: Fit | None = None


def grow(
    over: str, peers: Sequence[str], effort: Effort, most: int
) -> tuple[list[Curve], list[Row]]:
    """The curves over one of `GROWTHS` up to n = `most`, and the rows that had an error."""
    growth, curves, failed = GROWTHS[over], dict[str, Curve](), dict[str, Row]()
    for n, kind in product([n for n in growth.n if n <= most], growth.kinds):
        for row in _point(n, kind, growth, peers, effort, [*failed, *_too_large(curves)]):
            if row.seconds is None:
                failed[row.contender] = row
                continue
            curve = curves.setdefault(row.contender, Curve(over, row.contender))
            curve.n.append(n)
            curve.seconds.append(row.seconds)
            curve.extra.append(row.extra)
    for curve in curves.values():
        curve.time_fit = exponent(curve.n, curve.seconds)
        curve.memory_fit = exponent(curve.n, curve.extra, LEAST)
    return [*curves.values()], [*failed.values()]


def _point(
    n: int, kind: str, growth: Growth, peers: Sequence[str], effort: Effort, out: Sequence[str]
) -> list[Row]:
    """All that is measured at one n, but for those that are out of the race."""
    ending = ", causal" if kind == "causal" else ""
    found = [one for one in _players(kind, peers) if one.label + ending not in out]
    rows = measure(kind, growth.sizes(n), found, effort, check=n <= growth.checked)
    for row in rows:
        row.contender += ending
    return rows


def _players(kind: str, peers: Sequence[str]) -> list[Contender]:
    """In one thread; of the peers torch alone, and only fused kernels for causal heads."""
    endings = ("fused",) if kind == "causal" else (HAND, "minigrad", "torch", "fused")
    found = contenders(kind, [peer for peer in peers if peer == "torch"])
    return [one for one in found if one.threads == 1 and one.name.endswith(endings)]


def _too_large(curves: Mapping[str, Curve]) -> list[str]:
    """Those that keep all weights, once those of twice the length would not fit."""
    return [
        name
        for name, curve in curves.items()
        if curve.over == "L" and "fused" not in name and 4 * (curve.extra[-1] or 0) > LARGEST
    ]
