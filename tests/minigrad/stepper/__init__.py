"""What the tests of the stepper share: a log as plain values, which can be compared to the bit."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad import BackwardSteps, Tensor, trace
from minigrad.stepper import Event, Snapshot, StepNode
from tests.helpers import Array, leaf

TAKEN = ("upstream", "contribution", "before", "after")


def bits(array: Any) -> tuple[Any, ...]:
    """An array as what it is to the last bit: −0.0 is not 0.0, and NaN equals itself."""
    array = np.asarray(array)
    return array.shape, array.dtype.str, array.tobytes()


def taken(snapshot: Snapshot | None) -> Any:
    """All that there is in a snapshot."""
    if snapshot is None:
        return None
    values = None if snapshot.values is None else bits(snapshot.values)
    numbers = repr((snapshot.summary, snapshot.typical_row))
    return snapshot.shape, snapshot.dtype.str, numbers, values


def told(event: Event) -> tuple[Any, ...]:
    """All that there is in an event."""
    verdict = event.verdict
    judged = verdict and (
        taken(verdict.numeric),
        repr(
            [getattr(verdict, name) for name in verdict.__dataclass_fields__ if name != "numeric"]
        ),
    )
    return (
        *(event.index, event.kind, event.node.key, event.target and event.target.key),
        *(event.position, event.axes, event.part, event.parts, repr(event.notes), judged),
        *[taken(getattr(event, name)) for name in TAKEN],
    )


def described(node: StepNode) -> tuple[Any, ...]:
    """All that there is in a node."""
    made = node.equations and (node.equations.forward, repr(node.equations.rules))
    return (
        *(node.key, node.name, node.label, node.kind, node.op, repr(node.inputs), node.arguments),
        *(node.shape, node.dtype.str, node.scope, node.file, node.line, taken(node.value), made),
    )


def everything(steps: BackwardSteps) -> dict[str, Any]:
    """All that there is in a log."""
    return {
        "root": steps.root.key,
        "nodes": [described(node) for node in steps.nodes.values()],
        "events": [told(event) for event in steps],
        "sources": {file: dict(lines) for file, lines in steps.sources.items()},
    }


def snapshots(steps: BackwardSteps) -> dict[int, Snapshot]:
    """Every snapshot in a log, by identity."""
    found: list[Snapshot | None] = [node.value for node in steps.nodes.values()]
    for event in steps:
        found += [getattr(event, name) for name in TAKEN]
        found.append(event.verdict.numeric if event.verdict else None)
    return {id(snapshot): snapshot for snapshot in found if snapshot is not None}


def kinds(events: Iterable[Event]) -> list[str]:
    """What happens, and to which tensor."""
    return [f"{event.kind} {event.receiver}" for event in events]


def notes(events: Iterable[Event]) -> list[tuple[str, str]]:
    """What is noted, and at which event."""
    return [(note.kind, event.kind) for event in events for note in event.notes]


def recorded(function: Any, *arrays: Array) -> tuple[Tensor, ...]:
    """The function of leaves with these values, under trace(), and then the leaves."""
    leaves = [leaf(x) for x in arrays]
    with trace(), np.errstate(all="ignore"):
        return (function(*leaves), *leaves)


def upstream_of(tensor: Tensor, seed: int = 7) -> Array:
    """A random gradient of a tensor's shape and dtype."""
    return np.asarray(np.random.default_rng(seed).normal(size=tensor.shape), tensor.dtype)
