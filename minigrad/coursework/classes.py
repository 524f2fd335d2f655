"""Marking a class: every student's files, several at a time, nothing lost when it is interrupted.

What came of a student is written as soon as it is known, with a fingerprint of the files that were
marked. A second run goes on where the first one ended, and marks again what has changed since.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    as_completed,
)
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minigrad.coursework.exercise import Exercise, load
from minigrad.coursework.grading import ERROR, NOTHING, PASSED, Outcome, Verdict, grade
from minigrad.coursework.reports import as_data, from_data, points
from minigrad.coursework.values import Text
from minigrad.files import write_whole

MISSING = "missing"
"""The status of an exercise of which nothing was handed in."""


@dataclass(frozen=True)
class Submission:
    """What one student handed in: the files, by exercise; exercises without one are left out."""

    student: str
    files: dict[str, Path]

    @property
    def fingerprint(self) -> str:
        """Changes with the files."""
        told = hashlib.sha256()
        for name, file in sorted(self.files.items()):
            told.update(f"{name}\0{_digest(file)}\0".encode())
        return told.hexdigest()


MOST = 1 << 20
"""Bytes of a file that is looked at; no answer is longer."""


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.sha256(stream.read(MOST)).hexdigest()
    except OSError as error:
        return f"{type(error).__name__}"


def submissions_in(folder: Path, known: Sequence[Exercise]) -> list[Submission]:
    """One for each folder there: NAME/08-softmax/exercise.py, or NAME/08-softmax.py.

    Errors: `ValueError` if there is no folder at all in it.
    """
    students = sorted(
        path for path in folder.iterdir() if path.is_dir() and path.name[0] not in "._"
    )
    if not students:
        raise ValueError(
            f"{folder} has no folders; it holds one for each student, named after them"
        )
    return [Submission(path.name, _files(path, known)) for path in students]


def _files(folder: Path, known: Sequence[Exercise]) -> dict[str, Path]:
    found = {}
    for exercise in known:
        for place in (folder / exercise.name / "exercise.py", folder / f"{exercise.name}.py"):
            if place.is_file():
                found[exercise.name] = place
                break
    return found


def mark(submission: Submission, folders: Sequence[Path], seed: int) -> dict[str, Any]:
    """Grade all of a student's files; plain data, so that any executor can send it back."""
    verdicts = []
    for folder in folders:
        exercise = load(folder)
        file = submission.files.get(exercise.name)
        if file is None:
            verdict = Verdict(exercise.name, exercise.title, MISSING, (), seed=seed)
        else:
            try:
                if file.stat().st_size > MOST:
                    raise ValueError(f"{file.name} is larger than {MOST:,} bytes")
                verdict = grade(exercise, file, seed=seed)
            except Exception as error:  # of ours, not of the student's: that is a verdict
                verdict = _broken(exercise, error, seed)
        verdicts.append(as_data(verdict))
    return {
        "student": submission.student,
        "fingerprint": submission.fingerprint,
        "seed": seed,
        "verdicts": verdicts,
    }


def _broken(exercise: Exercise, error: Exception, seed: int) -> Verdict:
    said = f"{type(error).__name__}: {error}"
    outcome = Outcome(
        "harness", Text("the check itself failed", "检查程序出错"), ERROR, Text(said, said)
    )
    return Verdict(exercise.name, exercise.title, ERROR, (outcome,), seed=seed)


def grade_class(
    submissions: Sequence[Submission],
    exercises: Sequence[Exercise],
    out: Path,
    executor: Executor,
    *,
    seed: int = 0,
) -> Iterator[dict[str, Any]]:
    """Mark a class, student by student in the order in which they are done.

    Args:
        out: a folder; `students/NAME.json` is written there for each.
        executor: processes, threads, or a cluster's.

    What was marked before, of the same files and with the same seed, comes first and is not marked
    again. Errors: `OSError` if `out` cannot be written to.
    """
    waiting = {}
    folders = [exercise.folder.resolve() for exercise in exercises]
    for submission in submissions:
        target = _target(out, submission.student)
        before = _before(target, submission, exercises, seed)
        if before is not None:
            yield before
        else:
            waiting[_submitted(executor, submission, folders, seed)] = submission, target
    for done in as_completed(waiting):
        submission, target = waiting[done]
        try:
            marked = done.result()
        except BrokenExecutor:  # somebody ended the process that marked them, or another's
            marked = _alone(submission, folders, seed)
        write_whole(target, json.dumps(marked, indent=1).encode("ascii"))
        yield marked


def _submitted(
    executor: Executor, submission: Submission, folders: Sequence[Path], seed: int
) -> Future[dict[str, Any]]:
    try:
        return executor.submit(mark, submission, folders, seed)
    except BrokenExecutor as error:
        broken: Future[dict[str, Any]] = Future()
        broken.set_exception(error)
        return broken


def _alone(submission: Submission, folders: Sequence[Path], seed: int) -> dict[str, Any]:
    """Mark a student in a process that nobody else needs; one that ends it is not marked."""
    with ProcessPoolExecutor(1) as single:
        try:
            return single.submit(mark, submission, folders, seed).result()
        except BrokenExecutor:
            error = RuntimeError("it ended the process that marks it")
            verdicts = [as_data(_broken(load(folder), error, seed)) for folder in folders]
    return {
        "student": submission.student,
        "fingerprint": submission.fingerprint,
        "seed": seed,
        "verdicts": verdicts,
    }


def _target(out: Path, student: str) -> Path:
    """A file of the student's own, also where their name can be none."""
    kept = "".join(c if c.isalnum() or c in "._-" else "_" for c in student)[:40]
    mark = hashlib.sha256(student.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    same = kept == student and len(kept.encode()) < 100
    return out / "students" / (f"{kept}.json" if same else f"{kept}-{mark}.json")


def _before(
    target: Path, submission: Submission, exercises: Sequence[Exercise], seed: int
) -> dict[str, Any] | None:
    try:
        found = json.loads(target.read_text(encoding="utf-8"))
        same = found["fingerprint"] == submission.fingerprint and found["seed"] == seed
        names = [from_data(data).exercise for data in found["verdicts"]]
        same = same and found["student"] == submission.student
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return found if same and names == [exercise.name for exercise in exercises] else None


# ------------------------------------------------------------------------------------------ summary


def as_csv(marked: Sequence[dict[str, Any]], exercises: Sequence[Exercise]) -> str:
    """A row for each student: points in all, and for each exercise status and mistake."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [exercise.name for exercise in exercises]
    columns = [f"{name} {what}" for name in names for what in ("status", "mistake")]
    writer.writerow(["student", "points", "of", *columns])
    for row in sorted(marked, key=lambda row: row["student"]):
        verdicts = [from_data(data) for data in row["verdicts"]]
        cells = [cell for v in verdicts for cell in (v.status, v.diagnosis)]
        total = sum(points(v) for v in verdicts)
        writer.writerow([_safe(row["student"]), f"{total:g}", len(verdicts), *cells])
    return text.getvalue()


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


def solved(marked: Sequence[dict[str, Any]], exercise: Exercise) -> int:
    """How many students solved an exercise."""
    return sum(
        data["status"] == PASSED
        for row in marked
        for data in row["verdicts"]
        if data["exercise"] == exercise.name
    )
