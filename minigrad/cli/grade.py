"""`minigrad grade`: mark a class, and say which mistakes it makes.

The marking is told in `minigrad.coursework.classes`; here it gets its progress bar, its Ctrl-C and
its files.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import track

from minigrad.cli import LanguageOption, fail, printable
from minigrad.coursework.classes import (
    Submission,
    as_csv,
    grade_class,
    misconceptions,
    puzzles,
    solved,
    submissions_in,
    why,
)
from minigrad.coursework.exercise import Exercise
from minigrad.coursework.grading import ERROR
from minigrad.coursework.reports import from_data
from minigrad.coursework.values import Text
from minigrad.coursework.workbench import WorkbenchError, named, shipped
from minigrad.files import write_whole
from viz.marks import marks_page

ERRORS = Console(stderr=True)
WORDS = {
    "marking": Text("marking", "批改中"),
    "marked": Text("{count} of {all} marked: {student}", "已批改 {count}/{all}：{student}"),
    "ending": Text(
        "What is being marked comes to its end; Ctrl-C again ends it at once.",
        "正在等待进行中的批改结束；再按一次 Ctrl-C 立即停止。",
    ),
    "interrupted": Text(
        "interrupted after {count} of {all} students; the same command goes on",
        "已中断：{all} 名学生中已批改 {count} 名；重新运行同一命令即可继续",
    ),
    "written": Text(
        "Students marked: {count}. Written: {files}", "已批改 {count} 名学生。已写入：{files}"
    ),
    "nobody": Text(
        "{folder} has no folders; it holds one for each student, named after them",
        "{folder} 中没有文件夹；应为每名学生准备一个以其姓名命名的文件夹",
    ),
    "nothing": Text(
        "{0}: nothing found; it should be in {0}/{1}/exercise.py",
        "{0}：没有找到作业；应在 {0}/{1}/exercise.py",
    ),
    "solved": Text("{name}: {count} of {all} solved it", "{name}：{all} 人中有 {count} 人完成"),
    "mistake": Text("{count} × {id}: {says}", "{count} × {id}：{says}"),
    "error": Text(
        "{student}, {name}: could not be checked: {why}", "{student}，{name}：无法检查：{why}"
    ),
}


def grade(
    submissions: Annotated[
        Path, typer.Argument(metavar="SUBMISSIONS_DIR", help="A folder with one for each student.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="For the results.")],
    only: Annotated[
        str, typer.Option("--only", metavar="N", help="One exercise, by number or name.")
    ] = "all",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draws the numbers.")] = 0,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Answers at a time; the cores by default.")
    ] = None,
    *,
    language: LanguageOption,
) -> None:
    """Mark a class. After an interruption it goes on where it was; what changed is marked again."""
    known, found = _handed_in(submissions, only, output, language)
    marked: list[dict[str, Any]] = []
    try:
        with (
            _interruptible(language) as stopped,
            closing(
                grade_class(
                    found,
                    known,
                    output,
                    jobs=jobs or os.cpu_count() or 1,
                    seed=seed,
                    stopped=stopped,
                )
            ) as marking,
        ):
            marked.extend(_shown(marking, len(found), language))
        if len(marked) < len(found):
            raise KeyboardInterrupt
        _write(marked, known, output, "" if only == "all" else f"-{known[0].name}", language)
    except KeyboardInterrupt:
        _fail("interrupted", language, 130, count=len(marked), all=len(found))
    except OSError as error:
        fail(f"{error.filename or output}: {error.strerror or error}")


def _handed_in(
    folder: Path, only: str, out: Path, language: str
) -> tuple[list[Exercise], list[Submission]]:
    try:
        known = named(only, shipped())
        found = submissions_in(folder, known, out)
    except WorkbenchError as error:
        fail(error.says.of(language))
    except OSError as error:
        fail(f"{error.filename or folder}: {error.strerror or error}")
    except ValueError:
        _fail("nobody", language, folder=folder)
    for submission in found:
        if not submission.files:
            said = WORDS["nothing"].of(language)
            typer.echo(said.format(printable(submission.student), known[0].name), err=True)
    return known, found


def _fail(word: str, language: str, status: int = 2, **values: Any) -> NoReturn:
    fail(WORDS[word].of(language).format(**values), status)


@contextmanager
def _interruptible(language: str) -> Iterator[Callable[[], bool]]:
    """Gives whether Ctrl-C was pressed; pressed again, or told to end, it interrupts."""
    presses: list[int] = []

    def press(*_: object) -> None:
        presses.append(1)
        if len(presses) > 1:
            end()
        ERRORS.print(WORDS["ending"].of(language), soft_wrap=True)

    def end(*_: object) -> NoReturn:
        for number in before:  # ending takes a moment
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    heeded = {signal.SIGINT: press, signal.SIGTERM: end}
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is signal.SIG_DFL:  # not below nohup
        heeded[hangup] = end
    before = {number: signal.signal(number, heed) for number, heed in heeded.items()}
    try:
        yield lambda: bool(presses)
    finally:
        for number, heed in before.items():
            signal.signal(number, heed)


def _shown(
    marking: Iterator[dict[str, Any]], total: int, language: str
) -> Iterator[dict[str, Any]]:
    """The same rows, with a bar on a terminal, and elsewhere a line for each."""
    if sys.stderr.isatty():
        yield from track(
            marking,
            description=WORDS["marking"].of(language),
            total=total,
            console=ERRORS,
            transient=True,
        )
        return
    said = WORDS["marked"].of(language)
    for count, row in enumerate(marking, 1):
        student = printable(row["student"])
        typer.echo(said.format(count=count, all=total, student=student), err=True)
        yield row


def _write(
    marked: list[dict[str, Any]], known: list[Exercise], out: Path, which: str, language: str
) -> None:
    files = (out / f"marks{which}.csv", out / f"marks{which}.html")
    rows = sorted(marked, key=lambda row: row["student"])
    mistakes, unclear = misconceptions(rows), puzzles(rows)
    table = "\ufeff" + as_csv(rows, known, language)
    page = marks_page(
        [{**row, "verdicts": [_cell(data, language) for data in row["verdicts"]]} for row in rows],
        {exercise.name: exercise.title.of(language) for exercise in known},
        [(m.exercise, m.id, m.says.of(language), m.students) for m in mistakes],
        [(p.exercise, p.status, p.why.of(language), p.student) for p in unclear],
        language=language,
    )
    for file, text in zip(files, (table, page), strict=True):
        write_whole(file, text.encode(errors="backslashreplace"))  # names need not be Unicode
    for exercise in known:
        said = WORDS["solved"].of(language)
        typer.echo(said.format(name=exercise.name, count=solved(rows, exercise), all=len(rows)))
    for m in mistakes[:10]:
        said = WORDS["mistake"].of(language)
        typer.echo(said.format(count=len(m.students), id=m.id, says=m.says.of(language)))
    for p in unclear:
        if p.status == ERROR:
            said = WORDS["error"].of(language)
            student, reason = printable(p.student), p.why.of(language)
            typer.echo(said.format(student=student, name=p.exercise, why=reason), err=True)
    said = WORDS["written"].of(language)
    typer.echo(said.format(count=len(rows), files=", ".join(map(str, files))))


def _cell(data: dict[str, Any], language: str) -> dict[str, Any]:
    """What the page tells of one exercise of one student."""
    return {**data, "why": why(from_data(data), language)}
