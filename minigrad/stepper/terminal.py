"""What the debugger prints at a stop: the event, its arrays, the graph, the user's lines.

Plain text, of 80 columns where names and equations allow that, without colour, and with nothing in
it that steers a terminal. The sentences are those of `wording`; what the user types is read in
`debugger`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from minigrad.memory import Array
from minigrad.notation import summarise, visible, width_of, write_number, write_summary
from minigrad.stepper.events import STOPS, Event, Snapshot, StepNode
from minigrad.stepper.recording import CONTEXT
from minigrad.stepper.steps import BackwardSteps
from minigrad.stepper.wording import brief, place_of, remarks, sentence, texts_of

HELP: Mapping[str, Mapping[str, str]] = {
    "en": {
        "n(ext)": "on to the next op",
        "b(ack)": "back to the op before; inside an op, back to its start",
        "s(tep)": "one event on, into the pieces of an op",
        "sb": "step back: one event back",
        "c(ontinue)": "on to the next breakpoint; where none is left, backward runs",
        "goto WHAT": "to an event by its number, to the gradient of a tensor, to an op",
        "until WHAT": "on to a number, a tensor, an op, or to where an EXPR is true",
        "break [WHAT]": "stop there: break softmax, break norm < 1e-3; alone, list them",
        "clear [WHAT]": "no longer stop there; alone, nowhere",
        "p EXPR": "print the value of an expression",
        "w(here), l(ist)": "your lines around the one that made this tensor",
        "g(raph)": "the graph, and how far the pass has come",
        "a, grads": "all gradients known by now",
        "t(ranscript)": "all events",
        "h(elp), ?": "this list",
        "q(uit)": "leave; backward does not run",
    },
    "zh": {
        "n(ext)": "前进到下一个运算",
        "b(ack)": "回到上一个运算；在运算内部则回到它的开头",
        "s(tep)": "前进一个事件，进入运算内部",
        "sb": "后退一个事件（step back）",
        "c(ontinue)": "前进到下一个断点；没有断点了，就真正执行 backward",
        "goto WHAT": "转到某个事件：编号、张量名（它的梯度）或运算名",
        "until WHAT": "前进到某个编号、张量、运算，或前进到 EXPR 成立之处",
        "break [WHAT]": "设断点：break softmax、break norm < 1e-3；不带参数则列出",
        "clear [WHAT]": "删除断点；不带参数则全部删除",
        "p EXPR": "打印表达式的值",
        "w(here), l(ist)": "你的代码：产生该张量的那一行及其前后",
        "g(raph)": "计算图，以及反向传播走到了哪里",
        "a, grads": "目前已知的全部梯度",
        "t(ranscript)": "全部事件",
        "h(elp), ?": "本列表",
        "q(uit)": "离开，不执行 backward",
    },
}

TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "so far": "{} so far",
        "scalar": "scalar",
        "leaf": "leaf",
        "earlier": "… {:,} before these",
        "later": "… {:,} after these",
        "no line": "{} is a leaf: no op made it, so no line of yours is shown",
        "not kept": "the line that made {} was not kept: record under minigrad.trace()",
        "opened": "{}; h lists the commands",
        "expressions": "EXPR may use your variables and: event, steps, index, kind, op, name,\n"
        'norm, upstream, contribution, before, after, grad("x"), value("x"), np.\n'
        "An empty line repeats the last command.",
        "called": ", called at {}",
        "unchecked": "not checked: some of it was recorded where nothing was traced",
        "runs": "backward runs",
        "quit": "left before backward ran; no gradient was touched",
        "last": "this is the last event: c lets backward run, b goes back",
        "first": "this is the first event",
        "unknown": "no such command: {}; h lists them, p EXPR prints a value",
        "usage": "what is missing: {}",
        "no number": "there is no event {}: they are 0 to {}",
        "no place": "no tensor and no op is called {}: there are {}",
        "never": "no later event: {}",
        "no breakpoints": "no breakpoints",
        "breakpoint": "breakpoint {}: {} of {} events",
        "cleared": "cleared: {}",
        "not there": "no breakpoint {}",
        "nested": "this backward cannot be stepped through: a hook in it calls backward() too",
    },
    "zh": {
        "so far": "{}（目前）",
        "scalar": "标量",
        "leaf": "叶子",
        "earlier": "… 之前还有 {:,} 个",
        "later": "… 之后还有 {:,} 个",
        "no line": "{} 是叶子：没有运算产生它，所以没有对应的代码行",
        "not kept": "产生 {} 的代码行未保留：请在 minigrad.trace() 中记录",
        "opened": "{}；h 列出命令",
        "expressions": "EXPR 中可用你的变量，以及 event、steps、index、kind、op、name、norm、\n"
        'upstream、contribution、before、after、grad("x")、value("x")、np。\n'
        "空行重复上一条命令。",
        "called": "，调用于 {}",
        "unchecked": "未检验：其中有一部分记录时没有跟踪",
        "runs": "执行 backward",
        "quit": "在 backward 执行之前离开，没有改动任何梯度",
        "last": "这是最后一个事件：c 执行 backward，b 返回",
        "first": "这是第一个事件",
        "unknown": "没有这个命令：{}；h 列出命令，p EXPR 打印值",
        "usage": "缺少参数：{}",
        "no number": "没有事件 {}：编号为 0 到 {}",
        "no place": "没有名为 {} 的张量或运算：现有 {}",
        "never": "之后没有这样的事件：{}",
        "no breakpoints": "没有断点",
        "breakpoint": "断点 {}：{} 个事件（共 {} 个）",
        "cleared": "已删除：{}",
        "not there": "没有断点 {}",
        "nested": "无法逐步查看这次 backward：它的钩子里又调用了 backward()",
    },
}

COLUMNS = 80
ROWS, WIDEST = 6, 8
"""Of an array that is shown entry by entry."""

WINDOW = 10
"""Tensors on either side of the current one, in a long graph."""

LONGEST_EQUATION, LONGEST_ANSWER = 44, 2000

Block = list[str]  # a heading, and the lines below it


# -------------------------------------------------------------------------------------- one event


def stop(event: Event, steps: BackwardSteps, language: str) -> str:
    """An event as the debugger stops at it: which one, what happens, and with which numbers."""
    last = len(steps) - 1
    place = place_of(event.node) if event.kind == "enter" else ""
    where = f"  [{place}]" if place else ""
    lines = [f"{event.index:{len(str(last))}}/{last}  {sentence(event, language)}{where}"]
    lines += [f"    · {remark}" for remark in remarks(event, language)]
    return "\n".join([*lines, *side_by_side(_blocks(event, steps))])


def _blocks(event: Event, steps: BackwardSteps) -> list[Block]:
    """The arrays of an event, in the order in which its sentence has them."""
    slope = f"∂L/∂{event.receiver.label}"
    if event.kind == "accumulate" and event.before is None:
        return []  # it is what the rule made, which has just been shown
    shown: list[tuple[str, Snapshot | None]] = [(slope, event.after)]
    if event.kind == "rule":
        shown = [*_operands(event, steps), (slope, event.contribution)]
        return [_block(name, taken) for name, taken in shown if taken is not None]
    if event.kind == "enter":
        shown = [(event.node.label, event.node.value), (slope, event.after)]
    elif event.kind == "unbroadcast":
        shown = [("", event.before), (slope, event.contribution)]
    elif event.kind == "accumulate":
        shown = [("", event.before), ("+", event.contribution), (f"= {slope}", event.after)]
    # Of a single number the sentence has said all.
    return [_block(name, x) for name, x in shown if x is not None and x.summary.size != 1]


def _operands(event: Event, steps: BackwardSteps) -> Iterator[tuple[str, Snapshot | None]]:
    """What the rule computes with, in the order of its equation."""
    stack: list[Any] = [event.written.tree if event.written else "G"]
    seen = set()
    while stack:
        x = stack.pop()
        if isinstance(x, list):
            stack += reversed(x[2:])
        elif isinstance(x, str) and x not in seen:
            seen.add(x)
            node = steps.nodes.get(x)
            yield ("G", event.upstream) if node is None else (node.label, node.value)


# -------------------------------------------------------------------------------------- the arrays


def _block(name: str, taken: Snapshot) -> Block:
    """A heading with the shape, and below it the entries, or what sums them up."""
    return [f"{name} {taken.shape or ''}".strip(), *_entries(taken).split("\n")]


def _entries(taken: Snapshot) -> str:
    array, summary = taken.values, taken.summary
    if array is None and summary.size == 1:
        return write_number(taken.norm if math.isnan(summary.mean) else summary.mean)
    if array is None or not is_small(array):
        return write_summary(taken.summary) or "[]"
    texts = [f"{x:.4g}" if isinstance(x, float) else str(x) for x in array.ravel().tolist()]
    if not array.shape:
        return texts[0]
    # Four digits of each entry: NumPy would write 1e-9 beside 1.0 as 0, or both with an exponent.
    cells = np.array([text.rjust(max(map(len, texts))) for text in texts]).reshape(array.shape)
    return np.array2string(cells, formatter={"all": str}, max_line_width=200, threshold=1000)


def is_small(array: Array) -> bool:
    """Whether an array is shown entry by entry."""
    rows, width = math.prod(array.shape[:-1]), (1, *array.shape)[-1]
    return rows <= ROWS and width <= WIDEST and array.size > 0


def side_by_side(blocks: Iterable[Block]) -> list[str]:
    """The lines of blocks that stand beside one another, as many as there is room for."""
    lines: list[str] = []
    row: list[Block] = []
    for block in blocks:
        if row and sum([max(map(width_of, x)) + 3 for x in [*row, block]]) >= COLUMNS:
            lines += _beside(row)
            row = []
        row.append(block)
    return lines + _beside(row)


def _beside(row: list[Block]) -> list[str]:
    height = max(map(len, row), default=0)
    cells = [[block[i] if i < len(block) else "" for block in row] for i in range(height)]
    return [f"    {line}" for line in aligned(cells)]


def aligned(rows: list[list[str]]) -> list[str]:
    """Rows of cells as lines, in columns as wide as their widest cell."""
    widths = [max([width_of(cell) for cell in column]) for column in zip(*rows, strict=True)]
    padded = [[x + " " * (w - width_of(x)) for x, w in zip(r, widths, strict=True)] for r in rows]
    return ["   ".join(cells).rstrip() for cells in padded]


def answer(x: Any) -> str:
    """What an expression came to: large arrays summed up, of all else its repr."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "biuf" and not is_small(x):
        return f"{x.shape} {x.dtype}: {write_summary(summarise(x)) or '[]'}"
    if isinstance(x, Snapshot):
        return f"{x.shape} {x.dtype}: {write_summary(x.summary) or '[]'}"
    text = repr(x)
    text = text if len(text) <= LONGEST_ANSWER else text[: LONGEST_ANSWER - 1] + "…"
    return "\n".join([visible(line.expandtabs(4)) for line in text.split("\n")])


# ---------------------------------------------------------------------------------- the whole pass


def gradients(steps: BackwardSteps, language: str) -> str:
    """All gradients as they are known by now, in the order of the walk."""
    view = _View(steps, language)
    blocks = [
        _block(view.said(node, f"∂L/∂{node.label}"), view.known[node.label])
        for node in view.all
        if node.label in view.known
    ]
    return "\n".join(side_by_side(blocks))


def outline(steps: BackwardSteps, language: str) -> str:
    """The graph, a tensor to a line in the order of the walk, and how far that has come."""
    texts, view = TEXTS[language], _View(steps, language)
    at = view.all.index(view.current)
    first = max(0, min(at - WINDOW, len(view.all) - 2 * WINDOW - 1))
    shown = view.all[first : first + 2 * WINDOW + 1]
    rest = len(view.all) - first - len(shown)
    lines = aligned([view.row(node) for node in shown])
    before = [texts["earlier"].format(first)] if first else []
    return "\n".join([*before, *lines, *([texts["later"].format(rest)] if rest else [])])


class _View:
    """The tensors of a pass as they are at its present event."""

    def __init__(self, steps: BackwardSteps, language: str) -> None:
        self.language, self.texts = language, TEXTS[language]
        self.known = steps.grads_at(steps.position)
        self.current = steps[steps.position].node
        # As backward comes by them: always on to the youngest.
        self.all = [x for x in reversed(list(steps.nodes.values())) if x.kind != "constant"]
        passed = steps[: steps.position + 1]
        self.passed = {x.node.key for x in passed if x.kind in STOPS}
        sums = [x for x in passed if x.kind == "accumulate"]
        self.partial = {x.receiver.key: x.part < x.parts for x in sums}

    def said(self, node: StepNode, slope: str) -> str:
        """What is said of its gradient, and whether more is still to come."""
        return self.texts["so far"].format(slope) if self.partial.get(node.key) else slope

    def row(self, node: StepNode) -> list[str]:
        """State and name, shape, equation, gradient."""
        mark = "▶" if node is self.current else "✓" if node.key in self.passed else "·"
        made = node.equations.forward if node.equations else self.texts["leaf"]
        slope = ""
        if node.label in self.known:
            taken = self.known[node.label]
            slope = self.said(node, f"∂L {brief(taken, texts_of(self.language))}")
        shape = str(node.shape or self.texts["scalar"])
        return [f"{mark} {node.label}", shape, visible(made, LONGEST_EQUATION), slope]


def source(event: Event, steps: BackwardSteps, language: str) -> str:
    """The user's lines around the one that made the tensor of an event."""
    node, texts = event.node, TEXTS[language]
    if node.file is None or node.line is None:
        return texts["no line" if node.kind == "leaf" else "not kept"].format(node.label)
    near = range(node.line - CONTEXT, node.line + CONTEXT + 1)
    lines = [
        f"{number:4} {'->' if number == node.line else '  '} {visible(text.expandtabs(4))}"
        for number, text in steps.sources.get(node.file, {}).items()
        if number in near
    ]
    return "\n".join([place_of(node), *[line.rstrip() for line in lines]])
