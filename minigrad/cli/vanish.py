"""`minigrad vanish`: watch what happens to the gradients of attention without the 1/√d_k.

Reads the options, lets `attention.experiments` measure, prints what came out and writes the files
that were asked for. What the numbers mean is decided there, and pictures are drawn by `viz`.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from attention.experiments import (
    Check,
    GradientStudy,
    QKVError,
    Settings,
    Study,
    Table,
    checks_sentence,
    closed_form_checks,
    failed_checks,
    format_number,
    gradient_study,
    head_study,
    load_qkv,
    reading_notes,
    study_csv,
    study_json,
    summarise,
    tabulate,
)
from minigrad.cli import Language, LanguageOption, fail
from minigrad.files import write_whole

QUICK = Settings(d_k=(4, 16, 64, 256), rows=400)
"""What `--quick` measures: enough to see the effect, in a few seconds."""

NARROWEST = 80
"""The columns of text that the widest table needs."""

PLOT_FORMATS = (".png", ".svg", ".pdf")

TEXTS = {
    Language.EN: {
        "setting": "{keys} keys, {rows} queries for each d_k, {dtype}, seed {seed}, V of width "
        "{width}",
        "heads_setting": "{source}: {heads} heads, {queries} queries × {keys} keys, d_k = {d_k}, "
        "d_v = {d_v}, {dtype}, seed {seed}",
        "closed": "Closed forms against measurement",
        "columns": "quantity|law|measured|law says|",
        "ok": "ok",
        "off": "OFF",
        "measuring": "measuring",
        "drawing": "drawing",
        "wrote": "wrote {}",
    },
    Language.ZH: {
        "setting": "{keys} 个键，每个 d_k 有 {rows} 个查询，{dtype}，随机种子 {seed}，V 的宽度 "
        "{width}",
        "heads_setting": "{source}：{heads} 个头，{queries} 个查询 × {keys} 个键，d_k = {d_k}，"
        "d_v = {d_v}，{dtype}，随机种子 {seed}",
        "closed": "理论公式与测量对照",
        "columns": "量|公式|测得|公式给出|",
        "ok": "对",
        "off": "错",
        "measuring": "测量",
        "drawing": "绘图",
        "wrote": "已写入 {}",
    },
}


def _whole(option: str) -> Callable[[str], int]:
    """A parser of whole numbers whose complaint is one line that names the option."""

    def parse(text: str) -> int:
        try:
            return int(text)
        except ValueError:
            fail(f"{option} takes a whole number, not {str(text)!r}")

    return parse


WidthsOption = Annotated[
    str | None,
    typer.Option(
        "--d-k",
        metavar="N,N,...",
        show_default="4,16,64,256,1024",
        help="The widths of queries and keys to compare.",
    ),
]
KeysOption = Annotated[
    int | None,
    typer.Option(
        parser=_whole("--keys"),
        metavar="N",
        show_default="8",
        help="How many keys a query chooses from.",
    ),
]
RowsOption = Annotated[
    int | None,
    typer.Option(
        parser=_whole("--rows"),
        metavar="N",
        show_default="2000",
        help="How many queries to measure for each d_k.",
    ),
]
SeedOption = Annotated[
    int, typer.Option(parser=_whole("--seed"), metavar="N", help="The seed of all randomness.")
]
DtypeOption = Annotated[
    str | None,
    typer.Option(
        metavar="DTYPE",
        show_default="float64",
        help="What attention computes in: float16, float32 or float64.",
    ),
]
UpstreamOption = Annotated[
    str | None,
    typer.Option(
        "--upstream-width",
        metavar="N|d_k",
        show_default="64",
        help="The width of V. The upstream at the weights grows with its root, so it is held "
        "fixed while d_k grows; the word d_k makes V as wide as Q and K.",
    ),
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="Fewer rows and no d_k above 256, in a few seconds.")
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Measure the Q, K and V of a .npz or .safetensors file instead, head by head.",
    ),
]
ChecksOption = Annotated[
    bool, typer.Option("--checks", help="Also test every closed form against measurement.")
]
PlotOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Save a figure: .png, .svg or .pdf.")
]
JsonOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Save all numbers as JSON.")]
CsvOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Save all numbers as CSV, one on a line.")
]
HtmlOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Save a page that needs no network.")
]


def vanish(
    d_k: WidthsOption = None,
    keys: KeysOption = None,
    rows: RowsOption = None,
    seed: SeedOption = 0,
    dtype: DtypeOption = None,
    upstream_width: UpstreamOption = None,
    quick: QuickOption = False,
    qkv: FileOption = None,
    checks: ChecksOption = False,
    plot: PlotOption = None,
    json: JsonOption = None,
    csv: CsvOption = None,
    html: HtmlOption = None,
    *,
    language: LanguageOption,
) -> None:
    """Watch what happens to the gradients of attention without the 1/√d_k.

    Random queries, keys and values by default, those of your own model with --qkv.
    """
    _check_targets([plot, json, csv, html])
    given: dict[str, Any] = {
        "d_k": None if d_k is None else _widths(d_k),
        "keys": keys,
        "rows": rows,
        "dtype": dtype,
        "upstream_width": None if upstream_width is None else _width(upstream_width),
        "quick": quick or None,
    }
    options = {name: value for name, value in given.items() if value is not None}
    try:
        study = _measure(qkv, options, seed, language)
        closed_forms = _closed_forms(seed, language) if checks else ()
        files = _files(study, language, plot=plot, json=json, csv=csv, html=html)
    except KeyboardInterrupt:
        fail("interrupted; nothing was written", 130)
    except MemoryError:
        fail("not enough memory; try fewer --rows or --keys, or a smaller --d-k", 1)
    # Written before anything is printed: a pager that is left early must not cost the files.
    unwritten = _write(files, language)
    _print_study(study, closed_forms, language)
    if unwritten:
        fail(f"cannot write {', '.join(unwritten)}")
    wrong = failed_checks(study.checks)
    wrong += [f"{check.name} ({check.setting})" for check in closed_forms if not check.passed]
    if wrong:
        fail("these checks did not pass: " + "; ".join(wrong), 1)


# ------------------------------------------------------------------------ reading the options


def _check_targets(paths: Sequence[Path | None]) -> None:
    """Refuse before measuring what could not be written afterwards."""
    plot = paths[0]
    if plot is not None and plot.suffix.lower() not in PLOT_FORMATS:
        fail(f"--plot saves {', '.join(PLOT_FORMATS)}, not {plot.name!r}")
    for path in paths:
        if path is not None and path.is_dir():
            fail(f"{str(path)!r} is a folder; give the name of a file in it")


def _widths(text: str) -> tuple[int, ...]:
    """The widths of --d-k, each once."""
    parse = _whole("--d-k")
    return tuple(dict.fromkeys(parse(part) for part in text.split(",")))


def _width(text: str) -> int | str:
    return text if text == "d_k" else _whole("--upstream-width")(text)


def _settings(options: dict[str, Any], seed: int) -> Settings:
    """The settings of a study: what was given, and for the rest the defaults."""
    base = QUICK if options.pop("quick", False) else Settings()
    if options.get("upstream_width") == "d_k":
        options["upstream_width"] = None
    try:
        return dataclasses.replace(base, seed=seed, **options)
    except ValueError as error:
        fail(str(error))


# ------------------------------------------------------------------------------------ measuring


def _measure(qkv: Path | None, options: dict[str, Any], seed: int, language: Language) -> Study:
    if qkv is None:
        settings = _settings(options, seed)
        with _progress(TEXTS[language]["measuring"]) as progress:
            return gradient_study(settings, progress)
    if options:
        names = ", ".join("--" + name.replace("_", "-") for name in options)
        fail(f"{names}: not with --qkv, where the file decides")
    if seed < 0:
        fail(f"seed must be at least 0, not {seed}")
    try:
        loaded = load_qkv(qkv)
    except QKVError as error:
        fail(str(error))
    with _progress(TEXTS[language]["measuring"]) as progress:
        return head_study(loaded, seed=seed, progress=progress)


def _closed_forms(seed: int, language: Language) -> tuple[Check, ...]:
    with _progress(TEXTS[language]["closed"], steps=False):
        return closed_form_checks(seed=seed)


@contextmanager
def _progress(label: str, *, steps: bool = True) -> Iterator[Callable[[float], None]]:
    """A bar on standard error while something runs, where somebody is there to see it."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bar:
        task = bar.add_task(label, total=1.0 if steps else None)
        yield lambda share: bar.update(task, completed=share)


# -------------------------------------------------------------------------------------- printing


def _print_study(study: Study, closed_forms: Sequence[Check], language: Language) -> None:
    """Print everything, the findings last; never narrower than the tables need."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = max(console.width, NARROWEST)

    def say(text: str, style: str = "") -> None:
        # Chinese has no spaces to break at: a terminal wraps it better than a library does.
        console.print(text, style=style, soft_wrap=language == Language.ZH)
        console.print()

    say(_setting(study, language), "bold")
    drawn = [_rich_table(table) for table in tabulate(study, language)]
    if closed_forms:
        drawn.append(_closed_form_table(closed_forms, language))
    for table in drawn:
        console.print(table)
        console.print()
    for note in reading_notes(study, language):
        say(note, "dim")
    say(checks_sentence(study.checks, language))
    for finding in summarise(study, language):
        say(finding, "bold")


def _setting(study: Study, language: Language) -> str:
    texts = TEXTS[language]
    if isinstance(study, GradientStudy):
        fields = dataclasses.asdict(study.settings)
        return texts["setting"].format(**fields, width=study.settings.upstream_width or "d_k")
    fields = dataclasses.asdict(study) | {"heads": len(study.heads)}
    return texts["heads_setting"].format(**fields)


def _rich_table(table: Table) -> RichTable:
    """Three tables side by side: the first column, and each half under the name of its arm."""
    labels = _part(" ", [table.label])
    halves = [_part(arm, table.columns) for arm in table.arms]
    blank = [""] * len(table.columns)
    for row in table.rows:
        # A line without cells is a heading: it starts at the left, the numbers below end right.
        labels.add_row(row.label if row.unscaled else Text(row.label, "bold", justify="left"))
        halves[0].add_row(*(row.unscaled or blank))
        halves[1].add_row(*(row.scaled or blank))
    whole = RichTable.grid(padding=(0, 1))
    whole.title, whole.title_justify, whole.title_style = table.title, "left", "bold"
    whole.add_row(labels, *halves)
    return whole


def _part(title: str, headings: Sequence[str]) -> RichTable:
    columns = [Column(heading, justify="right", no_wrap=True) for heading in headings]
    return RichTable(*columns, title=title, box=SIMPLE_HEAD, show_edge=False, padding=0)


def _closed_form_table(checks: Sequence[Check], language: Language) -> RichTable:
    texts = TEXTS[language]
    headings = [Column(heading, no_wrap=True) for heading in texts["columns"].split("|")]
    drawn = RichTable(*headings, box=SIMPLE_HEAD, show_edge=False, padding=0)
    drawn.title, drawn.title_justify, drawn.title_style = texts["closed"], "left", "bold"
    for check in checks:
        quantity = Text.assemble(check.name, "\n", (check.setting, "dim"))
        says = f"{format_number(check.predicted)} ± {format_number(check.tolerance)}"
        verdict = texts["ok" if check.passed else "off"]
        drawn.add_row(quantity, check.law, format_number(check.measured), says, verdict)
    return drawn


# --------------------------------------------------------------------------------------- writing


def _files(
    study: Study,
    language: Language,
    *,
    plot: Path | None,
    json: Path | None,
    csv: Path | None,
    html: Path | None,
) -> list[tuple[Path, bytes]]:
    """The files that were asked for, with their content; nothing is written yet."""
    files: list[tuple[Path, bytes]] = []
    if json is not None:
        files.append((json, study_json(study).encode("utf-8")))
    if csv is not None:
        files.append((csv, study_csv(study).encode("utf-8")))
    if plot is None and html is None:
        return files
    with _progress(TEXTS[language]["drawing"], steps=False):
        # matplotlib is slow to import, and most runs draw nothing.
        from viz.laboratory import figure_bytes, laboratory_page

        if plot is not None:
            files.append((plot, figure_bytes(study, plot.suffix.lower()[1:], language)))
        if html is not None:
            checked = checks_sentence(study.checks, language)
            page = laboratory_page(study, language, checked=checked)
            files.append((html, page.encode("utf-8")))
    return files


def _write(files: Sequence[tuple[Path, bytes]], language: Language) -> list[str]:
    """Write each file whole or not at all; returns which could not be written, and why."""
    unwritten = []
    for path, content in files:
        try:
            write_whole(path, content)
        except OSError as error:
            unwritten.append(f"{str(path)!r} ({error.strerror or error})")
        else:
            typer.echo(TEXTS[language]["wrote"].format(path), err=True)
    return unwritten
