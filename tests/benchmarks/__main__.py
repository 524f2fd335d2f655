"""`python -m tests.benchmarks [W1 ...] [--quick]`: times each workload, and prints the ratios.

The two contenders take turns within one process, warmed up, with the garbage collector frozen;
ratios are medians over the rounds. Linear algebra runs in one thread with OpenBLAS's own choice
of kernel. Timing decides no test: the exit status only says whether the numbers were right.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import time
from statistics import median, quantiles

THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# The first two choose a slower kernel; without bytecode files every import compiles anew.
SLOWED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE")


def main() -> int:
    """Runs the benchmark in a process of its own, whose environment it can choose."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="W1 to W7 (all by default), W8 for import")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, rougher numbers")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside:
        return measure(chosen.names, 5 if chosen.quick else 25)
    environment = {k: v for k, v in os.environ.items() if k not in SLOWED} | THREADS
    command = [sys.executable, "-m", "tests.benchmarks", "--inside", *sys.argv[1:]]
    return subprocess.run(command, env=environment, check=False).returncode


def measure(names: list[str], rounds: int) -> int:
    """Checks, times and prints each workload; 1 if one computes wrong numbers."""
    import numpy as np

    from tests.benchmarks.workloads import WORKLOADS

    print(
        f"{'':4}{'workload':38}{'minigrad':>10}{'by hand':>10}{'ratio':>7}  {'quartiles':12}target"
    )
    for make in WORKLOADS:
        work = make()
        if names and work.name not in names:
            continue
        for ours, hand in zip(work.minigrad(), work.hand(), strict=True):
            if not np.allclose(np.asarray(ours), hand, rtol=1e-3, atol=1e-5):
                print(f"{work.name}: minigrad and the hand-written code disagree", file=sys.stderr)
                return 1
        gc.collect()
        gc.freeze()
        samples = []
        for _ in range(rounds):
            samples.append((_time(work.minigrad, work.repeats), _time(work.hand, work.repeats)))
        ratios = [a / b for a, b in samples]
        low, _, high = quantiles(ratios, n=4)
        ours_us, hand_us = (1e6 * median(column) for column in zip(*samples, strict=True))
        print(
            f"{work.name:4}{work.what:38}{ours_us:8.1f}µs{hand_us:8.1f}µs{median(ratios):7.2f}"
            f"  {low:.2f} – {high:.2f} ≤ {work.target}"
        )
    if not names or "W8" in names:
        print(_imports(min(rounds, 11)))
    return 0


def _time(step: object, repeats: int) -> float:
    assert callable(step)
    start = time.perf_counter()
    for _ in range(repeats):
        step()
    return (time.perf_counter() - start) / repeats


def _imports(rounds: int) -> str:
    """The time that `import minigrad` takes beyond `import numpy`, each in a new process."""
    _process("import minigrad")  # leaves the bytecode files that are measured with
    samples = []
    for _ in range(rounds):
        both = [_process(f"import {name}") for name in ("numpy", "minigrad")]
        samples.append((both[1] - both[0]) * 1e3)
    return f"W8  import minigrad takes {median(samples):.1f} ms beyond NumPy's own; ≤ 15"


def _process(code: str) -> float:
    timed = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
    done = subprocess.run([sys.executable, "-c", timed], capture_output=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
