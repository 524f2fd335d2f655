"""`python -m tests.benchmarks [W1 ...] [--against torch,...] [--quick] [--curves] [-o FOLDER]`:
times each workload beside hand-written NumPy and beside other libraries, and prints the ratios.

All contenders take turns within one process, warmed up, with the garbage collector frozen, and are
checked against float64 before. Linear algebra runs in one thread with OpenBLAS's own choice of
kernel, except where a row says two threads. Timing decides no test: the exit status is 1 if and
only if numbers were wrong, or minigrad itself failed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tests.benchmarks.contenders import HAND, LEFT_OUT, PEERS, contenders
from tests.benchmarks.curves import GROWTHS, grow
from tests.benchmarks.measuring import Effort, Row, measure, measure_imports
from tests.benchmarks.report import (
    ALL,
    Report,
    curve_table,
    draw,
    from_json,
    markdown,
    new_report,
    table,
    to_json,
)
from tests.benchmarks.workloads import IMPORTS, WORKLOADS

ONE_THREAD = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    # jax asks the first two, tinygrad the others
    "NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "NUM_CPU_THREADS": "1",
    "THREADS": "0",
    "DEV": "CPU",
}
KERNEL = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""They choose a kernel other than OpenBLAS's own, as a rule a slower one."""

MODULES = {
    "numpy": "numpy",
    "minigrad": "minigrad",
    **{peer: peer for peer in PEERS},
    "autograd": "autograd.numpy",
    "micrograd": "micrograd.engine",
}
"""What is imported of each."""

THOROUGH = Effort(rounds=25, least=7, seconds=60.0, sample=0.02)
QUICK = Effort(rounds=5, least=3, seconds=3.0, sample=0.005)
CURVES = Effort(rounds=5, least=3, seconds=5.0, sample=0.005)
MOST = {"L": 2048, "depth": 10_000, "width": 10_000}
"""How far the curves go when it shall be quick."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures in a process of its own, whose environment it can choose; the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    asked = parse(given)
    if asked.markdown:
        return print_markdown(asked.markdown)
    if asked.inside:
        return run(asked)
    # Without bytecode files every import compiles anew.
    out = ("PYTHONDONTWRITEBYTECODE", *(() if asked.as_is else KERNEL))
    environment = {k: v for k, v in os.environ.items() if k not in out} | ONE_THREAD
    command = [sys.executable, "-m", "tests.benchmarks", "--inside", *given]
    return subprocess.run(command, env=environment, check=False).returncode


def print_markdown(stored: Path) -> int:
    """The README's table in both languages, from what an earlier run wrote."""
    try:
        report = from_json(stored.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"{stored}: {error}", file=sys.stderr)
        return 2
    print(markdown(report, "en"), markdown(report, "zh"), sep="\n", end="")
    return 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments; for names that do not exist the exit status is 2."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Times each workload beside hand-written NumPy and other libraries. The exit "
        "status is 1 if numbers were wrong, whatever the times are.",
    )
    parser.add_argument("names", nargs="*", metavar="W", help=f"{', '.join(ALL)}; all by default")
    parser.add_argument("--against", default="", metavar="PEERS", help=",".join(PEERS))
    parser.add_argument("--quick", action="store_true", help="fewer rounds, rougher numbers")
    parser.add_argument("--curves", action="store_true", help="also how time and memory grow")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="for JSON and figures")
    parser.add_argument("--as-is", action="store_true", help="BLAS kernel as the environment says")
    parser.add_argument("--markdown", type=Path, metavar="JSON", help="print the README's table")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    asked.against = [peer for peer in asked.against.split(",") if peer]
    for what, names, known in (("workload", asked.names, ALL), ("peer", asked.against, PEERS)):
        unknown = [name for name in names if name not in known]
        if unknown:
            parser.error(f"there is no {what} {', '.join(unknown)}; there are {', '.join(known)}")
    return asked


def run(asked: argparse.Namespace) -> int:
    """Measures and prints one workload after the other, then writes; 1 for wrong numbers."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    peers = [peer for peer in asked.against if importlib.util.find_spec(peer)]
    for peer in asked.against:
        if peer not in peers:
            console.print(f"{peer} is not installed and left out")
    names = asked.names or [*ALL]
    left_out = [
        f"{name} {peer}: {why}"
        for name in names
        for (peer, kind), why in LEFT_OUT.items()
        if peer in peers and ALL[name].kind == kind
    ]
    report = new_report(peers, left_out)
    console.print(", ".join([f"{key} {value}" for key, value in report.machine.items()]))
    _workloads(report, names, peers, QUICK if asked.quick else THOROUGH, console)
    failed = [row for rows in report.rows.values() for row in rows if row.error]
    if asked.curves:
        failed += _curves(report, peers, asked.quick, console)
    for line in report.left_out:
        console.print(f"left out: {line}")
    if asked.output:
        asked.output.mkdir(parents=True, exist_ok=True)
        target = asked.output / "benchmarks.json"
        target.write_text(to_json(report), encoding="utf-8")
        for path in (target, *draw(report, asked.output)):
            console.print(f"written: {path}")
    return verdict(failed)


def _workloads(
    report: Report, names: Sequence[str], peers: Sequence[str], effort: Effort, console: Console
) -> None:
    for name in names:
        if name == IMPORTS.name:
            modules = {label: MODULES[label] for label in ("numpy", "minigrad", *peers)}
            rows = measure_imports(modules, effort)
        else:
            workload = WORKLOADS[name]
            rows = measure(workload.kind, workload.sizes, contenders(workload.kind, peers), effort)
        report.rows[name] = rows
        console.print(table(ALL[name], rows))


def _curves(report: Report, peers: Sequence[str], quick: bool, console: Console) -> list[Row]:
    failed: list[Row] = []
    for over, growth in GROWTHS.items():
        most = MOST[over] if quick else growth.n[-1]
        curves, rows = grow(over, peers, QUICK if quick else CURVES, most)
        report.curves += curves
        failed += rows
    console.print(curve_table(report.curves))
    return failed


def verdict(failed: Sequence[Row]) -> int:
    """Names what went wrong; 1 if numbers were wrong, or if it was not only a peer that failed."""
    for row in failed:
        print(f"{row.contender}: {row.error}", file=sys.stderr)
    ours = (HAND, "minigrad", "numpy")
    return int(any(row.wrong or row.contender.startswith(ours) for row in failed))


if __name__ == "__main__":
    sys.exit(main())
