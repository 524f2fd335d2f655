"""Runs a student's file in a process of its own, with limits, and reads what was observed there.

The process gets no environment of ours, a time for every observation, an amount of memory and of
output; it is ended with whatever it started. What a system cannot limit is told.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from minigrad.coursework.child import error_as_data
from minigrad.coursework.exercise import Exercise, Observation, observations
from minigrad.coursework.values import decode_all, encode_all, readable

MEMORY = 2 << 30
"""Bytes of address space. NumPy and its BLAS map some hundreds of megabytes."""

OUTPUT = 1 << 20
"""Bytes that a student's code may print; what comes after ends it."""

SHOWN = 4000
"""Characters of it that are kept."""

LINE = 1 << 26
"""Bytes of one line of observations."""

START = 60.0
"""Seconds for Python, NumPy and the exercise to load, before anything of the student's runs."""


@dataclass
class Run:
    """What came of running a file: observations and errors by check and seed, and how it ended."""

    observed: dict[tuple[str, int], Observation] = field(default_factory=dict)
    errors: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    loading: dict[str, Any] | None = None  # the error with which the file did not load
    ended: str = ""  # why not everything was observed: "time", "output", "exit 0", "harness: ..."
    printed: str = ""


def run(exercise: Exercise, file: Path, *, seed: int = 0) -> Run:
    """Observe a student's file. Whatever it does, this returns, and nothing of it is left."""
    found = Run()
    with (
        tempfile.TemporaryDirectory(prefix="minigrad-", ignore_cleanup_errors=True) as folder,
        _process(exercise, file, seed, Path(folder)) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        lines: queue.Queue[bytes | None] = queue.Queue()
        printed = _Printed(process.stderr, process)
        _thread(_read, process.stdout, lines)
        _thread(printed.read)
        found.ended = _follow(found, exercise, lines, printed)
        if found.ended in ("", "exit"):
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)
        if found.ended == "exit":
            code = process.poll()
            found.ended = f"exit {code}" if code is not None else "exit"
        found.printed = printed.text()
    return found


def _follow(
    found: Run, exercise: Exercise, lines: queue.Queue[bytes | None], printed: _Printed
) -> str:
    """Take lines until the end; returns why there are no more, or "" if all have come."""
    limit, end = START, time.monotonic() + START + exercise.seconds * exercise.observations
    while True:
        if time.monotonic() > end:
            return "time"
        try:
            line = lines.get(timeout=limit)
        except queue.Empty:
            return "time" if limit != START else "harness: the process did not start in time"
        if printed.full:
            return "output"
        if line is None:
            return "exit"
        try:
            ended = _heard(found, json.loads(line))
        except Exception as error:  # whatever was put into the channel
            return f"harness: an observation could not be read ({type(error).__name__})"
        if ended:
            return ""
        limit = exercise.seconds


def _heard(found: Run, told: dict[str, Any]) -> bool:
    """Take one line; returns whether it was the last."""
    if "check" in told:
        _take(found, told)
    elif told.get("loaded") is False:
        found.loading = _error(told["error"])
    return bool(told.get("done")) or found.loading is not None


def _take(found: Run, told: dict[str, Any]) -> None:
    key = str(told["check"]), int(told["seed"])
    found.seconds[key[0]] = found.seconds.get(key[0], 0.0) + float(told.get("seconds", 0.0))
    if "error" in told:
        found.errors[key] = _error(told["error"])
        return
    found.observed[key] = decode_all(told["observed"])


def _error(told: Mapping[str, Any]) -> dict[str, Any]:
    line = told.get("line")
    words = {name: readable(told.get(name, "")) for name in ("kind", "text")}
    return {**words, "line": line if isinstance(line, int) else None}


def observe_here(exercise: Exercise, module: Any, file: str, *, seed: int = 0) -> Run:
    """The same of a module that can be trusted, such as a reference, in this process."""
    found = Run()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seen in observations(exercise, module, seed):
            if seen.error is not None:
                found.errors[seen.check, seen.offset] = error_as_data(seen.error, file)
            else:
                found.observed[seen.check, seen.offset] = decode_all(
                    encode_all(seen.observed or {})
                )
    return found


# ---------------------------------------------------------------------------------------- processes


@contextmanager
def _process(
    exercise: Exercise, file: Path, seed: int, folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-I", "-X", "utf8", str(Path(__file__).with_name("child.py"))]
    command += [str(root), str(exercise.folder.resolve()), str(file.resolve()), str(seed)]
    options: dict[str, Any] = {}
    if os.name == "posix":
        options = {"start_new_session": True, "preexec_fn": _limit}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )
    try:
        yield process
    finally:
        _end(process)


def _environment(folder: Path) -> dict[str, str]:
    """What a process cannot do without, and nothing of ours that might be secret."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**kept, **one, "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}


def _limit() -> None:
    """In the new process, before Python starts there. Only POSIX has this."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 24, 1 << 24))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process with all that it started."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(OSError):
        process.kill()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            _thread(stream.close)  # a grandchild may hold the other end
    process.wait()


def _thread(target: Any, *args: Any) -> None:
    threading.Thread(target=target, args=args, daemon=True).start()


def _read(stream: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    with suppress(OSError, ValueError):
        while line := stream.readline(LINE):
            lines.put(line)
    lines.put(None)


class _Printed:
    """What the student's code prints: the beginning is kept, too much ends the process."""

    def __init__(self, stream: IO[bytes], process: subprocess.Popen[bytes]) -> None:
        self.stream = stream
        self.process = process
        self.kept = b""
        self.count = 0
        self.full = False

    def read(self) -> None:
        """Read until the end, or until it is too much."""
        with suppress(OSError, ValueError):
            while part := self.stream.read1(1 << 16):  # type: ignore[attr-defined]
                self.kept += part[: max(0, SHOWN - len(self.kept))]
                self.count += len(part)
                if self.count > OUTPUT:
                    self.full = True
                    self.process.kill()
                    return

    def text(self) -> str:
        """The beginning of it."""
        time.sleep(0.01)  # what was printed last may be on its way
        return self.kept.decode("utf-8", "replace")
