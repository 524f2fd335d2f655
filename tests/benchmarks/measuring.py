"""Measuring: are the numbers right, how long does a step take, how much memory does it need.

Contenders take turns within one process: in each round everyone takes one sample, in an order that
rotates, and ratios are taken within a round, so that a machine that is slow for a while is slow for
all.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

import numpy as np

from tests.benchmarks.contenders import HAND, PRODUCTS, Contender
from tests.benchmarks.peaks import peak
from tests.benchmarks.workloads import Array, Step, Work, work

TOLERANCE = {"float64": 1e-9, "float32": 1e-4}
"""How far a number may be off, relative to itself and to the root mean square of its array."""

LONG = 4.0
"""Seconds from which on a step is so long that none that is not timed goes before it."""


PAUSE = 0.01
"""Seconds between two contenders."""


class Effort(NamedTuple):
    """How much is measured of a workload: at most so many rounds, as long as there is time."""

    rounds: int
    least: int
    seconds: float  # for all rounds; the least number of them is taken in any case
    sample: float  # seconds; short steps are repeated


class Sample(NamedTuple):
    """One turn: seconds, page faults and seconds of processor time, each for one step."""

    seconds: float
    faults: float
    processor: float


class Plan(NamedTuple):
    """How a sample is taken: from how many steps, and whether one that is not timed goes before."""

    repeats: int
    settles: bool


@dataclass
class Row:
    """What was measured of a contender; None for what was not."""

    contender: str
    threads: int
    seconds: float | None = None  # the median over the rounds
    ratio: tuple[float, float, float] | None = None  # to the hand-written step, in quartiles
    products: float | None = None  # the same to the matrix products alone, the median
    rounds: int = 0
    faults: float | None = None
    cores: float | None = None  # processor time over time
    extra: int | None = None  # bytes of memory at the peak beyond inputs and results
    deviation: float | None = None  # from float64, as the tolerance is meant
    error: str | None = None
    wrong: bool = False  # whether the error is in the numbers
    foreign: float | None = None  # cores that other processes kept busy meanwhile


def measure(
    kind: str,
    sizes: tuple[int, ...],
    found: Sequence[Contender],
    effort: Effort,
    *,
    check: bool = True,
    peaks: bool = True,
) -> list[Row]:
    """Check, time and weigh some contenders; one that fails or is wrong takes no further part."""
    task = work(kind, sizes)
    exact = task.exact() if check else None
    rows = {one.label: Row(one.label, one.threads) for one in found}
    ready: dict[str, Step] = {}
    for one in found:
        with _noting(rows[one.label]):
            step = _checked(one, task, exact, rows[one.label])
            if step is not None:
                ready[one.label] = step
    taking_part = [one for one in found if one.label in ready]
    others = _watch()
    samples = compare(taking_part, ready, rows, effort)
    foreign = others()
    for label, taken in samples.items():
        if rows[label].error is None:
            _summarise(rows[label], taken, samples)
            rows[label].foreign = foreign
    if peaks:
        for one in taking_part:
            if one.name != PRODUCTS:
                rows[one.label].extra = peak(kind, sizes, one.label)
    return [*rows.values()]


def _checked(one: Contender, task: Work, exact: Sequence[Array] | None, row: Row) -> Step | None:
    """A contender's step, if its numbers are right."""
    one.prepare()
    step = one.make(task)
    results = step()
    if exact is not None and one.name != PRODUCTS:
        row.deviation, row.error = judge(results, exact, task.upstream.dtype.name)
        row.wrong = row.error is not None
    return None if row.wrong else step


@contextmanager
def _noting(row: Row) -> Iterator[None]:
    """An error of one contender is told in its row, and stops nobody else."""
    try:
        yield
    except Exception as error:  # whatever a library raises
        lines = str(error).strip().splitlines() or [""]
        row.error = f"{type(error).__name__}: {lines[0]}"[:200]


# ------------------------------------------------------------------------------------------ numbers


def as_array(x: Any) -> Array:
    """A result as an array, whichever library's it is."""
    x = x.detach() if hasattr(x, "detach") else x
    return np.asarray(x.numpy() if hasattr(x, "numpy") else x)


def judge(
    results: Sequence[Any], exact: Sequence[Array], dtype: str
) -> tuple[float | None, str | None]:
    """How far the worst number is from float64, and what is wrong if it is too far.

    >>> judge([np.ones(2), np.ones(3)], [np.ones(2), np.ones(3) + 0.25], "float64")
    (0.1, 'wrong numbers: gradient 1 of 1 is off by 0.1, more than 1e-09')
    """
    if len(results) != len(exact):
        return None, f"wrong numbers: {len(results)} results in place of {len(exact)}"
    deviations = []
    for place, (result, right) in enumerate(zip(results, exact, strict=True)):
        found = as_array(result)
        name = f"gradient {place} of {len(exact) - 1}" if place else "the result"
        if found.shape != right.shape:
            return None, f"wrong numbers: {name} has shape {found.shape}, not {right.shape}"
        size = np.abs(right) + np.sqrt(np.mean(np.square(right)))
        deviation = float(np.max(np.abs(found - right) / size, initial=0.0))
        if not deviation <= TOLERANCE[dtype]:  # also where it is not a number
            too_far = f"off by {deviation:.2g}, more than {TOLERANCE[dtype]:.0e}"
            return deviation, f"wrong numbers: {name} is {too_far}"
        deviations.append(deviation)
    return max(deviations), None


# --------------------------------------------------------------------------------------------- time


def turns(players: Sequence[str]) -> Iterator[list[str]]:
    """The order of each round, without end.

    >>> rounds = turns("abc")
    >>> [next(rounds) for _ in range(2)]
    [['a', 'b', 'c'], ['b', 'c', 'a']]
    """
    for first in count():
        at = first % len(players)
        yield [*players[at:], *players[:at]]


def compare(
    found: Sequence[Contender], ready: Mapping[str, Step], rows: Mapping[str, Row], effort: Effort
) -> dict[str, list[Sample]]:
    """The samples of all contenders, round by round."""
    prepare = {one.label: one.prepare for one in found}
    samples: dict[str, list[Sample]] = {label: [] for label in ready}
    if not samples:
        return samples
    with _frozen():
        _age_the_allocator()
        plans = {}
        for label in ready:
            with _noting(rows[label]):
                prepare[label]()
                plans[label] = _plan(ready[label], effort.sample)
        start = time.perf_counter()
        for taken, order in zip(range(effort.rounds), turns([*ready]), strict=False):
            if taken >= effort.least and time.perf_counter() - start > effort.seconds:
                break
            for label in order:
                if rows[label].error is None:
                    with _noting(rows[label]):
                        prepare[label]()
                        samples[label].append(_sample(ready[label], plans[label]))
    return samples


@contextmanager
def _frozen() -> Iterator[None]:
    """The garbage collector leaves what there is alone, and does not run by itself."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def _age_the_allocator() -> None:
    """Free one large block, after which glibc keeps smaller ones in place of giving them back.

    It would come to that by itself, sooner or later and depending on what ran before; a step that
    takes 1.6 ms then takes 2.7 before, most of it page faults.
    """
    np.ones(2**25 - 2**16, np.uint8)


def _plan(step: Step, seconds: float) -> Plan:
    """Warms a step up, the same for all, and tells how its samples are taken."""
    times: list[float] = []
    while len(times) < 3 and (not times or times[-1] < LONG):
        times.append(_sample(step, Plan(1, False)).seconds)
    quickest = min(times)
    return Plan(max(1, math.ceil(seconds / max(quickest, 1e-9))), quickest < LONG)


def _sample(step: Step, plan: Plan) -> Sample:
    """One turn, after a step that is not timed.

    What the one before left in the caches and in the allocator is not counted; on a virtual machine
    the first use of memory that was given back can take longer than the step itself. And for some
    milliseconds threads of torch wait for more work with all their might.
    """
    gc.collect()
    time.sleep(PAUSE)
    if plan.settles:
        step()
    faults, used = _faults(), time.process_time()
    start = time.perf_counter()
    for _ in range(plan.repeats):
        step()
    seconds = time.perf_counter() - start
    used, faults = time.process_time() - used, _faults() - faults
    return Sample(*[total / plan.repeats for total in (seconds, faults, used)])


def _watch() -> Callable[[], float | None]:
    """Returns what tells how many cores others, also other virtual machines, kept busy since."""
    start, own, everybody = time.perf_counter(), time.process_time(), _busy()

    def others() -> float | None:
        now = _busy()
        if everybody is None or now is None:
            return None
        foreign = now - everybody - (time.process_time() - own)
        return round(max(0.0, foreign / (time.perf_counter() - start)), 2)

    return others


def _busy() -> float | None:
    """Seconds for which the cores were not idle, all together; None where nobody tells."""
    try:
        line = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    except OSError:
        return None
    user, nice, system, _idle, _waiting, *other = map(int, line.split()[1:9])
    return (user + nice + system + sum(other)) / os.sysconf("SC_CLK_TCK")


def _faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def _summarise(row: Row, taken: list[Sample], samples: Mapping[str, list[Sample]]) -> None:
    """Medians, and the quartiles of the ratios within the rounds."""
    row.rounds = len(taken)
    seconds, row.faults, processor = (median(column) for column in zip(*taken, strict=True))
    row.seconds, row.cores = seconds, processor / seconds
    row.ratio = ratios(taken, samples.get(HAND, []))
    floor = PRODUCTS if row.threads == 1 else f"{PRODUCTS}, {row.threads} threads"
    against = ratios(taken, samples.get(floor, []))
    row.products = against[1] if against else None


def ratios(taken: Sequence[Sample], base: Sequence[Sample]) -> tuple[float, float, float] | None:
    """The quartiles of the ratios round by round, or nothing without anything to compare with.

    >>> ratios([Sample(2.0, 0, 0)] * 3, [Sample(1.0, 0, 0)] * 3)
    (2.0, 2.0, 2.0)
    """
    if len(base) != len(taken) or not taken:
        return None
    of_rounds = [a.seconds / b.seconds for a, b in zip(taken, base, strict=True)]
    if len(of_rounds) == 1:
        return (of_rounds[0],) * 3
    low, middle, high = quantiles(of_rounds, n=4, method="inclusive")
    return low, middle, high


# ------------------------------------------------------------------------------------------- import


def measure_imports(modules: Mapping[str, str], effort: Effort) -> list[Row]:
    """How long it takes to import each module in a new process; the first is the measure."""
    labels = [*modules]
    samples: dict[str, list[Sample]] = {label: [] for label in labels}
    sizes: dict[str, int] = {}
    rows = {label: Row(label, 1) for label in labels}
    for label in labels:  # leaves the bytecode files that are measured with
        with _noting(rows[label]):
            sizes[label] = _import(modules[label])[1]
    start = time.perf_counter()
    for taken, order in zip(range(effort.rounds), turns(labels), strict=False):
        if taken >= effort.least and time.perf_counter() - start > effort.seconds:
            break
        for label in order:
            if rows[label].error is None:
                samples[label].append(Sample(_import(modules[label])[0], 0, 0))
    for label, taken_by in samples.items():
        if taken_by:
            rows[label].seconds = median([sample.seconds for sample in taken_by])
            rows[label].rounds = len(taken_by)
            rows[label].ratio = ratios(taken_by, samples[labels[0]])
            rows[label].extra = max(0, sizes[label] - sizes[labels[0]])
    return [*rows.values()]


def _import(module: str) -> tuple[float, int]:
    """Seconds, and bytes at the peak."""
    code = (
        f"import time; start = time.perf_counter(); import {module}\n"
        "seconds = time.perf_counter() - start\n"
        "from tests.benchmarks.peaks import highest; print(seconds, highest())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ImportError((done.stderr.strip().splitlines() or ["it failed"])[-1])
    seconds, highest = done.stdout.split()[-2:]
    return float(seconds), int(highest)


# ------------------------------------------------------------------------------------------- growth


def exponent(n: Sequence[float], values: Sequence[float | None], least: float = 0.0) -> Fit | None:
    """The slope of log value over log n by least squares, over the upper half of the points.

    Nothing where fewer than three are left, or one of them is missing or not above `least`.

    >>> exponent([1, 2, 4, 8, 16], [7, 6, 48, 192, 768])
    Fit(slope=2.0, start=4, stop=16)
    """
    half = len(n) // 2
    upper = [(a, b) for a, b in zip(n, values, strict=True)][half:]
    if len(upper) < 3 or any(b is None or not b > least for _, b in upper):
        return None
    x, y = np.log(np.array(upper, dtype=float)).T
    slope = np.cov(x, y)[0, 1] / np.var(x, ddof=1)
    return Fit(round(float(slope), 3), upper[0][0], upper[-1][0])


class Fit(NamedTuple):
    """An exponent, and from where to where it was fitted."""

    slope: float
    start: float
    stop: float
