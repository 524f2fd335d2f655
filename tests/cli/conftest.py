"""What the tests of several commands share."""

from pathlib import Path

import pytest

from minigrad.cli import exercises, grade
from minigrad.coursework import Exercise, load
from tests.coursework.helpers import written


@pytest.fixture
def scale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Exercise:
    """One exercise of the tests' own, in the place of those that are shipped."""
    exercise = load(written(tmp_path / "course"))
    for command in (exercises, grade):
        monkeypatch.setattr(command, "shipped", lambda: [exercise])
    return exercise
