"""The diagnosis is never wrong: silent where nothing fits, and right where something does."""

from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, gradcheck, primitive
from minigrad.check.diagnosis import CATALOGUE, Diagnosis, Occasion, diagnose
from tests.coursework.diagnosis import MISTAKES, combined, false_alarms, hits


@pytest.mark.parametrize("times", [6])
def test_every_mistake_of_the_catalogue_gets_its_own_name(times: int) -> None:
    for name, counts in hits(times).items():
        assert counts == {"right": times}, name


@pytest.mark.parametrize("times", [40])
def test_what_is_no_mistake_of_the_catalogue_gets_no_name(times: int) -> None:
    assert false_alarms(times) == []


@pytest.mark.parametrize("times", [40])
def test_of_two_mistakes_one_is_named_or_none(times: int) -> None:
    counts = combined(times)
    assert counts["another"] == 0
    assert counts["one of them"] > times // 4


def test_every_id_of_the_catalogue_has_a_mistake_that_shows_it() -> None:
    assert {expected.id for expected, _ in MISTAKES.values()} >= set(CATALOGUE)


def test_every_entry_says_something_in_both_languages() -> None:
    given = {"factor": "n", "other": "K", "count": "3", "axis": "-1", "group": "ties"}
    values = tuple({**given, "number": "0.1"}.items())
    for name in CATALOGUE:
        told = Diagnosis(name, values)
        for sentence in (told.sentence, told.hint):
            assert sentence("en").endswith((".", "?"))
            assert sentence("zh").endswith(("。", "？"))
            assert "{" not in sentence("en") + sentence("zh")


def test_one_occasion_is_not_enough() -> None:
    x = np.array([1.0, -2.0, 3.0])
    assert diagnose([Occasion(x, -x)]) is None
    assert diagnose([Occasion(x, -x)] * 2) == Diagnosis("sign")


def test_what_is_right_everywhere_is_no_mistake() -> None:
    x = np.array([1.0, -2.0, 3.0])
    assert diagnose([Occasion(x, x)] * 3) is None


def test_a_known_mistake_must_leave_right_what_is_right() -> None:
    """Right on one occasion and twice the right one on another is neither a factor nor known."""
    x = np.array([1.0, -2.0, 3.0])
    occasions = [
        Occasion(x, x, mistakes={"double": 2 * x}),
        Occasion(x, 2 * x, mistakes={"double": 2 * x}),
    ]
    assert diagnose(occasions) is None


RULES = {
    "The gradient has the opposite sign.": lambda g, out: -g * (1 - out * out),
    "The gradient is the right one times ½.": lambda g, out: g * (1 - out * out) / 2,
    "times 5 (as long as axis 1)": lambda g, out: 5 * g * (1 - out * out),
    "does not depend on the upstream": lambda g, out: 0 * g + 1 - out * out,
    "is 0 everywhere": lambda g, out: 0 * g * out,
    "NaN or infinite": lambda g, out: g / (0 * out),
}


@pytest.mark.parametrize("says", RULES)
def test_gradcheck_ends_with_the_diagnosis(says: str) -> None:
    def tanh(x: Any) -> Any:
        return np.tanh(x)

    op = primitive(RULES[says], example=lambda rng: (rng.normal(size=(3, 5)),))(tanh)
    x = Tensor(np.random.default_rng(0).normal(size=(3, 5)), requires_grad=True)
    with np.errstate(all="ignore"):
        report = gradcheck(op, x, raise_exception=False)
    assert not report
    assert says in str(report).splitlines()[-1]


def test_gradcheck_is_silent_about_what_it_does_not_know() -> None:
    def tanh(x: Any) -> Any:
        return np.tanh(x)

    op = primitive(lambda g, x: g * (1 - x * x), example=lambda rng: (rng.normal(size=3),))(tanh)
    report = gradcheck(op, Tensor([0.5, 1.0, -2.0], requires_grad=True), raise_exception=False)
    assert report.diagnosis is None
    assert str(report).splitlines()[-1].startswith("  input 0: gradient wrong")


def test_another_factor_is_not_a_known_mistake_times_a_constant() -> None:
    x = np.array([1.0, -2.0, 4.0])
    assert diagnose([Occasion(x, 6 * x, mistakes={"thrice": 3 * x})] * 2) is None
    other = np.array([1.0, 2.0, 0.5])
    found = diagnose([Occasion(x, 2 * other, mistakes={"other": other})] * 2)
    assert found == Diagnosis("other", (("times", "2"),))


def test_what_is_constant_along_an_axis_itself_tells_nothing_of_a_term() -> None:
    rows = np.array([[1.0, 1.0, 1.0], [-2.0, -2.0, -2.0]])
    assert diagnose([Occasion(rows, 1.37 * rows)] * 2) is None
    uneven = rows + np.array([0.0, 0.5, 3.0])
    found = diagnose([Occasion(uneven, uneven + 0.37 * rows)] * 2)
    assert found == Diagnosis("term-along-axis", (("axis", "-1"),))


def test_what_holds_only_nearly_does_not_hold() -> None:
    x = np.array([1.0, -2.0, 3.0])
    assert diagnose([Occasion(x, -x * (1 + 1e-4))] * 2) is None
    assert diagnose([Occasion(x, -x * (1 + 1e-8))] * 2) == Diagnosis("sign")


def test_a_term_everywhere_is_the_same_number_on_all_occasions() -> None:
    rows = [np.array([1.0, -2.0, 3.0]), np.array([0.5, 4.0])]
    found = diagnose([Occasion(x, x + 0.25) for x in rows])
    assert found is not None
    assert (
        found.sentence() == "Every entry of the gradient is off by 0.25, whatever the upstream is."
    )
    assert diagnose([Occasion(x, x + len(x)) for x in rows]) == Diagnosis(
        "term-along-axis", (("axis", "-1"),)
    )


def test_a_known_mistake_may_have_the_opposite_sign() -> None:
    rows = [np.array([1.0, -2.0, 3.0]), np.array([0.5, 4.0])]
    made = [x**2 for x in rows]
    occasions = [Occasion(x, -y, mistakes={"it": y}) for x, y in zip(rows, made, strict=True)]
    assert diagnose(occasions) == Diagnosis("it", (("times", "−1"),))


def test_a_plain_two_is_not_told_as_a_length_too() -> None:
    rows = [np.array([1.0, -2.0]), np.array([0.5, 4.0])]
    lengths = {"2 (as long as axis 0)": 2.0, "n": 2.0}
    found = diagnose([Occasion(x, 2 * x, constants=lengths) for x in rows])
    assert found == Diagnosis("factor", (("factor", "2 = n"),))
