"""How numbers, shapes and the few words in a drawing are written, in English and in Chinese, and
how wide a text is."""

from __future__ import annotations

from minigrad.notation import width_of, write_number

__all__ = ["WORDS", "width_of", "write_number", "write_shape"]

WORDS = {
    "en": {
        "none": "none",
        "none yet": "none yet",
        "not kept": "not kept",
        "hint": "what is not kept can be had by recording under minigrad.trace()",
        "norm": "norm",
        "mean": "mean",
        "zeros": "zeros",
        "empty": "no entries",
        "fold": "ops: {}, tensors: {}",
        "rest": "older ops left out: {}",
        "rest more": "shown are the last that were computed",
        "above": "see above",
        "leaf": "leaf",
        "parameter": "parameter",
        "constant": "constant",
        "intermediate": "intermediate",
        "root": "root",
        "scalar": "scalar",
    },
    "zh": {
        "none": "无",
        "none yet": "尚未计算",
        "not kept": "未保留",
        "hint": "要保留这些数值，请在 minigrad.trace() 中记录",
        "norm": "范数",
        "mean": "均值",
        "zeros": "零",
        "empty": "没有元素",
        "fold": "{} 个运算，{} 个张量",
        "rest": "省略了 {} 个更早的运算",
        "rest more": "保留的是最后计算的部分",
        "above": "见上文",
        "leaf": "叶子",
        "parameter": "参数",
        "constant": "常量",
        "intermediate": "中间结果",
        "root": "根",
        "scalar": "标量",
    },
}


def write_shape(shape: tuple[int, ...], words: dict[str, str] = WORDS["en"]) -> str:
    """A shape as Python writes it, or that there are no axes.

    >>> write_shape((3, 4)), write_shape(())
    ('(3, 4)', 'scalar')
    """
    return str(shape) if shape else words["scalar"]
