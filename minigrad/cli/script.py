"""Running a script of the user's as Python itself would, with somebody watching what it computes.

The commands that draw and step share this. What is watched for is theirs to say.
"""

import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from minigrad import modes
from minigrad.cli import fail


def run_script(path: Path, arguments: Sequence[str], watcher: modes.Watcher) -> dict[str, Any]:
    """Run a script as `python FILE` does, and return the variables that it leaves.

    Args:
        path: the file; modules beside it can be imported.
        arguments: what it finds in `sys.argv` after its own name.
        watcher: told of what is recorded, and of every backward.

    Raises:
        typer.Exit: there is no such file; or the script failed, and its own traceback was printed;
            or it ended itself with a status other than 0.
    """
    if not path.is_file():
        fail(f"there is no file {str(path)!r}")
    argv, import_path = sys.argv[:], sys.path[:]
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        with modes.watch(watcher):
            return runpy.run_path(str(path.resolve()), run_name="__main__")
    except SystemExit as end:
        _end_with(end.code)
        return {}
    except BaseException as error:  # whatever it is, it is the script's
        _print_traceback(error, path.resolve())
        raise typer.Exit(130 if isinstance(error, KeyboardInterrupt) else 1) from None
    finally:
        sys.argv[:], sys.path[:] = argv, import_path


def _end_with(code: Any) -> None:
    """Leave as `sys.exit(code)` makes Python leave; a status of 0 is no reason to."""
    if code in (None, 0):
        return
    if not isinstance(code, int):
        typer.echo(str(code), err=True)
    raise typer.Exit(code if isinstance(code, int) else 1)


def _print_traceback(error: BaseException, script: Path) -> None:
    """What Python would have printed: no frame of ours stands above the script's own."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != str(script):
        frames = frames.tb_next
    traceback.print_exception(error.with_traceback(frames))
