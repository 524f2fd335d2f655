"""What a study shows, in three sentences, in English or Chinese.

Every sentence is chosen by comparing the numbers that were measured: where they do not show the
expected effect, the sentence says so. Nothing is measured here.
"""

from collections.abc import Mapping, Sequence
from statistics import median

from attention.experiments.differences import DifferenceCheck
from attention.experiments.heads import HeadStudy, Study
from attention.experiments.regime import Regime
from attention.experiments.study import WidthResult

__all__ = ["checks_sentence", "format_index", "format_number", "summarise"]

Sentences = tuple[str, str, str]

NOTICEABLE = 2.0
"""A ratio within this factor of 1 counts as no change."""

STUDY: Mapping[str, Mapping[str, str]] = {
    "en": {
        "dies": "The typical row dies: at d_k = {d_k} the median gradient at the softmax input is "
        "{unscaled} without the scale and {scaled} with it ({ratio} times as large); {dead} of the "
        "rows have a weight above .99, against {dead_scaled}.",
        "lives": "The typical row does not die here: at d_k = {d_k} the median gradient at the "
        "softmax input is {unscaled} without the scale and {scaled} with it; {dead} of the rows "
        "have a weight above .99, against {dead_scaled}.",
        "grows": "Yet the RMS of ∂L/∂Q without the scale grows, from {first} at d_k = {narrow} to "
        "{last} at d_k = {wide} (theory: {predicted}), while its median is {typical}: the few rows "
        "that are not saturated carry it, and no 1/√d_k makes them smaller.",
        "shrinks": "The RMS of ∂L/∂Q without the scale does not grow here: it goes from {first} at "
        "d_k = {narrow} to {last} at d_k = {wide} (theory: {predicted}), and its median there is "
        "{typical}.",
        "single": "One d_k cannot show growth; at d_k = {wide} the RMS of ∂L/∂Q is {last} without "
        "the scale and {scaled} with it (theory: {predicted} without it), and its median is "
        "{typical}.",
        "untouched": "V is untouched: ∂L/∂V and ∂L/∂W_V do not pass through the softmax's "
        "gradient; at d_k = {d_k} their RMS without the scale is {value} and {weight} times that "
        "with it, so nothing vanishes there.",
        "touched": "V is touched here: at d_k = {d_k} the RMS of ∂L/∂V and ∂L/∂W_V without the "
        "scale is {value} and {weight} times that with it.",
    },
    "zh": {
        "dies": "典型的一行会“死”：d_k = {d_k} 时，softmax 输入处的梯度中位数不缩放时是 {unscaled}"
        "，缩放后是 {scaled}（是前者的 {ratio} 倍）；{dead} 的行有一个权重超过 .99，缩放后是 "
        "{dead_scaled}。",
        "lives": "这里典型的一行没有“死”：d_k = {d_k} 时，softmax 输入处的梯度中位数不缩放时是 "
        "{unscaled}，缩放后是 {scaled}；{dead} 的行有一个权重超过 .99，缩放后是 {dead_scaled}。",
        "grows": "可是不缩放时 ∂L/∂Q 的均方根反而变大：从 d_k = {narrow} 的 {first} 到 d_k = "
        "{wide} 的 {last}（理论值 {predicted}），而那里的中位数是 {typical}：少数没有饱和的行撑起"
        "了它，又没有 1/√d_k 把它们变小。",
        "shrinks": "这里不缩放时 ∂L/∂Q 的均方根没有变大：从 d_k = {narrow} 的 {first} 到 d_k = "
        "{wide} 的 {last}（理论值 {predicted}），那里的中位数是 {typical}。",
        "single": "只有一个 d_k，看不出增长；d_k = {wide} 时 ∂L/∂Q 的均方根不缩放时是 {last}，缩放"
        "后是 {scaled}（不缩放的理论值 {predicted}），中位数是 {typical}。",
        "untouched": "V 不受影响：∂L/∂V 和 ∂L/∂W_V 不经过 softmax 的梯度；d_k = {d_k} 时，它们不缩"
        "放的均方根分别是缩放后的 {value} 倍和 {weight} 倍，并没有消失。",
        "touched": "这里 V 受了影响：d_k = {d_k} 时，∂L/∂V 和 ∂L/∂W_V 不缩放的均方根分别是缩放后的"
        " {value} 倍和 {weight} 倍。",
    },
}

HEADS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "saturated": "Without the scale {unscaled} of {heads} heads are saturated (at least half "
        "of their rows have a weight above .99), with it {scaled}; most of all {names}.",
        "calm": "Without the scale {unscaled} of {heads} heads are saturated (at least half of "
        "their rows have a weight above .99), with it {scaled}.",
        "starve": "Taking the scale away starves the typical row: in the median head its gradient "
        "at the softmax input falls to {ratio} of what it is with the scale, in the worst "
        "({worst}) to {lowest}.",
        "keep": "Taking the scale away does not starve the typical row here: in the median head "
        "its gradient at the softmax input is {ratio} times what it is with the scale, in the "
        "lowest ({worst}) {lowest} times.",
        "untouched": "V is untouched: the RMS of ∂L/∂V without the scale is {value} times that "
        "with it in the median head and {lowest} times in the lowest, so nothing vanishes there.",
        "touched": "V is touched here: the RMS of ∂L/∂V without the scale is {value} times that "
        "with it in the median head, and {lowest} times in the lowest.",
    },
    "zh": {
        "saturated": "不缩放时，{heads} 个头中有 {unscaled} 个饱和（至少一半的行有一个权重超过 .99"
        "），缩放后有 {scaled} 个；最严重的是 {names}。",
        "calm": "不缩放时，{heads} 个头中有 {unscaled} 个饱和（至少一半的行有一个权重超过 .99），"
        "缩放后有 {scaled} 个。",
        "starve": "去掉缩放，典型的一行就得不到梯度：在中位的头里，softmax 输入处的梯度降到缩放时"
        "的 {ratio} 倍，最差的头（{worst}）降到 {lowest} 倍。",
        "keep": "这里去掉缩放，典型的一行仍有梯度：在中位的头里，softmax 输入处的梯度是缩放时的 "
        "{ratio} 倍，最低的头（{worst}）是 {lowest} 倍。",
        "untouched": "V 不受影响：不缩放时 ∂L/∂V 的均方根在中位的头里是缩放时的 {value} 倍，最低的"
        "头是 {lowest} 倍，并没有消失。",
        "touched": "这里 V 受了影响：不缩放时 ∂L/∂V 的均方根在中位的头里是缩放时的 {value} 倍，最"
        "低的头是 {lowest} 倍。",
    },
}


CHECKED = {
    "en": "Gradients against finite differences (float64, random upstream): the worst relative "
    "error of a row is {worst}, in {rows} rows with norms down to {smallest}; {skipped} more are "
    "too small to judge in float64. {unsaturated} of the {queries} queries are not saturated.",
    "zh": "梯度与有限差分对照（float64，随机上游梯度）：{rows} 行中最大的相对误差是 {worst}，行范"
    "数最小到 {smallest}；另有 {skipped} 行小得在 float64 下无法判断。{queries} 个查询中有 "
    "{unsaturated} 个没有饱和。",
}


def checks_sentence(checks: Sequence[DifferenceCheck], language: str = "en") -> str:
    """Say how well the gradients agree with finite differences.

    Args:
        checks: at least one check.
        language: `en` or `zh`.

    Example:
        >>> check = DifferenceCheck("softmax input", 4, True, 4, 8, 8, 1, 2e-9, 0.5)
        >>> checks_sentence([check])[-37:]
        '8 of the 8 queries are not saturated.'
    """
    queries = [check for check in checks if check.place == "softmax input"]
    return CHECKED[language].format(
        worst=format_number(max(check.worst for check in checks)),
        rows=sum(check.rows for check in checks),
        smallest=format_number(min(check.smallest for check in checks if check.rows)),
        skipped=sum(check.skipped for check in checks),
        unsaturated=sum(check.unsaturated for check in queries),
        queries=sum(check.queries for check in queries),
    )


def format_number(value: float) -> str:
    """Write a number with three digits, short enough for a table: 31.8, 0.0021, 2.7e-06.

    Example:
        >>> [format_number(x) for x in (0.0, 1.0, 31.77, 1234.5, 0.00212, 2.71e-6)]
        ['0', '1.00', '31.8', '1234', '0.00212', '2.7e-06']
    """
    if value == 0:
        return "0"
    size = abs(value)
    if size < 1e-3 or size >= 1e5:
        return f"{value:.1e}"
    return f"{value:.0f}" if size >= 999.5 else f"{value:#.3g}".removesuffix(".")


def summarise(study: Study, language: str = "en") -> Sentences:
    """Say what a study shows: of the typical row, of the gradients that reach Q, and of V.

    Args:
        study: what was measured, on random numbers or on real heads.
        language: `en` or `zh`.

    Returns:
        Three sentences. On random numbers they are about the largest d_k and the way there from
        the smallest; on real heads, about which are saturated and what that does.

    Example:
        >>> from attention.experiments.study import Settings, gradient_study
        >>> summarise(gradient_study(Settings(d_k=(128,), rows=100)))[0][:21]
        'The typical row dies:'
    """
    if isinstance(study, HeadStudy):
        return _head_findings(study, HEADS[language])
    widths = sorted(study.widths, key=lambda width: width.d_k)
    texts = STUDY[language]
    return (
        _typical_row(texts, widths[-1]),
        _query_rms(texts, widths),
        _values(texts, widths[-1]),
    )


def _typical_row(texts: Mapping[str, str], width: WidthResult) -> str:
    unscaled, scaled = width.unscaled, width.scaled
    without = unscaled.gradients["softmax input"].median
    with_scale = scaled.gradients["softmax input"].median
    verdict = "dies" if without * NOTICEABLE < with_scale else "lives"
    return texts[verdict].format(
        d_k=width.d_k,
        unscaled=format_number(without),
        scaled=format_number(with_scale),
        ratio=_times(with_scale / without) if without else "∞",
        dead=f"{unscaled.dead_rows:.0%}",
        dead_scaled=f"{scaled.dead_rows:.0%}",
    )


def _times(ratio: float) -> str:
    """A factor as one says it, 900,000, while it is not too long to say."""
    return f"{float(f'{ratio:.2g}'):,.0f}" if 10.0 <= ratio < 1e9 else format_number(ratio)


def _query_rms(texts: Mapping[str, str], widths: Sequence[WidthResult]) -> str:
    narrow, wide = widths[0], widths[-1]
    first, last = (width.unscaled.gradients["Q"].rms for width in (narrow, wide))
    verdict = "grows" if last > first else "shrinks"
    if narrow.d_k == wide.d_k:
        verdict = "single"
    return texts[verdict].format(
        narrow=narrow.d_k,
        wide=wide.d_k,
        first=format_number(first),
        last=format_number(last),
        predicted=format_number(wide.predicted_query_rms),
        scaled=format_number(wide.scaled.gradients["Q"].rms),
        typical=format_number(wide.unscaled.gradients["Q"].median),
    )


def _values(texts: Mapping[str, str], width: WidthResult) -> str:
    value, weight = (_rms_ratio(width.unscaled, width.scaled, place) for place in ("V", "W_V"))
    verdict = "untouched" if min(value, weight) * NOTICEABLE > 1.0 else "touched"
    return texts[verdict].format(
        d_k=width.d_k, value=format_number(value), weight=format_number(weight)
    )


def _rms_ratio(unscaled: Regime, scaled: Regime, place: str) -> float:
    """The RMS without the scale over that with it; nothing over nothing is no change."""
    without, with_scale = unscaled.gradients[place].rms, scaled.gradients[place].rms
    return without / with_scale if with_scale else 1.0


def _head_findings(study: HeadStudy, texts: Mapping[str, str]) -> Sentences:
    """Which heads are saturated, what the typical row loses, and that V does not."""
    heads = sorted(study.heads, key=lambda head: -head.unscaled.dead_rows)
    saturated = [head for head in heads if head.unscaled.saturated]
    first = texts["saturated" if saturated else "calm"].format(
        unscaled=len(saturated),
        scaled=sum(head.scaled.saturated for head in heads),
        heads=len(heads),
        names=", ".join([format_index(head.index) for head in saturated[:3]]),
    )
    worst = min(heads, key=lambda head: head.gradient_ratio)
    ratio = median(head.gradient_ratio for head in heads)
    second = texts["starve" if ratio * NOTICEABLE < 1.0 else "keep"].format(
        ratio=format_number(ratio),
        worst=format_index(worst.index),
        lowest=format_number(worst.gradient_ratio),
    )
    values = [_rms_ratio(head.unscaled, head.scaled, "V") for head in heads]
    third = texts["untouched" if min(values) * NOTICEABLE > 1.0 else "touched"].format(
        value=format_number(median(values)), lowest=format_number(min(values))
    )
    return first, second, third


def format_index(index: tuple[int, ...]) -> str:
    """Write where a head stands on the leading axes of its file, as NumPy would index it.

    Example:
        >>> format_index((3, 11)), format_index(())
        ('[3, 11]', '[...]')
    """
    return f"[{', '.join(map(str, index)) or '...'}]"
