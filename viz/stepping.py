"""A log of steps as a page to walk through: one HTML file that needs no network.

What is written here is what the page knows: the log, its words, the graph that was laid out. What a
reader does with it is told in `pages/step.js`, how it looks in `pages/step.css`.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from minigrad.notation import visible
from minigrad.stepper import BackwardSteps
from minigrad.stepper.recording import CONTEXT
from minigrad.stepper.storage import written_json
from minigrad.stepper.wording import judged, noticed, sentence
from viz.colours import DARK, LIGHT, properties
from viz.layout import write_picture
from viz.step_graph import ROOM, step_graph
from viz.step_words import WORDS_OF_PAGE

__all__ = ["step_frame", "step_page"]

Array = npt.NDArray[Any]

MOST_EVENTS = 20_000
"""Of a page; a longer log is walked through in the terminal."""

MOST_CELLS = 32
"""Along one side of a matrix; where there are more entries, a cell stands for a block."""

MOST_BYTES = 6 * 2**20
"""Of all entries on a page; beyond these, those of the largest arrays are left out."""


def step_page(
    steps: BackwardSteps,
    path: str | os.PathLike[str] | None = None,
    *,
    compare: BackwardSteps | None = None,
    labels: tuple[str, str] | None = None,
    title: str = "",
    language: str = "en",
) -> str:
    """Write a log as a page on which one steps through the backward pass, forwards and backwards.

    It is one self-contained file: its Content-Security-Policy allows no request, and no script but
    its own. It follows the reader's light or dark mode.

    Args:
        steps: the log. Arrays of more than 32 × 32 entries are shown in blocks.
        path: where to write the page, whole or not at all; None writes nothing.
        compare: a second log of the same graph, to be walked through in lock step.
        labels: what to call the two logs.
        title: any text.
        language: `en` or `zh`.

    Returns:
        The page, to be read as UTF-8.

    Raises:
        TypeError: `compare` is no log.
        ValueError: the logs part, the log is too long for a page, or there is no such language.
        DrawingError: there is no layout engine, or the file cannot be written.

    Example:
        >>> from minigrad import Tensor, step_backward
        >>> x = Tensor(3.0, requires_grad=True, name="x")
        >>> step_page(step_backward(x * x))[:15]
        '<!DOCTYPE html>'
    """
    if language not in WORDS_OF_PAGE:
        raise ValueError(f"language is one of {', '.join(WORDS_OF_PAGE)}; it is {language!r}.")
    if len(steps) > MOST_EVENTS:
        raise ValueError(
            f"a page holds {MOST_EVENTS:,} events, and this log has {len(steps):,}: step from a "
            "tensor nearer to the leaves, or walk through it with minigrad step."
        )
    if compare is not None:
        _insist_on_lock_step(steps, compare)
    words = WORDS_OF_PAGE[language]
    logs = [steps] if compare is None else [steps, compare]
    called = [visible(str(label)) for label in labels or words["labels"]][: len(logs)]
    if len(called) != len(logs):
        raise ValueError(f"labels are two texts, one for each log; they are {labels!r}.")
    drawn, left_out = step_graph(steps, language)
    reduced = _reduced(logs)
    data = {
        "logs": reduced,
        "labels": called,
        "sentences": [sentence(event, language) for event in steps],
        "notes": [[noticed(event, language) for event in log] for log in logs],
        "verdicts": [[judged(event, language) for event in log] for log in logs],
        "words": words["script"],
        "room": ROOM,
        "context": CONTEXT,
    }
    script, style = _part("rules.js") + _part("step.js"), _part("step.css")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    page = environment.from_string(_part("step.html")).render(
        lang={"en": "en", "zh": "zh-Hans"}[language],
        title=visible(title or words["title"].format(steps.root.label)),
        words=words,
        compared=compare is not None,
        graph=Markup(drawn),
        light=properties(LIGHT),
        dark=properties(DARK),
        style=Markup(style),
        script=Markup(script),
        allowed=_hash(script),
        data=Markup(_inert(data)),
        left_out=_left_out(reduced, left_out, words),
    )
    if path is not None:
        write_picture(Path(path), page.encode())
    return page


def step_frame(steps: BackwardSteps, language: str = "en") -> str:
    """Write the page as an `<iframe>` for a notebook, which nothing in it can reach out of."""
    page = html.escape(step_page(steps, language=language), quote=True)
    title = html.escape(repr(steps), quote=True)
    return (
        f'<iframe title="{title}" sandbox="allow-scripts" srcdoc="{page}" width="100%" '
        'height="760" style="border: 1px solid #8884; border-radius: 6px"></iframe>'
    )


def _insist_on_lock_step(one: BackwardSteps, other: BackwardSteps) -> None:
    if not isinstance(other, BackwardSteps):
        raise TypeError(f"compare is a log of steps, not a {type(other).__name__}.")
    for a, b in zip(one, other, strict=False):
        for what, x, y in (
            ("kind", a.kind, b.kind),
            ("op", a.op, b.op),
            ("tensor", (a.node.key, a.receiver.key), (b.node.key, b.receiver.key)),
            ("position", a.position, b.position),
            ("shape", a.receiver.shape, b.receiver.shape),
        ):
            if x != y:
                was = f"{what} {x!r} and {y!r}"
                raise ValueError(f"the two logs part at event {a.index}: {was}. {_SAME}")
    if len(one) != len(other):
        raise ValueError(f"one log has {len(one)} events, the other {len(other)}. {_SAME}")


_SAME = "Two logs can be compared if the same code made them, with other numbers."


# ------------------------------------------------------------------------------ what the page knows


def _reduced(logs: list[BackwardSteps]) -> list[dict[str, Any]]:
    """The logs with arrays as float64 of a size that can be shown; of files, only the names."""
    reduced = [json.loads(log.to_json()) for log in logs]
    for log in reduced:
        log["arrays"] = [_shown(entry) for entry in log["arrays"]]
        named = _names_of_files([node["file"] for node in log["nodes"] if node["file"]])
        for node in log["nodes"]:
            node["file"] = named.get(node["file"])
        log["sources"] = {
            named[file]: {number: _source(line) for number, line in lines.items()}
            for file, lines in log["sources"].items()
            if file in named
        }
    entries = [entry for log in reduced for entry in log["arrays"] if "data" in entry]
    total = sum(len(entry["data"]) for entry in entries)
    for entry in sorted(entries, key=lambda entry: -len(entry["data"])):
        if total <= MOST_BYTES:
            break
        total -= len(entry.pop("data"))
        entry["left"] = True
    return reduced


def _names_of_files(files: list[str]) -> dict[str, str]:
    """Files without their folders, and numbered where several are called the same."""
    named: dict[str, str] = {}
    for file in dict.fromkeys(files):
        name = visible(os.path.basename(file))
        same = sum(os.path.basename(other) == os.path.basename(file) for other in named)
        named[file] = f"{name} ({same + 1})" if same else name
    return named


def _source(line: str) -> str:
    """A line of the user's, in which nothing steers how it is shown; tabs stay."""
    return "\t".join(map(visible, line.split("\t")))


def _shown(entry: dict[str, Any]) -> dict[str, Any]:
    """One array as the page has it: whole, or of every block the entry of largest magnitude."""
    if "data" not in entry:
        return entry
    dtype = np.dtype(entry["dtype"])
    array = np.frombuffer(base64.b64decode(entry["data"]), dtype).reshape(entry["shape"])
    array, block = pooled(array.astype(np.float64))
    if block != (1, 1):
        entry |= {"block": list(block), "cells": list(array.shape)}
    return entry | {"data": base64.b64encode(array.astype("<f8").tobytes()).decode()}


def pooled(array: Array, most: int = MOST_CELLS) -> tuple[Array, tuple[int, int]]:
    """An array with no more than so many rows and columns, and the size of the blocks.

    Of every block stands the entry of largest magnitude, NaN before all others.

    Example:
        >>> pooled(np.array([[1.0, -5.0, 2.0], [0.0, 3.0, 4.0]]), most=2)
        (array([[-5.,  2.],
               [ 3.,  4.]]), (1, 2))
    """
    if array.ndim == 0 or array.size == 0:
        return array, (1, 1)
    rows, columns = array.shape[-2:] if array.ndim > 1 else (1, array.shape[-1])
    height, width = math.ceil(rows / most), math.ceil(columns / most)
    if height == width == 1:
        return array, (1, 1)
    down, across = math.ceil(rows / height), math.ceil(columns / width)
    padded = np.zeros((*array.shape[:-2], down * height, across * width))
    padded[..., :rows, :columns] = array
    blocks = padded.reshape(*array.shape[:-2], down, height, across, width).swapaxes(-3, -2)
    blocks = blocks.reshape(*blocks.shape[:-2], height * width)
    magnitude = np.minimum(np.abs(blocks), np.finfo(np.float64).max)  # argmax takes NaN first
    chosen = np.take_along_axis(blocks, magnitude.argmax(axis=-1)[..., None], -1)[..., 0]
    return (chosen if array.ndim > 1 else chosen[0]), (height, width)


def _left_out(logs: list[dict[str, Any]], boxes: int, words: Mapping[str, Any]) -> list[str]:
    """What the page does not show, in words."""
    arrays = [entry for log in logs for entry in log["arrays"]]
    counts = {
        "boxes": boxes,
        "pooled": sum("block" in entry and "data" in entry for entry in arrays),
        "entries": sum("left" in entry for entry in arrays),
        "summaries": sum("data" not in entry and "left" not in entry for entry in arrays),
    }
    return [words["left out"][what].format(n) for what, n in counts.items() if n]


def _inert(data: Any) -> str:
    """JSON that can stand inside a `<script>` element: nothing in it ends or begins one."""
    text = written_json(data)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _part(name: str) -> str:
    return files("viz").joinpath("pages", name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
