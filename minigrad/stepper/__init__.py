"""The backward pass as a log of events that can be gone through in both directions.

`step_backward` makes the log of a recorded graph, `debugging` opens a debugger at every backward.
`events` says what is in a log, `recording` how it comes about, `steps` how one goes through it;
`watching` opens the debugger, which is in `debugger`.
"""

from minigrad.stepper.debugger import Debugger, Quit
from minigrad.stepper.events import Event, Note, Snapshot, StepNode, Verdict
from minigrad.stepper.recording import step_backward
from minigrad.stepper.steps import BackwardSteps
from minigrad.stepper.watching import debugging

__all__ = [
    "BackwardSteps",
    "Debugger",
    "Event",
    "Note",
    "Quit",
    "Snapshot",
    "StepNode",
    "Verdict",
    "debugging",
    "step_backward",
]
