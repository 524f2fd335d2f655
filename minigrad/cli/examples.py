"""`minigrad examples`: list the lessons, run one, or copy them out to work on.

The lessons are the files of `examples/`. They are found beside the package in a checkout, and
inside it after an installation from a wheel. What a lesson says is the lesson's own affair: it is
run as the plain Python file that it is.
"""

import ast
import contextlib
import io
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import minigrad
from minigrad import modes
from minigrad.cli import Language, LanguageOption, fail
from minigrad.cli.script import run_script
from minigrad.files import write_whole

HINTS = {
    Language.EN: "Run one: minigrad examples {}    Copy them all: minigrad examples --copy DIR",
    Language.ZH: "运行一课：minigrad examples {}    全部复制出来：minigrad examples --copy 目录",
}
COPIED = {
    Language.EN: "{} files copied. Try: {}",
    Language.ZH: "已复制 {} 个文件。试一试：{}",
}


class Example(NamedTuple):
    """A lesson: its file, and its title in each language (the first lines of its docstring)."""

    path: Path
    titles: dict[Language, str]


def examples_directory() -> Path:
    """Return the folder that holds the lessons and, in its subfolder `data`, what they read.

    Raises:
        FileNotFoundError: neither the installed package nor the checkout has them.

    Example:
        >>> (examples_directory() / "data" / "lessons.json").is_file()
        True
    """
    package = Path(minigrad.__file__).parent
    for directory in (package / "_examples", package.parent / "examples"):
        if (directory / "data").is_dir():
            return directory
    raise FileNotFoundError(f"the examples are missing from {package}; install minigrad-lab again")


def all_examples() -> list[Example]:
    """Return the lessons in the order of their numbers.

    Example:
        >>> [example.path.stem[:3] for example in all_examples()][:3]
        ['01_', '02_', '03_']
    """
    return [_read_example(path) for path in sorted(examples_directory().glob("[0-9][0-9]_*.py"))]


def _read_example(path: Path) -> Example:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem
    english, chinese = (docstring.splitlines() * 2)[:2]
    return Example(path, {Language.EN: english, Language.ZH: chinese})


def matching_examples(name: str, known: Sequence[Example]) -> list[Example]:
    """Return the lessons that a name can mean: a number, a file's name, or the start of one.

    Args:
        name: what the user typed: `2`, `02`, `02_cat_eats_fish.py` and `cat` all mean the second.
        known: the lessons to choose from.

    Example:
        >>> [example.path.stem for example in matching_examples("2", all_examples())]
        ['02_cat_eats_fish']
    """
    wanted = f"{int(name):02d}_" if name.isdecimal() else name.removesuffix(".py")
    exact = [example for example in known if example.path.stem == wanted]
    return exact or [
        example
        for example in known
        if example.path.stem.startswith(wanted) or example.path.stem[3:].startswith(wanted)
    ]


def lesson_named(name: str) -> Path:
    """Return the file of the one lesson that a name means: `cat-eats-fish` too.

    Raises:
        typer.Exit: it means none, or several.
    """
    known = all_examples()
    found = matching_examples(name.replace("-", "_"), known)
    if len(found) != 1:
        choices = ", ".join(example.path.stem for example in found or known)
        fail(f"{name!r} names {'several lessons' if found else 'no lesson'}: choose from {choices}")
    return found[0].path


def run_lesson(path: Path, language: Language, watcher: modes.Watcher) -> dict[str, Any]:
    """Run a lesson with somebody watching it, and none of what it prints; see `run_script`."""
    with contextlib.redirect_stdout(io.StringIO()):
        return run_script(path, ["--language", language], watcher)


def copy_examples(directory: Path, *, force: bool = False) -> list[Path]:
    """Copy the lessons and their data into a folder, and return the files written.

    Args:
        directory: the folder; it is made if need be.
        force: overwrite files that are already there.

    Raises:
        FileExistsError: some are there already and `force` is not set; nothing was written.
        OSError: the folder cannot be written to.
    """
    source = examples_directory()
    files = [
        path.relative_to(source)
        for path in sorted(source.rglob("*"))
        if path.is_file() and not {"__pycache__", "exercises"} & {*path.relative_to(source).parts}
    ]
    present = [name for name in files if os.path.lexists(directory / name)]
    if present and not force:
        raise FileExistsError(
            f"{str(directory)!r} already has {len(present)} of these files, such as {present[0]}; "
            "nothing was copied. Choose another folder, or add --force to overwrite them"
        )
    for name in files:
        write_whole(directory / name, (source / name).read_bytes())
    return [directory / name for name in files]


def examples(
    name: Annotated[
        str | None,
        typer.Argument(help="The lesson to run: its number, its name, or the start of its name."),
    ] = None,
    copy: Annotated[
        Path | None,
        typer.Option("--copy", metavar="DIR", help="Copy all lessons and their data into DIR."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Let --copy overwrite files that are already there.")
    ] = False,
    *,
    language: LanguageOption,
) -> None:
    """List the lessons, run one, or copy them out."""
    if name is not None and copy is not None:
        fail("give the NAME of a lesson to run or --copy DIR, not both")
    if copy is not None:
        _copy(copy, force, language)
    elif name is not None:
        _run(name, language)
    else:
        _list(language)


def _list(language: Language) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")  # a Chinese title has no spaces to wrap at
    known = all_examples()
    for example in known:
        table.add_row(Text(example.path.stem, style="bold"), Text(example.titles[language]))
    console = Console()
    console.print(table)
    console.print(f"\n{HINTS[language].format(known[0].path.stem[:2])}", highlight=False)


def _run(name: str, language: Language) -> None:
    # A lesson is run as a program of its own, so that it behaves as `python FILE` does.
    command = [sys.executable, str(lesson_named(name)), "--language", language]
    environment = os.environ | {"PYTHONIOENCODING": f"{sys.stdout.encoding}:replace"}
    status = subprocess.run(command, env=environment, check=False).returncode
    raise typer.Exit(status if status >= 0 else 128 - status)


def _copy(directory: Path, force: bool, language: Language) -> None:
    try:
        written = copy_examples(directory, force=force)
    except OSError as error:
        fail(str(error))
    first = next(path for path in written if path.suffix == ".py")
    typer.echo(COPIED[language].format(len(written), f"python {shlex.quote(str(first))}"))
