"""Pictures of attention: weights as a map of queries × keys, and the Jacobian of their softmax.

The other pictures are drawn in `flow` (gradients on their way back) and `panels` (the laboratory).
Nothing is computed here but what a picture says beside its cells.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.patches import Patch

from attention.experiments import regime
from viz.cells import cell_size, colour_bar, draw_cells, hatch, share, size_in_cells
from viz.figures import (
    DIVERGING,
    NEUTRAL,
    ORANGE,
    SEQUENTIAL,
    axes_for,
    explain,
    figure_of,
    new_axes,
    new_picture,
    readable,
    set_ticks,
    set_title,
    set_words,
    words_of,
)
from viz.wording import width_of

__all__ = ["attention_map", "softmax_jacobian"]

Array = npt.NDArray[Any]
Texts = Mapping[str, str]

TEXTS: Mapping[str, Texts] = {
    "en": {
        "query": "query",
        "key": "key",
        "head": "head {}",
        "weight": "weight",
        "zero": "exactly 0",
        "nan": "not a finite number",
        "sums": "Σ ≠ 1 in {} of {} rows",
        "jacobian": "J = diag(p) − p pᵀ\ntr J = {trace:.3g}, ‖J‖ = {norm:.3g}",
        "p": "weight p_i",
        "s": "score s_j",
        "entry": "∂p_i/∂s_j (no softmax goes beyond ±¼)",
    },
    "zh": {
        "query": "查询",
        "key": "键",
        "head": "头 {}",
        "weight": "权重",
        "zero": "恰为 0",
        "nan": "不是有限的数",
        "sums": "{1} 行中有 {0} 行 Σ ≠ 1",
        "jacobian": "J = diag(p) − p pᵀ\ntr J = {trace:.3g}，‖J‖ = {norm:.3g}",
        "p": "权重 p_i",
        "s": "分数 s_j",
        "entry": "∂p_i/∂s_j（任何 softmax 都不超出 ±¼）",
    },
}

LINE = 11.0
"""What a line of labels takes, in points."""

BELOW: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}


# ---------------------------------------------------------------------------- attention weights


def attention_map(
    weights: Any,
    tokens: Sequence[object] | None = None,
    *,
    key_tokens: Sequence[object] | None = None,
    ax: Any = None,
    title: str = "",
    language: str = "en",
) -> Any:
    """Draw attention weights as coloured cells from 0 to 1, one row for each query.

    Weights that are exactly 0, as behind a mask, are hatched; what is not finite is crossed out; a
    row that does not sum to 1, as after dropout, has its sum beside it. Numbers stand in the cells
    where there is room.

    Args:
        weights: a tensor or array, (L, S) for one head or (H, L, S) for a grid of heads.
        tokens: what stands at the L queries, and at the keys if there are as many; any text.
        key_tokens: what stands at the S keys.
        ax: where to draw, for a grid H axes; by default on a picture of their own.
        title: above the map, or above the grid.
        language: `en` or `zh`.

    Returns:
        The axes; for a grid an array of H, any of which a notebook shows as the whole grid.

    Raises:
        ValueError: weights of other dimensions, or below 0; tokens or axes that are too many or
            too few.
        TypeError: weights that are no real numbers.

    Example:
        >>> axes = attention_map([[0.9, 0.1], [0.3, 0.7]], ["cat", "eats"])
        >>> [text.get_text() for text in axes.texts]
        ['.90', '.10', '.30', '.70']
    """
    texts = words_of(TEXTS, language)
    array = _checked_weights(weights)
    labels = _labels(tokens, key_tokens, array.shape[-2:])
    if array.ndim == 3:
        return _grid(array, labels, ax, title, texts)
    with axes_for(ax, *_map_size(array.shape)) as axes:
        mesh = _draw_map(axes, array, title, texts)
        _label(axes, labels, texts)
        explain(axes, _notes(array, texts), **BELOW)
        colour_bar(mesh, axes, texts["weight"])
    return axes


def _checked_weights(weights: Any) -> Array:
    array = np.asarray(weights)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"attention weights are real numbers, not {array.dtype}.")
    if array.ndim > 3:
        first = ", ".join("0" * (array.ndim - 3))
        raise ValueError(
            f"weights of shape {array.shape} are those of several sequences. Take one of them, "
            f"such as weights[{first}], which has shape {array.shape[-3:]}."
        )
    if array.ndim < 2 or 0 in array.shape:
        raise ValueError(
            f"weights are (queries, keys) or (heads, queries, keys), each at least 1; these have "
            f"shape {array.shape}."
        )
    if (array < 0).any():
        place = tuple(map(int, np.argwhere(array < 0)[0]))
        raise ValueError(
            f"a weight is at least 0; at {place} there is {array[place]:.3g}. If these are scores, "
            "pass their softmax."
        )
    return array


def _labels(
    tokens: Sequence[object] | None, key_tokens: Sequence[object] | None, shape: tuple[int, ...]
) -> tuple[list[str], list[str]]:
    """What stands at the queries and at the keys: tokens, or else their numbers."""
    if key_tokens is None and shape[0] == shape[1]:
        key_tokens = tokens
    found = []
    for given, count, what in (
        (tokens, shape[0], "queries (tokens)"),
        (key_tokens, shape[1], "keys (key_tokens)"),
    ):
        words = range(count) if given is None else list(given)
        if len(words) != count:
            raise ValueError(f"{len(words)} tokens do not fit {count} {what}.")
        found.append([readable(word) for word in words])
    return found[0], found[1]


def _map_size(shape: tuple[int, ...], largest: float = 6.0) -> tuple[float, float]:
    """Width and height in inches for a map of square cells, with its labels."""
    cell = min(0.8, largest / max(shape))
    return max(1.0, shape[1] * cell) + 1.8, max(0.6, shape[0] * cell) + 1.2


def _draw_map(axes: Axes, array: Array, title: str, texts: Texts) -> QuadMesh:
    values = array.astype(np.float64)
    mesh = draw_cells(axes, values, SEQUENTIAL, (0.0, 1.0), share)
    hatch(axes, values == 0.0, "////")
    wrong = _wrong_sums(array)
    if wrong and size_in_cells(axes, array.shape, 1):
        for row, total in wrong.items():
            axes.annotate(
                f"Σ {_unlike_one(total)}",
                (array.shape[1], row + 0.5),
                (3.0, 0.0),
                textcoords="offset points",
                va="center",
                color=ORANGE,
                size=8.0,
                annotation_clip=False,
            )
    elif wrong:
        title = "\n".join([*filter(None, [title]), texts["sums"].format(len(wrong), len(array))])
    set_words(axes, title=title)
    return mesh


def _wrong_sums(array: Array) -> dict[int, float]:
    """The rows that do not sum to 1 within the rounding of their dtype, and what they sum to."""
    exact = array.dtype if array.dtype.kind == "f" else np.float64
    tolerance = 4.0 * array.shape[-1] * float(np.finfo(exact).eps)
    totals = array.sum(axis=-1, dtype=np.float64)
    # Written so that a sum of NaN is wrong as well.
    return {row: float(s) for row, s in enumerate(totals) if not abs(s - 1.0) <= tolerance}


def _unlike_one(total: float) -> str:
    """A sum in few digits, but never "1".

    >>> _unlike_one(0.99), _unlike_one(1.25), _unlike_one(0.99997)
    ('0.99', '1.25', '1 − 3e-05')
    """
    text = f"{total:.3g}"
    return text if text != "1" else f"1 {'+' if total > 1.0 else '−'} {abs(total - 1.0):.0e}"


def _label(axes: Axes, labels: tuple[list[str], list[str]], texts: Texts) -> None:
    """Queries at the left, keys above, as many as there is room for."""
    queries, keys = labels
    width, height = cell_size(axes, (len(queries), len(keys)))
    step = math.ceil(LINE / height)
    set_ticks(axes.yaxis, np.arange(len(queries))[::step] + 0.5, queries[::step])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    widest = 6.0 * (1 + max(width_of(key) for key in keys))
    numbers = keys == [str(i) for i in range(len(keys))]
    slanted = widest > width and not numbers
    step = math.ceil((LINE if slanted else widest) / width)
    look = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if slanted else {}
    set_ticks(axes.xaxis, np.arange(len(keys))[::step] + 0.5, keys[::step], **look)
    set_words(axes, x=texts["key"], y=texts["query"])


def _notes(array: Array, texts: Texts) -> dict[str, Artist]:
    """What has to be explained below a map."""
    patch: dict[str, Any] = {"facecolor": "none", "edgecolor": NEUTRAL, "linewidth": 0.0}
    notes: dict[str, Artist] = {}
    if (array == 0).any():
        notes[texts["zero"]] = Patch(hatch="////", **patch)
    if not np.isfinite(array).all():
        notes[texts["nan"]] = Patch(hatch="xxxx", **patch)
    return notes


def _grid(
    array: Array, labels: tuple[list[str], list[str]], ax: Any, title: str, texts: Texts
) -> Array:
    """A map for each head, and one bar of colours for all."""
    own = ax is None
    every = _new_grid(array.shape, title) if own else list(np.ravel(np.asarray(ax, dtype=object)))
    if len(every) != len(array):
        raise ValueError(f"{len(every)} axes do not fit {len(array)} heads.")
    for number, (axes, head) in enumerate(zip(every, array, strict=True)):
        named = texts["head"].format(number)
        with axes_for(axes):
            mesh = _draw_map(axes, head, named if own or not title else f"{title}, {named}", texts)
            _label(axes, labels, texts)
            if not own:
                explain(axes, _notes(head, texts), **BELOW)
    with axes_for(every[0]):
        colour_bar(mesh, every, texts["weight"], fraction=0.03, pad=0.02, aspect=40)
        if own:
            _share_labels(every, _notes(array, texts))
    return np.array(every, dtype=object)


def _new_grid(shape: tuple[int, ...], title: str) -> list[Axes]:
    heads, columns = shape[0], _columns(shape[0])
    rows = math.ceil(heads / columns)
    width, height = _map_size(shape[1:], largest=2.4)
    picture = new_picture(columns * (width - 1.4) + 1.6, rows * (height - 0.7) + 1.2)
    set_title(picture, title)
    return [new_axes(picture, rows, columns, number + 1) for number in range(heads)]


def _columns(heads: int) -> int:
    """How many columns leave the fewest places of a grid empty, near a square.

    >>> [_columns(heads) for heads in (1, 2, 6, 7, 8, 12, 16, 32)]
    [1, 2, 3, 4, 4, 4, 4, 8]
    """
    root = math.ceil(math.sqrt(heads))
    return min(range(root, 2 * root), key=lambda columns: (-heads % columns, columns))


def _share_labels(every: Sequence[Axes], notes: Mapping[str, Artist]) -> None:
    """Words only at the left of a row and at the head of a column, and one legend for all."""
    columns = _columns(len(every))
    for number, axes in enumerate(every):
        if number % columns:
            axes.tick_params(labelleft=False)
            set_words(axes, y="")
        if number >= columns:
            axes.tick_params(labeltop=False)
            set_words(axes, x="")
    explain(figure_of(every[0]), notes, loc="outside lower center")


# --------------------------------------------------------------------------- the softmax Jacobian


def softmax_jacobian(
    p: Any,
    *,
    tokens: Sequence[object] | None = None,
    ax: Axes | None = None,
    language: str = "en",
) -> Axes:
    """Draw the Jacobian diag(p) − p pᵀ of a softmax at one row p of its weights.

    The colours always run from −¼ to ¼, beyond which no entry can be, so that pictures compare: a
    nearly one-hot row is pale all over, and lets next to no gradient through. Above stand its
    trace 1 − Σp² and its Frobenius norm.

    Args:
        p: a tensor, array or list (S,) of probabilities.
        tokens: what stands at the S keys; any text.
        ax: where to draw; by default on a picture of its own.
        language: `en` or `zh`.

    Raises:
        ValueError: p is no row of probabilities, or the tokens are too many or too few.

    Example:
        >>> print(softmax_jacobian([0.5, 0.5]).get_title())
        J = diag(p) − p pᵀ
        tr J = 0.5, ‖J‖ = 0.5
    """
    texts = words_of(TEXTS, language)
    row = _checked_row(p)
    labels = _labels(tokens, None, (row.size, row.size))
    trace, norm = regime.softmax_jacobian(row)
    with axes_for(ax, *_map_size((row.size, row.size))) as axes:
        mesh = draw_cells(axes, _jacobian(row), DIVERGING, (-0.25, 0.25), _entry)
        _label(axes, labels, texts)
        set_words(axes, title=texts["jacobian"].format(trace=trace, norm=norm))
        set_words(axes, x=texts["s"], y=texts["p"])
        colour_bar(mesh, axes, texts["entry"], ticks=np.linspace(-0.25, 0.25, 5))
    return axes


def _checked_row(p: Any) -> Array:
    given = np.asarray(p)
    if given.ndim != 1 or not given.size or given.dtype.kind not in "biuf":
        raise ValueError(
            f"p is one row of probabilities, of shape (keys,); this is {given.dtype} of shape "
            f"{given.shape}. Of attention weights pass one row, such as weights[0]."
        )
    row = given.astype(np.float64)
    if not (row >= 0.0).all() or _wrong_sums(given[None]):
        raise ValueError(
            f"p is one row of probabilities, which are at least 0 and sum to 1; the smallest here "
            f"is {row.min():.3g} and the sum {_unlike_one(float(row.sum()))}."
        )
    return row


def _jacobian(p: Array) -> Array:
    """diag(p) − p pᵀ. The diagonal is the sum of the rest of its row, which loses no digits where
    1 − p would."""
    entries = -np.outer(p, p)
    np.fill_diagonal(entries, 0.0)
    np.fill_diagonal(entries, -entries.sum(axis=1))
    return entries


def _entry(value: float) -> str:
    """An entry in at most six letters.

    >>> [_entry(x) for x in (0.25, -0.0811, 0.0, -3.2e-9)]
    ['.25', '−.08', '0', '−3e-9']
    """
    if value == 0.0:
        return "0"
    if abs(value) >= 0.005:
        return f"{value:.2f}".replace("0.", ".").replace("-", "−")
    digit, exponent = f"{value:.0e}".split("e")
    return f"{digit.replace('-', '−')}e{int(exponent)}"
