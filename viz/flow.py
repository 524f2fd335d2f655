"""How large the gradient is on its way back: its norm at every op and leaf behind a tensor.

It reads what `backward()` left in a graph that was recorded under `trace()`, and walks it in the
same order. What an op passed back is computed again, as only sums are left of it; nothing is
changed.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from minigrad import Tensor
from minigrad.graph import Node, history
from viz.figures import (
    BLUE,
    NEUTRAL,
    ORANGE,
    axes_for,
    decades,
    explain,
    figure_of,
    readable,
    set_ticks,
    set_words,
    spaced,
    words_of,
)
from viz.graph import contribution

__all__ = ["gradient_flow"]

Array = npt.NDArray[Any]
Texts = Mapping[str, str]

LINE, WORD = 12.0, 60.0
"""What a line of labels takes, and what a factor does, in points."""

MOST_LINED, MOST_POINTED, MOST_LINES = 100, 300, 20_000
"""Up to how many steps lines go to leaves too, and up to how many each op is a dot; and beyond how
many lines they are a bitmap, lest an SVG be too large for a browser."""

POINTS: dict[str, dict[str, Any]] = {
    "op": {"marker": "o", "ms": 5},
    "leaf": {"marker": "D", "ms": 5.5, "mfc": "white"},
    "typical": {"marker": "_", "ms": 9, "mew": 2.0},
    "zero": {"marker": "v", "ms": 7, "color": ORANGE, "mfc": "white"},
    "none": {"marker": "x", "ms": 6},
    "infinite": {"marker": "X", "ms": 8, "color": ORANGE, "mec": "white"},
}

TWICE = math.log10(2.0)

_Line = tuple[tuple[int, float], tuple[int, float]]
"""Two steps of the walk, each with a norm."""

TEXTS: Mapping[str, Texts] = {
    "en": {
        "title": "The gradient on its way back",
        "walk": "backward walk (ops: {ops:,}, leaves: {leaves:,})",
        "axis": "norm of the gradient",
        "op": "at the result of an op",
        "leaf": "at a leaf",
        "typical": "its typical row (median × √rows)",
        "shrinks": "{} shrinks tenfold or more: {}",
        "grows": "{} grows tenfold or more: {}",
        "zero": "exactly 0",
        "none": "no gradient",
        "infinite": "not a finite number",
        "norm": "norm",
        "row": "typical row",
        "unnamed": "leaf",
    },
    "zh": {
        "title": "梯度的回程",
        "walk": "反向传播（运算：{ops:,}，叶子：{leaves:,}）",
        "axis": "梯度的范数",
        "op": "运算结果处",
        "leaf": "叶子处",
        "typical": "其典型的一行（中位数 × √行数）",
        "shrinks": "{}缩小十倍或更多：{}",
        "grows": "{}放大十倍或更多：{}",
        "zero": "恰为 0",
        "none": "没有梯度",
        "infinite": "不是有限的数",
        "norm": "范数",
        "row": "典型的一行",
        "unnamed": "叶子",
    },
}


def gradient_flow(root: Tensor, *, ax: Axes | None = None, language: str = "en") -> Axes:
    """Draw the norm of the gradient at every op and leaf behind a tensor, in backward's order.

    A dot is an op, or rather the gradient at its result; a diamond is a leaf, with what its
    `.grad` holds now: after several passes, their sum. Lines join an op with the inputs that it
    passes a gradient to. A dash is the typical row, the median of the norms of rows times the root
    of their number; far below the dot, a few rows carry the norm. What is exactly 0 or not finite
    stands at the edge of the axis, and so does, with no line to it, what has no gradient.

    An op is marked where it shrinks or grows the gradient tenfold or more: from the one at its
    result to the largest that it passed back to an input, in the norm (solid) or, where both have
    one shape, in the typical row (dotted). The mark goes straight up or down from the op's dot or
    dash to what it passed; the input itself stands at the sum over all ops that use it, and a leaf
    at that over all passes. Between sizes that differ, a change of the norm by the root of their
    ratio does not count: a mean or a sum only spreads its gradient out. Constants get no gradient
    and do not count either. An op is not judged if what its rules need is gone; `trace()` keeps it.

    Args:
        root: a tensor that was computed under `minigrad.trace()`, after `backward()`.
        ax: where to draw; by default on a picture of its own.
        language: `en` or `zh`.

    Raises:
        TypeError: root is no tensor.
        RuntimeError: no gradient has come to it yet, or those of intermediates were not kept.

    Example:
        >>> import minigrad
        >>> x = Tensor([1.0, 2.0], requires_grad=True, name="x")
        >>> with minigrad.trace():
        ...     loss = ((x * 1e-3) ** 2).sum()
        >>> loss.backward()
        >>> axes = gradient_flow(loss)
        >>> [label.get_text() for label in axes.get_xticklabels()]
        ['sum', 'power', 'multiply', 'x']
        >>> [text.get_text() for text in axes.texts]
        ['÷ 1,000', '÷ 320']
    """
    texts = words_of(TEXTS, language)
    steps = _steps(root)
    places = {step.node: place for place, step in enumerate(steps)}
    parents = [[places[parent] for parent in _positions(step.node)] for step in steps]
    marks = _marks(steps)
    with axes_for(ax, max(7.5, min(14.0, 4.0 + 0.25 * len(steps))), 4.8) as axes:
        margin = 0.5 + 0.01 * len(steps)
        axes.set_xlim(-margin, len(steps) - 1 + margin)
        heights = _Heights(axes, steps, marks)
        _draw_lines(axes, steps, parents, heights)
        handles = _draw_marks(axes, marks, heights, texts)
        handles |= _draw_points(axes, steps, heights, texts)
        _label_steps(axes, steps, marks, texts)
        ops = sum(step.is_op for step in steps)
        walk = texts["walk"].format(ops=ops, leaves=len(steps) - ops)
        set_words(axes, title=texts["title"], x=walk, y=texts["axis"])
        explain(axes, handles, loc="upper left", bbox_to_anchor=(1.0, 1.0), ncols=1)
    return axes


# ------------------------------------------------------------------------- what is to be drawn


class _Step(NamedTuple):
    """A node of the walk, the norm of its gradient, and that of the typical row; nan for none."""

    node: Node
    norm: float
    typical: float

    @property
    def is_op(self) -> bool:
        return self.node.primitive is not None

    @property
    def kind(self) -> str:
        """How it is drawn: as an op or a leaf, or as what has no place on the axis."""
        if self.node.grad is None:
            return "none"
        if not math.isfinite(self.norm):
            return "infinite"
        return ("op" if self.is_op else "leaf") if self.norm else "zero"


class _Mark(NamedTuple):
    """A change of the gradient across the op at one place of the walk, and the norms of both."""

    place: int
    before: float
    after: float
    typical: bool
    spread: float  # in decades, what the sizes of the two account for

    @property
    def factor(self) -> float:
        return self.after / self.before

    @property
    def decades(self) -> float:
        """How many tenfold steps it is, either way."""
        return abs(math.log10(self.factor)) if 0.0 < self.factor < math.inf else math.inf

    @property
    def kind(self) -> str:
        """Which way it goes; what is no number has grown beyond them."""
        return "shrinks" if self.factor < 1.0 else "grows"

    @property
    def text(self) -> str:
        """The factor, written as a division where it is below 1."""
        if self.factor == 0.0:
            return "→ 0"
        if not math.isfinite(self.factor):
            return "→ nan" if math.isnan(self.factor) else "→ ∞"
        return f"÷ {_short(1.0 / self.factor)}" if self.factor < 1.0 else f"× {_short(self.factor)}"


def _short(factor: float) -> str:
    """Two digits of a factor.

    >>> _short(84.6), _short(3712.0), _short(2.3e8)
    ('85', '3,700', '2e8')
    """
    return (
        f"{float(f'{factor:.2g}'):,.0f}"
        if factor < 1e6
        else f"{factor:.0e}".replace("e+0", "e").replace("e+", "e")
    )


def _steps(root: Tensor) -> list[_Step]:
    """The walk back from a tensor, which has to have been made."""
    if not isinstance(root, Tensor):
        raise TypeError(f"gradient_flow starts from a tensor, not from a {type(root).__name__}.")
    node = root._node
    if node is None or not node.requires_grad:
        raise RuntimeError(
            "nothing behind this tensor requires a gradient, so none flows. Make a leaf with "
            "Tensor(..., requires_grad=True), and compute outside no_grad()."
        )
    nodes = history([node])
    lost = [node for node in nodes if node.primitive is not None and not node.retain]
    if lost:
        raise RuntimeError(
            f"the gradients of {len(lost)} of {len(nodes)} tensors were not kept, such as that of "
            f"{lost[0]}. Compute them inside `with minigrad.trace():`, then call backward()."
        )
    if node.grad is None:
        raise RuntimeError(f"no gradient has come to {node} yet: call backward() first.")
    return [_Step(node, *_norms(node.grad)) for node in nodes]


def _norms(gradient: Array | None) -> tuple[float, float]:
    """The norm of a gradient, and the median over its rows times the root of their number."""
    if gradient is None:
        return math.nan, math.nan
    if gradient.size == 0:
        return 0.0, 0.0
    length = gradient.shape[-1] if gradient.ndim > 1 else gradient.size
    rows = gradient.reshape(-1, length).astype(np.float64)
    largest = float(np.abs(rows).max())
    if largest == 0.0 or not math.isfinite(largest):
        return largest, largest
    rows /= largest  # so that no square overflows
    squares = np.einsum("ij,ij->i", rows, rows)
    norm = math.sqrt(squares.sum()) * largest
    count = len(squares)
    if count == 1:
        return norm, norm
    squares.sort()  # for a few rows that takes a tenth of what np.median does
    middle = (math.sqrt(squares[(count - 1) // 2]) + math.sqrt(squares[count // 2])) / 2.0
    return norm, middle * largest * math.sqrt(count)


def _positions(node: Node) -> dict[Node, list[int]]:
    """The inputs that an op passes a gradient to, and in which positions each of them stands."""
    positions: dict[Node, list[int]] = {}
    for position, parent in enumerate(node.inputs):
        if node.passes_to(position):
            positions.setdefault(parent, []).append(position)
    return positions


def _passed(step: _Step) -> dict[Node, tuple[float, float]]:
    """The norms of what an op passed back to each of its inputs; nothing if that was not kept."""
    norms: dict[Node, tuple[float, float]] = {}
    for parent, positions in _positions(step.node).items():
        total: Array | None = None
        for position in positions:
            passed = contribution(step.node, position)
            if passed is None:
                return {}
            with np.errstate(all="ignore"):  # such as ∞ - ∞
                total = passed if total is None else np.asarray(total + passed)
        # Many ops, such as an addition, pass on the very array that came.
        norms[parent] = step[1:] if total is step.node.grad else _norms(total)
    return norms


def _marks(steps: Sequence[_Step]) -> list[_Mark]:
    """Where an op shrinks or grows the gradient tenfold or more, in the order of the walk."""
    changes: list[_Mark] = []
    for place, step in enumerate(steps):
        passed = _passed(step)
        norms = {node: norm for node, (norm, _) in passed.items()}
        rows = {node: row for node, (_, row) in passed.items() if node.shape == step.node.shape}
        of_norm = _change(step, place, norms, typical=False)
        of_row = _change(step, place, rows, typical=True)
        # As a rule the typical row changes as the norm does; told is only where it does not.
        differs = of_row and of_norm and of_row.decades > of_norm.decades + TWICE
        changes += [mark for mark in (of_norm, of_row if differs else None) if mark]
    return [mark for mark in changes if mark.decades >= 1.0 + mark.spread]


def _change(
    step: _Step, place: int, passed: Mapping[Node, float], *, typical: bool
) -> _Mark | None:
    """The change from an op's result to the largest that was passed to one of its inputs."""
    start = step.typical if typical else step.norm
    if not passed or start == 0.0 or not math.isfinite(start):
        return None
    to = max(passed, key=lambda node: (not math.isfinite(passed[node]), passed[node]))
    before, after = math.prod(step.node.shape), math.prod(to.shape)
    spread = 0.5 * abs(math.log10(after / before)) if before and after else 0.0
    return _Mark(place, start, passed[to], typical, spread)


# -------------------------------------------------------------------------------------- drawing


class _Heights:
    """Where a norm stands on the axis: what is 0 at its lower end, what is not finite above."""

    def __init__(self, axes: Axes, steps: Sequence[_Step], marks: Sequence[_Mark]) -> None:
        norms = [norm for step in steps for norm in (step.norm, step.typical)]
        norms += [mark.after for mark in marks]
        inside = [norm for norm in norms if 0.0 < norm < math.inf] or [1.0]
        # Beyond these a power of ten is no longer an ordinary number.
        decades(axes.yaxis, *np.clip([min(inside), max(inside)], 1e-300, 1e300))
        self.floor, self.ceiling = axes.get_ylim()

    def of(self, norm: float) -> float:
        return max(self.floor, norm) if math.isfinite(norm) else self.ceiling


def _draw_lines(
    axes: Axes, steps: Sequence[_Step], parents: Sequence[Sequence[int]], heights: _Heights
) -> None:
    """A line from each op to each of its inputs, where both have a gradient."""
    to_ops: list[_Line] = []
    to_leaves: list[_Line] = []
    for place, some in enumerate(parents):
        for parent in some:
            if "none" in (steps[place].kind, steps[parent].kind):
                continue
            lines = to_ops if steps[parent].is_op else to_leaves
            lines.append(((place, steps[place].norm), (parent, steps[parent].norm)))
    _draw(axes, to_ops, heights, color=NEUTRAL, lw=0.9)
    # In a large graph, lines from everywhere to a few leaves would hide the rest.
    if len(steps) <= MOST_LINED:
        _draw(axes, to_leaves, heights, color=NEUTRAL, lw=0.5, alpha=0.6)


def _draw(axes: Axes, lines: Sequence[_Line], heights: _Heights, **look: Any) -> None:
    """Many lines as one, each from one point to another."""
    x = [(start[0], end[0], math.nan) for start, end in lines]
    y = [(heights.of(start[1]), heights.of(end[1]), math.nan) for start, end in lines]
    if lines:
        (drawn,) = axes.plot(np.ravel(x), np.ravel(y), clip_on=False, zorder=2.0, **look)
        drawn.set_rasterized(len(lines) > MOST_LINES)


def _draw_points(
    axes: Axes, steps: Sequence[_Step], heights: _Heights, texts: Texts
) -> dict[str, Artist]:
    """A dot for each op, a diamond for each leaf, a dash for a typical row; crosses at the edge."""
    many = len(steps) > MOST_POINTED
    kinds: dict[str, list[tuple[int, float]]] = {kind: [] for kind in POINTS}
    for place, step in enumerate(steps):
        if step.kind != "op" or not many:
            height = heights.floor if step.kind == "none" else heights.of(step.norm)
            kinds[step.kind].append((place, height))
        if math.isfinite(step.norm) and step.typical != step.norm and not many:
            kinds["typical"].append((place, heights.of(step.typical)))
    handles: dict[str, Artist] = {}
    for kind, points in kinds.items():
        if points:
            look: dict[str, Any] = {"ls": "none", "color": NEUTRAL, "mew": 1.3, **POINTS[kind]}
            axes.plot(*zip(*points, strict=True), clip_on=False, zorder=3.0, **look)
            handles[texts[kind]] = Line2D([], [], **look)
    if many:
        handles[texts["op"]] = Line2D([], [], color=NEUTRAL, lw=0.9)
    return handles


def _draw_marks(
    axes: Axes, marks: Sequence[_Mark], heights: _Heights, texts: Texts
) -> dict[str, Artist]:
    """Marked changes as thick lines in colour, dotted for typical rows, with their factors."""
    handles: dict[str, Artist] = {}
    for kind, colour in (("shrinks", ORANGE), ("grows", BLUE)):
        for typical, style in ((False, "-"), (True, ":")):
            some = [mark for mark in marks if (mark.kind, mark.typical) == (kind, typical)]
            look: dict[str, Any] = {"color": colour, "ls": style, "lw": 2.6}
            ends = [((mark.place, mark.before), (mark.place, mark.after)) for mark in some]
            _draw(axes, ends, heights, **look)
            if some:
                said = texts["row" if typical else "norm"]
                handles[texts[kind].format(said, len(some))] = Line2D([], [], **look)
    for typical in (False, True):
        _label_marks(axes, [mark for mark in marks if mark.typical == typical], heights)
    return handles


def _label_marks(axes: Axes, marks: Sequence[_Mark], heights: _Heights) -> None:
    """The factors of the largest changes beside their lines, typical rows' further along."""
    largest = sorted(marks, key=_decades, reverse=True)
    for i in spaced([mark.place for mark in largest], WORD * _steps_per_point(axes)):
        mark = largest[i]
        along = 0.75 if mark.typical else 0.5
        axes.annotate(
            mark.text,
            (
                mark.place,
                heights.of(mark.before) ** (1.0 - along) * heights.of(mark.after) ** along,
            ),
            (6.0, 0.0),
            textcoords="offset points",
            va="center",
            color=ORANGE if mark.kind == "shrinks" else BLUE,
            weight="bold",
            bbox={"color": axes.get_facecolor(), "alpha": 0.8, "pad": 1.0},
        )


def _decades(mark: _Mark) -> float:
    return mark.decades


def _steps_per_point(axes: Axes) -> float:
    """How many steps of the walk share one point of the axis's length."""
    left, right = axes.get_xlim()
    points = axes.get_window_extent().width * 72.0 / figure_of(axes).dpi
    return (right - left) / points


def _label_steps(axes: Axes, steps: Sequence[_Step], marks: Sequence[_Mark], texts: Texts) -> None:
    """Names under the axis: of all steps if there is room, else of marked ops and named tensors."""
    gap = LINE * _steps_per_point(axes)
    kinds = {mark.place: mark.kind for mark in marks}
    marked = [mark.place for mark in sorted(marks, key=_decades, reverse=True)]
    named = [i for i, step in enumerate(steps) if step.node.name is not None]
    order = [*dict.fromkeys([*marked, *named, *(range(len(steps)) if gap <= 1.0 else ())])]
    chosen = sorted(order[i] for i in spaced(order, gap))
    words = [_name(steps[i].node) or texts["unnamed"] for i in chosen]
    set_ticks(axes.xaxis, chosen, words, rotation=90, va="top")
    for place, label in zip(chosen, axes.get_xticklabels(), strict=True):
        if place in kinds:
            label.set(color=ORANGE if kinds[place] == "shrinks" else BLUE, fontweight="bold")
    axes.grid(axis="x", visible=False)


def _name(node: Node) -> str:
    """The op, and the name of its result."""
    parts = [node.primitive.name] if node.primitive else []
    return " → ".join(parts if node.name is None else [*parts, readable(node.name)])
