"""`minigrad check`: hold every gradient rule against finite differences, and say which are wrong.

Checks all of minigrad's primitives, or those that a file of the user's own defines. What is checked
is decided in `minigrad.check`; here its results become a table, a summary and an exit status.
"""

import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

import attention  # noqa: F401 - its primitives are registered, and checked with the engine's
from minigrad.check import CheckResult, GradcheckError, check_primitives
from minigrad.check.registry import BrokenError, cases_of, defined_in, leaves_of
from minigrad.cli import Language, LanguageOption, fail, printable
from minigrad.memory import Array
from minigrad.modes import trace
from minigrad.primitive import PRIMITIVES, Primitive
from minigrad.stepper import BackwardSteps, step_backward
from minigrad.tensor import Tensor


class Texts(NamedTuple):
    """What the command says, in one language."""

    checking: str
    columns: tuple[str, str, str, str]
    caption: str
    right: str
    wrong: str
    none: str
    summary: str


TEXTS = {
    Language.EN: Texts(
        checking="checking",
        columns=("primitive", "calls", "gradient", "2nd derivative"),
        caption="gradient, 2nd derivative: the largest relative error against differences",
        right="ok",
        wrong="WRONG",
        none="none",
        summary="{right} of {count} primitives are right.",
    ),
    Language.ZH: Texts(
        checking="检查中",
        columns=("算子", "调用", "梯度", "二阶导数"),
        caption="梯度、二阶导数：与差分相比的最大相对误差",
        right="正确",
        wrong="有误",
        none="无",
        summary="{count} 个算子中有 {right} 个正确。",
    ),
}


WROTE = {Language.EN: "wrote {}, of {}", Language.ZH: "已写入 {}（{}）"}


class BadFileError(Exception):
    """A file from which no primitive could be read; the text says why."""


def load_primitives(path: Path) -> list[Primitive]:
    """Run a Python file and return the primitives that it defines, in order.

    Args:
        path: the file; modules beside it can be imported, as with `python FILE`.

    Raises:
        BadFileError: there is no such file, it does not run, or it defines no primitive.
    """
    if not path.is_file():
        raise BadFileError(f"there is no file {str(path)!r}")
    import_path = list(sys.path)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        namespace = runpy.run_path(str(path), run_name=path.stem)
    except (Exception, SystemExit) as error:  # a user's file may raise anything
        raise BadFileError(_what_stopped(path, error)) from error
    finally:
        sys.path[:] = import_path
    found = defined_in(namespace)
    if not found:
        raise BadFileError(f"{path} defines no primitive; put @primitive(...) above a function")
    return found


def _what_stopped(path: Path, error: BaseException) -> str:
    """Say what went wrong, and at which line of the user's; a syntax error knows its own place."""
    if isinstance(error, SyntaxError):
        place, line, message = error.filename or path, error.lineno, error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        place, line, message = path, lines[-1] if lines else None, str(error)
    where = f"{place}, line {line}" if line else str(place)
    return f"{where}: {type(error).__name__}: {message}"


def check(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE.py]", help="A file whose primitives to check, in place of minigrad's."
        ),
    ] = None,
    draw: Annotated[
        Path | None,
        typer.Option("--draw", metavar="FILE", help="Draw a call of your primitive, as a picture."),
    ] = None,
    step: Annotated[
        Path | None,
        typer.Option(
            "--step", metavar="FILE", help="Write a page that steps through its backward."
        ),
    ] = None,
    *,
    language: LanguageOption,
) -> None:
    """Check every gradient rule, or those in a file of yours, by finite differences.

    The exit status is 1 if a rule is wrong, and 2 if the file cannot be used.
    """
    if file is None and (draw is not None or step is not None):
        fail("--draw and --step show a primitive of yours: give FILE.py")
    try:
        ops = load_primitives(file) if file else [op for _, op in sorted(PRIMITIVES.items())]
    except BadFileError as error:
        fail(str(error))
    results = _run(ops, TEXTS[language])
    _report(ops, results, TEXTS[language])
    if draw is not None or step is not None:
        wrong = [op for op, result in zip(ops, results, strict=True) if not result.ok]
        _show((wrong or ops)[0], draw, step, language)
    raise typer.Exit(0 if all(result.ok for result in results) else 1)


def _show(op: Primitive, drawing: Path | None, page: Path | None, language: Language) -> None:
    """The first call that the op's example makes, drawn and stepped through."""
    from viz import DrawingError, draw_graph, step_page

    rng = np.random.default_rng(0)
    try:
        case = cases_of(op, rng)[0]
        with trace():
            out = case(*leaves_of(op, case))
        code = op.forward.__code__
        out._node.line = code.co_filename, code.co_firstlineno  # the user's, not this command's
        upstream = rng.standard_normal(out.shape)
        if page is not None:
            step_page(_steps(out, upstream), page, language=language.value)
        if drawing is not None:
            out.backward(upstream, retain_graph=True)
            draw_graph(out, language=language.value).write(drawing)
    except (DrawingError, OSError, BrokenError) as error:
        fail(str(error))
    except Exception as error:  # of the user's own code
        fail(f"{op} cannot be shown: {type(error).__name__}: {error}")
    for path in (drawing, page):
        if path is not None:
            typer.echo(printable(WROTE[language].format(path, op)))


def _steps(out: Tensor, upstream: Array) -> BackwardSteps:
    """The log; of a wrong rule, up to where it is wrong."""
    try:
        return step_backward(out, upstream, check=True)
    except GradcheckError as error:
        if error.steps is None:
            raise
        cut: BackwardSteps = error.steps
        return cut


def _run(ops: Sequence[Primitive], texts: Texts) -> list[CheckResult]:
    """Check the primitives one by one; the progress bar stays out of what is piped."""
    errors = Console(stderr=True)
    progress = track(
        check_primitives(ops),
        description=texts.checking,
        total=len(ops),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    )
    return list(progress)


def _report(ops: Sequence[Primitive], results: Sequence[CheckResult], texts: Texts) -> None:
    console = Console(highlight=False)
    console.print(_table(ops, results, texts))
    console.print(f"\n{texts.caption}", style="dim")
    wrong = [result for result in results if not result.ok]
    for result in wrong:
        console.print(Text(f"\n{result.name}", style="bold red"))
        console.print(_lines(result.problem), soft_wrap=True)
        if result.diagnosis is not None and texts is TEXTS[Language.ZH]:
            console.print(_lines(result.diagnosis.told("zh")), soft_wrap=True)
    summary = texts.summary.format(right=len(results) - len(wrong), count=len(results))
    console.print(summary if not wrong else f"\n{summary}", style="red" if wrong else "green")


def _table(ops: Sequence[Primitive], results: Sequence[CheckResult], texts: Texts) -> Table:
    table = Table(box=None, pad_edge=False)
    name, *numbers = texts.columns
    table.add_column(name)
    for number in numbers:
        table.add_column(number, justify="right")
    table.add_column()
    for op, result in zip(ops, results, strict=True):
        table.add_row(
            Text(result.name),
            str(result.cases),
            f"{result.first:.0e}" if result.resolved else "–",
            _second(result, texts.none),
            _verdict(op, result, texts),
        )
    return table


def _verdict(op: Primitive, result: CheckResult, texts: Texts) -> Text:
    if not result.ok:
        return Text(texts.wrong, style="bold red")
    reason = f"  {printable(op.no_second)}" if op.no_second else ""
    return Text(texts.right, style="green").append(reason, style="dim")


def _second(result: CheckResult, none: str) -> str:
    if not result.ok:
        return "–"  # the check of a primitive stops at its first mistake
    return none if result.second is None else f"{result.second:.0e}"


def _lines(problem: str) -> Text:
    return Text("\n".join("  " + printable(line) for line in problem.splitlines()))
