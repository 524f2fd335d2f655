"""`python -m tests.mutation [--sample N] [--seed S] [--list] [NAME ...]`: plants mistakes in the
gradient rules and prints a table of what the checks made of them. Exit status 1 if any survives."""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.progress import track
from rich.table import Column, Table

from minigrad import PRIMITIVES
from tests.mutation.engine import BROKEN, noticed_by
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.verdicts import Verdict, judge


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    unknown = set(given.name) - set(PRIMITIVES)
    if unknown:
        parser.error(f"there is no primitive {', '.join(sorted(unknown))}")
    names = given.name or PRIMITIVES
    mutants = [mutant for name in names for mutant in mutants_of(PRIMITIVES[name])]
    if given.sample is not None and given.sample < len(mutants):
        chosen = random.Random(given.seed).sample(range(len(mutants)), given.sample)
        mutants = [mutants[i] for i in sorted(chosen)]
    progress = Console(stderr=True)
    judged = [(mutant, judge(mutant)) for mutant in track(mutants, "rules", console=progress)]
    Console().print(_table(judged))
    for mutant, verdict in judged:
        if given.list or verdict is Verdict.SURVIVED:
            print(f"{verdict}: {mutant}")
    noticed = {}
    if not given.name:
        noticed = {what: noticed_by(what) for what in track([*BROKEN], "walk", console=progress)}
    for what, name in noticed.items():
        print(f"{f'killed by {name}' if name else Verdict.SURVIVED}: in the walk, {what}")
    survived = any(verdict is Verdict.SURVIVED for _, verdict in judged)
    return 1 if survived or not all(noticed.values()) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation",
        description="Plants mistakes in the gradient rules and prints what the checks made of "
        "them. Exit status 1 if any survives.",
    )
    parser.add_argument("name", nargs="*", metavar="NAME", help="primitives; all by default")
    parser.add_argument("--sample", type=int, metavar="N", help="only N mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="draws the sample")
    parser.add_argument("--list", action="store_true", help="print each mutant and its verdict")
    return parser


def _table(judged: Sequence[tuple[Mutant, Verdict]]) -> Table:
    table = Table(
        Column("primitive", no_wrap=True),
        *[Column(title, justify="right") for title in ("mutants", *Verdict)],
    )
    names = dict.fromkeys(mutant.op.name for mutant, _ in judged)
    for name in names:
        counts = Counter(verdict for mutant, verdict in judged if mutant.op.name == name)
        table.add_row(name, *_cells(counts))
    table.add_section()
    table.add_row("all", *_cells(Counter(verdict for _, verdict in judged)))
    return table


def _cells(counts: Counter[Verdict]) -> list[str]:
    return [str(counts.total()), *[str(counts[verdict] or "") for verdict in Verdict]]


if __name__ == "__main__":
    sys.exit(main())
