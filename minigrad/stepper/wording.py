"""What the events of a backward pass say in words, in English and in Chinese.

It is one sentence each, the same in the terminal, in a transcript and on a page.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping

from minigrad.notation import visible, write_number
from minigrad.stepper.events import STOPS, Event, Note, Snapshot, StepNode, Verdict

Texts = Mapping[str, str]

TEXTS: Mapping[str, Texts] = {
    "en": {
        "seed": "{node} gets the gradient to start from: {after}",
        "enter": "∂L/∂{node} is complete, {upstream}; on through {op}: {made}",
        "rule": "{equation}: {contribution}",
        "unbroadcast": "{target} was broadcast: sum over {axes} brings {shape} to {small}: "
        "{contribution}",
        "accumulate first": "∂L/∂{target}: first of {parts} contributions, {after}",
        "accumulate": "∂L/∂{target}: contribution {part} of {parts}, {contribution}, is added: "
        "from {before} to {after}",
        "accumulate only": "∂L/∂{target}: the only contribution, {after}",
        "done": "∂L/∂{node} is complete, {after}: {node} is a leaf, nothing lies behind it",
        "unwritten": "the rule of {op} for {target}",
        "axis": "axis {0}",
        "axes": "axes {0}",
        "norm": "norm {0}",
        "saturated": "{0} of {1} rows are saturated: a weight above 0.99 lets almost no gradient "
        "through",
        "dead": "{0} of {1} units are dead: 0 for every example, so they pass no gradient",
        "zeros": "{0} of {1} entries are exactly 0",
        "shrunk": "the norm shrinks to 1/{0}",
        "grown": "the norm grows {0} times",
        "nan": "the first NaN on the way back: what it is made of had none",
        "inf": "the first infinity on the way back: what it is made of had none",
        "-inf": "the first −infinity on the way back: what it is made of had none",
        "made nan": "{op} made the first NaN of the forward: none went in",
        "made inf": "{op} made the first infinity of the forward: none went in",
        "made -inf": "{op} made the first −infinity of the forward: none went in",
        "sums to 0": "each row sums to 0, as it must: at most {0}",
        "does not sum to 0": "a row must sum to 0, and one sums to {0}",
        "hook": "a hook replaced the gradient",
        "changed": "a rule changed this gradient in place, after it was added up",
        "checked": "differences agree in {agree} of {size} entries, step {step}",
        "error": "relative error {0}",
        "wrong": "differences contradict {wrong} of {size} entries, step {step}",
        "spoiled": "the rule changed its upstream gradient in place",
        "noisy": "{0} more cannot be judged",
        "kinks": "{0} at a kink",
        "unchecked": "not checked: not a finite number",
        "empty": "nothing to check: no entries",
        "none judged": "differences tell nothing here: all {0} drown in rounding",
        "and": ", ",
        "title": "{events} events, backward from {root}",
    },
    "zh": {
        "seed": "{node} 得到起始梯度：{after}",
        "enter": "∂L/∂{node} 已算全，{upstream}；穿过 {op}：{made}",
        "rule": "{equation}：{contribution}",
        "unbroadcast": "{target} 曾被广播：沿{axes}求和，{shape} 变回 {small}：{contribution}",
        "accumulate first": "∂L/∂{target}：{parts} 份贡献中的第 1 份，{after}",
        "accumulate": "∂L/∂{target}：加上第 {part} 份贡献（共 {parts} 份，{contribution}），"
        "由 {before} 变为 {after}",
        "accumulate only": "∂L/∂{target}：唯一的贡献，{after}",
        "done": "∂L/∂{node} 已算全，{after}：{node} 是叶子，到此为止",
        "unwritten": "{op} 对 {target} 的规则",
        "axis": "轴 {0} ",
        "axes": "轴 {0} ",
        "norm": "范数 {0}",
        "saturated": "{1} 行中有 {0} 行饱和：有一个权重大于 0.99，梯度几乎无法通过",
        "dead": "{1} 个单元中有 {0} 个已死：对每个样本都是 0，不传梯度",
        "zeros": "{1} 个元素中有 {0} 个恰为 0",
        "shrunk": "范数缩小到 1/{0}",
        "grown": "范数增大到 {0} 倍",
        "nan": "反向传播中的第一个 NaN：由来里还没有",
        "inf": "反向传播中的第一个无穷大：由来里还没有",
        "-inf": "反向传播中的第一个负无穷大：由来里还没有",
        "made nan": "前向计算的第一个 NaN 出自 {op}：输入里还没有",
        "made inf": "前向计算的第一个无穷大出自 {op}：输入里还没有",
        "made -inf": "前向计算的第一个负无穷大出自 {op}：输入里还没有",
        "sums to 0": "每行之和应为 0：最大 {0}",
        "does not sum to 0": "每行之和应为 0，却有一行为 {0}",
        "hook": "钩子替换了这个梯度",
        "changed": "某条规则在梯度累加之后就地改动了它",
        "checked": "差分检验：{size} 个元素中的 {agree} 个相符，步长 {step}",
        "error": "相对误差 {0}",
        "wrong": "差分检验：{size} 个元素中的 {wrong} 个不符，步长 {step}",
        "spoiled": "这条规则就地改动了它的上游梯度",
        "noisy": "另有 {0} 个无法判断",
        "kinks": "{0} 个在折点上",
        "unchecked": "未检验：不是有限的数",
        "empty": "无可检验：没有元素",
        "none judged": "差分在此无法判断：{0} 个都淹没在舍入误差里",
        "and": "，",
        "title": "从 {root} 开始的反向传播，共 {events} 个事件",
    },
}


def texts_of(language: str) -> Texts:
    """The texts in one language. Errors: `ValueError` if there are none in it."""
    if language not in TEXTS:
        raise ValueError(f"language is one of {', '.join(TEXTS)}; it is {language!r}.")
    return TEXTS[language]


def sentence(event: Event, language: str = "en") -> str:
    """What happens in an event, in one line.

    >>> from minigrad import Tensor, step_backward
    >>> x = Tensor(3.0, requires_grad=True, name="x")
    >>> sentence(step_backward(2 * x)[2])
    '∂L/∂x = 2 · G: 2'
    """
    texts = texts_of(language)
    kind = event.kind
    if kind == "accumulate" and event.before is None:
        kind = "accumulate only" if event.parts == 1 else "accumulate first"
    return texts[kind].format(**_parts(event, texts))


def _parts(event: Event, texts: Texts) -> dict[str, str]:
    """What can stand in the sentence of an event."""
    made, node = event.contribution, event.node
    axes = ", ".join(map(str, event.axes))
    parts = {
        "node": node.label,
        "op": visible(node.op),
        "made": made_of(node),
        "target": event.receiver.label,
        "axes": texts["axes" if len(event.axes) > 1 else "axis"].format(axes),
        "shape": str(event.before.shape) if event.before else "",
        "small": str(made.shape) if made else "",
        "part": str(event.part),
        "parts": str(event.parts),
    }
    parts["equation"] = event.equation or texts["unwritten"].format(**parts)
    for name in ("upstream", "contribution", "before", "after"):
        taken = getattr(event, name)
        parts[name] = "" if taken is None else brief(taken, texts)
    return parts


def made_of(node: StepNode) -> str:
    """How a tensor was made: `scores = Q Kᵀ`; an expression alone where it is called by that."""
    forward = node.equations.forward if node.equations else ""
    return forward if forward == node.label else f"{node.label} = {forward}"


def brief(taken: Snapshot, texts: Texts) -> str:
    """An array in a few characters: a single number as it is, of more the norm."""
    if taken.summary.size == 1 and math.isfinite(taken.norm):
        return write_number(taken.summary.mean)
    if taken.summary.size == 1 and taken.values is not None:
        return write_number(float(taken.values.item()))
    return texts["norm"].format(write_number(taken.norm))


def remarks(event: Event, language: str = "en") -> list[str]:
    """What is worth noticing at an event, and what finite differences say, a line each."""
    verdict = judged(event, language)
    return [*noticed(event, language), *([verdict] if verdict else [])]


def noticed(event: Event, language: str = "en") -> list[str]:
    """What is worth noticing at an event, a line each."""
    return [_noticed(note, event, texts_of(language)) for note in event.notes]


def judged(event: Event, language: str = "en") -> str:
    """What finite differences say of a contribution; empty if nothing."""
    return _judged(event.verdict, texts_of(language)) if event.verdict else ""


def _noticed(note: Note, event: Event, texts: Texts) -> str:
    numbers = [write_number(x) for x in note.numbers]
    return texts[note.kind].format(*numbers, op=visible(event.op))


def _judged(verdict: Verdict, texts: Texts) -> str:
    if not verdict.checked:
        return texts["unchecked" if verdict.size else "empty"]
    if verdict.noisy == verdict.checked:
        return texts["none judged"].format(verdict.checked)
    counts = {"agree": verdict.checked - verdict.noisy, "wrong": verdict.wrong}
    step = write_number(verdict.step)
    kind = "wrong" if verdict.wrong else "checked"
    said = [texts[kind].format(**counts, size=verdict.size, step=step)]
    said.append(texts["error"].format(write_number(verdict.relative)))
    if verdict.noisy:
        said.append(texts["noisy"].format(verdict.noisy))
    if verdict.kinks:
        said.append(texts["kinks"].format(verdict.kinks))
    return texts["and"].join(said)


def place_of(node: StepNode) -> str:
    """The file, without its folders, and line that made a tensor; empty if that was not kept."""
    return f"{visible(os.path.basename(node.file))}:{node.line}" if node.file else ""


def transcript(steps: Iterable[Event], language: str = "en") -> str:
    """All events, one to a line, with what is worth noticing below."""
    events = list(steps)
    texts = texts_of(language)
    return "\n".join(
        [
            texts["title"].format(events=len(events), root=events[0].node.label),
            *[line for event in events for line in _lines(event, language, len(str(len(events))))],
        ]
    )


def _lines(event: Event, language: str, width: int) -> Iterator[str]:
    place = place_of(event.node) if event.kind == "enter" else ""
    indent = "" if event.kind in STOPS else "  "
    where = f"  [{place}]" if place else ""
    yield f"{event.index:{width}}  {indent}{sentence(event, language)}{where}"
    for remark in remarks(event, language):
        yield f"{'':{width}}  {indent}  · {remark}"
