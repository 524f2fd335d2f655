"""The numbers of a study laid out as tables, with and without the scale side by side.

A table here is plain text in rows and columns; the terminal and the page each draw it in their
own way. The sentences that sum the numbers up are in `findings`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attention.experiments.findings import format_index, format_number
from attention.experiments.heads import HeadStudy, LayerSummary, Study, layer_summaries
from attention.experiments.regime import PLACES, Regime
from attention.experiments.study import GradientStudy

__all__ = ["Table", "TableRow", "reading_notes", "tabulate"]


class TableRow(NamedTuple):
    """A line of a table: what it is about, then what was found without the scale and with it.

    A line without cells is a heading for those below it.
    """

    label: str
    unscaled: tuple[str, ...] = ()
    scaled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table with the same columns twice, without the scale and with it.

    Attributes:
        title: what it shows.
        label: the heading of the first column.
        arms: the headings of the two halves.
        columns: the headings within each half.
        rows: the lines.
    """

    title: str
    label: str
    arms: tuple[str, str]
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]


TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "unscaled": "without the scale",
        "scaled": "with 1/√d_k",
        "forward": "What enters the softmax, and what comes out",
        "saturation": "How saturated the rows are",
        "gradients": "Norms of the rows of the gradients",
        "heads": "Head by head",
        "layers": "Layer by layer",
        "spread": "spread",
        "predicted": "theory",
        "largest": "max p",
        "entropy": "entropy",
        "jacobian mean": "‖J‖",
        "jacobian median": "median",
        "dead": "dead",
        "starved": "starved",
        "zeros": "zeros",
        "median": "median",
        "low": "1 %",
        "high": "99 %",
        "rms": "RMS",
        "softmax input": "softmax input",
        "head": "head",
        "layer": "layer",
        "row": "∂L/∂S",
        "query": "∂L/∂Q",
        "saturated": "saturated",
        "ratio": "∂L/∂S ratio",
    },
    "zh": {
        "unscaled": "不缩放",
        "scaled": "乘以 1/√d_k",
        "forward": "进入 softmax 的数和出来的权重",
        "saturation": "各行饱和的程度",
        "gradients": "各处梯度的行范数",
        "heads": "逐头",
        "layers": "逐层",
        "spread": "标准差",
        "predicted": "理论",
        "largest": "max p",
        "entropy": "熵",
        "jacobian mean": "‖J‖",
        "jacobian median": "中位数",
        "dead": "死行",
        "starved": "饥饿",
        "zeros": "零",
        "median": "中位数",
        "low": "1 %",
        "high": "99 %",
        "rms": "均方根",
        "softmax input": "softmax 输入",
        "head": "头",
        "layer": "层",
        "row": "∂L/∂S",
        "query": "∂L/∂Q",
        "saturated": "饱和的头",
        "ratio": "∂L/∂S 之比",
    },
}

NOTES: Mapping[str, tuple[str, ...]] = {
    "en": (
        "spread: standard deviation of what enters the softmax; max p: the mean largest weight; "
        "entropy in nats; ‖J‖: the Frobenius norm of the softmax's Jacobian, its mean and its "
        "median; dead: rows with a weight above .99; starved: queries with ‖∂L/∂q‖ < 1e-3; zeros: "
        "exact zeros at the softmax input in float32.",
        "The softmax input is measured after the scale, so 1/√d_k is not mixed in. At Q, K, W_Q "
        "and W_K the factor 1/√d_k is in the scaled gradient and missing from the other: a row "
        "that is not saturated is √d_k times larger there, and a few of them make the RMS.",
        "A row of W_Q or W_K sums over all tokens of a sequence, so one that is not saturated "
        "feeds it: the weights learn from fewer tokens rather than from smaller gradients.",
        "A value that no query looks at receives no gradient, hence the low 1 % at V; that is what "
        "sharp attention means, and no vanishing through the softmax.",
    ),
    "zh": (
        "标准差：进入 softmax 的数的标准差；熵以 nat 计；max p：最大权重的均值；‖J‖：softmax 雅可"
        "比矩阵的 Frobenius 范数，先均值后中位数；死行：有一个权重超过 .99 的行；饥饿：‖∂L/∂q‖ < "
        "1e-3 的查询；零：float32 下 softmax 输入处恰为 0 的梯度。",
        "softmax 输入处的梯度在缩放之后测量，所以不含 1/√d_k。在 Q、K、W_Q、W_K 处，缩放时的梯度带"
        "有因子 1/√d_k，不缩放时没有：没有饱和的行在那里大 √d_k 倍，少数几行就撑起了均方根。",
        "W_Q、W_K 的一行是对序列里所有词求和，只要有一个词没有饱和就有梯度：权重是从更少的词学习，"
        "而不是得到更小的梯度。",
        "没有查询关注的值得不到梯度，所以 V 处的 1 % 分位数很低；这是注意力尖锐的本意，不是梯度在 "
        "softmax 里消失。",
    ),
}


WEIGHTS = {
    "en": (
        "The weights in the file differ by at most {difference} from softmax(QKᵀ/√d_k).",
        " That is more than rounding: the model may use a mask or another scale.",
    ),
    "zh": (
        "文件里的权重与 softmax(QKᵀ/√d_k) 最多相差 {difference}。",
        "这超出了舍入误差：模型可能用了掩码或别的缩放。",
    ),
}

ROUNDED_WEIGHTS = 1e-2
"""What rounding alone can make of weights that were stored as bfloat16."""


def reading_notes(study: Study, language: str = "en") -> tuple[str, ...]:
    """Return what to know when reading the tables of a study, a sentence or two for each point.

    Args:
        study: what was measured. Of real heads, how far the model's own weights are from those
            computed here is all there is to say, if the file has them.
        language: `en` or `zh`.

    Example:
        >>> from attention.experiments.study import Settings, gradient_study
        >>> len(reading_notes(gradient_study(Settings(d_k=(4,), rows=20)), "zh"))
        4
    """
    if not isinstance(study, HeadStudy):
        return NOTES[language]
    if study.weights_difference is None:
        return ()
    difference, more = WEIGHTS[language]
    note = difference.format(difference=f"{study.weights_difference:.1e}")
    return (note + more if study.weights_difference > ROUNDED_WEIGHTS else note,)


def tabulate(study: Study, language: str = "en") -> list[Table]:
    """Lay out a study as tables.

    Args:
        study: what was measured. Random numbers give the forward pass, the saturation and the
            gradients; a file gives its heads and its layers.
        language: `en` or `zh`.

    Example:
        >>> from attention.experiments.study import Settings, gradient_study
        >>> table = tabulate(gradient_study(Settings(d_k=(4, 16), rows=20)))[0]
        >>> table.columns, [row.label for row in table.rows]
        (('spread', 'theory', 'max p', 'entropy'), ['4', '16'])
    """
    texts = TEXTS[language]
    return _head_tables(study, texts) if isinstance(study, HeadStudy) else _tables(study, texts)


def _tables(study: GradientStudy, texts: Mapping[str, str]) -> list[Table]:
    forward = _by_width(
        study,
        texts,
        "forward",
        {
            "spread": lambda regime: format_number(regime.spread),
            "predicted": lambda regime: format_number(regime.predicted_spread),
            "largest": lambda regime: f"{regime.largest_weight:.3f}",
            "entropy": lambda regime: f"{regime.entropy:.3f}",
        },
    )
    saturation = _by_width(
        study,
        texts,
        "saturation",
        {
            "jacobian mean": lambda regime: format_number(regime.jacobian.mean),
            "jacobian median": lambda regime: format_number(regime.jacobian.median),
            "dead": lambda regime: _percent(regime.dead_rows),
            "starved": lambda regime: _percent(regime.starved_queries),
            "zeros": lambda regime: _percent(regime.float32_zeros),
        },
    )
    return [forward, saturation, _gradient_table(study, texts)]


def _by_width(
    study: GradientStudy,
    texts: Mapping[str, str],
    title: str,
    cells: Mapping[str, Callable[[Regime], str]],
) -> Table:
    """A table with one line for each d_k; `cells` gives each column its content."""
    rows = [
        TableRow(
            str(width.d_k),
            tuple([cell(width.unscaled) for cell in cells.values()]),
            tuple([cell(width.scaled) for cell in cells.values()]),
        )
        for width in study.widths
    ]
    return _table(texts, title, "d_k", list(cells), rows)


def _table(
    texts: Mapping[str, str],
    title: str,
    label: str,
    columns: Sequence[str],
    rows: Sequence[TableRow],
) -> Table:
    return Table(
        texts[title],
        label,
        (texts["unscaled"], texts["scaled"]),
        tuple([texts[column] for column in columns]),
        tuple(rows),
    )


def _gradient_table(study: GradientStudy, texts: Mapping[str, str]) -> Table:
    """For each place a heading, then a line for each d_k."""
    rows = []
    for place in PLACES:
        rows.append(TableRow(texts.get(place, place)))
        rows += [
            TableRow(
                str(width.d_k), _quantiles(width.unscaled, place), _quantiles(width.scaled, place)
            )
            for width in study.widths
        ]
    return _table(texts, "gradients", "d_k", ["median", "low", "high", "rms"], rows)


def _quantiles(regime: Regime, place: str) -> tuple[str, ...]:
    norms = regime.gradients[place]
    return tuple([format_number(x) for x in (norms.median, norms.low, norms.high, norms.rms)])


def _percent(share: float) -> str:
    """A share in percent; what is not exactly 0 does not print as 0."""
    if 0.0 < share < 0.0005:
        return "<0.1%"
    return f"{share:.1%}" if share else "0"


def _head_tables(study: HeadStudy, texts: Mapping[str, str]) -> list[Table]:
    """Every head, then every layer."""
    heads = [
        TableRow(format_index(head.index), _head_cells(head.unscaled), _head_cells(head.scaled))
        for head in study.heads
    ]
    layers = [_layer_row(layer, study.d_k) for layer in layer_summaries(study)]
    columns = ["spread", "largest", "dead", "row", "query"]
    summary = ["spread", "largest", "saturated", "ratio"]
    return [
        _table(texts, "heads", texts["head"], columns, heads),
        _table(texts, "layers", texts["layer"], summary, layers),
    ]


def _head_cells(regime: Regime) -> tuple[str, ...]:
    """Spread, largest weight, dead rows, the typical row's gradient, and the RMS at Q."""
    return (
        format_number(regime.spread),
        f"{regime.largest_weight:.2f}",
        f"{regime.dead_rows:.0%}",
        format_number(regime.gradients["softmax input"].median),
        format_number(regime.gradients["Q"].rms),
    )


def _layer_row(layer: LayerSummary, d_k: int) -> TableRow:
    unscaled, scaled = (
        (
            format_number(spread),
            f"{layer.largest_weight[arm]:.2f}",
            f"{layer.saturated[arm]}/{layer.heads}",
            ratio,
        )
        for arm, (spread, ratio) in enumerate(
            [
                (layer.spread, format_number(layer.gradient_ratio)),
                (layer.spread / math.sqrt(d_k), "1"),
            ]
        )
    )
    return TableRow(format_index(layer.index), unscaled, scaled)
