"""Peaks of memory, as the operating system sees them; each is measured in a new process.

As a command, `python -m tests.benchmarks.peaks KIND SIZES CONTENDER` prints the bytes that a step
needs at its peak beyond its inputs and results.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import subprocess
import sys
from pathlib import Path


def peak(kind: str, sizes: tuple[int, ...], label: str) -> int | None:
    """Bytes that a step needs at its peak beyond inputs and results; None if it failed."""
    arguments = [kind, ",".join(map(str, sizes)), label]
    command = [sys.executable, "-m", "tests.benchmarks.peaks", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return int(done.stdout.split()[-1]) if done.returncode == 0 else None


def peak_here(kind: str, sizes: tuple[int, ...], label: str) -> int:
    """The same for this process: how far its peak rises above where it stood with inputs made.

    A small step goes before, which loads what a library loads late.
    """
    from tests.benchmarks.contenders import PEERS, contenders
    from tests.benchmarks.workloads import SMALL, work

    peers = [peer for peer in PEERS if peer in label]
    (one,) = [found for found in contenders(kind, peers) if found.label == label]
    one.prepare()
    small = one.make(work(kind, SMALL[kind]))
    small()
    small()
    task = work(kind, sizes)
    step = one.make(task)
    gc.collect()
    gc.disable()
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # so that nothing that was freed is used
    before = _reset()
    results = step()
    risen = highest() - before
    del results
    return max(0, risen - task.upstream.nbytes - sum(x.nbytes for x in task.inputs))


def highest() -> int:
    """The largest resident size so far, or since it was last reset."""
    try:
        return _status("VmHWM")
    except OSError:  # no Linux; in bytes on macOS
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else 1024 * most


def _reset() -> int:
    """Forget the highest resident size, where one can; returns the size from which it rises."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return highest()
    return _status("VmRSS")


def _status(name: str) -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(text.partition(f"{name}:")[2].split()[0])


if __name__ == "__main__":
    print(peak_here(sys.argv[1], tuple(map(int, sys.argv[2].split(","))), sys.argv[3]))
