"""A log as JSON and back, to the last bit: arrays as base64, numbers that are not finite as text.

A file that is not such a log is refused whole. Reading runs no code.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.notation import Summary
from minigrad.stepper.events import (
    KINDS,
    Event,
    Note,
    Recalled,
    Snapshot,
    StepNode,
    Verdict,
    Written,
)

FORMAT, VERSION = "minigrad backward steps", 1

Sources = Mapping[str, Mapping[int, str]]


# --------------------------------------------------------------------------------------- writing


def write_log(
    nodes: Sequence[StepNode], events: Sequence[Event], root: StepNode, sources: Sources
) -> str:
    """The log as JSON, with every array in it once."""
    arrays = _Arrays()
    log = {
        "format": FORMAT,
        "version": VERSION,
        "root": root.key,
        "nodes": [_node(node, arrays) for node in nodes],
        "events": [_event(event, arrays) for event in events],
        "sources": {
            file: {str(n): text for n, text in rows.items()} for file, rows in sources.items()
        },
    }
    log["arrays"] = arrays.written
    return json.dumps(log, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class _Arrays:
    """The snapshots of a log by number."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []
        self._numbers: dict[int, int] = {}

    def number(self, taken: Snapshot | None) -> int | None:
        """The number under which a snapshot stands."""
        if taken is None:
            return None
        if id(taken) not in self._numbers:
            self._numbers[id(taken)] = len(self.written)
            entry = {
                "shape": list(taken.shape),
                "dtype": taken.dtype.str,
                "summary": [_number(x) for x in taken.summary],
            }
            if taken.values is not None:
                entry["data"] = base64.b64encode(taken.values.tobytes()).decode()
            self.written.append(entry)
        return self._numbers[id(taken)]


def _number(x: float) -> Any:
    return x if isinstance(x, int) or math.isfinite(x) else repr(float(x))


def _node(node: StepNode, arrays: _Arrays) -> dict[str, Any]:
    written: dict[str, Any] = {
        "key": node.key,
        "name": node.name,
        "label": node.label,
        "kind": node.kind,
        "op": node.op,
        "inputs": [x if isinstance(x, str) else [_number(x)] for x in node.inputs],
        "arguments": list(node.arguments),
        "shape": list(node.shape),
        "dtype": node.dtype.str,
        "scope": list(node.scope),
        "file": node.file,
        "line": node.line,
        "value": arrays.number(node.value),
    }
    if node.equations is not None:
        written["forward"] = node.equations.forward
        written["rules"] = {str(i): list(rule) for i, rule in node.equations.rules.items()}
    return written


def _event(event: Event, arrays: _Arrays) -> dict[str, Any]:
    written: dict[str, Any] = {"kind": event.kind, "node": event.node.key}
    if event.target is not None:
        written |= {"target": event.target.key, "position": event.position}
    for name in ("upstream", "contribution", "before", "after"):
        if (taken := getattr(event, name)) is not None:
            written[name] = arrays.number(taken)
    if event.axes:
        written["axes"] = list(event.axes)
    if event.parts:
        written["part"] = [event.part, event.parts]
    if event.notes:
        written["notes"] = [[kind, *map(_number, numbers)] for kind, numbers in event.notes]
    if event.verdict is not None:
        v = event.verdict
        written["verdict"] = [
            arrays.number(v.numeric),
            *[_number(x) for x in (v.step, v.checked, v.size)],
            list(v.worst),
            *[_number(x) for x in (v.absolute, v.relative, v.noisy, v.kinks)],
        ]
    return written


# --------------------------------------------------------------------------------------- reading


def read_log(text: str) -> tuple[list[StepNode], list[Event], StepNode, dict[str, dict[int, str]]]:
    """What `write_log` wrote: nodes, events, the root, sources.

    Errors: `ValueError` if it is something else, of another version, or damaged.
    """
    try:
        log = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no log of backward steps: {error}") from error
    if not isinstance(log, dict) or log.get("format") != FORMAT:
        raise ValueError("this is no log of backward steps; to_json() of one writes it.")
    if log.get("version") != VERSION:
        raise ValueError(
            f"this log has version {log.get('version')!r}, and {VERSION} can be read here: step "
            "again with this minigrad, or read it with the one that wrote it."
        )
    try:
        arrays = [_read_array(entry) for entry in log["arrays"]]
        nodes = {entry["key"]: _read_node(entry, arrays) for entry in log["nodes"]}
        events = [_read_event(i, x, nodes, arrays) for i, x in enumerate(log["events"])]
        root = nodes[log["root"]]
        sources = {
            str(file): {int(n): str(text) for n, text in rows.items()}
            for file, rows in log["sources"].items()
        }
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"this log is damaged: {type(error).__name__}: {error}") from error
    return list(nodes.values()), events, root, sources


def _read_array(entry: Any) -> Snapshot:
    shape, dtype = tuple(map(int, entry["shape"])), np.dtype(entry["dtype"])
    if dtype.kind not in "biuf":
        raise ValueError(f"dtype {dtype} is not of real numbers")
    values = None
    if "data" in entry:
        data = base64.b64decode(entry["data"], validate=True)
        values = np.frombuffer(data, dtype).reshape(shape)
    size, low, high, mean, norm, zeros, nan, inf = entry["summary"]
    low, high, mean, norm = [float(x) for x in (low, high, mean, norm)]
    return Snapshot(shape, dtype, Summary(size, low, high, mean, norm, zeros, nan, inf), values)


def _read_node(entry: Any, arrays: list[Snapshot]) -> StepNode:
    equations = None
    if "forward" in entry:
        rules = {int(i): Written(*rule) for i, rule in entry["rules"].items()}
        equations = Recalled(entry["forward"], rules)
    value = entry["value"]
    return StepNode(
        key=entry["key"],
        name=entry["name"],
        label=entry["label"],
        kind=entry["kind"],
        op=entry["op"],
        inputs=tuple([x if isinstance(x, str) else _read_number(x[0]) for x in entry["inputs"]]),
        arguments=tuple(entry["arguments"]),
        shape=tuple(entry["shape"]),
        dtype=np.dtype(entry["dtype"]),
        scope=tuple(entry["scope"]),
        file=entry["file"],
        line=entry["line"],
        value=None if value is None else arrays[value],
        equations=equations,
    )


def _read_number(x: Any) -> Any:
    return float(x) if isinstance(x, str) else x


def _read_event(
    index: int, entry: Any, nodes: dict[str, StepNode], arrays: list[Snapshot]
) -> Event:
    if entry["kind"] not in KINDS:
        raise ValueError(f"there are no events of kind {entry['kind']!r}")
    taken = {
        name: arrays[entry[name]]
        for name in ("upstream", "contribution", "before", "after")
        if name in entry
    }
    part, parts = entry.get("part", (0, 0))
    return Event(
        index,
        entry["kind"],
        nodes[entry["node"]],
        nodes[entry["target"]] if "target" in entry else None,
        entry.get("position", -1),
        **taken,
        axes=tuple(entry.get("axes", ())),
        part=part,
        parts=parts,
        notes=tuple([_read_note(*note) for note in entry.get("notes", ())]),
        verdict=_read_verdict(arrays, *entry["verdict"]) if "verdict" in entry else None,
    )


def _read_note(kind: str, *numbers: Any) -> Note:
    return Note(kind, tuple(map(_read_number, numbers)))


def _read_verdict(arrays: list[Snapshot], numeric: int, *numbers: Any) -> Verdict:
    step, checked, size, worst, absolute, relative, noisy, kinks = numbers
    return Verdict(
        arrays[numeric],
        step,
        checked,
        size,
        tuple(worst),
        _read_number(absolute),
        _read_number(relative),
        noisy,
        kinks,
    )
