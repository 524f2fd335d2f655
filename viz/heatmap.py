"""Tensors in notebooks: small heat maps in HTML, with the exact number of each cell on hover.

What is written is one `<div>` with inline SVG and a style of its own: it runs no script, loads
nothing and leaves the page around it alone. Whole pages, plots and graphs are not drawn here.
"""

import html
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from minigrad import Tensor
from minigrad.notation import summarise, write_summary
from viz.colours import DARK, LIGHT, diverging

__all__ = ["heatmap_html"]

Array = npt.NDArray[Any]
Texts = Mapping[str, str]

MOST_CELLS = 32
"""Cells along one side of a matrix; where there are more entries, a cell stands for a block."""

MOST_CELLS_TOGETHER, MOST_MATRICES = 1024, 12
"""Of one array; the matrices that do not fit are left out and counted."""

NUMBERED_ROWS, NUMBERED_WIDTH = 16, 600
"""Numbers stand in the cells of matrices that stay within this, the width in pixels."""

PALE = 1e-4
"""A smaller share of the scale cannot be seen; that it is not 0 is said in words."""

LONGEST_TEXT = 600

TEXTS: Mapping[str, Texts] = {
    "en": {
        "lang": "en",
        "array": "array",
        "picture": "heat map of {rows} × {columns} numbers",
        "values": "values",
        "gradient": "gradient",
        "zero": "exactly 0: {count}",
        "nan": "NaN: {count}",
        "inf": "+∞: {count}",
        "-inf": "−∞: {count}",
        "true": "True: {count}",
        "false": "False: {count}",
        "pale": "pale, but not 0: down to {smallest}",
        "probabilities": "probabilities: each row sums to 1",
        "pooled": "Each cell is a block of {height} × {width} and shows its entry of largest "
        "magnitude.",
        "left out": "The first {shown} of {total} matrices; {left} are left out.",
        "empty": "no entries",
    },
    "zh": {
        "lang": "zh-Hans",
        "array": "数组",
        "picture": "{rows} × {columns} 个数的热图",
        "values": "值",
        "gradient": "梯度",
        "zero": "恰为 0：{count}",
        "nan": "NaN：{count}",
        "inf": "+∞：{count}",
        "-inf": "−∞：{count}",
        "true": "True：{count}",
        "false": "False：{count}",
        "pale": "颜色极浅但不是 0：最小 {smallest}",
        "probabilities": "概率：每行之和为 1",
        "pooled": "每格是一块 {height} × {width}，显示其中绝对值最大的一个。",
        "left out": "共 {total} 个矩阵，这里是前 {shown} 个，省略 {left} 个。",
        "empty": "没有元素",
    },
}


def heatmap_html(values: Any, *, title: str | None = None, language: str = "en") -> str:
    """Write an array, or a tensor and the gradient it has, as heat maps for a notebook.

    Blue is positive, orange with a dash negative, hatched exactly 0; NaN and infinities are
    marked. The scale reaches as far below 0 as above; for rows of probabilities it is 0 to 1. A
    tensor is left as it is: nothing is computed, kept or warned of.

    Args:
        values: a tensor, or what NumPy makes an array of real numbers of, of any shape. Of more
            than two axes the first matrices are shown; of long ones, blocks.
        title: any text, to stand above in the place of the line that a tensor prints as.
        language: `en` or `zh`.

    Returns:
        A `<div>` that can stand anywhere in an HTML page, at most some 300 kB long.

    Raises:
        TypeError: the values are no real numbers.
        ValueError: another language, or nested lists of unequal length.

    Example:
        >>> picture = heatmap_html(Tensor([[0.5, -2.0], [0.0, 1e-9]], name="W"))
        >>> "<title>[0, 1] = -2.0</title>" in picture, "<script" in picture
        (True, False)
    """
    if language not in TEXTS:
        raise ValueError(f"a heat map speaks {' and '.join(TEXTS)}, not {language!r}.")
    texts = TEXTS[language]
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"a heat map shows real numbers, and this is {array.dtype}.")
    with np.errstate(all="ignore"):  # looking at a tensor neither warns nor raises
        caption = _line(values, array, texts) if title is None else title
        parts = [_part(name, part, head, texts) for name, part, head in _parts(values, texts)]
    return (
        # Notebooks typeset the $…$ of their outputs, links included. The classes, and <code>
        # around what a user may have written, tell MathJax and KaTeX to leave it alone.
        f'<div class="minigrad-heatmap mathjax_ignore tex2jax_ignore" lang="{texts["lang"]}">\n'
        f"<style>{STYLE}</style>\n<div><code>{_visible(caption)}</code></div>\n"
        f'<div data-row="parts">\n{"".join(parts)}</div>\n</div>\n'
    )


def _line(values: Any, array: Array, texts: Texts) -> str:
    if isinstance(values, Tensor):
        return repr(values)
    kind = f"{texts['array']} {array.shape} {array.dtype}"
    return f"<{kind}: {write_summary(summarise(array))}>" if array.size else f"<{kind}>"


def _parts(values: Any, texts: Texts) -> list[tuple[str, Array, str]]:
    """The values, and the gradient if there is one, with their headings."""
    array = np.asarray(values)
    node = values._node if isinstance(values, Tensor) else None
    if node is None or node.grad is None:  # unlike `.grad`, asking the node does not warn
        return [("values", array, "")]
    gradient = np.asarray(node.grad)
    heading = f"{texts['gradient']}: {write_summary(summarise(gradient))}"
    return [("values", array, texts["values"]), ("gradient", gradient, heading)]


def _visible(text: str) -> str:
    """A text made safe for HTML, its control characters visible, its middle left out if long."""
    if len(text) > LONGEST_TEXT:
        text = f"{text[: LONGEST_TEXT // 2]} … {text[-LONGEST_TEXT // 2 :]}"
    shown = [c if c.isprintable() else c.encode("unicode_escape").decode() for c in text]
    return html.escape("".join(shown))


# ---------------------------------------------------------------------------- what there is to see


class _Spot(NamedTuple):
    """An entry that is shown: the place of its cell, its value, and the text on hover."""

    row: int
    column: int
    value: Any
    title: str


@dataclass
class _Shown:
    """What is shown of an array: spots for each matrix, and what the entries have in common."""

    array: Array
    block: tuple[int, int] = (1, 1)  # height and width of what a cell stands for
    matrices: dict[tuple[int, ...], Array] = field(default_factory=dict)  # by their index
    spots: dict[tuple[int, ...], list[_Spot]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    largest: Any = 0.0  # finite magnitude

    def look(self, block: Array) -> tuple[int, int]:
        """Count a block in; returns the place of its entry of largest magnitude, NaN first."""
        magnitudes = np.abs(block.astype(np.result_type(block.dtype, np.float64), copy=False))
        row, column = np.unravel_index(magnitudes.argmax(), magnitudes.shape)
        largest = magnitudes[row, column]
        if not np.isfinite(largest):
            self.counts["nan"] += int(np.isnan(block).sum())
            self.counts["inf"] += int(np.isposinf(block).sum())
            self.counts["-inf"] += int(np.isneginf(block).sum())
            largest = magnitudes[np.isfinite(magnitudes)].max(initial=0.0)
        self.largest = max(self.largest, largest)
        self.counts["negative"] += int(np.count_nonzero(block < 0))
        self.counts["zero"] += block.size - int(np.count_nonzero(block))
        self.counts["all"] += block.size
        return int(row), int(column)


def _survey(array: Array) -> _Shown:
    """Choose what is shown of an array that is not empty, and look at just that."""
    stack = array if array.ndim > 1 else array.reshape(1, -1)
    *leading, rows, columns = stack.shape
    height, width = math.ceil(rows / MOST_CELLS), math.ceil(columns / MOST_CELLS)
    shown = _Shown(array, (height, width))
    cells = math.ceil(rows / height) * math.ceil(columns / width)
    count = min(MOST_MATRICES, max(1, MOST_CELLS_TOGETHER // cells))
    for number in range(min(count, math.prod(leading))):
        # Not np.ndindex: it lists the indices of all matrices before it gives the first.
        index = tuple(int(i) for i in np.unravel_index(number, leading))
        shown.matrices[index] = stack[index]
        shown.spots[index] = list(_spots(index, shown))
    return shown


def _spots(index: tuple[int, ...], shown: _Shown) -> Iterator[_Spot]:
    matrix, axes = shown.matrices[index], shown.array.ndim
    height, width = shown.block
    for row, top in enumerate(range(0, matrix.shape[0], height)):
        for column, left in enumerate(range(0, matrix.shape[1], width)):
            block = matrix[top : top + height, left : left + width]
            down, right = shown.look(block)
            where = [*index, top + down, left + right][-axes:]
            title = f"{where} = {block[down, right]}" if axes else str(block[down, right])
            if block.size > 1:
                spans = [f"{top}:{top + block.shape[0]}", f"{left}:{left + block.shape[1]}"]
                title += f" ∈ [{', '.join(spans[-axes:])}]"
            yield _Spot(row, column, block[down, right], title)


def _are_probabilities(shown: _Shown) -> bool:
    """Whether every row sums to 1 and nothing is below 0; rows masked as a whole hold 0."""
    dtype, matrices = shown.array.dtype, list(shown.matrices.values())
    if dtype.kind != "f" or shown.counts["negative"] or matrices[0].shape[1] == 1:
        return False
    sums = np.stack([matrix.sum(axis=1, dtype=np.float64) for matrix in matrices])
    tolerance = max(1e-5, 8 * float(np.finfo(dtype).eps))
    return bool(sums.any() and ((abs(sums - 1) < tolerance) | (sums == 0)).all())


# ------------------------------------------------------------------------------------------- cells


class _Cell(NamedTuple):
    """A cell as it is drawn. Its kind is one of `FILLS`, its share of the scale is -1 to 1."""

    row: int
    column: int
    kind: str
    share: float
    title: str = ""
    label: str = ""


FILLS = {
    "positive": "positive",
    "negative": "negative",
    "zero": "zero",
    "nan": "paper",
    "inf": "positive",
    "-inf": "negative",
}
"""The kinds of cells, and the colour in `viz.colours` that each is filled with."""

SIGNS = {"nan": "NaN", "inf": "+∞", "-inf": "−∞"}
"""What stands in cells that are not finite, and have a frame for it."""


def _cell(spot: _Spot, scale: Any) -> _Cell:
    """A spot with its kind, and its share of the scale."""
    value = spot.value
    if np.isnan(value):
        kind, share = "nan", 0.0
    elif np.isinf(value):
        kind, share = ("inf", 1.0) if value > 0 else ("-inf", -1.0)
    elif value == 0:
        kind, share = "zero", 0.0
    else:
        kind = "positive" if value > 0 else "negative"
        share = max(-1.0, min(1.0, float(value / scale)))
    label = SIGNS.get(kind) or _rounded(value)
    return _Cell(spot.row, spot.column, kind, share, spot.title, label)


def _rounded(value: Any) -> str:
    """A finite number as it stands in a cell: short integers whole, the rest to 2 or 3 digits.

    >>> _rounded(np.float64(-0.12345)), _rounded(np.float32(1.5e-12)), _rounded(np.int64(-30522))
    ('−0.123', '1.5e-12', '−30522')
    """
    magnitude = abs(float(value))
    if value.dtype.kind == "b" or (value.dtype.kind in "iu" and magnitude < 1e6):
        text = str(value)
    elif value == 0:
        text = "0"
    elif 0.001 <= magnitude < 999.5:
        text = f"{value:.3g}" if magnitude >= 0.01 else f"{value:.2g}"
    elif 999.5 <= magnitude < 99999.5:
        text = f"{value:.0f}"
    else:
        # Unlike format(), this knows numbers that are beyond float64.
        digits, exponent = np.format_float_scientific(value, precision=1, unique=False).split("e")
        text = f"{digits.removesuffix('.0')}e{int(exponent)}"
    return f"−{text[1:]}" if text.startswith("-") else text


class _Frame(NamedTuple):
    """The measures of a picture, in pixels."""

    rows: int
    columns: int
    width: int = 16  # of a cell
    height: int = 16
    left: int = 0  # room around the cells
    top: int = 0
    bottom: int = 0
    numbered: bool = False

    def corner(self, cell: _Cell) -> tuple[int, int]:
        return self.left + cell.column * self.width, self.top + cell.row * self.height


def _frame(cells: Sequence[_Cell], shown: _Shown) -> _Frame:
    """The frame of an array's matrices, with numbers in the cells where they fit."""
    rows, columns = 1 + max(c.row for c in cells), 1 + max(c.column for c in cells)
    digits = len(str(rows * shown.block[0]))
    left, top = (10 + 6 * digits if shown.array.ndim > 1 else 0), (16 if shown.array.ndim else 0)
    # A multiple of 8, as the height, so that hatching goes on from cell to cell.
    width = max(32, 8 * math.ceil((8 + 7 * max(len(c.label) for c in cells)) / 8))
    fits = rows <= NUMBERED_ROWS and columns * width <= NUMBERED_WIDTH
    if fits and shown.block == (1, 1):
        return _Frame(rows, columns, width, 24, left, top, numbered=True)
    return _Frame(rows, columns, left=left, top=top)


# ----------------------------------------------------------------------- one array and what it says


def _part(name: str, array: Array, heading: str, texts: Texts) -> str:
    """The values or the gradient: matrices, the key, and what is not shown."""
    head = f"<div>{heading}</div>\n" if heading else ""
    if not array.size:
        return f'<div data-part="{name}">{head}<div>{texts["empty"]}</div></div>\n'
    shown = _survey(array)
    probable = _are_probabilities(shown)
    scale = np.float64(1.0) if probable else shown.largest
    pictures = {
        index: [_cell(spot, scale) for spot in spots] for index, spots in shown.spots.items()
    }
    cells = list(itertools.chain.from_iterable(pictures.values()))
    frame = _frame(cells, shown)
    maps = [_map(index, picture, frame, shown, texts) for index, picture in pictures.items()]
    items = [_scale(scale, probable, shown, texts), *_items(cells, scale, shown, texts)]
    notes = [f"<div>{note}</div>" for note in _notes(shown, texts)]
    return (
        f'<div data-part="{name}">{head}<div data-row="maps">{"".join(maps)}</div>\n'
        f'<div data-row="key">{"".join(items)}</div>{"".join(notes)}</div>\n'
    )


def _map(
    index: tuple[int, ...], cells: Sequence[_Cell], frame: _Frame, shown: _Shown, texts: Texts
) -> str:
    """One matrix, below its index if there are several."""
    rows, columns = shown.matrices[index].shape
    name = texts["picture"].format(rows=rows, columns=columns)
    label = f"<div>{list(index)}</div>" if index else ""
    return f'<div data-map="">{label}{_svg(cells, frame, name, _ticks(frame, shown.block))}</div>'


def _scale(scale: Any, probable: bool, shown: _Shown, texts: Texts) -> str:
    """The scale as a row of cells with numbers; there is none where one number stands alone."""
    if shown.array.dtype.kind == "b":
        count = shown.counts["all"] - shown.counts["zero"]
        words = texts["true"].format(count=count)
        return _item(_Cell(0, 0, "positive", 1.0), words) if count else ""
    if not scale or not shown.array.ndim:
        return ""
    steps = range(6) if probable else range(-5, 6)
    cells = [
        _Cell(0, place, "negative" if step < 0 else "positive", step / 5)
        for place, step in enumerate(steps)
    ]
    ends = ["0", "", "1"] if probable else [_rounded(-scale), "0", _rounded(scale)]
    frame = _Frame(1, len(cells), height=12, bottom=16)
    places = (0, frame.width * len(cells) // 2, frame.width * len(cells))
    numbers = [
        f'<text x="{x}" y="25" text-anchor="{anchor}">{end}</text>'
        for x, anchor, end in zip(places, ("start", "middle", "end"), ends, strict=True)
    ]
    name = f"{ends[0]} … {ends[-1]}"
    drawn = _svg(cells, frame, name, f"<g {_fill('ink')}>{''.join(numbers)}</g>")
    return f'<span data-scale="">{drawn} {texts["probabilities"] if probable else ""}</span>'


def _items(cells: Sequence[_Cell], scale: Any, shown: _Shown, texts: Texts) -> Iterator[str]:
    """Each mark, and how many entries it stands for."""
    for kind in ("zero", *SIGNS):
        if shown.counts[kind]:
            share = {"inf": 1.0, "-inf": -1.0}.get(kind, 0.0)
            cell = _Cell(0, 0, kind, share, label=SIGNS.get(kind, ""))
            words = "false" if kind == "zero" and shown.array.dtype.kind == "b" else kind
            yield _item(cell, texts[words].format(count=shown.counts[kind]))
    pale = [cell for cell in cells if 0 < abs(cell.share) < PALE]
    if pale:
        smallest = min(abs(cell.share) for cell in pale) * scale
        yield _item(pale[0], texts["pale"].format(smallest=_rounded(smallest)))


def _item(cell: _Cell, words: str) -> str:
    swatch = _svg([cell._replace(row=0, column=0, title="")], _Frame(1, 1))
    return f"<span>{swatch} {words}</span>"


def _notes(shown: _Shown, texts: Texts) -> Iterator[str]:
    height, width = shown.block
    if shown.block != (1, 1):
        yield texts["pooled"].format(height=height, width=width)
    total, count = math.prod(shown.array.shape[:-2]), len(shown.matrices)
    if total > count:
        yield texts["left out"].format(shown=count, total=total, left=total - count)


# ---------------------------------------------------------------------------------------- pictures


def _svg(cells: Sequence[_Cell], frame: _Frame, name: str = "", words: str = "") -> str:
    """A picture of cells; `words` is SVG for what stands around them.

    Without a name it is one that the text beside it makes superfluous for who cannot see it.
    """
    across, down = frame.columns * frame.width, frame.rows * frame.height
    width, height = frame.left + across, frame.top + down + frame.bottom
    # On a narrow screen numbers shrink a little and then scroll; cells without them just shrink.
    least = f' style="min-width: {width * 3 // 4}px"' if frame.numbered else ""
    groups = defaultdict(list)
    for cell in cells:
        groups[cell.kind].append(_drawn(cell, frame))
    drawn = [
        f'<g data-kind="{kind}" {_fill(FILLS[kind])} {_stroke("paper")}>{"".join(paths)}</g>'
        for kind, paths in groups.items()
    ]
    told = f'role="img" aria-label="{html.escape(name)}"' if name else 'aria-hidden="true"'
    return (
        f'<svg {told} width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}"{least}>'
        f'<rect x="{frame.left}" y="{frame.top}" width="{across}" height="{down}" {_fill("zero")}/>'
        f'{"".join(drawn)}<g pointer-events="none" font-size="12" text-anchor="middle">'
        f"{_marks(cells, frame)}{words}</g></svg>"
    )


def _fill(colour: str) -> str:
    """A colour of the theme; as an attribute too, for where a page takes styles away."""
    return f'data-fill="{colour}" fill="{LIGHT[colour]}"'


def _stroke(colour: str) -> str:
    return f'data-stroke="{colour}" stroke="{LIGHT[colour]}"'


def _color(ink: str) -> str:
    return f'data-ink="{ink}" color="{INKS[ink][0]}"'


def _drawn(cell: _Cell, frame: _Frame) -> str:
    """A cell, as opaque as its share is large, in front of the colour of zero.

    That mixes the two as `viz.colours.diverging` does, whatever the theme is.
    """
    x, y = frame.corner(cell)
    shaded = cell.kind in ("positive", "negative")
    opacity = f' fill-opacity="{round(abs(cell.share), 3):g}"' if shaded else ""
    title = f"<title>{html.escape(cell.title)}</title>" if cell.title else ""
    outline = f"M{x} {y}h{frame.width}v{frame.height}h-{frame.width}z"
    return f'<path d="{outline}"{opacity}>{title}</path>'


def _marks(cells: Sequence[_Cell], frame: _Frame) -> str:
    """Texts and textures: what the colours say, once more without colour."""
    lines, texts = defaultdict(list), defaultdict(list)
    hatching = []
    for cell in cells:
        ink = _ink(cell.share)
        lines[ink].append(_texture(cell, frame))
        if frame.numbered or cell.kind in ("inf", "-inf"):
            texts[ink, cell.kind].append(_text(cell, frame))
        if cell.kind == "zero":
            hatching.append(_hatching(*frame.corner(cell), frame.width, frame.height))
    drawn = [f'<path data-hatching="" {_stroke("quiet")} d="{"".join(hatching)}"/>']
    for ink, paths in lines.items():
        drawn.append(
            f'<path {_color(ink)} fill="none" stroke="currentColor" d="{"".join(paths)}"/>'
        )
    size = "" if frame.numbered else ' font-size="8" letter-spacing="-.6"'
    for (ink, kind), words in texts.items():
        halo = f' data-halo="" {_stroke("zero")}' if kind == "zero" else ""
        drawn.append(f'<g {_color(ink)} fill="currentColor"{size}{halo}>{"".join(words)}</g>')
    return "".join([mark for mark in drawn if ' d=""' not in mark])


def _text(cell: _Cell, frame: _Frame) -> str:
    x, y = frame.corner(cell)
    low = y + frame.height // 2 + (4 if frame.numbered else 3)
    return f'<text x="{x + frame.width // 2}" y="{low}">{cell.label}</text>'


def _texture(cell: _Cell, frame: _Frame) -> str:
    """A frame around what is not finite; where no number stands, a dash or a cross too."""
    x, y = frame.corner(cell)
    middle, low = x + frame.width // 2, y + frame.height // 2
    path = ""
    if cell.kind in SIGNS:
        right, down = frame.width - 2, frame.height - 2
        path = f"M{x + 1} {y + 1}h{right}v{down}h-{right}z"
    if cell.kind == "nan" and not frame.numbered:
        path += f"M{middle - 4} {low - 4}l8 8m0-8l-8 8"
    if cell.kind == "negative" and not frame.numbered:
        path += f"M{middle - 3} {low}h6"
    return path


def _hatching(x: int, y: int, width: int, height: int, step: int = 8) -> str:
    """Diagonals through a rectangle. A `<pattern>` would need an id, and ids clash on a page."""
    lines = []
    for reach in range(step, width + height, step):
        right, down = min(reach, width), min(reach, height)
        length = right + down - reach
        lines.append(f"M{x + right} {y + reach - right}l-{length} {length}")
    return "".join(lines)


def _ticks(frame: _Frame, block: tuple[int, int]) -> str:
    """The indices of rows and columns; of a block, those of its first entry."""
    step = 1 if frame.numbered else 4
    ticks = []
    for i in range(0, frame.columns if frame.top else 0, step):
        x = frame.left + i * frame.width + frame.width // 2
        ticks.append(f'<text x="{x}" y="{frame.top - 5}">{i * block[1]}</text>')
    for i in range(0, frame.rows if frame.left else 0, step):
        y = frame.top + i * frame.height + frame.height // 2 + 4
        ticks.append(f'<text x="{frame.left - 5}" y="{y}" text-anchor="end">{i * block[0]}</text>')
    return f'<g data-ticks="" {_fill("quiet")} font-size="10">{"".join(ticks)}</g>'


# -------------------------------------------------------------------------- ink that can be read

INKS = {
    "plain": ("#000", "#fff"),
    "inverse": ("#fff", "#000"),
    "black": ("#000", "#000"),
    "white": ("#fff", "#fff"),
}
"""What to write with in the light theme and in the dark one. On a cell halfway between black and
white, only black or white itself has the contrast of 4.5 : 1 that small text needs."""


def _ink(share: float) -> str:
    """The name of the ink for text and textures on a cell of this share."""
    wanted = _better_ink(diverging(share, LIGHT)), _better_ink(diverging(share, DARK))
    return next(name for name, inks in INKS.items() if inks == wanted)


def _better_ink(colour: str) -> str:
    """Black or white, whichever has more contrast with a colour, by the formula of WCAG 2.

    >>> _better_ink("#f4f2ee"), _better_ink("#16191c")
    ('#000', '#fff')
    """
    channels = [byte / 255 for byte in bytes.fromhex(colour[1:])]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#fff"


# ------------------------------------------------------------------------------------------- style


def _variables(theme: Mapping[str, str], scheme: str, plain: str, inverse: str) -> str:
    colours = {**theme, "plain": plain, "inverse": inverse}
    named = [f"--{name}: {colour};" for name, colour in colours.items()]
    return f"color-scheme: {scheme}; {' '.join(named)}"


def _style() -> str:
    """The style of one output, in which everything is said of `.minigrad-heatmap` alone."""
    rules = RULES.replace("LIGHT", _variables(LIGHT, "light", "#000", "#fff"))
    rules = rules.replace("DARK", _variables(DARK, "dark", "#fff", "#000"))
    for name in LIGHT:
        rules += f'& [data-fill="{name}"] {{ fill: var(--{name}); }}\n'
        rules += f'& [data-stroke="{name}"] {{ stroke: var(--{name}); }}\n'
    return rules.replace("&", ".minigrad-heatmap")


# The reader's system says whether it is light or dark, unless the page around does: Jupyter,
# VS Code, Colab and Sphinx each have a way of their own.
RULES = """
& { LIGHT }
@media (prefers-color-scheme: dark) { & { DARK } }
[data-jp-theme-light="true"] &, [data-theme="light"] &, .vscode-light &,
.vscode-high-contrast-light & { LIGHT }
[data-jp-theme-light="false"] &, [data-theme="dark"] &, [theme="dark"] &, .vscode-dark &,
.vscode-high-contrast:not(.vscode-high-contrast-light) & { DARK }
& { box-sizing: border-box; width: fit-content; max-width: 100%; margin: 2px 0; padding: 10px 14px;
  border: 1px solid var(--rule); border-radius: 6px; background: var(--paper); color: var(--ink);
  font: 13px/1.5 system-ui, "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif;
  font-variant-numeric: tabular-nums; text-align: left; white-space: normal;
  print-color-adjust: exact; forced-color-adjust: none; }
& > div > code { padding: 0; background: none; color: inherit; white-space: pre-wrap;
  overflow-wrap: anywhere; font: 12px/1.5 ui-monospace, Menlo, Consolas, monospace; }
& [data-row] { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 8px 28px; }
& [data-row="key"] { align-items: center; gap: 2px 18px; margin-top: 6px; }
& [data-part] { min-width: 0; max-width: 100%; margin-top: 6px; }
& [data-map] { max-width: 100%; overflow-x: auto; }
& svg { display: block; max-width: 100%; height: auto; }
& span { display: flex; align-items: center; gap: 6px; }
& [data-scale] { gap: 14px; }
& [data-kind] path, & text { fill: inherit; stroke: inherit; }
& [data-kind] path:hover { stroke: var(--ink); stroke-width: 2; }
& [data-hatching] { stroke-width: .8; }
& [data-halo] { paint-order: stroke; stroke-width: 4; stroke-linejoin: round; }
& [data-ink="plain"] { color: var(--plain); }
& [data-ink="inverse"] { color: var(--inverse); }
& path[data-ink] { stroke-opacity: .7; }
"""

STYLE = _style()
