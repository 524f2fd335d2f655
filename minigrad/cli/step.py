"""`minigrad step`: run a script and step through one of its backward passes.

Reads the options, runs the script, and at the backward that is meant opens the debugger, or prints
the transcript, or has the page written. What the debugger does is told in
`minigrad.stepper.debugger`, what stands on the page in `viz.step_page`.
"""

import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from minigrad.cli import Language, LanguageOption, fail, printable
from minigrad.cli.examples import lesson_named, run_lesson
from minigrad.cli.script import Left, imports_of, run_script, too_late
from minigrad.stepper import BackwardSteps, Quit
from minigrad.stepper.debugger import is_cut
from minigrad.stepper.watching import Debugging, NestedError

TEXTS = {
    Language.EN: {"quit": "backward did not run", "wrote": "wrote {}"},
    Language.ZH: {"quit": "没有执行 backward", "wrote": "已写入 {}"},
}


class Keep(StrEnum):
    """How much of every array is kept."""

    ALL = "all"
    SUMMARY = "summary"


Show = Callable[[BackwardSteps], None]


class UnloggedError(Exception):
    """No log of a backward could be made."""


class Stepping(Debugging):
    """Opens the debugger at the N-th backward, or shows its log; all others run as they would.

    What went wrong in that, and how the user left, is told when the script has ended. That is at
    once where there is no use in going on.
    """

    def __init__(self, at: int, show: Show | None, **options: Any) -> None:
        super().__init__(**options)
        self.at = at
        self.show = show
        self.backwards = 0
        self.end: BaseException | None = None  # what ended the script, if it was not the script
        self.problem = ""
        self.diagnosis: list[str] = []  # of a rule that is wrong

    def recorded(self, op: Any, inputs: Any, options: dict[str, Any], result: Any) -> None:
        """Keep what `trace()` keeps, as long as it can still be needed."""
        if self.backwards < self.at:
            super().recorded(op, inputs, options, result)

    def began(self, root: Any, gradient: Any) -> None:
        """Number it, and step through the one that is meant."""
        self.refuse_within_log()
        if os.getpid() != self.process:
            return
        self.backwards += 1
        if self.backwards != self.at:
            return
        try:
            self.step_through(root, gradient)
        except (Quit, MemoryError, OSError, KeyboardInterrupt) as end:
            self.end = end.with_traceback(None)
            raise Left from None
        except (NestedError, UnloggedError) as error:
            self.problem = str(error)

    def logged(self, *given: Any) -> Any:
        """The log; what goes wrong is told at the end, since backward will raise it too."""
        try:
            return super().logged(*given)
        except (NestedError, MemoryError):
            raise
        except Exception as error:
            raise UnloggedError(f"this backward cannot be stepped through: {error}") from error

    def opened(self, steps: BackwardSteps, variables: Any, called: str, notices: list[str]) -> None:
        """Show the log; one that a wrong rule has cut off is for the debugger only."""
        self.diagnosis = notices if is_cut(steps) else []
        if self.show is None:
            super().opened(steps, variables, called, notices)
            return
        for line in notices:
            typer.echo(line, err=True)
        if self.diagnosis:
            raise Left
        self.show(steps)


def step(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE.py]", help="The script to run.")
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="What the script finds in sys.argv; options of the script come after --."
        ),
    ] = None,
    *,
    example: Annotated[
        str | None,
        typer.Option("--example", metavar="LESSON", help="Step through a lesson instead."),
    ] = None,
    at: Annotated[
        int, typer.Option("--at", min=1, help="Stop at the N-th backward; others just run.")
    ] = 1,
    check: Annotated[
        bool, typer.Option(help="Hold every contribution against finite differences.")
    ] = True,
    keep: Annotated[
        Keep, typer.Option(help="Keep all entries, or of large graphs only norms and ranges.")
    ] = Keep.ALL,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page instead of asking for commands."),
    ] = None,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Print all events instead.")
    ] = False,
    language: LanguageOption,
) -> None:
    """Run a script and go through a backward pass of it, forwards and backwards.

    The debugger opens before that backward runs; h lists its commands, which may also come through
    a pipe.
    """
    if (file is None) == (example is None):
        fail("give a script, FILE.py, or --example NAME of a lesson")
    if html is not None and transcript:
        fail("give --html FILE or --transcript, not both")
    stepping = Stepping(
        at,
        _printing(language) if transcript else None if html is None else _writing(html, language),
        check=check,
        keep=keep.value,
        language=language.value,
        stdin=sys.stdin,  # of now, whatever the script makes of them
        stdout=sys.stdout,
    )
    path = lesson_named(example) if example is not None else Path(str(file))
    try:
        if example is None:
            run_script(path, arguments or [], stepping)
        else:
            run_lesson(path, language, stepping)
    except Left:
        pass
    _finish(path, stepping, language)


def _printing(language: Language) -> Show:
    out = sys.stdout
    return lambda steps: typer.echo(steps.transcript(language.value), file=out)


def _writing(html: Path, language: Language) -> Show:
    """Writes the page to where the path leads from here, wherever the script goes."""
    from viz import DrawingError, step_page

    target, out, modules = os.path.abspath(html), sys.stdout, dict(sys.modules)

    def write(steps: BackwardSteps) -> None:
        try:
            with imports_of(modules):  # a script may have a viz.py of its own
                step_page(steps, target, language=language.value)
        except DrawingError as error:
            raise OSError(str(error)) from None
        typer.echo(printable(TEXTS[language]["wrote"].format(html)), file=out)

    return write


def _finish(path: Path, stepping: Stepping, language: Language) -> None:
    """How the command ends when the script has ended without a fault of its own."""
    end, count = stepping.end, stepping.backwards
    if isinstance(end, Quit):
        typer.echo(TEXTS[language]["quit"])
    elif isinstance(end, KeyboardInterrupt):
        raise typer.Exit(130)
    elif isinstance(end, BrokenPipeError):
        raise end
    elif end is not None:
        fail(str(end))
    elif stepping.problem:
        fail(stepping.problem)
    elif count < stepping.at:
        fail(
            f"{path} {too_late(count) if count else 'calls backward() nowhere in its main thread'}"
        )
    if stepping.diagnosis:
        raise typer.Exit(1)
