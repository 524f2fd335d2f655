"""Marking a class: each for themselves, nothing lost, and the mistakes counted."""

import csv
import io
import json
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from minigrad.coursework import Exercise, load
from minigrad.coursework.classes import (
    as_csv,
    grade_class,
    misconceptions,
    solved,
    submissions_in,
)
from tests.coursework.helpers import SOLUTION, written
from viz.marks import marks_page

WRONG = SOLUTION + "\n\ndef scaled_gradient(g, c):\n    return g / c\n"
CLASS = {
    "ann": SOLUTION,
    "猫": WRONG,
    "=cmd()": WRONG,
    "<script>": SOLUTION + "\n\nimport os\nos._exit(0)\n",
}


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return load(written(tmp_path_factory.mktemp("course")))


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    folder = tmp_path / "class"
    for number, (student, code) in enumerate(CLASS.items()):
        place = folder / student / ("03-scale/exercise.py" if number % 2 else "03-scale.py")
        place.parent.mkdir(parents=True)
        place.write_text(code, encoding="utf-8")
    (folder / "nobody").mkdir()
    (folder / ".git").mkdir()
    return folder


def marked(folder: Path, scale: Exercise, out: Path, workers: int = 2) -> list[dict[str, Any]]:
    found = submissions_in(folder, [scale])
    with ThreadPoolExecutor(workers) as executor:
        return list(grade_class(found, [scale], out, executor))


@pytest.mark.slow
def test_each_student_is_marked_and_written_down(
    scale: Exercise, handed_in: Path, tmp_path: Path
) -> None:
    rows = {
        row["student"]: row["verdicts"][0] for row in marked(handed_in, scale, tmp_path / "out")
    }
    assert {name: data["status"] for name, data in rows.items()} == {
        "ann": "passed", "猫": "failed", "=cmd()": "failed", "<script>": "failed",
        "nobody": "missing",
    }  # fmt: skip
    assert rows["猫"]["diagnosis"] == "scale.divided"
    files = [*(tmp_path / "out" / "students").iterdir()]
    kept = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    assert {row["student"]: row["verdicts"] for row in kept} == {
        name: [data] for name, data in rows.items()
    }
    assert solved([{"verdicts": [data]} for data in rows.values()], scale) == 1


@pytest.mark.slow
def test_a_second_run_marks_only_what_has_changed(
    scale: Exercise, handed_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = marked(handed_in, scale, tmp_path / "out")
    calls: list[str] = []

    def noting(submission: Any, folders: Any, seed: int) -> Any:
        calls.append(submission.student)
        return mark(submission, folders, seed)

    from minigrad.coursework.classes import mark

    monkeypatch.setattr("minigrad.coursework.classes.mark", noting)
    (handed_in / "猫" / "03-scale" / "exercise.py").write_text(SOLUTION, encoding="utf-8")
    (tmp_path / "out" / "students" / "ann.json").write_text("{half", encoding="utf-8")
    second = marked(handed_in, scale, tmp_path / "out")
    assert sorted(calls) == ["ann", "猫"]
    assert len(second) == len(first) == 5


@pytest.mark.slow
def test_other_numbers_or_other_exercises_are_marked_anew(
    scale: Exercise, handed_in: Path, tmp_path: Path
) -> None:
    (one, *_) = submissions_in(handed_in, [scale])
    out = tmp_path / "out"
    marked(handed_in, scale, out)
    again = [*grade_class([one], [scale], out, Refusing(), seed=0)]
    assert [row["student"] for row in again] == [one.student]
    for exercises, seed in (([scale], 1), ([scale, scale], 0)):
        with pytest.raises(RuntimeError, match="marked anew"):
            list(grade_class([one], exercises, out, Refusing(), seed=seed))


class Refusing(ThreadPoolExecutor):
    """Takes no work."""

    def submit(self, *given: Any, **named: Any) -> Any:
        raise RuntimeError("marked anew")


@pytest.mark.slow
def test_who_ends_the_process_that_marks_them_ends_nobody_elses(
    scale: Exercise, handed_in: Path, tmp_path: Path
) -> None:
    hostile = {
        "killer": "import os\nos.kill(os.getppid(), 9)",
        "half": "raise ValueError('\\ud800')",
        "长" * 70: "def scaled_gradient(g, c):\n    return g / c",
    }
    for student, code in hostile.items():
        place = handed_in / student / "03-scale.py"
        place.parent.mkdir()
        place.write_text(f"{SOLUTION}\n\n{code}\n", encoding="utf-8")
    found = submissions_in(handed_in, [scale])
    with ProcessPoolExecutor(2) as executor:
        rows = list(grade_class(found, [scale], tmp_path / "out", executor))
    statuses = {row["student"]: row["verdicts"][0]["status"] for row in rows}
    assert len(statuses) == 8
    assert (statuses["ann"], statuses["killer"], statuses["half"]) == ("passed", "error", "failed")
    assert statuses["长" * 70] == "failed"
    assert len([*(tmp_path / "out" / "students").iterdir()]) == 8


@pytest.mark.slow
def test_processes_do_it_too(scale: Exercise, handed_in: Path, tmp_path: Path) -> None:
    found = submissions_in(handed_in, [scale])
    with ProcessPoolExecutor(2) as executor:
        rows = list(grade_class(found, [scale], tmp_path / "out", executor))
    assert len(rows) == 5


def test_the_table_and_the_page_tell_who_made_which_mistake(
    scale: Exercise, handed_in: Path, tmp_path: Path
) -> None:
    rows = marked(handed_in, scale, tmp_path / "out")
    table = list(csv.reader(io.StringIO(as_csv(rows, [scale]))))
    assert table[0] == ["student", "points", "of", "03-scale status", "03-scale mistake"]
    assert ["ann", "1", "1", "passed", ""] in table
    assert ["猫", "0", "1", "failed", "scale.divided"] in table
    assert "'=cmd()" in [row[0] for row in table]
    (mistake,) = misconceptions(rows)
    assert (mistake.id, mistake.students) == ("scale.divided", ("=cmd()", "猫"))
    for language in ("en", "zh"):
        told = [(mistake.exercise, mistake.id, mistake.says.of(language), mistake.students)]
        page = marks_page(rows, {"03-scale": "Scale"}, told, language=language)
        assert "<script>" not in page
        assert "&lt;script&gt;" in page
        assert mistake.says.of(language) in page


def test_a_folder_without_students_is_refused(scale: Exercise, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one for each student"):
        submissions_in(scale.folder, [scale])
