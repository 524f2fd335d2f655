"""Checks of gradients: against finite differences, over all primitives, and for NaN and infinity.

`gradcheck` and `gradgradcheck` check a function, `check_primitive` all that is promised of an op,
`detect_anomaly` names the first op whose value or gradient is not finite.
"""

from minigrad.check.anomaly import detect_anomaly
from minigrad.check.differences import GradcheckError, InputReport, Report, gradcheck, gradgradcheck
from minigrad.check.registry import CheckResult, check_primitive, check_primitives

__all__ = [
    "CheckResult",
    "GradcheckError",
    "InputReport",
    "Report",
    "check_primitive",
    "check_primitives",
    "detect_anomaly",
    "gradcheck",
    "gradgradcheck",
]
