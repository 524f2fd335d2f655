"""A log of a backward pass, and how one goes through it: forwards, backwards, to a name, to a
breakpoint. What the events are is told in `events`, how they are put in words in `wording`.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from operator import index as as_index
from types import MappingProxyType
from typing import Any, overload

from minigrad.memory import Variable
from minigrad.stepper.events import COMPLETE, Event, Snapshot, StepNode
from minigrad.stepper.storage import read_log, write_log
from minigrad.stepper.wording import transcript

Place = Any
"""An index, the name of a tensor or of an op, a primitive, or a test of an event."""


class BackwardSteps(Sequence[Event]):
    """The events of one backward pass, oldest first, and a place among them.

    Attributes:
        nodes: the tensors of the graph by key, oldest first; cannot be changed.
        root: the one that the pass starts from.
        sources: the user's lines around those that made a tensor, by file and number; likewise.
        position: the index of the event that one stands at; −1 before the first.
        breakpoints: where `resume` stops: indices, names of tensors or of ops, tests of an event.

    >>> from minigrad import Tensor, step_backward
    >>> x = Tensor(3.0, requires_grad=True, name="x")
    >>> steps = step_backward(x * x)
    >>> steps.goto("x").kind, float(steps.grads_at(-1)["x"])
    ('done', 6.0)
    >>> steps.back().kind, float(steps.grads_at(steps.position)["x"])
    ('accumulate', 6.0)
    >>> steps.back().kind, float(steps.grads_at(steps.position)["x"])
    ('rule', 3.0)
    """

    def __init__(
        self,
        nodes: Sequence[StepNode],
        events: Sequence[Event],
        *,
        root: StepNode,
        sources: Mapping[str, Mapping[int, str]],
        labels: Mapping[int, str] | None = None,
    ) -> None:
        """`labels` are what the log calls the tensors of a live graph, by serial."""
        self.nodes = MappingProxyType({node.key: node for node in nodes})
        self.root = root
        self.sources = MappingProxyType({f: MappingProxyType(dict(x)) for f, x in sources.items()})
        self._labels = labels or {}
        self.position = -1
        self.breakpoints: set[Place] = set()
        self._events = tuple(events)
        self._changes: dict[str, list[tuple[int, Snapshot]]] = {}
        for event in events:
            if event.after is not None:
                changes = self._changes.setdefault(event.receiver.key, [])
                changes.append((event.index, event.after))

    # ------------------------------------------------------------------------------- as a sequence

    def __len__(self) -> int:
        return len(self._events)

    @overload
    def __getitem__(self, place: int) -> Event: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Event, ...]: ...

    def __getitem__(self, place: int | slice) -> Event | tuple[Event, ...]:
        if isinstance(place, slice):
            return self._events[place]
        return self._events[self._index(place)]

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    def _index(self, place: int) -> int:
        found = as_index(place)
        if not -len(self) <= found < len(self):
            raise IndexError(f"event {found} of {len(self)}: the last one is {len(self) - 1}.")
        return found % len(self)

    # ------------------------------------------------------------------------------ going through

    @property
    def event(self) -> Event | None:
        """The event that one stands at; None before the first."""
        return None if self.position < 0 else self._events[self.position]

    def next(self) -> Event:
        """Goes one event on. Errors: `IndexError` after the last."""
        if self.position + 1 == len(self):
            raise IndexError(f"event {self.position} was the last; go back(), or goto(0).")
        return self._at(self.position + 1)

    def back(self) -> Event:
        """Goes one event back. Errors: `IndexError` at the first."""
        if self.position < 1:
            raise IndexError("there is no event before the first; go on with next().")
        return self._at(self.position - 1)

    def goto(self, place: Place) -> Event:
        """Goes to an event, forwards or backwards.

        Args: `place` is an index, as of a list; a tensor, or its name, for the event at which its
        gradient is complete; an op, or its name, for the next event that enters one; a test of an
        event, for the next that it holds of. After the last comes the first again.
        Errors: `IndexError` or `KeyError` if there is no such event.
        """
        if isinstance(place, Integral):
            return self._at(self._index(int(place)))
        found = [event.index for event in self if self._is_at(event, place)]
        if not found:
            raise KeyError(f"{self._called(place)!r} is in no event; {self._known()}")
        later = [i for i in found if i > self.position]
        return self._at((later or found)[0])

    def until(self, predicate: Callable[[Event], Any]) -> Event | None:
        """Goes on to the next event that `predicate` holds of; stays if there is none (None)."""
        for event in self._events[self.position + 1 :]:
            if predicate(event):
                return self._at(event.index)
        return None

    def resume(self) -> Event | None:
        """Goes on to the next breakpoint; None, at the last event, if there is none."""
        found = self.until(self.is_breakpoint)
        if found is None:
            self._at(len(self) - 1)
        return found

    def is_breakpoint(self, event: Event) -> bool:
        """Whether `resume` stops there."""
        return any(self._is_at(event, place) for place in self.breakpoints)

    def _at(self, position: int) -> Event:
        self.position = position
        return self._events[position]

    def _is_at(self, event: Event, place: Place) -> bool:
        """Whether the event is the one that a place means, or one of those."""
        if isinstance(place, Integral):
            return event.index in (place, place + len(self))
        if callable(place) and not hasattr(place, "primitive"):
            return bool(place(event))
        name, node = self._called(place), event.node
        named = name in (node.label, node.name, node.op) if name else False
        return named and event.kind in COMPLETE

    def _called(self, place: Place) -> str:
        """The name that a place is meant by; empty if it has none here."""
        if isinstance(place, Variable):
            known = self._labels.get(place._node.serial) if place._node else None
            return known or str(getattr(place, "name", None) or "")
        return str(getattr(place, "primitive", getattr(place, "label", place)))

    def _known(self) -> str:
        names = [event.node.label for event in self if event.kind in COMPLETE]
        ops = dict.fromkeys(event.op for event in self if event.kind == "enter")
        more = ", …" if len(names) > 20 else ""
        return f"there are the tensors {', '.join(names[:20])}{more} and the ops {', '.join(ops)}."

    # ----------------------------------------------------------------------------------- gradients

    def grads_at(self, place: int) -> dict[str, Snapshot]:
        """All gradients as they are known after an event, by the labels of their tensors.

        Those that are still adding up are as they are by then. NumPy reads a `Snapshot` as the
        array that it was.
        """
        at = self._index(place)
        found = {}
        for key, node in self.nodes.items():
            changes = self._changes.get(key, [])
            count = bisect.bisect_right(changes, at, key=lambda change: change[0])
            if count:
                found[node.label] = changes[count - 1][1]
        return found

    # ------------------------------------------------------------------------ as text and as a page

    def transcript(self, language: str = "en") -> str:
        """The whole log as plain text, an event to a line, with what is worth noticing below.

        Args: `language` is "en" or "zh".
        """
        return transcript(self, language)

    def to_json(self) -> str:
        """The log as JSON, from which `from_json` makes the very same."""
        return write_log(list(self.nodes.values()), self._events, self.root, self.sources)

    @staticmethod
    def from_json(text: str) -> BackwardSteps:
        """The log that `to_json` wrote. Errors: `ValueError` for anything else."""
        nodes, events, root, sources = read_log(text)
        return BackwardSteps(nodes, events, root=root, sources=sources)

    def _repr_html_(self) -> str | None:
        try:
            from viz.stepping import step_frame

            frame: str = step_frame(self)
            return frame
        except Exception:  # viz may be missing; the notebook then shows the repr
            return None

    def __repr__(self) -> str:
        at = f", at {self.position}" if self.position >= 0 else ""
        return f"<BackwardSteps of {self.root.label}: {len(self)} events{at}>"
