"""What an expression that is typed in the debugger can ask of an event, and what comes of it.

It sees the user's variables, and the event in a few names. It is the user's own code: it may raise
anything, which is then told in one line, and nothing keeps it from changing what it can reach.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad.notation import visible
from minigrad.stepper.events import Event, Snapshot
from minigrad.stepper.steps import BackwardSteps

Variables = Mapping[str, Any]

LONGEST = 300
"""Characters of a message."""


def names_at(event: Event, steps: BackwardSteps, variables: Variables) -> dict[str, Any]:
    """The names that an expression can use at an event, which hide the user's own."""

    def grad(tensor: Any) -> Any:
        """The gradient of a tensor or of a name, as it is known at this event."""
        return _found(tensor, steps.grads_at(event.index), variables, "no gradient is known yet")

    def value(tensor: Any) -> Any:
        """The entries of a tensor in the graph."""
        values = {x.label: x.value for x in steps.nodes.values() if x.value is not None}
        return _found(tensor, values, variables, "no value was kept")

    arrays = {
        name: _array(getattr(event, name))
        for name in ("upstream", "contribution", "before", "after")
    }
    arrays["G"] = arrays["upstream"]
    functions = {"steps": steps, "event": event, "grad": grad, "value": value, "np": np}
    return {**variables, **facts_of(event), **arrays, **functions}


def facts_of(event: Event) -> dict[str, Any]:
    """What tests are mostly about."""
    return {
        "index": event.index,
        "kind": event.kind,
        "op": event.op,
        "name": event.receiver.label,
        "norm": event.norm,
    }


def _array(taken: Snapshot | None) -> Any:
    """The entries if they were kept."""
    return taken if taken is None or taken.values is None else taken.values


def _found(tensor: Any, arrays: Mapping[str, Snapshot], variables: Variables, lacking: str) -> Any:
    """The array of a tensor that is called by its label, or given as such."""
    label = tensor
    if not isinstance(tensor, str):
        names = [name for name, x in variables.items() if x is tensor]
        label = getattr(tensor, "name", None) or (names or ["?"])[0]
    if label not in arrays:
        raise LookupError(f"{lacking} of {label!r}; of these it is: {', '.join(arrays)}")
    return _array(arrays[label])


def value_of(text: str, event: Event, steps: BackwardSteps, variables: Variables) -> Any:
    """What an expression comes to."""
    return eval(text.strip(), names_at(event, steps, variables))


class Condition:
    """An expression that is true of some events; where it cannot be evaluated it is not.

    Attributes: `worked`, whether it could be evaluated at any event so far; `problem`, why it could
    not at the last of the others.
    Errors: `SyntaxError`.
    """

    def __init__(self, text: str, steps: BackwardSteps, variables: Variables) -> None:
        self._code = compile(text.strip(), "<test>", "eval")
        self._given = steps, variables
        self.worked = False
        self.problem = ""

    def __call__(self, event: Event) -> bool:
        """Whether it is true there."""
        try:
            found = bool(eval(self._code, names_at(event, *self._given)))
        except (Exception, SystemExit) as error:  # it is the user's, and may raise anything
            self.problem = one_line(error)
            return False
        self.worked = True
        return found


def one_line(error: BaseException) -> str:
    """What went wrong, as the last line of a traceback says it."""
    try:
        text = traceback.format_exception_only(error)[-1].strip()
    except Exception:  # the user's own exception may be unable to say
        text = type(error).__name__
    return visible(text, LONGEST)


def completed(text: str, names: Variables) -> list[str]:
    """The names, and attributes of names, that begin so."""
    *owner, start = text.split(".")
    if not owner:
        return sorted(name for name in names if name.startswith(start) and name[:2] != "__")
    try:
        x = names[owner[0]]
        for name in owner[1:]:
            x = getattr(x, name)
        found = dir(x)
    except Exception:  # it is the user's, as above
        return []
    hidden = "" if start.startswith("_") else "_"
    prefix = ".".join(owner)
    return [
        f"{prefix}.{name}"
        for name in found
        if name.startswith(start) and not (hidden and name.startswith(hidden))
    ]
