"""Values that cross from the student's process to the grader's, and how they are compared.

Nothing is unpickled: what comes back is JSON with the bytes of arrays in it, and whatever is no
number arrives as a description. A value is right if it has the expected shape, is real and finite
where it should be, and agrees to a ten-millionth of the largest entry.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from minigrad.memory import Array, Variable

RTOL = 1e-7
"""Relative to the largest entry. Answers are computed in float64, by formulas that may differ."""

LARGEST = 1 << 22
"""Bytes of one array that a student's process sends; a larger one is described."""

MOST = 2000
"""Characters of an error or of what is no array."""


class Text(NamedTuple):
    """A sentence in both languages."""

    en: str
    zh: str

    def of(self, language: str) -> str:
        """The sentence in a language."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True)
class Foreign:
    """What came back and is no array: None, a text, an object."""

    kind: str
    text: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.text}".strip()


@dataclass(frozen=True)
class Raised(Foreign):
    """An error that came in place of a value.

    Two are the same mistake if text and operation are the same, whatever the line: `operation` is
    the operator or function of the student's that failed, empty where it was none of theirs.
    """

    line: int | None = field(default=None, compare=False)
    operation: str = ""

    @property
    def says(self) -> Text:
        """The error with its line."""
        en = f"line {self.line}: " if self.line else ""
        zh = f"第 {self.line} 行：" if self.line else ""
        text = f"{self.kind}: {self.text}".rstrip(": ")
        if self.kind == "NotImplementedError":
            return Text(f"{en}not written yet", f"{zh}尚未编写")
        if self.kind in ("SystemExit", "KeyboardInterrupt"):
            return Text(f"{en}it ends the program ({text})", f"{zh}它结束了程序（{text}）")
        return Text(f"{en}{text}", f"{zh}{text}")


def readable(text: Any) -> str:
    """A text of others' that can be written anywhere: halves of characters become escapes."""
    return str(text).encode("utf-8", "backslashreplace").decode("utf-8")


def encode(value: Any) -> Any:
    """A value as JSON can hold it; its shape and dtype stay as they are.

    >>> decode(encode(np.array([1.0, np.nan])))
    array([ 1., nan])
    """
    if isinstance(value, Foreign):
        return asdict(value)
    if isinstance(value, Variable):
        return {"tensor": encode(value._data)}
    if isinstance(value, (list, tuple)) and not all(isinstance(x, (int, float)) for x in value):
        return {"kind": type(value).__name__, "text": f"len = {len(value)}"}
    if isinstance(value, (bool, int, float, complex, list, tuple, np.ndarray, np.generic)):
        array = np.asarray(value)
        numbers, small = array.dtype.kind in "biufc", array.nbytes <= LARGEST
        if numbers and small:
            data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
            return {"dtype": array.dtype.str, "shape": array.shape, "data": data}
        kind = "NumPy array" if small else "very large array"
        return {"kind": kind, "text": f"{array.dtype}, {array.nbytes:,} B"}
    return {"kind": type(value).__name__, "text": "" if value is None else repr(value)[:200]}


def encode_all(observed: Mapping[str, Any]) -> dict[str, Any]:
    """An observation as JSON can hold it; constants are plain numbers by name."""
    return {
        str(key): {name: float(x) for name, x in value.items()}
        if key.startswith("#constants")
        else encode(value)
        for key, value in observed.items()
    }


def decode_all(told: Mapping[str, Any]) -> dict[str, Any]:
    """The observation again. Errors: `ValueError`."""
    return {
        readable(key): {str(name): float(x) for name, x in value.items()}
        if key.startswith("#constants")
        else decode(value)
        for key, value in told.items()
    }


def decode(told: Any) -> Any:
    """The value again: an array, or a `Foreign`. Errors: `ValueError` for what is no value."""
    if not isinstance(told, dict):
        raise ValueError(f"a value is told as an object, not as {told!r:.40}")
    if "tensor" in told:
        return decode(told["tensor"])
    if "kind" in told:
        kind, text = (readable(told.get(name, ""))[:MOST] for name in ("kind", "text"))
        if "operation" not in told:
            return Foreign(kind, text)
        line, operation = told.get("line"), readable(told["operation"])[:MOST]
        inside = type(line) is int and 0 < line < 1_000_000
        return Raised(kind, text, line if inside else None, operation)
    dtype = np.dtype(str(told["dtype"]))
    if dtype.kind not in "biufc":
        raise ValueError(f"a value of dtype {dtype} is no number")
    shape = tuple([int(n) for n in told["shape"]])
    return np.frombuffer(base64.b64decode(told["data"]), dtype).reshape(shape)


def identical(value: Any, other: Any) -> bool:
    """Whether two observed arrays have the same shape and entries, NaN for NaN."""
    both = isinstance(value, np.ndarray) and isinstance(other, np.ndarray)
    return both and bool(np.array_equal(value, other, equal_nan=True))


def difference(value: Any, right: Any) -> Text | None:
    """What is wrong with a value, in words; None if it is right.

    Args: `value` as it came; `right` an array or a number, or a `Foreign` where that is expected.
    Never wrong for rounding, never right for NaN, another shape or a lost sign.

    >>> difference(np.sqrt(3.0) ** 2, 3.0)
    >>> difference(0.417, 0.4176).en
    'it is 0.417 in place of 0.4176'
    >>> difference(None, 1.0).en
    'it is None, where a value must be'
    """
    value = value if isinstance(value, Foreign) else decode(encode(value))
    if isinstance(value, Foreign) or isinstance(right, Foreign):
        return _no_number(value, right)
    right = np.asarray(right)
    if value.dtype.kind == "c":
        return Text(
            f"it is complex ({value.dtype}), and must be real", f"是复数（{value.dtype}），应为实数"
        )
    if value.shape != right.shape:
        return Text(
            f"its shape is {value.shape} in place of {right.shape}",
            f"形状是 {value.shape}，应为 {right.shape}",
        )
    if right.dtype.kind == "f" and value.dtype.kind != "f" and value.ndim:
        return Text(
            f"its dtype is {value.dtype} in place of {right.dtype}",
            f"dtype 是 {value.dtype}，应为 {right.dtype}",
        )
    found = _first_difference(value.astype(np.float64), right.astype(np.float64))
    if found and right.dtype == np.float64 and value.dtype in (np.float16, np.float32):
        return Text(
            f"its dtype is {value.dtype} in place of float64: {found.en}",
            f"dtype 是 {value.dtype}，应为 float64：{found.zh}",
        )
    return found


def _no_number(value: Any, right: Any) -> Text | None:
    if isinstance(value, Raised):
        wanted = isinstance(right, Raised) and value.kind == right.kind
        return None if wanted else value.says
    if isinstance(right, Foreign):
        if isinstance(value, Foreign) and value == right:
            return None
        has = value if isinstance(value, Foreign) else "array"
        return Text(f"it is {has} in place of {right}", f"是 {has}，应为 {right}")
    if value.kind == "NoneType":
        return Text("it is None, where a value must be", "是 None，这里应当有值")
    what = f"{value.kind}: {value.text}".rstrip(": ")
    return Text(f"it is no number or array of numbers but a {what}", f"不是数或数组，而是 {what}")


def _first_difference(value: Array, right: Array) -> Text | None:
    finite = right[np.isfinite(right)]
    size = float(np.abs(finite).max(initial=0.0))
    with np.errstate(invalid="ignore"):
        same = (value == right) | (np.abs(value - right) <= RTOL * size)
    if same.all():
        return None
    broken = ~np.isfinite(value) & np.isfinite(right)
    which = broken if broken.any() else ~same
    with np.errstate(invalid="ignore"):
        off = np.where(which, np.nan_to_num(np.abs(value - right), nan=np.inf), -1.0)
    index = tuple([int(i) for i in np.unravel_index(int(off.argmax()), off.shape)])
    at, has, wants = f"[{', '.join(map(str, index))}]", _number(value[index]), _number(right[index])
    if not value.ndim:
        return Text(f"it is {has} in place of {wants}", f"是 {has}，应为 {wants}")
    count = int(which.sum())
    many = f"{count} of {value.size} entries {'is' if count == 1 else 'are'} off"
    return Text(
        f"entry {at} is {has} in place of {wants}; {many}",
        f"元素 {at} 是 {has}，应为 {wants}；{value.size} 个元素中有 {count} 个不对",
    )


def _number(x: Any) -> str:
    return "NaN" if np.isnan(x) else f"{x + 0.0:.10g}"  # never -0
