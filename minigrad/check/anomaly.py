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
        fault = _new_fault([*inputs, *options.values()], result)
        if fault:
            raise FloatingPointError(
                f"{op} made the first {fault}; what went in was finite. {file}, line {line}"
            )

    def passed(self, node: Any, position: int, upstream: Any, contribution: Any) -> None:
        fault = _new_fault([upstream], contribution)
        if fault:
            name = node.primitive.input_names[0 if node.primitive.many else position]
            raise FloatingPointError(
                f"the rule of {node.primitive} for {name} made the first {fault} on the way back; "
                f"the gradient that came in was finite. It belongs to {node}."
            )


def detect_anomaly() -> modes.Switch:
    """Raises `FloatingPointError` at the first op inside whose value or gradient is not finite.

    First means that what went into it was finite. The −inf of a mask is no anomaly: it is the
    user's own, and the op that brought it in is not to blame.

    >>> import minigrad
    >>> with detect_anomaly(), np.errstate(invalid="ignore"):  # doctest: +ELLIPSIS
    ...     minigrad.log(minigrad.Tensor(-1.0))
    Traceback (most recent call last):
    FloatingPointError: log made the first NaN; what went in was finite. ...
    """
    return modes.watch(_Anomaly())


def _new_fault(before: Iterable[Any], after: Any) -> str | None:
    nan, infinite = _faults(after)
    if not (nan or infinite):
        return None
    earlier = [_faults(value) for value in before]
    had_nan = any(was_nan for was_nan, _ in earlier)
    if nan and not had_nan:
        return "NaN"
    if infinite and not had_nan and not any(was_infinite for _, was_infinite in earlier):
        return "infinity"
    return None


def _faults(value: Any) -> tuple[bool, bool]:
    """Whether there is a NaN, and whether there is an infinity."""
    data = value._data if isinstance(value, Variable) else value
    if not isinstance(data, (float, np.ndarray, np.generic)):
        return False, False
    array = np.asarray(data)
    if array.dtype.kind != "f":
        return False, False
    return bool(np.isnan(array).any()), bool(np.isinf(array).any())
