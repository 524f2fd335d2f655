"""A student's folder: nothing is lost, and how far one has come is remembered."""

from dataclasses import replace
from pathlib import Path

import pytest

from minigrad.coursework import Exercise, Outcome, Text, Verdict, grade, load
from minigrad.coursework.grading import FAILED, PASSED, unchecked
from minigrad.coursework.reports import as_data
from minigrad.coursework.workbench import (
    PROGRESS,
    WorkbenchError,
    changed,
    file_of,
    fingerprint,
    hint_given,
    keep,
    last_verdict,
    named,
    note,
    note_hint,
    read_progress,
    reset,
    start,
)
from tests.coursework.helpers import STUB, answer, written


@pytest.fixture
def scale(tmp_path: Path) -> Exercise:
    return load(written(tmp_path / "course"))


def test_a_start_copies_the_stub_and_the_pages_and_no_solution(
    scale: Exercise, tmp_path: Path
) -> None:
    folder = tmp_path / "我的 练习"
    assert start(folder, [scale]) == []
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))
    assert names == [f"03-scale/{n}" for n in ("README.md", "README.zh-CN.md", "exercise.py")]
    assert (folder / "03-scale" / "exercise.py").read_text(encoding="utf-8") == STUB


def test_a_second_start_leaves_work_alone_and_force_keeps_it_beside(
    scale: Exercise, tmp_path: Path
) -> None:
    start(tmp_path, [scale])
    file = tmp_path / "03-scale" / "exercise.py"
    file.write_text("my work", encoding="utf-8")
    with pytest.raises(WorkbenchError, match="--force"):
        start(tmp_path, [scale])
    assert file.read_text(encoding="utf-8") == "my work"
    told = []
    for _ in range(2):
        told += start(tmp_path, [scale], force=True)
        file.write_text("my work", encoding="utf-8")
    kept = [path for path in file.parent.iterdir() if path.name.startswith("exercise.py.")]
    assert sorted(told) == sorted(kept)
    assert [path.read_text(encoding="utf-8") for path in kept] == ["my work"] * 2


def test_nothing_is_written_if_a_page_is_missing(scale: Exercise, tmp_path: Path) -> None:
    (scale.folder / "README.zh-CN.md").unlink()
    with pytest.raises(FileNotFoundError):
        start(tmp_path / "new", [scale])
    assert not (tmp_path / "new").exists()


def test_a_reset_brings_the_stub_back_and_keeps_what_was_there(
    scale: Exercise, tmp_path: Path
) -> None:
    start(tmp_path, [scale])
    file = tmp_path / "03-scale" / "exercise.py"
    file.write_text("my work", encoding="utf-8")
    kept = reset(tmp_path, scale)
    assert kept is not None
    assert kept.read_text(encoding="utf-8") == "my work"
    assert file.read_text(encoding="utf-8") == STUB
    file.unlink()
    assert reset(tmp_path, scale) is None


def test_an_exercise_is_found_by_number_name_and_start(scale: Exercise) -> None:
    for which in ("3", "03", "03-scale", "scale", "sc", "all"):
        assert named(which, [scale]) == [scale]
    with pytest.raises(WorkbenchError, match="'4' is no exercise: choose from 03-scale"):
        named("4", [scale])


def test_a_file_is_looked_for_in_the_folder_and_in_the_exercise_itself(
    scale: Exercise, tmp_path: Path
) -> None:
    with pytest.raises(WorkbenchError, match="minigrad exercises start"):
        file_of(tmp_path, scale)
    start(tmp_path, [scale])
    assert file_of(tmp_path, scale) == tmp_path / "03-scale" / "exercise.py"
    assert file_of(tmp_path / "03-scale", scale) == tmp_path / "03-scale" / "exercise.py"


@pytest.mark.slow
def test_progress_is_remembered_and_hints_begin_again_with_another_mistake(
    scale: Exercise, tmp_path: Path
) -> None:
    wrong = grade(scale, answer(tmp_path, "def scaled_gradient(g, c):\n    return g / c"))
    note(tmp_path, wrong)
    note_hint(tmp_path, scale, 2)
    note(tmp_path, wrong)
    assert read_progress(tmp_path)["03-scale"]["hint"] == 2
    assert last_verdict(read_progress(tmp_path), "03-scale") == wrong
    note(tmp_path, grade(scale, answer(tmp_path, "")))
    assert read_progress(tmp_path)["03-scale"]["hint"] == 0


def failed(message: str, diagnosis: str = "", says: str = "") -> Verdict:
    outcome = Outcome("values", Text("", ""), FAILED, Text(message, ""))
    told = diagnosis, Text(says, ""), Text("", "")
    return Verdict("03-scale", Text("Scale", "缩放"), FAILED, (outcome,), *told)


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        (failed("a"), failed("a"), 3),
        (failed("a"), failed("b"), 0),
        (failed("a", "x", "x"), failed("b", "x", "x"), 3),
        (failed("a", "x", "x"), failed("a", "y", "y"), 0),
        (failed("a", "factor", "times 2"), failed("a", "factor", "times 3"), 0),
        (failed("a"), replace(failed("a"), outcomes=(), status=PASSED), 0),
    ],
)
def test_hints_begin_again_when_something_else_is_told(
    before: Verdict, after: Verdict, level: int, scale: Exercise, tmp_path: Path
) -> None:
    note(tmp_path, before)
    note_hint(tmp_path, scale, 3)
    note(tmp_path, after)
    assert read_progress(tmp_path)["03-scale"]["hint"] == level


def test_a_file_that_has_changed_since_it_was_checked_is_known(
    scale: Exercise, tmp_path: Path
) -> None:
    start(tmp_path, [scale])
    file = tmp_path / "03-scale" / "exercise.py"
    note(tmp_path, failed("a"))  # as an earlier version noted it
    assert not changed(tmp_path, scale, read_progress(tmp_path))
    note(tmp_path, failed("a"), fingerprint(file))
    assert not changed(tmp_path, scale, read_progress(tmp_path))
    file.write_text("my work", encoding="utf-8")
    assert changed(tmp_path, scale, read_progress(tmp_path))
    note_hint(tmp_path, scale, 1)
    assert changed(tmp_path, scale, read_progress(tmp_path))
    file.unlink()
    assert changed(tmp_path, scale, read_progress(tmp_path))


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b'{"03-scale": 3}'])
def test_a_damaged_note_of_progress_is_no_obstacle(content: bytes, tmp_path: Path) -> None:
    (tmp_path / PROGRESS).write_bytes(content)
    assert last_verdict(read_progress(tmp_path), "03-scale") is None
    note(tmp_path, failed("a"))
    assert last_verdict(read_progress(tmp_path), "03-scale") is not None


def test_a_third_file_in_one_second_is_kept_too(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / "exercise.py").write_text(str(number), encoding="utf-8")
        keep(tmp_path / "exercise.py")
    kept = [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()]
    assert sorted(kept) == ["0", "1", "2"]


def test_inside_an_exercise_progress_is_that_of_the_course(scale: Exercise, tmp_path: Path) -> None:
    start(tmp_path / "work", [scale])
    inside = tmp_path / "work" / "03-scale"
    note(inside, grade(scale, answer(tmp_path, "")))
    assert last_verdict(read_progress(tmp_path / "work"), "03-scale") is not None
    assert not (inside / PROGRESS).exists()
    (inside / "exercise.py").write_text("my work", encoding="utf-8")
    kept = reset(inside, scale)
    assert kept is not None
    assert kept.parent == inside
    assert not (inside / "03-scale").exists()


@pytest.mark.parametrize("hint", ["x", None, 1e999, -1, True, [4]])
def test_a_hint_that_is_no_number_is_none(hint: object) -> None:
    assert hint_given({"03-scale": {"hint": hint}}, "03-scale") == 0
    assert hint_given({"03-scale": {"hint": 3}}, "03-scale") == 3


@pytest.mark.parametrize(
    "change",
    [
        {"status": "x"},
        {"status": []},
        {"where": {"en": 5, "zh": 5}},
        {"title": None},
        {"diagnosis": 5},
    ],
)
def test_a_verdict_that_is_none_is_not_read(change: dict[str, object], scale: Exercise) -> None:
    data = as_data(unchecked(scale, Text("a", "b")))
    assert last_verdict({"03-scale": {"verdict": data}}, "03-scale") is not None
    assert last_verdict({"03-scale": {"verdict": {**data, **change}}}, "03-scale") is None


def test_a_number_that_is_too_long_is_no_exercise(scale: Exercise) -> None:
    with pytest.raises(WorkbenchError, match="is no exercise"):
        named("9" * 5000, [scale])


def test_progress_with_half_a_character_can_be_written_again(
    scale: Exercise, tmp_path: Path
) -> None:
    (tmp_path / PROGRESS).write_text('{"other": {"hint": "\\ud800"}}', encoding="utf-8")
    note(tmp_path, grade(scale, answer(tmp_path, "")))
    assert last_verdict(read_progress(tmp_path), "03-scale") is not None
