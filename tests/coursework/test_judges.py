"""Every check of every exercise sees each value that it is given."""

from typing import Any

import numpy as np
import pytest

from minigrad.coursework import Check
from minigrad.coursework.grading import _judged, right_of
from minigrad.coursework.values import Foreign, Raised
from minigrad.coursework.workbench import shipped

CHECKS = {f"{e.name}: {c.name}": (e, c) for e in shipped() for c in e.checks}
BESIDE = {
    "02-backward-walk: order": "order",  # judged by the order itself, which stands behind a #
    "03-unbroadcast: balance": "Σ g ⊙",  # the reference's is taken, as it needs no answer
    "04-sum-mean: sum-mirror": "Σ g ⊙",
    "04-sum-mean: mean-mirror": "Σ g ⊙",
    "05-matmul: balance": "Σ g ⊙",
    "10-attention: lesson": "|∂L/∂",  # bounds to one side
    "11-causal-mask: mask": ".dtype",  # only to tell mistakes apart, as are the next
    "11-causal-mask: dependency": ("out", "weights"),
}
"""Parts of the names of values that a judge need not see, and why."""


def spoiled(value: Any) -> list[Any]:
    """What may come in place of a value: one far from it, of another shape, nothing, an error."""
    other: list[Any] = [Foreign("NoneType"), Raised("ValueError", "of one's own")]
    if isinstance(value, np.ndarray):
        far = ~value if value.dtype == bool else np.asarray(value * 3 + 5)
        other += [far[..., None]]
        other += [far] if value.size else []
        other += [np.full(value.shape, np.nan)] if value.size and value.dtype.kind == "f" else []
    return other


def fails(check: Check, seen: Any, right: Any) -> bool:
    try:
        return _judged(check, seen, right) is not None
    except Exception:  # which the grader takes for a failure
        return True


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_a_judge_sees_each_value(name: str) -> None:
    exercise, check = CHECKS[name]
    right = right_of(exercise, check, 0, 0)
    assert _judged(check, dict(right), right) is None
    beside = BESIDE.get(name, ())
    parts = (beside,) if isinstance(beside, str) else beside
    keys = [k for k in right if not k.startswith("#") and not any(part in k for part in parts)]
    missed = [
        (key, value)
        for key in keys
        for value in spoiled(right[key])
        if not fails(check, {**right, key: value}, right)
    ]
    assert not missed


def changed(name: str, **values: Any) -> tuple[Check, Any, Any]:
    """A check, what the reference gives, and that with some values changed, by parts of names."""
    exercise, check = CHECKS[name]
    right = right_of(exercise, check, 0, 0)
    seen = dict(right)
    for key in right:
        for part, change in values.items():
            if part in key:
                seen[key] = change(right[key])
    return check, seen, right


def test_an_order_is_seen_where_it_is_wrong() -> None:
    for change in (
        lambda order: order[::-1],
        lambda order: order[1:],
        lambda order: np.append(order, order[-1]),
        lambda order: np.append(order[:-1], -1),
    ):
        check, seen, right = changed("02-backward-walk: order", **{"#order": change})
        assert fails(check, seen, right)


@pytest.mark.parametrize(
    "change",
    [
        {"scale = 1/√d_k: median": lambda x: x * 0.01},
        {"scale = 1: median": lambda x: x * 100},
        {"scale = 1/√d_k: rms": lambda x: x * 100},
        {"scale = 1: rms": lambda x: x * 0.01},
    ],
)
def test_the_lesson_is_seen_where_it_is_not_so(change: Any) -> None:
    assert fails(*changed("10-attention: lesson", **change))


@pytest.mark.parametrize(
    ("name", "part", "change"),
    [
        ("07-kinks: max-ties", "∂L/∂x", lambda x: -x),
        ("08-softmax: rows", "−∞)", lambda x: np.where(x == 0, 1e-8, x)),
    ],
)
def test_small_things_are_seen(name: str, part: str, change: Any) -> None:
    check, seen, right = changed(name, **{part: change})
    assert any(seen[key] is not right[key] for key in right)
    assert fails(check, seen, right)


def test_a_slope_at_a_kink_has_two_bounds() -> None:
    check, seen, right = changed("07-kinks: relu-kinks")
    for slope, wrong in ((0.0, False), (0.4, False), (1.0, False), (5.0, True), (-1.0, True)):
        assert fails(check, {**seen, "∂L/∂x": slope * right["#g"]}, right) == wrong
