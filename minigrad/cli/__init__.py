"""The `minigrad` command: which commands there are, which language they speak, how they end.

Each command lives in a module of its own that is imported only when the command is called, so that
`minigrad --help` answers at once. Nothing is computed here, and nothing in the engine imports this.
"""

import importlib
import io
import locale
import os
import sys
from enum import StrEnum
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

import minigrad

__all__ = ["Language", "LanguageOption", "default_language", "fail", "main", "printable"]

app = typer.Typer(
    name="minigrad",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Automatic differentiation and attention in NumPy, to be read and taught from.",
)


class Language(StrEnum):
    """A language that the commands speak."""

    EN = "en"
    ZH = "zh"


def default_language() -> Language:
    """Return the language that the user's locale asks for: Chinese if it says so, else English.

    Example:
        >>> default_language() in (Language.EN, Language.ZH)
        True
    """
    variables = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    # Windows sets none of the three and calls its locale "Chinese (Simplified)_China".
    name = next(filter(None, variables), None) or locale.getlocale()[0] or ""
    return Language.ZH if name.lower().startswith(("zh", "chinese")) else Language.EN


LanguageOption = Annotated[
    Language,
    typer.Option(
        "--language",
        default_factory=default_language,
        show_default="from the locale",
        help="The language of everything that is printed.",
    ),
]


def printable(text: str) -> str:
    """Return a text of others' in which nothing steers the terminal: escapes instead of controls.

    Args:
        text: a name, a path, a message; line ends are escaped too.

    Example:
        >>> printable("猫 \\x1b[31m")
        '猫 \\\\x1b[31m'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def fail(message: str, status: int = 2) -> NoReturn:
    """End the command with one line on standard error.

    Args:
        message: what was wrong, and what to do about it.
        status: the exit status; 2 says that what the user gave could not be used.

    Raises:
        typer.Exit: always.
    """
    typer.echo(f"minigrad: {printable(message)}", err=True)
    raise typer.Exit(status)


class LazyCommand(TyperCommand):
    """A command that is known by name and help line, and imported when it is called."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Import the module named after the command, and let its function read the arguments."""
        module = importlib.import_module(f"{__name__}.{self.name}")
        real = getattr(module, str(self.name))
        if not isinstance(real, typer.Typer):  # a function that is one command
            function, real = real, typer.Typer(add_completion=False)
            real.command()(function)
        return typer.main.get_command(real).make_context(info_name, args, parent=parent, **extra)


def _register(name: str, help_line: str) -> None:
    app.command(name, cls=LazyCommand, help=help_line)(lambda: None)


_register("vanish", "Watch what happens to the gradients of attention without the 1/√d_k.")
_register("check", "Check every gradient rule, or those in a file of yours, by finite differences.")
_register("draw", "Run a script and draw its graph, with the gradients of its backward.")
_register("step", "Run a script and step through its backward pass, forwards and backwards.")
_register("exercises", "Exercises that say which mistake you made: copy out, check, hint.")
_register("grade", "Mark a class, and count the mistakes it makes.")
_register("examples", "List the lessons, run one, or copy them out.")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"minigrad {minigrad.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Give the options that stand before the name of a command."""


def main() -> None:
    """Run the command line; a character that the terminal cannot show becomes a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app()
