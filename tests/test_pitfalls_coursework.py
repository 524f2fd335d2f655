"""Ways in which a grader went wrong for somebody. The letter and number at the head of each name
are the case's own."""

from pathlib import Path

import numpy as np
import pytest

from minigrad.coursework import Exercise, grade, load
from minigrad.coursework.values import difference
from minigrad.coursework.verifying import verify
from minigrad.coursework.workbench import named, shipped
from tests.coursework.helpers import answer, written


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return load(written(tmp_path_factory.mktemp("course")))


@pytest.mark.parametrize(
    ("code", "diagnosis"),
    [
        ("return c * np.ones_like(g)", "scale.upstream"),
        ("return c / g", ""),
        ("return g", ""),
    ],
)
def test_c01_an_answer_that_ignores_or_divides_by_the_upstream_is_wrong(
    code: str, diagnosis: str, scale: Exercise, tmp_path: Path
) -> None:
    verdict = grade(scale, answer(tmp_path, f"def scaled_gradient(g, c):\n    {code}"))
    assert verdict.status == "failed"
    assert verdict.diagnosis == diagnosis or not diagnosis


def test_c03_what_is_no_number_is_rejected_with_a_message_of_its_own() -> None:
    cases = [np.array([np.nan, np.nan]), None, "1.0", np.array([1 + 0j, 2])]
    told = [difference(value, np.array([1.0, 2.0])) for value in cases]
    messages = [text.en for text in told if text]
    assert len(messages) == len(set(messages)) == 4
    assert [m for m in messages if "NaN" in m] == messages[:1]
    assert "None" in messages[1]
    assert "str" in messages[2]
    assert "complex" in messages[3]


def test_c06_a_lost_sign_is_wrong_and_rounding_is_right() -> None:
    assert difference(3.25, -3.25)
    assert difference(np.sqrt(3.0) ** 2, 3.0) is None
    told = difference(0.417, 0.4176)
    assert told
    assert "0.417 " in told.en
    assert "0.4176" in told.en


def test_c07_an_exercise_that_is_not_written_takes_nothing_from_another(
    scale: Exercise, tmp_path: Path
) -> None:
    """Each stands on the reference of those before it, so one alone can be handed in."""
    assert grade(scale, answer(tmp_path, "")).status == "passed"
    assert grade(scale, scale.folder / "exercise.py").status == "not attempted"
    broken = answer(tmp_path, "this is no Python")
    assert grade(scale, broken).status == "failed"


QUICK = ("03-unbroadcast", "11-causal-mask")  # all of them: `minigrad exercises verify`


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_c08_the_reference_passes_and_everything_that_is_known_to_be_wrong_fails(
    name: str,
) -> None:
    (exercise,) = named(name, shipped())
    assert verify(exercise, seeds=(0,)) == []
    assert len(exercise.mutants) >= 5
