"""The student's process: loads their file, makes the observations, and tells them line by line.

It decides nothing. What it prints on its first output are observations as JSON; what the student's
code prints goes to the other. `runner` starts it, and reads.

As a command: `python child.py ROOT FOLDER FILE SEED`, where minigrad is found in ROOT.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from importlib.util import decode_source
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
"""Of prctl(2): the signal that a process gets when the thread that started it ends."""


def main(root: str, folder: str, file: str, seed: int) -> None:
    """Observe an exercise, check by check and seed by seed."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # print() of the student's code
    sys.path.insert(0, root)  # the same minigrad as the grader's
    from minigrad.coursework.exercise import load, module_of, observations, raised
    from minigrad.coursework.values import Raised, encode, encode_all

    sys.path.remove(root)

    def tell(**line: Any) -> None:
        out.write(json.dumps(line) + "\n")
        out.flush()

    exercise = load(Path(folder))
    if sys.platform == "linux":
        _confine()
    warnings.simplefilter("ignore", RuntimeWarning)  # of checks that have not failed
    tell()
    code = ""
    try:
        code = _text_of(Path(file))
        module = module_of(code, file)
    except BaseException as error:  # SystemExit too
        tell(error=encode(raised(error, file, code)))
        return
    for seen in observations(exercise, module, seed):
        what = seen.observed
        told = (
            {"error": encode(what)} if isinstance(what, Raised) else {"observed": encode_all(what)}
        )
        tell(check=seen.check, seed=seen.offset, **told)


def _text_of(file: Path) -> str:
    try:
        return decode_source(file.read_bytes())
    except (SyntaxError, UnicodeDecodeError):
        raise ValueError("it is not written in UTF-8; save it in that encoding") from None


def _confine() -> None:
    """No processes of its own from here on (but for root's), and none left if the grader ends."""
    import resource

    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    end_with_parent()


def end_with_parent() -> None:
    """The process ends with the one that began it, were it killed. Only Linux has this."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    _, where, exercise, student, draw = sys.argv
    main(where, exercise, student, int(draw))
