"""A student's folder: the stubs and pages that were copied out, and how far they have come."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import minigrad
from minigrad.coursework.exercise import Exercise, all_exercises
from minigrad.coursework.grading import LONGEST, Verdict
from minigrad.coursework.reports import as_data, from_data
from minigrad.coursework.values import Text
from minigrad.files import write_whole

PAGES = ("exercise.py", "README.md", "README.zh-CN.md")
"""What a student gets of an exercise."""

PROGRESS = ".progress.json"


class WorkbenchError(Exception):
    """What stands in the way of a student's command, in both languages."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.says = Text(en, zh)


def shipped_folder() -> Path:
    """Where the exercises are that come with minigrad.

    Errors: `WorkbenchError` if they are missing, as in an installation that was cut down.
    """
    package = Path(minigrad.__file__).parent
    for folder in (package / "_examples" / "exercises", package.parent / "examples" / "exercises"):
        if folder.is_dir():
            return folder
    raise WorkbenchError(
        f"the exercises are missing from {package}; install minigrad-lab again",
        f"{package} 中缺少练习；请重新安装 minigrad-lab",
    )


def shipped() -> list[Exercise]:
    """The exercises that come with minigrad. Errors: `WorkbenchError` if one cannot be read."""
    try:
        return all_exercises(shipped_folder())
    except ValueError as error:
        raise WorkbenchError(
            f"an exercise cannot be read: {error}", f"有练习无法读取：{error}"
        ) from error


def named(which: str, known: Sequence[Exercise]) -> list[Exercise]:
    """The exercises that a number, a name, the start of a name or "all" stands for.

    Errors: `WorkbenchError`.
    """
    if which == "all":
        return list(known)
    if which.isdecimal() and len(which) < 9:
        found = [exercise for exercise in known if exercise.number == int(which)]
    else:
        found = [e for e in known if which in (e.name, e.name.partition("-")[2])] or [
            e for e in known if e.name.partition("-")[2].startswith(which)
        ]
    if len(found) != 1:
        names = ", ".join(exercise.name for exercise in found or known)
        what = "stands for several exercises" if found else "is no exercise"
        zh = "对应多个练习" if found else "不是练习"
        raise WorkbenchError(
            f"{which!r} {what}: choose from {names}", f"{which!r} {zh}；可选：{names}"
        )
    return found


def start(folder: Path, known: Sequence[Exercise], *, force: bool = False) -> list[Path]:
    """Copy stubs and pages into a folder; returns what was written there before, where it is kept.

    Nothing that is there is touched, unless `force` is set: then the stubs come again, and what was
    written stays beside them under a name with the time in it.

    Errors: `WorkbenchError` if there is work already; nothing is written then.
    """
    places = [folder / exercise.name / "exercise.py" for exercise in known]
    present = [place for place in places if place.exists()]
    if present and not force:
        raise WorkbenchError(
            f"{present[0]} is there already; nothing was copied. Choose another folder, or add "
            "--force to start again: what you wrote is kept beside it",
            f"{present[0]} 已存在，没有复制任何文件。请换一个文件夹，或加上 --force 重新开始："
            "你写的内容会保存在旁边",
        )
    contents = {
        folder / exercise.name / name: (exercise.folder / name).read_bytes()
        for exercise in known
        for name in PAGES
    }
    kept = []
    for target, content in contents.items():
        if target.name == "exercise.py" and target.exists() and target.read_bytes() != content:
            kept.append(keep(target))
        write_whole(target, content)
    forget(folder, known)
    return kept


def keep(file: Path) -> Path:
    """Put a file aside, under a name that nothing has; returns it."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    kept, number = file.with_name(f"{file.name}.{stamp}"), 1
    while kept.exists():
        number += 1
        kept = file.with_name(f"{file.name}.{stamp}-{number}")
    file.rename(kept)
    return kept


def reset(folder: Path, exercise: Exercise) -> Path | None:
    """Write the stub again; returns where what was written is kept, None if there was nothing."""
    folder = course_of(folder)
    target, stub = folder / exercise.name / "exercise.py", exercise.folder / "exercise.py"
    begun = target.exists() and target.read_bytes() != stub.read_bytes()
    kept = keep(target) if begun else None
    write_whole(target, stub.read_bytes())
    forget(folder, [exercise])
    return kept


def course_of(folder: Path) -> Path:
    """The folder of all exercises, from there or from the folder of one of them."""
    place = folder.resolve()
    inside = (place / "exercise.py").is_file() and re.match(r"\d\d-", place.name)
    return place.parent if inside else folder


def file_of(folder: Path, exercise: Exercise) -> Path:
    """The student's file. Errors: `WorkbenchError` if there is none."""
    place = course_of(folder) / exercise.name / "exercise.py"
    if place.is_file():
        return place
    raise WorkbenchError(
        f"there is no {exercise.name}/exercise.py in {folder}: copy the exercises out with "
        "minigrad exercises start DIR, and work in DIR",
        f"{folder} 中没有 {exercise.name}/exercise.py：请用 minigrad exercises start DIR 复制练习，"
        "并在 DIR 中完成",
    )


# ----------------------------------------------------------------------------------------- progress


def read_progress(folder: Path) -> dict[str, dict[str, Any]]:
    """By name of the exercise: its last verdict as data, and which hint was given last."""
    try:
        found = json.loads((course_of(folder) / PROGRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def note(folder: Path, verdict: Verdict, of: str = "") -> None:
    """Remember a verdict on a file with the fingerprint `of`; hints begin again if it says more."""
    progress = read_progress(folder)
    before = last_verdict(progress, verdict.exercise)
    same = before is not None and _told(before) == _told(verdict)
    hint = hint_given(progress, verdict.exercise) if same else 0
    progress[verdict.exercise] = {"verdict": as_data(verdict), "hint": hint, "of": of}
    _write(folder, progress)


def fingerprint(file: Path) -> str:
    """What tells a file from one with other contents; empty if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.sha256(stream.read(LONGEST)).hexdigest()
    except OSError:
        return ""


def changed(folder: Path, exercise: Exercise, progress: dict[str, dict[str, Any]]) -> bool:
    """Whether a file is no longer what the verdict that is remembered was on."""
    noted = progress.get(exercise.name, {})
    of = noted.get("of") if isinstance(noted, dict) else None
    try:
        return bool(of) and fingerprint(file_of(folder, exercise)) != of
    except WorkbenchError:
        return True


def hint_given(progress: dict[str, dict[str, Any]], name: str) -> int:
    """Which hint was given last, 0 if none was."""
    noted = progress.get(name)
    level = noted.get("hint") if isinstance(noted, dict) else 0
    return level if type(level) is int and 0 < level <= 4 else 0


def note_hint(folder: Path, exercise: Exercise, level: int) -> None:
    """Remember which hint was given."""
    progress = read_progress(folder)
    progress.setdefault(exercise.name, {})["hint"] = level
    _write(folder, progress)


def forget(folder: Path, exercises: Sequence[Exercise]) -> None:
    """What was noted of exercises that begin again."""
    before = read_progress(folder)
    names = {exercise.name for exercise in exercises}
    after = {name: told for name, told in before.items() if name not in names}
    if after != before:
        _write(folder, after)


def last_verdict(progress: dict[str, dict[str, Any]], name: str) -> Verdict | None:
    """The last verdict on an exercise, if there is one that can be read."""
    try:
        return from_data(progress[name]["verdict"])
    except (KeyError, TypeError, ValueError):  # a file that somebody else wrote into
        return None


def _told(verdict: Verdict) -> tuple[str, ...]:
    """What a student was told: of which check, and which mistake, or what the check says."""
    name, message = (verdict.failed.name, verdict.failed.message.en) if verdict.failed else ("", "")
    says = (verdict.diagnosis, verdict.says.en) if verdict.diagnosis else (message,)
    return (verdict.status, name, *says)


def _write(folder: Path, progress: dict[str, dict[str, Any]]) -> None:
    write_whole(course_of(folder) / PROGRESS, json.dumps(progress).encode())
