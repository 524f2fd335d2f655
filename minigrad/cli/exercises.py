"""`minigrad exercises`: copy the coursework out, check it, get hints, see how far one has come.

What an exercise is and who decides is told in `minigrad.coursework`; here its verdicts become lines
on the terminal, reports and exit statuses.
"""

import os
import re
import shlex
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text as Styled

from minigrad.cli import Language, LanguageOption, default_language, fail, printable
from minigrad.cli.notebooks import NotebookError, nbformat, write_notebooks
from minigrad.coursework.classes import Workers
from minigrad.coursework.exercise import Exercise, folders_in
from minigrad.coursework.grading import (
    ERROR,
    FAILED,
    NOT_ATTEMPTED,
    PASSED,
    WAITING,
    Verdict,
    grade,
    unchecked,
)
from minigrad.coursework.reports import FORMATS, message_of, said_of
from minigrad.coursework.values import Text
from minigrad.coursework.verifying import verify_folder
from minigrad.coursework.workbench import (
    WorkbenchError,
    changed,
    file_of,
    fingerprint,
    hint_given,
    last_verdict,
    named,
    note,
    note_hint,
    read_progress,
    reset,
    shipped,
    shipped_folder,
    start,
)
from minigrad.files import write_whole

exercises = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Exercises that say which mistake you made.",
)


class Format(StrEnum):
    """A format of reports."""

    JUNIT = "junit"
    GRADESCOPE = "gradescope"
    CLASSROOM = "classroom"
    CLASSROOM_BASE64 = "classroom-base64"
    JSON = "json"


@exercises.callback()
def _clear_away(context: typer.Context) -> None:
    """Exercises that say which mistake you made."""  # what is begun goes again if this is ended
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
            context.call_on_close(partial(signal.signal, number, signal.SIG_DFL))


WORDS = {
    "copied": Text(
        "{count} exercises are in {folder}. Begin with {first}/README.md; this checks your work:",
        "{count} 个练习已放入 {folder}。请先阅读 {first}/README.zh-CN.md，写好后用下面的命令检查：",
    ),
    PASSED: Text("solved", "已完成"),
    FAILED: Text("not yet right", "还不对"),
    ERROR: Text("could not be checked", "无法检查"),
    NOT_ATTEMPTED: Text("not written yet", "尚未编写"),
    "unchecked": Text("not checked yet", "尚未检查"),
    "missing": Text("its file is missing", "缺少文件"),
    "changed": Text("changed since; check it again", "有改动，请重新检查"),
    "hint": Text("A hint: {}", "需要提示：{}"),
    "unknown": Text(
        "The mistake is none of those that are known here.", "这个错误不在已知的错误之列。"
    ),
    "first": Text("Check it first: {}", "请先检查：{}"),
    "old": Text(
        "Your file has changed since it was checked. Check it again: {}",
        "检查之后文件有改动。请重新检查：{}",
    ),
    "none": Text(
        "there are no exercises in {}. Copy them out first: {}", "{} 中没有练习。请先复制：{}"
    ),
    "solved": Text(
        "This one is solved; there is nothing to hint at.", "这个练习已完成，无需提示。"
    ),
    "not so": Text("This does not hold yet: {}.", "这一点还不成立：{}。"),
    "begin": Text(
        "{} is not written yet; its page is README.md.", "{} 尚未编写；讲解见 README.zh-CN.md。"
    ),
    "last": Text("That was the last hint.", "这是最后一条提示。"),
    "not run": Text("Checks that were not looked at yet: {}.", "后面还有 {} 项检查尚未进行。"),
    "again": Text("The stub is there again.", "练习已恢复原样。"),
    "kept": Text("What you wrote is kept as {}.", "你写的内容保存为 {}。"),
    "file": Text("{} is a file", "{} 是文件，不是文件夹"),
    "output": Text(
        "-o FILE is for a report; add --report", "-o FILE 用于写报告，请同时加上 --report"
    ),
    "one": Text("choose one exercise: {}", "请选择一个练习：{}"),
    "watching": Text(
        "Watching {}. It is checked whenever you save it; Ctrl-C ends this.",
        "正在监视 {}，每次保存后都会检查；按 Ctrl-C 结束。",
    ),
}

Folder = Annotated[
    Path, typer.Option("--dir", metavar="DIR", help="The folder with your exercises.")
]
Which = Annotated[str, typer.Argument(metavar="N", help="Its number or name, or all of them: all.")]
One = Annotated[str, typer.Argument(metavar="N", help="Its number or name.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Draws the numbers; repeats a check.")]


@exercises.command("start")
def _start(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to copy them to.")],
    force: Annotated[
        bool, typer.Option("--force", help="Begin again; what you wrote is kept beside it.")
    ] = False,
    notebooks: Annotated[
        bool, typer.Option("--notebooks", help="Write each as a Jupyter notebook too.")
    ] = False,
    *,
    language: LanguageOption,
) -> None:
    """Copy the stubs and their pages into a folder of yours."""
    known = _known(language)
    try:
        if notebooks:
            nbformat()  # before anything is written
        kept = start(folder, known, force=force)
        if notebooks:
            write_notebooks(folder, known, language, force=force)
    except WorkbenchError as error:
        fail(error.says.of(language))
    except FileExistsError:
        fail(WORDS["file"].of(language).format(folder))
    except OSError as error:
        fail(f"{error.filename or folder}: {error.strerror or error}")
    except NotebookError as error:
        fail(str(error))
    said = WORDS["copied"].of(language)
    typer.echo(said.format(count=len(known), folder=f"“{folder}”", first=known[0].name))
    again = _command("check", known[0].number, language)
    typer.echo(f"cd {shlex.quote(str(folder))} && {again}")
    for place in kept:
        typer.echo(WORDS["kept"].of(language).format(place))


def _command(name: str, argument: object, language: str, folder: Path = Path()) -> str:
    """A command to type next: with the language and the folder, where they are not understood."""
    parts = ["minigrad", "exercises", name, str(argument)]
    if folder != Path():
        parts += ["--dir", str(folder)]
    if language != default_language():
        parts += ["--language", language]
    return shlex.join(parts)


@exercises.command("list")
def _list(folder: Folder = Path(), *, language: LanguageOption) -> None:
    """Show the exercises, and how far you have come."""
    files = _files("all", folder, language)
    progress = read_progress(folder)
    table = Table.grid("", "", Column(overflow="fold"), padding=(0, 2))
    for exercise, file in files:
        verdict = last_verdict(progress, exercise.name) if isinstance(file, Path) else None
        status = verdict.status if verdict else "unchecked"
        status = status if isinstance(file, Path) else "missing"
        style = {PASSED: "green", FAILED: "red", ERROR: "red"}.get(status, "dim")
        said = Styled(WORDS[status].of(language), style=style)
        if verdict and changed(folder, exercise, progress):
            gap = "；" if language == "zh" else "; "
            said.append(f"{gap}{WORDS['changed'].of(language)}", style="yellow")
        table.add_row(exercise.name, exercise.title.of(language), said)
    Console(highlight=False).print(table)


@exercises.command("check")
def _check(
    which: Which,
    folder: Folder = Path(),
    seed: Seed = 0,
    report: Annotated[
        Format | None, typer.Option("--report", help="Write a report instead of lines.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="For the report.")
    ] = None,
    *,
    language: LanguageOption,
) -> None:
    """Check what you wrote. The exit status is 1 if a check failed, 2 if it could not be run."""
    if output is not None and report is None:
        fail(WORDS["output"].of(language))
    files = _files(which, folder, language)
    verdicts = {e.name: unchecked(e, WAITING, seed=seed) for e, _ in files}

    def keep(*made: Verdict) -> None:
        """Before all and after each check, so that something is there whatever happens."""
        verdicts.update({verdict.exercise: verdict for verdict in made})
        if report is not None and output is not None:
            write_whole(output, FORMATS[report]([*verdicts.values()], language).encode())

    with _told(output, language):
        keep()
        for exercise, file in files:
            keep(_grade(exercise, file, folder, seed, so_far=keep if output else None))
            if report is None:
                show(verdicts[exercise.name], language, folder)
    if report is not None and output is None:
        typer.echo(FORMATS[report]([*verdicts.values()], language))
    raise typer.Exit(_status([*verdicts.values()]))


@contextmanager
def _told(output: Path | None, language: str) -> Iterator[None]:
    """Tells why a report cannot be written."""
    try:
        yield
    except OSError as error:
        fail(f"{error.filename or output}: {error.strerror or error}")


def _files(which: str, folder: Path, language: Language) -> list[tuple[Exercise, Path | Text]]:
    """The student's files; of all exercises, why one is not there."""
    found: list[tuple[Exercise, Path | Text]] = []
    for exercise in _named(which, language):
        try:
            found.append((exercise, file_of(folder, exercise)))
        except WorkbenchError as error:
            if which != "all":
                fail(error.says.of(language))
            found.append((exercise, error.says))
    if not any(isinstance(file, Path) for _, file in found):
        begin = _command("start", "DIR", language)
        fail(WORDS["none"].of(language).format(folder.absolute(), begin))
    return found


def check(which: str, *, folder: Path | str = ".", language: str = "en") -> None:
    """The same from a notebook: check the exercise in this folder and print the verdict."""
    for exercise in named(which, shipped()):
        file = file_of(Path(folder), exercise)
        show(_grade(exercise, file, Path(folder)), Language(language))


def _grade(
    exercise: Exercise,
    file: Path | Text,
    folder: Path,
    seed: int = 0,
    so_far: Callable[[Verdict], None] | None = None,
) -> Verdict:
    if isinstance(file, Text):
        return unchecked(exercise, file, seed=seed)
    of = fingerprint(file)
    verdict = grade(exercise, file, seed=seed, so_far=so_far)
    with suppress(OSError):  # a folder that cannot be written to can be checked all the same
        note(folder, verdict, of)
    return verdict


def _status(verdicts: Sequence[Verdict]) -> int:
    statuses = {verdict.status for verdict in verdicts}
    return 2 if ERROR in statuses else int(statuses != {PASSED})


PRINTED = 8
"""Lines of what the student's code printed that are shown."""


def show(verdict: Verdict, language: Language, folder: Path = Path()) -> None:
    """One line for each check, and then the message that matters."""
    console = Console(highlight=False, soft_wrap=True)
    number = verdict.exercise.partition("-")[0].lstrip("0")
    console.print(Styled(f"{number}  {verdict.title.of(language)}", style="bold"))
    skipped = 0
    for outcome in verdict.outcomes:
        if outcome.status == PASSED:
            console.print(Styled(f"   ✓ {outcome.title.of(language)}", style="green"))
        elif outcome.status in (FAILED, ERROR):
            console.print(Styled(f"   ✗ {outcome.title.of(language)}", style="red"))
        else:
            skipped += 1
    if verdict.status == PASSED:
        console.print(f"   {WORDS[PASSED].of(language)}")
        return
    if skipped and verdict.status != NOT_ATTEMPTED:
        console.print(Styled(f"   {WORDS['not run'].of(language).format(skipped)}", style="dim"))
    for line in message_of(verdict, language).splitlines():
        console.print(f"   {printable(line)}", markup=False)
    printed = verdict.printed.splitlines() if verdict.status != NOT_ATTEMPTED else []
    for line in printed[:PRINTED] + ["…"] * (len(printed) > PRINTED):
        console.print(Styled(f"   │ {printable(line)}", style="dim"))
    hint = _command("hint", number, language, folder)
    console.print(Styled(f"   {WORDS['hint'].of(language).format(hint)}", style="dim"))


@exercises.command("watch")
def _watch(
    which: One, folder: Folder = Path(), seed: Seed = 0, *, language: LanguageOption
) -> None:
    """Check an exercise again whenever you save it. It never goes on by itself."""
    exercise = _one(which, language)
    try:
        file = file_of(folder, exercise)
    except WorkbenchError as error:
        fail(error.says.of(language))
    typer.echo(WORDS["watching"].of(language).format(file))
    seen = None
    try:
        while True:
            saved = file.stat().st_mtime_ns if file.exists() else None
            if saved is not None and saved != seen:
                seen = saved
                verdict = _grade(exercise, file, folder, seed)
                typer.echo(f"\n──── {datetime.now():%H:%M:%S} " + "─" * 40)
                show(verdict, language, folder)
            time.sleep(0.3)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


@exercises.command("hint")
def _hint(
    which: One,
    folder: Folder = Path(),
    level: Annotated[
        int | None,
        typer.Option(
            "--level", min=1, max=4, help="1 what, 2 where, 3 which mistake, 4 an example."
        ),
    ] = None,
    *,
    language: LanguageOption,
) -> None:
    """Give the next hint on the last check: what, where, which mistake, a worked example."""
    exercise = _one(which, language)
    progress = read_progress(folder)
    verdict = last_verdict(progress, exercise.name)
    check_it = _command("check", exercise.number, language, folder)
    if verdict is None:
        try:
            file_of(folder, exercise)
        except WorkbenchError as error:
            fail(error.says.of(language))
        fail(WORDS["first"].of(language).format(check_it), status=1)
    if changed(folder, exercise, progress):
        typer.echo(WORDS["old"].of(language).format(check_it))
    if verdict.status == PASSED:
        typer.echo(WORDS["solved"].of(language))
        return
    given = level or min(hint_given(progress, exercise.name) + 1, 4)
    typer.echo(f"{given}/4  {hint_of(exercise, verdict, given, language)}")
    if given == 4:
        typer.echo(WORDS["last"].of(language))
    with suppress(OSError):
        note_hint(folder, exercise, given)


RIDDLE = re.compile(r"^(?!.*its dtype).*\b(entry \[.*\]|it) is ([-+]?inf|NaN|[-+]?\d)")
"""Of messages: a wrong number, which does not say by itself where it comes from."""


def hint_of(exercise: Exercise, verdict: Verdict, level: int, language: str) -> str:
    """A hint: what is not right, where, which mistake it is, or a worked example."""
    bad = verdict.failed
    if level == 1 or (bad is None and level < 4):
        what = bad.title.of(language) if bad else verdict.title.of(language)
        return WORDS["not so" if bad else "begin"].of(language).format(what)
    said = [printable(line) for line in said_of(bad, language).splitlines()] if bad else []
    if level == 2:
        return "\n".join([*said, *verdict.where.of(language).splitlines()])
    gap = "" if language == "zh" else " "
    told = f"{verdict.says.of(language)}{gap}{verdict.hint.of(language)}".strip()
    if level == 3:
        riddle = bad is not None and RIDDLE.search(bad.message.en)
        return told or (WORDS["unknown"].of(language) if riddle else "\n".join(said))
    page = exercise.folder / ("README.zh-CN.md" if language == "zh" else "README.md")
    if exercise.worked is None:
        return page.read_text(encoding="utf-8")
    return "\n\n".join(filter(None, (told, exercise.worked(exercise.solution(), language))))


@exercises.command("reset")
def _reset(which: Which, folder: Folder = Path(), *, language: LanguageOption) -> None:
    """Write the stub again; what you wrote is kept beside it."""
    for exercise in _named(which, language):
        try:
            kept = reset(folder, exercise)
        except OSError as error:
            fail(str(error))
        typer.echo(f"{exercise.name}: {WORDS['again'].of(language)}")
        if kept is not None:
            typer.echo(WORDS["kept"].of(language).format(kept))


@exercises.command("verify")
def _verify(
    which: Which = "all",
    exercises_in: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="Exercises of your own, not those that come along."
        ),
    ] = None,
) -> None:
    """For authors: the reference passes, the stub fails, each mistake fails under its own name."""
    try:
        folder = exercises_in or shipped_folder()
        known = [Exercise(Text("", ""), (), folder=place) for place in folders_in(folder)]
        if not known:
            fail(f"{folder} has no exercises: folders that are named 01-name, 02-name and so on")
        chosen = named(which, known)
    except WorkbenchError as error:
        fail(str(error))
    bad = total = 0
    for exercise, (count, problems) in zip(chosen, _verified(chosen), strict=True):
        twins = [e.name for e in known if e.number == exercise.number and e is not exercise]
        problems = [*[f"{name} has the same number" for name in twins], *problems]
        bad += bool(problems)
        total += count or 0
        told = "not read" if count is None else f"{count} mistakes"
        typer.echo(f"{exercise.name}: {told}, {'WRONG' if problems else 'ok'}")
        for problem in problems:
            typer.echo(f"  {printable(problem)}")
    strays = {place.parent.name for place in folder.glob("*/checks.py")} - {e.name for e in known}
    for name in sorted(strays):
        typer.echo(f"{printable(name)}: not read, WRONG\n  its name must begin as in 01-name")
    typer.echo(
        f"{len(chosen) - bad} of {len(chosen)} exercises are right; {total} mistakes have names."
    )
    raise typer.Exit(int(bad > 0 or bool(strays)))


def _verified(chosen: Sequence[Exercise]) -> Iterator[tuple[int | None, list[str]]]:
    """What came of each, in order; several at a time."""
    folders = [exercise.folder.resolve() for exercise in chosen]
    try:
        with Workers(os.cpu_count() or 1) as workers:
            yield from workers.map(verify_folder, folders)
    except BrokenExecutor:
        fail("the code of one of them ended the process that verifies it; verify them one by one")


def _known(language: Language) -> list[Exercise]:
    try:
        return shipped()
    except WorkbenchError as error:
        fail(error.says.of(language))


def _one(which: str, language: Language) -> Exercise:
    (exercise, *more) = _named(which, language)
    if more:
        fail(WORDS["one"].of(language).format(f"{exercise.number} … {more[-1].number}"))
    return exercise


def _named(which: str, language: Language) -> list[Exercise]:
    try:
        return named(which, _known(language))
    except WorkbenchError as error:
        fail(error.says.of(language))
