"""The closed forms put to the test: each law of `random_energy` against what the engine measures.

A mean may miss its law by four standard errors, a median by its order-statistic interval; laws
that are exact only as σ grows get 10 % more, and three get the size of their next term. Two
quantities have no closed form: they are held against shares that were measured before. Every
check carries its tolerance, so that nothing passes for want of one.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import minigrad
from attention.experiments.random_energy import RandomEnergyModel, score_kurtosis
from attention.experiments.regime import attend, row_norms, softmax_jacobian
from minigrad import Tensor

__all__ = ["Check", "closed_form_checks"]

Array = npt.NDArray[Any]
Generator = np.random.Generator

SIGMAS = 4.0
"""How many standard errors a measured mean may be off."""

ASYMPTOTIC = 0.10
"""What is granted to a law that is exact only in the limit, relative to its value."""


WHOLE_PERCENT = 0.005
"""What rounding can hide in a share that was measured before and is quoted in whole percent."""


@dataclass(frozen=True, slots=True)
class Check:
    """One law, what was measured of it, and whether the two agree.

    Attributes:
        name: the quantity.
        setting: n, d_k or σ, and whether the scale was applied.
        law: the formula.
        measured: what the experiment gave.
        predicted: what the formula gives.
        tolerance: how far apart the two may be, absolute.
    """

    name: str
    setting: str
    law: str
    measured: float
    predicted: float
    tolerance: float

    @property
    def passed(self) -> bool:
        """Whether the measured value lies within the tolerance; a NaN does not."""
        return abs(self.measured - self.predicted) <= self.tolerance


def closed_form_checks(*, seed: int = 0, rows: int = 4000) -> tuple[Check, ...]:
    """Test every closed form of the laboratory on fresh random numbers.

    Args:
        seed: the seed; each group of checks draws from a stream of its own.
        rows: how many rows are drawn where each gives one number; some laws need more.

    Raises:
        ValueError: fewer than 100 rows, with which no interval means anything.

    Example:
        >>> [check.name for check in closed_form_checks(rows=200) if check.law == "½"]
        ['‖J‖₂ at (½, ½, 0, ...)']

    Source:
        Derrida 1981, "Random-energy model: An exactly solvable model of disordered systems".
    """
    if rows < 100:
        raise ValueError(f"rows must be at least 100 for the intervals to hold, not {rows}")
    groups: tuple[Callable[[Generator, int], list[Check]], ...] = (
        _spread_of_scores,
        _liquid,
        _freezing,
        _exact_trace,
        _frozen,
        _typical_row,
        _query_gradient,
        _concentration,
        _float32_zeros,
        _lipschitz,
        _sums_and_equal_values,
        _finite_differences,
    )
    streams = np.random.default_rng(seed).spawn(len(groups))
    return tuple(
        check for group, rng in zip(groups, streams, strict=True) for check in group(rng, rows)
    )


# ------------------------------------------------------------------- measuring and comparing


def _standard_error(values: Array) -> float:
    return float(values.std(ddof=1) / math.sqrt(values.size))


def _mean_check(
    name: str, setting: str, law: str, values: Array, predicted: float, *, granted: float = 0.0
) -> Check:
    """Compare a mean of independent values; `granted` comes on top of its standard error."""
    tolerance = SIGMAS * _standard_error(values) + granted
    return Check(name, setting, law, float(values.mean()), predicted, tolerance)


def _median_check(
    name: str, setting: str, law: str, values: Array, predicted: float, granted: float
) -> Check:
    """Compare a median of independent values; `granted` comes on top of its interval."""
    ordered = np.sort(values)
    middle, reach = ordered.size // 2, math.ceil(SIGMAS * math.sqrt(ordered.size) / 2.0)
    low, median, high = (float(ordered[middle + i]) for i in (-reach, 0, reach))
    tolerance = max(high - median, median - low) + granted
    return Check(name, setting, law, median, predicted, tolerance)


def _rms_check(name: str, setting: str, law: str, squares: Array, predicted: float) -> Check:
    """Compare the root of a mean of independent squares with an asymptotic law."""
    rms = math.sqrt(squares.mean())
    tolerance = SIGMAS * _standard_error(squares) / (2.0 * rms) + ASYMPTOTIC * predicted
    return Check(name, setting, law, rms, predicted, tolerance)


def _weights(logits: Array) -> Array:
    return np.asarray(minigrad.softmax(logits, axis=-1))


def _gaussian_logits(rng: Generator, rows: int, keys: int, spread: float) -> Array:
    return spread * rng.standard_normal((rows, keys))


def _entropy(logits: Array) -> Array:
    entropy: Array = -(_weights(logits) * np.asarray(minigrad.log_softmax(logits, axis=-1))).sum(-1)
    return entropy


@dataclass(frozen=True, slots=True)
class _Attention:
    """Weights (sequences, queries, keys) and gradients at the softmax input and at Q."""

    weights: Array
    logits_gradient: Array
    query_gradient: Array


def _attention(
    rng: Generator, rows: int, *, keys: int, d_k: int, scaled: bool, width: int = 64
) -> _Attention:
    """Run the engine on sequences of `keys` tokens in float32, and let each query see them all."""
    sequences = max(2, math.ceil(rows / keys))

    def draw(columns: int) -> Array:
        return rng.standard_normal((sequences, keys, columns), dtype=np.float32)

    query, key, value = (Tensor(draw(n), requires_grad=True) for n in (d_k, d_k, width))
    logits, context = attend(query, key, value, 1.0 / math.sqrt(d_k) if scaled else 1.0)
    # Divided by the root of its width, the upstream at each weight has unit variance.
    upstream = draw(width) / np.float32(math.sqrt(width))
    gradients = minigrad.grad(context, [logits, query], upstream)
    return _Attention(_weights(logits.data), gradients[0].data, gradients[1].data)


# ------------------------------------------------------------------------------- the checks


def _spread_of_scores(rng: Generator, rows: int) -> list[Check]:
    checks = []
    for d_k in (64, 1024):
        scores = _scores(rng, 5 * rows, d_k)
        squares = scores**2
        tolerance = SIGMAS * _standard_error(squares) / (2.0 * math.sqrt(d_k))
        measured = float(scores.std())
        checks.append(
            Check("std of q·k", f"d_k = {d_k}", "√d_k", measured, math.sqrt(d_k), tolerance)
        )
    scores = _scores(rng, 50 * rows, 16)
    second, fourth = (scores**2).mean(), (scores**4).mean()
    # The kurtosis is a ratio of means; its standard error follows from both by the delta method.
    influence = scores**4 / second**2 - 2.0 * fourth / second**3 * scores**2
    kurtosis = Check(
        "kurtosis of q·k",
        "d_k = 16",
        "3 + 6/d_k",
        float(fourth / second**2),
        score_kurtosis(16),
        SIGMAS * _standard_error(influence),
    )
    return [*checks, kurtosis]


def _scores(rng: Generator, count: int, d_k: int) -> Array:
    """Independent q·k, a few thousand pairs at a time."""
    parts = []
    for start in range(0, count, 4096):
        size = min(4096, count - start)
        query, key = rng.standard_normal((2, size, 1, d_k), dtype=np.float32)
        parts.append(np.asarray(minigrad.matmul(query, key.mT)).ravel())
    return np.concatenate(parts).astype(np.float64)


def _liquid(rng: Generator, rows: int) -> list[Check]:
    theory = RandomEnergyModel(keys=1024, spread=1.0)
    logits = _gaussian_logits(rng, rows // 2, theory.keys, theory.spread)
    share = theory.liquid_participation
    return [
        _mean_check(
            "entropy",
            "n = 1024, σ = 1",
            "ln n − σ²/2",
            _entropy(logits),
            theory.liquid_entropy,
            granted=share,
        ),
        _mean_check(
            "Σp²",
            "n = 1024, σ = 1",
            "e^{σ²}/n",
            (_weights(logits) ** 2).sum(axis=-1),
            share,
            granted=share * 2.0 * math.exp(2.0) / theory.keys,
        ),
    ]


def _freezing(rng: Generator, rows: int) -> list[Check]:
    """Each law holds on its own side of d_k = 2 ln n, 8.3 for 64 keys."""
    critical = math.sqrt(2.0 * math.log(64))
    checks = []
    for factor, law in ((0.25, "ln n − σ²/2"), (8.0, "(π²/6)·M_n/σ")):
        theory = RandomEnergyModel(keys=64, spread=factor * critical)
        predicted = theory.frozen_entropy if theory.frozen else theory.liquid_entropy
        side = "above" if theory.frozen else "below"
        granted = ASYMPTOTIC * predicted if theory.frozen else theory.liquid_participation
        checks.append(
            _mean_check(
                f"entropy {side} freezing",
                f"n = 64, σ² = {factor**2:g}·2 ln n",
                law,
                _entropy(_gaussian_logits(rng, rows, theory.keys, theory.spread)),
                predicted,
                granted=granted,
            )
        )
    return checks


def _exact_trace(rng: Generator, rows: int) -> list[Check]:
    """E[tr J] = E[Σp·l]/σ² holds row for row in the mean, so the two are compared in pairs."""
    checks = []
    for spread in (1.0, 8.0, 32.0):
        logits = _gaussian_logits(rng, rows, 64, spread)
        weights = _weights(logits)
        by_parts = (weights * logits).sum(axis=-1) / spread**2
        trace, _ = softmax_jacobian(weights)
        checks.append(
            Check(
                "E[tr J]",
                f"n = 64, σ = {spread:g}",
                "E[Σp·l]/σ²",
                float(trace.mean()),
                float(by_parts.mean()),
                SIGMAS * _standard_error(trace - by_parts),
            )
        )
    return checks


def _frozen(rng: Generator, rows: int) -> list[Check]:
    theory = RandomEnergyModel(keys=64, spread=32.0)
    logits = _gaussian_logits(rng, 5 * rows, theory.keys, theory.spread)
    weights = _weights(logits)
    pair = RandomEnergyModel(keys=2, spread=32.0)
    _, norm = softmax_jacobian(_weights(_gaussian_logits(rng, 25 * rows, 2, pair.spread)))
    measured = [
        ("tr J", "M_n/σ", softmax_jacobian(weights)[0], theory.frozen_trace),
        ("1 − max p", "ln 2·M_n/σ", 1.0 - weights.max(-1), theory.frozen_missing_weight),
        ("entropy", "(π²/6)·M_n/σ", _entropy(logits), theory.frozen_entropy),
        ("‖J‖²", "M_n/(3σ)", norm**2, pair.frozen_jacobian_square),
    ]
    settings = ["n = 64, σ = 32"] * 3 + ["n = 2, σ = 32"]
    return [
        _mean_check(name, setting, law, values, predicted, granted=ASYMPTOTIC * predicted)
        for setting, (name, law, values, predicted) in zip(settings, measured, strict=True)
    ]


def _typical_row(rng: Generator, rows: int) -> list[Check]:
    """The medians of tr J and of ‖∂L/∂S‖, and the share of dead rows with and without the scale."""
    checks = []
    for d_k in (1024, 4096):
        theory = RandomEnergyModel(keys=16, spread=math.sqrt(d_k))
        setting = f"n = 16, d_k = {d_k}, unscaled"
        logits = Tensor(_gaussian_logits(rng, rows, theory.keys, theory.spread), requires_grad=True)
        weights = minigrad.softmax(logits, axis=-1)
        trace = softmax_jacobian(weights.data)[0]
        predicted = theory.log2_median_trace
        granted = ASYMPTOTIC * abs(predicted)
        name, law = "log₂ of the median tr J", "1 − √d_k/M_n"
        checks.append(_median_check(name, setting, law, np.log2(trace), predicted, granted))
        (gradient,) = minigrad.grad(weights, [logits], rng.standard_normal(logits.shape))
        predicted = math.log2(theory.typical_gradient())
        name, law = "log₂ of the median ‖∂L/∂S‖", "log₂ √2·e^{−γ/2 − m_n·√d_k}"
        norms = np.log2(row_norms(gradient.data))
        granted = math.log2(1.0 + ASYMPTOTIC)
        checks.append(_median_check(name, setting, law, norms, predicted, granted))
    unscaled, scaled = (
        _attention(rng, rows, keys=64, d_k=1024, scaled=scaled).weights.max(-1) > 0.99
        for scaled in (False, True)
    )
    predicted = RandomEnergyModel(keys=64, spread=32.0).dead_rows()
    name, law = "dead rows, max p > .99", "exp(−ln 99·M_n/√d_k)"
    dead = _mean_check(
        name,
        "n = 64, d_k = 1024, unscaled",
        law,
        unscaled.mean(-1),
        predicted,
        granted=ASYMPTOTIC * predicted,
    )
    alive = Check(name, "n = 64, d_k = 1024, scaled", "0", float(scaled.mean()), 0.0, 0.0)
    return [*checks, dead, alive]


def _query_gradient(rng: Generator, rows: int) -> list[Check]:
    """Without the scale the RMS of ∂L/∂q grows like the fourth root of d_k."""
    checks = []
    for d_k in (64, 1024, 4096):
        gradient = _attention(rng, rows, keys=16, d_k=d_k, scaled=False).query_gradient
        squares = (row_norms(gradient) ** 2).mean(axis=-1)
        predicted = RandomEnergyModel(16, math.sqrt(d_k)).query_gradient_rms()
        setting = f"n = 16, d_k = {d_k}, unscaled"
        checks.append(_rms_check("RMS ‖∂L/∂q‖", setting, "√(√d_k·M_n/3)", squares, predicted))
    return checks


def _concentration(rng: Generator, rows: int) -> list[Check]:
    """Which share of ‖∂L/∂Q‖² the largest 1 % of rows hold; measured before."""
    checks = []
    for scaled, predicted in ((False, 0.34), (True, 0.06)):
        run = _attention(rng, 2 * rows, keys=64, d_k=1024, scaled=scaled)
        squares = row_norms(run.query_gradient).ravel() ** 2
        parts = np.array([_top_share(part) for part in rng.permutation(squares).reshape(8, -1)])
        setting = f"n = 64, d_k = 1024, {'scaled' if scaled else 'unscaled'}"
        tolerance = SIGMAS * _standard_error(parts) + ASYMPTOTIC * predicted + WHOLE_PERCENT
        name = "share of ‖∂L/∂Q‖² in top 1 %"
        checks.append(
            Check(name, setting, f"{predicted}", _top_share(squares), predicted, tolerance)
        )
    return checks


def _top_share(squares: Array) -> float:
    ordered = np.sort(squares)[::-1]
    return float(ordered[: max(1, squares.size // 100)].sum() / ordered.sum())


def _float32_zeros(rng: Generator, rows: int) -> list[Check]:
    """Exact zeros at the softmax input in float32; measured before."""
    checks = []
    for keys, predicted in ((16, 0.12), (64, 0.22), (256, 0.34)):
        run = _attention(rng, rows, keys=keys, d_k=1024, scaled=False)
        zeros = (run.logits_gradient == 0).mean(axis=(-2, -1))
        checks.append(
            _mean_check(
                "exact zeros in float32 ∂L/∂S",
                f"n = {keys}, d_k = 1024, unscaled",
                f"{predicted}",
                zeros,
                predicted,
                granted=ASYMPTOTIC * predicted + WHOLE_PERCENT,
            )
        )
    run = _attention(rng, rows, keys=64, d_k=1024, scaled=True)
    zero_share = float((run.logits_gradient == 0).mean())
    name, setting = "exact zeros in float32 ∂L/∂S", "n = 64, d_k = 1024, scaled"
    return [*checks, Check(name, setting, "0", zero_share, 0.0, 0.0)]


def _lipschitz(rng: Generator, rows: int) -> list[Check]:
    """The spectral norm of J = diag(p) − p pᵀ, taken from the engine row by row of the identity."""
    halves = np.array([0.0, 0.0, -np.inf, -np.inf])
    logits = np.concatenate(
        [_gaussian_logits(rng, rows // 4, 8, spread) for spread in (0.5, 2.0, 8.0, 32.0)]
    )
    largest = max(_spectral_norms(logits))
    (reached,) = _spectral_norms(halves[None])
    rounding = 8.0 * float(np.finfo(np.float64).eps)
    excess = max(0.0, largest - 0.5)
    return [
        Check("largest ‖J‖₂, excess over ½", "n = 8, σ = ½ to 32", "0", excess, 0.0, rounding),
        Check("‖J‖₂ at (½, ½, 0, ...)", "n = 4", "½", reached, 0.5, rounding),
    ]


def _spectral_norms(logits: Array) -> list[float]:
    """‖J‖₂ of each row; row i of J is the gradient of weight i, so the upstream is the identity."""
    rows, keys = logits.shape
    repeated = Tensor(np.repeat(logits[:, None], keys, axis=1), requires_grad=True)
    upstream = np.broadcast_to(np.eye(keys), (rows, keys, keys))
    (jacobian,) = minigrad.grad(minigrad.softmax(repeated, axis=-1), [repeated], upstream)
    norms: list[float] = np.linalg.norm(jacobian.data, ord=2, axis=(-2, -1)).tolist()
    return norms


def _sums_and_equal_values(rng: Generator, rows: int) -> list[Check]:
    """∂L/∂S sums to 0 in every row, and is 0 when all values are equal, up to rounding."""
    query, key, value = (
        Tensor(rng.standard_normal((rows // 8, 8, 16)), requires_grad=True) for _ in range(3)
    )
    equal = Tensor(np.broadcast_to(value.data[:, :1], value.shape))
    upstream = rng.standard_normal(value.shape)
    checks = []
    for name, values in (("largest row sum of ∂L/∂S", value), ("∂L/∂S, equal values", equal)):
        logits, context = attend(query, key, values, 0.25)
        (gradient,) = minigrad.grad(context, [logits], upstream)
        worst = gradient.data.sum(-1) if values is value else gradient.data
        scale = float(np.abs(upstream @ values.data.mT).max())
        tolerance = 16.0 * float(np.finfo(np.float64).eps) * scale
        checks.append(
            Check(name, "n = 8, d_k = 16", "0", float(np.abs(worst).max()), 0.0, tolerance)
        )
    return checks


def _finite_differences(rng: Generator, rows: int) -> list[Check]:
    """The error of a central difference falls like h², then rises like ε/h."""
    logits, upstream = rng.standard_normal((2, min(rows, 1000), 8))
    steps = np.logspace(-1, -11, 21)
    errors = _difference_errors(logits, upstream, steps)
    falling, rising = steps > 1e-3, steps < 1e-7
    eps = float(np.finfo(np.float64).eps)
    best = float(steps[errors.argmin()])
    return [
        _slope_check("h > 1e-3", "h²", steps[falling], errors[falling], 2.0),
        _slope_check("h < 1e-7", "ε/h", steps[rising], errors[rising], -1.0),
        # The minimum is flat: half a decade either way on the logarithmic scale.
        Check("log₁₀ of the best h", "float64", "ε^⅓", math.log10(best), math.log10(eps) / 3, 0.75),
        Check("smallest error", "float64", "0", float(errors.min()), 0.0, 1e-10),
    ]


def _difference_errors(logits: Array, upstream: Array, steps: Array) -> Array:
    """The RMS over rows of engine minus central difference, along one random direction each."""
    leaf = Tensor(logits, requires_grad=True)
    (gradient,) = minigrad.grad(minigrad.softmax(leaf, axis=-1), [leaf], upstream)
    direction = upstream[::-1]
    exact = (gradient.data * direction).sum(axis=-1)

    def loss(x: Array) -> Array:
        total: Array = (_weights(x) * upstream).sum(axis=-1)
        return total

    errors = [
        (loss(logits + h * direction) - loss(logits - h * direction)) / (2.0 * h) - exact
        for h in steps
    ]
    rms: Array = np.sqrt(np.mean(np.square(errors), axis=-1))
    return rms


def _slope_check(setting: str, law: str, steps: Array, errors: Array, predicted: float) -> Check:
    """Fit a power law to the error against the step."""
    slope = float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
    name = "power of h in the error"
    return Check(name, setting, law, slope, predicted, ASYMPTOTIC)


def failed(checks: Sequence[Check]) -> list[Check]:
    """Return the checks that did not pass.

    Example:
        >>> failed([Check("x", "", "1", 1.0, 1.0, 0.0), Check("y", "", "1", 2.0, 1.0, 0.5)])[0].name
        'y'
    """
    return [check for check in checks if not check.passed]
