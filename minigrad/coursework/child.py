"""The student's process: loads their file, makes the observations, and tells them line by line.

It decides nothing. What it prints on its first output are observations as JSON; what the student's
code prints goes to the other. `runner` starts it, and reads.

As a command: `python child.py ROOT FOLDER FILE SEED`, where minigrad is found in ROOT.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any


def main(root: str, folder: str, file: str, seed: int) -> None:
    """Observe an exercise, check by check and seed by seed."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # print() of the student's code
    sys.path.insert(0, root)  # the same minigrad as the grader's
    from minigrad.coursework.exercise import load, module_of, observations
    from minigrad.coursework.values import encode_all

    sys.path.remove(root)

    def tell(**line: Any) -> None:
        out.write(json.dumps(line) + "\n")
        out.flush()

    exercise = load(Path(folder))
    tell(ready=True)
    try:
        module = module_of(Path(file).read_text(encoding="utf-8"), file)
    except BaseException as error:  # SystemExit too
        tell(loaded=False, error=error_as_data(error, file))
        return
    tell(loaded=True)
    for seen in observations(exercise, module, seed):
        line: dict[str, Any] = {"check": seen.check, "seed": seen.offset, "seconds": seen.seconds}
        if seen.error is not None:
            line["error"] = error_as_data(seen.error, file)
        else:
            line["observed"] = encode_all(seen.observed or {})
        tell(**line)
    tell(done=True)


def error_as_data(error: BaseException, file: str) -> dict[str, Any]:
    """An error by its kind and text, with the last line of the student's that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    if isinstance(error, SyntaxError) and error.filename == file:
        lines = [error.lineno]
    text = str(error.msg if isinstance(error, SyntaxError) else error)
    return {"kind": type(error).__name__, "text": text[:2000], "line": lines[-1] if lines else None}


if __name__ == "__main__":
    _, where, exercise, student, draw = sys.argv
    main(where, exercise, student, int(draw))
