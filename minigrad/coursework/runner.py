"""Runs a student's file in a process of its own, with limits, and reads what was observed there.

The process gets no environment of ours, a time for every observation, an amount of memory and of
output; it is ended with whatever it started. What a system cannot limit is told.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from minigrad.coursework.exercise import Exercise, Observation, observations, quiet
from minigrad.coursework.values import Raised, decode, decode_all, encode_all

MEMORY = 2 << 30
"""Bytes of address space. NumPy and its BLAS map some hundreds of megabytes."""

OUTPUT = 1 << 24
"""Bytes that a student's code may print; what comes after ends it."""

SHOWN = 4000
"""Characters of it that are kept."""

RESULTS = 1 << 24
"""Bytes of all observations of an answer. Those of the exercises take less than a megabyte."""

PATIENCE = 6
"""How many times the seconds of one observation all of them may take together."""

START = 60.0
"""Seconds for Python, NumPy and the exercise to load, before anything of the student's runs."""


@dataclass
class Run:
    """What came of running a file: observations by check and seed, and how it ended."""

    observed: dict[tuple[str, int], Observation | Raised] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    ready: bool = False  # whether the student's file was begun with
    loading: Raised | None = None  # the error with which it did not load
    ended: str = ""  # why not all was observed: "time 10", "output", "unreadable", "exit 0"
    printed: str = ""


def run(
    exercise: Exercise, file: Path, *, seed: int = 0, heard: Callable[[Run], None] | None = None
) -> Run:
    """Observe a student's file. Whatever it does, this returns, and nothing of it is left.

    Args: `heard` is called with what there is after each check.
    """
    found = Run()
    with (
        _folder() as folder,
        _process(exercise, file, seed, folder) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        lines: queue.Queue[bytes | None] = queue.Queue()
        printed = _Printed(process.stderr, process)
        _thread(_read, process.stdout, lines)
        _thread(printed.read)
        found.ended = _follow(found, exercise, lines, printed, heard)
        with suppress(subprocess.TimeoutExpired):
            process.wait(1 if found.ended in ("", "exit") else 0)
        if found.ended == "exit":
            code = process.poll()
            found.ended = f"exit {code}" if code is not None else "exit"
        found.printed = printed.text()
    return found


def _follow(
    found: Run,
    exercise: Exercise,
    lines: queue.Queue[bytes | None],
    printed: _Printed,
    heard: Callable[[Run], None] | None,
) -> str:
    """Take lines until the end; returns why there are no more, or "" if all have come."""
    left = PATIENCE * exercise.seconds
    while len(found.observed) < exercise.observations:
        begun = time.monotonic()
        limit = min(exercise.seconds, left) if found.ready else START
        try:
            line = lines.get(timeout=max(limit, 0.0))
        except queue.Empty:
            return f"time {(exercise.seconds if limit < left else PATIENCE * exercise.seconds):g}"
        left -= time.monotonic() - begun if found.ready else 0.0
        if printed.full:
            return "output"
        if line is None:
            return "exit"
        try:
            _take(found, exercise, json.loads(line), time.monotonic() - begun)
        except Exception:  # whatever was put into the channel
            return "unreadable"
        if found.loading is not None:
            break
        if heard is not None and found.observed and not len(found.observed) % exercise.seeds:
            heard(found)
    return ""


def _take(found: Run, exercise: Exercise, told: dict[str, Any], seconds: float) -> None:
    """Take one line. Errors: any, if it is none of those that `child` writes."""
    if not found.ready:
        found.ready = True
        return
    if "check" not in told:
        found.loading = _as_error(told["error"])
        return
    key = str(told["check"]), int(told["seed"])
    names = [check.name for check in exercise.checks]
    done, seeds = len(found.observed), exercise.seeds
    if key != (names[done // seeds], done % seeds):
        raise ValueError(f"the observation {key} is not the next one")
    found.seconds[key[0]] = found.seconds.get(key[0], 0.0) + seconds
    error = _as_error(told["error"]) if "error" in told else None
    found.observed[key] = error or decode_all(told["observed"])


def _as_error(told: Any) -> Raised:
    error = decode(told)
    if not isinstance(error, Raised):
        raise ValueError("this is no error")
    return error


def observe_here(exercise: Exercise, module: Any, *, seed: int = 0) -> Run:
    """The same of a module that can be trusted, such as a reference, in this process."""
    found = Run()
    with quiet():
        for seen in observations(exercise, module, seed):
            found.observed[seen.check, seen.offset] = (
                seen.observed
                if isinstance(seen.observed, Raised)
                else decode_all(encode_all(seen.observed))
            )
    return found


# ---------------------------------------------------------------------------------------- processes


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder to work in, which goes again."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="minigrad-")))
    try:
        yield folder
    finally:
        _delete(folder)


def _delete(folder: Path) -> None:
    """With all that is in it, were it closed to us or deeper than Python recurses."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            with suppress(OSError):  # where there are no such commands
                subprocess.run([*command, str(folder)], capture_output=True, check=False)


@contextmanager
def _process(
    exercise: Exercise, file: Path, seed: int, folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-I", "-X", "utf8", str(Path(__file__).with_name("child.py"))]
    command += [str(root), str(exercise.folder.resolve()), str(file.resolve()), str(seed)]
    options: dict[str, Any] = {}
    if os.name == "posix":
        seconds = int(START + exercise.seconds * exercise.observations)
        options = {"start_new_session": True, "preexec_fn": partial(_limit, seconds)}
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
        _end(process, folder)


def _environment(folder: Path) -> dict[str, str]:
    """What a process cannot do without, and nothing of ours that might be secret."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**kept, **one, "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}


def _limit(seconds: int) -> None:
    """In the new process, before Python starts there. Only POSIX has this."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 24, 1 << 24))


def _end(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Ends the process with all that it started."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for _ in range(10):  # one may start another while it is looked for
            left = list(_started_in(str(folder)))
            for pid in left:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                break
    with suppress(OSError):
        process.kill()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            _thread(stream.close)  # a grandchild may hold the other end
    process.wait()


def _started_in(folder: str) -> Iterator[int]:
    """Processes that are in a folder or began there, whatever session. Only Linux tells."""
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is somebody else's
            here = os.readlink(place / "cwd").startswith(folder)
            if here or f"TMPDIR={folder}".encode() in (place / "environ").read_bytes():
                yield int(place.name)


def _thread(target: Any, *args: Any) -> None:
    threading.Thread(target=target, args=args, daemon=True).start()


def _read(stream: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    left = RESULTS
    with suppress(OSError, ValueError):
        while line := stream.readline(left + 1):
            left -= len(line)
            lines.put(line if left >= 0 else b"")  # the end of a line that nobody can read
            if left < 0:
                return
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
