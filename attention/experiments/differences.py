"""The study's own proof: the engine's gradients of attention against central finite differences.

The loss is computed a second time here, in plain NumPy and float64, and differentiated by moving
one entry at a time. A saturated row has gradients down to 1e-30, so the errors are relative to
each row, and the loss is arranged so that such rows can be judged at all. This is a sample that
vouches for one study, not the general gradient check of the engine.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import minigrad
from attention.experiments.regime import DEAD_WEIGHT, attend
from minigrad import Tensor

__all__ = [
    "LARGEST_ERROR",
    "DifferenceCheck",
    "check_head",
    "check_random_head",
    "failed_checks",
]

Array = npt.NDArray[Any]

LARGEST_ERROR = 1e-6
"""The relative error of a row above which a gradient counts as wrong."""

STEP = float(np.finfo(np.float64).eps ** (1 / 3))
"""The step of a central difference, where truncation (h²) and rounding (ε/h) balance."""

ROWS, COLUMNS, TOKENS = 4, 6, 32


@dataclass(frozen=True, slots=True)
class DifferenceCheck:
    """The gradient at one place against finite differences.

    Attributes:
        place: where: `softmax input`, `Q`, `K`, `W_Q`, `W_K`, `V` or `W_V`.
        d_k: the width of queries and keys.
        scaled: whether the scale was applied.
        rows: how many rows were judged.
        queries: how many queries the sample has.
        unsaturated: how many of them have no weight above .99.
        skipped: how many rows are so small that rounding in float64 hides whether they are right.
        worst: the largest relative error of a row.
        smallest: the smallest norm of a row that was judged, over its sampled entries.
    """

    place: str
    d_k: int
    scaled: bool
    rows: int
    queries: int
    unsaturated: int
    skipped: int
    worst: float
    smallest: float

    @property
    def passed(self) -> bool:
        """Whether no row that could be judged was wrong; a NaN is wrong."""
        return self.worst <= LARGEST_ERROR


def check_random_head(
    rng: np.random.Generator, *, d_k: int, tokens: int, width: int, scaled: bool
) -> list[DifferenceCheck]:
    """Check the gradients of one head with random weights that reads a random sequence.

    Args:
        rng: where the numbers come from.
        d_k: the width of X, Q and K.
        tokens: the length of the sequence; at most 32 are read.
        width: the width of V.
        scaled: whether the scores are scaled by 1/√d_k.

    Returns:
        One result for each of the seven places.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> checks = check_random_head(rng, d_k=4, tokens=3, width=2, scaled=False)
        >>> len(checks), failed_checks(checks)
        (7, [])
    """
    tokens = min(tokens, TOKENS)
    arrays = {
        "X": rng.standard_normal((tokens, d_k)),
        "W_Q": rng.standard_normal((d_k, d_k)) / math.sqrt(d_k),
        "W_K": rng.standard_normal((d_k, d_k)) / math.sqrt(d_k),
        "W_V": rng.standard_normal((d_k, width)) / math.sqrt(d_k),
    }
    return check_head(arrays, rng, scaled=scaled)


def check_head(
    arrays: Mapping[str, Array], rng: np.random.Generator, *, scaled: bool
) -> list[DifferenceCheck]:
    """Check the gradients of one head on a sample of rows and entries, under a random upstream.

    Args:
        arrays: `X`, `W_Q`, `W_K` and `W_V`, or `Q`, `K` and `V`, each with two axes.
        rng: what draws the upstream and the sample.
        scaled: whether the scores are scaled by 1/√d_k.

    Returns:
        One result for each place.
    """
    loss, gradients = _record(arrays, rng, scaled=scaled)
    return [_check_place(loss, place, gradients[place], rng, scaled) for place in gradients]


def failed_checks(checks: Sequence[DifferenceCheck]) -> list[str]:
    """Return what is wrong: each check that failed, and each place where no row could be judged.

    Example:
        >>> failed_checks([DifferenceCheck("Q", 4, True, 4, 8, 8, 0, 0.5, 1.0)])
        ['Q at d_k = 4 with the scale: relative error 0.5']
    """
    wrong = [
        f"{check.place} at d_k = {check.d_k} {'with' if check.scaled else 'without'} the scale: "
        f"relative error {check.worst:.1g}"
        for check in checks
        if not check.passed
    ]
    judged = {check.place for check in checks if check.rows}
    unjudged = dict.fromkeys(check.place for check in checks if check.place not in judged)
    return wrong + [f"{place}: no row could be judged" for place in unjudged]


class _Loss:
    """L = Σ context ⊙ upstream of one head, query by query, as a function of one entry.

    From every value the one that the query prefers is subtracted. The weights sum to 1, so this
    changes L by a constant and no gradient; but what is left of L in a saturated row is as small
    as its gradient, and a difference of two such numbers keeps its digits.
    """

    def __init__(self, values: dict[str, Array], upstream: Array, scale: float) -> None:
        self.values = values
        self.upstream = upstream
        self.scale = scale
        preferred = values["softmax input"].argmax(axis=-1, keepdims=True)
        self.origin = np.take_along_axis(upstream @ values["V"].T, preferred, axis=-1)

    def moved(self, place: str, row: int, column: int, step: float) -> Array:
        """L of each query, (L,), with one entry of the array at `place` moved by `step`."""
        v = dict(self.values)
        target = place.removeprefix("W_")
        v[target] = v[target].copy()
        if place == target:
            v[place][row, column] += step
        else:
            # A weight moves one column of its product; the others need not be computed again.
            weights = v[place][:, column].copy()
            weights[row] += step
            v[target][:, column] = v["X"] @ weights
        if target in ("Q", "K"):
            v["softmax input"] = self.scale * (v["Q"] @ v["K"].T)
        logits = v["softmax input"]
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        pull = self.upstream @ v["V"].T - self.origin
        loss: Array = (weights * pull).sum(axis=-1)
        return loss


def _record(
    arrays: Mapping[str, Array], rng: np.random.Generator, *, scaled: bool
) -> tuple[_Loss, dict[str, Array]]:
    """Run the engine; returns the loss to compare with, and the engine's gradients by place."""
    leaves = {
        name: Tensor(np.asarray(array, dtype=np.float64), requires_grad=name != "X", name=name)
        for name, array in arrays.items()
    }
    tensors = dict(leaves)
    if "X" in leaves:
        tensors |= {name: leaves["X"] @ leaves[f"W_{name}"] for name in "QKV"}
    scale = 1.0 / math.sqrt(tensors["Q"].shape[-1]) if scaled else 1.0
    logits, context = attend(tensors["Q"], tensors["K"], tensors["V"], scale)
    tensors["softmax input"] = logits
    upstream = rng.standard_normal(context.shape)
    wanted = {name: tensor for name, tensor in tensors.items() if name != "X"}
    found = minigrad.grad(context, list(wanted.values()), upstream)
    gradients = {name: g.data for name, g in zip(wanted, found, strict=True)}
    loss = _Loss({name: tensor.data for name, tensor in tensors.items()}, upstream, scale)
    return loss, gradients


def _check_place(
    loss: _Loss, place: str, gradient: Array, rng: np.random.Generator, scaled: bool
) -> DifferenceCheck:
    """Judge some rows of a gradient by their largest entries and some random ones."""
    errors: list[float] = []
    norms: list[float] = []
    skipped = 0
    for row in rng.permutation(gradient.shape[0])[: 4 * ROWS]:
        if len(errors) == ROWS:
            break
        columns = _columns(gradient[row], rng)
        exact = _slopes(loss, place, row, columns)
        given = gradient[row, columns]
        norm = float(max(np.linalg.norm(exact.sum(axis=0)), np.linalg.norm(given)))
        if norm == 0.0 or norm < _resolution(loss, place, exact):
            skipped += 1
            continue
        errors.append(float(np.linalg.norm(exact.sum(axis=0) - given)) / norm)
        norms.append(norm)
    logits = loss.values["softmax input"]
    largest = np.asarray(minigrad.softmax(logits, axis=-1)).max(axis=-1)
    return DifferenceCheck(
        place=place,
        d_k=loss.values["Q"].shape[-1],
        scaled=scaled,
        rows=len(errors),
        queries=largest.size,
        unsaturated=int((largest <= DEAD_WEIGHT).sum()),
        skipped=skipped,
        worst=max(errors, default=0.0),
        smallest=min(norms, default=0.0),
    )


def _columns(row: Array, rng: np.random.Generator) -> Array:
    """The columns with the largest entries, and as many at random."""
    largest = np.argsort(-np.abs(row))[: COLUMNS // 2]
    return np.union1d(largest, rng.permutation(row.size)[: COLUMNS // 2])


def _slopes(loss: _Loss, place: str, row: int, columns: Array) -> Array:
    """Central differences of each query's loss, (L, columns)."""
    slopes = [
        (loss.moved(place, row, column, STEP) - loss.moved(place, row, column, -STEP))
        / (2.0 * STEP)
        for column in columns
    ]
    return np.stack(slopes, axis=-1)


def _resolution(loss: _Loss, place: str, slopes: Array) -> float:
    """The norm below which rounding alone may pass for a wrong gradient.

    A slope is uncertain by ε·|L|/h, where L is the loss of the queries that the moved row reaches.
    The gradient itself is, too: the rule y ⊙ (G − ΣG⊙y) subtracts numbers as large as G, so behind
    a softmax even a right one carries an error of ε·G, however small the row has become.
    """
    eps = float(np.finfo(np.float64).eps)
    values = loss.values
    reached = np.abs(slopes).max(axis=-1) > 0
    of_slope = np.abs(loss.moved(place, 0, 0, 0.0))[reached].max(initial=0.0) / STEP
    pull = float(np.abs(loss.upstream @ values["V"].T).max())
    reach = loss.scale * max(np.abs(values["Q"]).max(), np.abs(values["K"]).max())
    of_rule = {"softmax input": pull, "V": 0.0, "W_V": 0.0}.get(place, pull * reach)
    return float(16.0 * eps * (of_slope + of_rule) / LARGEST_ERROR)
