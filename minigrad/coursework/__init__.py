"""Exercises that say which mistake you made: what they are made of, and who decides.

`exercise` says what an exercise is, `layers` has the checks that every op goes through, `runner`
observes a student's file in a process of its own, and `grading` reaches the verdict.
"""

from minigrad.coursework.exercise import (
    Check,
    Exercise,
    Failure,
    Mutant,
    Observation,
    all_exercises,
    as_the_reference,
    attempt,
    load,
    misshapen,
)
from minigrad.coursework.grading import Outcome, Verdict, grade
from minigrad.coursework.layers import op_checks, unchanged
from minigrad.coursework.values import Text, identical
from minigrad.coursework.verifying import verify

__all__ = [
    "Check",
    "Exercise",
    "Failure",
    "Mutant",
    "Observation",
    "Outcome",
    "Text",
    "Verdict",
    "all_exercises",
    "as_the_reference",
    "attempt",
    "grade",
    "identical",
    "load",
    "misshapen",
    "op_checks",
    "unchanged",
    "verify",
]
