"""Studies with made-up numbers, no two alike: pictures are to show them, whatever they are."""

import numpy as np

from attention.experiments import (
    PLACES,
    Distribution,
    GradientStudy,
    HeadResult,
    HeadStudy,
    Regime,
    Settings,
    WidthResult,
)


def gradient_study_of(
    d_k: tuple[int, ...] = (4, 256, 1024), *, keys: int = 8, upstream_width: int | None = 64
) -> GradientStudy:
    """A study of random numbers; without the scale some rows lie below the end of the axes."""
    rng = np.random.default_rng([*d_k, keys])
    settings = Settings(d_k=d_k, keys=keys, rows=50, upstream_width=upstream_width)
    widths = [
        WidthResult(width, 50, 32, True, 7.0, _regime(rng, False), _regime(rng, True))
        for width in d_k
    ]
    return GradientStudy(settings, tuple(widths), ())


def head_study_of(leading: tuple[int, ...] = (2, 3), source: str = "made up") -> HeadStudy:
    """A study of real heads."""
    rng = np.random.default_rng(leading)
    heads = [
        HeadResult(index, _regime(rng, False), _regime(rng, True)) for index in np.ndindex(leading)
    ]
    return HeadStudy(source, leading, 5, 7, 16, 8, "float32", 0, None, tuple(heads), None, ())


def _regime(rng: np.random.Generator, scaled: bool) -> Regime:
    return Regime(
        scaled=scaled,
        spread=rng.uniform(1.0, 9.0),
        predicted_spread=rng.uniform(1.0, 9.0),
        largest_weight=rng.uniform(),
        entropy=rng.uniform(0.0, 2.0),
        jacobian=_distribution(rng, 1e-3),
        dead_rows=rng.uniform(),
        starved_queries=rng.uniform(),
        float32_zeros=rng.uniform(),
        gradients={place: _distribution(rng, 1e-3 if scaled else 1e-15) for place in PLACES},
    )


def _distribution(rng: np.random.Generator, low: float) -> Distribution:
    median, high = rng.uniform(0.1, 1.0), rng.uniform(2.0, 9.0)
    return Distribution(median, low * rng.uniform(), high, rng.uniform(), rng.uniform(1.0, 2.0))
