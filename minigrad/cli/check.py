"""`minigrad check`: hold every gradient rule against finite differences, and say which are wrong.

Checks all of minigrad's primitives, or those that a file of the user's own defines. What is checked
is decided in `minigrad.check`; here its results become a table, a summary and an exit status.
"""

import re
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
    unchecked: str
    none: str
    summary: str
    skipped: str
    example: str


TEXTS = {
    Language.EN: Texts(
        checking="checking",
        columns=("primitive", "calls", "gradient", "2nd derivative"),
        caption="gradient, 2nd derivative: the largest relative error against differences",
        right="ok",
        wrong="WRONG",
        unchecked="not checked",
        none="none",
        summary="{right} of {count} primitives are right.",
        skipped="{count} could not be checked.",
        example="It could not be checked: it has no example of a call. Add one to @primitive(…), "
        "such as example=lambda rng: (rng.normal(size=(2, 3)),) for one input.",
    ),
    Language.ZH: Texts(
        checking="检查中",
        columns=("算子", "调用", "梯度", "二阶导数"),
        caption="梯度、二阶导数：与差分相比的最大相对误差",
        right="正确",
        wrong="有误",
        unchecked="未检查",
        none="无",
        summary="{count} 个算子中有 {right} 个正确。",
        skipped="{count} 个无法检查。",
        example="无法检查：它没有调用示例。请在 @primitive(…) 中加上示例，只有一个输入时例如 "
        "example=lambda rng: (rng.normal(size=(2, 3)),)。",
    ),
}


CALL = r", for (.*): gradcheck: failed"
IN_CHINESE = {
    r"its gradient is wrong" + CALL: r"调用 \1 的梯度有误：",
    r"used twice, it is wrong" + CALL: r"调用 \1 的结果使用两次时，梯度有误：",
    r"broadcast, it is wrong" + CALL: r"输入被广播时，调用 \1 的梯度有误：",
    r"its second derivative is wrong" + CALL: r"调用 \1 的二阶导数有误：",
    r"of one tensor, it is wrong" + CALL: r"各输入是同一个张量时，调用 \1 的梯度有误：",
    r"of one tensor, its second derivative is wrong"
    + CALL: r"各输入是同一个张量时，调用 \1 的二阶导数有误：",
    r": gradient wrong in (\d+) of (\d+) entries": r"：\2 个元素中有 \1 个的梯度有误",
    r": right; the largest error is at (its value|\[.*?\]): ": r"：正确；误差最大的是 \1：",
    r"; the worst is (its value|\[.*?\]): ": r"；误差最大的是 \1：",
    r"its value": "它的值",
    r", only where an index names an entry more than once": "，都在下标重复出现之处",
    r", all of them": "",
    r", exactly those with index ([\d, ]+) on axis (\d+)": r"，恰为轴 \2 上下标为 \1 的那些",
    r"([-+.\w]+) by backward, ([-+.\w]+) by differences, relative error ([-+.\w]+)": (
        r"反向传播得 \1，差分得 \2，相对误差 \3"
    ),
    r"; kink here in (\d+) entries: not differentiable": r"；有 \1 个元素在折点上，不可微",
    r"; (\d+) entries too noisy to judge within a thousandth": r"；有 \1 个元素的差分噪声过大",
    r"no gradient reached input (\d+) \(numerical (.*)\)": r"没有梯度到达输入 \1（差分得 \2）",
    r" ?\(as long as axis (\d+)\) ?": r"（轴 \1 的长度）",
    r"\binput (\d+)": r"输入 \1",
    r"nothing of its gradient stands out of the noise in its examples": "示例中的梯度都不超出噪声",
    r"it has no example, so nothing of it can be checked": "它没有调用示例，无法检查",
    r"its example has no floating-point input that a rule is for": "示例中没有带规则的浮点输入",
    r"on tensors it returned something that is not recorded": "作用于张量时，返回值没有被记录",
    r"its values on arrays and on tensors differ": "作用于数组与张量时，结果不同",
    r"it changes its input": "它修改了输入",
    r"its rule changes the upstream gradient": "规则修改了上游梯度",
    r"its forward and its composed form differ": "前向与其复合形式的结果不同",
    r"on float32 its result is (\S+)": r"输入为 float32 时，结果是 \1",
    r"on float32 its gradient is (\S+) of shape (.*)": r"输入为 float32 时，梯度是 \1，形状 \2",
}
"""What the checks say, by its pattern. Errors of Python stay as they are."""


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

    The exit status is 1 if a rule is wrong, and 2 if something cannot be checked.
    """
    if file is None and (draw is not None or step is not None):
        fail("--draw and --step show a primitive of yours: give FILE.py")
    try:
        ops = load_primitives(file) if file else [op for _, op in sorted(PRIMITIVES.items())]
    except BadFileError as error:
        fail(str(error))
    results = _run(ops, TEXTS[language])
    _report(ops, results, language)
    pairs = list(zip(ops, results, strict=True))
    wrong = [(op, result) for op, result in pairs if op.example is not None and not result.ok]
    if draw is not None or step is not None:
        op, result = (wrong or [pair for pair in pairs if pair[1].ok] or pairs)[0]
        _show(op, draw, step, language, _title(op, result, language) if wrong else "")
    raise typer.Exit(1 if wrong else 0 if all(result.ok for result in results) else 2)


def _title(op: Primitive, result: CheckResult, language: Language) -> str:
    """That a primitive is wrong, and how: the mistake by its name if it has one."""
    if result.diagnosis is not None:
        how = _in(language, result.diagnosis.sentence(language.value))
    else:
        how = _problem(result, language).splitlines()[0].partition(", for ")[0].rstrip(":：")
    return ("：" if language is Language.ZH else ": ").join([str(op), TEXTS[language].wrong, how])


def _problem(result: CheckResult, language: Language) -> str:
    """All that was found, in one language."""
    problem = result.problem
    if result.diagnosis is not None:
        problem = problem.replace(result.diagnosis.told(), result.diagnosis.told(language.value))
    return _in(language, problem)


def _in(language: Language, said: str) -> str:
    for pattern, chinese in IN_CHINESE.items() if language is Language.ZH else ():
        said = re.sub(pattern, chinese, said)
    return said


def _show(
    op: Primitive, drawing: Path | None, page: Path | None, language: Language, title: str
) -> None:
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
            step_page(_steps(out, upstream), page, title=title, language=language.value)
        if drawing is not None:
            out.backward(upstream, retain_graph=True)
            draw_graph(out, title=title, language=language.value).write(drawing)
    except (DrawingError, OSError, BrokenError) as error:
        fail(_in(language, str(error)))
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


def _report(ops: Sequence[Primitive], results: Sequence[CheckResult], language: Language) -> None:
    texts, console = TEXTS[language], Console(highlight=False)
    console.print(_table(ops, results, texts))
    console.print(f"\n{texts.caption}", style="dim")
    skipped = 0
    for op, result in zip(ops, results, strict=True):
        if not result.ok:
            skipped += op.example is None
            said = texts.example if op.example is None else _problem(result, language)
            console.print(Text(f"\n{result.name}", style="bold red"))
            console.print(_lines(said), soft_wrap=True)
    right = sum(result.ok for result in results)
    said = texts.summary.format(right=right, count=len(results))
    if skipped:
        said += ("" if language is Language.ZH else " ") + texts.skipped.format(count=skipped)
    good = right == len(results)
    console.print(said if good else f"\n{said}", style="green" if good else "red")


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
    if op.example is None:
        return Text(texts.unchecked, style="yellow")
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
