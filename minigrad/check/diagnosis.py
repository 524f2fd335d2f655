"""Which mistake a wrong gradient is: said only where it explains every entry, on every occasion.

A wrong gradient is held against the right one on several occasions, best of different shapes. What
known mistakes would have given comes first, then relations that need no list: a factor, a
transpose, another input's gradient, a term along an axis. Nothing is said where nothing fits to a
millionth, since silence is better than a wrong name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from minigrad.memory import Array

CLOSE = 1e-6
"""The largest residual, relative to the largest entry, at which a relation holds."""


@dataclass(frozen=True, eq=False)
class Occasion:
    """A right and a wrong gradient of one input, and what a mistake could have made of it.

    Args:
        right, wrong: the gradients; the wrong one may have another shape.
        other: what the wrong rule gave for another upstream.
        ones: the right gradient for an upstream of ones.
        constants: numbers that may have been forgotten or used once too often, by name.
        others: the right gradients of other inputs, by name.
        contributions: the terms that the right gradient is the sum of, in order.
        mistakes: what known mistakes give here, by their ids.
        groups: entries that share something, as boolean arrays by what it is.
    """

    right: Array
    wrong: Array
    other: Array | None = None
    ones: Array | None = None
    constants: Mapping[str, float] = field(default_factory=dict)
    others: Mapping[str, Array] = field(default_factory=dict)
    contributions: Sequence[Array] = ()
    mistakes: Mapping[str, Array] = field(default_factory=dict)
    groups: Mapping[str, Array] = field(default_factory=dict)


class Diagnosis(NamedTuple):
    """A mistake by its id, what its sentence says of this case, and, of several, whose it is."""

    id: str
    values: tuple[tuple[str, str], ...] = ()
    of: str = ""

    def sentence(self, language: str = "en") -> str:
        """What is wrong, in a sentence. Only for the ids of `CATALOGUE`."""
        said = CATALOGUE[self.id][language][0].format(**dict(self.values))
        return f"{self.of}{'：' if language == 'zh' else ': '}{said}" if self.of else said

    def hint(self, language: str = "en") -> str:
        """What to look at."""
        return CATALOGUE[self.id][language][1].format(**dict(self.values))

    def told(self, language: str = "en") -> str:
        """Both, as a line."""
        return ("" if language == "zh" else " ").join(
            (self.sentence(language), self.hint(language))
        )


CATALOGUE: dict[str, dict[str, tuple[str, str]]] = {
    "not-finite": {
        "en": (
            "The gradient has entries that are NaN or infinite, where the right one is finite.",
            "Look for a division by 0, a logarithm of 0, or ∞ − ∞ in the rule.",
        ),
        "zh": (
            "梯度中有 NaN 或无穷大，而正确的梯度是有限的。",
            "检查规则中是否除以了 0、对 0 取了对数，或出现了 ∞ − ∞。",
        ),
    },
    "zero": {
        "en": (
            "The gradient is 0 everywhere.",
            "The rule must multiply the upstream gradient by the local derivative and return it.",
        ),
        "zh": ("梯度处处为 0。", "规则应当返回上游梯度与局部导数之积。"),
    },
    "upstream-ignored": {
        "en": (
            "The gradient does not depend on the upstream gradient.",
            "By the chain rule the local derivative is multiplied by the upstream gradient g.",
        ),
        "zh": ("梯度与上游梯度无关。", "根据链式法则，局部导数要乘以上游梯度 g。"),
    },
    "sign": {
        "en": ("The gradient has the opposite sign.", "A minus is missing, or is one too many."),
        "zh": ("梯度的符号反了。", "漏了一个负号，或多了一个负号。"),
    },
    "factor": {
        "en": (
            "The gradient is the right one times {factor}.",
            "Is {factor} one factor too many in the rule, or is one missing that undoes it?",
        ),
        "zh": (
            "梯度是正确值的 {factor} 倍。",
            "规则中是否多乘了 {factor}，或者漏了一个能抵消它的因子？",
        ),
    },
    "transposed": {
        "en": (
            "The gradient is the transpose of the right one.",
            "Write down the shapes of the factors: only one order and one transpose fit.",
        ),
        "zh": ("梯度是正确值的转置。", "写出各因子的形状：只有一种顺序和一种转置能对上。"),
    },
    "other-input": {
        "en": (
            "This is the gradient of {other}.",
            "Each input has a rule of its own, in the order of the inputs.",
        ),
        "zh": ("这是 {other} 的梯度。", "每个输入各有一条规则，顺序与输入相同。"),
    },
    "not-summed": {
        "en": (
            "The gradient is not summed over the axes along which the input was repeated.",
            "What was broadcast forward is summed backward, until the shape is the input's.",
        ),
        "zh": (
            "输入沿某些轴被广播，而梯度没有沿这些轴求和。",
            "前向时广播的轴，反向时要求和，直到形状与输入一致。",
        ),
    },
    "last-contribution": {
        "en": (
            "Only the last of {count} contributions arrived.",
            "A tensor that is used several times gets the sum: += and not =.",
        ),
        "zh": (
            "{count} 份贡献中只留下了最后一份。",
            "多次使用的张量得到的是各份贡献之和：用 += 而不是 =。",
        ),
    },
    "first-contribution": {
        "en": (
            "Only the first of {count} contributions arrived.",
            "A tensor that is used several times gets the sum of what comes along every path.",
        ),
        "zh": (
            "{count} 份贡献中只留下了第一份。",
            "多次使用的张量得到的是沿每条路径传来的贡献之和。",
        ),
    },
    "term-everywhere": {
        "en": (
            "Every entry of the gradient is off by {number}, whatever the upstream is.",
            "Which term is not multiplied by the upstream?",
        ),
        "zh": (
            "梯度的每个元素都相差 {number}，与上游无关。",
            "哪一项没有乘以上游梯度？",
        ),
    },
    "term-along-axis": {
        "en": (
            "The gradient differs from the right one by a term that is the same along axis {axis}.",
            "A term that is summed or averaged along that axis is missing, or is one too many.",
        ),
        "zh": (
            "梯度与正确值相差一项，该项沿轴 {axis} 不变。",
            "漏了一个沿该轴求和或取平均的项，或者多了一个。",
        ),
    },
    "group": {
        "en": (
            "The gradient is right everywhere but at {group}.",
            "Work out one of those entries by hand.",
        ),
        "zh": ("除了{group}，梯度都是正确的。", "手工算出其中一个元素。"),
    },
}
"""Mistakes that any rule can have: id, then language, then a sentence and a hint."""


def diagnose(occasions: Sequence[Occasion], *, least: int = 2) -> Diagnosis | None:
    """The mistake that explains the wrong gradient on all occasions, or None.

    Args: `least` is the number of occasions without which nothing is said. A known mistake also
    counts if its gradient appears times a constant.

    >>> right = [np.array([1.0, -2.0, 4.0]), np.array([3.0, 0.5])]
    >>> found = diagnose([Occasion(x, len(x) * x, constants={"n": len(x)}) for x in right])
    >>> found.sentence()
    'The gradient is the right one times n.'
    """
    shown = [o for o in occasions if not _equal(o.wrong, o.right)]
    if len(occasions) < least or not shown:
        return None
    # Nothing can be said of a gradient of 0; elsewhere what holds must hold, right or wrong.
    telling = [o for o in occasions if o in shown or o.right.any()]
    for relation in (_known, *_RELATIONS, _known_and_more):
        held = [relation(o) for o in (shown if relation is _not_finite else telling)]
        common = [found for found in held[0] if all(found in others for others in held[1:])]
        if common:
            return _joined(common)
    return None


def _joined(found: list[Diagnosis]) -> Diagnosis:
    """One of several that fit alike; a factor is told by all its names."""
    first = found[0]
    if first.id != "factor":
        return first
    names = list(dict.fromkeys(d.values[0][1] for d in found))
    # A plain 2 that is also the length of an axis is told as 2.
    told = [name for name in names if not any(name.startswith(f"{other} (") for other in names)]
    return Diagnosis("factor", (("factor", " = ".join(told)),))


def _equal(a: Array, b: Array) -> bool:
    """Equal in shape and, to a millionth of the largest entry, in values."""
    if a.shape != b.shape:
        return False
    if not np.isfinite(a).all() or not np.isfinite(b).all():
        return bool(np.array_equal(a, b, equal_nan=True))
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
    return float(np.abs(a - b).max(initial=0.0)) <= CLOSE * size


# ---------------------------------------------------------------------------------------- relations

Relation = Callable[[Occasion], list[Diagnosis]]


def _known(o: Occasion) -> list[Diagnosis]:
    """The gradient that a known mistake gives."""
    return [Diagnosis(name) for name, made in o.mistakes.items() if _equal(o.wrong, made)]


def _known_and_more(o: Occasion) -> list[Diagnosis]:
    """A known mistake times a constant, the same everywhere."""
    return [
        Diagnosis(name, (("times", text),))
        for name, made in o.mistakes.items()
        if not _is_multiple(made, o.right)  # a constant times it is no more than another constant
        for text, value in (("−1", -1.0), *_factors(o))
        if _equal(o.wrong, value * made)
    ]


def _is_multiple(x: Array, of: Array) -> bool:
    """Whether one array is a constant times another of its shape."""
    if x.shape != of.shape or not of.any() or not np.isfinite(x).all():
        return False
    return _equal(x, (x * of).sum() / (of * of).sum() * of)


def _not_finite(o: Occasion) -> list[Diagnosis]:
    broken = np.isfinite(o.right).all() and not np.isfinite(o.wrong).all()
    return [Diagnosis("not-finite")] if broken else []


def _zero(o: Occasion) -> list[Diagnosis]:
    return [Diagnosis("zero")] if not o.wrong.any() else []


def _upstream_ignored(o: Occasion) -> list[Diagnosis]:
    same = o.other is not None and _equal(o.other, o.wrong)
    ones = o.ones is not None and _equal(o.ones, o.wrong)
    return [Diagnosis("upstream-ignored")] if same or ones else []


def _sign(o: Occasion) -> list[Diagnosis]:
    return [Diagnosis("sign")] if _equal(o.wrong, -o.right) else []


def _factor(o: Occasion) -> list[Diagnosis]:
    if o.wrong.shape != o.right.shape:
        return []
    return [
        Diagnosis("factor", (("factor", name),))
        for name, value in _factors(o)
        if _equal(o.wrong, value * o.right)
    ]


def _factors(o: Occasion) -> Iterator[tuple[str, float]]:
    """The numbers that a gradient may have been multiplied by, with their names."""
    for sign, minus in ((1, ""), (-1, "−")):
        yield f"{minus}2", 2.0 * sign
        yield f"{minus}½", 0.5 * sign
        for name, value in o.constants.items():
            if value <= 0:
                continue
            root = f"√{name}" if name == name.strip("√²") else name.strip("√²")
            other = value**2 if name.startswith("√") else math.sqrt(value)
            for text, number in ((name, value), (root, other)):
                yield f"{minus}{text}", sign * number
                yield f"{minus}1/{text}", sign / number


def _transposed(o: Occasion) -> list[Diagnosis]:
    if o.right.ndim < 2 or o.right.shape == (1, 1):
        return []
    swapped = (o.right.swapaxes(-1, -2), o.right.T)
    return [Diagnosis("transposed")] if any(_equal(o.wrong, x) for x in swapped) else []


def _other_input(o: Occasion) -> list[Diagnosis]:
    return [
        Diagnosis("other-input", (("other", name),))
        for name, gradient in o.others.items()
        if _equal(o.wrong, gradient)
    ]


def _not_summed(o: Occasion) -> list[Diagnosis]:
    extra = o.wrong.ndim - o.right.ndim
    if extra < 0 or o.wrong.shape == o.right.shape:
        return []
    small = (1,) * extra + o.right.shape
    axes = tuple([i for i, n in enumerate(small) if n == 1 < o.wrong.shape[i]])
    if not axes:
        return []
    summed = o.wrong.sum(axis=axes, keepdims=True)
    fits = summed.size == o.right.size and _equal(summed.reshape(o.right.shape), o.right)
    return [Diagnosis("not-summed")] if fits else []


def _one_contribution(o: Occasion) -> list[Diagnosis]:
    if len(o.contributions) < 2:
        return []
    count = (("count", str(len(o.contributions))),)
    ends = (("last-contribution", o.contributions[-1]), ("first-contribution", o.contributions[0]))
    return [Diagnosis(name, count) for name, one in ends if _equal(o.wrong, one)]


def _is_constant(x: Array, axis: int) -> bool:
    return _equal(x, np.broadcast_to(x.mean(axis, keepdims=True), x.shape))


def _term_everywhere(o: Occasion) -> list[Diagnosis]:
    if o.wrong.shape != o.right.shape or not o.wrong.size or not np.isfinite(o.wrong).all():
        return []
    off = o.wrong - o.right
    even = bool((np.abs(off - off.flat[0]) <= CLOSE * abs(off.flat[0])).all())
    return [Diagnosis("term-everywhere", (("number", f"{off.flat[0]:.4g}"),))] if even else []


def _term_along_axis(o: Occasion) -> list[Diagnosis]:
    if o.wrong.shape != o.right.shape or not np.isfinite(o.wrong).all():
        return []
    off = o.wrong - o.right
    return [
        Diagnosis("term-along-axis", (("axis", str(axis - off.ndim)),))
        for axis in range(off.ndim - 1, -1, -1)
        if off.shape[axis] > 1 and _is_constant(off, axis) and not _is_constant(o.right, axis)
    ]


def _group(o: Occasion) -> list[Diagnosis]:
    if o.wrong.shape != o.right.shape:
        return []
    size = float(np.abs(o.right).max(initial=0.0))
    with np.errstate(invalid="ignore"):
        off = ~(np.abs(o.wrong - o.right) <= CLOSE * size)
    return [
        Diagnosis("group", (("group", name),))
        for name, members in o.groups.items()
        if (off <= members).all() and not members.all()
    ]


_RELATIONS: tuple[Relation, ...] = (
    _not_finite,
    _zero,
    _upstream_ignored,
    _sign,
    _factor,
    _transposed,
    _other_input,
    _not_summed,
    _one_contribution,
    _term_everywhere,
    _term_along_axis,
    _group,
)
