"""Finding where NaN or infinity begins, by watching each op recorded and each gradient passed on.

The first op is the one whose inputs were still finite. It does not say why; the message names the
op, the user's line and the tensor, and that is where to look.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad import modes
from minigrad.memory import Variable


class _Anomaly(modes.Watcher):
    def recorded(self, op: Any, inputs: Any, options: dict[str, Any], result: Any) -> None:
        file, line = modes.user_line()
        if result._node is not None:
            result._node.line = file, line
        fault = new_fault([*inputs, *options.values()], result)
        if fault:
            raise FloatingPointError(
                f"{op} made the first {fault}; none of it went in. {file}, line {line}"
            )

    def passed(self, node: Any, position: int, upstream: Any, contribution: Any) -> None:
        fault = new_fault([upstream], contribution)
        if fault:
            name = node.primitive.input_names[0 if node.primitive.many else position]
            raise FloatingPointError(
                f"the rule of {node.primitive} for {name} made the first {fault} on the way back; "
                f"the gradient that came in had none. It belongs to {node}."
            )


def detect_anomaly() -> modes.Switch:
    """Raises `FloatingPointError` at the first op inside whose value or gradient is not finite.

    First means that what went into it was finite. The −inf of a mask is no anomaly: it is the
    user's own, and the op that brought it in is not to blame; nor is a NaN in a leaf.

    >>> import minigrad
    >>> with detect_anomaly(), np.errstate(invalid="ignore"):  # doctest: +ELLIPSIS
    ...     minigrad.log(minigrad.Tensor(-1.0))
    Traceback (most recent call last):
    FloatingPointError: log made the first NaN; none of it went in. ...
    """
    return modes.watch(_Anomaly())


def new_fault(before: Iterable[Any], after: Any) -> str | None:
    """The first of the faults of the result that none of the inputs had, or a NaN before it."""
    earlier = set().union(*[_faults(value) for value in before])
    if "infinity" in earlier:
        earlier.add("-infinity")
    new = _faults(after) - earlier if "NaN" not in earlier else set()
    return min(new, default=None, key=["NaN", "infinity", "-infinity"].index)


def _faults(value: Any) -> set[str]:
    """Which of NaN, infinity and -infinity are in there."""
    data = value._data if isinstance(value, Variable) else value
    if not isinstance(data, (float, np.ndarray, np.generic)):
        return set()
    array = np.asarray(data)
    if array.dtype.kind != "f":
        return set()
    tests: dict[str, Any] = {"NaN": np.isnan, "infinity": np.isposinf, "-infinity": np.isneginf}
    return {name for name, test in tests.items() if test(array).any()}
