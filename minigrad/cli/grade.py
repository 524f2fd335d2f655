"""`minigrad grade`: mark a class, and say which mistakes it makes.

The marking is told in `minigrad.coursework.classes`; here it gets its processes, its progress bar
and its files.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from minigrad.cli import LanguageOption, fail, printable
from minigrad.coursework.classes import (
    as_csv,
    grade_class,
    misconceptions,
    solved,
    submissions_in,
)
from minigrad.coursework.exercise import Exercise
from minigrad.coursework.values import Text
from minigrad.coursework.workbench import NoExercisesError, named, shipped
from minigrad.files import write_whole
from viz.marks import marks_page

WORDS = {
    "marking": Text("marking", "批改中"),
    "written": Text(
        "{count} students marked. Written: {files}", "已批改 {count} 名学生。已写入：{files}"
    ),
    "nothing": Text(
        "{0}: nothing found; it should be in {0}/{1}/exercise.py",
        "{0}：没有找到作业；应在 {0}/{1}/exercise.py",
    ),
    "solved": Text("{name}: {count} of {all} solved it", "{name}：{all} 人中有 {count} 人完成"),
    "mistake": Text("{count} × {id}: {says}", "{count} × {id}：{says}"),
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
        int | None, typer.Option("--jobs", min=1, help="Students at a time; the cores by default.")
    ] = None,
    *,
    language: LanguageOption,
) -> None:
    """Mark a class. After an interruption it goes on where it was; what changed is marked again."""
    try:
        known = named(only, shipped())
        found = submissions_in(submissions, known)
    except (NoExercisesError, OSError, ValueError) as error:
        fail(str(error))
    for submission in found:
        if not submission.files:
            said = WORDS["nothing"].of(language)
            typer.echo(said.format(printable(submission.student), known[0].name), err=True)
    errors = Console(stderr=True)
    marked: list[dict[str, Any]] = []
    with ProcessPoolExecutor(jobs or os.cpu_count() or 1) as executor:
        progress = track(
            grade_class(found, known, output, executor, seed=seed),
            description=WORDS["marking"].of(language),
            total=len(found),
            console=errors,
            transient=True,
            disable=not errors.is_terminal,
        )
        try:
            marked.extend(progress)
        except KeyboardInterrupt:
            executor.shutdown(cancel_futures=True)
            fail(f"interrupted after {len(marked)} of {len(found)}; the same command goes on", 130)
        except OSError as error:
            fail(str(error))
    _write(marked, known, output, language)


def _write(marked: list[dict[str, Any]], known: list[Exercise], out: Path, language: str) -> None:
    files = (out / "marks.csv", out / "marks.html")
    mistakes = misconceptions(marked)
    write_whole(files[0], ("\ufeff" + as_csv(marked, known)).encode())
    page = marks_page(
        sorted(marked, key=lambda row: row["student"]),
        {exercise.name: exercise.title.of(language) for exercise in known},
        [(m.exercise, m.id, m.says.of(language), m.students) for m in mistakes],
        language=language,
    )
    write_whole(files[1], page.encode())
    for exercise in known:
        count = solved(marked, exercise)
        said = WORDS["solved"].of(language)
        typer.echo(said.format(name=exercise.name, count=count, all=len(marked)))
    for m in mistakes[:10]:
        said = WORDS["mistake"].of(language)
        typer.echo(said.format(count=len(m.students), id=m.id, says=m.says.of(language)))
    said = WORDS["written"].of(language)
    typer.echo(said.format(count=len(marked), files=", ".join(map(str, files))))
