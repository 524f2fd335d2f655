"""Studies as data for other programs: JSON with everything, CSV with one number on each line.

Only text is made here; writing it to a file is the caller's business.
"""

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from attention.experiments.findings import format_index, summarise
from attention.experiments.heads import Study
from attention.experiments.regime import Distribution, Regime
from attention.experiments.study import GradientStudy

__all__ = ["study_csv", "study_json"]

SINGLE = (
    "spread",
    "predicted_spread",
    "largest_weight",
    "entropy",
    "dead_rows",
    "starved_queries",
    "float32_zeros",
)


def study_json(study: Study) -> str:
    """Return a study as JSON, its fields named as in the dataclasses, with its three findings.

    Numbers that are not finite, which JSON does not have, become null.

    Example:
        >>> from attention.experiments.study import Settings, gradient_study
        >>> text = study_json(gradient_study(Settings(d_k=(4,), rows=20)))
        >>> sorted(json.loads(text))
        ['checks', 'findings', 'settings', 'widths']
    """
    content = asdict(study) | {"findings": summarise(study)}
    return json.dumps(_finite(content), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def study_csv(study: Study) -> str:
    """Return a study as a long table: which d_k or head, scaled or not, what, statistic, value.

    Example:
        >>> from attention.experiments.study import Settings, gradient_study
        >>> lines = study_csv(gradient_study(Settings(d_k=(4,), rows=20))).splitlines()
        >>> lines[0], lines[2]
        ('d_k,scaled,quantity,statistic,value', '4,false,predicted_spread,value,2.0')
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    random = isinstance(study, GradientStudy)
    writer.writerow(["d_k" if random else "head", "scaled", "quantity", "statistic", "value"])
    for label, regime in _regimes(study):
        writer.writerows([label, str(regime.scaled).lower(), *line] for line in _lines(regime))
    return text.getvalue()


def _regimes(study: Study) -> Iterator[tuple[str, Regime]]:
    if isinstance(study, GradientStudy):
        pairs = [(str(width.d_k), width.unscaled, width.scaled) for width in study.widths]
    else:
        pairs = [(format_index(head.index), head.unscaled, head.scaled) for head in study.heads]
    for label, unscaled, scaled in pairs:
        yield label, unscaled
        yield label, scaled


def _lines(regime: Regime) -> Iterator[tuple[str, str, float]]:
    for name in SINGLE:
        yield name, "value", getattr(regime, name)
    for place, norms in {"jacobian": regime.jacobian, **regime.gradients}.items():
        for statistic, value in _statistics(norms).items():
            yield place, statistic, value


def _statistics(norms: Distribution) -> dict[str, float]:
    return {
        "median": norms.median,
        "q01": norms.low,
        "q99": norms.high,
        "mean": norms.mean,
        "rms": norms.rms,
    }
