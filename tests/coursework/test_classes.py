"""Marking a class: each for themselves, nothing lost, and the mistakes counted."""

import csv
import io
import json
import multiprocessing
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from minigrad.coursework import Exercise, Outcome, Text, Verdict, load
from minigrad.coursework.classes import (
    SHORT,
    Workers,
    _fingerprint,
    _target,
    as_csv,
    grade_class,
    mark,
    misconceptions,
    puzzles,
    solved,
    submissions_in,
    why,
)
from minigrad.coursework.reports import as_data
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


def marked(folder: Path, scale: Exercise, out: Path) -> list[dict[str, Any]]:
    found = submissions_in(folder, [scale])
    return list(grade_class(found, [scale], out, jobs=2, start=ThreadPoolExecutor))


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


# ------------------------------------------------------------------------------------- going on


class Class:
    """Two students and two exercises, marked in no time; `calls` are the answers that were."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder / "class", folder / "out"
        self.places = [written(folder, name) for name in ("03-scale", "04-scale")]
        self.calls: list[str] = []
        self.status = "passed"
        self.after: Callable[[], None] = lambda: None
        for student in ("ann", "猫"):
            for place in self.places:
                self.hand_in(student, place.name, SOLUTION)

    def hand_in(self, student: str, name: str, code: str) -> None:
        (self.folder / student).mkdir(parents=True, exist_ok=True)
        (self.folder / student / f"{name}.py").write_text(code, encoding="utf-8")

    def mark(self, folder: Path, file: Path, seed: int) -> dict[str, Any]:
        self.calls.append(f"{file.parent.name} {folder.name}")
        self.after()
        return as_data(Verdict(folder.name, Text("", ""), self.status, (), seed=seed))

    def run(self, which: slice = slice(None), **options: Any) -> list[str]:
        """Mark it; returns what was marked this time."""
        self.calls.clear()
        known = [load(place) for place in self.places[which]]
        found = submissions_in(self.folder, known)
        rows = list(grade_class(found, known, self.out, start=ThreadPoolExecutor, **options))
        if "stopped" not in options:
            assert [len(row["verdicts"]) for row in rows] == [len(known)] * 2
        return self.calls

    def kept(self, student: str) -> dict[str, Any]:
        file = self.out / "students" / f"{student}.json"
        return {v["exercise"]: v for v in json.loads(file.read_text("utf-8"))["verdicts"]}


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Class:
    pair = Class(tmp_path)
    monkeypatch.setattr("minigrad.coursework.classes.mark", pair.mark)
    return pair


ALL = ["ann 03-scale", "ann 04-scale", "猫 03-scale", "猫 04-scale"]


def test_a_second_run_marks_only_what_has_changed(pair: Class) -> None:
    assert pair.run() == ALL
    assert pair.run() == []
    pair.hand_in("猫", "04-scale", WRONG)
    assert pair.run() == ["猫 04-scale"]
    assert pair.run() == []


def test_one_exercise_alone_leaves_what_is_known_of_the_others(pair: Class) -> None:
    pair.run()
    pair.hand_in("ann", "03-scale", WRONG)
    pair.hand_in("ann", "04-scale", WRONG)
    assert pair.run(slice(1, 2)) == ["ann 04-scale"]
    assert [*pair.kept("ann")] == ["03-scale", "04-scale"]
    assert pair.run() == ["ann 03-scale"]


@pytest.mark.parametrize("file", ["checks.py", "mutants.py", "../solutions/04-scale.py"])
def test_a_changed_exercise_is_marked_again(file: str, pair: Class) -> None:
    pair.run()
    with (pair.places[1] / file).open("a", encoding="utf-8") as stream:
        stream.write("\n# another\n")
    assert pair.run() == ["ann 04-scale", "猫 04-scale"]


def test_other_numbers_and_another_minigrad_mark_all_again(
    pair: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair.run()
    assert pair.run(seed=1) == ALL
    monkeypatch.setattr("minigrad.__version__", "another")
    assert pair.run(seed=1) == ALL


@pytest.mark.parametrize("damage", ["{half", "[]", "old", "another's"])
def test_a_file_that_is_damaged_or_old_is_marked_again(damage: str, pair: Class) -> None:
    pair.run()
    file = pair.out / "students" / "ann.json"
    told = json.loads(file.read_text("utf-8"))
    if damage == "another's":
        told["student"] = "bob"
    for verdict in told["verdicts"] if damage == "old" else ():
        del verdict["fingerprint"]
    whole = damage in ("old", "another's")
    file.write_text(json.dumps(told) if whole else damage, encoding="utf-8")
    assert pair.run() == ["ann 03-scale", "ann 04-scale"]


def test_what_could_not_be_checked_is_tried_again(pair: Class) -> None:
    pair.status = "error"
    pair.run()
    assert pair.run() == ALL


# --------------------------------------------------------------------------------- interruptions


def test_once_it_is_stopped_what_runs_is_written_and_nothing_more_begins(pair: Class) -> None:
    """The first of two that run stops it; the second comes to its end after that."""
    both, stop = threading.Barrier(2, timeout=60), threading.Event()
    file = pair.out / "students" / "ann.json"

    def after() -> None:
        if both.wait() == 0:
            stop.set()
        else:
            until(file.exists)

    pair.after = after
    assert sorted(pair.run(jobs=2, stopped=stop.is_set)) == ALL[:2]
    assert [*pair.kept("ann")] == ["03-scale", "04-scale"]
    assert not (pair.out / "students" / "猫.json").exists()
    pair.after = lambda: None
    assert pair.run() == ALL[2:]


def test_a_result_that_cannot_be_written_ends_it_at_once(pair: Class) -> None:
    pair.out.write_text("a file")
    with pytest.raises(OSError, match="out"):
        pair.run()
    assert pair.calls == ["ann 03-scale"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_workers_leave_an_interruption_to_their_parent() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored here
    try:
        with Workers(1) as workers:
            assert workers.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_an_error_leaves_neither_workers_nor_the_answers_that_they_run(
    scale: Exercise, tmp_path: Path
) -> None:
    answer, told = tmp_path / "answer.py", tmp_path / "pid"
    noting = (
        f"import os\nwith open({str(told)!r}, 'w') as told:\n    print(os.getpid(), file=told)\n"
    )
    answer.write_text(noting + "while True:\n    pass\n", encoding="utf-8")
    before = multiprocessing.active_children()

    def broken_off() -> None:
        with Workers(1) as workers:
            workers.submit(forever, scale.folder, answer)
            until(lambda: told.exists() and told.read_text().endswith("\n"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken_off()
    assert multiprocessing.active_children() == before
    until(lambda: not Path("/proc", told.read_text().strip()).exists())


def forever(folder: Path, answer: Path) -> None:
    """Mark an answer that has all the time it wants."""
    from minigrad.coursework import grade

    grade(replace(load(folder), seconds=600.0), answer)


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


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
    other = load(written(tmp_path, "04-scale"))
    (handed_in / "killer" / "04-scale.py").write_text(SOLUTION, encoding="utf-8")
    found = submissions_in(handed_in, [scale, other])
    rows = list(grade_class(found, [scale, other], tmp_path / "out", jobs=2))
    statuses = {row["student"]: [v["status"] for v in row["verdicts"]] for row in rows}
    assert len(statuses) == 8
    assert statuses["killer"] == ["error", "passed"]
    assert (statuses["ann"][0], statuses["half"][0]) == ("passed", "failed")
    assert statuses["长" * 70][0] == "failed"
    assert len([*(tmp_path / "out" / "students").iterdir()]) == 8


def test_a_file_that_is_no_answer_is_not_read(scale: Exercise, tmp_path: Path) -> None:
    file = tmp_path / "answer.py"
    file.write_bytes(b"#" * (1 << 21))
    assert mark(scale.folder, file, 0)["status"] == "error"
    assert mark(scale.folder, None, 0)["status"] == "missing"


# --------------------------------------------------------------------------------------- summary


@pytest.mark.slow
def test_the_table_and_the_page_tell_who_made_which_mistake(
    scale: Exercise, handed_in: Path, tmp_path: Path
) -> None:
    rows = marked(handed_in, scale, tmp_path / "out")
    table = list(csv.reader(io.StringIO(as_csv(rows, [scale]))))
    columns = ["03-scale status", "03-scale mistake", "03-scale message"]
    assert table[0] == ["student", "points", "of", *columns]
    assert ["ann", "1", "1", "passed", "", ""] in table
    assert ["猫", "0", "1", "failed", "scale.divided", "It is divided by c."] in table
    assert "除以了 c。" in as_csv(rows, [scale], "zh")
    assert "'=cmd()" in [row[0] for row in table]
    (mistake,) = misconceptions(rows)
    assert (mistake.id, mistake.students) == ("scale.divided", ("=cmd()", "猫"))
    for language in ("en", "zh"):
        told = [(mistake.exercise, mistake.id, mistake.says.of(language), mistake.students)]
        page = marks_page(rows, {"03-scale": "Scale"}, told, language=language)
        assert "<script>" not in page
        assert "&lt;script&gt;" in page
        assert mistake.says.of(language) in page


def failing(message: str, status: str = "failed", exercise: str = "03-scale") -> Verdict:
    outcome = Outcome("value", Text("", ""), status, Text(message, f"中{message}"))
    return Verdict(exercise, Text("Scale", "缩放"), status, (outcome,))


def test_a_mistake_without_a_name_is_told_in_the_words_of_its_check(scale: Exercise) -> None:
    assert why(failing("first\nsecond")) == "first"
    assert why(failing("a\x1b[31m"), "zh") == "中a [31m"
    long = why(failing("x" * 1000))
    assert (len(long), long[-1]) == (SHORT, "…")
    row = {"student": "ann", "verdicts": [as_data(failing("=1+1"))]}
    (_, cells) = csv.reader(io.StringIO(as_csv([row], [scale])))
    assert cells == ["ann", "0", "1", "failed", "", "'=1+1"]


def test_what_could_not_be_checked_comes_first_of_what_somebody_has_to_look_at() -> None:
    named = replace(failing("named"), diagnosis="scale.divided")
    right = replace(failing(""), status="passed")
    verdicts = [failing("wrong"), failing("broken", "error", "09-late"), named, right]
    rows = [{"student": "ann", "verdicts": [as_data(verdict) for verdict in verdicts]}]
    found = [(puzzle.exercise, puzzle.status, puzzle.why.en) for puzzle in puzzles(rows)]
    assert found == [("09-late", "error", "broken"), ("03-scale", "failed", "wrong")]


def test_a_folder_without_students_is_refused(scale: Exercise, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one for each student"):
        submissions_in(scale.folder, [scale])


def test_work_may_lie_in_one_folder_more(scale: Exercise, tmp_path: Path) -> None:
    for place in ("ann/course/03-scale", "bo/one/03-scale", "bo/two/03-scale"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "exercise.py").write_text(SOLUTION, encoding="utf-8")
    (tmp_path / "_eve").mkdir()
    (tmp_path / "__pycache__").mkdir()
    eve, ann, bo = submissions_in(tmp_path, [scale])
    assert eve.student == "_eve"
    assert ann.files == {"03-scale": tmp_path / "ann/course/03-scale/exercise.py"}
    assert bo.files == {}  # which of the two?


def test_the_results_are_no_student(scale: Exercise, tmp_path: Path) -> None:
    for name in ("ann", "marks", "students"):
        (tmp_path / name).mkdir()
    names = [found.student for found in submissions_in(tmp_path, [scale], tmp_path / "marks")]
    assert names == ["ann", "students"]
    assert [f.student for f in submissions_in(tmp_path, [scale], tmp_path)] == ["ann", "marks"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_that_lead_out_are_not_followed(scale: Exercise, tmp_path: Path) -> None:
    other = tmp_path / "class" / "bo" / "03-scale.py"
    other.parent.mkdir(parents=True)
    other.write_text(SOLUTION, encoding="utf-8")
    (tmp_path / "class" / "ann").mkdir()
    (tmp_path / "class" / "ann" / "03-scale.py").symlink_to(other)
    ann, bo = submissions_in(tmp_path / "class", [scale])
    assert (ann.files, bo.files) == ({}, {"03-scale": other})


def test_a_folder_that_is_closed_ends_nobody_elses(
    scale: Exercise, handed_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_file = Path.is_file

    def closed(path: Path) -> bool:
        if "ann" in path.parts:
            raise PermissionError(13, "Permission denied", str(path))
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", closed)
    found = {
        submission.student: submission.files for submission in submissions_in(handed_in, [scale])
    }
    assert found["ann"] == {}
    assert found["猫"]


def test_no_two_students_share_a_file(tmp_path: Path) -> None:
    names = ["a?", "a_", _target(tmp_path, "a?").stem, "猫", "a b"]
    assert len({_target(tmp_path, name) for name in names}) == len(names)


def test_a_change_anywhere_in_an_answer_counts(scale: Exercise, tmp_path: Path) -> None:
    files = [tmp_path / "one.py", tmp_path / "other.py"]
    for number, file in enumerate(files):
        file.write_text(SOLUTION + "#" * 100_000 + str(number), encoding="utf-8")
    one, other = (_fingerprint(scale, file, 0) for file in files)
    assert one != other
