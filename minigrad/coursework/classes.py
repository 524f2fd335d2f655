"""Marking a class: every student's files, several at a time, nothing lost when it is interrupted.

What came of an answer is written as soon as it is known, with a fingerprint of all that it came
from. A second run goes on where the first one ended, and marks again what has changed since.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import multiprocessing
import re
import signal
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import minigrad
from minigrad.coursework.child import end_with_parent
from minigrad.coursework.exercise import Exercise, load
from minigrad.coursework.grading import (
    ERROR,
    FAILED,
    LONGEST,
    MISSING,
    NOTHING,
    PASSED,
    Verdict,
    grade,
    unchecked,
)
from minigrad.coursework.reports import as_data, from_data, message_of, points
from minigrad.coursework.values import Text
from minigrad.files import write_whole

"""The status of an exercise of which nothing was handed in."""


@dataclass(frozen=True)
class Submission:
    """What one student handed in: the files, by exercise; exercises without one are left out."""

    student: str
    files: dict[str, Path]


def submissions_in(
    folder: Path, known: Sequence[Exercise], out: Path | None = None
) -> list[Submission]:
    """One for each folder there: NAME/08-softmax/exercise.py, or NAME/08-softmax.py.

    All of it may lie in one folder more, such as NAME/course. Links that lead out of a student's
    folder are not followed; `out`, where the results go, is no student's.

    Errors: `ValueError` if there is no folder at all in it.
    """
    own = (out.resolve(), out.resolve() / "students") if out is not None else ()
    students = sorted(
        path
        for path in folder.iterdir()
        if path.is_dir() and not path.name.startswith((".", "__")) and path.resolve() not in own
    )
    if not students:
        raise ValueError(
            f"{folder} has no folders; it holds one for each student, named after them"
        )
    return [Submission(path.name, _files(path, known)) for path in students]


def _files(folder: Path, known: Sequence[Exercise]) -> dict[str, Path]:
    found = _files_in(folder, known)
    with suppress(OSError):
        places = [_files_in(place, known) for place in folder.iterdir() if place.is_dir()]
        inside = [files for files in places if files]
        return {**inside[0], **found} if len(inside) == 1 else found
    return found


def _files_in(folder: Path, known: Sequence[Exercise]) -> dict[str, Path]:
    found = {}
    for exercise in known:
        for place in (folder / exercise.name / "exercise.py", folder / f"{exercise.name}.py"):
            with suppress(OSError):  # it, or its folder, cannot be looked at
                if place.is_file() and place.resolve().is_relative_to(folder.resolve()):
                    found[exercise.name] = place
                    break
    return found


def grade_class(
    submissions: Sequence[Submission],
    exercises: Sequence[Exercise],
    out: Path,
    *,
    jobs: int = 1,
    seed: int = 0,
    start: Callable[[int], Executor] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[dict[str, Any], None, None]:
    """Mark a class, student by student in the order in which they are done.

    Args:
        out: a folder; `students/NAME.json` is written there for each.
        jobs: answers at a time.
        start: makes what marks so many at a time: threads, or a cluster's; processes by default.
        stopped: asked again and again; once it is true no answer is begun, and those that are
            being marked are still written.

    What was marked before, of the same files and with the same seed, comes first and is not marked
    again; what could not be checked then is tried again. Errors: `OSError` if `out` cannot be
    written to.
    """
    sheets = [Sheet(submission, exercises, out, seed) for submission in submissions]
    yield from [sheet.row for sheet in sheets if not sheet.left]
    tasks = [(sheet, exercise) for sheet in sheets for exercise in sheet.left]
    for (sheet, exercise), verdict in _marked(tasks, jobs, start or Workers, stopped):
        sheet.enter(exercise, verdict)
        if not sheet.left:
            yield sheet.row


class Sheet:
    """What is known of one student, where it is written, and what is left to mark."""

    def __init__(
        self, submission: Submission, exercises: Sequence[Exercise], out: Path, seed: int
    ) -> None:
        self.student, self.files, self.seed = submission.student, submission.files, seed
        self.target = _target(out, submission.student)
        self.verdicts = _stored(self.target, submission.student)
        self.fingerprints = {
            exercise.name: _fingerprint(exercise, self.files.get(exercise.name), seed)
            for exercise in exercises
        }
        self.left = [exercise for exercise in exercises if not self._holds(exercise.name)]

    def _holds(self, name: str) -> bool:
        verdict = self.verdicts.get(name, {})
        same = verdict.get("fingerprint") == self.fingerprints[name]
        return same and verdict["status"] != ERROR

    def enter(self, exercise: Exercise, verdict: dict[str, Any]) -> None:
        """Write down a verdict, beside those on other exercises."""
        kept = {**verdict, "fingerprint": self.fingerprints[exercise.name]}
        self.verdicts = dict(sorted({**self.verdicts, exercise.name: kept}.items()))
        told = {"student": self.student, "verdicts": [*self.verdicts.values()]}
        write_whole(self.target, json.dumps(told, indent=1).encode("ascii"))
        self.left.remove(exercise)

    @property
    def row(self) -> dict[str, Any]:
        """The verdicts of this run, as data."""
        return {
            "student": self.student,
            "verdicts": [self.verdicts[name] for name in self.fingerprints],
        }


def _target(out: Path, student: str) -> Path:
    """A file of the student's own, also where their name can be none."""
    kept = "".join(c if c.isalnum() or c in "._-" else "_" for c in student)[:40]
    mark = hashlib.sha256(student.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    same = kept == student and len(kept.encode()) < 100 and not re.search("-[0-9a-f]{8}$", kept)
    return out / "students" / (f"{kept}.json" if same else f"{kept}-{mark}.json")


def _stored(target: Path, student: str) -> dict[str, dict[str, Any]]:
    """The verdicts in a student's file, by exercise; none of a file that is no such file."""
    try:
        found = json.loads(target.read_text(encoding="utf-8"))
        if found["student"] != student:
            return {}
        return {from_data(data).exercise: data for data in found["verdicts"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _fingerprint(exercise: Exercise, file: Path | None, seed: int) -> str:
    """Changes with all that a verdict comes from."""
    own = (exercise.folder / "checks.py", exercise.folder / "mutants.py", exercise.reference)
    parts = [minigrad.__version__, exercise.name, str(seed), *map(_digest, own)]
    parts.append(MISSING if file is None else _digest(file))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.sha256(stream.read(LONGEST)).hexdigest()
    except OSError as error:
        return type(error).__name__


# ------------------------------------------------------------------------------------------ marking

Task = tuple[Sheet, Exercise]


def _marked(
    tasks: Iterable[Task],
    jobs: int,
    start: Callable[[int], Executor],
    stopped: Callable[[], bool],
) -> Iterator[tuple[Task, dict[str, Any]]]:
    """What came of each; never more of them are under way than are marked at a time."""
    waiting = deque(tasks)
    while waiting and not stopped():
        running: dict[Future[dict[str, Any]], Task] = {}
        try:
            with start(jobs) as executor:
                while running or (waiting and not stopped()):
                    while waiting and len(running) < jobs and not stopped():
                        future = _submitted(executor, waiting[0])
                        running[future] = waiting.popleft()
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        verdict = future.result()
                        yield running.pop(future), verdict
        except BrokenExecutor:  # one of them ended the process that marks it
            for task in running.values():
                yield task, _alone(task, start)


def _submitted(executor: Executor, task: Task) -> Future[dict[str, Any]]:
    sheet, exercise = task
    file = sheet.files.get(exercise.name)
    return executor.submit(mark, exercise.folder.resolve(), file, sheet.seed)


def _alone(task: Task, start: Callable[[int], Executor]) -> dict[str, Any]:
    """Mark an answer in a process that no other needs; one that ends it cannot be checked."""
    sheet, exercise = task
    try:
        with start(1) as executor:
            return _submitted(executor, task).result()
    except BrokenExecutor:
        said = Text("it ended the process that marks it", "它结束了批改它的进程")
        return as_data(unchecked(exercise, said, seed=sheet.seed))


def mark(folder: Path, file: Path | None, seed: int) -> dict[str, Any]:
    """Grade an answer; plain data in and out, so that any executor can carry it."""
    exercise = load(folder)
    if file is None:
        return as_data(Verdict(exercise.name, exercise.title, MISSING, (), seed=seed))
    return as_data(grade(exercise, file, seed=seed))


class Workers(ProcessPoolExecutor):
    """Processes that mark. Ctrl-C is for their parent to heed; after an error none of them is left.

    The answer that one of them runs ends with it, as `child` sees to.
    """

    def __init__(self, jobs: int) -> None:
        self._others = {*multiprocessing.active_children()}
        self._folder = tempfile.TemporaryDirectory(prefix="minigrad-", ignore_cleanup_errors=True)
        super().__init__(jobs, initializer=_heedless, initargs=(self._folder.name,))

    def __exit__(self, kind: Any, *error: Any) -> None:
        """Wait for what runs, or end it."""
        if kind is not None:
            for process in {*multiprocessing.active_children()} - self._others:
                process.kill()
        self.shutdown(cancel_futures=True)
        self._folder.cleanup()


def _heedless(folder: str) -> None:
    tempfile.tempdir = folder  # so that nothing is left where it is killed
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP"):  # not the parent's
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


# ------------------------------------------------------------------------------------------ summary

SHORT = 160
"""Characters of a message in a table."""


def as_csv(
    marked: Sequence[dict[str, Any]], exercises: Sequence[Exercise], language: str = "en"
) -> str:
    """A row for each student: points in all, and of each exercise status, mistake and message."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [exercise.name for exercise in exercises]
    columns = [f"{name} {what}" for name in names for what in ("status", "mistake", "message")]
    writer.writerow(["student", "points", "of", *columns])
    for row in sorted(marked, key=lambda row: row["student"]):
        verdicts = [from_data(data) for data in row["verdicts"]]
        cells = [c for v in verdicts for c in (v.status, v.diagnosis, why(v, language))]
        total = sum(points(v) for v in verdicts)
        writer.writerow([_safe(row["student"]), f"{total:g}", len(verdicts), *map(_safe, cells)])
    return text.getvalue()


def why(verdict: Verdict, language: str = "en") -> str:
    """In one short line what is wrong: the mistake, or else what the check that failed says."""
    lines = message_of(verdict, language).splitlines() if verdict.failed else []
    line = "".join(c if c.isprintable() else " " for c in next(iter(lines), "")).strip()
    return line if len(line) <= SHORT else f"{line[: SHORT - 1]}…"


def _safe(cell: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.strip()[:1] in ("=", "+", "-", "@", "＝", "＋", "－", "＠") else cell


@dataclass(frozen=True)
class Misconception:
    """A mistake, and who made it."""

    exercise: str
    id: str
    says: Text
    students: tuple[str, ...]


def misconceptions(marked: Sequence[dict[str, Any]]) -> list[Misconception]:
    """The mistakes of a class, the most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    who: dict[tuple[str, str], list[str]] = {}
    says: dict[tuple[str, str], Text] = {}
    for row in sorted(marked, key=lambda row: row["student"]):
        for verdict in map(from_data, row["verdicts"]):
            if verdict.diagnosis:
                key = verdict.exercise, verdict.diagnosis
                counts[key] += 1
                who.setdefault(key, []).append(row["student"])
                says[key] = verdict.says or NOTHING
    return [Misconception(*key, says[key], tuple(who[key])) for key, _ in counts.most_common()]


@dataclass(frozen=True)
class Puzzle:
    """An answer that is wrong in a way without a name, or that could not be checked."""

    exercise: str
    student: str
    status: str
    why: Text


def puzzles(marked: Sequence[dict[str, Any]]) -> list[Puzzle]:
    """What somebody has to look at, by exercise; first what could not be checked."""
    found = [
        Puzzle(v.exercise, row["student"], v.status, Text(why(v, "en"), why(v, "zh")))
        for row in marked
        for v in map(from_data, row["verdicts"])
        if v.status in (FAILED, ERROR) and not v.diagnosis
    ]
    return sorted(found, key=lambda p: (p.status != ERROR, p.exercise, p.student))


def solved(marked: Sequence[dict[str, Any]], exercise: Exercise) -> int:
    """How many students solved an exercise."""
    return sum(
        data["status"] == PASSED
        for row in marked
        for data in row["verdicts"]
        if data["exercise"] == exercise.name
    )
