"""The backward pass as a log of events that can be gone through in both directions.

`step_backward` makes the log of a recorded graph, `debugging` opens a debugger at every backward.
`events` says what is in a log, `recording` how it comes about, `steps` how one goes through it.
"""

from minigrad.stepper.events import Event, Note, Snapshot, StepNode, Verdict
from minigrad.stepper.recording import step_backward
from minigrad.stepper.steps import BackwardSteps

__all__ = [
    "BackwardSteps",
    "Event",
    "Note",
    "Snapshot",
    "StepNode",
    "Verdict",
    "step_backward",
]
