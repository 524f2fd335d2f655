"""The √d_k laboratory: what really happens to the gradients of attention without its scale.

Each experiment returns plain dataclasses of numbers. Nothing is drawn or printed here (`viz` and
the command line do that), and no gradient is worked out by hand: all come from the engine.
"""

from attention.experiments.checks import Check, closed_form_checks
from attention.experiments.differences import DifferenceCheck, failed_checks
from attention.experiments.export import study_csv, study_json
from attention.experiments.findings import checks_sentence, format_number, summarise
from attention.experiments.heads import (
    HeadResult,
    HeadStudy,
    LayerSummary,
    Study,
    head_study,
    layer_summaries,
)
from attention.experiments.lessons import LessonRow, lesson_stream
from attention.experiments.qkv import QKV, QKVError, load_qkv
from attention.experiments.random_energy import (
    RandomEnergyModel,
    expected_maximum,
    median_gap,
    score_kurtosis,
)
from attention.experiments.regime import PLACES, Distribution, Regime
from attention.experiments.study import GradientStudy, Settings, WidthResult, gradient_study
from attention.experiments.tables import Table, TableRow, reading_notes, tabulate

__all__ = [
    "PLACES",
    "QKV",
    "Check",
    "DifferenceCheck",
    "Distribution",
    "GradientStudy",
    "HeadResult",
    "HeadStudy",
    "LayerSummary",
    "LessonRow",
    "QKVError",
    "RandomEnergyModel",
    "Regime",
    "Settings",
    "Study",
    "Table",
    "TableRow",
    "WidthResult",
    "checks_sentence",
    "closed_form_checks",
    "expected_maximum",
    "failed_checks",
    "format_number",
    "gradient_study",
    "head_study",
    "layer_summaries",
    "lesson_stream",
    "load_qkv",
    "median_gap",
    "reading_notes",
    "score_kurtosis",
    "study_csv",
    "study_json",
    "summarise",
    "tabulate",
]
