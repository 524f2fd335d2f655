"""Running a script of the user's as Python itself would, with somebody watching what it computes.

The commands that draw and step share this. What is watched for is theirs to say.
"""

import contextvars
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from pkgutil import read_code
from types import CodeType, ModuleType
from typing import Any

import typer

from minigrad import modes
from minigrad.cli import fail


class Left(BaseException):
    """Raised by a watcher to end the script that it watches, which has done nothing wrong."""


def run_script(path: Path, arguments: Sequence[str], watcher: modes.Watcher) -> dict[str, Any]:
    """Run a script as `python FILE` does, and return the variables that it leaves.

    Args:
        path: the file; modules beside it can be imported.
        arguments: what it finds in `sys.argv` after its own name.
        watcher: told of what is recorded, and of every backward.

    Raises:
        typer.Exit: there is no such file; or the script failed, and its own traceback was printed;
            or it ended itself with a status other than 0.
        Left: the watcher did, and the script ended there.
    """
    if not os.path.isfile(path):
        fail(f"there is no file {str(path)!r}")
    script = os.path.abspath(path)  # a link keeps its own name, as it does for Python
    main = ModuleType("__main__")
    vars(main).update(__file__=script, __cached__=None, __builtins__=__builtins__)
    with _world_of(main, [str(path), *arguments], os.path.dirname(os.path.realpath(path))):
        try:
            # In a context of its own, so that no mode of the script's outlives it.
            contextvars.copy_context().run(_execute, main, watcher)
        except Left:
            raise
        except SystemExit as end:
            _end_with(end.code)
        except BaseException as error:  # whatever it is, it is the script's
            _show(error)
            raise typer.Exit(130 if isinstance(error, KeyboardInterrupt) else 1) from None
    return dict(vars(main))


def too_late(count: int, last: int = 0, name: str = "") -> str:
    """Say that there is no such backward, or none after `last` that the tensor takes part in."""
    until = last or count
    part = f", and {name!r} takes part in none after number {until}" if until < count else ""
    numbers = f"1 to {until}" if until > 1 else "1"
    return f"calls backward() {count} time{'s' * (count > 1)}{part}; --at is {numbers}"


def _execute(main: ModuleType, watcher: modes.Watcher) -> None:
    code = _code_of(str(main.__file__))
    main.__annotations__ = {}
    with modes.watch(watcher):
        exec(code, vars(main))


def _code_of(script: str) -> CodeType:
    with io.open_code(script) as file:
        compiled = read_code(file)
        if compiled is None:
            file.seek(0)
            compiled = compile(file.read(), script, "exec", dont_inherit=True)
    return compiled  # type: ignore[no-any-return]


@contextmanager
def _world_of(main: ModuleType, argv: list[str], folder: str) -> Iterator[None]:
    """The interpreter as a script finds it; afterwards all is as it was, whatever it did."""
    before = {name: getattr(sys, name) for name in ("argv", "path", "stdin", "stdout", "stderr")}
    path, hook, ours = sys.path[:], sys.excepthook, sys.modules["__main__"]
    hidden = _shadowed(folder)
    sys.argv, sys.excepthook = argv, sys.__excepthook__
    sys.path.insert(0, folder)
    sys.modules["__main__"] = main
    for name in hidden:
        del sys.modules[name]
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(sys, name, value)
        sys.path[:], sys.excepthook = path, hook
        sys.modules["__main__"] = ours
        sys.modules.update(hidden)


@contextmanager
def imports_of(modules: Mapping[str, ModuleType]) -> Iterator[None]:
    """While a script runs: `import` finds these modules, in whose place it may have its own."""
    theirs = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in theirs.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def _shadowed(folder: str) -> dict[str, ModuleType]:
    """Modules that this command has imported and the script would import from its own folder."""
    beside = {entry.removesuffix(".py") for entry in os.listdir(folder)}
    beside -= {"minigrad", "numpy", *sys.stdlib_module_names}
    found = {}
    for name, module in sys.modules.items():
        top = sys.modules.get(name.partition(".")[0])
        file = str(getattr(top, "__file__", None) or "")
        if name.partition(".")[0] in beside and not file.startswith(folder + os.sep):
            found[name] = module
    return found


def _end_with(code: Any) -> None:
    """Leave as `sys.exit(code)` makes Python leave; a status of 0 is no reason to."""
    if code is None or (isinstance(code, int) and code == 0):
        return
    if not isinstance(code, int):
        print(code, file=sys.stderr)
    raise typer.Exit(code if isinstance(code, int) else 1)


def _show(error: BaseException) -> None:
    """What Python would have printed: no frame of ours stands above the script's own."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    sys.excepthook(type(error), error.with_traceback(frames), frames)
