"""A log as JSON and back, to the last bit: arrays as base64, numbers that are not finite as text.

A file that is not such a log is refused whole. Reading runs no code.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.notation import Summary
from minigrad.stepper.events import (
    KINDS,
    NODE_KINDS,
    NOTES,
    Event,
    Note,
    Snapshot,
    StepNode,
    Verdict,
)
from minigrad.stepper.written import Recalled, Written

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
    return written_json(log)


def written_json(data: Any) -> str:
    """JSON that is valid UTF-8, whatever texts there are in it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found.group()):04x}", text)


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
                "row": _number(taken.typical_row),
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
            *[_number(x) for x in (v.absolute, v.relative, v.wrong, v.noisy, v.kinks)],
        ]
    return written


# --------------------------------------------------------------------------------------- reading


def read_log(text: str) -> tuple[list[StepNode], list[Event], StepNode, dict[str, dict[int, str]]]:
    """What `write_log` wrote: nodes, events, the root, sources.

    Errors: `ValueError` if it is something else, of another version, or damaged.
    """
    try:
        log = json.loads(text, parse_float=_finite, parse_constant=_finite)
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
        arrays = [_read_array(entry) for entry in _list(log["arrays"])]
        nodes: dict[str, StepNode] = {}
        for entry in _list(log["nodes"]):
            node = _read_node(entry, nodes, arrays)
            nodes[node.key] = node
        labels = {node.label for node in nodes.values()}
        _insist(len(labels) == len(nodes) and "" not in labels, "tensors are not told apart")
        events = [_read_event(i, x, nodes, arrays) for i, x in enumerate(_list(log["events"]))]
        _insist(events and events[0].kind == "seed", "it does not begin with a seed")
        root = _chosen(nodes, log["root"])
        sources = {
            _text(file): {_line(int(n)): _text(row) for n, row in rows.items()}
            for file, rows in log["sources"].items()
        }
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ValueError(f"this log is damaged: {type(error).__name__}: {error}") from error
    return list(nodes.values()), events, root, sources


def _finite(text: str) -> float:
    _insist(math.isfinite(float(text)), f"{text} is written as a text in a log")
    return float(text)


def _insist(holds: Any, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _text(x: Any) -> str:
    _insist(isinstance(x, str), f"{x!r:.60} is no text")
    return str(x)


def _whole(x: Any, least: int = 0) -> int:
    _insist(type(x) is int and x >= least, f"{x!r:.60} is no whole number from {least} on")
    return int(x)


def _line(x: Any) -> int:
    return _whole(x, 1)


def _list(x: Any) -> list[Any]:
    _insist(isinstance(x, list), f"{x!r:.60} is no list")
    return list(x)


def _wholes(x: Any) -> tuple[int, ...]:
    return tuple([_whole(item) for item in _list(x)])


def _texts(x: Any) -> tuple[str, ...]:
    return tuple([_text(item) for item in _list(x)])


def _read_number(x: Any) -> Any:
    """A number, which is written as a text where it is not finite."""
    is_number = isinstance(x, (bool, int, float)) or x in ("nan", "inf", "-inf")
    _insist(is_number, f"{x!r:.60} is no number")
    return float(x) if isinstance(x, str) else x


def _read_dtype(x: Any) -> np.dtype[Any]:
    dtype = np.dtype(_text(x))
    _insist(dtype.kind in "biuf", f"dtype {dtype} is not of real numbers")
    return dtype


def _chosen(known: Mapping[str, StepNode], key: Any) -> StepNode:
    _insist(isinstance(key, str) and key in known, f"there is no tensor {key!r:.60}")
    return known[key]


def _taken(arrays: Sequence[Snapshot], number: Any) -> Snapshot:
    return arrays[_whole(number)]


def _read_array(entry: Any) -> Snapshot:
    shape, dtype = _wholes(entry["shape"]), _read_dtype(entry["dtype"])
    values = None
    if "data" in entry:
        data = base64.b64decode(_text(entry["data"]), validate=True)
        values = np.frombuffer(data, dtype).reshape(shape)
    size, low, high, mean, norm, zeros, nan, inf = entry["summary"]
    low, high, mean, norm = [float(_read_number(x)) for x in (low, high, mean, norm)]
    zeros, nan, inf = _wholes([zeros, nan, inf])
    _insist(_whole(size) == math.prod(shape), f"{size} entries do not make the shape {shape}")
    summary = Summary(size, low, high, mean, norm, zeros, nan, inf)
    return Snapshot(shape, dtype, summary, float(_read_number(entry["row"])), values)


def _read_node(entry: Any, older: Mapping[str, StepNode], arrays: list[Snapshot]) -> StepNode:
    key, kind = _text(entry["key"]), entry["kind"]
    _insist(key not in older, f"there are two tensors {key!r}")
    _insist(kind in NODE_KINDS, f"there are no tensors of kind {kind!r}")
    inputs: list[str | float] = []
    for x in _list(entry["inputs"]):
        inputs.append(_chosen(older, x).key if isinstance(x, str) else _read_number(*_list(x)))
    op, arguments = _text(entry["op"]), _texts(entry["arguments"])
    _insist(len(arguments) == len(inputs), f"{len(inputs)} inputs have {len(arguments)} names")
    equations = None
    if op:
        rules = {}
        for place, rule in entry["rules"].items():
            general, named, tree = rule
            _insist(int(place) in range(len(inputs)), f"there is no input {place}")
            rules[int(place)] = Written(_text(general), _text(named), tree)
        equations = Recalled(_text(entry["forward"]), rules)
    return StepNode(
        key=key,
        name=None if entry["name"] is None else _text(entry["name"]),
        label=_text(entry["label"]),
        kind=kind,
        op=op,
        inputs=tuple(inputs),
        arguments=arguments,
        shape=_wholes(entry["shape"]),
        dtype=_read_dtype(entry["dtype"]),
        scope=_texts(entry["scope"]),
        file=None if entry["file"] is None else _text(entry["file"]),
        line=None if entry["line"] is None else _line(entry["line"]),
        value=None if entry["value"] is None else _taken(arrays, entry["value"]),
        equations=equations,
    )


_NEEDED = {
    "seed": ("after",),
    "enter": ("upstream", "after"),
    "rule": ("upstream", "contribution"),
    "unbroadcast": ("upstream", "contribution", "before"),
    "accumulate": ("upstream", "contribution", "after"),
    "done": ("upstream", "after"),
}


def _read_event(
    index: int, entry: Any, nodes: dict[str, StepNode], arrays: list[Snapshot]
) -> Event:
    kind, node = entry["kind"], _chosen(nodes, entry["node"])
    _insist(kind in KINDS, f"there are no events of kind {kind!r:.60}")
    taken = {
        name: _taken(arrays, entry[name])
        for name in ("upstream", "contribution", "before", "after")
        if name in entry
    }
    missing = [name for name in _NEEDED[kind] if name not in taken]
    _insist(not missing, f"event {index} of kind {kind} has no {', '.join(missing)}")
    target, position, part, parts = None, -1, 0, 0
    if kind in ("rule", "unbroadcast", "accumulate"):
        position = _whole(entry["position"])
        _insist(position < len(node.inputs), f"{node.key} has no input {position}")
        target = _chosen(nodes, entry["target"])
    if kind == "accumulate":
        part, parts = _line(entry["part"][0]), _line(entry["part"][1])
        _insist(part <= parts, f"there is no part {part} of {parts}")
    return Event(
        index,
        kind,
        node,
        target,
        position,
        **taken,
        axes=_wholes(entry["axes"]) if kind == "unbroadcast" else (),
        part=part,
        parts=parts,
        notes=tuple([_read_note(*_list(note)) for note in _list(entry.get("notes", []))]),
        verdict=_read_verdict(arrays, *_list(entry["verdict"])) if "verdict" in entry else None,
    )


def _read_note(kind: str, *numbers: Any) -> Note:
    _insist(NOTES.get(_text(kind)) == len(numbers), f"there is no note {kind!r:.60} of {numbers}")
    return Note(kind, tuple(map(_read_number, numbers)))


def _read_verdict(arrays: list[Snapshot], numeric: int, *numbers: Any) -> Verdict:
    step, checked, size, worst, absolute, relative, wrong, noisy, kinks = numbers
    return Verdict(
        _taken(arrays, numeric),
        _read_number(step),
        _whole(checked),
        _whole(size),
        _wholes(worst),
        _read_number(absolute),
        _read_number(relative),
        *_wholes([wrong, noisy, kinks]),
    )
